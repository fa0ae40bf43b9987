//! Gathers the batches of a load, in their order, and makes the next version of them.

pub(in crate::graph) mod small;
mod built;
mod fit;

use super::batch::{BadLine, Batch, EXTERNAL, External, PredicateBatch};
use super::duplicates::Duplicates;
use super::names::{ExternalIds, NameRuns, NodeNames, ResolvedNames};
use super::spill::{Spill, SpillOptions, Spilled};
use super::typed_endpoints::{EdgeEndpoints, NewEndpoints, OwnedEdges, TypedEndpoints};
use crate::graph::build::edge_order::RepeatedEdge;
use crate::graph::build::lean::{Lean, LeanPart, SORT_LEN};
use crate::graph::build::node_lists::add_nodes;
use crate::graph::build::parts::{EdgePart, ValuePart};
use crate::graph::build::renumber::with_high_uids;
use crate::graph::build::replaced_rows::{Superseded, SupersededCounter};
use crate::graph::build::stored_form::{build_loaded_edges, build_loaded_values};
use crate::graph::thresholds::Thresholds;
use crate::graph::version::edges::Direction;
use crate::graph::version::graph_version::Version;
use crate::graph::version::node_ids::NodeIds;
use crate::graph::version::predicate::{Predicate, PredicateData};
use crate::graph::version::uids::NamedUids;
use crate::graph::version::values::LangValues;
use crate::storage::{Array, catch_corrupt};
use built::{Builder, BuiltPredicate, joined};
use fit::{converted, first_definition, has_float, inexact_int};
use hexgraph_base::budget::{Budget, Reservation};
use hexgraph_base::formats::FilePosition;
use hexgraph_base::schema::{PredicateDef, Schema};
use hexgraph_base::types::{Error, Result, Uid, ValueType};
use rayon::prelude::*;
use roaring::RoaringBitmap;
use rustc_hash::FxHashMap;
use small::{SmallLoad, build_small, is_small};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The bytes of a stored edge while it is sorted with new ones: both nodes, and their sorted form.
const STORED_EDGE_LEN: usize = 8 + 12;

/// The bytes of an edge in the list of those that come again, which is made of parts.
pub(super) const REPEATED_EDGE_LEN: usize = 2 * size_of::<RepeatedEdge>();

/// The uid of a number that has none yet.
const NO_UID: u64 = 0;

/// Marks the uid of a number as an alias, until the aliased number has its own.
const ALIAS: u64 = 1;

/// The result of a load.
pub struct Built {
    /// The version that has it all.
    pub version: Version,
    /// The number of distinct nodes in the data.
    pub nodes: u64,
    /// The number of those nodes that were not there before.
    pub new_nodes: u64,
    /// The values, edges and facets that the load supersedes.
    pub superseded: Superseded,
    /// The predicate and the uid of the first of those that came in the load itself.
    pub first_superseded: Option<(String, Uid)>,
    /// The rows of nodes whose id an earlier row has.
    pub duplicates: Duplicates,
    /// The number of edges that came more than once or were stored already, with facets or without.
    pub repeated: u64,
    /// The predicates of edges that types got as fields.
    pub owned: Vec<OwnedEdges>,
    /// The new endpoints without a type, and the types that others got.
    pub untyped: u64,
    pub typed: u64,
    /// The load as a commit, if it is small in proportion to the graph.
    pub small: Option<SmallLoad>,
}

impl Built {
    /// A result with only the version.
    fn of(version: Version) -> Built {
        Built {
            version,
            nodes: 0,
            new_nodes: 0,
            superseded: Superseded::default(),
            first_superseded: None,
            duplicates: Duplicates::default(),
            repeated: 0,
            owned: Vec::new(),
            untyped: 0,
            typed: 0,
            small: None,
        }
    }

    /// Adds what was superseded of a predicate.
    fn supersede(&mut self, predicate: &str, counts: Superseded) {
        if let (Some(node), None) = (counts.first, &self.first_superseded) {
            self.first_superseded = Some((predicate.to_owned(), self.version.nodes.uid(node)));
        }
        self.superseded += counts;
    }

    /// Adds fields to the types of edges, and records the types of new endpoints.
    fn note(&mut self, endpoints: TypedEndpoints) {
        endpoints.alter(&mut self.version);
        (self.untyped, self.typed) = (endpoints.untyped, endpoints.typed());
        self.owned = endpoints.owned;
    }
}

