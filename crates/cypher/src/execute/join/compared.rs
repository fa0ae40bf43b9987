//! A condition that compares a value of one part of a pattern with one of another part that has no
//! edge to it: instead of all pairs, the values of one part are sorted with their numbers of
//! matches, and each value of the other part is searched for in them.

use super::candidates::{CHECKED_NODES, Reserved, too_many};
use super::coded::{CodedExpression, Reader};
use super::cyclic::Bindings;
use crate::ast::CompareOp;
use crate::execute::adjacency::Adjacency;
use crate::execute::plan::{
    Compared, Constraint, Edge, Expression, Operation, Pattern, SlotIndex, VarIndex,
};
use crate::execute::slots::Uses;
use crate::execute::sorted::{class_of, is_nan, matching, mirrored};
use hexgraph_base::types::{Error, Result};
use hexgraph_scalar::Value;
use rustc_hash::FxHashMap;

/// What an entry takes: a code, a value, and a sum. Estimate.
const ENTRY_BYTES: usize = 48;

/// Splits a pattern at a condition between two parts without a common edge. `retained` are the
/// slots that later stages read, all in one of the parts or in a third one.
pub(super) fn split(
    pattern: &Pattern,
    condition: &Expression,
    retained: &[SlotIndex],
) -> Option<(Pattern, Compared)> {
    let Operation::Compare(left, rest) = &condition.operation else { return None };
    let [(op, right)] = &rest[..] else { return None };
    let slot_of = |it: &Expression| match Uses::of(it).outer()[..] {
        [slot] => Some(slot),
        _ => None,
    };
    let (one, other) = (slot_of(left)?, slot_of(right)?);
    let parts = parts_of(pattern);
    let part = |slot: SlotIndex| pattern.variable_of(slot).map(|it| parts[it]);
    let (part_of_one, part_of_other) = (part(one)?, part(other)?);
    let is_retained = |it: usize| retained.iter().any(|slot| part(*slot) == Some(it));
    let op = match op {
        CompareOp::Unequal => return None,
        op => *op,
    };
    let (own, slot, value, op, moved) = if part_of_one == part_of_other {
        return None;
    } else if !is_retained(part_of_other) {
        ((one, (**left).clone()), other, right.clone(), op, part_of_other)
    } else if !is_retained(part_of_one) {
        ((other, right.clone()), one, (**left).clone(), mirrored(op), part_of_one)
    } else {
        return None;
    };
    let rest = chosen(pattern, |it| parts[it] != moved);
    let pattern = chosen(pattern, |it| parts[it] == moved);
    Some((rest, Compared { pattern, slot, value, op, own, span: condition.span }))
}

/// For each variable the least one that edges and constraints connect it to.
fn parts_of(pattern: &Pattern) -> Vec<VarIndex> {
    let mut parts: Vec<VarIndex> = (0..pattern.variables.len()).collect();
    let mut unite = |one: VarIndex, other: VarIndex| {
        let (least, greatest) = (parts[one].min(parts[other]), parts[one].max(parts[other]));
        parts.iter_mut().filter(|it| **it == greatest).for_each(|it| *it = least);
    };
    pattern.edges.iter().for_each(|it| unite(it.from, it.to));
    for constraint in &pattern.constraints {
        match constraint {
            Constraint::Unique(one, other) => {
                unite(pattern.edges[*one].from, pattern.edges[*other].from);
            }
            Constraint::Differ(one, other) => unite(*one, *other),
            Constraint::NoEdge(edge) => unite(edge.from, edge.to),
        }
    }
    parts
}

/// The part of a pattern with some variables, which no edge or constraint connects to the others.
fn chosen(pattern: &Pattern, has: impl Fn(VarIndex) -> bool) -> Pattern {
    let variables: Vec<VarIndex> = (0..pattern.variables.len()).filter(|it| has(*it)).collect();
    let index = |variable: VarIndex| variables.partition_point(|it| *it < variable);
    let edges: Vec<usize> =
        (0..pattern.edges.len()).filter(|it| has(pattern.edges[*it].from)).collect();
    let edge = |at: usize| edges.partition_point(|it| *it < at);
    let renamed = |it: &Edge| {
        let (from, to) = (index(it.from), index(it.to));
        Edge { from, to, ..it.clone() }
    };
    let constraint = |it: &Constraint| match it {
        Constraint::Unique(one, other) => {
            has(pattern.edges[*one].from).then(|| Constraint::Unique(edge(*one), edge(*other)))
        }
        Constraint::Differ(one, other) => {
            has(*one).then(|| Constraint::Differ(index(*one), index(*other)))
        }
        Constraint::NoEdge(it) => has(it.from).then(|| Constraint::NoEdge(renamed(it))),
    };
    Pattern {
        variables: variables.iter().map(|it| pattern.variables[*it].clone()).collect(),
        edges: edges.iter().map(|it| renamed(&pattern.edges[*it])).collect(),
        constraints: pattern.constraints.iter().filter_map(constraint).collect(),
    }
}

/// The values of one part in ascending order, with their numbers of matches.
pub(super) struct SortedValues<'a> {
    values: Vec<Value>,
    /// Before each value the number of matches of all less ones, and after them that of all.
    sums: Vec<u64>,
    /// Whether the part has no match: then nothing else is evaluated.
    is_empty: bool,
    _reserved: Reserved<'a>,
}

