//! Groups nodes by where their edges lead, and counts the members of each group.
//!
//! The members are never partitioned: each edge adds one to the counter of its target. Counters lie
//! in an array by node id, where the targets are close together, else in a hash table.

use super::partition::{GROUP_BYTES, KEY_BYTES, Source, result_bytes};
use crate::exec::access_path::GroupPath;
use crate::exec::columns::batches::{EdgeTargets, Members};
use crate::exec::control::context::Context;
use crate::exec::control::pending::NUMBER_ENTRY_BYTES;
use crate::exec::control::tree::{Column, Group, GroupValue, VALUE_BYTES, ValueMap};
use crate::exec::cost::is_dense;
use crate::exec::select::targets::Extent;
use crate::graph::Direction;
use hexgraph_base::plan::{Field, FieldKind, GroupBy};
use hexgraph_base::types::{Result, Value};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// In tests, a random array of counters has fewer than this many.
const SPAN_DRAWN_MAX: usize = 1 << 20;

impl Context<'_> {
    /// The groups by a single key whose values are nodes, in the order of the nodes, with their
    /// numbers of members: for a body that requests nothing else. `None` for other keys and bodies.
    /// O(edges of the members).
    ///
    /// # Errors
    ///
    /// [`hexgraph_base::types::Error::Limit`] when the request has to stop.
    pub(crate) fn edge_groups(
        &self,
        group_by: &GroupBy,
        body: &[Arc<Field>],
        members: Members<'_>,
    ) -> Result<Option<Vec<(usize, Group)>>> {
        let Some((nodes, counts)) = self.members_by_target(group_by, body, members)? else {
            return Ok(None);
        };
        let each = GROUP_BYTES + KEY_BYTES + result_bytes(body.len());
        self.control.charge(each * nodes.len())?;
        let group = |(node, count): (u32, i64)| {
            let results = body.iter().map(|_| Some(Value::Int(count))).collect();
            (count as usize, Group { keys: vec![GroupValue::Node(node)], results })
        };
        Ok(Some(nodes.into_iter().zip(counts).map(group).collect()))
    }

    /// As [`Context::edge_groups`], as the numbers of members by the node of their group.
    ///
    /// # Errors
    ///
    /// As [`Context::edge_groups`].
    pub(crate) fn edge_group_counts(
        &self,
        group_by: &GroupBy,
        body: &[Arc<Field>],
        members: Members<'_>,
    ) -> Result<Option<ValueMap>> {
        let result = self.members_by_target(group_by, body, members)?;
        Ok(result.map(|(nodes, counts)| ValueMap {
            nodes,
            values: Column::Int(counts),
            constant: None,
        }))
    }

    /// The targets of edges of members, ascending, and the number of members of each.
    fn members_by_target(
        &self,
        group_by: &GroupBy,
        body: &[Arc<Field>],
        members: Members<'_>,
    ) -> Result<Option<(Vec<u32>, Vec<i64>)>> {
        let [key] = group_by.keys.as_slice() else { return Ok(None) };
        if !body.iter().all(|field| field.kind == FieldKind::CountUid) {
            return Ok(None);
        }
        let Some(Source::Edges(edges)) = self.source(key)? else { return Ok(None) };
        let (edge_count, ends) = self.extent_of_edges(edges, members)?;
        let Some((first, last)) = ends else { return Ok(Some((Vec::new(), Vec::new()))) };
        let span = (last - first) as usize + 1;
        let is_array = is_dense(span, edge_count);
        let cheapest = if is_array { GroupPath::TargetArray } else { GroupPath::TargetTable };
        let path = self.pick(cheapest, span, || match span < SPAN_DRAWN_MAX {
            true => vec![GroupPath::TargetArray, GroupPath::TargetTable],
            false => vec![cheapest],
        });
        self.record_group_path(path);
        if path == GroupPath::TargetArray {
            let _while_counting = self.control.charge_while(size_of::<u32>() * span)?;
            let mut counters = vec![0_u32; span];
            self.for_each_target(edges, members, |targets, _| {
                targets.iter().for_each(|target| counters[(target - first) as usize] += 1);
            })?;
            return self.counted(first, &counters).map(Some);
        }
        let _while_counting = self.control.charge_while(NUMBER_ENTRY_BYTES * edge_count)?;
        let mut counters: FxHashMap<u32, i64> = FxHashMap::default();
        self.for_each_target(edges, members, |targets, _| {
            targets.iter().for_each(|target| *counters.entry(*target).or_default() += 1);
        })?;
        self.control.charge(VALUE_BYTES * counters.len())?;
        let mut result: Vec<(u32, i64)> = counters.into_iter().collect();
        result.sort_unstable();
        Ok(Some(result.into_iter().unzip()))
    }

    /// The nodes whose counters are not 0, ascending, and their values; the counter of `first` is
    /// the first one.
    pub(super) fn counted<C: Copy + Into<i64>>(
        &self,
        first: u32,
        counters: &[C],
    ) -> Result<(Vec<u32>, Vec<i64>)> {
        let counters = || counters.iter().map(|count| (*count).into());
        let groups = counters().filter(|count| *count != 0).count();
        self.control.charge(VALUE_BYTES * groups)?;
        let (mut nodes, mut counts) = (Vec::with_capacity(groups), Vec::with_capacity(groups));
        for (node, count) in (first..).zip(counters()).filter(|(_, count)| *count != 0) {
            nodes.push(node);
            counts.push(count);
        }
        Ok((nodes, counts))
    }

    /// The number of edges of some nodes, and their least and greatest target.
    pub(super) fn extent_of_edges(
        &self,
        edges: &Direction,
        members: Members<'_>,
    ) -> Result<(usize, Option<(u32, u32)>)> {
        let mut extent = Extent::NONE;
        let see = |targets: &[u32], ascend| extent = extent.and(targets, ascend);
        self.for_each_target(edges, members, see)?;
        Ok((extent.count, extent.ends()))
    }

    /// Calls `visit` as [`EdgeTargets::for_each`] does, until the request has to stop.
    pub(super) fn for_each_target(
        &self,
        edges: &Direction,
        members: Members<'_>,
        mut visit: impl FnMut(&[u32], bool),
    ) -> Result<()> {
        let mut targets = EdgeTargets::new(edges);
        members.for_each_batch(|nodes| {
            self.check()?;
            targets.for_each(nodes, &mut visit);
            Ok(())
        })
    }
}
