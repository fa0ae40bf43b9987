//! The log record of a commit: bytes, written before the commit is published, from which it can be
//! replayed.
//!
//! A record holds effects: changes as they were checked, with definitions and values as they were
//! resolved. Replay reads, converts, hashes and looks up nothing, and a record contains no secret.
//! It begins with a byte for its kind; tagged fields follow (`types/fields.rs`). The statements of
//! a part are contiguous in three of these, at about ten bytes each.

use crate::graph::build::compact::Check;
use crate::graph::change::altering::alter::{define, drop_all, drop_attr, drop_data, drop_type};
use crate::graph::change::altering::definitions::Definitions;
use crate::graph::change::altering::graphql_schema::with_schema_of;
use crate::graph::change::changes::{Changes, Deleted, Part};
use crate::graph::version::delta::FacetList;
use crate::graph::version::graph_version::Version;
use hexgraph_base::types::fields::{put_field, put_number, put_text, put_text_field, required};
use hexgraph_base::types::{Result, Value};

/// The first byte of a record. 1 and 2 are those of the first format (`replay_first.rs`).
pub(in crate::graph) mod kind {
    /// Changes of data.
    pub(crate) const CHANGES: u8 = 3;
    /// A change of the schema, or of everything at once.
    pub(crate) const SCHEMA: u8 = 4;
}

/// The fields of changes.
pub(super) mod changes_field {
    use super::required;
    /// The changes of one request. A record may have several, which are executed in their order.
    pub(crate) const REQUEST: u64 = required(1);
    /// Within a request: the least uid that the next new node gets.
    pub(crate) const NEXT_UID: u64 = required(1);
    /// The definition of a predicate that is new.
    pub(crate) const DEFINITION: u64 = required(2);
    /// The name of a predicate; statements refer to it by its position.
    pub(crate) const PREDICATE: u64 = required(3);
    /// The name of a language of values and deletes; they refer to it by its position.
    pub(crate) const LANG: u64 = required(4);
    /// A part: deletes before values before edges.
    pub(crate) const PART: u64 = required(5);
    /// The fields within a part.
    pub(crate) const DELETES: u64 = required(1);
    pub(crate) const VALUES: u64 = required(2);
    pub(crate) const EDGES: u64 = required(3);
}

/// The fields of a change of the schema.
pub(super) mod schema_field {
    use super::required;
    pub(crate) const DEFINE: u64 = required(1);
    pub(crate) const DROP_ALL: u64 = required(2);
    pub(crate) const DROP_DATA: u64 = required(3);
    pub(crate) const DROP_PREDICATE: u64 = required(4);
    pub(crate) const DROP_TYPE: u64 = required(5);
}

/// The kinds of deletes, each a byte before its content.
pub(in crate::graph) mod deleted {
    pub(crate) const ALL: u8 = 0;
    pub(crate) const LANG: u8 = 1;
    pub(crate) const VALUE: u8 = 2;
    /// A password by its text; in the first format alone.
    pub(crate) const PASSWORD: u8 = 3;
    pub(crate) const EDGE: u8 = 4;
}

/// A change of the schema, or of everything at once, whose record needs no data.
#[derive(Debug, Clone, PartialEq)]
pub enum SchemaChange {
    /// Predicates and types are defined otherwise.
    Define(Definitions),
    /// The data, the schema and the types are dropped.
    DropAll,
    /// The data is dropped; schema and types stay.
    DropData,
    /// One predicate is dropped: its data and its definition.
    DropPredicate(String),
    /// The definition of one type is dropped.
    DropType(String),
}