impl<'a> SortedValues<'a> {
    /// The values of a part from its nodes and their numbers of matches; `None` where a value
    /// cannot be computed, or has no order.
    pub(super) fn new(
        mut nodes: Vec<(u32, u64)>,
        compared: &Compared,
        reader: &mut Reader<'_, 'a>,
        graph: &'a dyn Adjacency,
    ) -> Result<Option<SortedValues<'a>>> {
        let mut reserved = Reserved::new(graph, nodes.len() * ENTRY_BYTES)?;
        nodes.sort_unstable();
        let mut coded = CodedExpression::new(&compared.value, compared.slot, graph)?;
        let (mut codes, mut matches) = (Vec::with_capacity(CHECKED_NODES), Vec::new());
        let same: Vec<&[(u32, u64)]> = nodes.chunk_by(|one, other| one.0 == other.0).collect();
        for same in same.chunks(CHECKED_NODES) {
            graph.check()?;
            let ids: Vec<u32> = same.iter().map(|it| it[0].0).collect();
            codes.clear();
            match coded.read(reader, &ids, &mut codes) {
                Ok(()) => {}
                Err(Error::Query { .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
            matches.resize(coded.values().len(), 0_u64);
            for (code, same) in codes.iter().zip(same) {
                let sum = &mut matches[*code as usize];
                for (_, count) in *same {
                    *sum = sum.checked_add(*count).ok_or_else(too_many)?;
                }
            }
        }
        let values = coded.values();
        if values.iter().any(|it| class_of(it).is_none() && !it.is_null()) {
            return Ok(None);
        }
        reserved.grow(values.len() * ENTRY_BYTES)?;
        let mut sorted: Vec<(Value, u64)> = values
            .iter()
            .zip(matches)
            .filter(|(value, count)| *count != 0 && !value.is_null() && !is_nan(value))
            .map(|(value, count)| (value.clone(), count))
            .collect();
        sorted.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let mut sums = vec![0_u64];
        for (_, count) in &sorted {
            sums.push(sums[sums.len() - 1].checked_add(*count).ok_or_else(too_many)?);
        }
        let values = sorted.into_iter().map(|it| it.0).collect();
        Ok(Some(SortedValues { values, sums, is_empty: nodes.is_empty(), _reserved: reserved }))
    }

    /// The number of matches whose value is in a relation to another value: `value op it`.
    fn matches(&self, value: &Value, op: CompareOp) -> u64 {
        let chosen = matching(&self.values, |it| it, mirrored(op), value);
        self.sums[chosen.end] - self.sums[chosen.start]
    }
}

/// The bindings of a pattern, each as often as the values of another part fit its own value.
pub(super) struct Weighted<'p, 'e, 'a> {
    sorted: &'e SortedValues<'a>,
    op: CompareOp,
    /// The positions of the variable with the value and of the retained ones in a binding that is
    /// read.
    own: usize,
    width: usize,
    retained: usize,
    coded: CodedExpression<'p, 'a>,
    codes: FxHashMap<u32, u32>,
    /// For each code the number of matches.
    factors: Vec<u64>,
    reserved: Reserved<'a>,
}

impl<'p, 'e, 'a> Weighted<'p, 'e, 'a> {
    /// `slots` are those of a binding: the retained ones, and that of the value, if it is another
    /// one.
    pub(super) fn new(
        sorted: &'e SortedValues<'a>,
        compared: &'p Compared,
        (slots, retained): (&[SlotIndex], usize),
        graph: &'a dyn Adjacency,
    ) -> Result<Weighted<'p, 'e, 'a>> {
        let (slot, expression) = &compared.own;
        Ok(Weighted {
            sorted,
            op: compared.op,
            own: slots.iter().position(|it| it == slot).unwrap_or(0),
            width: slots.len(),
            retained,
            coded: CodedExpression::new(expression, *slot, graph)?,
            codes: FxHashMap::default(),
            factors: Vec::new(),
            reserved: Reserved::new(graph, 0)?,
        })
    }

    /// The same bindings without those that fit no value. Without retained variables they are one.
    pub(super) fn weighted(
        &mut self,
        Bindings { nodes, counts }: &Bindings,
        reader: &mut Reader<'_, '_>,
    ) -> Result<Bindings> {
        let mut result = Bindings::default();
        if self.sorted.is_empty {
            return Ok(result);
        }
        self.read(nodes, reader)?;
        let mut sum = 0_u64;
        for (binding, count) in nodes.chunks(self.width).zip(counts) {
            reader.execution.tick()?;
            let code = self.codes[&binding[self.own]];
            let count = count.checked_mul(self.factors[code as usize]).ok_or_else(too_many)?;
            sum = sum.checked_add(count).ok_or_else(too_many)?;
            if count != 0 && self.retained != 0 {
                result.nodes.extend_from_slice(&binding[..self.retained]);
                result.counts.push(count);
            }
        }
        if self.retained == 0 && sum != 0 {
            result.counts.push(sum);
        }
        Ok(result)
    }

    /// Computes the values of nodes that have not come before.
    fn read(&mut self, nodes: &[u32], reader: &mut Reader<'_, '_>) -> Result<()> {
        let own = nodes.iter().skip(self.own).step_by(self.width).copied();
        let mut new: Vec<u32> = own.filter(|it| !self.codes.contains_key(it)).collect();
        new.sort_unstable();
        new.dedup();
        self.reserved.grow(new.len() * ENTRY_BYTES)?;
        let mut codes = Vec::with_capacity(CHECKED_NODES);
        for nodes in new.chunks(CHECKED_NODES) {
            reader.graph.check()?;
            codes.clear();
            self.coded.read(reader, nodes, &mut codes)?;
            self.codes.extend(nodes.iter().copied().zip(codes.iter().copied()));
        }
        for value in &self.coded.values()[self.factors.len()..] {
            self.factors.push(self.sorted.matches(value, self.op));
        }
        Ok(())
    }
}
