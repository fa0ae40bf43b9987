//! Loads of tables: columns of values and of edges, whose nodes are given by external ids.
//!
//! Batches of a table are read on many threads, which share the [`Interner`]; their columns are
//! added here in the order of the table. At the end ids are mapped to nodes: existing ones by the
//! index of their predicate, and new uids for the others, in order of arrival.

use super::batch::EXTERNAL;
use super::duplicates::{Duplicates, RowNodes};
use super::gather::{Built, Gathered};
use super::intern::{ExternalId, Interned, Interner};
use super::spill::SpillOptions;
use super::stored_ids::{StoredIds, define, define_ids, stored_node};
use super::typed_endpoints::NewEndpoints;
use super::unique::as_text;
use crate::graph::build::node_lists::add_nodes;
use crate::graph::build::parts::{EdgePart, ValuePart};
use crate::graph::build::renumber::with_high_uids;
use crate::graph::version::graph_version::Version;
use crate::graph::version::node_ids::NodeIds;
use crate::graph::version::uids::NamedUids;
use crate::storage::{Values, ValuesBuilder, text_of};
use hexgraph_base::formats::is_name;
use hexgraph_base::schema::{Origin, PredicateDef, Schema, TypeDef, is_reserved};
use hexgraph_base::types::{Error, Result, Uid, ValueRef, ValueType, shown};
use rayon::prelude::*;
use roaring::RoaringBitmap;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The positions of ids that each row of a table has.
pub const POSITIONS_A_ROW: u64 = 2;

/// If a column of ids has at most this many stored ids for each row, all stored ids are read at
/// once; else each is looked up.
const STORED_MAX: u64 = 16;

/// The bytes of an id while its node is looked up: its uid, its position, that of a new one, and
/// its number.
const ID_BYTES: usize = 16 + 8 + 8 + 8 + 4;

/// The meaning of the ids of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdSpace {
    /// Uids.
    Uid,
    /// Values of this predicate.
    Predicate(String),
}

/// A load of columns in progress.
pub struct ColumnLoad {
    version: Version,
    spaces: Vec<IdSpace>,
    interner: Interner,
    gathered: Gathered,
    named: NamedUids,
    /// The tables, and the row of each from which on its rows are counted.
    tables: Vec<(u64, String)>,
    row_nodes: RowNodes,
    /// The number of values and edges so far.
    count: u64,
    /// Whether types get the predicates of the edges of their nodes, and new endpoints a type.
    owns_edges: bool,
    only_targets: bool,
    /// The types of new nodes to which edges lead, by predicate.
    target_types: Vec<(String, String)>,
}

impl ColumnLoad {
    /// A load into a version, whose memory may be bounded.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when the temporary folder can't be created.
    pub fn new(
        version: &Version,
        spaces: Vec<IdSpace>,
        spill: Option<&SpillOptions>,
    ) -> Result<ColumnLoad> {
        let gathered = Gathered::new(spill, &version.budget)?;
        Ok(ColumnLoad {
            version: version.clone(),
            interner: Interner::new(spaces.len(), &version.budget),
            spaces,
            gathered,
            named: NamedUids::default(),
            tables: Vec::new(),
            row_nodes: RowNodes::new(&version.budget),
            count: 0,
            owns_edges: false,
            only_targets: false,
            target_types: Vec::new(),
        })
    }

    /// Notes that the rows from `first_row` on belong to a table of this name.
    pub fn begin_table(&mut self, first_row: u64, name: &str) {
        self.tables.push((first_row, name.to_owned()));
    }

    /// Adds the predicates of edges to the types of their source nodes, and gives new endpoints the
    /// type of the others on the same side. `only_targets` says that sources are rows, whose types
    /// the load states.
    pub fn own_edges(&mut self, only_targets: bool) {
        self.owns_edges = true;
        self.only_targets = only_targets;
    }

    /// Gives new nodes to which edges of a predicate lead a type, whatever that of the others is.
    pub fn type_targets(&mut self, predicate: &str, node_type: &str) {
        self.target_types.push((predicate.to_owned(), node_type.to_owned()));
    }

    /// The schema as the load has changed it so far.
    pub fn schema(&self) -> &Schema {
        &self.version.schema
    }

    /// True when the schema has the predicate, and it has values.
    pub fn has_values(&self, name: &str) -> bool {
        let def = self.version.schema.predicates.get(name);
        def.is_some_and(|def| def.value_type != ValueType::Uid)
    }

