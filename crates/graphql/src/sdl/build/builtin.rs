//! What every schema has without declaring it: types, directives, and names that are taken.

use crate::sdl::source::raw::RawKind;

/// Built-in types by kind.
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

/// The kind of a built-in type; some are there only in a federation.
pub(in crate::sdl) fn kind_of(name: &str, federated: bool) -> Option<RawKind> {
    let kinds = [
        (SCALARS, RawKind::Scalar),
        (OBJECTS, RawKind::Object),
        (ENUMS, RawKind::Enum),
        (INPUTS, RawKind::Input),
    ];
    let known = kinds.iter().find(|(names, _)| names.contains(&name)).map(|(_, kind)| *kind);
    known.or(match name {
        "_Any" | "_FieldSet" if federated => Some(RawKind::Scalar),
        "_Service" if federated => Some(RawKind::Object),
        "_Entity" if federated => Some(RawKind::Union),
        _ => None,
    })
}

/// A built-in directive: its name, its arguments, and where it may stand.
pub(in crate::sdl) type BuiltinDirective =
    (&'static str, &'static [&'static str], &'static [&'static str]);

const FIELD: &[&str] = &["FIELD_DEFINITION"];
const TYPE: &[&str] = &["OBJECT", "INTERFACE"];
const TYPE_OR_FIELD: &[&str] = &["OBJECT", "INTERFACE", "FIELD_DEFINITION"];
const SELECTION: &[&str] = &["FIELD", "FRAGMENT_SPREAD", "INLINE_FRAGMENT"];

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

const FEDERATION_DIRECTIVES: &[BuiltinDirective] = &[
    ("external", &[], FIELD),
    ("requires", &["fields"], FIELD),
    ("provides", &["fields"], FIELD),
    ("key", &["fields"], TYPE),
    ("extends", &[], TYPE),
];

/// The built-in directive of a name.
pub(in crate::sdl) fn directive(name: &str, federated: bool) -> Option<&'static BuiltinDirective> {
    let known = DIRECTIVES.iter().find(|(known, _, _)| *known == name);
    known.or_else(|| FEDERATION_DIRECTIVES.iter().find(|(known, _, _)| federated && *known == name))
}

/// Directives that the pre-check knows, and where on types they may stand; nowhere for those of
/// fields.
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

/// The kinds of types that a directive may stand at, if the pre-check knows it.
pub(in crate::sdl) fn kinds_of_directive(name: &str) -> Option<&'static [RawKind]> {
    AT_TYPES.iter().find(|(known, _)| *known == name).map(|(_, kinds)| *kinds)
}

/// True for the built-in types that are stored as one value.
pub(in crate::sdl) fn is_scalar(name: &str) -> bool {
    matches!(
        name,
        "ID" | "Boolean" | "Int" | "Int64" | "Float" | "String" | "DateTime" | "Password"
    ) || is_geo(name)
}

/// True for the types of places.
pub(in crate::sdl) fn is_geo(name: &str) -> bool {
    matches!(name, "Point" | "Polygon" | "MultiPolygon")
}

/// True for names that neither a type, a field nor a predicate may have.
pub(in crate::sdl) fn is_reserved(name: &str) -> bool {
    is_scalar(name)
        || matches!(name, "Query" | "Mutation" | "Subscription" | "uid")
        || name.eq_ignore_ascii_case("as")
}

/// Types that the engine defines; declaring one has a message of its own.
pub(in crate::sdl) const TAKEN: &[&str] = &[
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
