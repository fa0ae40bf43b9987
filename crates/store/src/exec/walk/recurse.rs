//! `@recurse`: the same fields at every level, breadth first, each edge once.

use super::lists::distinct;
use super::traverse::{Inherited, Walk};
use crate::exec::choose::function::no_reverse;
use crate::exec::control::context::Context;
use crate::exec::control::limits::past_limit;
use crate::exec::control::tree::{EdgeField, FieldData, FieldResult, Level};
use hexgraph_base::plan::{Block, Field, FieldKind, Page, Recurse};
use hexgraph_base::types::{Error, Result};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The bytes of a field of a level, in a list that may be half empty.
const FIELD_BYTES: usize = 2 * size_of::<FieldResult>();

/// The edges that have been walked.
#[derive(Default)]
struct Walked {
    /// Predicate and direction: the position in it distinguishes the edges of one from those of
    /// another, since `expand` gives each level other fields.
    kinds: Vec<(Arc<str>, bool)>,
    /// Position in `kinds`, from, to.
    edges: FxHashSet<(u32, u32, u32)>,
}

impl Walked {
    /// The position of a predicate and direction.
    fn kind(&mut self, name: &str, reverse: bool) -> u32 {
        let existing = |(other, way): &(Arc<str>, bool)| &**other == name && *way == reverse;
        let position = self.kinds.iter().position(existing).unwrap_or_else(|| {
            self.kinds.push((name.into(), reverse));
            self.kinds.len() - 1
        });
        position as u32
    }
}

impl Context<'_> {
    /// Evaluates a `@recurse` block from its roots.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for a nested selection, or a loop without a depth; [`Error::Limit`] past
    /// the limits `edges` and `levels`.
    pub(crate) fn recurse(
        &mut self,
        block: &Block,
        recurse: &Recurse,
        roots: Arc<Vec<u32>>,
    ) -> Result<Level> {
        if let Some(field) = block
            .fields
            .iter()
            .find(|field| !field.fields.is_empty() && !matches!(field.kind, FieldKind::Expand(_)))
        {
            let message = format!("below `@recurse`, `{}` can't have a selection", field.key);
            let hint = "list all predicates in the selection of the block";
            return Err(Error::query_at(field.at, message).with_hint(hint));
        }
        if recurse.allow_loop && recurse.depth == 0 {
            return Err(Error::query("`@recurse` with `loop: true` needs a depth above 0"));
        }
        let mut walked = Walked::default();
        let mut edges = 0;
        let mut root = Level { nodes: roots, ..Level::default() };
        let mut layer = vec![&mut root];
        let mut depth = 1;
        while !layer.is_empty() && (recurse.depth == 0 || depth <= recurse.depth) {
            if self.control.limits().levels < depth {
                let most = self.control.limits().levels;
                return Err(too_deep(most));
            }
            let last = recurse.depth != 0 && depth == recurse.depth;
            let (step, before) = (self.begin("level", "of @recurse", None, None), edges);
            for level in &mut layer {
                self.recurse_level(block, recurse, level, last, &mut walked, &mut edges)?;
            }
            self.end(&step, edges - before);
            // A list of levels and no call for each: the depth is bounded by a limit, not by the
            // stack.
            // Levels that no edge led to have no nodes, and end their branch here.
            layer = layer.into_iter().flat_map(levels_below).collect();
            depth += 1;
        }
        Ok(root)
    }

    fn recurse_level(
        &mut self,
        block: &Block,
        recurse: &Recurse,
        level: &mut Level,
        last: bool,
        walked: &mut Walked,
        edges: &mut usize,
    ) -> Result<()> {
        let fields = self.expand_fields(&block.fields, &level.nodes)?.into_owned();
        for field in &fields {
            if let Some((name, reverse)) = self.edges_of(field) {
                if last && !counts_at_last(block) {
                    // What the field refuses, it refuses at this level, too.
                    self.recurse_edges(block, field, &[], |_, _| false)?;
                    continue;
                }
                let kind = walked.kind(name, reverse);
                let mut result = self.recurse_edges(block, field, &level.nodes, |from, to| {
                    // With loops an edge may be walked again at every level, so none is noted.
                    recurse.allow_loop || walked.edges.insert((kind, from, to))
                })?;
                if last {
                    result.level.fields = self.beyond_last(block, &result.level.nodes)?;
                }
                *edges += result.targets.len();
                // About what is retained of each edge: an entry of `walked`, a target, and a node
                // of the level below.
                self.control.charge(24 * result.targets.len())?;
                let most = self.control.limits().edges;
                if most < *edges as u64 {
                    return Err(past_limit(
                        &format!(
                            "@recurse walked more than {most} edges, give it a depth or a filter"
                        ),
                        "edges",
                    ));
                }
                self.control.charge(size_of::<EdgeField>() + FIELD_BYTES * fields.len())?;
                let data = FieldData::Edges(Box::new(result));
                level.fields.push(FieldResult { field: Arc::clone(field), data });
            } else {
                let one = match last {
                    true => &[without_facets(field)],
                    false => std::slice::from_ref(field),
                };
                let inherited = Inherited::default();
                let hit = self.level(Arc::clone(&level.nodes), one, inherited)?;
                level.fields.extend(hit.fields);
            }
        }
        Ok(())
    }

    /// The fields of the nodes after the last level, none of them read: those that are computed
    /// have a value all the same, the others have none, which `@cascade` sees.
    fn beyond_last(&mut self, block: &Block, nodes: &Arc<Vec<u32>>) -> Result<Vec<FieldResult>> {
        let (computed, read): (Vec<_>, Vec<_>) =
            block.fields.iter().cloned().partition(is_computed);
        let mut fields = self.level(Arc::clone(nodes), &computed, Inherited::default())?.fields;
        if block.cascade.is_some() {
            let nothing = |field| FieldResult { field, data: FieldData::Nothing };
            fields.extend(read.into_iter().map(nothing));
        }
        Ok(fields)
    }

    fn edges_of<'f>(&self, field: &'f Field) -> Option<(&'f str, bool)> {
        let FieldKind::Predicate { name, reverse, .. } = &field.kind else { return None };
        let predicate = self.predicate(name)?;
        predicate.is_edges().then_some((name.as_str(), *reverse))
    }

    fn recurse_edges(
        &mut self,
        block: &Block,
        field: &Arc<Field>,
        nodes: &[u32],
        mut is_new: impl FnMut(u32, u32) -> bool,
    ) -> Result<EdgeField> {
        let (name, reverse) = self.edges_of(field).expect("only fields of edges are walked");
        let predicate = self.predicate(name).ok_or_else(|| no_reverse(name))?;
        let edges = predicate.direction(reverse).ok_or_else(|| no_reverse(name))?;
        let walk = Walk { field, predicate, reverse, edges };
        let page = match block.cascade {
            Some(_) => Page { after: field.page.after, ..Page::default() },
            None => field.page,
        };
        let (offsets, all) = self.walk(nodes, &walk, page)?;
        let mut retained = vec![0];
        let mut targets = Vec::with_capacity(all.len());
        for (position, &node) in nodes.iter().enumerate() {
            let list = &all[offsets[position] as usize..offsets[position + 1] as usize];
            // An edge that was walked before is left out, and not its target: a node may be come
            // to by several edges.
            targets.extend(list.iter().copied().filter(|&target| is_new(node, target)));
            retained.push(targets.len() as u32);
        }
        let level = Level { nodes: distinct(&targets).into(), ..Level::default() };
        let predicate = Arc::clone(predicate);
        let (offsets, groups, is_cascaded) = (retained, None, false);
        Ok(EdgeField { predicate, reverse, offsets, targets, level, groups, is_cascaded })
    }
}