    /// The numbers of ids.
    pub fn interner(&self) -> &Interner {
        &self.interner
    }

    /// Creates no nodes for the ids of a space: ids without a stored node are lost, and
    /// [`Interner::lost`] returns them. Uids are never lost. Must be called before the first number
    /// is requested.
    pub fn only_stored(&mut self, space: usize) {
        if let IdSpace::Predicate(predicate) = self.spaces[space].clone() {
            let version = self.version.clone();
            self.interner.only_stored(space, StoredIds { version, predicate });
        }
    }

    /// The definition of a predicate; `otherwise` makes that of one which the schema lacks.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] for a name that no predicate may have.
    pub fn define(
        &mut self,
        name: &str,
        otherwise: impl FnOnce() -> PredicateDef,
    ) -> Result<PredicateDef> {
        define(&mut self.version, name, otherwise)
    }

    /// True when the schema has the predicate.
    pub fn knows(&self, name: &str) -> bool {
        self.version.schema.predicates.contains_key(name)
    }

    /// True when the schema has the predicate, and it has texts in languages.
    pub fn has_langs(&self, name: &str) -> bool {
        self.version.schema.predicates.get(name).is_some_and(|def| def.lang)
    }

    /// The type of the values that are the ids of a space; `expected` when its predicate is new. A
    /// new one is indexed, and `is_unique` says that no two nodes may have one of its values.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] for a predicate that cannot be searched by id.
    pub fn define_ids(
        &mut self,
        space: usize,
        expected: ValueType,
        is_unique: bool,
    ) -> Result<ValueType> {
        let name = match &self.spaces[space] {
            IdSpace::Uid => return Ok(ValueType::Uid),
            IdSpace::Predicate(name) => name.clone(),
        };
        let def = define_ids(&mut self.version, &name, expected, is_unique)?;
        Ok(if def.value_type.is_text() { ValueType::String } else { ValueType::Int })
    }

    /// Adds a type with these fields, or the missing ones to an existing type.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] for a reserved name, and for one that no schema can contain.
    pub fn define_type(&mut self, name: &str, mut fields: Vec<String>) -> Result<()> {
        if !is_name(name) {
            let expected = "it has a letter or digit, and neither blanks nor < > { } | ^ ` \" \\";
            return Err(Error::schema(format!("`{name}` is no name of a type: {expected}")));
        }
        let Some(existing) = self.version.schema.types.get(name) else {
            let def = TypeDef::new(name, fields);
            self.version.schema.check_type(&def)?;
            Arc::make_mut(&mut self.version.schema).types.insert(name.to_owned(), def);
            return Ok(());
        };
        let own: FxHashSet<&str> = existing.fields.iter().map(String::as_str).collect();
        fields.retain(|field| !own.contains(field.as_str()));
        // Those of the engine are as they are.
        if !fields.is_empty() && !is_reserved(name) {
            let mut own = existing.declared().by_alter.unwrap_or_default();
            own.extend(fields);
            let def = existing.declare(Origin::Alter, Some(own));
            Arc::make_mut(&mut self.version.schema).types.insert(name.to_owned(), def);
        }
        Ok(())
    }

    /// Notes uids that are in use.
    pub fn use_uids(&mut self, uids: &NamedUids) {
        self.named.merge(uids);
    }

    /// Prepares for ids of about `rows` rows: looks up all stored ints at once if that is cheaper
    /// than one by one. Must be called before the first number is requested.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] without enough memory for the stored ones.
    pub fn expect_rows(&mut self, rows: u64) -> Result<()> {
        for (space, name) in self.spaces.iter().enumerate() {
            let IdSpace::Predicate(name) = name else { continue };
            let values = self.version.predicate(name).and_then(|predicate| predicate.values(""));
            let Some(values) = values.filter(|values| values.is_clean()) else { continue };
            let column = &values.base.column;
            let is_int = column.values.value_type() == Some(ValueType::Int);
            if !is_int
                || column.rows.is_some()
                || rows.saturating_mul(STORED_MAX) < column.values.len() as u64
            {
                continue;
            }
            let id = |position| match column.values.get(position) {
                ValueRef::Int(id) => id,
                _ => unreachable!("a column of ints has ints only"),
            };
            let pairs =
                column.subjects.iter().enumerate().map(|(position, node)| (id(position), node));
            self.interner.set_existing(space, pairs)?;
        }
        Ok(())
    }

