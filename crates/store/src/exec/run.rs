//! Runs the blocks of a request in the order that their variables allow.

use crate::exec::access_path::BlockPath;
use crate::exec::answer::Answer;
use crate::exec::columns::batches::Members;
use crate::exec::concurrent::BranchResult;
use crate::exec::control::column_var::ColumnVar;
use crate::exec::control::context::{Context, Var};
use crate::exec::control::options::ExecOptions;
use crate::exec::control::stop::RequestContext;
use crate::exec::control::tree::{BlockResult, FieldData, FieldResult, Level, RootGroups};
use crate::exec::cost::Cost;
use crate::exec::physical::rewrites::Chain;
use crate::exec::physical::rewrites::{first_batch, is_read_in_pages, lists_uids, next_batch};
use crate::exec::select::page::cut;
use crate::exec::walk::gather::needs_no_lists;
use crate::exec::walk::lists::distinct;
use crate::exec::walk::traverse::Inherited;
use crate::graph::Version;
use crate::storage::NodeSet;
use hexgraph_base::plan::{
    Block, BlockKind, Call, Field, FieldKind, GroupBy, OrderKey, Page, Query, VarId,
};
use hexgraph_base::types::{Error, Result, Uid, stack};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Executes a request on one version of the graph.
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
    control: &RequestContext,
) -> Result<Answer> {
    let version = with_unknowns(version, &query);
    let blocks = {
        let vars = vec![None; query.variables.len()];
        run_blocks(&mut Context { version: &version, query: &query, control, vars })?
    };
    Ok(Answer::new(version, query, options, blocks).with_doubts(control.take_doubts()))
}

/// The version, knowing the great uids too that stand at a root and have no data: such a node
/// shows its uid, as one with a small uid does.
pub(crate) fn with_unknowns(version: Arc<Version>, query: &Query) -> Arc<Version> {
    stack::require();
    let is_unknown = |uid: &u64| version.nodes.node(Uid(*uid)).is_none();
    let mut unknowns = Vec::new();
    for function in query.blocks.iter().filter_map(|block| block.root.as_ref()) {
        if let Call::Uid { uids, .. } = &function.call {
            unknowns.extend(uids.iter().copied().filter(is_unknown));
        }
    }
    for block in &query.blocks {
        if let BlockKind::Algorithm(call) = &block.kind {
            let uids = call.node_lists().flat_map(|list| &list.uids);
            unknowns.extend(uids.copied().filter(is_unknown));
        }
    }
    if unknowns.is_empty() {
        return version;
    }
    let mut knowing = Version::clone(&version);
    knowing.nodes = version.nodes.with_unknowns(unknowns);
    Arc::new(knowing)
}

/// Runs the blocks of a request, and returns them in the order of its text.
pub(crate) fn run_blocks(context: &mut Context<'_>) -> Result<Vec<BlockResult>> {
    let query = context.query;
    let mut blocks = Vec::with_capacity(query.blocks.len());
    let mut waiting: VecDeque<usize> = (0..query.blocks.len()).collect();
    let mut concurrent = ConcurrentBlocks::default();
    while !waiting.is_empty() {
        let ready = |position: &usize| is_ready(context, &query.blocks[*position]);
        let Some(next) = waiting.iter().position(ready) else {
            return Err(waits(context, &query.blocks[waiting[0]]));
        };
        concurrent.run(context, &waiting, next)?;
        let position = waiting.remove(next).expect("it was found there");
        // The first in the text of those that can run: the order is always the same.
        let done = match concurrent.take(position) {
            Some(done) => done.map(|done| context.merge_branch(done)),
            None => run_block(context, position),
        };
        blocks.push(done.map_err(|error| error.or_at(query.blocks[position].at))?);
    }
    // They ran in the order of their variables; the answer has them in the order of the text.
    blocks.sort_by_key(|result| result.block);
    Ok(blocks)
}

/// The results of blocks that ran concurrently, until the answer gets to them.
#[derive(Default)]
struct ConcurrentBlocks {
    done: Vec<(usize, Result<BranchResult>)>,
    /// The estimates of the blocks that were looked at, by their positions.
    costs: FxHashMap<usize, Cost>,
}