/// All that a load has read so far, by predicate.
pub(in crate::graph) struct Gathered {
    predicates: Vec<Pending>,
    by_name: FxHashMap<Box<str>, usize>,
    /// The number of nodes that have no final number yet, from [`EXTERNAL`] on.
    external: usize,
    names: NodeNames,
    highs: FxHashMap<u64, u32>,
    named: NamedUids,
    spill: Option<Spill>,
    /// The memory that is reserved for it.
    reservation: Reservation,
}

/// Says what the data calls a node that has no uid there.
pub(in crate::graph) type Label<'a> = dyn Fn(u32) -> Option<String> + Sync + 'a;

/// A predicate with all that was read of it.
struct Pending {
    def: Arc<PredicateDef>,
    /// The schema did not know it: the statements decide whether it is a list.
    is_new: bool,
    /// True when JSON had a value of it in brackets.
    is_listed: bool,
    /// The first int of a new predicate that no float holds.
    inexact: Option<i64>,
    langs: BTreeMap<Box<str>, Vec<ValuePart>>,
    edges: Vec<EdgePart>,
    /// The values, with their language, and the edges that came first and lie in files.
    spilled_values: Vec<(Box<str>, Spilled)>,
    spilled_edges: Vec<Spilled>,
    has_facets: bool,
    /// The number of edges that came, also of those in files.
    edges_len: u64,
}

impl Gathered {
    /// An empty load. Data go to files if `options` allow; their memory is reserved in `budget`.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when files cannot be created, [`Error::Limit`] without enough memory.
    pub(in crate::graph) fn new(
        options: Option<&SpillOptions>,
        budget: &Budget,
    ) -> Result<Gathered> {
        let reservation = budget.reservation();
        if let Some(options) = options {
            reservation.reserve(options.memory)?;
        }
        Ok(Gathered {
            predicates: Vec::new(),
            by_name: FxHashMap::default(),
            external: 0,
            names: NodeNames::default(),
            highs: FxHashMap::default(),
            named: NamedUids::default(),
            spill: options.map(Spill::new).transpose()?,
            reservation,
        })
    }

    /// Adds the next batch. Returns the lines that cannot be stored, by line, including those of
    /// the batch; the others are added, unless `skip` is false.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] for too many nodes.
    pub(in crate::graph) fn add(&mut self, batch: Batch, schema: &Schema) -> Result<Vec<BadLine>> {
        // The chunk has numbered its nodes by itself; its numbers are replaced by those of the
        // load.
        let mut bad_lines = batch.bad_lines;
        self.named.merge(&batch.named);
        let names_before = self.names.byte_len();
        let external = self.add_external(batch.external)?;
        let parts: usize = batch.predicates.iter().map(PredicateBatch::byte_len).sum();
        let held = parts + self.names.byte_len() - names_before;
        for mut predicate in batch.predicates {
            if !external.is_empty() {
                renumber(&mut predicate, |node| external[(node - EXTERNAL) as usize]);
            }
            self.add_predicate(predicate, schema, &mut bad_lines);
        }
        self.hold(held)?;
        bad_lines.sort_by_key(|bad| (bad.at.line, bad.at.column));
        Ok(bad_lines)
    }

    /// The numbers of the load for the nodes of a batch.
    fn add_external(&mut self, external: Vec<External>) -> Result<Vec<u32>> {
        // The last number, `u32::MAX`, is reserved, so fewer than 2^31 of them are available.
        if EXTERNAL as usize <= self.external + external.len() {
            let message = "more than 2^31 - 1 names of nodes (with a bound on memory one counts each time that it comes back \
                           after others went to files: more `memory` makes fewer)";
            return Err(Error::Limit { message: message.to_owned() });
        }
        let numbers = external.into_iter().map(|node| {
            let next = EXTERNAL + self.external as u32;
            let number = match node {
                External::Named(name) => self.names.number(name, next),
                External::High(uid) => *self.highs.entry(uid).or_insert(next),
                External::New => next,
            };
            // Whoever was met before has a lesser number.
            self.external += usize::from(number == next);
            number
        });
        Ok(numbers.collect())
    }

