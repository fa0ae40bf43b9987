//! `@groupby`: members of a list by the values of keys, and aggregates over each group.

use super::aggregate::{aggregate, aggregate_numbers};
use super::partition::Part;
use super::variables::add_values;
use crate::exec::control::context::{Context, Var};
use crate::exec::control::tree::{FieldData, Group, GroupValue, Level, ValueMap};
use crate::exec::select::numbers::NumberTable;
use crate::exec::select::read::first_value;
use hexgraph_base::plan::{Field, FieldKind, GroupBy, VarId};
use hexgraph_base::types::{Error, Result, Value, stack};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Context<'_> {
    /// Groups the targets of each node, in all fields of a tree that ask for it. The lists are
    /// final: `@cascade` and its pages come first.
    pub(crate) fn group_fields(&self, level: &mut Level) -> Result<()> {
        stack::require();
        for result in &mut level.fields {
            let FieldData::Edges(edges) = &mut result.data else { continue };
            self.group_fields(&mut edges.level)?;
            let field = &result.field;
            if let Some(group_by) = &field.group_by {
                let lists = edges.offsets.windows(2).map(|row| row[0] as usize..row[1] as usize);
                let groups =
                    lists.map(|row| self.groups(group_by, &field.fields, &edges.targets[row]));
                edges.groups = Some(groups.collect::<Result<_>>()?);
            }
        }
        Ok(())
    }

    /// Groups some nodes; the groups come in the order of the answer: small ones first.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for a body that asks for something that a group does not have.
    pub(crate) fn groups(
        &self,
        group_by: &GroupBy,
        body: &[Arc<Field>],
        members: &[u32],
    ) -> Result<Vec<Group>> {
        self.control.charge(8 * members.len())?;
        let mut groups = Vec::new();
        // Made once for all groups: then a number costs a read by node id, and no search.
        let tables: Vec<_> = body.iter().map(|field| self.number_table(field, members)).collect();
        let is_aggregate =
            |field: &Arc<Field>| matches!(field.kind, FieldKind::AggregatePredicate { .. });
        let is_listed = body.iter().any(is_aggregate);
        for Part { keys, members } in self.partition(group_by, members)? {
            // Groups that are only counted are never listed.
            let list = if is_listed { members.as_list() } else { Cow::default() };
            let fields = body.iter().zip(&tables);
            let results = fields
                .map(|(field, table)| {
                    self.group_result(field, table.as_ref(), members.len(), &list)
                })
                .collect::<Result<_>>()?;
            groups.push((members.len(), Group { keys, results }));
        }
        groups.sort_by(|(count, one), (other_count, other)| {
            count.cmp(other_count).then_with(|| compare_groups(one, other))
        });
        Ok(groups.into_iter().map(|(_, group)| group).collect())
    }

    /// The numbers that a field of the body aggregates, when they are plain and close together.
    fn number_table(&self, field: &Field, members: &[u32]) -> Option<NumberTable> {
        let FieldKind::AggregatePredicate { name, langs, .. } = &field.kind else { return None };
        let predicate = self.predicate(name).filter(|_| langs.is_empty())?;
        NumberTable::new(predicate.only_untagged()?, predicate.def.value_type, members)
    }

    fn group_result(
        &self,
        field: &Field,
        table: Option<&NumberTable>,
        count: usize,
        members: &[u32],
    ) -> Result<Option<Value>> {
        match &field.kind {
            FieldKind::CountUid => Ok(Some(Value::Int(count as i64))),
            FieldKind::AggregatePredicate { op, name, langs } => {
                let Some(predicate) = self.predicate(name) else { return Ok(None) };
                if let Some(table) = table {
                    return aggregate_numbers(*op, &table.of(members))
                        .map_err(|error| error.or_at(field.at));
                }
                let values: Vec<Value> = members
                    .iter()
                    .filter_map(|&node| first_value(predicate, langs, node))
                    .collect();
                aggregate(*op, values.iter().map(Value::as_ref))
                    .map_err(|error| error.or_at(field.at))
            }
            _ => {
                let message = format!("found `{}` below `@groupby`", field.key);
                let hint = "expected count(uid), or min, max, sum, avg of a predicate";
                Err(Error::query_at(field.at, message).with_hint(hint))
            }
        }
    }

    /// The variables of a `@groupby` body: by the node that is grouped by.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when there is not exactly one key, or it does not lead to nodes.
    pub(crate) fn publish_groups(
        &self,
        body: &[Arc<Field>],
        keys: usize,
        groups: &[Group],
        found: &mut BTreeMap<VarId, Var>,
    ) -> Result<()> {
        let vars: Vec<(usize, VarId)> = body
            .iter()
            .enumerate()
            .filter_map(|(place, field)| field.var.map(|var| (place, var)))
            .collect();
        if vars.is_empty() {
            return Ok(());
        }
        let refused = |message: String| {
            let at = body[vars[0].0].at;
            let hint = "a variable holds one value for each node: group by one predicate that leads to nodes";
            Error::query_at(at, message).with_hint(hint)
        };
        if keys != 1 {
            return Err(refused(format!("a variable below `@groupby` with {keys} keys")));
        }
        let mut maps: Vec<BTreeMap<u32, Value>> = vec![BTreeMap::new(); vars.len()];
        for group in groups {
            let [GroupValue::Node(node)] = group.keys.as_slice() else {
                let message = "a variable below `@groupby` of a predicate that has values";
                return Err(refused(message.to_owned()));
            };
            for ((place, _), map) in vars.iter().zip(&mut maps) {
                if let Some(value) = &group.results[*place] {
                    map.insert(*node, value.clone());
                }
            }
        }
        for ((_, var), map) in vars.into_iter().zip(maps) {
            add_values(found, Some(var), ValueMap::from_sorted(map));
        }
        Ok(())
    }
}

impl GroupValue {
    fn compare(&self, other: &GroupValue) -> Ordering {
        match (self, other) {
            (GroupValue::Node(one), GroupValue::Node(other)) => one.cmp(other),
            (GroupValue::Value(one), GroupValue::Value(other)) => {
                one.as_ref().compare(other.as_ref()).unwrap_or(Ordering::Equal)
            }
            (GroupValue::Node(_), GroupValue::Value(_)) => Ordering::Less,
            (GroupValue::Value(_), GroupValue::Node(_)) => Ordering::Greater,
        }
    }
}

fn compare_groups(one: &Group, other: &Group) -> Ordering {
    let keys = one.keys.iter().zip(&other.keys).map(|(one, other)| one.compare(other));
    let results = |group: &Group| group.results.iter().flatten().count();
    let by_results = results(one).cmp(&results(other));
    keys.fold(by_results, Ordering::then)
}
