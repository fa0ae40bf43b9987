//! The names of the nodes of a load, labels of blank nodes and external ids, with their numbers.
//!
//! A new name gets the next number. With a bound on memory, names move to a sorted run in a
//! temporary file when they fill half of it. A name that comes again after that gets another
//! number, an *alias*. At the end the runs are merged, and the least number of equal names is that
//! of the node. So nodes get their uids in order of arrival, with a bound or without. O(names · log
//! runs), and 8 bytes of memory an alias.

use super::spill::Spilled;
use super::stored_ids::stored_node;
use crate::graph::build::parts::ValuePart;
use crate::graph::change::check::check_indexed;
use crate::graph::version::graph_version::Version;
use crate::storage::{Array, Values, ValuesBuilder, catch_corrupt};
use hexgraph_base::schema::PredicateDef;
use hexgraph_base::types::{Error, Result, Uid, ValueRef, ValueType};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::hash_map::Entry;

/// What begins an external id; labels begin with `_:`.
const EXTERNAL: char = '<';

/// The bytes of a name in memory apart from its text: an entry of a half-full map, an allocation,
/// its position in a sorted list.
const NAME_BYTES: usize = 96;

/// The number of characters of a long id that a message shows.
const SHOWN_LEN: usize = 60;

/// The number of names that are looked up and stored at once.
const BATCH_LEN: usize = 1 << 16;

/// The names that came so far.
#[derive(Default)]
pub(super) struct NodeNames {
    /// Those that came since the last run was written.
    recent: FxHashMap<Box<str>, u32>,
    byte_len: usize,
    spilled: Vec<Spilled>,
}

impl NodeNames {
    /// Returns the number of a name, which is `next` where the name is new or went to a file.
    pub(super) fn number(&mut self, name: Box<str>, next: u32) -> u32 {
        match self.recent.entry(name) {
            Entry::Occupied(existing) => *existing.get(),
            Entry::Vacant(free) => {
                self.byte_len += free.key().len() + NAME_BYTES;
                *free.insert(next)
            }
        }
    }

    /// The bytes of the names in memory.
    pub(super) fn byte_len(&self) -> usize {
        self.byte_len
    }

    /// Removes the names that are in memory, and returns them sorted, as values of their numbers.
    pub(super) fn pop_recent(&mut self) -> ValuePart {
        self.byte_len = 0;
        let mut names: Vec<(Box<str>, u32)> =
            std::mem::take(&mut self.recent).into_iter().collect();
        names.par_sort_unstable();
        let mut bytes = Vec::with_capacity(names.iter().map(|(name, _)| name.len()).sum());
        names.iter().for_each(|(name, _)| bytes.extend_from_slice(name.as_bytes()));
        let lens = names.iter().map(|(name, _)| name.len());
        let values = Values::of_texts(ValueType::String, lens, bytes);
        let nodes = names.iter().map(|(_, number)| *number).collect();
        ValuePart { nodes, values, facets: Vec::new() }
    }

    /// Notes where the names are that [`NodeNames::pop_recent`] returned.
    pub(super) fn add_run(&mut self, run: Spilled) {
        self.spilled.push(run);
    }

    /// All names.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] when a temporary file changed meanwhile.
    pub(super) fn finish(mut self) -> Result<NameRuns> {
        let ValuePart { nodes, values, .. } = self.pop_recent();
        let mut runs = vec![NameRun { numbers: Array::from_vec(nodes), names: values }];
        for spilled in &self.spilled {
            let (numbers, names) = spilled.mapped_values()?;
            runs.push(NameRun { numbers, names });
        }
        Ok(NameRuns { runs })
    }
}

/// The names of a load that has read everything.
#[derive(Default)]
pub(super) struct NameRuns {
    runs: Vec<NameRun>,
}

/// Some names, sorted, with their numbers.
struct NameRun {
    numbers: Array<u32>,
    names: Values,
}

/// The resolved names of a load.
#[derive(Default)]
pub(super) struct ResolvedNames {
    /// The numbers of external ids that stored nodes have, and these nodes.
    pub stored: Vec<(u32, Uid)>,
    /// The numbers that mean the node of another number, and that one.
    pub aliases: Vec<(u32, u32)>,
    /// The external ids.
    pub ids: ExternalIds,
}

/// The external ids that a load has met.
#[derive(Debug, Clone, Default)]
pub(in crate::graph) struct ExternalIds {
    /// The number of them.
    pub count: u64,
    /// The number of those that are values of stored nodes.
    pub stored: u64,
    /// The one that came first.
    pub first: Option<(u32, String)>,
}

impl NameRuns {
    /// Resolves external ids by the values of a predicate, and passes the others to `add` as new
    /// values of it.
    ///
    /// # Errors
    ///
    /// Those of `add`; [`Error::Corrupt`] when a file is damaged.
    pub(super) fn resolve(
        &self,
        version: &Version,
        predicate: Option<&PredicateDef>,
        add: &mut dyn FnMut(ValuePart) -> Result<()>,
    ) -> Result<ResolvedNames> {
        let ids = predicate.map(|def| IdColumn::new(version, def));
        let mut resolver =
            Resolver { ids, add, batch: Vec::new(), resolved: ResolvedNames::default() };
        // A damaged block of a mapped file unwinds.
        catch_corrupt(|| {
            self.each(&mut |name, numbers| resolver.push(name, numbers))?;
            resolver.flush()
        })??;
        Ok(resolver.resolved)
    }