    fn add_predicate(
        &mut self,
        batch: PredicateBatch,
        schema: &Schema,
        bad_lines: &mut Vec<BadLine>,
    ) {
        if batch.langs.is_empty() && batch.edges.nodes.is_empty() {
            return;
        }
        let position = match self.by_name.get(&batch.name) {
            Some(&position) => position,
            None => {
                self.by_name.insert(batch.name.clone(), self.predicates.len());
                self.predicates.push(Pending::new(&batch, schema));
                self.predicates.len() - 1
            }
        };
        self.predicates[position].add(batch, bad_lines);
    }

    /// True if there is a predicate with unique values.
    pub(super) fn has_unique(&self) -> bool {
        self.predicates.iter().any(|pending| pending.def.unique)
    }

    /// Counts what was added, and writes everything to a file above the limit.
    fn hold(&mut self, bytes: usize) -> Result<()> {
        let Some(spill) = self.spill.as_mut() else {
            return self.reservation.reserve(bytes as u64).map_err(with_bound);
        };
        if !spill.hold(bytes) {
            return Ok(());
        }
        let mut run = spill.begin()?;
        let mut written = Vec::new();
        for pending in &mut self.predicates {
            let (mut langs, mut edges) = (Vec::new(), None);
            for (lang, parts) in std::mem::take(&mut pending.langs) {
                langs.push((lang, run.values(parts)?));
            }
            if !pending.edges.is_empty() {
                edges = Some(run.edges(std::mem::take(&mut pending.edges))?);
            }
            written.push((langs, edges));
        }
        let names_len = self.names.byte_len();
        let are_many = spill.memory() < 2 * names_len;
        let names = match are_many {
            true => Some(run.values(vec![self.names.pop_recent()])?),
            false => None,
        };
        let file = spill.end(run)?;
        match names {
            Some(names) => self.names.add_run(Spilled::new(&file, names)),
            // They stay, so they count for the next run, too.
            None => {
                spill.hold(names_len);
            }
        }
        // In the order in which they were written: no predicate was added meanwhile.
        for (pending, (langs, edges)) in self.predicates.iter_mut().zip(written) {
            let langs = langs.into_iter().map(|(lang, part)| (lang, Spilled::new(&file, part)));
            pending.spilled_values.extend(langs);
            pending.spilled_edges.extend(edges.map(|part| Spilled::new(&file, part)));
        }
        Ok(())
    }

    /// The version with the gathered data. If `ids` names a predicate, external ids become its
    /// values.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] for too many nodes; those of [`Gathered::build`].
    pub(in crate::graph) fn finish(
        mut self,
        version: &Version,
        ids: Option<&PredicateDef>,
    ) -> Result<(Built, ExternalIds)> {
        let mut names = std::mem::take(&mut self.names).finish()?;
        let resolved = names.resolve(version, ids, &mut |part| match ids {
            Some(def) => self.add_values(def, "", part),
            None => Ok(()),
        })?;
        if !self.has_unique() {
            // Names are only needed in an error about duplicates of unique values; else their
            // memory is freed before columns are built.
            names = NameRuns::default();
        }
        let before = self.reservation.used();
        self.reservation.reserve((12 * self.external) as u64).map_err(with_bound)?;
        let (next, numbers, new_nodes) = self.final_numbers(version, &resolved)?;
        self.reservation.retain_only(before + 4 * self.external as u64);
        let label =
            |node: u32| names.name_of(|number| numbers[(number - EXTERNAL) as usize] == node);
        let ids = resolved.ids;
        Ok((Built { new_nodes, ..self.build(next, &numbers, &label, None)? }, ids))
    }

