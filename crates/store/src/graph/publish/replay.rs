//! Replays the records of a log.
//!
//! Records are small and many, and a version for each would cost far more than the changes. So
//! changes are collected and applied together: consecutive sets become one part, whose values are
//! merged into their columns at once. The uniqueness of values was checked by the commit and is not
//! checked again: within a batch of commits it need not hold at each moment.

use super::record::{SchemaChange, changes_field, deleted, kind, schema_field};
use crate::graph::change::altering::definitions::Definitions;
use crate::graph::change::changes::{Changes, Delete, Deleted, Part, SetEdge, SetValue};
use crate::graph::version::delta::FacetList;
use crate::graph::version::graph_version::Version;
use crate::graph::version::node_ids::NodeIds;
use hexgraph_base::schema::PredicateDef;
use hexgraph_base::types::fields::{ByteReader, Unread, skip_unknown};
use hexgraph_base::types::{Error, Result, Uid, Value};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A version that follows the records of a log.
pub struct Replay {
    pub(in crate::graph) version: Version,
    commit: u64,
    pub(in crate::graph) gathered: Changes,
    /// The positions of predicates and languages in `gathered`.
    predicates: FxHashMap<Arc<str>, u32>,
    langs: FxHashMap<Box<str>, u32>,
    /// Keys of facets, each once.
    facet_keys: FxHashMap<Box<str>, Arc<str>>,
    statements: usize,
}

impl Replay {
    /// Records follow upon `version`.
    pub fn new(version: Version) -> Replay {
        Replay {
            commit: version.commit,
            version,
            gathered: Changes::default(),
            predicates: FxHashMap::default(),
            langs: FxHashMap::default(),
            facet_keys: FxHashMap::default(),
            statements: 0,
        }
    }

    /// The last commit that it has.
    pub fn commit(&self) -> u64 {
        self.commit
    }

    /// Takes the next record. One whose commit the version has already is left out.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when it can't be read or executed: it was written by another version of
    /// the program, or for other data.
    pub fn record(&mut self, commit: u64, record: &[u8]) -> Result<()> {
        self.gather_record(commit, record)?;
        if self.version.thresholds.replayed_max <= self.statements {
            self.execute()?;
        }
        Ok(())
    }

    /// As [`Replay::record`], but changes of data are only gathered, however many they are.
    ///
    /// # Errors
    ///
    /// As [`Replay::record`].
    pub(in crate::graph) fn gather_record(&mut self, commit: u64, record: &[u8]) -> Result<()> {
        if commit <= self.commit {
            return Ok(());
        }
        let mut bytes = ByteReader::new(record);
        let read = match bytes.byte() {
            Some(kind::CHANGES) => self.gather(bytes),
            Some(kind::SCHEMA) => self.change_schema(bytes)?,
            Some(first @ (1 | 2)) => self.first_format(first, bytes)?,
            Some(_) => Err(Unread::Later),
            None => Err(Unread::Damaged),
        };
        if let Err(unread) = read {
            let reason = unread.reason();
            return Err(Error::query(format!("the record of commit {commit}: {reason}")));
        }
        self.commit = commit;
        Ok(())
    }

    /// The changes that are gathered and not executed yet, with the version that they follow upon.
    pub(in crate::graph) fn gathered(&mut self) -> (&mut Changes, &Version) {
        (&mut self.gathered, &self.version)
    }

    /// The version after the records so far. More may follow.
    ///
    /// # Errors
    ///
    /// As [`Replay::record`].
    pub fn version(&mut self) -> Result<Version> {
        self.execute()?;
        self.version.commit = self.commit;
        Ok(self.version.clone())
    }

    pub(in crate::graph) fn execute(&mut self) -> Result<()> {
        let gathered = std::mem::take(&mut self.gathered);
        self.predicates.clear();
        self.langs.clear();
        self.statements = 0;
        self.version = gathered.apply_again(&self.version)?;
        Ok(())
    }