impl ConcurrentBlocks {
    /// Runs those of the waiting blocks concurrently that are large and can run now, unless the
    /// next one was run already, or is small: it does not wait for the others. Then they are not
    /// considered, so that thousands of small blocks cost thousands of looks, and not the square of
    /// that.
    fn run(&mut self, context: &Context<'_>, waiting: &VecDeque<usize>, next: usize) -> Result<()> {
        let is_done = |position: usize| self.done.iter().any(|(done, _)| *done == position);
        if waiting.len() < 2 || !context.shares_branches() || is_done(waiting[next]) {
            return Ok(());
        }
        let blocks = &context.query.blocks;
        let existing = &mut self.costs;
        let mut cost = |position: usize| {
            *existing.entry(position).or_insert_with(|| context.block_cost(&blocks[position]))
        };
        if !context.is_large(cost(waiting[next])) {
            return Ok(());
        }
        let can_run = |at: &usize| !is_done(*at) && is_ready(context, &blocks[*at]);
        let ready: Vec<usize> = waiting.iter().copied().filter(can_run).collect();
        let large = context.large_branches(ready.len(), |position| cost(ready[position]));
        let positions: Vec<usize> = large.into_iter().map(|position| ready[position]).collect();
        if positions.contains(&waiting[next]) {
            let done = context.blocks_concurrently(&positions, run_block)?;
            self.done.extend(positions.into_iter().zip(done));
        }
        Ok(())
    }

    fn take(&mut self, position: usize) -> Option<Result<BranchResult>> {
        let result = self.done.iter().position(|(done, _)| *done == position)?;
        Some(self.done.swap_remove(result).1)
    }
}

/// The error for a block whose variables are never resolved.
pub(crate) fn waits(context: &Context<'_>, block: &Block) -> Error {
    let by_order = block.order.iter().filter_map(|key| match key {
        OrderKey::Var { var, .. } => Some(*var),
        OrderKey::Predicate { .. } => None,
    });
    let mut all = by_order.chain(block.reads.iter().copied());
    let unknown = all.find(|var| context.vars[var.0 as usize].is_none());
    let name = unknown.map_or("", |var| context.var_name(var));
    let message =
        format!("block `{}` waits for variable `{name}`, which waits for the block", block.name);
    Error::query_at(block.at, message).with_hint("define the variable in another block")
}

/// True when every variable that the block reads is resolved, or defined by the block itself.
pub(crate) fn is_ready(context: &Context<'_>, block: &Block) -> bool {
    let existing = |var: &VarId| context.vars[var.0 as usize].is_some();
    // A block may read a variable that it defines itself, but is ordered before any of its own has
    // a value.
    let early = |key: &OrderKey| matches!(key, OrderKey::Var { var, .. } if !existing(var));
    !block.order.iter().any(early)
        && block.reads.iter().all(|var| existing(var) || block.defines.binary_search(var).is_ok())
}

fn run_block(context: &mut Context<'_>, position: usize) -> Result<BlockResult> {
    let query = context.query;
    let block = &query.blocks[position];
    let step = context.begin("block", &block.name, Some(block.at), None);
    let mut result = BlockResult {
        block: position,
        roots: Arc::default(),
        count: None,
        unlisted: 0,
        set: None,
        level: Level::default(),
        groups: None,
        paths: Vec::new(),
        algorithm: None,
    };
    let path = match &block.kind {
        BlockKind::Empty => {
            result.level = context.compute_empty(&block.fields)?;
            BlockPath::Compute
        }
        BlockKind::Shortest(ends) => {
            result.paths = context.shortest(block, ends)?;
            BlockPath::Paths
        }
        BlockKind::Algorithm(call) => {
            result.algorithm = context.algorithm(block, call)?;
            result.unlisted = result.algorithm.as_ref().map_or(0, |it| it.result.output.len());
            BlockPath::Algorithm
        }
        BlockKind::Visible | BlockKind::Hidden => {
            run_nodes(context, block, context.block_path(block), &mut result)?
        }
    };
    context.record_path_of(&step, path);
    // A block whose variable is empty still defines it.
    for var in &block.defines {
        let existing = &mut context.vars[var.0 as usize];
        if existing.is_none() {
            *existing = Some(Var::uids(Default::default()));
        }
    }
    let listed = result.unlisted + result.roots.len() + result.paths.len();
    context.end(&step, result.count.unwrap_or(listed));
    Ok(result)
}

