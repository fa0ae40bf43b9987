//! Groups of the matches of a join, without a row for each binding.
//!
//! A key or an argument reads one variable. So it is evaluated once for each node, or once for each
//! distinct value of the property that it reads, and becomes a code. A group is a tuple of codes;
//! pairs of codes have numbers, one level for each further key.

use super::candidates::{Reserved, too_many};
use super::coded::{CodedExpression, Reader};
use super::cyclic::Bindings;
use super::run::{Join, Ready};
use crate::execute::adjacency::Adjacency;
use crate::execute::cells::{CellExpression, CellGroups};
use crate::execute::plan::{Aggregate, Expression, JoinPlan, SlotIndex};
use crate::execute::profile::{Profile, StepId};
use crate::execute::run::{Execution, Flow, MORE, Reservation, Row, Sink, weight};
use crate::execute::slots::Uses;
use hexgraph_base::types::Result;
use hexgraph_scalar::{Accumulator, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// What has no number yet.
const NONE: u32 = u32::MAX;

/// Nodes in a range of this length have one table.
const PAGE: usize = 1 << 12;

/// An argument has no codes any more where fewer nodes than this have the same value: an entry of a
/// dictionary costs about as much as to evaluate so many values by cells.
const DISTINCT_PART: usize = 4;

/// So many bindings are added at once: their values are read on all threads.
const BINDINGS: usize = 1 << 14;

/// The bytes of an entry of a hash table of pairs, and of a group without its accumulators.
/// Estimates.
const PAIR_BYTES: usize = 32;

impl<'a> Execution<'a> {
    /// Pushes a row for each group of the matches of a join, in the order of their first bindings;
    /// `None` where a key or an argument reads several variables, where equal values have
    /// several representations, or rows are matched one by one.
    pub(in crate::execute) fn join_groups(
        &self,
        (plan, conditions): (&JoinPlan, &[&Expression]),
        (keys, aggregates): (&[(SlotIndex, Expression)], &[Aggregate]),
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Option<Flow>> {
        let Some(graph) = self.graph.adjacency() else { return Ok(None) };
        let shape = match conditions {
            [] => Shape::of(plan, keys, aggregates),
            // Codes are of one variable; a condition is of several ones.
            _ => None,
        };
        // Of several variables each node comes again and again: codes are read once for each.
        let by_cells = match &shape {
            Some(_) if plan.retained.len() != 1 => None,
            _ => CellGroups::new((self, graph), (plan, conditions), (keys, aggregates), row),
        };
        if by_cells.is_none() && shape.is_none() {
            return Ok(None);
        }
        let id = Profile::id_of(plan);
        let consumer = self.enter(Some(id));
        let Some((mut join, mut patterns)) = self.prepared(plan, row)? else {
            self.enter(consumer);
            return Ok(None);
        };
        if let Some(groups) = by_cells {
            let groups = self.cell_groups(groups, (&mut join, patterns), plan, (consumer, row))?;
            if let Some(groups) = groups {
                let (groups, _reserved) = groups;
                let groups = groups.into_groups().into_iter();
                return self.push_groups((keys, aggregates), groups, row, sink).map(Some);
            }
            self.enter(Some(id));
            let again = if shape.is_some() { self.prepared(plan, row)? } else { None };
            let Some(again) = again else {
                self.enter(consumer);
                return Ok(None);
            };
            (join, patterns) = again;
        }
        let Some(shape) = shape else { return Ok(None) };
        let mut groups = Groups::new(self, join.graph, plan, (keys, aggregates), (&shape, row))?;
        let width = plan.retained.len();
        for ready in patterns {
            join.retained_bindings(ready, plan, row, &mut |bindings, row| {
                if let Some(profile) = &self.profile {
                    profile.add_rows(id, bindings.counts.len());
                }
                self.enter(consumer);
                for start in (0..bindings.counts.len()).step_by(BINDINGS) {
                    groups.graph.check()?;
                    let end = bindings.counts.len().min(start + BINDINGS);
                    let nodes = &bindings.nodes[start * width..end * width];
                    groups.add(nodes, &bindings.counts[start..end], row)?;
                }
                self.enter(Some(id));
                Ok(true)
            })?;
        }
        self.enter(consumer);
        if groups.have_merged() {
            return Ok(None);
        }
        groups.push_rows(row, sink).map(Some)
    }
}

impl Execution<'_> {
    /// The groups of the only retained variable by cells; `None` where these do not decide.
    fn cell_groups<'p, 'g>(
        &self,
        mut groups: CellGroups<'p, 'g>,
        (join, patterns): (&mut Join<'_, '_>, Vec<Ready<'_>>),
        plan: &JoinPlan,
        (consumer, row): (Option<StepId>, &mut Row),
    ) -> Result<Option<(CellGroups<'p, 'g>, Reservation<'_>)>> {
        let id = Profile::id_of(plan);
        let (mut reserved, mut is_decided, mut rows) = (self.reservation(), true, 0);
        for ready in patterns {
            join.retained_bindings(ready, plan, row, &mut |Bindings { nodes, counts }, _| {
                rows += counts.len();
                self.enter(consumer);
                is_decided = groups.add(nodes, counts, self.context(), &mut reserved)?;
                self.enter(Some(id));
                Ok(is_decided)
            })?;
            if !is_decided {
                return Ok(None);
            }
        }
        if let Some(profile) = &self.profile {
            profile.add_rows(id, rows);
        }
        self.enter(consumer);
        Ok(Some((groups, reserved)))
    }
}

/// Which variable each key and each argument reads.
struct Shape {
    /// For each key its retained variable; `None` for a constant.
    keys: Vec<Option<usize>>,
    /// The same for the first argument of each aggregate.
    arguments: Vec<Option<usize>>,
}

impl Shape {
    fn of(
        plan: &JoinPlan,
        keys: &[(SlotIndex, Expression)],
        aggregates: &[Aggregate],
    ) -> Option<Shape> {
        let read = |it: &Expression| match &Uses::of(it).outer()[..] {
            [] => Some(None),
            [slot] => plan.retained.iter().position(|it| it == slot).map(Some),
            _ => None,
        };
        let keys = keys.iter().map(|(_, it)| read(it)).collect::<Option<_>>()?;
        let mut arguments = Vec::with_capacity(aggregates.len());
        for aggregate in aggregates {
            let (first, others) = match aggregate.arguments.split_first() {
                None => (None, &[][..]),
                Some((first, others)) => (read(first)?, others),
            };
            if !others.iter().all(|it| read(it) == Some(None)) {
                return None;
            }
            arguments.push(first);
        }
        Some(Shape { keys, arguments })
    }
}

/// The groups so far.
struct Groups<'e, 'a, 'p> {
    execution: &'e Execution<'a>,
    graph: &'a dyn Adjacency,
    keys: &'p [(SlotIndex, Expression)],
    variables: Vec<NodeCodes<'p, 'a>>,
    /// The constants among the keys: they have a value when there is a match.
    constants: Vec<(SlotIndex, &'p Expression, Value)>,
    has_constants: bool,
    /// The numbers of tuples of the variables that have keys: a level for each.
    levels: Vec<(usize, Pairs)>,
    aggregates: Vec<Column<'p>>,
    /// The number of groups.
    count: usize,
    reserved: Reserved<'a>,
}

/// The codes of the nodes of one variable.
struct NodeCodes<'p, 'g> {
    /// The position of each node in the lists of codes.
    positions: Pages,
    count: usize,
    /// The keys: their indexes, expressions, and codes.
    keys: Vec<(usize, CodedExpression<'p, 'g>, Vec<u32>)>,
    /// The numbers of the tuples of keys: a level for each key.
    levels: Vec<Pairs>,
    /// How many pairs of them are reserved.
    reserved_pairs: usize,
    /// The number of the tuple of each node.
    tuples: Vec<u32>,
    arguments: Vec<Argument<'p, 'g>>,
}

/// The first argument of an aggregate, for each node.
struct Argument<'p, 'g> {
    slot: SlotIndex,
    expression: &'p Expression,
    /// The same by cells, until these have no numbers.
    cells: Option<CellExpression<'g>>,
    values: ArgumentValues<'p, 'g>,
}

enum ArgumentValues<'p, 'g> {
    Coded(Box<CodedExpression<'p, 'g>>, Vec<u32>),
    /// A value for each node, where most of them are distinct.
    Each(Vec<Value>),
}

/// One aggregate of all groups.
struct Column<'p> {
    aggregate: &'p Aggregate,
    retains_values: bool,
    source: Source,
    /// The other arguments, behind a position for the first one.
    arguments: Vec<Value>,
    /// With `DISTINCT`, the codes that were added to each group.
    seen: Option<FxHashSet<(u32, u32)>>,
    cells: Cells,
}

/// Where the first argument is from.
enum Source {
    /// `count(*)`.
    Rows,
    /// Null until there is a match.
    Constant(Value),
    /// A variable, and the index among its arguments.
    Variable(usize, usize),
}

enum Cells {
    Counts(Vec<u64>),
    Accumulators(Vec<Accumulator>),
}

impl<'e, 'a, 'p> Groups<'e, 'a, 'p> {
    fn new(
        execution: &'e Execution<'a>,
        graph: &'a dyn Adjacency,
        plan: &'p JoinPlan,
        (keys, aggregates): (&'p [(SlotIndex, Expression)], &'p [Aggregate]),
        (shape, row): (&Shape, &mut Row),
    ) -> Result<Groups<'e, 'a, 'p>> {
        let mut variables: Vec<NodeCodes<'p, 'a>> =
            plan.retained.iter().map(|_| NodeCodes::new()).collect();
        let slot_of = |variable: usize| plan.retained[variable];
        let mut constants = Vec::new();
        for (at, ((slot, key), variable)) in keys.iter().zip(&shape.keys).enumerate() {
            match variable {
                None => constants.push((*slot, key, Value::Null)),
                Some(variable) => {
                    let coded = CodedExpression::new(key, slot_of(*variable), graph)?;
                    let of_variable = &mut variables[*variable];
                    of_variable.keys.push((at, coded, Vec::new()));
                    of_variable.levels.push(Pairs::default());
                }
            }
        }
        let mut columns = Vec::with_capacity(aggregates.len());
        for (aggregate, variable) in aggregates.iter().zip(&shape.arguments) {
            let source = match (aggregate.arguments.first(), variable) {
                (None, _) => Source::Rows,
                (Some(_), None) => Source::Constant(Value::Null),
                (Some(it), Some(variable)) => {
                    let argument = (it, slot_of(*variable), aggregate.distinct);
                    let argument = Argument::new(argument, (execution, graph), row)?;
                    let arguments = &mut variables[*variable].arguments;
                    arguments.push(argument);
                    Source::Variable(*variable, arguments.len() - 1)
                }
            };
            let cells = match aggregate.function.name {
                "count" => Cells::Counts(Vec::new()),
                _ => Cells::Accumulators(Vec::new()),
            };
            let seen = aggregate.distinct.then(FxHashSet::default);
            let (retains_values, arguments) = (aggregate.retains_values(), Vec::new());
            columns.push(Column { aggregate, retains_values, source, arguments, seen, cells });
        }
        let with_keys = (0..variables.len()).filter(|it| !variables[*it].keys.is_empty());
        let levels = with_keys.map(|it| (it, Pairs::default())).collect();
        let reserved = Reserved::new(graph, 0)?;
        let mut groups = Groups {
            execution,
            graph,
            keys,
            variables,
            constants,
            has_constants: false,
            levels,
            aggregates: columns,
            count: 0,
            reserved,
        };
        if keys.is_empty() {
            groups.grow(1)?;
        }
        Ok(groups)
    }

    /// Evaluates what reads no variable, once there is a match.
    fn set_constants(&mut self, row: &mut Row) -> Result<()> {
        if self.has_constants {
            return Ok(());
        }
        self.has_constants = true;
        for (_, key, value) in &mut self.constants {
            *value = self.execution.value(key, row)?;
        }
        for Column { aggregate, source, arguments, .. } in &mut self.aggregates {
            if let (Source::Constant(value), Some(it)) = (source, aggregate.arguments.first()) {
                *value = self.execution.value(it, row)?;
            }
            if 1 < aggregate.arguments.len() {
                arguments.push(Value::Null);
            }
            for it in aggregate.arguments.iter().skip(1) {
                arguments.push(self.execution.value(it, row)?);
            }
        }
        Ok(())
    }

    /// Adds bindings, one behind the other, each with its number of matches.
    fn add(&mut self, nodes: &[u32], counts: &[u64], row: &mut Row) -> Result<()> {
        if counts.is_empty() {
            return Ok(());
        }
        self.set_constants(row)?;
        let width = self.variables.len();
        let mut positions: Vec<Vec<u32>> = Vec::with_capacity(width);
        for (at, variable) in self.variables.iter_mut().enumerate() {
            let of_variable: Vec<u32> = nodes.iter().skip(at).step_by(width).copied().collect();
            let reader = &mut Reader { execution: self.execution, graph: self.graph, row };
            positions.push(variable.positions(&of_variable, reader, &mut self.reserved)?);
        }
        let mut groups = vec![0; counts.len()];
        for (variable, pairs) in &mut self.levels {
            let before = pairs.len();
            let tuples = &self.variables[*variable].tuples;
            for (group, position) in groups.iter_mut().zip(&positions[*variable]) {
                *group = pairs.number(*group, tuples[*position as usize]);
            }
            self.reserved.grow((pairs.len() - before) * PAIR_BYTES)?;
        }
        let existing = match self.levels.last() {
            Some((_, pairs)) => pairs.len(),
            // Without a match there are no groups of constants.
            None => 1,
        };
        self.grow(existing)?;
        for column in &mut self.aggregates {
            let codes = match column.source {
                Source::Variable(variable, argument) => {
                    let argument = &self.variables[variable].arguments[argument];
                    Some((&argument.values, &positions[variable]))
                }
                Source::Rows | Source::Constant(_) => None,
            };
            let value =
                |at: usize| codes.map(|(values, positions)| values.get(positions[at] as usize));
            if column.retains_values && column.seen.is_none() {
                let bytes = |(at, times): (usize, &u64)| column.retained_bytes(value(at), *times);
                self.reserved.grow(counts.iter().enumerate().map(bytes).sum())?;
            }
            for (at, (group, times)) in groups.iter().zip(counts).enumerate() {
                column.add(self.execution, *group, value(at), *times, &mut self.reserved)?;
            }
        }
        Ok(())
    }

    /// Adds groups up to a number.
    fn grow(&mut self, count: usize) -> Result<()> {
        let more = count.saturating_sub(self.count);
        if more == 0 {
            return Ok(());
        }
        for column in &mut self.aggregates {
            match &mut column.cells {
                Cells::Counts(counts) => {
                    self.reserved.grow(more * size_of::<u64>())?;
                    counts.resize(count, 0);
                }
                Cells::Accumulators(cells) => {
                    self.reserved.grow(more * size_of::<Accumulator>())?;
                    cells.resize_with(count, || column.aggregate.function.start(false));
                }
            }
        }
        self.count = count;
        Ok(())
    }

    /// Whether a code represents equal values with several representations: each group has that
    /// of its own first row.
    fn have_merged(&self) -> bool {
        self.variables.iter().any(|variable| {
            variable.keys.iter().any(|(_, coded, _)| coded.has_merged())
                || variable.arguments.iter().any(Argument::has_merged)
        })
    }

    fn push_rows(mut self, row: &mut Row, sink: Sink<'_>) -> Result<Flow> {
        for (slot, _, value) in &self.constants {
            row[*slot] = value.clone();
        }
        let mut cells: Vec<_> = self
            .aggregates
            .into_iter()
            .map(|it| (it.aggregate, it.cells.finished(it.aggregate, self.execution)))
            .collect();
        for group in 0..self.count {
            self.execution.tick()?;
            let mut tuple = group as u32;
            for (variable, pairs) in self.levels.iter().rev() {
                let (before, of_variable) = pairs.pair(tuple);
                tuple = before;
                self.variables[*variable].set_keys(of_variable, self.keys, row);
            }
            for (aggregate, values) in &mut cells {
                row[aggregate.slot] = values.next().unwrap_or(Ok(Value::Null))?;
            }
            if sink(row)?.is_break() {
                return Ok(Flow::Break(()));
            }
        }
        self.reserved.clear();
        Ok(MORE)
    }
}

