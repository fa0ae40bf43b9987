//! What a commit is in the log: bytes, written before it is published, from which it can be
//! carried out again.
//!
//! A record holds changes that were checked when they were made, so reading it back converts and
//! checks no values; or a change of the schema. Numbers take seven bits a byte, the lowest first.

use super::alter::alter;
use super::alter::drop_all;
use super::alter::drop_attr;
use super::alter::drop_data;
use super::alter::drop_type;
use super::changes::Changes;
use super::changes::Deleted;
use super::delta::FacetList;
use super::graphql_schema::with_schema_of;
use super::version::Version;
use crate::schema::PredicateDef;
use crate::schema::Schema;
use crate::types::Result;
use crate::types::Value;

/// The first byte of a record of changes.
pub(super) const CHANGES_TAG: u8 = 1;

/// The first byte of a record of a change of the schema; its kind follows.
pub(super) const SCHEMA_TAG: u8 = 2;

/// What is deleted of a node, as a byte.
pub(super) mod deleted {
    pub const ALL: u8 = 0;
    pub const LANG: u8 = 1;
    pub const VALUE: u8 = 2;
    pub const PASSWORD: u8 = 3;
    pub const EDGE: u8 = 4;
}

/// A change of the schema, or of everything at once, that needs no data to be told.
#[derive(Debug, Clone, PartialEq)]
pub enum SchemaChange {
    /// Definitions are added.
    Alter(String),
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
    /// The version after the change.
    ///
    /// # Errors
    ///
    /// [`crate::types::Error::Schema`] or [`crate::types::Error::Syntax`] for what can't be done.
    pub fn carry_out(&self, version: &Version) -> Result<Version> {
        match self {
            SchemaChange::Alter(text) => alter(version, text),
            SchemaChange::DropAll => Ok(drop_all(version)),
            SchemaChange::DropData => with_schema_of(version, drop_data(version)),
            SchemaChange::DropPredicate(name) => drop_attr(version, name),
            SchemaChange::DropType(name) => drop_type(version, name),
        }
    }

    /// Writes it as a record.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let (kind, text) = match self {
            SchemaChange::Alter(text) => (0, text.as_str()),
            SchemaChange::DropAll => (1, ""),
            SchemaChange::DropData => (2, ""),
            SchemaChange::DropPredicate(name) => (3, name.as_str()),
            SchemaChange::DropType(name) => (4, name.as_str()),
        };
        out.extend_from_slice(&[SCHEMA_TAG, kind]);
        put_text(text, out);
    }

    pub(super) fn of(kind: u8, text: &str) -> Option<SchemaChange> {
        Some(match kind {
            0 => SchemaChange::Alter(text.to_owned()),
            1 => SchemaChange::DropAll,
            2 => SchemaChange::DropData,
            3 => SchemaChange::DropPredicate(text.to_owned()),
            4 => SchemaChange::DropType(text.to_owned()),
            _ => return None,
        })
    }
}

/// Writes changes, which are carried out in their order, as one record.
pub fn encode_changes(list: &[Changes], out: &mut Vec<u8>) {
    out.push(CHANGES_TAG);
    put(list.len() as u64, out);
    list.iter().for_each(|changes| put_changes(changes, out));
}

/// Writes as a record that no uid below `next_uid` may be handed out.
pub fn encode_next_uid(next_uid: u64, out: &mut Vec<u8>) {
    encode_changes(&[Changes { next_uid, ..Changes::default() }], out);
}

fn put_changes(changes: &Changes, out: &mut Vec<u8>) {
    // Great uids are found again in the nodes that are set.
    let Changes { predicates, langs, definitions, parts, high: _, next_uid } = changes;
    put(*next_uid, out);
    put_text(&definitions_text(definitions), out);
    put(predicates.len() as u64, out);
    predicates.iter().for_each(|def| put_text(&def.name, out));
    put(langs.len() as u64, out);
    langs.iter().for_each(|lang| put_text(lang, out));
    put(parts.len() as u64, out);
    for part in parts {
        put(part.deletes.len() as u64, out);
        for delete in &part.deletes {
            put(u64::from(delete.predicate), out);
            put(delete.node.0, out);
            put_deleted(&delete.what, out);
        }
        put(part.values.len() as u64, out);
        for value in &part.values {
            put(u64::from(value.predicate), out);
            put(u64::from(value.lang), out);
            put(value.node.0, out);
            value.value.encode(out);
            put_facets(&value.facets, out);
        }
        put(part.edges.len() as u64, out);
        for edge in &part.edges {
            put(u64::from(edge.predicate), out);
            put(edge.node.0, out);
            put(edge.target.0, out);
            put_facets(&edge.facets, out);
        }
    }
}

fn put_deleted(what: &Deleted, out: &mut Vec<u8>) {
    match what {
        Deleted::All => out.push(deleted::ALL),
        Deleted::Lang(lang) => {
            out.push(deleted::LANG);
            put(u64::from(*lang), out);
        }
        Deleted::Value(lang, value) => {
            out.push(deleted::VALUE);
            put(u64::from(*lang), out);
            value.encode(out);
        }
        Deleted::Password(lang, text) => {
            out.push(deleted::PASSWORD);
            put(u64::from(*lang), out);
            put_text(text, out);
        }
        Deleted::Edge(target) => {
            out.push(deleted::EDGE);
            put(target.0, out);
        }
    }
}

fn put_facets(facets: &FacetList, out: &mut Vec<u8>) {
    put(facets.len() as u64, out);
    for (key, value) in facets {
        put_text(key, out);
        Value::encode(value, out);
    }
}

/// The text that declares the predicates.
fn definitions_text(definitions: &[PredicateDef]) -> String {
    if definitions.is_empty() {
        return String::new();
    }
    let predicates = definitions.iter().map(|def| (def.name.clone(), def.clone())).collect();
    Schema { predicates, ..Schema::default() }.to_text()
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    put(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

fn put(mut number: u64, out: &mut Vec<u8>) {
    while 0x80 <= number {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
