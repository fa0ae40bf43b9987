//! `var(func: f) { one as math(1) e { g { n as math(one) } } }`: a constant that flows down a chain
//! of edges becomes the number of paths to a node, times the constant. The paths are counted edge
//! by edge, and no level is listed.

use super::{Rewrite, lists_uids, takes_all_roots};
use crate::exec::access_path::BlockPath;
use crate::exec::control::context::Context;
use hexgraph_base::plan::{Block, BlockKind, Constant, Field, FieldKind, MathExpr, VarId};

pub(super) const REWRITE: Rewrite = Rewrite {
    name: "count_paths",
    before: BlockPath::Walk,
    after: BlockPath::CountPaths,
    holds: counts_paths,
};

/// True for a hidden block that has a constant flow down a chain of edges, with no other request
/// than what arrives.
fn counts_paths(context: &Context<'_>, block: &Block) -> bool {
    let Some(chain) = Chain::of(block) else { return false };
    let is_read =
        |other: &Block| !std::ptr::eq(other, block) && other.reads.contains(&chain.source);
    block.kind == BlockKind::Hidden
        && !block.ignore_reflex
        && takes_all_roots(block)
        && !lists_uids(block)
        && !context.query.blocks.iter().any(is_read)
}

/// A constant that flows down a chain of edges, one below the other.
pub(crate) struct Chain<'b> {
    /// The constant.
    pub(crate) constant: i64,
    /// The variable of the constant.
    pub(crate) source: VarId,
    /// The edge fields, from the roots down.
    pub(crate) edges: Vec<&'b Field>,
    /// The variable of what arrives.
    pub(crate) result: VarId,
}

impl<'b> Chain<'b> {
    /// The chain that a block consists of; `None` for any other block. Looks at the fields alone.
    pub(crate) fn of(block: &'b Block) -> Option<Chain<'b>> {
        let [one, other] = block.fields.as_slice() else { return None };
        let ((source, constant), mut edge) = match (constant_of(one), constant_of(other)) {
            (Some(constant), None) => (constant, other),
            (None, Some(constant)) => (constant, one),
            _ => return None,
        };
        let mut edges = Vec::new();
        loop {
            let FieldKind::Predicate { langs, .. } = &edge.kind else { return None };
            let [below] = edge.fields.as_slice() else { return None };
            if !langs.is_empty() || edge.var.is_some() || !edge.takes_all() {
                return None;
            }
            edges.push(&**edge);
            if below.kind == FieldKind::Math(MathExpr::Var(source)) {
                let result = below.var.filter(|_| below.takes_all())?;
                return Some(Chain { constant, source, edges, result });
            }
            edge = below;
        }
    }
}

/// The variable of a field that is a constant int, and the int.
fn constant_of(field: &Field) -> Option<(VarId, i64)> {
    let FieldKind::Math(MathExpr::Constant(Constant::Int(constant))) = &field.kind else {
        return None;
    };
    Some((field.var.filter(|_| field.takes_all())?, *constant))
}