    /// The version with the new nodes numbered, the node ids of the numbers of the load, and the
    /// number of new nodes.
    fn final_numbers(
        &self,
        version: &Version,
        resolved: &ResolvedNames,
    ) -> Result<(Version, Vec<u32>, u64)> {
        // Before new uids are allocated: concurrent loads then see the named ones too.
        version.uids.reserve(&self.named);
        let at = |number: u32| (number - EXTERNAL) as usize;
        let mut uids = vec![NO_UID; self.external];
        self.highs.iter().for_each(|(&uid, &number)| uids[at(number)] = uid);
        resolved.stored.iter().for_each(|&(number, uid)| uids[at(number)] = uid.0);
        resolved.aliases.iter().for_each(|&(number, _)| uids[at(number)] = ALIAS);
        let new_nodes = uids.iter().filter(|uid| **uid == NO_UID).count() as u64;
        let mut new_uids =
            version.uids.allocate(new_nodes, &version.nodes, &self.named)?.into_iter();
        for uid in uids.iter_mut().filter(|uid| **uid == NO_UID) {
            *uid = new_uids.next().expect("there is one for each new node");
        }
        resolved.aliases.iter().for_each(|&(number, of)| uids[at(number)] = uids[at(of)]);
        let high = uids.iter().copied().filter(|&uid| NodeIds::is_high(Uid(uid))).collect();
        let next = with_high_uids(version, high)?;
        let node = |&uid: &u64| next.nodes.node(Uid(uid)).expect("all uids are in the table now");
        let numbers = uids.iter().map(node).collect();
        Ok((next, numbers, new_nodes))
    }

    /// The version with the gathered data, with the nodes of the numbers from [`EXTERNAL`] on. It
    /// does not report new nodes. If `new` has them, types get the predicates of their edges as
    /// fields, and new nodes the type of the others at the same end.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for a duplicate of a unique value, whose nodes `label` names; [`Error::Io`]
    /// when a temporary file cannot be written or read.
    pub(super) fn build(
        self,
        next: Version,
        numbers: &[u32],
        label: &Label<'_>,
        new: Option<&NewEndpoints>,
    ) -> Result<Built> {
        let Gathered { predicates, mut spill, reservation, .. } = self;
        if spill.is_none() && is_small(&predicates, &next) {
            return build_small(predicates, next, numbers, new);
        }
        let builder = Builder { version: &next, numbers, label, reservation: &reservation };
        let built = builder.build_all(predicates, spill.as_mut())?;
        let endpoints: Vec<EdgeEndpoints> = match new {
            Some(_) => built.iter().filter_map(BuiltPredicate::endpoints).collect(),
            None => Vec::new(),
        };
        let mut built = joined(next, built);
        if let Some(new) = new.filter(|_| !endpoints.is_empty()) {
            let typed = TypedEndpoints::of(&built.version, &endpoints, new);
            if let Some((def, part)) = typed.part(&built.version) {
                let mut types = Pending::of(def, false);
                types.langs.insert(Box::default(), vec![part]);
                // Its nodes have their final numbers.
                let version = &built.version;
                let builder = Builder { version, numbers: &[], label, reservation: &reservation };
                let types = builder.build_all(vec![types], spill.as_mut())?;
                built.version = joined(built.version, types).version;
            }
            built.note(typed);
        }
        Ok(built)
    }

    /// Adds values in a language. The schema has to know the predicate.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when a temporary file can't be written.
    pub(in crate::graph) fn add_values(
        &mut self,
        def: &PredicateDef,
        lang: &str,
        part: ValuePart,
    ) -> Result<()> {
        let held = part.byte_len();
        self.pending(def).langs.entry(lang.into()).or_default().push(part);
        self.hold(held)
    }

    /// Adds edges. The schema has to know the predicate.
    ///
    /// # Errors
    ///
    /// As [`Gathered::add_values`].
    pub(super) fn add_edges(&mut self, def: &PredicateDef, part: EdgePart) -> Result<()> {
        let held = part.byte_len();
        let pending = self.pending(def);
        pending.has_facets |= !part.facets.is_empty();
        pending.edges_len += part.nodes.len() as u64;
        pending.edges.push(part);
        self.hold(held)
    }

    /// Records the bytes of the ids of a load as held: with a bound on memory, columns go to files
    /// earlier.
    pub(super) fn note_ids(&mut self, bytes: u64) {
        if let Some(spill) = &mut self.spill {
            spill.set_outside(bytes as usize);
        }
    }

    fn pending(&mut self, def: &PredicateDef) -> &mut Pending {
        let position = *self.by_name.entry(def.name.as_str().into()).or_insert_with(|| {
            self.predicates.push(Pending::of(def.clone(), false));
            self.predicates.len() - 1
        });
        &mut self.predicates[position]
    }
}

/// Replaces the numbers from [`EXTERNAL`] on.
fn renumber(batch: &mut PredicateBatch, number: impl Fn(u32) -> u32) {
    for (_, part) in &mut batch.langs {
        renumber_nodes(&mut part.nodes, &number);
    }
    renumber_nodes(&mut batch.edges.nodes, &number);
    renumber_nodes(&mut batch.edges.targets, &number);
}