    /// Returns a name whose number fulfils a condition, as files write it.
    pub(super) fn name_of(&self, is_number: impl Fn(u32) -> bool) -> Option<String> {
        let of_run = |run: &NameRun| {
            let at = (0..run.numbers.len()).find(|&at| is_number(run.numbers.get(at)))?;
            Some(as_written(run.name(at)))
        };
        self.runs.iter().find_map(of_run)
    }

    /// Visits each name, with all of its numbers.
    fn each<'r>(&'r self, visit: &mut impl FnMut(&'r str, &[u32]) -> Result<()>) -> Result<()> {
        if let [run] = &self.runs[..] {
            return (0..run.numbers.len())
                .try_for_each(|at| visit(run.name(at), &[run.numbers.get(at)]));
        }
        let next = |position: usize, at: usize| {
            let run = &self.runs[position];
            (at < run.numbers.len()).then(|| Reverse((run.name(at), position, at)))
        };
        let mut heads: BinaryHeap<_> =
            (0..self.runs.len()).filter_map(|position| next(position, 0)).collect();
        let mut numbers = Vec::new();
        while let Some(Reverse((name, position, at))) = heads.pop() {
            numbers.push(self.runs[position].numbers.get(at));
            heads.extend(next(position, at + 1));
            if heads.peek().is_none_or(|Reverse((other, ..))| *other != name) {
                visit(name, &numbers)?;
                numbers.clear();
            }
        }
        Ok(())
    }
}

impl NameRun {
    fn name(&self, at: usize) -> &str {
        match self.names.get(at) {
            ValueRef::String(name) | ValueRef::Default(name) => name,
            _ => unreachable!("names are texts"),
        }
    }
}

/// A name as files write it.
fn as_written(name: &str) -> String {
    if name.starts_with(EXTERNAL) { format!("{name}>") } else { name.to_owned() }
}

/// The predicate whose values external ids are.
struct IdColumn<'a> {
    version: &'a Version,
    def: &'a PredicateDef,
    is_empty: bool,
}

impl IdColumn<'_> {
    fn new<'a>(version: &'a Version, def: &'a PredicateDef) -> IdColumn<'a> {
        let stored = version.predicate(&def.name);
        IdColumn {
            version,
            def,
            is_empty: stored.is_none_or(|stored| stored.subjects().is_empty()),
        }
    }

    /// The nodes of ids.
    fn nodes(&self, ids: &[(u32, &str)]) -> Vec<Option<Uid>> {
        if self.is_empty {
            return vec![None; ids.len()];
        }
        let node = |(_, id): &(u32, &str)| {
            let node = stored_node(self.version, &self.def.name, ValueRef::String(id))?;
            Some(self.version.nodes.uid(node))
        };
        ids.par_iter().map(node).collect()
    }
}

/// Gathers what names mean.
struct Resolver<'a, 'r> {
    ids: Option<IdColumn<'a>>,
    add: &'a mut dyn FnMut(ValuePart) -> Result<()>,
    /// External ids, with the numbers of their nodes.
    batch: Vec<(u32, &'r str)>,
    resolved: ResolvedNames,
}

impl<'r> Resolver<'_, 'r> {
    fn push(&mut self, name: &'r str, numbers: &[u32]) -> Result<()> {
        let Some(&node) = numbers.iter().min() else { return Ok(()) };
        let others = numbers.iter().filter(|number| **number != node);
        self.resolved.aliases.extend(others.map(|&number| (number, node)));
        let Some(id) = name.strip_prefix(EXTERNAL) else { return Ok(()) };
        let ids = &mut self.resolved.ids;
        ids.count += 1;
        if ids.first.as_ref().is_none_or(|(first, _)| node < *first) {
            ids.first = Some((node, as_written(name)));
        }
        if self.ids.is_some() {
            self.batch.push((node, id));
        }
        if self.batch.len() < BATCH_LEN { Ok(()) } else { self.flush() }
    }

    /// Looks the ids of the batch up.
    fn flush(&mut self) -> Result<()> {
        let Some(column) = self.ids.as_ref().filter(|_| !self.batch.is_empty()) else {
            return Ok(());
        };
        let is_default = column.def.value_type == ValueType::Default;
        let (mut nodes, mut values) = (Vec::new(), ValuesBuilder::new(column.def.value_type));
        for (&(number, id), uid) in self.batch.iter().zip(column.nodes(&self.batch)) {
            if let Some(uid) = uid {
                self.resolved.stored.push((number, uid));
                self.resolved.ids.stored += 1;
                continue;
            }
            let value = if is_default { ValueRef::Default(id) } else { ValueRef::String(id) };
            check_indexed(value, column.def).map_err(|reason| {
                let start: String = id.chars().take(SHOWN_LEN).collect();
                Error::query(format!(
                    "{reason}: <{start}…> is to be a value of `{}`",
                    column.def.name
                ))
            })?;
            nodes.push(number);
            values.push(value);
        }
        self.batch.clear();
        if nodes.is_empty() {
            return Ok(());
        }
        (self.add)(ValuePart { nodes, values: values.finish(), facets: Vec::new() })
    }
}
