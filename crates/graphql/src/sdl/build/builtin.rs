//! The types and directives that every schema has without declaring them, and the names that
//! schemas may not use.

use crate::sdl::source::raw::RawKind;

/// The names of built-in types, by kind.
const SCALARS: &[&str] = &["Int", "Float", "String", "Boolean", "ID", "Int64", "DateTime"];
const OBJECTS: &[&str] = &[
    "Point",
    "PointList",
    "Polygon",
    "MultiPolygon",
    "__Schema",
    "__Type",
    "__Field",
    "__InputValue",
    "__EnumValue",
    "__Directive",
];
const ENUMS: &[&str] = &["DgraphIndex", "HTTPMethod", "Mode", "__TypeKind", "__DirectiveLocation"];
const INPUTS: &[&str] = &[
    "IntRange",
    "FloatRange",
    "Int64Range",
    "DateTimeRange",
    "StringRange",
    "AuthRule",
    "CustomHTTP",
    "DgraphDefault",
    "PointRef",
    "NearFilter",
    "PointGeoFilter",
    "PointListRef",
    "PolygonRef",
    "MultiPolygonRef",
    "WithinFilter",
    "ContainsFilter",
    "IntersectsFilter",
    "PolygonGeoFilter",
    "GenerateQueryParams",
    "GenerateMutationParams",
];

/// The names of the filters of scalars, in the order in which they are printed.
pub(crate) const SCALAR_FILTERS: &[&str] = &[
    "IntFilter",
    "Int64Filter",
    "FloatFilter",
    "DateTimeFilter",
    "StringTermFilter",
    "StringRegExpFilter",
    "StringNgramFilter",
    "StringFullTextFilter",
    "StringExactFilter",
    "StringHashFilter",
];

/// Returns the kind of a built-in type. Some types are there only in a federation.
pub(in crate::sdl) fn kind_of(name: &str, federated: bool) -> Option<RawKind> {
    let kinds = [
        (SCALARS, RawKind::Scalar),
        (OBJECTS, RawKind::Object),
        (ENUMS, RawKind::Enum),
        (INPUTS, RawKind::Input),
        (SCALAR_FILTERS, RawKind::Input),
    ];
    let existing = kinds.iter().find(|(names, _)| names.contains(&name)).map(|(_, kind)| *kind);
    existing.or(match name {
        "_Any" | "_FieldSet" if federated => Some(RawKind::Scalar),
        "_Service" if federated => Some(RawKind::Object),
        "_Entity" if federated => Some(RawKind::Union),
        _ => None,
    })
}

