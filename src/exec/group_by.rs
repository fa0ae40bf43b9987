//! `@groupby`: members of a list by the values of keys, and aggregates over each group.

use super::aggregate::aggregate;
use super::context::Context;
use super::context::Var;
use super::read::Langs;
use super::read::typed_or_none;
use super::tree::FieldData;
use super::tree::Group;
use super::tree::GroupValue;
use super::tree::Level;
use super::tree::ValueMap;
use super::variables::add_values;
use crate::graph::Predicate;
use crate::index::IndexKind;
use crate::plan::Aggregate;
use crate::plan::Field;
use crate::plan::FieldKind;
use crate::plan::GroupBy;
use crate::plan::GroupKey;
use crate::plan::VarId;
use crate::types::Error;
use crate::types::Result;
use crate::types::Value;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Context<'_> {
    /// Groups the targets of each node, in all fields of a tree that ask for it. The lists are
    /// final: `@cascade` and its pages come first.
    pub(crate) fn group_fields(&self, level: &mut Level) -> Result<()> {
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
        let mut groups = match self.counted_groups(group_by, body, members) {
            Some(groups) => groups,
            None => {
                let mut groups = Vec::new();
                for (keys, nodes) in self.partition(group_by, members)? {
                    let results = body
                        .iter()
                        .map(|field| self.group_result(field, &nodes))
                        .collect::<Result<_>>()?;
                    groups.push((nodes.len(), Group { keys, results }));
                }
                groups
            }
        };
        groups.sort_by(|(count, one), (other_count, other)| {
            count.cmp(other_count).then_with(|| compare_groups(one, other))
        });
        Ok(groups.into_iter().map(|(_, group)| group).collect())
    }

    /// The groups read off an index: when all subjects of one key are grouped and only counted.
    fn counted_groups(
        &self,
        group_by: &GroupBy,
        body: &[Arc<Field>],
        members: &[u32],
    ) -> Option<Vec<(usize, Group)>> {
        let [key] = group_by.keys.as_slice() else { return None };
        if !key.langs.is_empty()
            || !body.iter().all(|field| matches!(field.kind, FieldKind::CountUid))
        {
            return None;
        }
        let predicate = self.predicate(&key.predicate).filter(|predicate| !predicate.def.list)?;
        let part = predicate.values("").filter(|part| part.is_settled())?;
        let view = part.index(IndexKind::Ordered)?;
        let subjects = &part.base.column.subjects;
        // A string type index of a schema altered since may lack values: then counts differ.
        if view.index.postings.len() != members.len() || subjects.len() != members.len() {
            return None;
        }
        if !members.iter().copied().eq(subjects.iter()) {
            return None;
        }
        let group = |token: usize| {
            let count = view.index.offsets.range(token).len();
            let keys = vec![GroupValue::Value(view.index.keys.get(token).to_value())];
            let results = body.iter().map(|_| Some(Value::Int(count as i64))).collect();
            (count, Group { keys, results })
        };
        Some((0..view.index.len()).map(group).collect())
    }

    /// The members by their keys; a member with several values of a key is in several groups.
    fn partition(
        &self,
        group_by: &GroupBy,
        members: &[u32],
    ) -> Result<Vec<(Vec<GroupValue>, Vec<u32>)>> {
        let mut places: FxHashMap<Vec<u8>, usize> = FxHashMap::default();
        let mut groups: Vec<(Vec<GroupValue>, Vec<u32>)> = Vec::new();
        let mut bytes = Vec::new();
        for (count, &member) in members.iter().enumerate() {
            if count % 8192 == 8191 {
                self.check()?;
            }
            let mut values = Vec::with_capacity(group_by.keys.len());
            for key in &group_by.keys {
                values.push(self.key_values(key, member)?);
            }
            if values.iter().any(Vec::is_empty) {
                continue;
            }
            for combination in combinations(&values) {
                bytes.clear();
                combination.iter().for_each(|value| value.write_key(&mut bytes));
                let place = match places.get(bytes.as_slice()) {
                    Some(place) => *place,
                    None => {
                        places.insert(bytes.clone(), groups.len());
                        groups.push((combination, Vec::new()));
                        groups.len() - 1
                    }
                };
                groups[place].1.push(member);
            }
        }
        Ok(groups)
    }

    fn key_values(&self, key: &GroupKey, node: u32) -> Result<Vec<GroupValue>> {
        let (name, reverse) = match key.predicate.strip_prefix('~') {
            Some(name) => (name, true),
            None => (key.predicate.as_str(), false),
        };
        let Some(predicate) = self.predicate(name) else { return Ok(Vec::new()) };
        if predicate.is_edges() {
            let edges =
                predicate.direction(reverse).ok_or_else(|| super::function::no_reverse(name))?;
            return Ok(edges
                .targets(node)
                .iter()
                .map(|&target| GroupValue::Node(target))
                .collect());
        }
        let value = first_value(predicate, &key.langs, node);
        Ok(value.map(GroupValue::Value).into_iter().collect())
    }

    fn group_result(&self, field: &Field, members: &[u32]) -> Result<Option<Value>> {
        match &field.kind {
            FieldKind::CountUid => Ok(Some(Value::Int(members.len() as i64))),
            FieldKind::AggregatePredicate { op, name, langs } => {
                let Some(predicate) = self.predicate(name) else { return Ok(None) };
                let values: Vec<Value> = members
                    .iter()
                    .filter_map(|&node| first_value(predicate, langs, node))
                    .collect();
                Ok(aggregate(*op, values.iter().map(Value::as_ref)))
            }
            _ => Err(Error::query(format!(
                "{}: only count(uid) and min, max, sum, avg of a predicate are allowed inside @groupby",
                field.at
            ))),
        }
    }

    /// The variables of a `@groupby` body: by the node that is grouped by.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when there is not exactly one key, or it does not lead to nodes.
    pub(crate) fn publish_groups<'g>(
        &self,
        field: &Field,
        groups: impl Iterator<Item = &'g Group>,
        found: &mut BTreeMap<VarId, Var>,
    ) -> Result<()> {
        let keys = field.group_by.as_ref().map_or(0, |group_by| group_by.keys.len());
        self.publish_group_body(&field.fields, keys, groups, found)
    }

    /// See [`Context::publish_groups`].
    pub(crate) fn publish_group_body<'g>(
        &self,
        body: &[Arc<Field>],
        keys: usize,
        groups: impl Iterator<Item = &'g Group>,
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
        if keys != 1 {
            return Err(Error::query(format!(
                "a variable inside @groupby needs exactly one key that leads to nodes, got {keys} keys"
            )));
        }
        let mut maps: Vec<BTreeMap<u32, Value>> = vec![BTreeMap::new(); vars.len()];
        for group in groups {
            let [GroupValue::Node(node)] = group.keys.as_slice() else {
                return Err(Error::query(
                    "a variable inside @groupby needs a key that leads to nodes, not one of values",
                ));
            };
            for ((place, _), map) in vars.iter().zip(&mut maps) {
                if let Some(value) = &group.results[*place] {
                    let known = map.remove(node);
                    map.insert(*node, combine(&body[*place].kind, known, value));
                }
            }
        }
        for ((_, var), map) in vars.into_iter().zip(maps) {
            add_values(found, Some(var), ValueMap::from_sorted(map));
        }
        Ok(())
    }
}

