//! A variable that references numbers of some nodes, and is read when they are requested: of a
//! predicate, of the edges that the nodes have, or computed from other such variables.
//!
//! `s as score` over a million nodes would be two lists of a million items, where an aggregate over
//! all of them is one pass over the column. So the variable holds the set of nodes, which is mostly
//! that of all with the predicate, and what changed since the column was built. `n as
//! count(friend)` and `m as math(s * 2)` likewise hold where their numbers come from, and a pass
//! over them computes a batch at a time. Who looks many values up or computes node by node reads
//! them once, for all who come later.

use super::stop::RequestContext;
use super::tree::{Column, VALUE_BYTES, ValueMap};
use crate::exec::columns::batches::{BATCH, EdgeCounts, Members, RowFinder};
use crate::exec::columns::number_columns::{
    NumberChanges, NumberColumn, NumberKind, NumberList, NumberSlice,
};
use crate::exec::cost;
use crate::graph::{Direction, LangValues, Predicate};
use crate::storage::{NodeSet, Values};
use hexgraph_base::plan::VarId;
use hexgraph_base::types::{Error, Result, stack};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The number of changes for each node from which on the nodes are listed, too.
const CHANGES_RATIO: usize = cost::CELL.per(cost::ENTRY);

/// The numbers of some nodes, read when they are requested.
pub(crate) struct ColumnVar {
    source: Source,
    /// The nodes for which the numbers were requested; some may have none.
    pub(crate) nodes: NodeSet,
    /// True when the nodes are those that have a number.
    pub(crate) is_complete: bool,
    values: OnceLock<Arc<ValueMap>>,
}

/// Where the numbers come from.
enum Source {
    /// The values of a predicate, and what changed in them.
    Values(Arc<Predicate>, NumberChanges),
    /// The number of edges of each node, of incoming ones where the flag is set.
    Counts(Arc<Predicate>, bool),
    /// An expression over other variables.
    Computed { compute: Box<Compute>, kind: NumberKind, may_fail: bool, inputs: Vec<Input> },
}

