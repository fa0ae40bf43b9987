//! A variable that references numbers of some nodes, and is read when they are requested: of a
//! predicate, of the edges that the nodes have, or computed from other such variables.
//!
//! `s as score` over a million nodes would be two lists of a million items, where an aggregate over
//! all of them is one pass over the column. So the variable holds the set of nodes, which is mostly
//! that of all with the predicate, and what changed since the column was built. `n as
//! count(friend)` and `m as math(s * 2)` likewise hold where their numbers come from, and a pass
//! over them computes a batch at a time. Who looks many values up or computes node by node reads
//! them once, for all who come later.

use super::math_program::{NumberKind, Program, Results};
use super::totals::Totals;
use crate::exec::columns::batches::{BATCH, EdgeCounts, Members, RowFinder};
use crate::exec::columns::number_columns::{NumberChanges, NumberColumn, NumberSlice};
use crate::exec::columns::numbers::numbers;
use crate::exec::control::stop::RequestContext;
use crate::exec::control::tree::{Column, VALUE_BYTES, ValueMap};
use crate::exec::cost::{self, Cost};
use crate::graph::{Direction, LangValues, Predicate};
use crate::storage::{NodeSet, Values};
use hexgraph_base::plan::{Algebraic, MathExpr, VarId};
use hexgraph_base::types::{Error, Result, stack};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The number of changes for each node from which on the nodes are listed, too.
const CHANGES_RATIO: usize = cost::CELL.per(cost::ENTRY);

/// The numbers of some nodes, read when they are requested.
pub(crate) struct ColumnVar {
    source: Source,
    /// The nodes for which the numbers were requested; some may have none.
    nodes: NodeSet,
    /// True when the nodes are those that have a number.
    is_complete: bool,
    values: OnceLock<Arc<ValueMap>>,
}

/// Where the numbers come from.
enum Source {
    /// The values of a predicate, and what changed in them.
    Values(Arc<Predicate>, NumberChanges),
    /// The number of edges of each node, of incoming ones where the flag is set.
    Counts(Arc<Predicate>, bool),
    /// An expression over other variables.
    Computed(Program, Vec<Input>),
}

/// A variable that an expression reads.
pub(crate) struct Input {
    pub(crate) var: VarId,
    /// The number of nodes that have a value.
    pub(crate) len: usize,
    column: Arc<ColumnVar>,
}

