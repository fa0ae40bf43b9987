//! Variables of nodes, values, counts and facets, taken from the finished tree of a block.

use super::level;
use super::state::{
    BlockResult, Data, Edges, Level, Outcome, Twin, TwinOutcome, ValueMap, Var, refuse,
};
use hexgraph::internals::plan::{FieldKind, VarId};
use hexgraph::types::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The variables found so far.
pub type Published = BTreeMap<VarId, Var>;

impl Twin<'_> {
    /// Sets the variables of a block, all but computed ones.
    pub fn publish(&mut self, result: &BlockResult<'_>) -> Outcome<()> {
        let mut hit = Published::new();
        let live = result.roots.iter().copied().filter(|node| !result.level.dead.contains(node));
        let live: BTreeSet<u64> = live.collect();
        if let Some(var) = result.block.var {
            add_nodes(&mut hit, var, live.clone());
        }
        self.publish_level(&result.level, &live, &mut hit)?;
        self.vars.extend(hit);
        Ok(())
    }

    fn publish_level(
        &self,
        level: &Level,
        live: &BTreeSet<u64>,
        published: &mut Published,
    ) -> Outcome<()> {
        for result in &level.fields {
            self.publish_facets(result, live, published)?;
            let mut add = |map: ValueMap| {
                if let Some(var) = result.field.var {
                    add_values(published, var, map);
                }
            };
            match &result.data {
                Data::Nothing => add(ValueMap::default()),
                Data::Values(_) => {
                    if result.field.var.is_some() {
                        add(self.field_values(result, live)?);
                    }
                }
                Data::Counts(counts) => {
                    let live = counts.iter().filter(|(node, _)| live.contains(node));
                    let of = live.map(|(node, count)| (*node, Value::Int(*count))).collect();
                    add(ValueMap { of, constant: None });
                }
                Data::CountUid => {
                    let constant = Some(Value::Int(live.len() as i64));
                    add(ValueMap { constant, ..ValueMap::default() });
                }
                Data::Uid => {
                    if let Some(var) = result.field.var {
                        add_nodes(published, var, live.clone());
                    }
                }
                Data::Edges(edges) => self.publish_edges(result, edges, live, published)?,
                Data::Computed(_) => {}
            }
        }
        Ok(())
    }

    fn publish_edges(
        &self,
        result: &TwinOutcome,
        edges: &Edges,
        live: &BTreeSet<u64>,
        published: &mut Published,
    ) -> Outcome<()> {
        let lists = edges.lists.iter().filter(|(node, _)| live.contains(node));
        let below: BTreeSet<u64> = lists.flat_map(|(_, list)| list).copied().collect();
        if let Some(group_by) = &result.field.group_by {
            if result.field.fields.iter().all(|field| field.var.is_none()) {
                return Ok(());
            }
            // One group of all nodes below, whatever list they are in.
            let nodes: Vec<u64> = below.into_iter().collect();
            let groups = self.groups(group_by, &result.field.fields, &nodes)?;
            let keys = group_by.keys.len();
            return super::group::publish(&groups, keys, &result.field.fields, published);
        }
        if let Some(var) = result.field.var {
            add_nodes(published, var, below.clone());
        }
        self.publish_level(&edges.below, &below, published)
    }

    fn publish_facets(
        &self,
        result: &TwinOutcome,
        live: &BTreeSet<u64>,
        published: &mut Published,
    ) -> Outcome<()> {
        let items = result.field.facets.iter().flat_map(|facets| &facets.items);
        for item in items {
            let Some(var) = item.var else { continue };
            let mut map = ValueMap::default();
            match &result.data {
                Data::Edges(edges) => map = self.facet_values(edges, &item.facet)?,
                Data::Values(values) => {
                    for (node, shown) in values.iter().filter(|(node, _)| live.contains(node)) {
                        let facets = shown.first().and_then(|(_, values)| values.first());
                        if let Some(value) = facets.and_then(|(_, facets)| facets.get(&item.facet))
                        {
                            map.of.insert(*node, value.clone());
                        }
                    }
                }
                _ => {}
            }
            add_values(published, var, map);
        }
        Ok(())
    }

    /// The values of a facet by the node that the edge leads to.
    pub fn facet_values(&self, edges: &Edges, facet: &str) -> Outcome<ValueMap> {
        let mut map = ValueMap::default();
        for (node, list) in &edges.lists {
            for target in list {
                let facets = self.edge_facets(&edges.name, edges.reverse, *node, *target);
                if let Some(value) = facets.get(facet) {
                    add_facet(&mut map, *target, value)?;
                }
            }
        }
        Ok(map)
    }

    fn field_values(&self, result: &TwinOutcome, live: &BTreeSet<u64>) -> Outcome<ValueMap> {
        let (FieldKind::Predicate { name, langs, .. }, Data::Values(values)) =
            (&result.field.kind, &result.data)
        else {
            return Ok(ValueMap::default());
        };
        if self.definition(name).is_some_and(|definition| definition.list) {
            return refuse("a variable for a list");
        }
        let first = |node: u64, shown: &Vec<super::state::Shown>| match langs.is_empty() {
            true => Some(self.first_untagged(node, name).first()?.0.clone()),
            false => Some(shown.first()?.1.first()?.0.clone()),
        };
        let live = values.iter().filter(|(node, _)| live.contains(node));
        let of = live.filter_map(|(node, shown)| Some((*node, first(*node, shown)?))).collect();
        Ok(ValueMap { of, constant: None })
    }
}

/// Several edges to one node are summed.
fn add_facet(map: &mut ValueMap, target: u64, value: &Value) -> Outcome<()> {
    let sum = match (map.of.get(&target), value) {
        (None, value) => value.clone(),
        (Some(one), other) => match (level::number(one), level::number(other)) {
            (Some(_), Some(_)) => super::aggregate::sum(&[one.clone(), other.clone()])?,
            _ => return refuse("a facet of several edges that is no number"),
        },
    };
    map.of.insert(target, sum);
    Ok(())
}

fn add_nodes(published: &mut Published, var: VarId, nodes: BTreeSet<u64>) {
    let mut all = nodes;
    if let Some(Var::Nodes(existing, _)) = published.get(&var) {
        all.extend(existing);
    }
    published.insert(var, Var::Nodes(all, None));
}

/// Adds values; what a node has already, from a level before, stays.
pub fn add_values(published: &mut Published, var: VarId, map: ValueMap) {
    let mut all = map;
    if let Some(Var::Values(existing)) = published.get(&var) {
        all.of.extend(existing.of.clone());
        all.constant = existing.constant.clone().or(all.constant);
    }
    published.insert(var, Var::Values(all));
}