/// Computes the numbers of a batch from those of each input and the length of the batch. Sets the
/// list to whether each node has a number, and to an empty one where all do.
pub(crate) type Compute =
    dyn Fn(&[NumberSlice<'_>], usize, &mut Vec<bool>) -> NumberList + Send + Sync;

/// A variable that an expression reads.
pub(crate) struct Input {
    pub(crate) var: VarId,
    /// The number of nodes that have a value.
    pub(crate) len: usize,
    pub(crate) column: Arc<ColumnVar>,
}

impl Input {
    /// True for a variable that is an expression, too: it may have values of nodes outside of its
    /// block.
    pub(crate) fn is_computed(&self) -> bool {
        self.column.inputs().is_some()
    }

    /// The nodes that have a value.
    pub(crate) fn subjects(&self) -> NodeSet {
        self.column.subjects()
    }
}

impl ColumnVar {
    /// The variable of the values that some nodes have; `None` where what is stored or changed is
    /// no number of the predicate's type. O(changes + containers of the sets).
    pub(crate) fn of_values(predicate: &Arc<Predicate>, nodes: &NodeSet) -> Option<ColumnVar> {
        if predicate.def.list {
            return None;
        }
        let part = predicate.only_untagged()?;
        // All changes are walked over, and those of some nodes cost less to look up.
        if nodes.len().saturating_mul(CHANGES_RATIO) < part.changes_len() {
            return None;
        }
        let changes = NumberChanges::of_all(part, predicate.def.value_type)?;
        let subjects = part.subjects();
        let is_complete = subjects.len() <= nodes.len()
            && (nodes.is_sure_superset(&subjects)
                || nodes.list().is_some_and(|nodes| subjects.is_exactly(nodes)));
        let source = Source::Values(Arc::clone(predicate), changes);
        // Nodes without a number are not among the numbers, and those of the column itself are read
        // without a search.
        let nodes = if is_complete { subjects } else { nodes.clone() };
        Some(ColumnVar { source, nodes, is_complete, values: OnceLock::new() })
    }

    /// The variable of the number of edges that each of some nodes has; `None` for a predicate
    /// without edges in this direction. O(1).
    pub(crate) fn of_counts(
        predicate: &Arc<Predicate>,
        reverse: bool,
        nodes: &NodeSet,
    ) -> Option<ColumnVar> {
        predicate.direction(reverse)?;
        let source = Source::Counts(Arc::clone(predicate), reverse);
        Some(ColumnVar { source, nodes: nodes.clone(), is_complete: true, values: OnceLock::new() })
    }

    /// The variable of an expression over others, for the nodes that have any of them. `may_fail`
    /// says whether some of these may have no number.
    pub(crate) fn computed(
        compute: Box<Compute>,
        kind: NumberKind,
        may_fail: bool,
        inputs: Vec<Input>,
        nodes: NodeSet,
    ) -> ColumnVar {
        let source = Source::Computed { compute, kind, may_fail, inputs };
        ColumnVar { source, nodes, is_complete: true, values: OnceLock::new() }
    }

    /// The variables that an expression reads, each once, and the nodes that have any of them.
    pub(crate) fn inputs(&self) -> Option<(&[Input], &NodeSet)> {
        match &self.source {
            Source::Computed { inputs, .. } => Some((inputs, &self.nodes)),
            Source::Values(..) | Source::Counts(..) => None,
        }
    }

    /// True where some of the nodes may have no number, which only the computed numbers show.
    pub(crate) fn may_fail(&self) -> bool {
        matches!(self.source, Source::Computed { may_fail: true, .. })
    }

    /// True when the numbers were read as a list.
    pub(crate) fn is_read(&self) -> bool {
        self.values.get().is_some()
    }

    /// The number of nodes for which it was requested; some may have no number.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The values of a predicate that the numbers are, and their column; `None` for counts and
    /// results, which all nodes have.
    pub(crate) fn stored(&self) -> Option<(&LangValues, NumberColumn<'_>)> {
        let Source::Values(predicate, changes) = &self.source else { return None };
        Some((part_of(predicate), column_of(part_of(predicate), changes)))
    }

    /// The bytes that the changes take.
    pub(crate) fn byte_len(&self) -> usize {
        match &self.source {
            Source::Values(_, changes) => changes.byte_len(),
            Source::Counts(..) | Source::Computed { .. } => 0,
        }
    }

    /// Bounds of the numbers, without reading them.
    pub(crate) fn kind(&self) -> NumberKind {
        match &self.source {
            Source::Values(predicate, changes) => {
                match (&part_of(predicate).stored().values, changes) {
                    (_, NumberChanges::Float(_)) => NumberKind::Float,
                    (Values::SmallInt(_), changes) => {
                        let (least, greatest) = changes.int_ends().unwrap_or((0, 0));
                        NumberKind::Int {
                            least: least.min(i32::MIN.into()),
                            greatest: greatest.max(i32::MAX.into()),
                        }
                    }
                    _ => NumberKind::Int { least: i64::MIN, greatest: i64::MAX },
                }
            }
            // Targets of the edges of a node are distinct.
            Source::Counts(..) => NumberKind::Int { least: 0, greatest: u32::MAX.into() },
            Source::Computed { kind, .. } => *kind,
        }
    }

    /// The nodes that have a number; of one that [may fail](ColumnVar::may_fail), those that may
    /// have one.
    pub(crate) fn subjects(&self) -> NodeSet {
        match &self.source {
            Source::Values(predicate, _) if !self.is_complete => {
                self.nodes.and(&part_of(predicate).subjects())
            }
            Source::Values(..) | Source::Counts(..) | Source::Computed { .. } => self.nodes.clone(),
        }
    }

    /// All numbers with their nodes. They are read and charged the first time.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when the request is out of memory, or has to stop.
    pub(crate) fn values(&self, control: &RequestContext) -> Result<Arc<ValueMap>> {
        if let Some(values) = self.values.get() {
            return Ok(Arc::clone(values));
        }
        control.charge(VALUE_BYTES * self.nodes.len())?;
        let result = match &self.source {
            Source::Values(predicate, _) => {
                let nodes = self.nodes.as_list();
                let result =
                    ValueMap::of_numbers(part_of(predicate), predicate.def.value_type, &nodes);
                result.ok_or_else(|| not_a_number(predicate))?
            }
            Source::Counts(..) | Source::Computed { .. } => self.listed(control)?,
        };
        Ok(Arc::clone(self.values.get_or_init(|| Arc::new(result))))
    }

    /// All numbers, in one pass that is divided among threads.
    fn listed(&self, control: &RequestContext) -> Result<ValueMap> {
        let finders = self.finders();
        let part = |positions: Range<usize>| {
            let mut part = Listed::new(positions.len());
            let check = || control.check();
            self.for_each_batch_of(positions, &finders, check, |nodes, numbers, has| {
                part.add(nodes, numbers, has);
            })?;
            Ok(part)
        };
        let Some(spread) = control.spread(self.len(), cost::GATHER.times(2))? else {
            return Ok(part(0..self.len())?.finish());
        };
        let mut result = Listed::new(self.len());
        spread.in_units_of(BATCH).each(part, |part| {
            result.append(&part);
            Ok(())
        })?;
        Ok(result.finish())
    }

    /// The numbers of a few of the nodes, which ascend. O(nodes) plus the changes between the first
    /// and the last one.
    pub(crate) fn values_of(&self, nodes: &[u32]) -> ValueMap {
        let mut result = Listed::new(nodes.len());
        // Those that were not requested have no value in the variable.
        let nodes: Vec<u32> =
            nodes.iter().copied().filter(|node| self.nodes.contains(*node)).collect();
        let mut reader = Reader::new(self, 0, &mut std::iter::empty());
        for batch in nodes.chunks(BATCH) {
            let (numbers, has) = reader.read(batch);
            result.add(batch, numbers, has);
        }
        result.finish()
    }

    /// The lookup of the rows of batches of the nodes, for [`ColumnVar::for_each_batch_of`].
    pub(crate) fn finders(&self) -> Finders {
        let mut finders = Finders(Vec::new());
        self.add_finders(&self.nodes, &mut finders);
        finders
    }

    fn add_finders(&self, nodes: &NodeSet, finders: &mut Finders) {
        stack::require();
        let subjects = match &self.source {
            Source::Values(predicate, _) => &part_of(predicate).stored().subjects,
            Source::Counts(predicate, reverse) => &edges_of(predicate, *reverse).stored().subjects,
            Source::Computed { inputs, .. } => {
                return inputs.iter().for_each(|input| input.column.add_finders(nodes, finders));
            }
        };
        finders.0.push(RowFinder::of(subjects, Members::Set(nodes)));
    }

    /// Calls `take` with nodes, their numbers and whether each has one, an empty list where all do:
    /// a batch at a time, ascending, of the nodes at some positions in their order; with the
    /// [finders](ColumnVar::finders) of the variable. The number of a node that has none has no
    /// meaning. O(nodes + changes).
    ///
    /// # Errors
    ///
    /// Those of `check`, which is called every few thousand nodes.
    pub(crate) fn for_each_batch_of(
        &self,
        positions: Range<usize>,
        finders: &Finders,
        check: impl Fn() -> Result<()>,
        mut take: impl FnMut(&[u32], NumberSlice<'_>, &[bool]),
    ) -> Result<()> {
        let first = self.nodes.page(positions.start, 1);
        let first = first.first().copied().unwrap_or(0);
        let mut reader = Reader::new(self, first, &mut finders.0.iter());
        Members::Set(&self.nodes).for_each_batch_of(positions, |nodes| {
            check()?;
            let (numbers, has) = reader.read(nodes);
            take(nodes, numbers, has);
            Ok(())
        })
    }
}

/// The lookup of the rows of nodes in the columns that a variable is made of.
pub(crate) struct Finders(Vec<RowFinder>);

fn edges_of(predicate: &Predicate, reverse: bool) -> &Direction {
    predicate.direction(reverse).expect("the predicate has edges, as was checked")
}

fn column_of<'a>(part: &'a LangValues, changes: &NumberChanges) -> NumberColumn<'a> {
    NumberColumn::with_changes(part, changes).expect("the column has numbers, as was checked")
}

fn part_of(predicate: &Predicate) -> &LangValues {
    predicate.only_untagged().expect("the predicate has one part, as was checked")
}

fn not_a_number(predicate: &Predicate) -> Error {
    Error::Internal {
        message: format!("`{}` has a value that is no number", predicate.def.name),
        position: String::new(),
    }
}

/// Reads the numbers of a variable batch by batch; the batches ascend.
enum Reader<'a> {
    Values(NumberColumn<'a>),
    Counts(EdgeCounts<'a>),
    Computed { compute: &'a Compute, inputs: Vec<Reader<'a>>, results: NumberList, has: Vec<bool> },
}

impl<'a> Reader<'a> {
    /// A reader of batches from a node on; the finders are those of the variable, in the order of
    /// its columns.
    fn new<'f>(
        column: &'a ColumnVar,
        first: u32,
        finders: &mut impl Iterator<Item = &'f RowFinder>,
    ) -> Reader<'a> {
        stack::require();
        match &column.source {
            Source::Values(predicate, changes) => {
                let column = column_of(part_of(predicate), changes).fork(first);
                Reader::Values(match finders.next() {
                    Some(finder) => column.with_finder(finder.fork()),
                    None => column,
                })
            }
            Source::Counts(predicate, reverse) => {
                let finder = finders.next().map(RowFinder::fork).unwrap_or_default();
                Reader::Counts(EdgeCounts::with_finder(edges_of(predicate, *reverse), finder))
            }
            Source::Computed { compute, inputs, .. } => {
                let inputs = inputs.iter();
                let inputs: Vec<Reader<'_>> =
                    inputs.map(|input| Reader::new(&input.column, first, finders)).collect();
                let (results, has) = (NumberList::Ints(Vec::new()), Vec::new());
                Reader::Computed { compute, inputs, results, has }
            }
        }
    }

    /// The numbers of a batch, and whether each node has one; see [`ColumnVar::for_each_batch_of`].
    fn read(&mut self, nodes: &[u32]) -> (NumberSlice<'_>, &[bool]) {
        match self {
            Reader::Values(column) => column.read(nodes),
            Reader::Counts(counts) => (NumberSlice::Ints(counts.read(nodes)), &[]),
            Reader::Computed { compute, inputs, results, has } => {
                // A node that has no number in an input counts as 0 there, which is what is read of
                // it.
                let read = inputs.iter_mut().map(|input| input.read(nodes).0);
                let read: Vec<_> = read.collect();
                *results = compute(&read, nodes.len(), has);
                ((&*results).into(), has)
            }
        }
    }
}

