//! Triangles of one relationship that is matched in either direction:
//! `(a)-[:knows]-(b)-[:knows]-(c)-[:knows]-(a)`. Three nodes are bound in six orders, so each three
//! are visited once: edges go from the node with fewer of them to the other one, which leaves short
//! lists where the graph has hubs.

use crate::execute::adjacency::Adjacency;
use crate::execute::join::candidates::{
    CHECKED_NODES, Candidates, Reserved, collect, is_dense, span_of, too_many,
};
use crate::execute::join::edge_lists::{Part, nodes_of, parts_of};
use crate::execute::join::functions::FunctionTable;
use crate::execute::join::reduce::Reduction;
use crate::execute::plan::{Edge, JoinStep, VarIndex};
use hexgraph_base::types::Result;

/// An entry of a list takes about so many nanoseconds: to be read and oriented, and to be tested.
/// Estimates: some instructions, without a miss of the caches.
const ENTRY_NANOS: usize = 5;
const TEST_NANOS: f64 = 1.5;

/// The nodes are divided into so many chunks for each thread: some have hubs.
const CHUNKS_PER_THREAD: usize = 16;

/// The three variables of a pattern that is a triangle, and nothing else.
pub(in crate::execute::join) fn triangle_of(
    edges: &[Edge],
    functions: usize,
    left: &[VarIndex],
    retained: &[VarIndex],
) -> Option<[VarIndex; 3]> {
    let (&[one, other, third], [first, ..]) = (left, edges) else { return None };
    let is_edge = |a: VarIndex, b: VarIndex| {
        edges.iter().any(|it| it.either && it.has(a) && it.has(b) && it.types == first.types)
    };
    let is_triangle = is_edge(one, other) && is_edge(other, third) && is_edge(third, one);
    let is_all = edges.len() == 3 && functions == 0 && retained.is_empty();
    (is_triangle && is_all).then_some([one, other, third])
}

/// The nodes of triangles, numbered by how many edges they have, and for each its edges to greater
/// ones.
struct Oriented {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    /// How many relationships an entry of `targets` represents, where one of them is several.
    repeats: Option<Vec<u32>>,
    /// For each variable the number of matches of each node; `None` where each counts once.
    weights: [Option<Vec<u64>>; 3],
    /// For each pair of variables, the first two, the last two, and the outer ones, whether several
    /// relationships count once.
    once: [bool; 3],
}

/// The positions of the nodes, and what an edge between two has to respect.
struct Members<'a> {
    nodes: &'a [u32],
    start: u32,
    positions: Vec<u32>,
    keys: Vec<&'a FunctionTable>,
}

