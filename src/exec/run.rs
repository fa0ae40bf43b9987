//! Runs the blocks of a request in the order that their variables allow.

use super::context::Context;
use super::limits::Control;
use super::output;
use super::traverse::Inherited;
use super::traverse::distinct;
use super::tree::BlockResult;
use super::tree::FieldData;
use super::tree::FieldResult;
use super::tree::Level;
use crate::graph::Version;
use crate::plan::Block;
use crate::plan::BlockKind;
use crate::plan::Call;
use crate::plan::Field;
use crate::plan::FieldKind;
use crate::plan::OrderKey;
use crate::plan::Query;
use crate::plan::VarId;
use crate::types::Error;
use crate::types::Result;
use crate::types::Sink;
use crate::types::Uid;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a request may ask of the executor beside its text.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExecOptions {
    /// Adds the uid to every object.
    pub debug: bool,
}

/// What a request found. Values are read from its version when it is written.
pub struct Answer {
    version: Arc<Version>,
    query: Arc<Query>,
    options: ExecOptions,
    blocks: Vec<BlockResult>,
}

/// Carries out a request on one version of the graph.
///
/// Costs what the blocks touch; it holds the version alive as long as the answer lives.
///
/// # Errors
///
/// [`Error::Query`] for what the schema does not allow, [`Error::Limit`] when `control` says stop.
pub fn execute(
    version: Arc<Version>,
    query: Arc<Query>,
    options: ExecOptions,
    control: &Control,
) -> Result<Answer> {
    let mut blocks = Vec::with_capacity(query.blocks.len());
    {
        let vars = vec![None; query.variables.len()];
        let mut context = Context { version: &version, query: &query, control, vars };
        let mut waiting: Vec<usize> = (0..query.blocks.len()).collect();
        while !waiting.is_empty() {
            let ready = |place: &usize| is_ready(&context, &query.blocks[*place]);
            let Some(next) = waiting.iter().position(ready) else {
                return Err(Error::query(
                    "the query can't be executed: its blocks wait for each other's variables",
                ));
            };
            let place = waiting.remove(next);
            blocks.push(run_block(&mut context, place)?);
        }
    }
    blocks.sort_by_key(|result| result.block);
    Ok(Answer { version, query, options, blocks })
}

impl Answer {
    /// Writes the `data` object: each visible block under its name, paths last.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for a stored value that the schema's type can't hold any more.
    pub fn write(&self, sink: &mut dyn Sink) -> Result<()> {
        if let Some(request) = &self.query.schema {
            sink.begin_object();
            self.version.schema.describe(
                request.predicates.as_deref(),
                request.types.as_deref(),
                &request.fields,
                sink,
            );
            sink.end_object();
            return Ok(());
        }
        output::write(&self.version, &self.query, self.options, &self.blocks, sink)
    }

    /// The uid of the last root node of a block, by the block's place in the plan.
    pub fn last_root(&self, block: usize) -> Option<Uid> {
        let result = self.blocks.iter().find(|result| result.block == block)?;
        result.roots.last().map(|&node| self.version.nodes.uid(node))
    }

    /// The number of nodes that the request looked at, over all levels.
    pub fn touched(&self) -> u64 {
        self.blocks.iter().map(|result| output::touched(&result.level)).sum()
    }
}

/// True when every variable that the block reads is known, or defined by the block itself.
fn is_ready(context: &Context<'_>, block: &Block) -> bool {
    let known = |var: &VarId| context.vars[var.0 as usize].is_some();
    let early = |key: &OrderKey| matches!(key, OrderKey::Var { var, .. } if !known(var));
    !block.order.iter().any(early)
        && block.reads.iter().all(|var| known(var) || block.defines.binary_search(var).is_ok())
}

fn run_block(context: &mut Context<'_>, place: usize) -> Result<BlockResult> {
    let query = context.query;
    let block = &query.blocks[place];
    let mut result = BlockResult {
        block: place,
        roots: Vec::new(),
        count: None,
        level: Level::default(),
        groups: None,
        paths: Vec::new(),
    };
    match &block.kind {
        BlockKind::Empty => result.level = context.compute_empty(&block.fields)?,
        BlockKind::Shortest(ends) => result.paths = context.shortest(block, ends)?,
        BlockKind::Visible | BlockKind::Hidden => run_nodes(context, block, &mut result)?,
    }
    // A block whose variable found nothing still defines it.
    for var in &block.defines {
        let known = &mut context.vars[var.0 as usize];
        if known.is_none() {
            *known = Some(super::context::Var::uids(Default::default()));
        }
    }
    Ok(result)
}

fn run_nodes(context: &mut Context<'_>, block: &Block, result: &mut BlockResult) -> Result<()> {
    if only_counts(block) {
        return count_nodes(context, block, result);
    }
    result.roots = context.block_roots(block)?;
    let nodes = distinct(&result.roots);
    if let Some(var) = block.var {
        context.set_var(var, super::context::Var::uids(nodes.clone().into()));
    }
    if let Some(group_by) = &block.group_by {
        let groups = context.groups(group_by, &block.fields, &nodes)?;
        let mut found = BTreeMap::new();
        context.publish_group_body(
            &block.fields,
            group_by.keys.len(),
            groups.iter(),
            &mut found,
        )?;
        for (var, value) in found {
            context.set_var(var, value);
        }
        result.groups = Some(groups);
        return Ok(());
    }
    result.level = match &block.recurse {
        Some(recurse) => context.recurse(block, recurse, nodes)?,
        None => {
            let inherited = Inherited { cascade: block.cascade.as_ref(), depth: 0 };
            context.level(nodes, &block.fields, inherited)?
        }
    };
    if block.cascade.is_some() || block.fields.iter().any(|field| has_cascade(field)) {
        context.cascade(&mut result.level, block.cascade.as_ref())?;
        if block.cascade.is_some() {
            let level = &result.level;
            result
                .roots
                .retain(|&node| level.place(node).is_some_and(|place| level.is_alive(place)));
            let page = crate::plan::Page { after: 0, ..block.page };
            result.roots = super::page::cut(&result.roots, page).to_vec();
        }
    }
    context.group_fields(&mut result.level)?;
    context.publish(block, result)?;
    context.compute(&mut result.level)
}

/// True for a block that asks for nothing but the number of its nodes.
fn only_counts(block: &Block) -> bool {
    let counts =
        |field: &Arc<Field>| matches!(field.kind, FieldKind::CountUid) && field.var.is_none();
    !block.fields.is_empty()
        && block.fields.iter().all(counts)
        && block.page.is_all()
        && block.order.is_empty()
        && block.cascade.is_none()
        && block.recurse.is_none()
        && block.group_by.is_none()
        && !lists_uids(block)
}

/// True for a root of literal uids, of which one that is written twice counts twice.
fn lists_uids(block: &Block) -> bool {
    let call = block.root.as_ref().map(|function| &function.call);
    matches!(call, Some(Call::Uid { vars, .. }) if vars.is_empty())
}

/// Counts the nodes of a block without listing them.
fn count_nodes(context: &mut Context<'_>, block: &Block, result: &mut BlockResult) -> Result<()> {
    let set = context.block_set(block)?;
    result.count = Some(set.len());
    let field =
        |field: &Arc<Field>| FieldResult { field: Arc::clone(field), data: FieldData::CountUid };
    result.level.fields = block.fields.iter().map(field).collect();
    if let Some(var) = block.var {
        context.set_var(var, super::context::Var::uids(set));
    }
    Ok(())
}

fn has_cascade(field: &crate::plan::Field) -> bool {
    field.cascade.is_some() || field.fields.iter().any(|field| has_cascade(field))
}
