//! Takes the variables of a block from its finished tree; they do not have what `@cascade` dropped.

use crate::exec::columns::read::{Langs, typed};
use crate::exec::control::context::{Context, Var};
use crate::exec::control::pending::CHARGED_BYTES;
use crate::exec::control::tree::{
    BlockResult, Column, EdgeField, FieldData, FieldResult, Level, VALUE_BYTES, ValueMap,
};
use crate::exec::walk::lists::distinct;
use crate::storage::NodeSet;
use hexgraph_base::plan::{Block, FieldKind, VarId};
use hexgraph_base::types::{Error, Result, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The variables so far: one that several levels define (in `@recurse`) is united.
type Outcome = BTreeMap<VarId, Var>;

impl Context<'_> {
    /// Sets the variables that a block's tree defines by itself, all but aggregates and math.
    pub(crate) fn publish(&mut self, block: &Block, result: &BlockResult) -> Result<()> {
        if block.var.is_none() && block.defines.is_empty() {
            return Ok(());
        }
        let mut hit = Outcome::new();
        let level = &result.level;
        let roots = match &level.alive {
            None if result.paths.is_empty() => Arc::clone(&level.nodes),
            None => distinct(&result.roots).into(),
            Some(_) => {
                let alive =
                    |node: &&u32| level.position(**node).is_some_and(|at| level.is_alive(at));
                distinct(&result.roots.iter().filter(alive).copied().collect::<Vec<u32>>()).into()
            }
        };
        if let Some(var) = block.var
            // The variable of a `shortest` block was set with its path.
            && result.paths.is_empty()
        {
            hit.insert(var, Var::uids(NodeSet::Sorted(Arc::clone(&roots))));
        }
        if !block.defines.is_empty() {
            self.publish_level(level, &roots, &mut hit)?;
        }
        for (var, value) in hit {
            self.set_var(var, value);
        }
        Ok(())
    }

    /// Adds the variables of a level and those below, in the order of their fields. Levels in
    /// progress are in a list, since there may be more of them than a stack has space for.
    fn publish_level(&self, level: &Level, live: &Arc<Vec<u32>>, hit: &mut Outcome) -> Result<()> {
        let mut open = vec![(level, Arc::clone(live), level.fields.iter())];
        while let Some((level, live, fields)) = open.last_mut() {
            let Some(result) = fields.next() else {
                open.pop();
                continue;
            };
            if let FieldData::Edges(edges) = &result.data {
                let below = self.publish_field(result, level, live, hit)?;
                open.extend(below.map(|below| (&edges.level, below, edges.level.fields.iter())));
            } else {
                self.publish_field(result, level, live, hit)?;
            }
        }
        Ok(())
    }

    /// Adds the variables of a field. Returns the nodes below it that are left, where that level
    /// has variables to be looked for.
    fn publish_field(
        &self,
        result: &FieldResult,
        level: &Level,
        live: &Arc<Vec<u32>>,
        hit: &mut Outcome,
    ) -> Result<Option<Arc<Vec<u32>>>> {
        let items = result.field.facets.iter().flat_map(|facets| &facets.items);
        let facets = items.filter(|item| item.var.is_some()).count();
        let defined = usize::from(result.field.var.is_some()) + facets;
        self.control.charge(defined * VALUE_BYTES * live.len())?;
        match &result.data {
            FieldData::Edges(edges) => {
                return self.publish_edges(result, edges, level, live, hit);
            }
            FieldData::Values(_) => self.publish_values(result, live, hit)?,
            FieldData::Uid => add_uids(hit, result.field.var, live),
            FieldData::Counts(counts) if !live.is_empty() && live.len() == level.nodes.len() => {
                let counts = counts.iter().map(|count| *count as i64).collect();
                let (nodes, values) = (live.to_vec(), Column::Int(counts));
                let map = ValueMap { nodes, values, constant: None };
                add_values(hit, result.field.var, map);
            }
            FieldData::Counts(counts) => {
                let count_at = |position: usize| Value::Int(counts[position] as i64);
                add_values(hit, result.field.var, by_position(level, live, count_at));
            }
            FieldData::Passwords(answers) => {
                let answer_at = |position: usize| Value::Bool(answers[position]);
                add_values(hit, result.field.var, by_position(level, live, answer_at));
            }
            FieldData::CountUid => {
                let count = ValueMap::constant(Value::Int(live.len() as i64));
                add_values(hit, result.field.var, count);
            }
            // A predicate that nobody has yet: its variable is resolved, and empty.
            FieldData::Nothing if matches!(result.field.kind, FieldKind::Predicate { .. }) => {
                if let Some(var) = result.field.var {
                    hit.entry(var).or_insert_with(|| Var::uids(NodeSet::default()));
                }
            }
            FieldData::Nothing | FieldData::Column(_) => {}
        }
        Ok(None)
    }

    fn publish_edges(
        &self,
        result: &FieldResult,
        edges: &EdgeField,
        level: &Level,
        live: &[u32],
        hit: &mut Outcome,
    ) -> Result<Option<Arc<Vec<u32>>>> {
        let field = &result.field;
        // Without a cascade all nodes of the level below are targets.
        let all = level.nodes.len() == live.len() && edges.level.alive.is_none();
        let below = match all {
            true => Arc::clone(&edges.level.nodes),
            false => below_some(edges, level, live).into(),
        };
        if let Some(group_by) = &field.group_by {
            if field.fields.iter().all(|inner| inner.var.is_none()) {
                return Ok(None);
            }
            // The lists of the nodes above are grouped apart where they are shown; a variable has
            // one value for a node, over all that are in its group, each once.
            let groups = self.groups(group_by, &field.fields, &below)?;
            self.publish_groups(&field.fields, group_by.keys.len(), &groups, hit)?;
            return Ok(None);
        }
        if field.var.is_some() {
            add_uids(hit, field.var, &below);
        }
        for item in field.facets.iter().flat_map(|facets| &facets.items) {
            if item.var.is_some() {
                let values = self.facet_values(&item.facet, edges, &level.nodes);
                let values = values.map_err(|error| error.or_at(field.at))?;
                add_values(hit, item.var, values);
            }
        }
        Ok(Some(below))
    }

    fn publish_values(&self, result: &FieldResult, live: &[u32], hit: &mut Outcome) -> Result<()> {
        let FieldData::Values(values) = &result.data else { return Ok(()) };
        let FieldKind::Predicate { langs, .. } = &result.field.kind else { return Ok(()) };
        let predicate = &values.predicate;
        for item in result.field.facets.iter().flat_map(|facets| &facets.items) {
            let Some(var) = item.var else { continue };
            let facet_at = |node: &u32| {
                let (_, list) = predicate.values_in(Langs::First(langs), *node)?;
                let position = values.positions(*node, list.len()).next()?;
                Some((*node, list.facet(position, &item.facet)?.to_value()))
            };
            add_values(hit, Some(var), ValueMap::from_sorted(live.iter().filter_map(facet_at)));
        }
        if result.field.var.is_none() {
            return Ok(());
        }
        if predicate.def.list {
            let message = format!(
                "variable `{}` can't hold the values of `{}`, which is a list",
                result.field.var.map_or("", |var| self.var_name(var)),
                predicate.def.name
            );
            let hint = "only a predicate with one value per node fits into a variable";
            return Err(Error::query_at(result.field.at, message).with_hint(hint));
        }
        if langs.is_empty()
            && values.shown.is_none()
            && let Some(part) = predicate.only_untagged()
            && let Some(map) = ValueMap::of_numbers(part, predicate.def.value_type, live)
        {
            add_values(hit, result.field.var, map);
            return Ok(());
        }
        let (mut map, mut texts) = (ValueMap::default(), 0);
        for &node in live {
            if values.is_hidden(node) {
                continue;
            }
            if let Some((_, list)) = predicate.values_in(Langs::First(langs), node) {
                let value = typed(list.get(0), predicate.def.value_type)?.as_ref().to_value();
                texts += value.heap_size();
                if CHARGED_BYTES <= texts {
                    self.control.charge(std::mem::take(&mut texts))?;
                }
                map.nodes.push(node);
                map.values.push(value);
            }
        }
        self.control.charge(texts)?;
        add_values(hit, result.field.var, map);
        Ok(())
    }
}