impl Input {
    /// True for a variable that is an expression, too: it may have values of nodes outside of its
    /// block.
    pub(crate) fn is_computed(&self) -> bool {
        matches!(self.column.source, Source::Computed(..))
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

    /// The variable of an expression over others; `None` where it is none that is
    /// [compiled](Program), or one of the others has no number for some node. `variable` looks up
    /// the variables. O(containers of the sets), or a walk over nodes that are no stored set.
    pub(crate) fn of_math(
        expr: &MathExpr,
        variable: impl Fn(VarId) -> Option<Arc<ColumnVar>>,
    ) -> Option<ColumnVar> {
        let mut inputs: Vec<(VarId, Arc<ColumnVar>)> = Vec::new();
        let mut input = |var: VarId| {
            let position = inputs.iter().position(|(existing, _)| *existing == var);
            let position = match position {
                Some(position) => position,
                None => {
                    inputs.push((var, variable(var).filter(|column| !column.may_fail())?));
                    inputs.len() - 1
                }
            };
            Some((position, inputs[position].1.kind()))
        };
        let program = Program::compile(expr, &mut input)?;
        let mut nodes = inputs.first()?.1.subjects();
        let mut lens = vec![nodes.len()];
        let mut are_alike = true;
        for (_, other) in &inputs[1..] {
            let more = other.subjects();
            lens.push(more.len());
            if !nodes.equals(&more) {
                are_alike = false;
                nodes = nodes.or(&more);
            }
        }
        let lacks: Vec<bool> = lens.iter().map(|len| *len < nodes.len()).collect();
        // A missing operand is the int 0, which makes ints of other ints, where floats were.
        let mut lacking = inputs.iter().zip(&lacks).filter(|(_, lacks)| **lacks);
        let is_exact = lacking.all(|((_, column), _)| !matches!(column.kind(), NumberKind::Float));
        let is_column = are_alike || is_exact && program.counts_missing_as_zero(&lacks);
        if !is_column {
            return None;
        }
        let inputs = inputs.into_iter().zip(lens);
        let inputs = inputs.map(|((var, column), len)| Input { var, len, column }).collect();
        let source = Source::Computed(program, inputs);
        Some(ColumnVar { source, nodes, is_complete: true, values: OnceLock::new() })
    }

    /// The variables that an expression reads, each once, and the nodes that have any of them.
    pub(crate) fn inputs(&self) -> Option<(&[Input], &NodeSet)> {
        match &self.source {
            Source::Computed(_, inputs) => Some((inputs, &self.nodes)),
            Source::Values(..) | Source::Counts(..) => None,
        }
    }

    /// True where some of the nodes may have no number, which only the computed numbers show.
    pub(crate) fn may_fail(&self) -> bool {
        matches!(&self.source, Source::Computed(program, _) if program.may_fail())
    }

    /// True when the numbers were read as a list.
    pub(crate) fn is_read(&self) -> bool {
        self.values.get().is_some()
    }

    /// The number of nodes for which it was requested; some may have no number.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The bytes that the changes take.
    pub(crate) fn byte_len(&self) -> usize {
        match &self.source {
            Source::Values(_, changes) => changes.byte_len(),
            Source::Counts(..) | Source::Computed(..) => 0,
        }
    }

    /// Bounds of the numbers, without reading them.
    fn kind(&self) -> NumberKind {
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
            Source::Computed(program, _) => program.kind(),
        }
    }