    /// Adds values in a language.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when a temporary file can't be written.
    pub fn add_values(&mut self, def: &PredicateDef, lang: &str, part: ValuePart) -> Result<()> {
        self.count += part.nodes.len() as u64;
        self.gathered.note_ids(self.interner.byte_len());
        if part.nodes.is_empty() { Ok(()) } else { self.gathered.add_values(def, lang, part) }
    }

    /// Records the nodes of rows, 0 for none, and counts rows that repeat an id. `first_row` counts
    /// as in [`ColumnLoad::begin_table`], and rows come in order.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] without enough memory for them.
    pub fn note_rows(&mut self, first_row: u64, nodes: &[u32]) -> Result<()> {
        self.row_nodes.add(first_row, nodes)
    }

    /// Adds edges.
    ///
    /// # Errors
    ///
    /// As [`ColumnLoad::add_values`].
    pub fn add_edges(&mut self, def: &PredicateDef, part: EdgePart) -> Result<()> {
        self.count += part.nodes.len() as u64;
        self.gathered.note_ids(self.interner.byte_len());
        if part.nodes.is_empty() { Ok(()) } else { self.gathered.add_edges(def, part) }
    }

    /// The version with everything added, the number of values and edges, and whether all ids are
    /// of new nodes.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] for too many nodes, [`Error::Query`] for a duplicate of a unique value,
    /// [`Error::Io`] when a temporary file cannot be written or read.
    pub fn finish(mut self) -> Result<(Built, u64, bool)> {
        self.interner.check()?;
        let none = Interner::new(0, &self.version.budget);
        let interner = std::mem::replace(&mut self.interner, none);
        let has_met_stored = interner.has_met_stored();
        let (ids, reserved) = interner.into_ids(ID_BYTES)?;
        // Before new uids are allocated, so that none of them is named by the data.
        self.version.uids.reserve(&self.named);
        let stored: Vec<bool> = self.spaces.iter().map(|space| self.has_stored(space)).collect();
        let existing = |id: &Interned| match stored.get(id.space) {
            Some(true) => self.existing(id),
            _ => None,
        };
        let existing: Vec<Option<Uid>> = ids.par_iter().map(existing).collect();
        let new_count = existing.iter().filter(|existing| existing.is_none()).count() as u64;
        let are_all_new = 0 < new_count && !has_met_stored && existing.iter().all(Option::is_none);
        let new_uids = self.version.uids.allocate(new_count, &self.version.nodes, &self.named)?;
        let mut new_uids = new_uids.into_iter().map(Uid);
        let mut uids = vec![0; ids.len()];
        let mut new = Vec::with_capacity(new_count as usize);
        for (at, (id, existing)) in ids.iter().zip(&existing).enumerate() {
            if existing.is_none() {
                new.push(at);
            }
            let uid = existing.or_else(|| new_uids.next()).expect("there is one for each new id");
            uids[(id.number - EXTERNAL) as usize] = uid.0;
        }
        self.add_ids(&ids, &new)?;
        let high = uids.iter().copied().filter(|&uid| NodeIds::is_high(Uid(uid))).collect();
        let next = with_high_uids(&self.version, high)?;
        let node = |&uid: &u64| next.nodes.node(Uid(uid)).expect("all uids are in the table now");
        let numbers: Vec<u32> = uids.iter().map(node).collect();
        let firsts: Vec<(u64, u32)> = match self.gathered.has_unique() {
            true => ids.iter().map(|id| (id.position, id.number)).collect(),
            false => Vec::new(),
        };
        let new_endpoints = self.owns_edges.then(|| {
            let number = |&at: &usize| numbers[(ids[at].number - EXTERNAL) as usize];
            let mut nodes = RoaringBitmap::new();
            add_nodes(&[&new.iter().map(number).collect::<Vec<u32>>()], &mut nodes);
            let target_types = std::mem::take(&mut self.target_types);
            NewEndpoints { nodes, target_types, only_targets: self.only_targets }
        });
        let duplicates = self.duplicates(&ids);
        // What follows needs the memory for columns.
        drop((ids, existing, new, uids));
        reserved.retain_only((numbers.len() * size_of::<u32>()) as u64);
        let label = |node: u32| {
            let is_node = |number: u32| numbers[(number - EXTERNAL) as usize] == node;
            let (position, _) = firsts.iter().find(|(_, number)| is_node(*number))?;
            row_of(&self.tables, position / POSITIONS_A_ROW)
        };
        let built = self.gathered.build(next, &numbers, &label, new_endpoints.as_ref())?;
        let count = self.count + built.typed;
        Ok((Built { new_nodes: new_count, duplicates, ..built }, count, are_all_new))
    }