    /// Executes a change of the schema. The inner result says whether it could be read.
    fn change_schema(&mut self, mut bytes: ByteReader<'_>) -> Result<Read> {
        let mut changes = Vec::new();
        loop {
            match bytes.field().and_then(|field| field.map(schema_change).transpose()) {
                Ok(Some(change)) => changes.extend(change),
                Ok(None) => break,
                Err(unread) => return Ok(Err(unread)),
            }
        }
        self.execute()?;
        for change in changes {
            self.version = change.execute(&self.version, &|| Ok(()))?;
        }
        Ok(Ok(()))
    }

    /// Adds changes to the collected ones. Changes before a damaged byte do no harm, since the
    /// recovery fails as a unit.
    fn gather(&mut self, mut bytes: ByteReader<'_>) -> Read {
        while let Some((tag, field)) = bytes.field()? {
            match tag {
                changes_field::REQUEST => self.request(field)?,
                _ => skip_unknown(tag)?,
            }
        }
        Ok(())
    }

    fn request(&mut self, mut bytes: ByteReader<'_>) -> Read {
        use changes_field::*;
        let mut positions = Positions::default();
        while let Some((tag, field)) = bytes.field()? {
            match tag {
                NEXT_UID => {
                    self.gathered.next_uid = self.gathered.next_uid.max(field.final_number()?);
                }
                DEFINITION => self.gathered.definitions.push(PredicateDef::decode(field)?),
                PREDICATE => {
                    let position = self.predicate(field.entire_text()?);
                    positions.predicates.push(position.ok_or(Unread::Damaged)?);
                }
                LANG => positions.langs.push(self.lang(field.entire_text()?)),
                PART => self.part(field, &positions)?,
                _ => skip_unknown(tag)?,
            }
        }
        Ok(())
    }

    fn part(&mut self, mut bytes: ByteReader<'_>, positions: &Positions) -> Read {
        use changes_field::*;
        let mut is_new = self.gathered.parts.is_empty();
        while let Some((tag, mut field)) = bytes.field()? {
            // Consecutive sets need no end of the part: the last one wins in either case.
            if is_new || tag == DELETES {
                self.gathered.parts.push(Part::default());
                is_new = false;
            }
            while !field.is_empty() {
                let statement = match tag {
                    DELETES => self.delete(&mut field, positions),
                    VALUES => self.value(&mut field, positions),
                    EDGES => self.edge(&mut field, positions),
                    _ => break,
                };
                statement.ok_or(Unread::Damaged)?;
            }
            if ![DELETES, VALUES, EDGES].contains(&tag) {
                skip_unknown(tag)?;
            }
        }
        Ok(())
    }

    /// Adds a delete to the last part.
    pub(in crate::graph) fn delete(
        &mut self,
        bytes: &mut ByteReader<'_>,
        positions: &Positions,
    ) -> Option<()> {
        let predicate = positions.predicate(bytes)?;
        let node = Uid(bytes.number()?);
        let what = deleted_of(bytes, positions)?;
        self.statements += 1;
        self.last_part().deletes.push(Delete { predicate, node, what });
        Some(())
    }

    /// Adds a value to the last part.
    pub(in crate::graph) fn value(
        &mut self,
        bytes: &mut ByteReader<'_>,
        positions: &Positions,
    ) -> Option<()> {
        let predicate = positions.predicate(bytes)?;
        let lang = positions.lang(bytes)?;
        let node = self.node(bytes)?;
        let value = value_of(bytes)?;
        let facets = self.facets(bytes)?;
        self.statements += 1;
        self.last_part().values.push(SetValue { predicate, lang, node, value, facets });
        Some(())
    }

    /// Adds an edge to the last part.
    pub(in crate::graph) fn edge(
        &mut self,
        bytes: &mut ByteReader<'_>,
        positions: &Positions,
    ) -> Option<()> {
        let predicate = positions.predicate(bytes)?;
        let (node, target) = (self.node(bytes)?, self.node(bytes)?);
        let facets = self.facets(bytes)?;
        self.statements += 1;
        self.last_part().edges.push(SetEdge { predicate, node, target, facets });
        Some(())
    }

    /// A node that is set.
    fn node(&mut self, bytes: &mut ByteReader<'_>) -> Option<Uid> {
        let uid = Uid(bytes.number()?);
        match NodeIds::is_high(uid) {
            true => self.gathered.high.push(uid.0),
            false => self.gathered.named.add(uid.0 as u32),
        }
        Some(uid)
    }