/// A result of one group with the same group's of other parents.
fn combine(kind: &FieldKind, known: Option<Value>, value: &Value) -> Value {
    let Some(known) = known else { return value.clone() };
    let op = match kind {
        FieldKind::AggregatePredicate { op, .. } => *op,
        _ => Aggregate::Sum,
    };
    aggregate(op, [known.as_ref(), value.as_ref()].into_iter()).unwrap_or(known)
}

impl GroupValue {
    fn write_key(&self, bytes: &mut Vec<u8>) {
        match self {
            GroupValue::Node(node) => {
                bytes.push(255);
                bytes.extend(node.to_be_bytes());
            }
            GroupValue::Value(value) => {
                let start = bytes.len();
                bytes.extend([0; 4]);
                value.as_ref().group_key(bytes);
                let length = (bytes.len() - start - 4) as u32;
                bytes[start..start + 4].copy_from_slice(&length.to_be_bytes());
            }
        }
    }

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

fn first_value(predicate: &Predicate, langs: &[String], node: u32) -> Option<Value> {
    let (_, list) = predicate.values_in(Langs::First(langs), node)?;
    typed_or_none(list.get(0), predicate.def.value_type).map(|value| value.as_ref().to_value())
}

/// Every choice of one value of each key.
fn combinations(values: &[Vec<GroupValue>]) -> Vec<Vec<GroupValue>> {
    values.iter().fold(vec![Vec::new()], |all, choices| {
        all.iter()
            .flat_map(|start| {
                choices.iter().map(|choice| {
                    let mut combination = start.clone();
                    combination.push(choice.clone());
                    combination
                })
            })
            .collect()
    })
}