impl Reduction<'_> {
    /// Simplifies the core. Returns the number of matches where that is a triangle.
    pub(in crate::execute::join) fn core(&mut self) -> Result<Option<u64>> {
        if self.factor == 0 || self.left.is_empty() {
            return Ok(None);
        }
        self.contract()?;
        let functions = self.functions.len();
        let Some(variables) = triangle_of(&self.edges, functions, &self.left, &self.retained)
        else {
            return Ok(None);
        };
        let edge = self.edges[0].clone();
        let count = self.triangles(&edge, variables)?;
        if count.is_some() {
            self.steps.push(JoinStep::Triangles { variables, edge });
        }
        Ok(count)
    }

    /// The number of matches of a triangle. `None` where a node has a relationship to itself, or
    /// where the variables have keys of their own.
    fn triangles(&self, edge: &Edge, variables: [VarIndex; 3]) -> Result<Option<u64>> {
        let nodes = self.nodes_of_triangles(edge, variables)?;
        let mut reserved = Reserved::new(self.graph, size_of_val(&nodes[..]))?;
        let (start, span) = span_of(&nodes);
        if !is_dense(span * size_of::<u32>(), nodes.len()) {
            return Ok(None);
        }
        reserved.grow(span * size_of::<u32>())?;
        let mut positions = vec![u32::MAX; span];
        for (at, node) in (0..).zip(&nodes) {
            positions[(node - start) as usize] = at;
        }
        let Some(keys) = self.common_keys(variables) else { return Ok(None) };
        let members = Members { nodes: &nodes, start, positions, keys };
        let Some(pairs) = members.pairs(edge, self.graph, &mut reserved)? else {
            return Ok(None);
        };
        let once = [(0, 1), (1, 2), (2, 0)].map(|(one, other)| {
            let (one, other) = (variables[one], variables[other]);
            self.edges.iter().any(|it| it.has(one) && it.has(other) && it.once)
        });
        let weights = variables.map(|it| self.candidates[it].as_ref());
        let oriented = Oriented::new(&nodes, &pairs, weights, once, &mut reserved)?;
        drop(pairs);
        let total = oriented.count(self.graph)?;
        let total = u64::try_from(total).ok().and_then(|it| it.checked_mul(self.factor));
        total.ok_or_else(too_many).map(Some)
    }

    /// The candidates of any of the variables, in ascending order.
    fn nodes_of_triangles(&self, edge: &Edge, variables: [VarIndex; 3]) -> Result<Vec<u32>> {
        let mut nodes: Vec<u32> = Vec::new();
        for variable in variables {
            match &self.candidates[variable] {
                // Variables of one label have the same nodes.
                Some(candidates) if candidates.nodes == nodes => {}
                Some(candidates) => nodes.extend_from_slice(&candidates.nodes),
                None => nodes.extend(nodes_of(&parts_of(edge, edge.from, self.graph), self.graph)?),
            }
            if !nodes.is_sorted_by(|one, other| one < other) {
                nodes.sort_unstable();
                nodes.dedup();
            }
        }
        Ok(nodes)
    }

    /// Keys that are the same for all of the variables; `None` where one is not.
    fn common_keys(&self, variables: [VarIndex; 3]) -> Option<Vec<&FunctionTable>> {
        let common = self.keys.iter().map(|key| {
            let (one, other) = key.between(variables[0], variables[1])?;
            let (_, third) = key.between(variables[0], variables[2])?;
            (one == other && one == third).then_some(one)
        });
        common.collect()
    }
}

impl Members<'_> {
    fn position(&self, node: u32) -> Option<u32> {
        let position = self.positions.get(node.wrapping_sub(self.start) as usize).copied();
        position.filter(|it| *it != u32::MAX)
    }

    /// The positions of both endpoints of each relationship; `None` where these are the same node.
    fn pairs(
        &self,
        edge: &Edge,
        graph: &dyn Adjacency,
        reserved: &mut Reserved<'_>,
    ) -> Result<Option<Vec<[u32; 2]>>> {
        let mut pairs = Vec::new();
        // Each relationship is read in one direction.
        for part in parts_of(edge, edge.from, graph).iter().filter(|it| !it.skips_loops) {
            let Some(of_part) = self.pairs_of(part, graph)? else { return Ok(None) };
            for (of_chunk, _while_copied) in of_part {
                reserved.grow(size_of_val(&of_chunk[..]))?;
                pairs.extend(of_chunk);
            }
        }
        Ok(Some(pairs))
    }

    #[allow(clippy::type_complexity, reason = "the memory of each chunk is reserved with it")]
    fn pairs_of<'g>(
        &self,
        part: &Part<'g>,
        graph: &'g dyn Adjacency,
    ) -> Result<Option<Vec<(Vec<[u32; 2]>, Reserved<'g>)>>> {
        let Some(lists) = part.lists.or(part.inverse) else { return Ok(Some(Vec::new())) };
        let entries = lists.total() as usize / self.nodes.len().max(1);
        let chunks = collect(graph, self.nodes.len(), (entries + 1) * ENTRY_NANOS, |range| {
            let (mut pairs, mut has_loops) = (Vec::new(), false);
            let mut reserved = Reserved::new(graph, 0)?;
            let first = range.start as u32;
            let nodes = &self.nodes[range];
            for (start, nodes) in (first..).step_by(CHECKED_NODES).zip(nodes.chunks(CHECKED_NODES))
            {
                graph.check()?;
                let before = pairs.len();
                lists.each(nodes, &mut |at, list| {
                    let (node, position) = (nodes[at], start + at as u32);
                    pairs.extend(list.iter().filter_map(|target| {
                        has_loops |= *target == node;
                        let is_equal = |it: &&FunctionTable| it.get(node) == it.get(*target);
                        let other = self.position(*target)?;
                        self.keys.iter().all(is_equal).then_some([position, other])
                    }));
                });
                reserved.grow((pairs.len() - before) * size_of::<[u32; 2]>())?;
            }
            Ok((!has_loops).then_some((pairs, reserved)))
        })?;
        Ok(chunks.into_iter().collect())
    }
}