/// Executes a block of nodes by its access path. Returns the path that was executed in the end.
fn run_nodes(
    context: &mut Context<'_>,
    block: &Block,
    path: BlockPath,
    result: &mut BlockResult,
) -> Result<BlockPath> {
    match path {
        BlockPath::Count => count_nodes(context, block, result)?,
        BlockPath::GroupList => group_nodes(context, block, result)?,
        BlockPath::GroupSet => group_set(context, block, result)?,
        BlockPath::CountTargets => {
            if !count_targets(context, block, result)? {
                group_set(context, block, result)?;
                return Ok(BlockPath::GroupSet);
            }
        }
        BlockPath::CountPaths | BlockPath::NameColumns | BlockPath::RetainSet => {
            let set = context.block_set(block)?;
            if use_set(context, block, path, &set, result)? {
                result.unlisted = set.len();
                return Ok(path);
            }
            let roots = context.listed(&set, block.page)?;
            walk_block(context, block, None, Some(roots), result)?;
            return Ok(BlockPath::Walk);
        }
        BlockPath::WalkBatches => {
            let most = first_batch(block.page, context.control.costs());
            walk_block(context, block, most, None, result)?;
        }
        BlockPath::Walk | BlockPath::Compute | BlockPath::Paths | BlockPath::Algorithm => {
            walk_block(context, block, None, None, result)?;
        }
    }
    Ok(path)
}

/// Executes a block on the set of its nodes. Returns false, with nothing done, where they are too
/// few, or the strategy does not apply.
fn use_set(
    context: &mut Context<'_>,
    block: &Block,
    path: BlockPath,
    set: &NodeSet,
    result: &mut BlockResult,
) -> Result<bool> {
    if path == BlockPath::CountPaths {
        return count_paths(context, block, set);
    }
    if set.len() < context.control.costs().column_min {
        return Ok(false);
    }
    if path == BlockPath::NameColumns {
        return name_columns(context, block, set);
    }
    result.level = context.level(Arc::default(), &block.fields, Inherited::default())?;
    result.set = Some(set.clone());
    Ok(true)
}

/// Walks the fields of a block from its roots, in batches that begin with the first `most`, or from
/// the given ones.
fn walk_block(
    context: &mut Context<'_>,
    block: &Block,
    mut most: Option<usize>,
    mut existing: Option<Vec<u32>>,
    result: &mut BlockResult,
) -> Result<()> {
    loop {
        result.roots = match existing.take() {
            Some(roots) => roots.into(),
            None => context.block_roots(block, most)?.into(),
        };
        if walk_nodes(context, block, result, most)? {
            break;
        }
        most = most.and_then(next_batch);
    }
    context.group_fields(&mut result.level)?;
    let step = context.begin("variables", "", None, None);
    context.publish(block, result)?;
    context.compute(&mut result.level)?;
    context.end(&step, block.defines.len());
    Ok(())
}

/// Groups the nodes of a block.
fn group_nodes(context: &mut Context<'_>, block: &Block, result: &mut BlockResult) -> Result<()> {
    let Some(group_by) = &block.group_by else { return Ok(()) };
    result.roots = context.block_roots(block, None)?.into();
    let nodes = root_nodes(context, block, &result.roots)?;
    let step = context.begin("group", &block.name, None, None);
    let groups = context.root_groups(group_by, &block.fields, Members::List(&nodes))?;
    context.end(&step, groups.len());
    publish_groups(context, block, group_by, groups, result)
}

/// The roots of a block ascending, each once. Sets the block's variable to them.
fn root_nodes(
    context: &mut Context<'_>,
    block: &Block,
    roots: &Arc<Vec<u32>>,
) -> Result<Arc<Vec<u32>>> {
    context.control.charge(4 * roots.len())?;
    // The nodes of a set are listed in their order, and a million of them are not copied for
    // nothing.
    let nodes = match roots.is_sorted_by(|one, other| one < other) {
        true => Arc::clone(roots),
        false => distinct(roots).into(),
    };
    if let Some(var) = block.var {
        context.set_var(var, Var::uids(NodeSet::Sorted(Arc::clone(&nodes))));
    }
    Ok(nodes)
}