fn renumber_nodes(nodes: &mut [u32], number: impl Fn(u32) -> u32) {
    nodes.iter_mut().filter(|node| EXTERNAL <= **node).for_each(|node| *node = number(*node));
}

/// Says what can be done when there is no memory for a load.
fn with_bound(error: Error) -> Error {
    match error {
        Error::Limit { message } => {
            Error::Limit { message: format!("{message}; the option `memory` bounds a load") }
        }
        other => other,
    }
}

impl Pending {
    /// The bytes of the parts that are in memory.
    pub(super) fn byte_len(&self) -> usize {
        let values = self.langs.values().flatten().map(ValuePart::byte_len);
        values.sum::<usize>() + self.edges.iter().map(EdgePart::byte_len).sum::<usize>()
    }

    /// The bytes needed to read back what is in files, and to build: a column with its parts, and
    /// each index. Values are mapped when read back, edges are not. `stored` edges are sorted with
    /// the new ones, and with facets each of them may be repeated.
    fn build_len(&self, stored: u64) -> usize {
        // Facets of what is superseded are compared with those that stay.
        let indexes = self.def.indexes.len() + usize::from(self.has_facets);
        let values: usize = self.spilled_values.iter().map(|(_, part)| part.byte_len()).sum();
        let edges: usize = self.spilled_edges.iter().map(Spilled::byte_len).sum();
        let sorted = stored as usize * STORED_EDGE_LEN;
        let repeated = match self.has_facets {
            true => (stored + self.edges_len) as usize * REPEATED_EDGE_LEN,
            false => 0,
        };
        self.byte_len() * (2 + indexes) + values * (1 + indexes) + edges * 2 + sorted + repeated
    }

    fn new(batch: &PredicateBatch, schema: &Schema) -> Pending {
        let def = schema.predicates.get(&*batch.name).cloned();
        let is_new = def.is_none();
        let def = def.unwrap_or_else(|| first_definition(batch));
        Pending::of(def, is_new)
    }

    fn of(def: PredicateDef, is_new: bool) -> Pending {
        Pending {
            def: Arc::new(def),
            is_new,
            is_listed: false,
            langs: BTreeMap::new(),
            edges: Vec::new(),
            spilled_values: Vec::new(),
            spilled_edges: Vec::new(),
            inexact: None,
            has_facets: false,
            edges_len: 0,
        }
    }

    /// Takes what is in files back, before what came later.
    fn read_back(&mut self) -> Result<()> {
        let later = std::mem::take(&mut self.langs);
        for (lang, part) in std::mem::take(&mut self.spilled_values) {
            self.langs.entry(lang).or_default().push(part.values()?);
        }
        for (lang, parts) in later {
            self.langs.entry(lang).or_default().extend(parts);
        }
        let spilled = std::mem::take(&mut self.spilled_edges);
        let mut edges: Vec<EdgePart> = spilled.iter().map(Spilled::edges).collect::<Result<_>>()?;
        edges.append(&mut self.edges);
        self.edges = edges;
        Ok(())
    }

    fn add(&mut self, mut batch: PredicateBatch, bad_lines: &mut Vec<BadLine>) {
        self.is_listed |= batch.is_listed;
        if let Some((values, edges)) = batch.positions.take() {
            self.fit(&mut batch, &values, &edges, bad_lines);
        }
        for (lang, part) in batch.langs {
            self.langs.entry(lang).or_default().push(part);
        }
        if !batch.edges.nodes.is_empty() {
            self.has_facets |= !batch.edges.facets.is_empty();
            self.edges_len += batch.edges.nodes.len() as u64;
            self.edges.push(batch.edges);
        }
    }

    /// True for edges that lie in files and can be built range by range.
    fn is_lean(&self, stored: Option<&Predicate>) -> bool {
        let old = stored.and_then(|old| old.direction(false));
        let has_facets = self.has_facets || old.is_some_and(Direction::has_facets);
        !self.spilled_edges.is_empty() && self.def.list && !has_facets
    }

    /// The bytes that sorting takes where edges are built range by range.
    fn sort_len(&self, memory: usize) -> usize {
        memory.min(self.edge_count() as usize * SORT_LEN)
    }