impl<'p, 'g> NodeCodes<'p, 'g> {
    fn new() -> NodeCodes<'p, 'g> {
        NodeCodes {
            positions: Pages::default(),
            count: 0,
            keys: Vec::new(),
            levels: Vec::new(),
            reserved_pairs: 0,
            tuples: Vec::new(),
            arguments: Vec::new(),
        }
    }

    /// The position of each node. Those that are new are read first.
    fn positions(
        &mut self,
        nodes: &[u32],
        reader: &mut Reader<'_, 'g>,
        reserved: &mut Reserved<'_>,
    ) -> Result<Vec<u32>> {
        let mut new: Vec<u32> =
            nodes.iter().copied().filter(|it| self.positions.get(*it) == NONE).collect();
        if !new.is_empty() {
            new.sort_unstable();
            new.dedup();
            let start = self.count;
            reserved.grow(new.len() * (self.keys.len() + self.arguments.len() + 1) * 4)?;
            for (_, coded, codes) in &mut self.keys {
                coded.read(reader, &new, codes)?;
            }
            for argument in &mut self.arguments {
                argument.read(reader, &new, reserved)?;
            }
            for (at, node) in new.iter().enumerate() {
                *self.positions.entry(*node, reserved)? = (start + at) as u32;
                let mut tuple = 0;
                for ((_, _, codes), pairs) in self.keys.iter().zip(&mut self.levels) {
                    tuple = pairs.number(tuple, codes[start + at]);
                }
                self.tuples.push(tuple);
            }
            let pairs: usize = self.levels.iter().map(Pairs::len).sum();
            reserved.grow((pairs - self.reserved_pairs) * PAIR_BYTES)?;
            self.reserved_pairs = pairs;
            self.count += new.len();
        }
        Ok(nodes.iter().map(|it| self.positions.get(*it)).collect())
    }

