//! Computed fields: `val`, aggregates over the level below, `math`. A position in the tree is the
//! numbers of the fields that lead to it.

use super::aggregate::{aggregate, sum};
use super::level::number;
use super::math;
use super::state::{Data, Level, Outcome, Twin, TwinOutcome, ValueMap, Var, refuse};
use hexgraph::internals::plan::{Aggregate, Field, FieldKind, MathExpr, VarId};
use hexgraph::types::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The levels where variables of a block are defined.
type Homes = BTreeMap<VarId, Vec<usize>>;

impl Twin<'_> {
    /// Fills in the computed fields of a tree, each when what it reads is known.
    pub fn compute(&mut self, root: &mut Level) -> Outcome<()> {
        let mut homes = Homes::new();
        let mut waiting = Vec::new();
        survey(root, &mut Vec::new(), &mut homes, &mut waiting);
        while !waiting.is_empty() {
            let is_ready = |path: &Vec<usize>| {
                let reads = reads_of(&result_at(root, path).field.kind);
                reads.iter().all(|var| self.vars.contains_key(var) || !homes.contains_key(var))
            };
            let Some(next) = waiting.iter().position(is_ready) else {
                return refuse("variables that wait for each other");
            };
            let path = waiting.remove(next);
            let map = self.computed(root, &path, &homes)?;
            let result = found_at_mut(root, &path);
            if let Some(var) = result.field.var {
                self.vars.insert(var, Var::Values(map.clone()));
            }
            result.data = Data::Computed(map);
        }
        Ok(())
    }

    fn computed(&self, root: &Level, path: &[usize], homes: &Homes) -> Outcome<ValueMap> {
        let above = &path[..path.len() - 1];
        let level = level_at(root, above);
        match &result_at(root, path).field.kind {
            // Of a variable of nodes nothing is shown.
            FieldKind::Val(var) => match self.vars.get(var) {
                Some(Var::Values(map)) => Ok(map.clone()),
                _ => Ok(ValueMap::default()),
            },
            FieldKind::AggregateVar(op, var) => {
                let map = self.values_of(*var)?;
                match homes.get(var).map(Vec::as_slice) {
                    Some([start @ .., last]) if start == above => {
                        below(level, &level.fields[*last], *op, &map)
                    }
                    _ => refuse("an aggregate of another level"),
                }
            }
            FieldKind::Math(expr) => math::evaluate(expr, Some(&level.nodes), &|var| {
                let map = self.values_of(var)?;
                match homes.get(&var) {
                    Some(home) if home.len() < above.len() && above.starts_with(home) => {
                        carried(level_at(root, home), &above[home.len()..], &map)
                    }
                    _ => Ok(map),
                }
            }),
            _ => Ok(ValueMap::default()),
        }
    }

    /// The fields of an empty block, one after the other.
    pub fn compute_empty(&mut self, fields: &[Arc<Field>]) -> Outcome<Level> {
        let mut level = Level::default();
        for field in fields {
            let constant = match &field.kind {
                FieldKind::AggregateVar(op, var) => {
                    let map = self.values_of(*var)?;
                    let values: Vec<Value> = map.of.into_values().collect();
                    match map.constant {
                        Some(value) if matches!(op, Aggregate::Algebraic(_)) => Some(value),
                        Some(value) => aggregate(*op, &[value])?,
                        None => aggregate(*op, &values)?,
                    }
                }
                FieldKind::Math(expr) => {
                    let lookup = |var| self.values_of(var);
                    let map = math::evaluate(expr, None, &lookup)?;
                    if !map.of.is_empty() {
                        return refuse("math over nodes where there are none");
                    }
                    map.constant
                }
                _ => None,
            };
            let map = ValueMap { constant, ..ValueMap::default() };
            if let Some(var) = field.var {
                self.vars.insert(var, Var::Values(map.clone()));
            }
            level.fields.push(TwinOutcome { field: Arc::clone(field), data: Data::Computed(map) });
        }
        Ok(level)
    }
}