    /// The nodes that have a number; of one that [may fail](ColumnVar::may_fail), those that may
    /// have one.
    pub(crate) fn subjects(&self) -> NodeSet {
        match &self.source {
            Source::Values(predicate, _) if !self.is_complete => {
                self.nodes.and(&part_of(predicate).subjects())
            }
            Source::Values(..) | Source::Counts(..) | Source::Computed(..) => self.nodes.clone(),
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
                let result =
                    numbers(part_of(predicate), predicate.def.value_type, &self.nodes.as_list());
                result.ok_or_else(|| not_a_number(predicate))?
            }
            Source::Counts(..) | Source::Computed(..) => self.listed(control)?,
        };
        Ok(Arc::clone(self.values.get_or_init(|| Arc::new(result))))
    }

    /// All numbers, in one pass that is divided among threads.
    fn listed(&self, control: &RequestContext) -> Result<ValueMap> {
        let finders = self.finders();
        let part = |positions: Range<usize>| {
            let mut part = Listed::new(positions.len());
            let take = |nodes: &[u32], numbers: NumberSlice<'_>, has: &[bool]| {
                part.add(nodes, numbers, has);
            };
            self.for_each_batch_of(positions, &finders, || control.check(), take)?;
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

    /// Computes several aggregates of all numbers in one pass, which is divided among threads. Sums
    /// of ints are those of the column as it is stored, and their changes, if all nodes that have a
    /// number were requested and nothing but sums is. O(nodes + changes), without a list of them.
    ///
    /// # Errors
    ///
    /// Those of [`RequestContext::check`].
    pub(crate) fn aggregate(
        &self,
        ops: &[Algebraic],
        control: &RequestContext,
    ) -> Result<Vec<Totals>> {
        let mut totals: Vec<Totals> = ops.iter().map(|op| Totals::new(*op)).collect();
        let Source::Values(predicate, changes) = &self.source else {
            // Counts and results are there for each node.
            let finders = self.finders();
            let add = |positions, totals: &mut Vec<Totals>| {
                let take = |_: &[u32], numbers: NumberSlice<'_>, _: &[bool]| {
                    Totals::add_to_all(totals, numbers);
                };
                self.for_each_batch_of(positions, &finders, || control.check(), take)
            };
            self.add_up(self.len(), cost::GATHER.times(2), control, &mut totals, Some, add)?;
            return Ok(totals);
        };
        let column = NumberColumn::with_changes(part_of(predicate), changes)
            .expect("the column has numbers, as was checked");
        let check = || control.check();
        if !self.is_complete {
            let add = |positions: Range<usize>, totals: &mut Vec<Totals>| {
                let first = self.nodes.page(positions.start, 1);
                let mut column = column.fork(first.first().copied().unwrap_or(0));
                Members::Set(&self.nodes).for_each_batch_of(positions, |nodes| {
                    check()?;
                    column.read_some(nodes, &mut |numbers: NumberSlice<'_>| {
                        Totals::add_to_all(totals, numbers);
                    });
                    Ok(())
                })
            };
            // Some of the nodes before a part have no number, and their number is not available.
            self.add_up(self.len(), cost::GATHER, control, &mut totals, |_| None, add)?;
            return Ok(totals);
        }
        let each = cost::ROW.times(totals.len());
        let are_sums = totals.iter().all(Totals::is_sum);
        if matches!(column, NumberColumn::Int(_)) && are_sums {
            let add = |rows, totals: &mut Vec<Totals>| {
                column.read_stored(rows, check, |numbers: NumberSlice<'_>| {
                    Totals::add_to_all(totals, numbers);
                })
            };
            self.add_up(column.rows(), each, control, &mut totals, |_| None, add)?;
            let increase = part_of(predicate).int_increase();
            totals.iter_mut().for_each(|total| total.raise(increase));
            return Ok(totals);
        }
        let add = |rows, totals: &mut Vec<Totals>| match are_sums {
            true => column.read_patched(rows, check, |floats| {
                totals.iter_mut().for_each(|total| total.add_patched(floats));
            }),
            false => column.read_part(rows, check, |numbers: NumberSlice<'_>| {
                Totals::add_to_all(totals, numbers);
            }),
        };
        let before = numbers_before(part_of(predicate));
        self.add_up(column.rows(), each, control, &mut totals, before, add)?;
        Ok(totals)
    }

    /// Has `add` add `len` items, each with about the cost `each`, to some aggregates: on this
    /// thread, or each morsel to aggregates of its own, which are merged in their order. `before`
    /// is the number of numbers before an item, if it is available.
    fn add_up(
        &self,
        len: usize,
        each: Cost,
        control: &RequestContext,
        totals: &mut Vec<Totals>,
        before: impl Fn(usize) -> Option<usize> + Sync,
        add: impl Fn(Range<usize>, &mut Vec<Totals>) -> Result<()> + Sync,
    ) -> Result<()> {
        let Some(spread) = control.spread(len, each)? else { return add(0..len, totals) };
        let are_floats = matches!(self.kind(), NumberKind::Float);
        let none = totals.clone();
        let part = |range: Range<usize>| {
            let before = before(range.start);
            let mut part: Vec<Totals> =
                none.iter().map(|full| full.part(are_floats, before)).collect();
            add(range, &mut part)?;
            part.iter_mut().for_each(Totals::settle);
            Ok(part)
        };
        spread.in_units_of(BATCH).each(part, |part| {
            totals.iter_mut().zip(&part).for_each(|(total, part)| total.absorb(part));
            Ok(())
        })
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
            Source::Computed(_, inputs) => {
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

fn part_of(predicate: &Predicate) -> &LangValues {
    predicate.only_untagged().expect("the predicate has one part, as was checked")
}

/// The number of nodes that have a number before that of a row. O(containers) each time.
fn numbers_before(part: &LangValues) -> impl Fn(usize) -> Option<usize> {
    let subjects = part.subjects();
    move |row| match part.stored().subjects.select(row) {
        // New nodes before the first row come with it.
        _ if row == 0 => Some(0),
        Some(first) => Some(subjects.count_below(first)),
        None => Some(subjects.len()),
    }
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
    Computed { program: &'a Program, inputs: Vec<Reader<'a>>, results: Results, has: Vec<bool> },
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
                let column = NumberColumn::with_changes(part_of(predicate), changes);
                let column = column.expect("the column has numbers, as was checked").fork(first);
                Reader::Values(match finders.next() {
                    Some(finder) => column.with_finder(finder.fork()),
                    None => column,
                })
            }
            Source::Counts(predicate, reverse) => {
                let finder = finders.next().map(RowFinder::fork).unwrap_or_default();
                Reader::Counts(EdgeCounts::with_finder(edges_of(predicate, *reverse), finder))
            }
            Source::Computed(program, inputs) => {
                let inputs = inputs.iter();
                let inputs: Vec<Reader<'_>> =
                    inputs.map(|input| Reader::new(&input.column, first, finders)).collect();
                let (results, has) = (Results::Ints(Vec::new()), Vec::new());
                Reader::Computed { program, inputs, results, has }
            }
        }
    }

    /// The numbers of a batch, and whether each node has one; see [`ColumnVar::for_each_batch_of`].
    fn read(&mut self, nodes: &[u32]) -> (NumberSlice<'_>, &[bool]) {
        match self {
            Reader::Values(column) => column.read(nodes),
            Reader::Counts(counts) => (NumberSlice::Ints(counts.read(nodes)), &[]),
            Reader::Computed { program, inputs, results, has } => {
                // A node that has no number in an input counts as 0 there, which is what is read of
                // it.
                let read = inputs.iter_mut().map(|input| input.read(nodes).0);
                let read: Vec<NumberSlice<'_>> = read.collect();
                *results = program
                    .run(&read, nodes.len(), has)
                    .expect("no result of a compiled program is an error");
                (results.as_slice(), has)
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
            Source::Computed(program, _) => format!("{program:?}"),
        };
        write!(f, "ColumnVar({name} of {} nodes)", self.nodes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::control::morsels::tests::sharing;
    use crate::exec::math::aggregate::algebraic;
    use crate::exec::tests::random_graph::{NAMES, graph};
    use fastrand::Rng;

    /// The aggregate of a column equals that of the list of its numbers, for all nodes of the
    /// predicate and for others, with threads and without.
    #[test]
    fn columns_come_to_what_the_list_does() {
        let mut rng = Rng::with_seed(3);
        let (mut full, mut some) = (0, 0);
        let ops = [Algebraic::Min, Algebraic::Max, Algebraic::Sum, Algebraic::Avg];
        for round in 0..30 {
            // The greater graphs have sums of several blocks.
            let nodes = if round % 8 == 0 { 4000 } else { rng.u64(300..900) };
            let version = graph(nodes, &mut rng);
            let predicates = NAMES.iter().filter_map(|name| version.predicate(name));
            for predicate in predicates {
                let requested = match rng.u8(..3) {
                    0 => NodeSet::from((0..nodes as u32 * 2).collect::<Vec<u32>>()),
                    1 => {
                        NodeSet::from((0..nodes as u32).filter(|_| rng.bool()).collect::<Vec<_>>())
                    }
                    _ => predicate.subjects(),
                };
                let Some(column) = ColumnVar::of_values(predicate, &requested) else { continue };
                *(if column.is_complete { &mut full } else { &mut some }) += 1;
                let list = column.values(&RequestContext::new()).unwrap();
                assert_eq!(column.subjects().to_vec(), list.nodes, "{column:?}");
                for control in [RequestContext::new(), sharing(1, 9), sharing(2, 90), sharing(3, 1)]
                {
                    let requested: Vec<Algebraic> =
                        ops.iter().copied().filter(|_| rng.bool()).collect();
                    let made = column.aggregate(&requested, &control).unwrap();
                    for (op, totals) in requested.iter().zip(made) {
                        let values =
                            (0..list.values.len()).map(|position| list.values.get(position));
                        let expected = format!("{:?}", algebraic(*op, values));
                        assert_eq!(format!("{:?}", totals.finish()), expected, "{column:?} {op:?}");
                    }
                }
            }
        }
        assert!(30 < full && 30 < some, "{full} whole columns, {some} others");
    }
}
