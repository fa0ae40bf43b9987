//! The predicates and types that users, groups and rules are made of. Their names are those of the
//! reference.

use hexgraph_base::schema::{PredicateDef, Schema, Tokenizer, TypeDef};
use hexgraph_base::types::ValueType;
use hexgraph_store::graph::Definitions;

/// The name of a user or a group.
pub(super) const XID: &str = "dgraph.xid";
/// The groups of a user.
pub(super) const USER_GROUP: &str = "dgraph.user.group";
/// The password of a user.
pub(super) const PASSWORD: &str = "dgraph.password";
/// The rules of a group.
pub(super) const GROUP_RULE: &str = "dgraph.acl.rule";
/// The predicate of a rule.
pub(super) const RULE_PREDICATE: &str = "dgraph.rule.predicate";
/// What a rule allows: the sum of 4 to read, 2 to write, 1 to alter.
pub(super) const RULE_PERMISSION: &str = "dgraph.rule.permission";

/// All of them. Only guardians may see and change these.
pub(super) const PREDICATES: [&str; 6] =
    [XID, PASSWORD, USER_GROUP, GROUP_RULE, RULE_PREDICATE, RULE_PERMISSION];

/// The predicates that say who may do what.
pub(super) const RULING: [&str; 5] = [XID, USER_GROUP, GROUP_RULE, RULE_PREDICATE, RULE_PERMISSION];

/// What of them a schema does not have yet, or has otherwise; `None` where it has all.
pub(super) fn missing(schema: &Schema) -> Option<Definitions> {
    let is_missing = |def: &PredicateDef| schema.predicates.get(&def.name) != Some(def);
    let predicates: Vec<_> = predicates().into_iter().filter(is_missing).collect();
    let is_missing = |def: &TypeDef| schema.types.get(&def.name) != Some(def);
    let types: Vec<_> = types().into_iter().filter(is_missing).collect();
    let has_all = predicates.is_empty() && types.is_empty();
    (!has_all).then_some(Definitions { predicates, types, dropped_types: Vec::new() })
}

fn predicates() -> [PredicateDef; 6] {
    let exact = vec![Tokenizer::Exact];
    let mut xid = PredicateDef::new(XID, ValueType::String);
    (xid.indexes, xid.upsert, xid.unique) = (exact.clone(), true, true);
    let password = PredicateDef::new(PASSWORD, ValueType::Password);
    let mut group = PredicateDef::new(USER_GROUP, ValueType::Uid);
    (group.list, group.reverse) = (true, true);
    let mut rule = PredicateDef::new(GROUP_RULE, ValueType::Uid);
    rule.list = true;
    let mut predicate = PredicateDef::new(RULE_PREDICATE, ValueType::String);
    (predicate.indexes, predicate.upsert) = (exact, true);
    [xid, password, group, rule, predicate, PredicateDef::new(RULE_PERMISSION, ValueType::Int)]
}

fn types() -> [TypeDef; 3] {
    let named = |name: &str, fields: &[&str]| {
        TypeDef::new(name, fields.iter().map(|field| (*field).to_owned()).collect())
    };
    [
        named("dgraph.type.User", &[XID, PASSWORD, USER_GROUP]),
        named("dgraph.type.Group", &[XID, GROUP_RULE]),
        named("dgraph.type.Rule", &[RULE_PREDICATE, RULE_PERMISSION]),
    ]
}
