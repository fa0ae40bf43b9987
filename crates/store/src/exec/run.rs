//! Runs the blocks of a request in the order that their variables allow.

use crate::exec::beside::Ahead;
use crate::exec::control::context::{Context, Var};
use crate::exec::control::options::ExecOptions;
use crate::exec::control::stop::Control;
use crate::exec::control::trace::Doubt;
use crate::exec::control::tree::{
    AlgorithmResult, BlockResult, FieldData, FieldResult, Level, RootGroups,
};
use crate::exec::cost::Cost;
use crate::exec::groups::path_counts::Chain;
use crate::exec::physical::path::BlockPath;
use crate::exec::physical::rewrites::{BATCH_GROWTH, BATCH_MAX, first_batch, lists_uids};
use crate::exec::select::batches::Members;
use crate::exec::select::column_var::ColumnVar;
use crate::exec::select::page::cut;
use crate::exec::walk::gather::needs_no_lists;
use crate::exec::walk::lists::distinct;
use crate::exec::walk::traverse::Inherited;
use crate::exec::write::answer_shape;
use crate::exec::write::answer_writer::AnswerOptions;
use crate::exec::write::columns::table;
use crate::exec::write::extent;
use crate::exec::write::output;
use crate::exec::write::pieces;
use crate::exec::write::rdf;
use crate::graph::Version;
use crate::storage::NodeSet;
use hexgraph_base::answer::{Key, RowForm, Shape, Table};
use hexgraph_base::plan::{
    Block, BlockKind, Call, Field, FieldKind, GroupBy, OrderKey, Page, Query, VarId,
};
use hexgraph_base::types::{Error, FragmentSink, Result, Sink, Uid, stack};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The result of a request: the tree of each block. Values are read from its version when it is written.
pub struct Answer {
    version: Arc<Version>,
    query: Arc<Query>,
    options: ExecOptions,
    blocks: Vec<BlockResult>,
    doubts: Vec<Doubt>,
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
    let mut beside = Beside::default();
    while !waiting.is_empty() {
        let ready = |position: &usize| is_ready(context, &query.blocks[*position]);
        let Some(next) = waiting.iter().position(ready) else {
            return Err(waits(context, &query.blocks[waiting[0]]));
        };
        beside.run(context, &waiting, next)?;
        let position = waiting.remove(next).expect("it was found there");
        // The first in the text of those that can run: the order is always the same.
        let done = match beside.take(position) {
            Some(done) => done.map(|done| context.take_ahead(done)),
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
struct Beside {
    done: Vec<(usize, Result<Ahead>)>,
    /// The estimates of the blocks that were looked at, by their positions.
    costs: FxHashMap<usize, Cost>,
}

impl Beside {
    /// Runs those of the waiting blocks concurrently that are large and can run now, unless the next one was run
    /// already, or is small: it does not wait for the others. Then they are not considered, so that thousands of small blocks
    /// cost thousands of looks, and not the square of that.
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
            let done = context.blocks_beside(&positions, run_block)?;
            self.done.extend(positions.into_iter().zip(done));
        }
        Ok(())
    }

    fn take(&mut self, position: usize) -> Option<Result<Ahead>> {
        let result = self.done.iter().position(|(done, _)| *done == position)?;
        Some(self.done.swap_remove(result).1)
    }
}

impl Answer {
    /// Makes the answer of blocks that were run on a version.
    pub(crate) fn new(
        version: Arc<Version>,
        query: Arc<Query>,
        options: ExecOptions,
        blocks: Vec<BlockResult>,
    ) -> Answer {
        Answer { version, query, options, blocks, doubts: Vec::new() }
    }

    /// The same, which reports these uses of variables.
    fn with_doubts(self, doubts: Vec<Doubt>) -> Answer {
        Answer { doubts, ..self }
    }

    /// The uses of variables that are likely meant otherwise, each once, in no order; the first hundred that were met.
    pub fn doubts(&self) -> &[Doubt] {
        &self.doubts
    }

    /// The version that it is read from.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// The result of a block, by its position in the plan.
    pub fn block(&self, position: usize) -> Option<&BlockResult> {
        self.blocks.iter().find(|result| result.block == position)
    }