/// Walks the fields of a block from its roots, which are at most `most`, and executes its
/// `@cascade`. Returns false when there are more roots, and those that are left do not fill the
/// page.
fn walk_nodes(
    context: &mut Context<'_>,
    block: &Block,
    result: &mut BlockResult,
    most: Option<usize>,
) -> Result<bool> {
    let nodes = root_nodes(context, block, &result.roots)?;
    let hit = result.roots.len();
    result.level = match &block.recurse {
        Some(recurse) => context.recurse(block, recurse, nodes)?,
        None => {
            let are_apart = block.defines.is_empty();
            let cascade = block.cascade.as_ref();
            let needs_no_lists = needs_no_lists(block);
            let inherited = Inherited { cascade, depth: 0, are_apart, needs_no_lists };
            context.level(nodes, &block.fields, inherited)?
        }
    };
    // Before groups and variables, which see only what is left.
    if block.cascade.is_none() && !block.fields.iter().any(|field| has_cascade(field)) {
        return Ok(true);
    }
    let step = context.begin("cascade", "", None, None);
    context.cascade(&mut result.level, block.cascade.as_ref())?;
    let level = &result.level;
    context.end(&step, (0..level.nodes.len()).filter(|&position| level.is_alive(position)).count());
    if block.cascade.is_none() {
        return Ok(true);
    }
    // Roots are in the order of the answer and perhaps twice, levels have each node once and
    // ascend.
    let roots = Arc::make_mut(&mut result.roots);
    roots.retain(|&node| level.position(node).is_some_and(|position| level.is_alive(position)));
    // As without `@cascade`: a uid that is listed twice comes twice only where all of the list is
    // requested.
    if lists_uids(block) && (block.page.first != 0 || 0 < block.page.offset) {
        roots.dedup();
    }
    let is_full = block.page.expected().is_some_and(|expected| expected <= roots.len());
    // Fewer roots than requested means that there are no more.
    let is_complete = is_full || most.is_none_or(|most| hit < most);
    // `after` was applied to the roots already; `first` and `offset` count what is left.
    let page = Page { after: 0, ..block.page };
    result.roots = cut(&result.roots, page).to_vec().into();
    Ok(is_complete)
}

/// Groups the nodes of a block's root without listing them.
fn group_set(context: &mut Context<'_>, block: &Block, result: &mut BlockResult) -> Result<()> {
    let Some(group_by) = &block.group_by else { return Ok(()) };
    let set = context.block_set(block)?;
    result.unlisted = set.len();
    let step = context.begin("group", &block.name, None, None);
    let groups = context.root_groups(group_by, &block.fields, Members::Set(&set))?;
    context.end(&step, groups.len());
    publish_groups(context, block, group_by, groups, result)
}

/// Sets the variables of a hidden block to the numbers of its nodes by the target of an edge.
/// False, with nothing done, when its key is none.
fn count_targets(
    context: &mut Context<'_>,
    block: &Block,
    result: &mut BlockResult,
) -> Result<bool> {
    let Some(group_by) = &block.group_by else { return Ok(false) };
    let set = context.block_set(block)?;
    let step = context.begin("group", &block.name, None, None);
    let members = Members::Set(&set);
    let counts = context.edge_group_counts(group_by, &block.fields, members)?;
    context.end(&step, counts.as_ref().map_or(0, |counts| counts.nodes.len()));
    let Some(counts) = counts else { return Ok(false) };
    result.unlisted = set.len();
    let counts = Arc::new(counts);
    for var in block.fields.iter().filter_map(|field| field.var) {
        context.set_var(var, Var::Values(Arc::clone(&counts)));
    }
    result.groups = Some(RootGroups::Rows(Vec::new()));
    Ok(true)
}

/// Sets the variables of the groups of a block, which are its result.
fn publish_groups(
    context: &mut Context<'_>,
    block: &Block,
    group_by: &GroupBy,
    groups: RootGroups,
    result: &mut BlockResult,
) -> Result<()> {
    // Groups as columns have no variables.
    if let RootGroups::Rows(groups) = &groups {
        let mut hit = BTreeMap::new();
        context.publish_groups(&block.fields, group_by.keys.len(), groups, &mut hit)?;
        for (var, value) in hit {
            context.set_var(var, value);
        }
    }
    result.groups = Some(groups);
    Ok(())
}