    /// Puts the keys of a tuple into a row.
    fn set_keys(&self, mut tuple: u32, keys: &[(SlotIndex, Expression)], row: &mut Row) {
        for ((at, coded, _), pairs) in self.keys.iter().zip(&self.levels).rev() {
            let (before, code) = pairs.pair(tuple);
            tuple = before;
            row[keys[*at].0] = coded.value(code).clone();
        }
    }
}

impl<'p, 'g> Argument<'p, 'g> {
    fn new(
        (expression, slot, is_distinct): (&'p Expression, SlotIndex, bool),
        (execution, graph): (&Execution<'_>, &'g dyn Adjacency),
        row: &mut Row,
    ) -> Result<Argument<'p, 'g>> {
        let coded = CodedExpression::new(expression, slot, graph)?;
        let (coded, cells) = match is_distinct {
            true => (coded, None),
            false => {
                let about = (execution, graph);
                (coded.exact(), CellExpression::new(about, slot, expression, row))
            }
        };
        let values = ArgumentValues::Coded(Box::new(coded), Vec::new());
        Ok(Argument { slot, expression, cells, values })
    }

    fn has_merged(&self) -> bool {
        match &self.values {
            ArgumentValues::Coded(coded, _) => coded.has_merged(),
            ArgumentValues::Each(_) => false,
        }
    }

    /// Appends the values of ascending nodes.
    fn read(
        &mut self,
        reader: &mut Reader<'_, 'g>,
        nodes: &[u32],
        reserved: &mut Reserved<'_>,
    ) -> Result<()> {
        if let ArgumentValues::Coded(coded, codes) = &mut self.values {
            let are_distinct = codes.len() < DISTINCT_PART * coded.values().len();
            let Some(cells) = self.cells.as_ref().filter(|_| are_distinct && !codes.is_empty())
            else {
                return coded.read(reader, nodes, codes);
            };
            let Some(numbers) = cells.numbers(nodes)? else {
                self.cells = None;
                return coded.read(reader, nodes, codes);
            };
            reserved.grow((codes.len() + nodes.len()) * size_of::<Value>())?;
            let before = codes.iter().map(|code| coded.value(*code).clone());
            self.values = ArgumentValues::Each(before.chain(numbers).collect());
            return Ok(());
        }
        let ArgumentValues::Each(values) = &mut self.values else { return Ok(()) };
        reserved.grow(nodes.len() * size_of::<Value>())?;
        let numbers = match &self.cells {
            Some(cells) => cells.numbers(nodes)?,
            None => None,
        };
        if let Some(numbers) = numbers {
            values.extend(numbers);
            return Ok(());
        }
        let Reader { execution, graph, row } = reader;
        for node in nodes {
            execution.tick()?;
            row[self.slot] = Value::Node(graph.node(*node));
            let value = execution.value(self.expression, row)?;
            reserved.grow(weight(&value) - size_of::<Value>())?;
            values.push(value);
        }
        Ok(())
    }
}

impl ArgumentValues<'_, '_> {
    /// The value of the node at a position, and its code, if it has one.
    #[inline]
    fn get(&self, position: usize) -> (u32, &Value) {
        match self {
            ArgumentValues::Each(values) => (0, &values[position]),
            ArgumentValues::Coded(coded, codes) => {
                let code = codes[position];
                (code, coded.value(code))
            }
        }
    }
}

impl Source {
    /// The first argument, where `argument` is that of a variable; `None` for `count(*)`.
    #[inline]
    fn value<'v>(&'v self, argument: Option<(u32, &'v Value)>) -> Option<&'v Value> {
        match self {
            Source::Rows => None,
            Source::Constant(value) => Some(value),
            Source::Variable(..) => argument.map(|(_, value)| value),
        }
    }
}

impl Column<'_> {
    /// The bytes that an argument takes where it is retained.
    fn retained_bytes(&self, argument: Option<(u32, &Value)>, times: u64) -> usize {
        match self.source.value(argument) {
            Some(value) if self.retains_values && !value.is_null() => {
                weight(value).saturating_mul(usize::try_from(times).unwrap_or(usize::MAX))
            }
            _ => 0,
        }
    }