/// Lists numbers with their nodes.
struct Listed {
    nodes: Vec<u32>,
    ints: Vec<i64>,
    floats: Vec<f64>,
}

impl Listed {
    fn new(capacity: usize) -> Listed {
        Listed { nodes: Vec::with_capacity(capacity), ints: Vec::new(), floats: Vec::new() }
    }

    fn add(&mut self, nodes: &[u32], numbers: NumberSlice<'_>, has: &[bool]) {
        let Listed { nodes: all, ints, floats } = self;
        if has.is_empty() {
            all.extend_from_slice(nodes);
            match numbers {
                NumberSlice::Narrow(narrow) => {
                    ints.extend(narrow.iter().map(|int| i64::from(*int)))
                }
                NumberSlice::Ints(more) => ints.extend_from_slice(more),
                NumberSlice::Floats(more) => floats.extend_from_slice(more),
            }
            return;
        }
        append_some(all, nodes.iter().copied(), has);
        match numbers {
            NumberSlice::Narrow(narrow) => {
                append_some(ints, narrow.iter().map(|int| i64::from(*int)), has);
            }
            NumberSlice::Ints(more) => append_some(ints, more.iter().copied(), has),
            NumberSlice::Floats(more) => append_some(floats, more.iter().copied(), has),
        }
    }