    /// Builds edges range by range.
    fn build_lean(
        mut self,
        stored: Option<&Predicate>,
        numbers: &[u32],
        spill: &mut Spill,
    ) -> Result<([RoaringBitmap; 2], Predicate)> {
        let mut parts = Vec::new();
        let is_numbered = !numbers.is_empty();
        for spilled in &self.spilled_edges {
            let [nodes, targets] = spilled.endpoints()?;
            parts.push(LeanPart { nodes, targets, is_numbered });
        }
        let in_memory = |part: EdgePart, is_numbered: bool| {
            let [nodes, targets] = [part.nodes, part.targets].map(Array::from_vec);
            LeanPart { nodes, targets, is_numbered }
        };
        let later = std::mem::take(&mut self.edges);
        parts.extend(later.into_iter().map(|part| in_memory(part, is_numbered)));
        let own = parts.len();
        // The stored edges have the ids of nodes already.
        let old = stored.and_then(|old| old.direction(false)).map(EdgePart::of);
        parts.extend(old.map(|part| in_memory(part, false)));
        let lean = Lean {
            parts: &parts,
            own,
            node_of: &|node| {
                if node < EXTERNAL { node } else { numbers[(node - EXTERNAL) as usize] }
            },
            with_reverse: self.def.reverse,
            memory: spill.memory(),
            scratch: &mut || spill.scratch(),
        };
        // A damaged block of a mapped file unwinds.
        let (edges, nodes) = catch_corrupt(|| lean.build())??;
        Ok((nodes, Predicate { def: self.def, data: PredicateData::Edges(edges) }))
    }

    /// Converts the statements of a predicate unknown to the schema to the type of the first. If
    /// some numbers are floats, all are, also earlier ones, which [`Pending::widen`] converts. A
    /// float is refused if one of the ints has no exact float.
    fn fit(
        &mut self,
        batch: &mut PredicateBatch,
        value_positions: &[FilePosition],
        edge_positions: &[FilePosition],
        bad_lines: &mut Vec<BadLine>,
    ) {
        let mut refuse = |at: FilePosition, reason: String| {
            bad_lines.push(BadLine { at, reason });
        };
        if self.def.value_type == ValueType::Int {
            let parts = || batch.langs.iter().map(|(_, part)| &part.values);
            self.inexact = self.inexact.or_else(|| parts().find_map(inexact_int));
            if self.inexact.is_none() && parts().any(has_float) {
                Arc::make_mut(&mut self.def).value_type = ValueType::Float;
            }
        }
        let name = &self.def.name;
        if self.def.value_type == ValueType::Uid {
            batch.langs.clear();
            for &at in value_positions {
                refuse(
                    at,
                    format!("`{name}` is an edge elsewhere in the data, and this is a value"),
                );
            }
            return;
        }
        batch.edges = EdgePart { nodes: Vec::new(), targets: Vec::new(), facets: Vec::new() };
        for &at in edge_positions {
            refuse(at, format!("`{name}` has values elsewhere in the data, and this is a node"));
        }
        let expected = self.def.value_type;
        for (_, part) in &mut batch.langs {
            if expected != ValueType::Default && part.values.value_type() != Some(expected) {
                *part = converted(part, expected, |row, reason| {
                    let elsewhere = expected.name();
                    let why = match self.inexact {
                        Some(int) => format!("`{name}` has the int {int}, which no float holds"),
                        None => format!(
                            "the first value of `{name}` in the data is of type {elsewhere}"
                        ),
                    };
                    refuse(value_positions[row], format!("{reason} ({why})"))
                });
            }
        }
    }

    pub(super) fn renumber(&mut self, number: impl Fn(u32) -> u32 + Sync) {
        self.langs.par_iter_mut().flat_map(|(_, parts)| parts).for_each(|part| {
            renumber_nodes(&mut part.nodes, &number);
        });
        self.edges.par_iter_mut().for_each(|part| {
            renumber_nodes(&mut part.nodes, &number);
            renumber_nodes(&mut part.targets, &number);
        });
    }

    /// The number of new edges; 0 for single-valued edges, as only the last one counts.
    pub(super) fn edge_count(&self) -> u64 {
        if self.def.list { self.edges_len } else { 0 }
    }

    /// True where the schema does not know the predicate.
    pub(super) fn is_new(&self) -> bool {
        self.is_new
    }

