//! The shortest walks between two nodes, breadth first: level by level, each walk as a link to the
//! one before. Where one relationship at least is needed and the endpoints differ, a node that was
//! seen at a smaller length is not entered again, so that the search is linear in the
//! relationships.

use super::execution::{DONE, Execution, Flow, MORE, Reservation, Row, Sink};
use super::matches::Used;
use super::rows::cut;
use crate::execute::plan::{MatchStep, Selection, Shortness, Walk};
use hexgraph_base::types::Result;
use hexgraph_scalar::{Relationship, Value};
use rustc_hash::FxHashMap;
use std::mem;

/// A walk: its last relationship and the walk before it.
#[derive(Clone, Copy)]
struct Link {
    before: usize,
    relationship: Relationship,
}

/// How many walks to a node were accepted, and of how many lengths.
#[derive(Clone, Copy, Default)]
struct Arrivals {
    paths: u64,
    groups: u64,
    last: u64,
}

impl Arrivals {
    /// Whether one more walk of this length is chosen; it is counted.
    fn accepts(&mut self, shortness: Shortness, length: u64) -> bool {
        let is_new = self.paths == 0 || self.last != length;
        let chosen = match shortness {
            Shortness::Paths(count) => self.paths < count,
            Shortness::Groups(count) => !is_new && self.groups <= count || self.groups < count,
        };
        if chosen {
            self.paths += 1;
            self.groups += u64::from(is_new);
            self.last = length;
        }
        chosen
    }

    fn is_full(&self, shortness: Shortness) -> bool {
        match shortness {
            Shortness::Paths(count) => count <= self.paths,
            Shortness::Groups(count) => count <= self.groups,
        }
    }
}

/// What a search has seen.
struct Search {
    shortness: Shortness,
    /// Whether a node that was seen at a smaller length is not entered again.
    prunes: bool,
    /// The length at which a node was entered first.
    entered: FxHashMap<u64, u64>,
    links: Vec<Link>,
    arrivals: FxHashMap<u64, Arrivals>,
}

impl Search {
    fn new(walk: &Walk, shortness: Shortness) -> Search {
        let is_first = matches!(shortness, Shortness::Paths(1) | Shortness::Groups(1));
        Search {
            shortness,
            prunes: walk.min <= 1 && is_first,
            entered: FxHashMap::default(),
            links: Vec::new(),
            arrivals: FxHashMap::default(),
        }
    }

    /// Whether a walk may go on to a node by a relationship.
    fn may_enter(&self, before: usize, relationship: Relationship, node: u64, length: u64) -> bool {
        if !self.prunes {
            return !has_link(&self.links, before, relationship);
        }
        match self.entered.get(&node) {
            None => true,
            Some(first) => self.shortness != Shortness::Paths(1) && length <= *first,
        }
    }
}

/// No walk before.
const START: usize = usize::MAX;