    /// The rows whose id an earlier row has.
    fn duplicates(&self, ids: &[Interned]) -> Duplicates {
        let first = self.row_nodes.first.and_then(|(row, node)| {
            let row = row_of(&self.tables, row)?;
            let own = ids.iter().find(|id| id.number == node);
            let id = match own.map(|id| (&id.id, &self.spaces[id.space])) {
                Some((ExternalId::Int(uid), IdSpace::Uid)) => Uid(*uid as u64).to_string(),
                Some((ExternalId::Int(number), _)) => number.to_string(),
                Some((ExternalId::Text(text), _)) => shown(text),
                // A node that is stored, or that its uid names.
                _ => {
                    let of_space = |space: &IdSpace| match space {
                        IdSpace::Predicate(name) => {
                            let value = self.version.predicate(name)?.values("")?.first(node)?;
                            Some(text_of(value).map_or_else(|| as_text(value), shown))
                        }
                        IdSpace::Uid => None,
                    };
                    let uid = || self.version.nodes.uid(node).to_string();
                    self.spaces.iter().find_map(of_space).unwrap_or_else(uid)
                }
            };
            Some((row, id))
        });
        Duplicates { rows: self.row_nodes.duplicates, first }
    }

    /// Whether some id of a space may be that of a node which is there.
    fn has_stored(&self, space: &IdSpace) -> bool {
        match space {
            IdSpace::Uid => true,
            IdSpace::Predicate(name) => {
                self.version.predicate(name).is_some_and(|of| !of.subjects().is_empty())
            }
        }
    }

    /// The uid that an id has already.
    fn existing(&self, id: &Interned) -> Option<Uid> {
        let value = match &id.id {
            ExternalId::New => return None,
            ExternalId::Int(uid) if self.spaces[id.space] == IdSpace::Uid => {
                return Some(Uid(*uid as u64));
            }
            ExternalId::Int(number) => ValueRef::Int(*number),
            ExternalId::Text(text) => ValueRef::String(text),
        };
        let IdSpace::Predicate(name) = &self.spaces[id.space] else { return None };
        stored_node(&self.version, name, value).map(|node| self.version.nodes.uid(node))
    }

    /// Stores the ids of new nodes in their predicates.
    fn add_ids(&mut self, ids: &[Interned], new: &[usize]) -> Result<()> {
        for (space, name) in self.spaces.clone().into_iter().enumerate() {
            let IdSpace::Predicate(name) = name else { continue };
            let Some(def) = self.version.schema.predicates.get(&name).cloned() else { continue };
            let own = new.iter().map(|&at| &ids[at]).filter(|id| id.space == space);
            let (nodes, values) = columns_of(own, new.len(), def.value_type);
            self.add_values(&def, "", ValuePart { nodes, values, facets: Vec::new() })?;
        }
        Ok(())
    }
}

/// How messages call a row that is counted through all tables.
fn row_of(tables: &[(u64, String)], row: u64) -> Option<String> {
    let (first_row, table) = tables.iter().rev().find(|(first, _)| *first <= row)?;
    Some(format!("row {} of {table}", row - first_row + 1))
}

/// The nodes of ids, and the ids as values of a type. There are about `len` of them.
fn columns_of<'a>(
    ids: impl Iterator<Item = &'a Interned>,
    len: usize,
    value_type: ValueType,
) -> (Vec<u32>, Values) {
    let mut nodes = Vec::with_capacity(len);
    if value_type == ValueType::Int {
        let mut numbers = Vec::with_capacity(len);
        for id in ids {
            if let ExternalId::Int(number) = id.id {
                numbers.push(number);
                nodes.push(id.number);
            }
        }
        return (nodes, Values::of_ints(numbers));
    }
    let mut values = ValuesBuilder::new(value_type);
    values.reserve(len);
    for id in ids {
        match &id.id {
            ExternalId::New => continue,
            ExternalId::Int(number) => values.push(ValueRef::Int(*number)),
            ExternalId::Text(text) if value_type == ValueType::Default => {
                values.push(ValueRef::Default(text));
            }
            ExternalId::Text(text) => values.push(ValueRef::String(text)),
        }
        nodes.push(id.number);
    }
    (nodes, values.finish())
}
