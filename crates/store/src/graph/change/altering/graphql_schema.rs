//! The text of the GraphQL schema: the value of a predicate of the engine itself, at the one node
//! that has it.
//!
//! So it is in logs and snapshots as all data is, and every version has the schema that belongs to
//! it.

use crate::graph::change::changes::{Changes, Part, SetValue};
use crate::graph::version::delta::FacetList;
use crate::graph::version::graph_version::Version;
use crate::graph::version::node_ids::NodeIds;
use crate::graph::version::uids::NamedUids;
use crate::storage::text_of;
use hexgraph_base::types::{Error, Result, Uid, Value};
use std::sync::Arc;

/// The predicate of the text.
const TEXT: &str = "dgraph.graphql.schema";

/// The predicate by which Dgraph finds the node, and its value.
const XID: (&str, &str) = ("dgraph.graphql.xid", "dgraph.graphql.schema");

/// The type of the node.
const TYPE: (&str, &str) = ("dgraph.type", "dgraph.graphql");

/// The node of the GraphQL schema and its text, which is empty as long as there is none. Costs a
/// copy of the text.
pub fn graphql_schema(version: &Version) -> Option<(Uid, String)> {
    let texts = version.hidden_predicate(TEXT)?.values("")?;
    let node = texts.subjects().iter().next()?;
    let text = text_of(texts.first(node)?)?;
    Some((version.nodes.uid(node), text.to_owned()))
}

/// Says what gives the GraphQL schema another text, and which node has it.
///
/// # Errors
///
/// [`Error::Limit`] when a node is needed and there are no uids left.
pub fn stage_graphql_schema(version: &Version, text: &str) -> Result<(Changes, Uid)> {
    let uid = match graphql_schema(version) {
        Some((uid, _)) => uid,
        None => Uid(version.uids.allocate(1, &version.nodes, &NamedUids::default())?[0]),
    };
    Ok((changes(version, uid, text)?, uid))
}

/// A version that has the GraphQL schema of another one.
pub(in crate::graph) fn with_schema_of(old: &Version, new: Version) -> Result<Version> {
    match graphql_schema(old) {
        Some((uid, text)) => changes(&new, uid, &text)?.apply_again(&new),
        None => Ok(new),
    }
}

fn changes(version: &Version, node: Uid, text: &str) -> Result<Changes> {
    let values = [(TEXT, text), XID, TYPE];
    let mut changes = Changes { langs: vec![Box::default()], ..Changes::default() };
    let mut part = Part::default();
    for ((name, text), predicate) in values.into_iter().zip(0..) {
        let def = version.schema.predicates.get(name);
        let def = def.ok_or_else(|| Error::schema(format!("there is no predicate `{name}`")))?;
        changes.predicates.push(Arc::new(def.clone()));
        let value = Value::String(text.into());
        part.values.push(SetValue {
            predicate,
            lang: 0,
            node,
            value,
            facets: FacetList::default(),
        });
    }
    changes.parts.push(part);
    if NodeIds::is_high(node) {
        changes.high.push(node.0);
    } else {
        changes.next_uid = node.0 + 1;
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::SchemaChange;

    #[test]
    fn the_schema_outlives_the_data() {
        let version = Version::empty();
        assert_eq!(graphql_schema(&version), None);
        let (changes, uid) = stage_graphql_schema(&version, "type A { b: Int }").unwrap();
        let version = changes.apply(&version).unwrap();
        assert_eq!(graphql_schema(&version), Some((uid, "type A { b: Int }".to_owned())));
        let (changes, again) = stage_graphql_schema(&version, "type B { b: Int }").unwrap();
        assert_eq!(again, uid);
        let version = changes.apply(&version).unwrap();
        let version = SchemaChange::DropData.execute(&version, &|| Ok(())).unwrap();
        assert_eq!(graphql_schema(&version), Some((uid, "type B { b: Int }".to_owned())));
        let version = SchemaChange::DropAll.execute(&version, &|| Ok(())).unwrap();
        assert_eq!(graphql_schema(&version), None);
    }
}
