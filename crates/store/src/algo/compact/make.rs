//! Makes compact graphs of the columns of a version.

use super::graph::Graph;
use super::numbering::Numbering;
use super::rows::{Piece, Rows};
use crate::algo::task::Task;
use crate::algo::wanted::{EdgePart, Wanted};
use crate::graph::{Direction as Edges, EdgeNumbers};
use hexgraph_base::plan::Direction;
use hexgraph_base::types::{Error, Result, did_you_mean};
use std::collections::BTreeSet;

/// The nodes whose rows are made by one piece of work.
const NODES_A_PIECE: usize = 8 << 10;

/// The edges that are read between two looks at the clock.
const EDGES_A_CHECK: usize = 1 << 20;

/// The nodes of a page of a set, and the words of 64 nodes in it.
const PAGE: usize = 1 << 16;
const WORDS: usize = PAGE / 64;

/// Makes the graph that is wanted: O(nodes + edges), on all threads of the task.
///
/// # Errors
///
/// `Query` for a weight that is below 0 or no number, and for one that no edge has; `Limit`.
pub(in crate::algo) fn make(wanted: &Wanted<'_>, task: &Task<'_>) -> Result<Graph> {
    let sources = wanted.parts.iter().map(Source::new).collect::<Result<Vec<_>>>()?;
    let nodes = match &wanted.nodes {
        Some(nodes) => nodes.clone(),
        None => joined_nodes(&sources, task)?,
    };
    let edges_max: usize = sources.iter().map(|source| source.edges.base.targets.len()).sum();
    let is_weighted = wanted.parts.iter().any(|part| part.weight.is_some());
    // The rows, the pieces that they are joined of, and as much again where they are merged with others.
    let bytes_each = 2 * (size_of::<u32>() + if is_weighted { size_of::<f64>() } else { 0 });
    let _room = task.room(edges_max, bytes_each)?;
    let numbering = Numbering::new(nodes);
    let make = Make { wanted, numbering: &numbering, sources: &sources, is_weighted };
    let forward = make.rows(false, task)?;
    let rows = match wanted.parts.iter().any(|part| part.reverse) {
        false => forward,
        true => {
            let back = make.rows(true, task)?.transposed(task)?;
            let is_all = wanted.parts.iter().all(|part| part.reverse);
            if is_all { back } else { forward.union(&back, task)? }
        }
    };
    let rows = match wanted.direction {
        Direction::Out => rows,
        Direction::In => rows.transposed(task)?,
        Direction::Both => rows.symmetric(&rows.transposed(task)?, task)?,
    };
    Ok(Graph::new(numbering, rows, wanted.direction == Direction::Both))
}

/// The edges of a part, with what is looked up for each.
struct Source<'w> {
    part: &'w EdgePart<'w>,
    edges: &'w Edges,
    numbers: Option<EdgeNumbers<'w>>,
    far: Option<Numbering>,
}

impl<'w> Source<'w> {
    fn new(part: &'w EdgePart<'w>) -> Result<Source<'w>> {
        let name = &part.predicate.def.name;
        let no_edges = || {
            Error::query(format!("`{name}` has values and no edges"))
                .with_hint("an algorithm follows the edges of a predicate of type uid")
        };
        let edges = part.predicate.direction(false).ok_or_else(no_edges)?;
        let numbers = part.weight.and_then(|key| EdgeNumbers::new(part.predicate, key));
        if let Some(key) = part.weight {
            check_facet(name, edges, key)?;
        }
        let far = part.far.clone().map(Numbering::new);
        Ok(Source { part, edges, numbers, far })
    }

    /// Whether stored edges from a node are in the part at all.
    fn takes_row(&self, from: u32) -> bool {
        !self.part.reverse || self.far.as_ref().is_none_or(|far| far.number(from).is_some())
    }

    /// Whether stored edges to a node are in the part.
    fn takes_target(&self, to: u32) -> bool {
        self.part.reverse || self.far.as_ref().is_none_or(|far| far.number(to).is_some())
    }
}

/// Refuses a facet that no edge can have, which is mostly a misspelt one.
fn check_facet(predicate: &str, edges: &Edges, key: &str) -> Result<()> {
    let has_edges = !edges.base.targets.is_empty() || !edges.is_settled();
    let stored = edges.base.facets.iter().map(|facet| facet.key.as_str());
    let mut known: BTreeSet<&str> = stored.collect();
    if !has_edges || known.contains(key) {
        return Ok(());
    }
    let changed = edges.delta.rows.values().flat_map(|row| row.added.values());
    known.extend(changed.flat_map(|facets| facets.iter().map(|(other, _)| &**other)));
    if known.contains(key) {
        return Ok(());
    }
    let message =
        format!("no edge of `{predicate}` has the facet `{key}`, which is to be its weight");
    let hint = did_you_mean(key, known.iter().copied());
    let keys: Vec<&str> = known.into_iter().collect();
    let hint = match (hint.is_empty(), keys.as_slice()) {
        (false, _) => hint,
        (true, []) => "its edges have no facets: leave the weight out".to_owned(),
        (true, keys) => format!("its edges have: {}", keys.join(", ")),
    };
    Err(Error::query(message).with_hint(hint))
}