impl Execution<'_> {
    #[allow(clippy::too_many_arguments, reason = "they are the state of the match")]
    pub(super) fn shortest_walks(
        &self,
        walk: &Walk,
        shortness: Shortness,
        (from, to): (u64, Option<u64>),
        rest: &[MatchStep],
        used: &mut Used,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        let mut search = Search::new(walk, shortness);
        let mut path = Vec::new();
        if walk.min == 0 && to.is_none_or(|it| it == from) {
            search.arrivals.entry(from).or_default().accepts(shortness, 0);
            if self.arrive(walk, &path, (from, to), rest, used, row, sink)?.is_break() {
                return Ok(DONE);
            }
        }
        let mut reserved = self.reservation();
        let mut level = vec![(START, from)];
        let mut length = 0;
        while !level.is_empty() && length < walk.max {
            let arrived = to.and_then(|it| search.arrivals.get(&it));
            if arrived.is_some_and(|it| it.is_full(shortness)) {
                break;
            }
            length += 1;
            level =
                self.next_level(walk, &mut search, &level, (length, &mut reserved), used, row)?;
            for (link, node) in level.iter().filter(|_| walk.min <= length) {
                if to.is_some_and(|it| it != *node)
                    || !search.arrivals.entry(*node).or_default().accepts(shortness, length)
                {
                    continue;
                }
                trace(&search.links, *link, &mut path);
                path.iter().for_each(|it| used.push(*it));
                let flow = self.arrive(walk, &path, (*node, to), rest, used, row, sink);
                path.iter().for_each(|_| used.pop());
                if flow?.is_break() {
                    return Ok(DONE);
                }
            }
        }
        Ok(MORE)
    }

    /// The walks that are longer by one than those of a level, with their last nodes.
    fn next_level(
        &self,
        walk: &Walk,
        search: &mut Search,
        level: &[(usize, u64)],
        (length, reserved): (u64, &mut Reservation<'_>),
        used: &mut Used,
        row: &mut Row,
    ) -> Result<Vec<(usize, u64)>> {
        let (mut next, mut neighbours) = (Vec::new(), used.buffer());
        let hop = &walk.hop;
        for (before, node) in level {
            neighbours.clear();
            self.graph.expand(*node, hop.direction, hop.types.as_deref(), &mut neighbours)?;
            for (relationship, node) in neighbours.iter().copied() {
                self.tick()?;
                if used.has(relationship)
                    || !search.may_enter(*before, relationship, node, length)
                    || !self.passes(walk, relationship, row)?
                {
                    continue;
                }
                reserved.grow(2 * mem::size_of::<Link>())?;
                if search.prunes {
                    search.entered.entry(node).or_insert(length);
                }
                search.links.push(Link { before: *before, relationship });
                next.push((search.links.len() - 1, node));
            }
        }
        used.free(neighbours);
        Ok(next)
    }

    /// Chooses the shortest of all matches of a path of several steps, for each two endpoints.
    pub(super) fn select(
        &self,
        steps: &[MatchStep],
        selection: &Selection,
        rest: &[MatchStep],
        used: &mut Used,
        row: &mut Row,
        sink: Sink<'_>,
    ) -> Result<Flow> {
        let Selection { shortness, start, end, retained, relationships } = selection;
        let (mut rows, mut reserved) =
            (Vec::<(usize, Vec<Value>, (u64, u64))>::new(), self.reservation());
        let _ = self.first_steps(steps, used, row, &mut |row| {
            let endpoints = (self.node_in(*start, row)?, self.node_in(*end, row)?);
            let length = relationships.iter().map(|slot| match &row[*slot] {
                Value::List(list) => list.len(),
                _ => 1,
            });
            let values = cut(row, retained);
            reserved.grow_by_row(&values)?;
            rows.push((length.sum(), values, (endpoints.0.unwrap_or(0), endpoints.1.unwrap_or(0))));
            Ok(MORE)
        })?;
        rows.sort_by_key(|(length, ..)| *length);
        let mut arrivals: FxHashMap<(u64, u64), Arrivals> = FxHashMap::default();
        for (length, values, endpoints) in rows {
            self.tick()?;
            if !arrivals.entry(endpoints).or_default().accepts(*shortness, length as u64) {
                continue;
            }
            for (slot, value) in retained.iter().zip(values) {
                row[*slot] = value;
            }
            if self.match_steps(rest, used, row, sink)?.is_break() {
                return Ok(DONE);
            }
        }
        Ok(MORE)
    }
}

/// Whether a walk has a relationship already.
fn has_link(links: &[Link], mut at: usize, relationship: Relationship) -> bool {
    while let Some(link) = links.get(at) {
        if link.relationship == relationship {
            return true;
        }
        at = link.before;
    }
    false
}

/// The relationships of a walk from its first to its last.
fn trace(links: &[Link], mut at: usize, into: &mut Vec<Relationship>) {
    into.clear();
    while let Some(link) = links.get(at) {
        into.push(link.relationship);
        at = link.before;
    }
    into.reverse();
}
