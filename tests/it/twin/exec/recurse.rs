//! `@recurse`: the same fields level by level, no edge twice unless loops are allowed.

use super::state::{Data, Edges, Failure, Level, Outcome, Twin, TwinOutcome, refuse};
use hexgraph::internals::plan::{Block, Field, FieldKind, Page, Recurse};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The edges that were walked: predicate, direction, from, to.
type Walked = BTreeSet<(String, bool, u64, u64)>;

/// More levels than any graph of the test needs, unless it loops.
const LEVELS_MAX: u64 = 100;

/// More edges take too long.
const EDGES_MAX: usize = 20_000;

impl Twin<'_> {
    /// The tree of a block.
    pub fn recurse(
        &mut self,
        block: &Block,
        recurse: &Recurse,
        roots: BTreeSet<u64>,
    ) -> Outcome<Level> {
        if recurse.allow_loop && recurse.depth == 0 {
            return refuse("a loop without a depth");
        }
        let mut root = Level { nodes: roots, ..Level::default() };
        let mut walked = Walked::new();
        let mut edges = 0;
        let mut positions: Vec<Vec<usize>> = vec![Vec::new()];
        let mut depth = 1;
        while !positions.is_empty() && (recurse.depth == 0 || depth <= recurse.depth) {
            let mut next = Vec::new();
            for position in positions {
                let level = level_mut(&mut root, &position);
                let last = depth == recurse.depth;
                level.fields =
                    self.recurse_fields(block, recurse, &level.nodes, last, &mut walked)?;
                for (number, result) in level.fields.iter().enumerate() {
                    let Data::Edges(below) = &result.data else { continue };
                    edges += below.lists.values().map(Vec::len).sum::<usize>();
                    if !below.below.nodes.is_empty() {
                        next.push([position.as_slice(), &[number]].concat());
                    }
                }
            }
            if EDGES_MAX < edges || LEVELS_MAX < depth {
                return Err(Failure::Undecided);
            }
            positions = next;
            depth += 1;
        }
        Ok(root)
    }

    fn recurse_fields(
        &mut self,
        block: &Block,
        recurse: &Recurse,
        nodes: &BTreeSet<u64>,
        last: bool,
        walked: &mut Walked,
    ) -> Outcome<Vec<TwinOutcome>> {
        let mut all = Vec::new();
        for field in self.expanded(&block.fields, nodes)? {
            let Some((name, reverse)) = self.edges_of(&field) else {
                let facets = field.facets.clone().filter(|_| !last);
                let field = Arc::new(Field { facets, ..Field::clone(&field) });
                all.extend(self.level(nodes.clone(), &[field], None)?.fields);
                continue;
            };
            if reverse && !self.graph.schema.predicates[&name].reverse {
                return refuse("no reverse edges");
            }
            let page = if block.cascade.is_some() { Page::default() } else { field.page };
            let mut lists = self.lists(&field, nodes, &name, reverse, page)?;
            for (node, list) in &mut lists {
                list.retain(|target| {
                    recurse.allow_loop || walked.insert((name.clone(), reverse, *node, *target))
                });
            }
            let mut result = edge_field(field, name, reverse, lists);
            if let (Data::Edges(edges), true) = (&mut result.data, last) {
                edges.below.fields = self.beyond_last(block, &edges.below.nodes)?;
            }
            all.push(result);
        }
        Ok(all)
    }

    /// What the nodes after the last level have: what is computed for them, and for `@cascade`
    /// nothing of what is read.
    fn beyond_last(&mut self, block: &Block, nodes: &BTreeSet<u64>) -> Outcome<Vec<TwinOutcome>> {
        let is_computed = |field: &&Arc<Field>| {
            use FieldKind::{AggregateVar, CountUid, Math, Val};
            matches!(field.kind, Val(_) | Math(_) | CountUid | AggregateVar(..))
        };
        let computed: Vec<_> = block.fields.iter().filter(is_computed).cloned().collect();
        let mut all = self.level(nodes.clone(), &computed, None)?.fields;
        let read =
            block.fields.iter().filter(|field| !is_computed(field) && block.cascade.is_some());
        // A variable has what the levels before gave it.
        let unread = |field: &Arc<Field>| Arc::new(Field { var: None, ..Field::clone(field) });
        all.extend(read.map(|field| TwinOutcome { field: unread(field), data: Data::Nothing }));
        Ok(all)
    }

    fn edges_of(&self, field: &Field) -> Option<(String, bool)> {
        let FieldKind::Predicate { name, reverse, .. } = &field.kind else { return None };
        let definition = self.definition(name)?;
        definition.is_edges().then(|| (name.clone(), *reverse))
    }
}

fn edge_field(
    field: Arc<Field>,
    name: String,
    reverse: bool,
    lists: BTreeMap<u64, Vec<u64>>,
) -> TwinOutcome {
    let nodes = lists.values().flatten().copied().collect();
    let below = Level { nodes, ..Level::default() };
    TwinOutcome {
        field,
        data: Data::Edges(Box::new(Edges { name, reverse, lists, below, groups: None })),
    }
}

fn level_mut<'t>(root: &'t mut Level, position: &[usize]) -> &'t mut Level {
    position.iter().fold(root, |level, number| match &mut level.fields[*number].data {
        Data::Edges(edges) => &mut edges.below,
        _ => panic!("places lead over edges"),
    })
}
