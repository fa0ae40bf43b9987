//! The definitions that every generated API has, whatever the schema: scalars, types of positions,
//! filters of scalars, and directives.

use crate::sdl::SCALAR_FILTERS;
use std::fmt::Write;

/// The scalars in addition to those of GraphQL, with the descriptions that introspection shows.
const SCALARS: &[(&str, &str)] = &[
    ("Int64", "A whole number of 64 bits with a sign, from -2^63 to 2^63 - 1."),
    (
        "DateTime",
        "A moment, as text by RFC 3339: 2021-03-04T05:06:07.89Z or 2021-03-04T06:06:07+01:00.",
    ),
];

/// The keyword, the name, and the fields or values with commas between them.
type Shape = (&'static str, &'static str, &'static str);

/// The types that filters and directives build on.
const SHAPES: &[Shape] = &[
    ("input", "IntRange", "min: Int!, max: Int!"),
    ("input", "FloatRange", "min: Float!, max: Float!"),
    ("input", "Int64Range", "min: Int64!, max: Int64!"),
    ("input", "DateTimeRange", "min: DateTime!, max: DateTime!"),
    ("input", "StringRange", "min: String!, max: String!"),
    (
        "enum",
        "DgraphIndex",
        "int, int64, float, bool, hash, exact, term, fulltext, trigram, regexp, year, month, day, hour, geo, hnsw",
    ),
    ("input", "AuthRule", "and: [AuthRule], or: [AuthRule], not: AuthRule, rule: String"),
    ("enum", "HTTPMethod", "GET, POST, PUT, PATCH, DELETE"),
    ("enum", "Mode", "BATCH, SINGLE"),
    (
        "input",
        "CustomHTTP",
        "url: String!, method: HTTPMethod!, body: String, graphql: String, mode: Mode, forwardHeaders: [String!], \
         secretHeaders: [String!], introspectionHeaders: [String!], skipIntrospection: Boolean",
    ),
    ("input", "DgraphDefault", "value: String"),
    ("type", "Point", "longitude: Float!, latitude: Float!"),
    ("input", "PointRef", "longitude: Float!, latitude: Float!"),
    ("input", "NearFilter", "distance: Float!, coordinate: PointRef!"),
    ("input", "PointGeoFilter", "near: NearFilter, within: WithinFilter"),
    ("type", "PointList", "points: [Point!]!"),
    ("input", "PointListRef", "points: [PointRef!]!"),
    ("type", "Polygon", "coordinates: [PointList!]!"),
    ("input", "PolygonRef", "coordinates: [PointListRef!]!"),
    ("type", "MultiPolygon", "polygons: [Polygon!]!"),
    ("input", "MultiPolygonRef", "polygons: [PolygonRef!]!"),
    ("input", "WithinFilter", "polygon: PolygonRef!"),
    ("input", "ContainsFilter", "point: PointRef, polygon: PolygonRef"),
    ("input", "IntersectsFilter", "polygon: PolygonRef, multiPolygon: MultiPolygonRef"),
    (
        "input",
        "PolygonGeoFilter",
        "near: NearFilter, within: WithinFilter, contains: ContainsFilter, intersects: IntersectsFilter",
    ),
    (
        "input",
        "GenerateQueryParams",
        "get: Boolean, query: Boolean, password: Boolean, aggregate: Boolean",
    ),
    ("input", "GenerateMutationParams", "add: Boolean, update: Boolean, delete: Boolean"),
];

/// The directives of the schema language and of requests. The flag says whether the gateway of a
/// federation is reported of them.
const DIRECTIVES: &[(&str, bool)] = &[
    ("hasInverse(field: String!) on FIELD_DEFINITION", true),
    ("search(by: [String!]) on FIELD_DEFINITION", true),
    ("embedding on FIELD_DEFINITION", true),
    ("dgraph(type: String, pred: String) on OBJECT | INTERFACE | FIELD_DEFINITION", true),
    ("id(interface: Boolean) on FIELD_DEFINITION", true),
    ("default(add: DgraphDefault, update: DgraphDefault) on FIELD_DEFINITION", true),
    ("withSubscription on OBJECT | INTERFACE | FIELD_DEFINITION", true),
    ("secret(field: String!, pred: String) on OBJECT | INTERFACE", true),
    (
        "auth(password: AuthRule, query: AuthRule, add: AuthRule, update: AuthRule, delete: AuthRule) \
         on OBJECT | INTERFACE",
        false,
    ),
    ("custom(http: CustomHTTP, dql: String) on FIELD_DEFINITION", false),
    ("remote on OBJECT | INTERFACE | UNION | INPUT_OBJECT | ENUM", true),
    ("remoteResponse(name: String) on FIELD_DEFINITION", true),
    ("cascade(fields: [String]) on FIELD", false),
    ("lambda on FIELD_DEFINITION", true),
    ("lambdaOnMutate(add: Boolean, update: Boolean, delete: Boolean) on OBJECT | INTERFACE", true),
    ("cacheControl(maxAge: Int!) on QUERY", false),
    (
        "generate(query: GenerateQueryParams, mutation: GenerateMutationParams, subscription: Boolean) \
         on OBJECT | INTERFACE",
        false,
    ),
];

/// The directives that only schemas of a federation have.
const FEDERATION_DIRECTIVES: &[&str] = &[
    "external on FIELD_DEFINITION",
    "requires(fields: _FieldSet!) on FIELD_DEFINITION",
    "provides(fields: _FieldSet!) on FIELD_DEFINITION",
    "key(fields: _FieldSet!) on OBJECT | INTERFACE",
    "extends on OBJECT | INTERFACE",
];

/// Returns the keys of a built-in filter of scalars with their types; none for other names. Each
/// key is a function.
pub(in crate::generate) fn filter_keys(filter: &str) -> Vec<(&'static str, String)> {
    let same = |keys: &[&'static str], ty: &str| -> Vec<(&'static str, String)> {
        keys.iter().map(|key| (*key, ty.to_owned())).collect()
    };
    match filter {
        "IntFilter" | "Int64Filter" | "FloatFilter" | "DateTimeFilter" => {
            ordered_keys(filter.trim_end_matches("Filter"))
        }
        "StringExactFilter" => ordered_keys("String"),
        "StringHashFilter" => equality_keys("String"),
        "StringTermFilter" => same(&["allofterms", "anyofterms"], "String"),
        "StringFullTextFilter" => same(&["alloftext", "anyoftext"], "String"),
        "StringRegExpFilter" => same(&["regexp"], "String"),
        "StringNgramFilter" => same(&["ngram"], "String"),
        _ => Vec::new(),
    }
}

/// Returns the keys that compare for equality.
pub(in crate::generate) fn equality_keys(scalar: &str) -> Vec<(&'static str, String)> {
    vec![("eq", scalar.to_owned()), ("in", format!("[{scalar}]"))]
}

/// Returns the keys that compare values of an ordered scalar.
fn ordered_keys(scalar: &str) -> Vec<(&'static str, String)> {
    let mut keys = equality_keys(scalar);
    keys.extend(["le", "lt", "ge", "gt"].map(|key| (key, scalar.to_owned())));
    keys.push(("between", format!("{scalar}Range")));
    keys
}

/// Returns true for a directive of the schema language. Those that the schema itself declares mean
/// nothing and are not printed.
pub(in crate::generate) fn is_builtin_directive(name: &str) -> bool {
    // The name is followed by arguments or locations.
    let is = |definition: &str| definition.split(['(', ' ']).next() == Some(name);
    let existing = DIRECTIVES.iter().map(|(definition, _)| *definition);
    name == "deprecated" || existing.chain(FEDERATION_DIRECTIVES.iter().copied()).any(is)
}

/// Returns the built-in filters that accept one function at a time.
pub(in crate::generate) fn function_filters() -> impl Iterator<Item = &'static str> {
    let geo = ["PointGeoFilter", "PolygonGeoFilter", "ContainsFilter", "IntersectsFilter"];
    SCALAR_FILTERS.iter().copied().chain(geo)
}

