//! The core of a pattern: its variables are bound one after the other, each to the nodes that are
//! in the lists of all bound neighbours. No list of partial matches is built, and the time is that
//! of a worst-case optimal join.

use super::marks::{List, Marks};
use crate::execute::adjacency::Adjacency;
use crate::execute::join::candidates::{Candidates, Lookup, Reserved, collect, too_many};
use crate::execute::join::edge_lists::{EdgeLists, nodes_of, parts_of};
use crate::execute::join::reduce::Reduction;
use crate::execute::plan::{Edge, VarIndex};
use hexgraph_base::types::Result;
use std::sync::Arc;

/// To bind a variable takes about so many nanoseconds. Estimate: two misses of the caches, and some
/// instructions.
const BIND_NANOS: f64 = 40.0;
/// How many bindings lie between two checks whether the query may go on.
const CHECKED_BINDINGS: u32 = 1024;
/// The first variable is bound to so many nodes before the rows are passed on: what waits is
/// bounded.
const NODES_OF_ROUND: usize = 1 << 14;
/// The same of the only variable: a node is one row.
const NODES_OF_SINGLE: usize = 1 << 17;

/// Of two lists the longer one is searched where it has more than so many times the nodes of the
/// other: a node that is searched takes about as long as so many that are looked up in a table
/// (estimate: a miss of the caches).
const MARKED_RATIO: usize = 8;

/// Bindings of the retained variables, one after the other, each with its number of matches.
#[derive(Debug, Default)]
pub(in crate::execute::join) struct Bindings {
    pub(in crate::execute::join) nodes: Vec<u32>,
    pub(in crate::execute::join) counts: Vec<u64>,
}

/// A variable in the order in which they are bound.
struct Level<'g> {
    variable: VarIndex,
    lookup: Lookup,
    /// The lists of its edges to variables that are bound before, and the levels of these.
    lists: Vec<(usize, EdgeLists<'g>, bool)>,
    /// The nodes to try where it has no such edge.
    start: Vec<u32>,
}

struct Enumeration<'g> {
    graph: &'g dyn Adjacency,
    levels: Vec<Level<'g>>,
    /// For each retained variable its level.
    retained: Vec<usize>,
    /// Behind this level no retained variable is bound: matches are counted there.
    last_retained: usize,
}

/// The bindings in progress, and the results.
struct State<'a, 'g> {
    bound: Vec<u32>,
    /// For each level a list that is marked.
    marks: Vec<Marks>,
    bindings: Bindings,
    total: u64,
    until_check: u32,
    reserved: Reserved<'a>,
    graph: &'g dyn Adjacency,
}

impl<'g> Reduction<'g> {
    /// Calls back with the bindings of the retained variables in the order in which they were
    /// given, in parts. Without any there is one binding.
    pub(in crate::execute::join) fn bindings(
        mut self,
        each: &mut dyn FnMut(&Bindings) -> Result<bool>,
    ) -> Result<()> {
        if self.factor == 0 {
            return Ok(());
        }
        if self.left.is_empty() {
            each(&Bindings { nodes: Vec::new(), counts: vec![self.factor] })?;
            return Ok(());
        }
        if self.left.len() == 1 && self.edges.is_empty() {
            return self.single(each);
        }
        let (graph, factor) = (self.graph, self.factor);
        let retained = self.retained.clone();
        let levels = self.levels()?;
        let level_of = |variable: &VarIndex| levels.iter().position(|it| it.variable == *variable);
        let retained: Vec<usize> = retained.iter().filter_map(level_of).collect();
        let last_retained = retained.iter().copied().max().unwrap_or(0);
        let all = Enumeration { graph, levels, retained, last_retained };
        all.run(factor, each)
    }

    /// The candidates of the only variable.
    fn single(mut self, each: &mut dyn FnMut(&Bindings) -> Result<bool>) -> Result<()> {
        let variable = self.left[0];
        let candidates = match self.candidates[variable].take() {
            Some(candidates) => candidates,
            None => Candidates { nodes: self.graph.all()?, counts: None },
        };
        for start in (0..candidates.nodes.len()).step_by(NODES_OF_SINGLE) {
            let end = (start + NODES_OF_SINGLE).min(candidates.nodes.len());
            let counts: Option<Vec<u64>> =
                (start..end).map(|at| candidates.count(at).checked_mul(self.factor)).collect();
            let nodes = candidates.nodes[start..end].to_vec();
            if !each(&Bindings { nodes, counts: counts.ok_or_else(too_many)? })? {
                break;
            }
        }
        Ok(())
    }

