//! The definitions of predicates and types, and the schema that consists of them.

use std::collections::BTreeMap;

use crate::schema::{Declared, DeclaredFields, Options, Origin, Tokenizer};
use crate::types::ValueType;

/// The definition of one predicate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PredicateDef {
    /// The name, without brackets.
    pub name: String,
    /// The type of a value, or of one element of a list.
    pub value_type: ValueType,
    /// A node may have several values or edges.
    pub list: bool,
    /// Values may have a language.
    pub lang: bool,
    /// Edges are retained in both directions.
    pub reverse: bool,
    /// The number of values or edges of a node is indexed.
    pub count: bool,
    /// Transactions that write the same indexed value conflict.
    pub upsert: bool,
    /// No two nodes have the same value. Implies `upsert`.
    pub unique: bool,
    /// Writes never conflict.
    pub noconflict: bool,
    /// The indexes, in the order they were declared.
    pub indexes: Vec<Tokenizer>,
    /// What each source declared, present when a GraphQL schema declared a part; otherwise `alter`
    /// declared everything. Read it by [`PredicateDef::declared`] and change it by
    /// [`PredicateDef::declare`].
    pub declared: Option<Box<Declared>>,
}

impl PredicateDef {
    /// Creates the definition of a predicate with a type and no options.
    pub fn new(name: impl Into<String>, value_type: ValueType) -> PredicateDef {
        PredicateDef {
            name: name.into(),
            value_type,
            list: false,
            lang: false,
            reverse: false,
            count: false,
            upsert: false,
            unique: false,
            noconflict: false,
            indexes: Vec::new(),
            declared: None,
        }
    }

    /// Returns the type as schema text, with brackets for a list.
    pub fn type_text(&self) -> String {
        let name = self.value_type.name();
        if self.list { format!("[{name}]") } else { name.to_string() }
    }

    /// Returns true if both definitions have the same name, type and options, whichever source
    /// declared them.
    pub fn is_alike(&self, other: &PredicateDef) -> bool {
        let shape = |def: &PredicateDef| (def.value_type, def.list, def.options());
        self.name == other.name && shape(self) == shape(other)
    }

    /// Returns all options, whichever source declared them.
    pub fn options(&self) -> Options {
        Options {
            lang: self.lang,
            reverse: self.reverse,
            count: self.count,
            upsert: self.upsert,
            unique: self.unique,
            noconflict: self.noconflict,
            indexes: self.indexes.clone(),
        }
    }

    /// Returns what each source declared.
    pub fn declared(&self) -> Declared {
        match &self.declared {
            Some(declared) => Declared::clone(declared),
            None => Declared { by_alter: Some(self.options()), by_graphql: None },
        }
    }

    /// Returns the definition after a source replaced its options, or withdrew them (`None`): the
    /// union of what both sources declare. The type stays the same. The union may have two indexes
    /// that both give an order, which [`crate::schema::parse_schema`] refuses in a text; the caller
    /// has to avoid that.
    pub fn declare(&self, origin: Origin, options: Option<Options>) -> PredicateDef {
        let mut declared = self.declared();
        match origin {
            Origin::Alter => declared.by_alter = options,
            Origin::Graphql => declared.by_graphql = options,
        }
        self.with_declared(declared)
    }

    /// Returns the definition of the same name and type whose options are the union of what was
    /// declared.
    pub fn with_declared(&self, declared: Declared) -> PredicateDef {
        let Declared { by_alter, by_graphql } = &declared;
        let nothing = Options::default();
        let all = by_alter.as_ref().unwrap_or(&nothing);
        let all = all.union(by_graphql.as_ref().unwrap_or(&nothing));
        let retained = by_graphql.is_some().then(|| Box::new(declared.clone()));
        PredicateDef { declared: retained, ..self.clone() }.with_options(all)
    }

    /// Returns the definition with its options replaced.
    pub(super) fn with_options(self, options: Options) -> PredicateDef {
        let Options { lang, reverse, count, upsert, unique, noconflict, indexes } = options;
        PredicateDef { lang, reverse, count, upsert, unique, noconflict, indexes, ..self }
    }
}

/// The definition of a type: a named list of predicates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeDef {
    /// The name.
    pub name: String,
    /// The names of its predicates; a leading `~` means incoming edges.
    pub fields: Vec<String>,
    /// The fields that each source declared; present when a GraphQL schema declared some.
    pub declared: Option<Box<DeclaredFields>>,
}

impl TypeDef {
    /// Creates a type with these fields, all declared by `alter`.
    pub fn new(name: impl Into<String>, fields: Vec<String>) -> TypeDef {
        TypeDef { name: name.into(), fields, declared: None }
    }

    /// Returns the fields that each source declared.
    pub fn declared(&self) -> DeclaredFields {
        match &self.declared {
            Some(declared) => DeclaredFields::clone(declared),
            None => DeclaredFields { by_alter: Some(self.fields.clone()), by_graphql: None },
        }
    }