/// A built-in directive: its name, the names of its arguments, and its locations.
pub(in crate::sdl) type BuiltinDirective =
    (&'static str, &'static [&'static str], &'static [&'static str]);

/// The locations of most directives.
const FIELD: &[&str] = &["FIELD_DEFINITION"];
const TYPE: &[&str] = &["OBJECT", "INTERFACE"];
const TYPE_OR_FIELD: &[&str] = &["OBJECT", "INTERFACE", "FIELD_DEFINITION"];
const SELECTION: &[&str] = &["FIELD", "FRAGMENT_SPREAD", "INLINE_FRAGMENT"];

/// The directives of every schema.
const DIRECTIVES: &[BuiltinDirective] = &[
    ("include", &["if"], SELECTION),
    ("skip", &["if"], SELECTION),
    ("deprecated", &["reason"], &["FIELD_DEFINITION", "ENUM_VALUE"]),
    ("hasInverse", &["field"], FIELD),
    ("search", &["by"], FIELD),
    ("embedding", &[], FIELD),
    ("dgraph", &["type", "pred"], TYPE_OR_FIELD),
    ("id", &["interface"], FIELD),
    ("default", &["add", "update"], FIELD),
    ("withSubscription", &[], TYPE_OR_FIELD),
    ("secret", &["field", "pred"], TYPE),
    ("auth", &["password", "query", "add", "update", "delete"], TYPE),
    ("custom", &["http", "dql"], FIELD),
    ("remote", &[], &["OBJECT", "INTERFACE", "UNION", "INPUT_OBJECT", "ENUM"]),
    ("remoteResponse", &["name"], FIELD),
    ("cascade", &["fields"], &["FIELD"]),
    ("lambda", &[], FIELD),
    ("lambdaOnMutate", &["add", "update", "delete"], TYPE),
    ("cacheControl", &["maxAge"], &["QUERY"]),
    ("generate", &["query", "mutation", "subscription"], TYPE),
];

/// The directives that only schemas of a federation have.
const FEDERATION_DIRECTIVES: &[BuiltinDirective] = &[
    ("external", &[], FIELD),
    ("requires", &["fields"], FIELD),
    ("provides", &["fields"], FIELD),
    ("key", &["fields"], TYPE),
    ("extends", &[], TYPE),
];

/// Returns the built-in directive of a name.
pub(in crate::sdl) fn directive(name: &str, federated: bool) -> Option<&'static BuiltinDirective> {
    let existing = DIRECTIVES.iter().find(|(existing, _, _)| *existing == name);
    existing.or_else(|| {
        FEDERATION_DIRECTIVES.iter().find(|(existing, _, _)| federated && *existing == name)
    })
}

/// The directives that the first check knows, each with the kinds of types that it may occur at;
/// none for directives of fields.
const AT_TYPES: &[(&str, &[RawKind])] = &[
    ("hasInverse", &[]),
    ("search", &[]),
    ("dgraph", &[RawKind::Object, RawKind::Interface]),
    ("id", &[]),
    ("withSubscription", &[RawKind::Object, RawKind::Interface]),
    ("secret", &[RawKind::Object, RawKind::Interface]),
    ("auth", &[RawKind::Object, RawKind::Interface]),
    ("custom", &[]),
    (
        "remote",
        &[RawKind::Object, RawKind::Interface, RawKind::Union, RawKind::Input, RawKind::Enum],
    ),
    ("lambda", &[]),
    ("lambdaOnMutate", &[RawKind::Object, RawKind::Interface]),
    ("generate", &[RawKind::Object, RawKind::Interface]),
    ("key", &[RawKind::Object, RawKind::Interface]),
    ("extends", &[RawKind::Object, RawKind::Interface]),
    ("external", &[]),
    ("requires", &[]),
    ("provides", &[]),
    ("remoteResponse", &[]),
    ("cascade", &[]),
];

/// Returns the kinds of types that a directive may occur at, if the first check knows it.
pub(in crate::sdl) fn kinds_of_directive(name: &str) -> Option<&'static [RawKind]> {
    AT_TYPES.iter().find(|(existing, _)| *existing == name).map(|(_, kinds)| *kinds)
}

/// Returns true for the built-in types that the store holds as one value.
pub(in crate::sdl) fn is_scalar(name: &str) -> bool {
    matches!(
        name,
        "ID" | "Boolean" | "Int" | "Int64" | "Float" | "String" | "DateTime" | "Password"
    ) || is_geo(name)
}

/// Returns true for the types of positions.
pub(in crate::sdl) fn is_geo(name: &str) -> bool {
    matches!(name, "Point" | "Polygon" | "MultiPolygon")
}

/// Returns true for a name that neither a type, a field nor a predicate may have.
pub(in crate::sdl) fn is_reserved(name: &str) -> bool {
    is_scalar(name)
        || matches!(name, "Query" | "Mutation" | "Subscription" | "uid")
        || name.eq_ignore_ascii_case("as")
}

/// The types that the API defines and for which a schema that declares one is reported so in words
/// of its own.
pub(in crate::sdl) const RESERVED: &[&str] = &[
    "Int64",
    "DateTime",
    "DgraphIndex",
    "AuthRule",
    "HTTPMethod",
    "Mode",
    "CustomHTTP",
    "IntFilter",
    "Int64Filter",
    "FloatFilter",
    "DateTimeFilter",
    "StringTermFilter",
    "StringRegExpFilter",
    "StringFullTextFilter",
    "StringExactFilter",
    "StringHashFilter",
    "PointGeoFilter",
    "PointRef",
    "NearFilter",
];