    fn append(&mut self, part: &Listed) {
        self.nodes.extend_from_slice(&part.nodes);
        self.ints.extend_from_slice(&part.ints);
        self.floats.extend_from_slice(&part.floats);
    }

    fn finish(self) -> ValueMap {
        let values = if self.floats.is_empty() {
            Column::Int(self.ints)
        } else {
            Column::Float(self.floats)
        };
        ValueMap { nodes: self.nodes, values, constant: None }
    }
}

/// Adds those of some items that there are. Each is written, and the next one over it where it is
/// not: without a branch that depends on the data.
fn append_some<T: Copy + Default>(list: &mut Vec<T>, items: impl Iterator<Item = T>, has: &[bool]) {
    let mut len = list.len();
    list.resize(len + has.len(), T::default());
    for (item, has) in items.zip(has) {
        list[len] = item;
        len += usize::from(*has);
    }
    list.truncate(len);
}

impl std::fmt::Debug for ColumnVar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = match &self.source {
            Source::Values(predicate, _) => predicate.def.name.to_string(),
            Source::Counts(predicate, _) => format!("count({})", predicate.def.name),
            Source::Computed { inputs, .. } => format!("math over {} variables", inputs.len()),
        };
        write!(f, "{name} of {} nodes", self.nodes.len())
    }
}
