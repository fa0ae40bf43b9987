//! `@cascade`: nodes without a required field go, from the leaves up; then lists are paged.

use super::order::cut;
use super::state::{Data, Level, TwinOutcome};
use hexgraph::internals::plan::{Block, Cascade, Field, FieldKind, Page};

/// Drops what has to go from a level and those below.
pub fn cascade(level: &mut Level, inherited: Option<&Cascade>) {
    for result in &mut level.fields {
        let Data::Edges(edges) = &mut result.data else { continue };
        let own = result.field.cascade.as_ref().or(inherited);
        cascade(&mut edges.below, own);
        if own.is_some() {
            let page = Page { after: 0, ..result.field.page };
            for list in edges.lists.values_mut() {
                list.retain(|target| !edges.below.dead.contains(target));
                *list = cut(list, page);
            }
        }
    }
    let Some(expected) = inherited else { return };
    let required: Vec<&TwinOutcome> =
        level.fields.iter().filter(|result| is_required(&result.field, expected)).collect();
    let lacks = |node: &u64| required.iter().any(|result| !has_result(result, *node));
    level.dead = level.nodes.iter().copied().filter(lacks).collect();
}

/// True for a block with a `@cascade` anywhere.
pub fn is_in(block: &Block) -> bool {
    fn below(field: &Field) -> bool {
        field.cascade.is_some() || field.fields.iter().any(|field| below(field))
    }
    block.cascade.is_some() || block.fields.iter().any(|field| below(field))
}

fn is_required(field: &Field, cascade: &Cascade) -> bool {
    let FieldKind::Predicate { name, reverse, .. } = &field.kind else { return false };
    let written = if *reverse { format!("~{name}") } else { name.clone() };
    match cascade {
        Cascade::All => true,
        Cascade::Fields(names) => names.contains(&written),
        // No text says positions.
        Cascade::Positions(_) => unreachable!("DQL names fields"),
    }
}

fn has_result(result: &TwinOutcome, node: u64) -> bool {
    match &result.data {
        Data::Edges(edges) => edges.lists.get(&node).is_some_and(|list| !list.is_empty()),
        Data::Values(values) => values.contains_key(&node),
        _ => false,
    }
}