/// The error of a recursion that goes deeper than so many levels.
fn too_deep(most: u64) -> Error {
    let message = format!(
        "@recurse went deeper than {most} levels: give it a smaller `depth`, with which `.flatten()` makes rows of its \
         levels; or ask for nodes and their distances with a block `bfs(source: …)`; or raise the limit `levels`"
    );
    Error::Limit { message }
}

/// True when edges are walked at the last level, too: `@cascade` and variables need them, and so
/// does what is computed for the nodes after them.
fn counts_at_last(block: &Block) -> bool {
    let binds = |field: &Arc<Field>| {
        let mut items = field.facets.iter().flat_map(|facets| &facets.items);
        field.var.is_some() || items.any(|item| item.var.is_some())
    };
    block.cascade.is_some() || block.fields.iter().any(|field| binds(field) || is_computed(field))
}

/// True for fields whose values are not read from a predicate.
fn is_computed(field: &Arc<Field>) -> bool {
    matches!(
        field.kind,
        FieldKind::Val(_) | FieldKind::Math(_) | FieldKind::CountUid | FieldKind::AggregateVar(..)
    )
}

/// A field of the last level, at which facets are not read.
fn without_facets(field: &Arc<Field>) -> Arc<Field> {
    if field.facets.is_none() {
        return Arc::clone(field);
    }
    Arc::new(Field { facets: None, ..Field::clone(field) })
}

fn levels_below(level: &mut Level) -> Vec<&mut Level> {
    let below = level.fields.iter_mut().filter_map(|result| {
        let FieldData::Edges(edges) = &mut result.data else { return None };
        (!edges.targets.is_empty()).then_some(&mut edges.level)
    });
    below.collect()
}