    /// The variables in an order in which each has few nodes to try.
    fn levels(&mut self) -> Result<Vec<Level<'g>>> {
        let mut lookups: Vec<Option<Lookup>> = Vec::with_capacity(self.candidates.len());
        for candidates in &self.candidates {
            lookups.push(Some(Lookup::new(candidates.as_ref(), &mut self.reserved)?));
        }
        let mut levels: Vec<Level<'g>> = Vec::with_capacity(self.left.len());
        for variable in self.order() {
            let mut lists = Vec::new();
            for edge in self.edges.iter().filter(|it| it.has(variable)) {
                let bound = edge.other(variable);
                let Some(level) = levels.iter().position(|it| it.variable == bound) else {
                    continue;
                };
                let lookups_of =
                    (&levels[level].lookup, lookups[variable].as_ref().unwrap_or(&Lookup::All));
                let of_edge = EdgeLists::new(
                    edge,
                    bound,
                    lookups_of,
                    &self.keys,
                    self.graph,
                    &mut self.reserved,
                )?;
                lists.push((level, of_edge, edge.once));
            }
            for function in &self.functions {
                let is_bound = |other: VarIndex| levels.iter().position(|it| it.variable == other);
                let of_function = match (function.from == variable, function.to == variable) {
                    (false, true) => is_bound(function.from)
                        .map(|level| (level, EdgeLists::Function(Arc::clone(&function.table)))),
                    (true, false) => match is_bound(function.to) {
                        Some(level) => {
                            let inverse = EdgeLists::inverse(&function.table, &mut self.reserved)?;
                            Some((level, inverse))
                        }
                        None => None,
                    },
                    _ => None,
                };
                lists.extend(of_function.map(|(level, lists)| (level, lists, false)));
            }
            let start = if lists.is_empty() { self.start(variable)? } else { Vec::new() };
            let lookup = lookups[variable].take().unwrap_or(Lookup::All);
            levels.push(Level { variable, lookup, lists, start });
        }
        Ok(levels)
    }

    /// The nodes of a variable without a bound neighbour.
    fn start(&self, variable: VarIndex) -> Result<Vec<u32>> {
        if let Some(candidates) = &self.candidates[variable] {
            return Ok(candidates.nodes.clone());
        }
        match self.edges.iter().find(|it: &&Edge| it.has(variable)) {
            Some(edge) => nodes_of(&parts_of(edge, variable, self.graph), self.graph),
            None => self.graph.all(),
        }
    }
}

impl<'g> Enumeration<'g> {
    fn run(&self, factor: u64, each: &mut dyn FnMut(&Bindings) -> Result<bool>) -> Result<()> {
        let first = &self.levels[0].start;
        let fan: f64 = self.levels[1..].iter().fold(1.0, |fan, level| {
            let lists = level.lists.iter().map(|(_, lists, _)| lists.mean_length());
            let mean = lists.fold(f64::INFINITY, f64::min);
            fan * if mean.is_finite() { mean.max(1.0) } else { level.start.len() as f64 }
        });
        let nanos = (fan * BIND_NANOS).min(1e9) as usize;
        let mut total = 0_u64;
        for nodes in
            first.chunks(if self.retained.is_empty() { first.len().max(1) } else { NODES_OF_ROUND })
        {
            let parts = collect(self.graph, nodes.len(), nanos, |range| {
                let mut state = State {
                    bound: vec![0; self.levels.len()],
                    marks: self.levels.iter().map(|_| Marks::default()).collect(),
                    bindings: Bindings::default(),
                    total: 0,
                    until_check: CHECKED_BINDINGS,
                    reserved: Reserved::new(self.graph, 0)?,
                    graph: self.graph,
                };
                self.begin(&nodes[range], factor, &mut state)?;
                Ok((state.bindings, state.total, state.reserved))
            })?;
            for (bindings, sum, _reserved) in parts {
                total = total.checked_add(sum).ok_or_else(too_many)?;
                if !bindings.counts.is_empty() && !each(&bindings)? {
                    return Ok(());
                }
            }
        }
        if self.retained.is_empty() && total != 0 {
            each(&Bindings { nodes: Vec::new(), counts: vec![total] })?;
        }
        Ok(())
    }

    /// Binds the first variable to some nodes. Where the second one follows by one edge, its lists
    /// are read together: to read them one by one waits for memory at each.
    fn begin(&self, nodes: &[u32], factor: u64, state: &mut State<'_, 'g>) -> Result<()> {
        let lists = match self.levels.get(1).map(|it| &it.lists[..]) {
            Some([(0, EdgeLists::Stored(lists), _)]) => lists,
            _ => return nodes.iter().try_for_each(|node| self.bind(0, *node, factor, state)),
        };
        let lookup = &self.levels[0].lookup;
        for nodes in nodes.chunks(CHECKED_BINDINGS as usize) {
            self.graph.check()?;
            let mut result = Ok(());
            lists.each(nodes, &mut |at, list| {
                let of_node = lookup.get(nodes[at]);
                if result.is_ok() && of_node != 0 {
                    state.bound[0] = nodes[at];
                    result = match factor.checked_mul(of_node) {
                        Some(count) => {
                            self.count(0, state, |state| self.follow(1, list, count, state))
                        }
                        None => Err(too_many()),
                    };
                }
            });
            result?;
        }
        Ok(())
    }