    /// Adds an argument to a group so many times. The memory of what is retained is reserved by the
    /// caller, but for distinct values.
    fn add(
        &mut self,
        execution: &Execution<'_>,
        group: u32,
        argument: Option<(u32, &Value)>,
        mut times: u64,
        reserved: &mut Reserved<'_>,
    ) -> Result<()> {
        if self.source.value(argument).is_some_and(Value::is_null) {
            return Ok(());
        }
        if let Some(seen) = &mut self.seen {
            let code = argument.map_or(0, |(code, _)| code);
            if !seen.insert((group, code)) {
                return Ok(());
            }
            times = 1;
            reserved.grow(PAIR_BYTES + self.retained_bytes(argument, times))?;
        }
        let group = group as usize;
        match &mut self.cells {
            Cells::Counts(counts) => {
                counts[group] = counts[group].checked_add(times).ok_or_else(too_many)?;
            }
            Cells::Accumulators(cells) => {
                let cell = &mut cells[group];
                let arguments = match (self.source.value(argument), &mut self.arguments[..]) {
                    (None, _) => &[],
                    (Some(value), []) => std::slice::from_ref(value),
                    (Some(value), arguments) => {
                        arguments[0] = value.clone();
                        &*arguments
                    }
                };
                let result = cell.update_times(arguments, times, execution.context());
                execution.at(self.aggregate.span, result)?;
            }
        }
        Ok(())
    }
}

impl Cells {
    /// The results of all groups.
    fn finished<'f>(
        self,
        aggregate: &'f Aggregate,
        execution: &'f Execution<'_>,
    ) -> Box<dyn Iterator<Item = Result<Value>> + 'f> {
        match self {
            Cells::Counts(counts) => Box::new(counts.into_iter().map(move |count| {
                let mut cell = aggregate.function.start(false);
                let result = cell.update_times(&[], count, execution.context());
                execution.at(aggregate.span, result.and_then(|()| cell.finish()))
            })),
            Cells::Accumulators(cells) => Box::new(
                cells.into_iter().map(move |cell| execution.at(aggregate.span, cell.finish())),
            ),
        }
    }
}