    /// The result of the first block of an algorithm without a variable, with the name of the algorithm.
    pub fn algorithm(&self) -> Option<(&str, &AlgorithmResult)> {
        let result = self.blocks.iter().find(|result| result.algorithm.is_some())?;
        Some((&self.query.blocks[result.block].name, result.algorithm.as_ref()?))
    }

    /// As [`Answer::algorithm`], taken out of the answer.
    pub fn take_algorithm(&mut self) -> Option<(String, AlgorithmResult)> {
        let result = self.blocks.iter_mut().find(|result| result.algorithm.is_some())?;
        Some((self.query.blocks[result.block].name.clone(), result.algorithm.take()?))
    }

    /// Writes the `data` object: each visible block under its name, paths last.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for a stored value that the schema's type can't hold any more;
    /// [`Error::Limit`] as [`Answer::check_extent`].
    pub fn write(&self, sink: &mut dyn Sink) -> Result<()> {
        self.write_head(usize::MAX, sink)
    }

    /// As [`Answer::write`], to a sink that takes chunks: other threads help to write a large answer.
    ///
    /// # Errors
    ///
    /// As [`Answer::write`]; those of `control`.
    pub fn write_shared<S: FragmentSink>(&self, control: &Control, sink: &mut S) -> Result<()> {
        if self.query.schema.is_some() {
            return self.write(sink);
        }
        self.check_extent()?;
        let options = (self.options, usize::MAX);
        let expected = AnswerOptions { version: &self.version, query: &self.query, options };
        pieces::write(expected, &self.blocks, control, sink)
    }