    /// Binds the variable of a level to a node that is in all lists, and goes on to the next level.
    fn bind(&self, level: usize, node: u32, count: u64, state: &mut State<'_, 'g>) -> Result<()> {
        state.tick()?;
        let of_node = self.levels[level].lookup.get(node);
        if of_node == 0 {
            return Ok(());
        }
        let count = count.checked_mul(of_node).ok_or_else(too_many)?;
        state.bound[level] = node;
        self.count(level, state, |state| self.descend(level + 1, count, state))
    }

    /// Goes on after a level that is bound. Behind the last retained variable the matches of the
    /// rest are one number.
    fn count(
        &self,
        level: usize,
        state: &mut State<'_, 'g>,
        go_on: impl FnOnce(&mut State<'_, 'g>) -> Result<()>,
    ) -> Result<()> {
        if self.retained.is_empty() || level != self.last_retained {
            return go_on(state);
        }
        let before = std::mem::take(&mut state.total);
        go_on(state)?;
        let sum = std::mem::replace(&mut state.total, before);
        if sum != 0 { state.push(&self.retained, sum) } else { Ok(()) }
    }

    fn descend(&self, level: usize, count: u64, state: &mut State<'_, 'g>) -> Result<()> {
        let Some(next) = self.levels.get(level) else {
            state.total = state.total.checked_add(count).ok_or_else(too_many)?;
            return Ok(());
        };
        match &next.lists[..] {
            [] => {
                for node in &next.start {
                    self.bind(level, *node, count, state)?;
                }
                Ok(())
            }
            [(bound, lists, _)] => {
                let list = lists.list(state.bound[*bound]);
                self.follow(level, &list, count, state)
            }
            // Two lists are the usual case, and need no memory of their own.
            [one, other] => {
                let (outer, inner) = if one.0 < other.0 { (one, other) } else { (other, one) };
                let mut lists = [outer, inner].map(|it| self.sorted_list(it, state));
                let lengths = lists.each_ref().map(|it| it.nodes.len());
                let is_skewed =
                    MARKED_RATIO * lengths[0].min(lengths[1]) < lengths[0].max(lengths[1]);
                // A list that stays while the other one changes is marked, unless it is better to
                // skip in the longer one.
                if outer.0 < inner.0 && inner.0 + 1 == level && !is_skewed {
                    let mut marks = std::mem::take(&mut state.marks[level]);
                    let owner = state.bound[outer.0];
                    let is_marked =
                        marks.mark(owner, &lists[0], &next.lookup, &mut state.reserved)?;
                    let result = match is_marked {
                        true => self.probe(level, &lists[1], &marks, count, state),
                        false => self.intersect(level, &mut lists, count, state),
                    };
                    state.marks[level] = marks;
                    return result;
                }
                self.intersect(level, &mut lists, count, state)
            }
            several => {
                let mut lists: Vec<List<'_>> =
                    several.iter().map(|it| self.sorted_list(it, state)).collect();
                self.intersect(level, &mut lists, count, state)
            }
        }
    }

