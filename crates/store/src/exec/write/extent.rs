//! Bounds the length of an answer before it is written.
//!
//! A level has each of its nodes once, and an answer shows a node once for each path to
//! it: 50 levels over a circle of two nodes that know each other and themselves are 100 nodes, and
//! 2^50 objects. So the objects are counted first, from the top down: each node of a level gets the
//! number of paths to it, which is the sum of those of the nodes that lead there.
//!
//! ```text
//!   level 0   a 1   b 1                 a → a b,  b → a b
//!   level 1   a 2   b 2
//!   level 2   a 4   b 4                 objects: 2 + 4 + 8
//! ```
//!
//! That costs a step for each edge of the levels, as much as to write each of them once. It is not
//! done where a bound that costs a step for each level is enough: a level whose nodes are as
//! many as its edges has no more paths to a node than the level above.

use crate::exec::control::options::ExecOptions;
use crate::exec::control::tree::{BlockResult, EdgeField, FieldData, Level, is_visible};
use hexgraph_base::plan::Query;
use hexgraph_base::types::{Error, Result};

/// The bytes of an object at the least, as far as time goes: one that shows nothing is tried, too.
const OBJECT_BYTES: u64 = 8;

/// Checks that the answer of the blocks can be written within the bytes of its options. It runs
/// once for each answer that is written in full, in DQL and in GraphQL, and what it allows may
/// still be refused while it is written: values and most names are not counted here.
///
/// # Errors
///
/// [`Error::Limit`] when it has too many objects for that.
pub(crate) fn check(query: &Query, options: ExecOptions, blocks: &[BlockResult]) -> Result<()> {
    let shown = blocks.iter().filter(|result| {
        let block = &query.blocks[result.block];
        // Which paths `@ignorereflex` leaves out is determined when they are walked. `@normalize`
        // walks all, and bounds only what it makes of them.
        is_visible(block) && !block.ignore_reflex && result.groups.is_none()
    });
    let most = options.result;
    let mut bound = 0_u64;
    for result in shown.clone() {
        // A root may be listed several times; of one node alone at most as often as there are
        // repeats.
        // A list of uids or a path may name a node several times; the level has it once.
        let repeats = result.roots.len().saturating_sub(result.level.nodes.len()) as u64;
        let extent = at_most(&result.level, 1 + repeats, result.roots.len() as u64);
        bound = bound.saturating_add(extent);
    }
    if bound <= most {
        return Ok(());
    }
    let mut bytes = 0_u64;
    for result in shown {
        bytes = bytes.saturating_add(block_bytes(result, most));
        if most < bytes {
            let message = format!(
                "the answer has more than {} objects, and at most {most} bytes are written: ask \
                 for fewer levels or nodes, or raise the limit `result`",
                most / OBJECT_BYTES
            );
            return Err(Error::Limit { message });
        }
    }
    Ok(())
}

/// The levels of a selection that show objects. `@groupby` shows a group for many nodes, and a
/// level without fields shows nothing.
fn shown_edges(level: &Level) -> impl Iterator<Item = &EdgeField> {
    let edges = level.fields.iter().filter_map(|result| result.data.edges());
    edges.filter(|edges| edges.groups.is_none() && !edges.level.fields.is_empty())
}

/// An upper bound of the bytes that the objects of a level and below have, if there are at most so
/// many, with at most `paths` paths to each node. O(levels). Where a level repeats nodes, all of
/// its objects may be of one node, so their number bounds the paths to each.
fn at_most(level: &Level, paths: u64, objects: u64) -> u64 {
    let (mut levels, mut sum) = (vec![(level, paths, objects)], 0_u64);
    while let Some((level, paths, objects)) = levels.pop() {
        sum = sum.saturating_add(objects.saturating_mul(object_bytes(level)));
        levels.extend(shown_edges(level).map(|edges| {
            let repeated = edges.level.nodes.len() < edges.targets.len();
            // Each path to a node goes on along each of its edges, which are all listed.
            let objects = paths.saturating_mul(edges.targets.len() as u64);
            let paths = if repeated { objects } else { paths };
            (&edges.level, paths, objects)
        }));
    }
    sum
}

/// The bytes of the objects of a block at the least; it does not count much further than `most`.
fn block_bytes(result: &BlockResult, most: u64) -> u64 {
    let level = &result.level;
    let mut paths = vec![0_u64; level.nodes.len()];
    for position in result.roots.iter().filter_map(|&root| level.position(root)) {
        paths[position] += 1;
    }
    level_bytes(level, paths, most)
}

/// The bytes of the objects of a level and below; `paths` has the number of paths to each node, by
/// its position. A node that `@cascade` has removed has no object, and neither has what is below it
/// alone.
fn level_bytes<'a>(level: &'a Level, paths: Vec<u64>, most: u64) -> u64 {
    let (mut levels, mut bytes) = (vec![(level, paths)], 0_u64);
    while let Some((level, mut paths)) = levels.pop() {
        if most < bytes {
            return bytes;
        }
        if level.alive.is_some() {
            let positions = paths.iter_mut().enumerate();
            positions
                .filter(|(position, _)| !level.is_alive(*position))
                .for_each(|(_, paths)| *paths = 0);
        }
        let objects = paths.iter().fold(0_u64, |sum, &paths| sum.saturating_add(paths));
        bytes = bytes.saturating_add(objects.saturating_mul(object_bytes(level)));
        let below = |edges: &'a EdgeField| (&edges.level, paths_below(edges, &paths));
        levels.extend(shown_edges(level).map(below));
    }
    bytes
}

fn paths_below(edges: &EdgeField, paths: &[u64]) -> Vec<u64> {
    let mut below = vec![0_u64; edges.level.nodes.len()];
    for (position, &paths) in paths.iter().enumerate().filter(|(_, paths)| 0 < **paths) {
        // Targets are mostly in the order of their level, so each position is guessed from the one
        // before.
        let mut next = 0;
        for &target in edges.targets_of(position) {
            let Some(position) = edges.level.position_near(target, next) else { continue };
            next = position + 1;
            below[position] = below[position].saturating_add(paths);
        }
    }
    below
}

/// The bytes that each object of a level has for certain.
fn object_bytes(level: &Level) -> u64 {
    let certain = level.fields.iter().map(|result| match &result.data {
        FieldData::Uid => result.field.key.len() as u64 + 12,
        FieldData::Counts(_) | FieldData::Passwords(_) => result.field.key.len() as u64 + 4,
        FieldData::Nothing
        | FieldData::Values(_)
        | FieldData::Edges(_)
        | FieldData::CountUid
        | FieldData::Column(_) => 0,
    });
    certain.sum::<u64>().max(OBJECT_BYTES)
}