    fn last_part(&mut self) -> &mut Part {
        self.gathered.parts.last_mut().expect("the part was begun")
    }

    fn facets(&mut self, bytes: &mut ByteReader<'_>) -> Option<FacetList> {
        let mut facets = FacetList::new();
        for _ in 0..bytes.count()? {
            let key = bytes.text()?;
            let key = match self.facet_keys.get(key) {
                Some(key) => Arc::clone(key),
                None => {
                    let shared: Arc<str> = key.into();
                    self.facet_keys.insert(key.into(), Arc::clone(&shared));
                    shared
                }
            };
            facets.push((key, value_of(bytes)?));
        }
        Some(facets)
    }

    /// The position of a predicate among the collected ones; `None` if neither the version nor the
    /// records define it.
    pub(in crate::graph) fn predicate(&mut self, name: &str) -> Option<u32> {
        if let Some(position) = self.predicates.get(name) {
            return Some(*position);
        }
        let new = |def: &&PredicateDef| def.name == name;
        let existing = self.version.schema.predicates.get(name);
        let def = existing.or_else(|| self.gathered.definitions.iter().find(new))?;
        let position = self.gathered.predicates.len() as u32;
        self.gathered.predicates.push(Arc::new(def.clone()));
        self.predicates.insert(name.into(), position);
        Some(position)
    }

    pub(in crate::graph) fn lang(&mut self, lang: &str) -> u32 {
        if let Some(position) = self.langs.get(lang) {
            return *position;
        }
        let position = self.gathered.langs.len() as u32;
        self.gathered.langs.push(lang.into());
        self.langs.insert(lang.into(), position);
        position
    }
}

/// For each predicate and language of a record, its position among the collected ones.
#[derive(Default)]
pub(in crate::graph) struct Positions {
    pub(in crate::graph) predicates: Vec<u32>,
    pub(in crate::graph) langs: Vec<u32>,
}

/// The result of reading a part of a record.
pub(in crate::graph) type Read = std::result::Result<(), Unread>;

impl Positions {
    fn predicate(&self, bytes: &mut ByteReader<'_>) -> Option<u32> {
        self.predicates.get(usize::try_from(bytes.number()?).ok()?).copied()
    }

    fn lang(&self, bytes: &mut ByteReader<'_>) -> Option<u32> {
        self.langs.get(usize::try_from(bytes.number()?).ok()?).copied()
    }
}

fn deleted_of(bytes: &mut ByteReader<'_>, positions: &Positions) -> Option<Deleted> {
    Some(match bytes.byte()? {
        deleted::ALL => Deleted::All,
        deleted::LANG => Deleted::Lang(positions.lang(bytes)?),
        deleted::VALUE => Deleted::Value(positions.lang(bytes)?, value_of(bytes)?),
        deleted::PASSWORD => {
            Deleted::FirstFormatPassword(positions.lang(bytes)?, bytes.text()?.to_owned())
        }
        deleted::EDGE => Deleted::Edge(Uid(bytes.number()?)),
        _ => return None,
    })
}

/// The change that a field holds; `None` for one that may be left out.
fn schema_change(
    (tag, field): (u64, ByteReader<'_>),
) -> std::result::Result<Option<SchemaChange>, Unread> {
    let text = || field.entire_text().map(str::to_owned);
    Ok(Some(match tag {
        schema_field::DEFINE => SchemaChange::Define(Definitions::decode(field)?),
        schema_field::DROP_ALL => SchemaChange::DropAll,
        schema_field::DROP_DATA => SchemaChange::DropData,
        schema_field::DROP_PREDICATE => SchemaChange::DropPredicate(text()?),
        schema_field::DROP_TYPE => SchemaChange::DropType(text()?),
        _ => return skip_unknown(tag).map(|()| None),
    }))
}

fn value_of(bytes: &mut ByteReader<'_>) -> Option<Value> {
    let (value, used) = Value::decode(bytes.rest())?;
    bytes.take(used)?;
    Some(value)
}