/// The nodes below some of a level, each once.
fn below_some(edges: &EdgeField, level: &Level, nodes: &[u32]) -> Vec<u32> {
    let mut below = Vec::new();
    for position in nodes.iter().filter_map(|&node| level.position(node)) {
        below.extend_from_slice(edges.targets_of(position));
    }
    distinct(&below)
}

fn add_uids(result: &mut Outcome, var: Option<VarId>, nodes: &Arc<Vec<u32>>) {
    let Some(var) = var else { return };
    let mut set = NodeSet::Sorted(Arc::clone(nodes));
    if let Some(Var::Uids(existing)) = result.get(&var) {
        set = existing.set.or(&set);
    }
    result.insert(var, Var::uids(set));
}

/// Collects the value of each live node, which is computed from the node's position in the level.
fn by_position(level: &Level, live: &[u32], value_at: impl Fn(usize) -> Value) -> ValueMap {
    let values = live.iter().filter_map(|node| Some((*node, value_at(level.position(*node)?))));
    ValueMap::from_sorted(values)
}

/// Adds the values of a variable; where two levels have a value for a node, the first stays.
pub(crate) fn add_values(result: &mut BTreeMap<VarId, Var>, var: Option<VarId>, mut map: ValueMap) {
    let Some(var) = var else { return };
    if let Some(Var::Values(existing)) = result.get(&var)
        && !existing.is_empty()
    {
        map = merge(existing, &map);
    }
    result.insert(var, Var::Values(Arc::new(map)));
}

fn merge(one: &ValueMap, other: &ValueMap) -> ValueMap {
    let owned = |map: &ValueMap| {
        map.iter().map(|(node, value)| (node, value.to_value())).collect::<BTreeMap<u32, Value>>()
    };
    // The values of `one` come last and replace those of `other`: the first level's stay.
    let mut all = owned(other);
    all.extend(owned(one));
    ValueMap { constant: one.constant.clone(), ..ValueMap::from_sorted(all) }
}
