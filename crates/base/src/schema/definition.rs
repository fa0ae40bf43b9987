//! What the schema says of predicates and types.

use std::collections::BTreeMap;

use crate::schema::{Declared, DeclaredFields, Tokenizer};
use crate::types::ValueType;

/// What the schema says of one predicate.
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
    /// Edges are kept in both directions.
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
    /// Who declared what of it, where a GraphQL schema declared some; else all counts as declared by `alter`.
    /// [`PredicateDef::declared`] says both, [`PredicateDef::declare`] changes it.
    pub declared: Option<Box<Declared>>,
}

impl PredicateDef {
    /// A predicate of a type, with nothing else declared.
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

    /// The type as schema text, with brackets for a list.
    pub fn type_text(&self) -> String {
        let name = self.value_type.name();
        if self.list { format!("[{name}]") } else { name.to_string() }
    }
}

/// A named list of predicates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeDef {
    /// The name.
    pub name: String,
    /// Names of predicates; one that starts with `~` means the edges that come in.
    pub fields: Vec<String>,
    /// Who declared which of them, as for [`PredicateDef::declared`].
    pub declared: Option<Box<DeclaredFields>>,
}

/// The predicates and types that are declared, by name.
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
    /// The schema of an empty graph: the pre-defined predicates and types alone.
    pub fn new() -> Schema {
        let predicates = predefined_predicates().map(|def| (def.name.clone(), def));
        let types = predefined_types().map(|def| (def.name.clone(), def));
        Schema { predicates: predicates.into(), types: types.into() }
    }
}

/// The start of the names that only the engine may declare.
const RESERVED_PREFIX: &str = "dgraph.";

/// True when only the engine may declare a predicate or type of this name.
pub fn is_reserved(name: &str) -> bool {
    let prefix = name.as_bytes().get(..RESERVED_PREFIX.len());
    prefix.is_some_and(|start| start.eq_ignore_ascii_case(RESERVED_PREFIX.as_bytes()))
}

/// The predicates of every graph.
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

/// The types of every graph.
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