impl Oriented {
    fn new(
        nodes: &[u32],
        pairs: &[[u32; 2]],
        candidates: [Option<&Candidates>; 3],
        once: [bool; 3],
        reserved: &mut Reserved<'_>,
    ) -> Result<Oriented> {
        let count = nodes.len();
        reserved.grow(count * 24 + size_of_val(pairs))?;
        let mut degrees = vec![0_u32; count];
        for position in pairs.as_flattened() {
            degrees[*position as usize] += 1;
        }
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_unstable_by_key(|at| (degrees[*at as usize], *at));
        let mut ranks = vec![0_u32; count];
        for (rank, at) in (0..).zip(&order) {
            ranks[*at as usize] = rank;
        }
        let ranked = |pair: &[u32; 2]| {
            let [one, other] = pair.map(|at| ranks[at as usize]);
            (one.min(other) as usize, one.max(other))
        };
        let mut offsets = vec![0_usize; count + 1];
        for pair in pairs {
            offsets[ranked(pair).0 + 1] += 1;
        }
        for at in 0..count {
            offsets[at + 1] += offsets[at];
        }
        let (mut targets, mut next) = (vec![0_u32; pairs.len()], offsets.clone());
        for pair in pairs {
            let (lesser, greater) = ranked(pair);
            targets[next[lesser]] = greater;
            next[lesser] += 1;
        }
        let weights = candidates.map(|it| it.and_then(|it| weights_of(it, nodes, &order)));
        reserved.grow(weights.iter().flatten().map(|it| size_of_val(&it[..])).sum())?;
        let mut result = Oriented { offsets, targets, repeats: None, weights, once };
        result.count_repeats(reserved)?;
        Ok(result)
    }

    /// Sorts the lists. Several relationships between two nodes become one entry.
    fn count_repeats(&mut self, reserved: &mut Reserved<'_>) -> Result<()> {
        let mut has_repeats = false;
        for bounds in self.offsets.windows(2) {
            let list = &mut self.targets[bounds[0]..bounds[1]];
            list.sort_unstable();
            has_repeats |= list.windows(2).any(|pair| pair[0] == pair[1]);
        }
        if !has_repeats {
            return Ok(());
        }
        reserved.grow(size_of_val(&self.targets[..]) * 2)?;
        let (mut targets, mut repeats) = (Vec::new(), Vec::new());
        let mut offsets = vec![0];
        for bounds in self.offsets.windows(2) {
            for same in self.targets[bounds[0]..bounds[1]].chunk_by(|one, other| one == other) {
                targets.push(same[0]);
                repeats.push(same.len() as u32);
            }
            offsets.push(targets.len());
        }
        (self.targets, self.offsets, self.repeats) = (targets, offsets, Some(repeats));
        Ok(())
    }

    fn list(&self, node: usize) -> &[u32] {
        &self.targets[self.offsets[node]..self.offsets[node + 1]]
    }

    /// The number of matches of all triangles.
    fn count(&self, graph: &dyn Adjacency) -> Result<u128> {
        let count = self.offsets.len() - 1;
        let tests: usize = self.targets.iter().map(|it| self.list(*it as usize).len() + 1).sum();
        // Each chunk has a table of marks.
        let chunks = (graph.threads() * CHUNKS_PER_THREAD).min(count);
        let len = count.div_ceil(chunks.max(1)).max(1);
        let nanos = (tests as f64 / chunks.max(1) as f64 * TEST_NANOS) as usize + 1;
        let parts = collect(graph, chunks, nanos, |range| {
            let _reserved = Reserved::new(graph, count * size_of::<u32>())?;
            let mut marks = vec![0_u32; count];
            let (mut total, mut until_check) = (0_u128, 0);
            for node in range.start * len..count.min(range.end * len) {
                let list = self.offsets[node]..self.offsets[node + 1];
                if list.len() < 2 {
                    continue;
                }
                for at in list.clone() {
                    marks[self.targets[at] as usize] = self.repeats_at(at);
                }
                let of_node = self.count_at(node, &marks, graph, &mut until_check)?;
                total = total.checked_add(of_node).ok_or_else(too_many)?;
                for at in list {
                    marks[self.targets[at] as usize] = 0;
                }
            }
            Ok(total)
        })?;
        let add = |sum: u128, it: u128| sum.checked_add(it);
        parts.into_iter().try_fold(0, add).ok_or_else(too_many)
    }