/// An aggregate over the targets of each node.
fn below(level: &Level, hit: &TwinOutcome, op: Aggregate, map: &ValueMap) -> Outcome<ValueMap> {
    let Data::Edges(edges) = &hit.data else { return Ok(ValueMap::default()) };
    let mut result = ValueMap::default();
    for node in &level.nodes {
        let targets = edges.lists.get(node).into_iter().flatten();
        let values: Vec<Value> = targets.filter_map(|target| map.get(*target).cloned()).collect();
        if let Some(value) = aggregate(op, &values)? {
            result.of.insert(*node, value);
        }
    }
    Ok(result)
}

/// Numbers taken down the edges: every path from a node with a value adds it to where it ends.
fn carried(level: &Level, path: &[usize], map: &ValueMap) -> Outcome<ValueMap> {
    if map.constant.is_some() {
        return Ok(map.clone());
    }
    let mut arrived: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    for (node, value) in map.of.iter().filter(|(_, value)| number(value).is_some()) {
        if level.nodes.contains(node) {
            for end in ends_of(level, path, *node) {
                arrived.entry(end).or_default().push(value.clone());
            }
        }
    }
    let mut of = BTreeMap::new();
    for (node, values) in arrived {
        of.insert(node, sum(&values)?);
    }
    Ok(ValueMap { of, constant: None })
}

/// Where the paths from a node end, each as often as paths lead there.
fn ends_of(level: &Level, path: &[usize], node: u64) -> Vec<u64> {
    let [number, rest @ ..] = path else { return vec![node] };
    let Data::Edges(edges) = &level.fields[*number].data else { return Vec::new() };
    let targets = edges.lists.get(&node).into_iter().flatten();
    targets.flat_map(|target| ends_of(&edges.below, rest, *target)).collect()
}

fn survey(level: &Level, path: &mut Vec<usize>, homes: &mut Homes, waiting: &mut Vec<Vec<usize>>) {
    for (position, result) in level.fields.iter().enumerate() {
        let here = path.clone();
        path.push(position);
        let edges = match &result.data {
            Data::Edges(edges) => Some(edges),
            _ => None,
        };
        let home = if edges.is_some() { path.clone() } else { here };
        let items = result.field.facets.iter().flat_map(|facets| &facets.items);
        for var in items.filter_map(|item| item.var).chain(result.field.var) {
            homes.insert(var, home.clone());
        }
        use FieldKind::{AggregateVar, Math, Val};
        if matches!(result.field.kind, Val(_) | AggregateVar(..) | Math(_)) {
            waiting.push(path.clone());
        }
        if let Some(edges) = edges {
            survey(&edges.below, path, homes, waiting);
        }
        path.pop();
    }
}

fn reads_of(kind: &FieldKind) -> Vec<VarId> {
    fn math_reads(expr: &MathExpr) -> Vec<VarId> {
        match expr {
            MathExpr::Constant(_) | MathExpr::Value(_) => Vec::new(),
            MathExpr::Var(var) => vec![*var],
            MathExpr::Call(_, operands) => operands.iter().flat_map(math_reads).collect(),
        }
    }
    match kind {
        FieldKind::Val(var) | FieldKind::AggregateVar(_, var) => vec![*var],
        FieldKind::Math(expr) => math_reads(expr),
        _ => Vec::new(),
    }
}

fn level_at<'t>(root: &'t Level, path: &[usize]) -> &'t Level {
    path.iter().fold(root, |level, position| match &level.fields[*position].data {
        Data::Edges(edges) => &edges.below,
        _ => panic!("paths lead over edges"),
    })
}

fn result_at<'t>(root: &'t Level, path: &[usize]) -> &'t TwinOutcome {
    let (last, above) = path.split_last().unwrap();
    &level_at(root, above).fields[*last]
}

fn found_at_mut<'t>(root: &'t mut Level, path: &[usize]) -> &'t mut TwinOutcome {
    let (last, above) = path.split_last().unwrap();
    let level =
        above.iter().fold(root, |level, position| match &mut level.fields[*position].data {
            Data::Edges(edges) => &mut edges.below,
            _ => panic!("paths lead over edges"),
        });
    &mut level.fields[*last]
}