/// Numbers for pairs of a number before and a code, in the order in which they come.
#[derive(Default)]
struct Pairs {
    /// The numbers of pairs whose first is 0, by the code.
    first: Vec<u32>,
    others: FxHashMap<(u32, u32), u32>,
    pairs: Vec<(u32, u32)>,
}

impl Pairs {
    fn len(&self) -> usize {
        self.pairs.len()
    }

    #[inline]
    fn number(&mut self, before: u32, code: u32) -> u32 {
        let next = self.pairs.len() as u32;
        let number = if before == 0 {
            let at = code as usize;
            if self.first.len() <= at {
                self.first.resize((at + 1).next_power_of_two(), NONE);
            }
            &mut self.first[at]
        } else {
            self.others.entry((before, code)).or_insert(NONE)
        };
        if *number == NONE {
            *number = next;
            self.pairs.push((before, code));
        }
        *number
    }

    fn pair(&self, number: u32) -> (u32, u32) {
        self.pairs[number as usize]
    }
}

/// A number for each node, in tables for ranges of nodes.
#[derive(Default)]
struct Pages {
    pages: Vec<Option<Box<[u32; PAGE]>>>,
}

impl Pages {
    #[inline]
    fn get(&self, node: u32) -> u32 {
        let node = node as usize;
        match self.pages.get(node / PAGE) {
            Some(Some(page)) => page[node % PAGE],
            _ => NONE,
        }
    }

    fn entry(&mut self, node: u32, reserved: &mut Reserved<'_>) -> Result<&mut u32> {
        let node = node as usize;
        if self.pages.len() <= node / PAGE {
            self.pages.resize(node / PAGE + 1, None);
        }
        let page = &mut self.pages[node / PAGE];
        if page.is_none() {
            reserved.grow(size_of::<[u32; PAGE]>())?;
        }
        Ok(&mut page.get_or_insert_with(|| Box::new([NONE; PAGE]))[node % PAGE])
    }
}