    fn repeats_at(&self, at: usize) -> u32 {
        self.repeats.as_ref().map_or(1, |it| it[at])
    }

    /// The matches of the triangles whose least node is `node`, whose neighbours are marked.
    fn count_at(
        &self,
        node: usize,
        marks: &[u32],
        graph: &dyn Adjacency,
        until_check: &mut usize,
    ) -> Result<u128> {
        let mut total = 0_u128;
        for &second in self.list(node) {
            let list = self.list(second as usize);
            *until_check += list.len() + 1;
            if 16 * CHECKED_NODES < *until_check {
                graph.check()?;
                *until_check = 0;
            }
            let of_pair = match self.repeats {
                None if self.weights.iter().all(Option::is_none) => {
                    // Six bindings of each.
                    Some(
                        6 * u128::from(
                            list.iter().map(|it| u64::from(marks[*it as usize])).sum::<u64>(),
                        ),
                    )
                }
                None => self.weighted(node, second as usize, list, marks),
                Some(_) => self.repeated(node, second as usize, marks),
            };
            total = of_pair.and_then(|it| total.checked_add(it)).ok_or_else(too_many)?;
        }
        Ok(total)
    }

    fn weight(&self, variable: usize, node: usize) -> u128 {
        self.weights[variable].as_ref().map_or(1, |it| it[node]).into()
    }

    /// The matches of two nodes and the marked ones of a list: the third node is that of each
    /// variable, one after the other, with the others bound in both orders.
    fn weighted(&self, one: usize, other: usize, list: &[u32], marks: &[u32]) -> Option<u128> {
        let mut total = 0_u128;
        for (third, first, second) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
            let orders = (self.weight(first, one).checked_mul(self.weight(second, other))?)
                .checked_add(self.weight(second, one).checked_mul(self.weight(first, other))?)?;
            if orders == 0 {
                continue;
            }
            let marked = list.iter().map(|it| *it as usize);
            // The sum of less than 2^32 products with a mark of 1 has no more than 96 bits.
            let sum: u128 = match &self.weights[third] {
                None => marked.map(|it| u64::from(marks[it])).sum::<u64>().into(),
                Some(weights) => {
                    marked.map(|it| u128::from(weights[it] * u64::from(marks[it]))).sum()
                }
            };
            total = total.checked_add(orders.checked_mul(sum)?)?;
        }
        Some(total)
    }

    /// The same where two nodes may have several relationships.
    fn repeated(&self, one: usize, other: usize, marks: &[u32]) -> Option<u128> {
        let between = marks[other];
        let mut total = 0_u128;
        for at in self.offsets[other]..self.offsets[other + 1] {
            let third = self.targets[at] as usize;
            if marks[third] == 0 {
                continue;
            }
            // By the node that a pair leaves out.
            let repeats = [self.repeats_at(at), marks[third], between];
            let nodes = [one, other, third];
            for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                let mut product = 1_u128;
                for variable in 0..3 {
                    product = product.checked_mul(self.weight(variable, nodes[order[variable]]))?;
                    // The edge from this variable to the next one.
                    let left_out = order[(variable + 2) % 3];
                    let repeats = if self.once[variable] { 1 } else { repeats[left_out] };
                    product = product.checked_mul(repeats.into())?;
                }
                total = total.checked_add(product)?;
            }
        }
        Some(total)
    }
}

/// The number of matches of each node by its rank; `None` where all have one.
fn weights_of(candidates: &Candidates, nodes: &[u32], order: &[u32]) -> Option<Vec<u64>> {
    if candidates.counts.is_none() && candidates.nodes.len() == nodes.len() {
        return None;
    }
    let (mut of_nodes, mut at) = (vec![0_u64; nodes.len()], 0);
    for (position, node) in candidates.nodes.iter().enumerate() {
        // Both ascend, and all candidates are among the nodes.
        while nodes[at] != *node {
            at += 1;
        }
        of_nodes[at] = candidates.count(position);
    }
    Some(order.iter().map(|at| of_nodes[*at as usize]).collect())
}