    fn sorted_list<'s>(
        &self,
        (bound, lists, once): &'s (usize, EdgeLists<'g>, bool),
        state: &State<'_, 'g>,
    ) -> List<'s> {
        List { nodes: lists.list(state.bound[*bound]), once: *once, position: 0 }
    }

    /// Whether the matches are counted that bind a level last.
    fn is_counted(&self, level: usize) -> bool {
        level + 1 == self.levels.len() && (self.retained.is_empty() || self.last_retained < level)
    }

    /// Binds the nodes of the only list of a level.
    fn follow(
        &self,
        level: usize,
        list: &[u32],
        count: u64,
        state: &mut State<'_, 'g>,
    ) -> Result<()> {
        let Level { lookup, lists, .. } = &self.levels[level];
        let once = lists.iter().any(|(_, _, once)| *once);
        if self.is_counted(level) && !once {
            let sum = lookup.sum(list).ok_or_else(too_many)?;
            return state.add(sum, count, list.len());
        }
        let mut at = 0;
        while at < list.len() {
            let (node, repeats) = repeated(list, at);
            at += repeats;
            let repeats = if once { 1 } else { repeats as u64 };
            let count = count.checked_mul(repeats).ok_or_else(too_many)?;
            self.bind(level, node, count, state)?;
        }
        Ok(())
    }

    /// Adds a node that is in all lists of a level, `product` times for each of `count` bindings:
    /// it is bound, or added to the sum of a level that is counted.
    #[inline]
    fn matched(
        &self,
        level: usize,
        node: u32,
        (product, count): (u64, u64),
        sum: &mut u64,
        state: &mut State<'_, 'g>,
    ) -> Result<()> {
        if !self.is_counted(level) {
            let count = count.checked_mul(product).ok_or_else(too_many)?;
            return self.bind(level, node, count, state);
        }
        let matches = product.checked_mul(self.levels[level].lookup.get(node));
        *sum = matches.and_then(|it| it.checked_add(*sum)).ok_or_else(too_many)?;
        Ok(())
    }

    /// Binds the nodes of a list that are marked.
    fn probe(
        &self,
        level: usize,
        list: &List<'_>,
        marks: &Marks,
        count: u64,
        state: &mut State<'_, 'g>,
    ) -> Result<()> {
        let (mut at, mut sum) = (0, 0_u64);
        while at < list.nodes.len() {
            let (node, repeats) = repeated(&list.nodes, at);
            at += repeats;
            let product = marks.get(node) * if list.once { 1 } else { repeats as u64 };
            if product == 0 {
                continue;
            }
            self.matched(level, node, (product, count), &mut sum, state)?;
        }
        if self.is_counted(level) { state.add(sum, count, list.nodes.len()) } else { Ok(()) }
    }

    /// Binds the nodes that are in several lists: those of the shortest one are looked for in the
    /// others.
    fn intersect(
        &self,
        level: usize,
        lists: &mut [List<'_>],
        count: u64,
        state: &mut State<'_, 'g>,
    ) -> Result<()> {
        lists.sort_unstable_by_key(|it| it.nodes.len());
        let Some((shortest, others)) = lists.split_first_mut() else { return Ok(()) };
        let (mut at, mut sum) = (0, 0_u64);
        'nodes: while at < shortest.nodes.len() {
            let (node, repeats) = repeated(&shortest.nodes, at);
            at += repeats;
            let mut product = if shortest.once { 1 } else { repeats as u64 };
            for List { nodes, once, position } in others.iter_mut() {
                *position += gallop(&nodes[*position..], node);
                if nodes.get(*position) != Some(&node) {
                    if *position == nodes.len() {
                        break 'nodes;
                    }
                    continue 'nodes;
                }
                if !*once {
                    product *= repeated(nodes, *position).1 as u64;
                }
            }
            self.matched(level, node, (product, count), &mut sum, state)?;
        }
        if self.is_counted(level) { state.add(sum, count, shortest.nodes.len()) } else { Ok(()) }
    }
}

impl State<'_, '_> {
    fn tick(&mut self) -> Result<()> {
        self.spend(1)
    }

    fn spend(&mut self, steps: usize) -> Result<()> {
        match self.until_check.checked_sub(u32::try_from(steps).unwrap_or(u32::MAX)) {
            Some(left) => self.until_check = left,
            None => {
                self.until_check = CHECKED_BINDINGS;
                self.graph.check()?;
            }
        }
        Ok(())
    }

    /// Adds the matches of a list that was read.
    fn add(&mut self, sum: u64, count: u64, length: usize) -> Result<()> {
        self.spend(length / 16 + 1)?;
        let product = sum.checked_mul(count).ok_or_else(too_many)?;
        self.total = self.total.checked_add(product).ok_or_else(too_many)?;
        Ok(())
    }

    fn push(&mut self, retained: &[usize], count: u64) -> Result<()> {
        let bindings = &mut self.bindings;
        if bindings.counts.len() == bindings.counts.capacity() {
            let more = bindings.counts.len().max(64);
            self.reserved.grow(more * (size_of::<u64>() + retained.len() * size_of::<u32>()))?;
            bindings.counts.reserve_exact(more);
            bindings.nodes.reserve_exact(more * retained.len());
        }
        bindings.nodes.extend(retained.iter().map(|level| self.bound[*level]));
        bindings.counts.push(count);
        Ok(())
    }
}

/// The node at a position of a list, and how often it comes.
#[inline]
fn repeated(list: &[u32], at: usize) -> (u32, usize) {
    let node = list[at];
    let repeats = list[at..].iter().take_while(|it| **it == node).count();
    (node, repeats)
}

/// The position of the first node of a list that is not below a node: steps that double, then
/// halves.
#[inline]
fn gallop(list: &[u32], node: u32) -> usize {
    let mut step = 1;
    while step <= list.len() && list[step - 1] < node {
        step *= 2;
    }
    let start = step / 2;
    let end = step.min(list.len());
    start + list[start..end].partition_point(|it| *it < node)
}