    /// Returns the type after a source replaced its fields, or withdrew them (`None`): the fields
    /// of `alter`, then those of the GraphQL schema that are not among them.
    pub fn declare(&self, origin: Origin, fields: Option<Vec<String>>) -> TypeDef {
        let mut declared = self.declared();
        match origin {
            Origin::Alter => declared.by_alter = fields,
            Origin::Graphql => declared.by_graphql = fields,
        }
        TypeDef::with_declared(self.name.clone(), declared)
    }

    /// Creates the type whose fields are the union of what was declared.
    pub fn with_declared(name: impl Into<String>, declared: DeclaredFields) -> TypeDef {
        let mut fields = declared.by_alter.clone().unwrap_or_default();
        for field in declared.by_graphql.iter().flatten() {
            if !fields.contains(field) {
                fields.push(field.clone());
            }
        }
        let retained = declared.by_graphql.is_some().then(|| Box::new(declared));
        TypeDef { name: name.into(), fields, declared: retained }
    }
}

/// A schema: all definitions of predicates and types, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// The predicates.
    pub predicates: BTreeMap<String, PredicateDef>,
    /// The types.
    pub types: BTreeMap<String, TypeDef>,
}

impl Default for Schema {
    fn default() -> Schema {
        Schema::new()
    }
}

impl Schema {
    /// Creates the schema of an empty graph, which has the predefined predicates and types only.
    pub fn new() -> Schema {
        let predicates = predefined_predicates().map(|def| (def.name.clone(), def));
        let types = predefined_types().map(|def| (def.name.clone(), def));
        Schema { predicates: predicates.into(), types: types.into() }
    }
}

/// The prefix of names that only the engine may declare, ignoring case.
const RESERVED_PREFIX: &str = "dgraph.";

/// Whether a name has a letter or a digit, as all names have that statements can use.
pub(crate) fn has_letter_or_digit(name: &str) -> bool {
    name.chars().any(char::is_alphanumeric)
}

/// Returns true when only the engine may declare a predicate or type of this name.
pub fn is_reserved(name: &str) -> bool {
    let prefix = name.as_bytes().get(..RESERVED_PREFIX.len());
    prefix.is_some_and(|start| start.eq_ignore_ascii_case(RESERVED_PREFIX.as_bytes()))
}

/// Returns the predicates that every graph has.
pub(super) fn predefined_predicates() -> [PredicateDef; 7] {
    let text = |name| PredicateDef::new(name, ValueType::String);
    let exact = vec![Tokenizer::Exact];
    let mut node_type = text("dgraph.type");
    node_type.list = true;
    node_type.indexes = exact.clone();
    let mut xid = text("dgraph.graphql.xid");
    xid.upsert = true;
    xid.indexes = exact.clone();
    let mut persisted = text("dgraph.graphql.p_query");
    persisted.indexes = vec![Tokenizer::Sha256];
    let mut space_name = text("dgraph.namespace.name");
    (space_name.upsert, space_name.unique, space_name.indexes) = (true, true, exact);
    let mut space_id = PredicateDef::new("dgraph.namespace.id", ValueType::Int);
    (space_id.upsert, space_id.unique, space_id.indexes) = (true, true, vec![Tokenizer::Int]);
    let dropped = text("dgraph.drop.op");
    [node_type, dropped, text("dgraph.graphql.schema"), xid, persisted, space_name, space_id]
}

/// Returns the types that every graph has.
pub(super) fn predefined_types() -> [TypeDef; 3] {
    let named = |name: &str, fields: &[&str]| {
        TypeDef::new(name, fields.iter().map(|field| field.to_string()).collect())
    };
    [
        named("dgraph.graphql", &["dgraph.graphql.schema", "dgraph.graphql.xid"]),
        named("dgraph.graphql.persisted_query", &["dgraph.graphql.p_query"]),
        named("dgraph.namespace", &["dgraph.namespace.name", "dgraph.namespace.id"]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::parse_schema;

    fn def(text: &str) -> PredicateDef {
        parse_schema(text).unwrap().predicates.remove(0)
    }

    #[test]
    fn each_takes_back_his_own() {
        let altered = def("a: string @index(exact, term) @upsert .");
        let graphql = def("a: string @index(term, fulltext) @count .").options();
        let both = altered.declare(Origin::Graphql, Some(graphql.clone()));
        let union = def("a: string @index(exact, term, fulltext) @upsert @count .");
        assert_eq!(both.options(), union.options());
        assert_eq!(both.declared().by_alter, Some(altered.options()));
        assert_eq!(both.declare(Origin::Graphql, None), altered);
        let alone = both.declare(Origin::Alter, None);
        assert_eq!((alone.options(), alone.declared().by_alter), (graphql, None));
        assert_eq!(alone.declare(Origin::Graphql, None), def("a: string ."));
    }

    #[test]
    fn fields_of_a_type_are_distinguished() {
        let fields = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        let altered = TypeDef::new("T", fields(&["a", "b"]));
        let both = altered.declare(Origin::Graphql, Some(fields(&["b", "c"])));
        assert_eq!(both.fields, ["a", "b", "c"]);
        assert_eq!(both.declare(Origin::Alter, None).fields, ["b", "c"]);
        assert_eq!(both.declare(Origin::Graphql, None), altered);
    }
}