/// The nodes that edges join, ascending.
fn joined_nodes(sources: &[Source<'_>], task: &Task<'_>) -> Result<Vec<u32>> {
    let mut pages = Pages::default();
    for source in sources {
        let edges = source.edges;
        if source.far.is_none() && edges.is_settled() {
            edges.base.subjects.iter().for_each(|node| pages.add(node));
            for targets in edges.base.targets.as_slice().chunks(EDGES_A_CHECK) {
                task.check()?;
                targets.iter().for_each(|node| pages.add(*node));
            }
            continue;
        }
        let mut unchecked = 0;
        for node in edges.subjects().iter() {
            if unchecked == 0 {
                task.check()?;
            }
            unchecked = (unchecked + 1) % NODES_A_PIECE;
            if !source.takes_row(node) {
                continue;
            }
            let mut is_any = false;
            for &target in edges.targets(node).iter().filter(|to| source.takes_target(**to)) {
                pages.add(target);
                is_any = true;
            }
            if is_any {
                pages.add(node);
            }
        }
    }
    Ok(pages.members())
}

/// A set of nodes: a bit for each, in pages that are there where a node is.
#[derive(Default)]
struct Pages {
    pages: Vec<Option<Box<[u64; WORDS]>>>,
}

impl Pages {
    #[inline]
    fn add(&mut self, node: u32) {
        let (page, bit) = (node as usize / PAGE, node as usize % PAGE);
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        let words = self.pages[page].get_or_insert_with(|| Box::new([0; WORDS]));
        words[bit / 64] |= 1 << (bit % 64);
    }

    fn members(&self) -> Vec<u32> {
        let mut members = Vec::new();
        for (number, page) in self.pages.iter().enumerate() {
            for (place, word) in page.iter().flat_map(|page| page.iter().enumerate()) {
                let mut bits = *word;
                while bits != 0 {
                    members.push((number * PAGE + 64 * place) as u32 + bits.trailing_zeros());
                    bits &= bits - 1;
                }
            }
        }
        members
    }
}

/// The making of rows.
struct Make<'m, 'w> {
    wanted: &'m Wanted<'w>,
    numbering: &'m Numbering,
    sources: &'m [Source<'m>],
    is_weighted: bool,
}

impl Make<'_, '_> {
    /// The stored edges of those parts that are turned round, or of the others, in the direction in which they are stored.
    fn rows(&self, reverse: bool, task: &Task<'_>) -> Result<Rows> {
        let sources: Vec<&Source<'_>> =
            self.sources.iter().filter(|source| source.part.reverse == reverse).collect();
        let nodes = &self.numbering.nodes;
        let pieces = task.blocks(nodes.len().div_ceil(NODES_A_PIECE), |number| {
            let first = number * NODES_A_PIECE;
            let last = nodes.len().min(first + NODES_A_PIECE);
            self.piece(&nodes[first..last], &sources, task)
        })?;
        Rows::join(task, pieces, self.is_weighted)
    }

    fn piece(&self, nodes: &[u32], sources: &[&Source<'_>], task: &Task<'_>) -> Result<Piece> {
        let mut piece = Piece::default();
        let (mut row, mut stored) = (Vec::new(), Vec::new());
        let mut unchecked = 0;
        for &node in nodes {
            row.clear();
            for source in sources.iter().filter(|source| source.takes_row(node)) {
                self.read(source, node, &mut stored, &mut row)?;
            }
            if 1 < sources.len() {
                row.sort_by_key(|(to, _)| *to);
                row.dedup_by(|next: &mut (u32, f64), kept| {
                    let is_same = next.0 == kept.0;
                    kept.1 += if is_same { next.1 } else { 0.0 };
                    is_same
                });
            }
            piece.lens.push(row.len());
            piece.targets.extend(row.iter().map(|(to, _)| *to));
            if self.is_weighted {
                piece.weights.extend(row.iter().map(|(_, weight)| *weight));
            }
            unchecked += row.len();
            if EDGES_A_CHECK < unchecked {
                unchecked = 0;
                task.check()?;
            }
        }
        Ok(piece)
    }

    /// Adds the stored edges of a node to its row. `stored` is room for those with weights.
    fn read(
        &self,
        source: &Source<'_>,
        node: u32,
        stored: &mut Vec<(u32, f64)>,
        row: &mut Vec<(u32, f64)>,
    ) -> Result<()> {
        let targets = source.edges.targets(node);
        stored.clear();
        if let Some(numbers) = &source.numbers {
            numbers.leaving(node, |to, weight| stored.push((to, weight)));
        }
        let mut weights = stored.iter().peekable();
        for &to in targets.iter() {
            let given = weights.next_if(|(target, _)| *target == to);
            if !source.takes_target(to) {
                continue;
            }
            let Some(number) = self.numbering.number(to) else { continue };
            let weight = given.map_or(1.0, |(_, weight)| *weight);
            if !(0.0..f64::INFINITY).contains(&weight) {
                return Err(self.wrong_weight(source, node, to, weight));
            }
            row.push((number, weight));
        }
        Ok(())
    }

    #[cold]
    fn wrong_weight(&self, source: &Source<'_>, from: u32, to: u32, weight: f64) -> Error {
        let (name, uid) = (&source.part.predicate.def.name, self.wanted.uid);
        let key = source.part.weight.unwrap_or_default();
        let message = format!(
            "the edge `{name}` from {} to {} has the weight {weight} in `{key}`",
            uid(from),
            uid(to)
        );
        Error::query(message)
            .with_hint("a weight is a number from 0 on: change the edge, or filter it out")
    }
}