    /// The number of values and edges that are in memory.
    pub(super) fn statement_count(&self) -> usize {
        let values = self.langs.values().flatten().map(|part| part.nodes.len());
        values.sum::<usize>() + self.edges.iter().map(|part| part.nodes.len()).sum::<usize>()
    }

    /// The nodes of the statements but for the targets of edges, and these.
    pub(super) fn endpoints(&self) -> [RoaringBitmap; 2] {
        let set = |columns: &[&[u32]]| {
            let mut nodes = RoaringBitmap::new();
            add_nodes(columns, &mut nodes);
            nodes
        };
        let values = self.langs.values().flatten().map(|part| &part.nodes[..]);
        let sources = values.chain(self.edges.iter().map(|part| &part.nodes[..]));
        let targets: Vec<&[u32]> = self.edges.iter().map(|part| &part.targets[..]).collect();
        [set(&sources.collect::<Vec<_>>()), set(&targets)]
    }

    /// Builds the predicate from what is stored and what was read, and counts what that supersedes.
    fn build(
        mut self,
        stored: Option<&Predicate>,
        thresholds: &Thresholds,
        is_bounded: bool,
    ) -> (Predicate, Superseded) {
        if self.is_new {
            self.widen();
            self.decide_list();
        }
        let Pending { def, mut langs, mut edges, .. } = self;
        if def.value_type == ValueType::Uid {
            let mut stored_rows = 0;
            if let Some(old) = stored.and_then(|old| old.direction(false)) {
                // In front: of equal edges the last one is retained, and stored ones came first.
                edges.insert(0, EdgePart::of(old));
                stored_rows = edges[0].nodes.len();
            }
            let mut counter = SupersededCounter::new(stored_rows);
            let data = PredicateData::Edges(build_loaded_edges(&def, edges, &mut counter));
            return (Predicate { def, data }, counter.counts);
        }
        let old_langs = stored.map_or(&[][..], |old| old.langs());
        langs.entry(Box::default()).or_default();
        let build = |(lang, mut parts): (Box<str>, Vec<ValuePart>)| {
            let (old, mut stored_rows) = (old_langs.iter().find(|old| *old.lang == *lang), 0);
            if let Some(old) = old {
                parts.insert(0, ValuePart::of(old));
                stored_rows = parts[0].nodes.len();
            }
            let before = (old.map(|old| &*old.base), !is_bounded);
            let mut counter = SupersededCounter::new(stored_rows);
            let built = build_loaded_values(&def, &lang, parts, before, thresholds, &mut counter);
            (built, counter.counts)
        };
        let built: Vec<(LangValues, Superseded)> = match is_bounded {
            true => langs.into_iter().map(build).collect(),
            false => langs.into_par_iter().map(build).collect(),
        };
        let mut superseded = Superseded::default();
        let built = built.into_iter().map(|(values, counts)| {
            superseded += counts;
            values
        });
        let mut built: Vec<LangValues> = built.collect();
        let retained = old_langs.iter().filter(|old| built.iter().all(|new| new.lang != old.lang));
        let retained: Vec<_> = retained.cloned().collect();
        built.extend(retained);
        built.sort_by(|one, other| one.lang.cmp(&other.lang));
        (Predicate { def, data: PredicateData::Values(built) }, superseded)
    }

    /// Makes floats of the ints of a new predicate that came before its first float.
    fn widen(&mut self) {
        if self.def.value_type != ValueType::Float {
            return;
        }
        let parts = self.langs.values_mut().flatten();
        let ints = parts.filter(|part| part.values.value_type() != Some(ValueType::Float));
        ints.for_each(|part| *part = converted(part, ValueType::Float, |_, _| {}));
    }

    /// A new predicate is a list when JSON has it in brackets, or a node has it more than once.
    fn decide_list(&mut self) {
        if self.def.value_type == ValueType::Uid || !self.def.value_type.has_lists() {
            return;
        }
        let mut subjects = RoaringBitmap::new();
        let columns: Vec<&[u32]> =
            self.langs.values().flatten().map(|part| &part.nodes[..]).collect();
        add_nodes(&columns, &mut subjects);
        let rows = columns.iter().map(|column| column.len() as u64).sum();
        Arc::make_mut(&mut self.def).list = self.is_listed || subjects.len() < rows;
    }
}