/// Counts the nodes of a block without listing them.
fn count_nodes(context: &mut Context<'_>, block: &Block, result: &mut BlockResult) -> Result<()> {
    let (count, set) = context.counted_set(block)?;
    result.count = Some(count);
    let field =
        |field: &Arc<Field>| FieldResult { field: Arc::clone(field), data: FieldData::CountUid };
    result.level.fields = block.fields.iter().map(field).collect();
    if let (Some(var), Some(set)) = (block.var, set) {
        context.set_var(var, Var::uids(set));
    }
    Ok(())
}

/// Sets the variable at the end of a chain of edges to the number of paths from the nodes of a
/// block. False, with nothing done, when they can't be counted.
fn count_paths(context: &mut Context<'_>, block: &Block, nodes: &NodeSet) -> Result<bool> {
    let Some(chain) = Chain::of(block) else { return Ok(false) };
    let Some(counts) = context.path_counts(&chain, nodes)? else { return Ok(false) };
    context.set_var(chain.result, Var::Values(Arc::new(counts)));
    if let Some(var) = block.var {
        context.set_var(var, Var::uids(nodes.clone()));
    }
    let step = context.begin("variables", "", None, None);
    context.end(&step, block.defines.len());
    Ok(true)
}

/// Makes the variables of a block references to columns of numbers, without a list of the nodes.
/// False, with nothing done, when one of the fields is no such column.
fn name_columns(context: &mut Context<'_>, block: &Block, nodes: &NodeSet) -> Result<bool> {
    let Some(named) = columns_of(context, block, nodes) else { return Ok(false) };
    context.check()?;
    for (field, var, column) in named {
        let step = context.begin("field", &field.key, Some(field.at), None);
        context.control.charge(column.byte_len())?;
        context.end(&step, column.len());
        if let FieldKind::Math(_) = &field.kind {
            let of_block = |var| block.fields.iter().any(|field| field.var == Some(var));
            context.note_doubts_of_columns(&column, nodes, of_block, field.at);
        }
        // Only the computed results show which nodes have one.
        let is_listed = column.may_fail() && !is_read_in_pages(context.query, var);
        let value = match is_listed {
            true => Var::Values(column.values(context.control)?),
            false => Var::Column(column),
        };
        context.set_var(var, value);
    }
    if let Some(var) = block.var {
        context.set_var(var, Var::uids(nodes.clone()));
    }
    let step = context.begin("variables", "", None, None);
    context.end(&step, block.defines.len());
    Ok(true)
}

/// The columns of the fields of a block, with the fields and their variables; `None` when one is no
/// column.
fn columns_of<'b>(
    context: &Context<'_>,
    block: &'b Block,
    nodes: &NodeSet,
) -> Option<Vec<(&'b Field, VarId, Arc<ColumnVar>)>> {
    let mut named: Vec<(&Field, VarId, Arc<_>)> = Vec::with_capacity(block.fields.len());
    for field in &block.fields {
        let column = match &field.kind {
            FieldKind::Predicate { name, .. } => {
                ColumnVar::of_values(context.predicate(name)?, nodes)
            }
            FieldKind::Count { name, reverse, .. } => {
                ColumnVar::of_counts(context.predicate(name)?, *reverse, nodes)
            }
            FieldKind::Math(expr) => {
                // An expression may stand before the variables of its own block; that block is
                // walked.
                let of_block = |var: VarId| named.iter().find(|(_, other, _)| *other == var);
                ColumnVar::of_math(expr, |var| {
                    if let Some((_, _, column)) = of_block(var) {
                        return Some(Arc::clone(column));
                    }
                    let Some(Var::Column(column)) = &context.vars[var.0 as usize] else {
                        return None;
                    };
                    Some(Arc::clone(column))
                })
            }
            FieldKind::Uid
            | FieldKind::CountUid
            | FieldKind::Val(_)
            | FieldKind::AggregateVar(..)
            | FieldKind::AggregatePredicate { .. }
            | FieldKind::Expand(_)
            | FieldKind::CheckPassword { .. } => None,
        };
        named.push((field, field.var?, Arc::new(column?)));
    }
    Some(named)
}

pub(crate) fn has_cascade(field: &hexgraph_base::plan::Field) -> bool {
    stack::require();
    field.cascade.is_some() || field.fields.iter().any(|field| has_cascade(field))
}