impl SchemaChange {
    /// The version after the change. Calls `check` before each index build to see whether to go on.
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Schema`] for an impossible change; those of `check`.
    pub fn execute(&self, version: &Version, check: Check<'_>) -> Result<Version> {
        match self {
            SchemaChange::Define(definitions) => define(version, definitions, check),
            SchemaChange::DropAll => Ok(drop_all(version)),
            SchemaChange::DropData => with_schema_of(version, drop_data(version)),
            SchemaChange::DropPredicate(name) => drop_attr(version, name),
            SchemaChange::DropType(name) => drop_type(version, name),
        }
    }

    /// Writes it as a record.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(kind::SCHEMA);
        match self {
            SchemaChange::Define(definitions) => {
                put_field(schema_field::DEFINE, out, |out| definitions.encode(out));
            }
            SchemaChange::DropAll => put_field(schema_field::DROP_ALL, out, |_| ()),
            SchemaChange::DropData => put_field(schema_field::DROP_DATA, out, |_| ()),
            SchemaChange::DropPredicate(name) => {
                put_text_field(schema_field::DROP_PREDICATE, name, out);
            }
            SchemaChange::DropType(name) => put_text_field(schema_field::DROP_TYPE, name, out),
        }
    }
}

/// Writes changes, which are executed in their order, as one record.
pub fn encode_changes(list: &[Changes], out: &mut Vec<u8>) {
    out.push(kind::CHANGES);
    for changes in list {
        put_field(changes_field::REQUEST, out, |out| put_changes(changes, out));
    }
}

/// Writes as a record that no uid below `next_uid` may be handed out.
pub fn encode_next_uid(next_uid: u64, out: &mut Vec<u8>) {
    encode_changes(&[Changes { next_uid, ..Changes::default() }], out);
}

fn put_changes(changes: &Changes, out: &mut Vec<u8>) {
    use changes_field::*;
    // Uids above 2^31 and named uids follow from the nodes that are set.
    let Changes { predicates, langs, definitions, parts, next_uid, .. } = changes;
    put_field(NEXT_UID, out, |out| put_number(*next_uid, out));
    definitions.iter().for_each(|def| put_field(DEFINITION, out, |out| def.encode(out)));
    predicates.iter().for_each(|def| put_text_field(PREDICATE, &def.name, out));
    langs.iter().for_each(|lang| put_text_field(LANG, lang, out));
    parts.iter().for_each(|part| put_field(PART, out, |out| put_part(part, out)));
}

fn put_part(part: &Part, out: &mut Vec<u8>) {
    use changes_field::*;
    if !part.deletes.is_empty() {
        put_field(DELETES, out, |out| {
            for delete in &part.deletes {
                put_number(u64::from(delete.predicate), out);
                put_number(delete.node.0, out);
                put_deleted(&delete.what, out);
            }
        });
    }
    if !part.values.is_empty() {
        put_field(VALUES, out, |out| {
            for value in &part.values {
                put_number(u64::from(value.predicate), out);
                put_number(u64::from(value.lang), out);
                put_number(value.node.0, out);
                value.value.encode(out);
                put_facets(&value.facets, out);
            }
        });
    }
    if !part.edges.is_empty() {
        put_field(EDGES, out, |out| {
            for edge in &part.edges {
                put_number(u64::from(edge.predicate), out);
                put_number(edge.node.0, out);
                put_number(edge.target.0, out);
                put_facets(&edge.facets, out);
            }
        });
    }
}

fn put_deleted(what: &Deleted, out: &mut Vec<u8>) {
    match what {
        Deleted::All => out.push(deleted::ALL),
        Deleted::Lang(lang) => {
            out.push(deleted::LANG);
            put_number(u64::from(*lang), out);
        }
        Deleted::Value(lang, value) => {
            out.push(deleted::VALUE);
            put_number(u64::from(*lang), out);
            value.encode(out);
        }
        Deleted::FirstFormatPassword(..) => {
            unreachable!("what was read from a log of the first format is not written again")
        }
        Deleted::Edge(target) => {
            out.push(deleted::EDGE);
            put_number(target.0, out);
        }
    }
}

fn put_facets(facets: &FacetList, out: &mut Vec<u8>) {
    put_number(facets.len() as u64, out);
    for (key, value) in facets {
        put_text(key, out);
        Value::encode(value, out);
    }
}
