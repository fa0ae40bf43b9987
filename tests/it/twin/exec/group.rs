//! `@groupby`.

use super::aggregate::{aggregate, distinct};
use super::publish::{Published, add_values};
use super::state::{Data, Group, GroupKey, Level, Outcome, Twin, ValueMap, refuse};
use hexgraph::internals::plan;
use hexgraph::internals::plan::{Aggregate, Field, FieldKind, GroupBy, Holistic};
use hexgraph::types::Value;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Twin<'_> {
    /// Groups the lists of every field that asks for it, in a level and below.
    pub fn group_fields(&self, level: &mut Level) -> Outcome<()> {
        for result in &mut level.fields {
            let Data::Edges(edges) = &mut result.data else { continue };
            self.group_fields(&mut edges.below)?;
            let Some(group_by) = &result.field.group_by else { continue };
            let mut groups = std::collections::BTreeMap::new();
            for (node, list) in &edges.lists {
                groups.insert(*node, self.groups(group_by, &result.field.fields, list)?);
            }
            edges.groups = Some(groups);
        }
        Ok(())
    }

    /// The groups of some nodes, small ones first.
    pub fn groups(
        &self,
        group_by: &GroupBy,
        body: &[Arc<Field>],
        nodes: &[u64],
    ) -> Outcome<Vec<Group>> {
        let mut result: Vec<(Vec<GroupKey>, Vec<u64>)> = Vec::new();
        // Whatever the order of a list is, the least node of a group says how its key is written.
        let nodes: BTreeSet<u64> = nodes.iter().copied().collect();
        for node in &nodes {
            let mut choices: Vec<Vec<GroupKey>> = vec![Vec::new()];
            for key in &group_by.keys {
                let values = self.key_values(key, *node)?;
                choices = choices
                    .iter()
                    .flat_map(|start| {
                        values
                            .iter()
                            .map(|value| [start.as_slice(), std::slice::from_ref(value)].concat())
                    })
                    .collect();
            }
            for keys in choices {
                match result.iter_mut().find(|(existing, _)| same_keys(existing, &keys)) {
                    Some((_, members)) => members.push(*node),
                    None => result.push((keys, vec![*node])),
                }
            }
        }
        let mut groups = Vec::new();
        for (keys, members) in result {
            let results = body.iter().map(|field| self.group_result(field, &members));
            let results = results.collect::<Outcome<_>>()?;
            groups.push(Group { keys, results, size: members.len() });
        }
        groups.sort_by(compare);
        Ok(groups)
    }

    fn key_values(&self, key: &plan::GroupKey, node: u64) -> Outcome<Vec<GroupKey>> {
        let name = key.predicate.trim_start_matches('~');
        let reverse = name != key.predicate;
        let Some(definition) = self.definition(name) else { return Ok(Vec::new()) };
        if reverse && !definition.reverse {
            return refuse("no reverse edges");
        }
        if definition.is_edges() {
            let targets = self.graph.targets(node, name, reverse);
            return Ok(targets.into_keys().map(GroupKey::Node).collect());
        }
        Ok(self.first_value(name, &key.langs, node).map(GroupKey::Value).into_iter().collect())
    }

    fn first_value(&self, name: &str, langs: &[String], node: u64) -> Option<Value> {
        if langs.is_empty() {
            return self.first_untagged(node, name).into_iter().next().map(|(value, _)| value);
        }
        let shown = self.in_langs(node, name, langs).into_iter().next()?;
        shown.1.into_iter().next().map(|(value, _)| value)
    }

    /// The number of different targets or values that some nodes have of a predicate.
    fn count_distinct(&self, name: &str, langs: &[String], members: &[u64]) -> usize {
        let Some(definition) = self.definition(name) else { return 0 };
        if definition.is_edges() {
            let targets = members.iter().map(|node| self.graph.targets(*node, name, false));
            return targets.flat_map(|targets| targets.into_keys()).collect::<BTreeSet<_>>().len();
        }
        let of_node = |node: &u64| match langs {
            [] => self.first_untagged(*node, name),
            langs => {
                let shown = self.in_langs(*node, name, langs).into_iter().next();
                shown.map(|(_, values)| values).unwrap_or_default()
            }
        };
        let most = if definition.list { usize::MAX } else { 1 };
        let values = members.iter().flat_map(|node| of_node(node).into_iter().take(most));
        distinct(&values.map(|(value, _)| value).collect::<Vec<_>>())
    }

    fn group_result(&self, field: &Field, members: &[u64]) -> Outcome<Option<Value>> {
        match &field.kind {
            FieldKind::CountUid => Ok(Some(Value::Int(members.len() as i64))),
            FieldKind::AggregatePredicate {
                op: Aggregate::Holistic(Holistic::CountDistinct),
                name,
                langs,
            } => Ok(Some(Value::Int(self.count_distinct(name, langs, members) as i64))),
            FieldKind::AggregatePredicate { op, name, langs } => {
                let values = members.iter().filter_map(|node| self.first_value(name, langs, *node));
                aggregate(*op, &values.collect::<Vec<_>>())
            }
            _ => Ok(None),
        }
    }
}

fn same_keys(one: &[GroupKey], other: &[GroupKey]) -> bool {
    one.iter().zip(other).all(|(one, other)| match (one, other) {
        (GroupKey::Value(one), GroupKey::Value(other)) => one.as_ref().equals(other.as_ref()),
        (one, other) => one == other,
    })
}

fn compare(one: &Group, other: &Group) -> Ordering {
    let results = |group: &Group| group.results.iter().flatten().count();
    let start = one.size.cmp(&other.size).then(results(one).cmp(&results(other)));
    let keys = one.keys.iter().zip(&other.keys).map(|pair| match pair {
        (GroupKey::Node(one), GroupKey::Node(other)) => one.cmp(other),
        (GroupKey::Value(one), GroupKey::Value(other)) => {
            one.as_ref().compare(other.as_ref()).unwrap_or(Ordering::Equal)
        }
        _ => Ordering::Equal,
    });
    keys.fold(start, Ordering::then)
}

/// The variables of a body, by the node that is grouped by.
pub fn publish(
    groups: &[Group],
    keys: usize,
    body: &[Arc<Field>],
    published: &mut Published,
) -> Outcome<()> {
    for (position, field) in body.iter().enumerate() {
        let Some(var) = field.var else { continue };
        if keys != 1 {
            return refuse("a variable needs one key");
        }
        let mut map = ValueMap::default();
        for group in groups {
            let [GroupKey::Node(node)] = group.keys.as_slice() else {
                return refuse("a variable needs a key of nodes");
            };
            let Some(value) = &group.results[position] else { continue };
            map.of.insert(*node, value.clone());
        }
        add_values(published, var, map);
    }
    Ok(())
}