/// Prints the section "Extended Definitions"; with `service` the part of it that a gateway is
/// reported.
pub(in crate::generate) fn print_builtins(text: &mut String, service: bool) {
    for (name, description) in SCALARS {
        append(text, format_args!("\"\"\"{description}\"\"\"\nscalar {name}\n\n"));
    }
    for (word, name, fields) in SHAPES {
        print_shape(text, word, name, fields.split(", "));
    }
    for (directive, reported) in DIRECTIVES {
        if *reported || !service {
            append(text, format_args!("directive @{directive}\n"));
        }
    }
    text.push('\n');
    for filter in SCALAR_FILTERS {
        let keys = filter_keys(filter);
        print_shape(text, "input", filter, keys.iter().map(|(key, ty)| format!("{key}: {ty}")));
    }
}

/// Prints the scalars, the types and the directives of a federation.
pub(in crate::generate) fn print_federation(text: &mut String, entities: &[&str]) {
    append(text, format_args!("union _Entity = {}\n\n", entities.join(" | ")));
    text.push_str("scalar _Any\nscalar _FieldSet\n\ntype _Service {\n\tsdl: String\n}\n\n");
    for directive in FEDERATION_DIRECTIVES {
        append(text, format_args!("directive @{directive}\n"));
    }
    text.push('\n');
}

fn print_shape<T: std::fmt::Display>(
    text: &mut String,
    word: &str,
    name: &str,
    fields: impl Iterator<Item = T>,
) {
    append(text, format_args!("{word} {name} {{\n"));
    for field in fields {
        append(text, format_args!("\t{field}\n"));
    }
    text.push_str("}\n\n");
}

fn append(text: &mut String, chunk: std::fmt::Arguments<'_>) {
    text.write_fmt(chunk).expect("a string takes all that is written");
}