    /// The rows of a block as a table, made column by column: those columns in which some row has a value, in the order of the text.
    /// `None` where the block has to be written object by object. `look` is called with the bytes of values and keys, a column at a time.
    ///
    /// # Errors
    ///
    /// Those of `look` and of `control`; as [`Answer::check_extent`].
    pub fn table(
        &self,
        block: &str,
        control: &Control,
        look: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<Option<Table>> {
        let named = |result: &&BlockResult| self.query.blocks[result.block].name == block;
        let Some(result) = self.blocks.iter().find(named) else { return Ok(None) };
        if self.query.schema.is_some() || self.options.debug {
            return Ok(None);
        }
        self.check_extent()?;
        let plan = &self.query.blocks[result.block];
        table::table(&self.version, plan, result, control, look)
    }

    /// As [`Answer::write`], but no more than the first `objects_max` objects of each list. Costs as
    /// much as is written.
    ///
    /// # Errors
    ///
    /// As [`Answer::write`].
    pub fn write_head(&self, objects_max: usize, sink: &mut dyn Sink) -> Result<()> {
        if objects_max == usize::MAX {
            self.check_extent()?;
        }
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
        let options = (self.options, objects_max);
        let expected = AnswerOptions { version: &self.version, query: &self.query, options };
        output::write(expected, &self.blocks, sink)
    }

    /// The number of root nodes of each visible block. Objects without anything in them are not
    /// written, so there may be fewer objects; with `@normalize` there may be more.
    pub fn root_counts(&self) -> impl Iterator<Item = (&str, usize)> {
        let blocks = self
            .blocks
            .iter()
            .map(|it| (&self.query.blocks[it.block], it.unlisted + it.roots.len()));
        let shown = blocks.filter(|(block, _)| crate::exec::control::tree::is_visible(block));
        shown.map(|(block, count)| (block.name.as_str(), count))
    }

    /// Checks before anything is written that there are not more objects than can be written within
    /// the limit `result`. Costs a step for each level, or for each edge if that is not enough.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when there are.
    pub fn check_extent(&self) -> Result<()> {
        extent::check(&self.query, self.options, &self.blocks)
    }

    /// The names of the visible blocks.
    pub fn block_names(&self) -> impl Iterator<Item = &str> {
        let blocks = self.blocks.iter().map(|result| &self.query.blocks[result.block]);
        blocks
            .filter(|block| crate::exec::control::tree::is_visible(block))
            .map(|block| block.name.as_str())
    }

    /// The keys that the objects of a block may have, in the order of the text; empty when there is
    /// no such block.
    pub fn keys(&self, block: &str) -> Vec<Key> {
        let named = |result: &&BlockResult| self.query.blocks[result.block].name == block;
        let Some(result) = self.blocks.iter().find(named) else { return Vec::new() };
        if let Some(hit) = &result.algorithm {
            return crate::exec::write::algorithm_rows::keys(block, &hit.result.output);
        }
        let plan = &self.query.blocks[result.block];
        let mut keys = match &plan.group_by {
            Some(group_by) => {
                let shapes = answer_shape::of_groups(&self.version, plan, group_by);
                return shapes.into_iter().map(|shape| Key::Always(shape.key)).collect();
            }
            None => crate::exec::write::answer_keys::of_level(
                &result.level,
                self.query.blocks[result.block].normalize,
            ),
        };
        if self.options.debug {
            keys.push(Key::Perhaps("uid".to_owned()));
        }
        keys
    }

    /// The plan that was executed, and the version on which it ran.
    pub fn requested(&self) -> (&Query, &Version) {
        (&self.query, &self.version)
    }

    /// The plan that was executed, to be retained.
    pub fn plan(&self) -> &Arc<Query> {
        &self.query
    }

    /// The columns of the rows of a block, in the order of the text, with the types of the schema; of the groups, where
    /// it has those.
    pub fn shapes(&self, block: &str) -> Vec<Shape> {
        let named = |result: &&BlockResult| self.query.blocks[result.block].name == block;
        let Some(result) = self.blocks.iter().find(named) else { return Vec::new() };
        let plan = &self.query.blocks[result.block];
        match &plan.group_by {
            Some(group_by) => answer_shape::of_groups(&self.version, plan, group_by),
            None => answer_shape::of_level(&self.version, &result.level, plan.normalize),
        }
    }

    /// Returns false for a block that an answer leaves out: one of groups without any.
    pub fn block_is_written(&self, block: &str) -> bool {
        let named = |result: &&BlockResult| self.query.blocks[result.block].name == block;
        let groups = self.blocks.iter().find(named).and_then(|result| result.groups.as_ref());
        groups.is_none_or(|groups| !groups.is_empty())
    }

    /// What the rows of a block are made of.
    pub fn row_form(&self, block: &str) -> RowForm {
        let named = |result: &&BlockResult| self.query.blocks[result.block].name == block;
        let Some(result) = self.blocks.iter().find(named) else { return RowForm::Flat };
        let plan = &self.query.blocks[result.block];
        let is_edges = |field: &FieldResult| matches!(field.data, FieldData::Edges(_));
        match &plan.kind {
            _ if plan.group_by.is_some() => RowForm::Groups,
            BlockKind::Empty => RowForm::Joined,
            BlockKind::Shortest(_) => RowForm::Nested,
            _ if !plan.normalize && result.level.fields.iter().any(is_edges) => RowForm::Nested,
            _ => RowForm::Flat,
        }
    }

    /// Writes each fact of the result as a line of N-Quads. `look` is called with the length now and
    /// then.
    ///
    /// # Errors
    ///
    /// Those of `look`; [`Error::Query`] for what is not allowed there: groups, `count(uid)`, `@normalize`,
    /// `@ignorereflex`, `checkpwd` and facets; and as [`Answer::write`].
    pub fn write_rdf(
        &self,
        out: &mut Vec<u8>,
        look: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<()> {
        rdf::write(&self.version, &self.query, &self.blocks, out, look)
    }

    /// The uid of the last root node of a block, by the block's position in the plan.
    pub fn last_root(&self, block: usize) -> Option<Uid> {
        let result = self.blocks.iter().find(|result| result.block == block)?;
        result.roots.last().map(|&node| self.version.nodes.uid(node))
    }

    /// The options of the request.
    pub fn options(&self) -> &ExecOptions {
        &self.options
    }

    /// For each predicate the number of nodes for which it was read, and under the empty name the
    /// roots of the blocks.
    pub fn touched(&self) -> BTreeMap<&str, u64> {
        let mut touched = BTreeMap::new();
        for result in &self.blocks {
            let listed = result.unlisted + result.roots.len();
            *touched.entry("").or_default() += listed as u64;
            output::count_touched(&result.level, &mut touched);
            if result.unlisted > 0 {
                for field in &self.query.blocks[result.block].fields {
                    if let FieldKind::Predicate { name, .. } = &field.kind {
                        *touched.entry(name).or_default() += result.unlisted as u64;
                    }
                }
            }
        }
        touched
    }
}

/// The error for a block whose variables are never resolved.
fn waits(context: &Context<'_>, block: &Block) -> Error {
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
fn is_ready(context: &Context<'_>, block: &Block) -> bool {
    let existing = |var: &VarId| context.vars[var.0 as usize].is_some();
    // A block may read a variable that it defines itself, but is ordered before any of its own has a value.
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
    context.took_at(&step, path);
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

/// Executes a block on the set of its nodes. Returns false, with nothing done, where they are too few, or the strategy does not apply.
fn use_set(
    context: &mut Context<'_>,
    block: &Block,
    path: BlockPath,
    set: &NodeSet,
    result: &mut BlockResult,
) -> Result<bool> {
    match path {
        BlockPath::CountPaths => return count_paths(context, block, set),
        _ if set.len() < context.control.costs().column_min => return Ok(false),
        BlockPath::NameColumns => return name_columns(context, block, set),
        _ => {}
    }
    result.level = context.level(Arc::default(), &block.fields, Inherited::default())?;
    result.set = Some(set.clone());
    Ok(true)
}

/// Walks the fields of a block from its roots, in batches that begin with the first `most`, or from the given ones.
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
        most = most.map(|most| BATCH_GROWTH * most).filter(|most| *most < BATCH_MAX);
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
    // The nodes of a set are listed in their order, and a million of them are not copied for nothing.
    let nodes = match roots.is_sorted_by(|one, other| one < other) {
        true => Arc::clone(roots),
        false => distinct(roots).into(),
    };
    if let Some(var) = block.var {
        context.set_var(var, Var::uids(NodeSet::Sorted(Arc::clone(&nodes))));
    }
    Ok(nodes)
}

/// Walks the fields of a block from its roots, which are at most `most`, and executes its `@cascade`. Returns false when there are
/// more roots, and those that are left do not fill the page.
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
    // Roots are in the order of the answer and perhaps twice, levels have each node once and ascend.
    let roots = Arc::make_mut(&mut result.roots);
    roots.retain(|&node| level.position(node).is_some_and(|position| level.is_alive(position)));
    // As without `@cascade`: a uid that is listed twice comes twice only where all of the list is requested.
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

/// Sets the variables of a hidden block to the numbers of its nodes by the target of an edge. False, with nothing done, when its key
/// is none.
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
    let Some(counts) = counts else { return Ok(false) };
    context.end(&step, counts.nodes.len());
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

/// Sets the variable at the end of a chain of edges to the number of paths from the nodes of a block. False, with
/// nothing done, when they can't be counted.
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

/// Makes the variables of a block references to columns of numbers, without a list of the nodes. False, with nothing done, when one of
/// the fields is no such column.
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
        let value = match column.may_fail() {
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

/// The columns of the fields of a block, with the fields and their variables; `None` when one is no column.
fn columns_of<'b>(
    context: &Context<'_>,
    block: &'b Block,
    nodes: &NodeSet,
) -> Option<Vec<(&'b Field, VarId, Arc<ColumnVar>)>> {
    let mut named: Vec<(&Field, VarId, Arc<ColumnVar>)> = Vec::with_capacity(block.fields.len());
    for field in &block.fields {
        let column = match &field.kind {
            FieldKind::Predicate { name, .. } => {
                ColumnVar::of_values(context.predicate(name)?, nodes)
            }
            FieldKind::Count { name, reverse, .. } => {
                ColumnVar::of_counts(context.predicate(name)?, *reverse, nodes)
            }
            FieldKind::Math(expr) => {
                // An expression may stand before the variables of its own block; that block is walked.
                let of_block = |var: VarId| named.iter().find(|(_, other, _)| *other == var);
                ColumnVar::of_math(expr, |var| {
                    match (of_block(var), &context.vars[var.0 as usize]) {
                        (Some((_, _, column)), _) => Some(Arc::clone(column)),
                        (None, Some(Var::Column(column))) => Some(Arc::clone(column)),
                        _ => None,
                    }
                })
            }
            _ => None,
        };
        named.push((field, field.var?, Arc::new(column?)));
    }
    Some(named)
}

fn has_cascade(field: &hexgraph_base::plan::Field) -> bool {
    stack::require();
    field.cascade.is_some() || field.fields.iter().any(|field| has_cascade(field))
}
