//! Groups of all nodes that have a text, off the index of entire texts: the nodes of a token are a
//! group.
//!
//! No text of a node is read, and no table maps keys to groups. The numbers of the nodes are read
//! wherever they lie, some thousand nodes of one or more tokens at a time. The tokens are divided
//! among threads; no two have the same group. Nodes ascend within a token, so floats are added in
//! their order.
//!
//! O(tokens + nodes · aggregated predicates).

use super::accumulators::{Accumulators, NumberAccumulators, accumulator_bytes};
use super::column_groups::{AggregatedGroups, MEMBERS_MIN, Plan, is_known};
use super::partition::{GROUP_BYTES, KEY_BYTES};
use crate::exec::access_path::GroupPath;
use crate::exec::columns::batches::{BATCH, Members};
use crate::exec::control::context::Context;
use crate::exec::cost;
use crate::graph::TokenNodes;
use crate::storage::Values;
use hexgraph_base::plan::{Field, GroupBy};
use hexgraph_base::types::Result;
use std::ops::Range;
use std::sync::Arc;

/// The groups so far, the first of which is none.
struct Groups<'a> {
    firsts: Vec<u32>,
    counts: Vec<u32>,
    columns: Vec<NumberAccumulators<'a>>,
    /// Nodes of the last groups whose numbers are to be read, and their groups.
    nodes: Vec<u32>,
    groups: Vec<u32>,
}

impl Context<'_> {
    /// The groups of all members that have a text, token by token, with how each field of the body
    /// is computed. `None` where this strategy does not apply: the members are not seen to be all
    /// that have a text, few texts are distinct, or a field needs lists of members.
    ///
    /// # Errors
    ///
    /// As [`Context::column_groups`].
    pub(super) fn posting_groups<'s>(
        &'s self,
        group_by: &'s GroupBy,
        body: &'s [Arc<Field>],
        members: Members<'_>,
    ) -> Result<Option<(AggregatedGroups<'s, 's>, Vec<Plan>)>> {
        let ([key], Members::Set(set)) = (group_by.keys.as_slice(), members) else {
            return Ok(None);
        };
        let is_usual = MEMBERS_MIN <= set.len() && body.iter().all(|field| is_known(&field.kind));
        let index = if is_usual { self.index_of_all(key, set) } else { None };
        let Some((predicate, view)) = index else { return Ok(None) };
        // A column of few texts has numbers for them, which are read one after the other.
        let part = predicate.only_untagged();
        let is_way = part.is_some_and(|it| matches!(it.stored().values, Values::Text { .. }));
        if !is_way || !self.pick(true, set.len(), || vec![true, false]) {
            return Ok(None);
        }
        let mut columns = Vec::new();
        let plans = self.plans(body, members, &mut columns);
        if plans.iter().any(|plan| matches!(plan, Plan::List)) {
            return Ok(None);
        }
        self.record_group_path(GroupPath::PostingSums);
        self.charge_values(&columns, members)?;
        let changes: usize = columns.iter().map(|column| column.numbers.byte_len()).sum();
        let tokens = size_of::<TokenNodes<'_>>() * view.index.len();
        let _while_grouping = self.control.charge_while(changes + tokens)?;
        let tokens: Vec<TokenNodes<'_>> = view.tokens(false).collect();
        let nodes = cost::ENTRY.times((1 + columns.len()) * set.len());
        let each = cost::WRITE.and(nodes.part(tokens.len()));
        let parts = self.morsels(tokens.len(), each, |range: Range<usize>| {
            let columns = columns.iter().map(|column| column.fork(0, false)).collect();
            self.groups_of_tokens(&tokens[range], columns)
        })?;
        let Some(all) = parts.into_iter().reduce(Groups::followed_by) else { return Ok(None) };
        let mut accumulators: Vec<Accumulators> =
            all.columns.into_iter().map(|column| column.accumulators).collect();
        accumulators.iter_mut().for_each(|accumulators| accumulators.sort_values(all.counts.len()));
        let result = AggregatedGroups {
            context: self,
            keys: vec![predicate],
            distinct: Vec::new(),
            coded: Vec::new(),
            ascends: false,
            firsts: all.firsts,
            counts: all.counts,
            accumulators,
            lists: None,
        };
        Ok(Some((result, plans)))
    }

    /// The groups of some tokens. After some thousand nodes the request may stop.
    fn groups_of_tokens<'s>(
        &self,
        tokens: &[TokenNodes<'_>],
        columns: Vec<NumberAccumulators<'s>>,
    ) -> Result<Groups<'s>> {
        let (nodes, groups) = (Vec::with_capacity(2 * BATCH), Vec::with_capacity(2 * BATCH));
        let mut result = Groups { firsts: vec![0], counts: vec![0], columns, nodes, groups };
        let mut charged = 1;
        let each = GROUP_BYTES + KEY_BYTES + accumulator_bytes(&result.columns);
        for (count, token) in tokens.iter().enumerate() {
            match token {
                TokenNodes::Stored(postings, range) => result.begin(postings.slice(range.clone())),
                TokenNodes::Changed(nodes) => result.begin(&nodes.to_set().as_list()),
            }
            if BATCH <= result.nodes.len() || count % BATCH == BATCH - 1 {
                self.check()?;
                result.add_waiting();
                let more = result.firsts.len() - charged;
                charged += more;
                self.control.charge(each * more)?;
            }
        }
        result.add_waiting();
        self.control.charge(each * (result.firsts.len() - charged))?;
        Ok(result)
    }
}

impl<'a> Groups<'a> {
    /// Begins the group of some nodes, which ascend. A token that lost all of its nodes is no
    /// group.
    fn begin(&mut self, members: &[u32]) {
        let Some(&first) = members.first() else { return };
        let group = self.firsts.len() as u32;
        self.firsts.push(first);
        self.counts.push(members.len() as u32);
        if self.columns.is_empty() {
            return;
        }
        // A token with very many nodes is added a batch at a time.
        for some in members.chunks(BATCH) {
            if 2 * BATCH < self.nodes.len() + some.len() {
                self.add_waiting();
            }
            self.nodes.extend_from_slice(some);
            self.groups.resize(self.nodes.len(), group);
        }
    }

    /// Adds the numbers of the nodes that wait to their groups.
    fn add_waiting(&mut self) {
        let Groups { firsts, columns, nodes, groups, .. } = self;
        let count = firsts.len();
        columns.iter_mut().for_each(|column| column.add_scattered(nodes, groups, count));
        nodes.clear();
        groups.clear();
    }

    /// The groups of others after these.
    fn followed_by(mut self, more: Groups<'a>) -> Groups<'a> {
        self.firsts.extend_from_slice(&more.firsts[1..]);
        self.counts.extend_from_slice(&more.counts[1..]);
        for (column, more) in self.columns.iter_mut().zip(&more.columns) {
            column.accumulators.append(&more.accumulators);
        }
        self
    }
}
