//! `shortest`: all loop-free paths are listed, then sorted by weight. Where that would take too
//! long, or paths of one weight leave a choice, the answer is undecided.

use super::level::number;
use super::state::{Failure, Outcome, Path, Twin, Var, refuse};
use hexgraph::internals::plan::{Block, Endpoint, Field, FieldKind, ShortestPath};
use std::collections::{BTreeMap, BTreeSet};

/// The hops that a node has: to which node, at what weight, by which field.
type Hops = BTreeMap<u64, BTreeMap<u64, (f64, usize)>>;

/// The most steps of the search.
const STEPS_MAX: usize = 20_000;

impl Twin<'_> {
    /// The paths of a block; sets its variable.
    pub fn shortest(&mut self, block: &Block, ends: &ShortestPath) -> Outcome<Vec<Path>> {
        let from = self.endpoint(ends.from)?;
        let to = self.endpoint(ends.to)?;
        let paths = match (from, to) {
            (Some(from), Some(to)) if from == to => {
                let too_light = 1 < ends.paths && ends.weight_min.is_some_and(|least| 0.0 < least);
                match too_light || ends.depth == Some(0) {
                    true => Vec::new(),
                    false => vec![Path { nodes: vec![from], hops: Vec::new(), weight: 0.0 }],
                }
            }
            (Some(from), Some(to)) => self.paths(block, ends, from, to)?,
            _ => Vec::new(),
        };
        if let Some(var) = block.var {
            let path = paths.first().map(|path| path.nodes.clone()).unwrap_or_default();
            let nodes = path.iter().copied().collect();
            self.vars.insert(var, Var::Nodes(nodes, Some(path)));
        }
        Ok(paths)
    }

    fn endpoint(&self, end: Option<Endpoint>) -> Outcome<Option<u64>> {
        match end {
            None => refuse("a path needs two ends"),
            Some(Endpoint::Uid(uid)) => Ok(Some(uid)),
            Some(Endpoint::Var(var)) => {
                let nodes = self.nodes_of(var);
                match nodes.len() {
                    0 | 1 => Ok(nodes.first().copied()),
                    _ => refuse("one node at each end"),
                }
            }
        }
    }

    fn paths(&self, block: &Block, ends: &ShortestPath, from: u64, to: u64) -> Outcome<Vec<Path>> {
        let hops = self.all_hops(block, from, ends.depth)?;
        // Which path is least is no question where going in circles makes it less.
        if hops.values().flatten().any(|(_, (weight, _))| *weight < 0.0) {
            return Err(Failure::Undecided);
        }
        let start = Path { nodes: vec![from], hops: Vec::new(), weight: 0.0 };
        let mut steps = 0;
        let mut result = Vec::new();
        extend(&hops, start, to, &mut result, &mut steps)?;
        result.sort_by(|one, other| one.weight.total_cmp(&other.weight));
        let several = 1 < ends.paths;
        if several {
            result.retain(|path| {
                ends.weight_min.is_none_or(|least| least <= path.weight)
                    && ends.weight_max.is_none_or(|most| path.weight <= most)
            });
        }
        let count = if several { ends.paths as usize } else { 1 };
        let is_tied = |pair: &[Path]| (pair[0].weight - pair[1].weight).abs() < 1e-9;
        if result.windows(2).take(count).any(is_tied) {
            return Err(Failure::Undecided);
        }
        result.truncate(count);
        Ok(result)
    }

    /// The hops of all nodes that are fewer hops than `depth` from the start.
    fn all_hops(&self, block: &Block, from: u64, depth: Option<i64>) -> Outcome<Hops> {
        let mut hops = Hops::new();
        let mut layer = BTreeSet::from([from]);
        let mut left = depth;
        while !layer.is_empty() && left != Some(0) {
            let mut next = BTreeSet::new();
            for node in layer {
                let own = self.hops(block, node)?;
                next.extend(own.keys().copied());
                hops.insert(node, own);
            }
            layer = next.into_iter().filter(|node| !hops.contains_key(node)).collect();
            left = left.map(|left| left - 1);
        }
        Ok(hops)
    }

    /// The hops of a node; of two fields that lead to the same node the last one counts.
    fn hops(&self, block: &Block, node: u64) -> Outcome<BTreeMap<u64, (f64, usize)>> {
        let mut hops = BTreeMap::new();
        for (position, field) in block.fields.iter().enumerate() {
            let FieldKind::Predicate { name, reverse, .. } = &field.kind else { continue };
            let Some(definition) = self.definition(name) else { continue };
            if !definition.is_edges() {
                continue;
            }
            if *reverse && !definition.reverse {
                return refuse("no reverse edges");
            }
            let facet = weight_facet(field)?;
            let nodes = BTreeSet::from([node]);
            let lists = self.lists(field, &nodes, name, *reverse, field.page)?;
            for target in lists.into_values().flatten() {
                let facets = self.edge_facets(name, *reverse, node, target);
                let weight = match facet {
                    None => Some(1.0),
                    Some(facet) => facets.get(facet).and_then(number),
                };
                if let Some(weight) = weight {
                    hops.insert(target, (weight, position));
                }
            }
        }
        Ok(hops)
    }
}

fn weight_facet(field: &Field) -> Outcome<Option<&str>> {
    match field.facets.as_ref().map_or(&[][..], |facets| &facets.items) {
        [] => Ok(None),
        [item] => Ok(Some(&item.facet)),
        _ => refuse("one facet is the weight"),
    }
}

fn extend(
    hops: &Hops,
    path: Path,
    to: u64,
    result: &mut Vec<Path>,
    steps: &mut usize,
) -> Outcome<()> {
    *steps += 1;
    if STEPS_MAX < *steps {
        return Err(Failure::Undecided);
    }
    let last = *path.nodes.last().unwrap();
    if last == to {
        result.push(path);
        return Ok(());
    }
    for (target, (weight, field)) in hops.get(&last).into_iter().flatten() {
        if path.nodes.contains(target) {
            continue;
        }
        let mut longer = path.clone();
        longer.nodes.push(*target);
        longer.hops.push(*field);
        longer.weight += weight;
        extend(hops, longer, to, result, steps)?;
    }
    Ok(())
}
