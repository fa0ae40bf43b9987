//! Plans the blocks of a request, in the order in which their variables allow them to run.

use super::cardinality::Cardinality;
use super::steps::{PlannedStep, StepList, StepPaths};
use crate::exec::{
    BlockPath, Chain, Context, GraphPath, Inherited, RequestContext, TotalPath, Var, first_batch,
    has_cascade, is_ready, needs_no_lists, next_batch, roots_page, waits, with_unknowns,
};
use crate::graph::Version;
use hexgraph_base::plan::{Aggregate, Block, BlockKind, Field, FieldKind, GroupBy, Query, VarId};
use hexgraph_base::types::Result;
use std::collections::VecDeque;
use std::sync::Arc;

/// What is expected of a variable.
#[derive(Debug, Clone, Copy)]
struct PlannedVar {
    rows: Cardinality,
    /// Whether it may be a reference to a column.
    may_be_column: bool,
    /// Whether it has the nodes of a path in their order.
    is_path: bool,
}

/// Plans one request.
pub(super) struct Planner<'a> {
    /// The request. Its variables have no content; what is expected of them is in `vars`.
    pub(super) context: Context<'a>,
    pub(super) steps: StepList,
    /// The fields of the current block whose targets are grouped.
    pub(super) grouped: Vec<&'a Field>,
    vars: Vec<PlannedVar>,
    /// The nodes of the graph.
    nodes: Cardinality,
}

/// The steps of a request on a version, without running it. O(steps · log nodes) searches in
/// indexes.
///
/// # Errors
///
/// [`hexgraph_base::types::Error::Query`] for what the schema does not allow, as far as it is seen
/// before values are read.
pub fn plan_steps(
    version: Arc<Version>,
    query: &Query,
    control: &RequestContext,
) -> Result<Vec<PlannedStep>> {
    let version = with_unknowns(version, query);
    let (expected, most) = version.subject_bounds();
    let none = PlannedVar { rows: Cardinality::exact(0), may_be_column: false, is_path: false };
    let planner = Planner {
        context: Context {
            version: &version,
            query,
            control,
            vars: vec![None; query.variables.len()],
        },
        steps: StepList::default(),
        grouped: Vec::new(),
        vars: vec![none; query.variables.len()],
        nodes: Cardinality::about(expected, most),
    };
    planner.plan()
}

impl<'a> Planner<'a> {
    fn plan(mut self) -> Result<Vec<PlannedStep>> {
        let query = self.context.query;
        let mut waiting: VecDeque<&'a Block> = query.blocks.iter().collect();
        while !waiting.is_empty() {
            let ready = waiting.iter().position(|block| is_ready(&self.context, block));
            let Some(next) = ready else { return Err(waits(&self.context, waiting[0])) };
            let block = waiting.remove(next).expect("it is one of those that wait");
            self.context.control.check()?;
            self.block(block).map_err(|error| error.or_at(block.at))?;
        }
        Ok(self.steps.finish())
    }

    fn block(&mut self, block: &'a Block) -> Result<()> {
        let step = self.steps.open("block", &block.name, Some(block.at));
        let choices = match &block.kind {
            BlockKind::Empty => self.computed(&block.fields),
            BlockKind::Shortest(_) => {
                self.filters_of_paths(block)?;
                self.define(block.var, self.any_rows(), false);
                StepPaths::one(BlockPath::Paths)
            }
            BlockKind::Algorithm(_) => self.algorithm(block)?,
            BlockKind::Visible | BlockKind::Hidden => self.nodes_of(block)?,
        };
        self.steps.close(step, choices);
        if let (BlockKind::Shortest(_), Some(var)) = (&block.kind, block.var) {
            self.vars[var.0 as usize].is_path = true;
        }
        for var in &block.defines {
            if self.context.vars[var.0 as usize].is_none() {
                self.define(Some(*var), self.any_rows(), false);
            }
        }
        Ok(())
    }

    /// The fields of a block without nodes.
    fn computed(&mut self, fields: &'a [Arc<Field>]) -> StepPaths {
        for field in fields {
            if let FieldKind::AggregateVar(op, var) = &field.kind {
                let step = self.steps.open("field", &field.key, Some(field.at));
                let may_be_column = self.vars[var.0 as usize].may_be_column;
                let choices = match may_be_column && matches!(op, Aggregate::Algebraic(_)) {
                    true => StepPaths::one(TotalPath::Column)
                        .or(TotalPath::Values, "if the variable was listed"),
                    false => StepPaths::one(TotalPath::Values),
                };
                self.steps.expect(step, None, !may_be_column);
                self.steps.close(step, choices);
            }
            self.define(field.var, Cardinality::exact(1), false);
        }
        StepPaths::one(BlockPath::Compute)
    }

    fn algorithm(&mut self, block: &'a Block) -> Result<StepPaths> {
        let step = self.steps.open("graph", &crate::exec::edges_text(block), None);
        self.steps.expect(step, None, false);
        let filters = block.filter.iter();
        let filters = filters.chain(block.fields.iter().filter_map(|it| it.filter.as_ref()));
        for filter in filters {
            self.filter(filter, self.any_rows())?;
        }
        let cached = "if an earlier request made it";
        let choices = StepPaths::one(GraphPath::Made)
            .or(GraphPath::Cached, cached)
            .or(GraphPath::Patched, "if commits changed it since an earlier request made it");
        self.steps.close(step, choices);
        self.steps.leaf("compute", "", None);
        self.define(block.var, self.any_rows(), false);
        Ok(StepPaths::one(BlockPath::Algorithm))
    }

    /// A block of nodes.
    fn nodes_of(&mut self, block: &'a Block) -> Result<StepPaths> {
        let path = self.context.block_path(block);
        match (path, &block.group_by) {
            (BlockPath::Count, _) => {
                let rows = self.counted(block)?;
                self.define(block.var, rows, false);
            }
            (BlockPath::GroupList, Some(group_by)) => {
                let rows = self.roots(block, roots_page(block, None))?;
                self.define(block.var, rows, false);
                let choices = self.list_groups(group_by, &block.fields);
                self.group_step(block, rows.is_exact(), choices);
            }
            (BlockPath::GroupSet | BlockPath::CountTargets, Some(group_by)) => {
                self.group_set(block, group_by)?;
            }
            (BlockPath::CountPaths, _) => return self.count_paths(block),
            (BlockPath::NameColumns | BlockPath::RetainSet, _) => {
                return self.set_or_walk(block, path);
            }
            (BlockPath::WalkBatches, _) => self.batches(block)?,
            _ => self.walk(block, None)?,
        }
        Ok(StepPaths::one(path))
    }

    fn group_step(&mut self, block: &Block, is_exact: bool, choices: StepPaths) {
        let step = self.steps.open("group", &block.name, None);
        self.steps.expect(step, None, is_exact);
        self.steps.close(step, choices);
    }

    fn group_set(&mut self, block: &'a Block, group_by: &'a GroupBy) -> Result<()> {
        let root = self.set_of_block(block)?;
        let choices = self.set_groups(group_by, &block.fields, &root);
        self.group_step(block, root.rows.is_exact() && root.set.is_some(), choices);
        Ok(())
    }

    /// A block whose roots are listed and whose fields are walked.
    fn walk(&mut self, block: &'a Block, most: Option<usize>) -> Result<()> {
        let rows = self.roots(block, roots_page(block, most))?;
        self.walk_fields(block, rows)
    }

    /// The batches of a block: the first one, and of the next ones those whose steps differ from
    /// all before.
    fn batches(&mut self, block: &'a Block) -> Result<()> {
        let mark = self.steps.mark();
        let mut most = first_batch(block.page, self.control().costs());
        self.walk(block, most)?;
        let mut planned = vec![self.steps.paths_since(mark)];
        while let Some(first) = most {
            // After a batch of all nodes there is none.
            if self.nodes.most <= first {
                break;
            }
            most = next_batch(first);
            let mark = self.steps.mark();
            self.instead(|planner| planner.walk(block, most))?;
            let paths = self.steps.paths_since(mark);
            if planned.contains(&paths) {
                self.steps.rewind(mark);
            } else {
                planned.push(paths);
            }
        }
        Ok(())
    }

    fn walk_fields(&mut self, block: &'a Block, rows: Cardinality) -> Result<()> {
        let remaining = if block.cascade.is_some() { rows.part() } else { rows };
        self.define(block.var, remaining, false);
        if block.recurse.is_some() {
            self.recursion(block)?;
        } else {
            let inherited = Inherited {
                cascade: block.cascade.as_ref(),
                depth: 0,
                are_apart: block.defines.is_empty(),
                needs_no_lists: needs_no_lists(block),
            };
            self.level(&block.fields, rows, inherited)?;
        }
        if block.cascade.is_some() || block.fields.iter().any(|field| has_cascade(field)) {
            self.steps.leaf("cascade", "", None);
        }
        let groups = self.groups_of_edges();
        let step = self.steps.open("variables", "", None);
        self.steps.close(step, groups);
        Ok(())
    }

    /// A block that is executed on the set of its nodes, unless these are few.
    fn set_or_walk(&mut self, block: &'a Block, path: BlockPath) -> Result<StepPaths> {
        let rows = self.set_of_block(block)?.rows;
        let least = self.control().costs().column_min;
        let choices =
            StepPaths::by_rows(rows, |rows| if rows < least { BlockPath::Walk } else { path });
        self.walk_fields(block, rows)?;
        if path == BlockPath::NameColumns && choices.has(path) {
            for var in block.fields.iter().filter_map(|field| field.var) {
                self.vars[var.0 as usize].may_be_column = true;
            }
        }
        Ok(choices.or(BlockPath::Walk, "if a field is no column"))
    }

    fn count_paths(&mut self, block: &'a Block) -> Result<StepPaths> {
        let rows = self.set_of_block(block)?.rows;
        let Some(chain) = Chain::of(block) else { return Ok(StepPaths::one(BlockPath::Walk)) };
        for field in &chain.edges {
            let step = self.steps.open("expand", &field.key, Some(field.at));
            self.steps.expect(step, None, false);
            self.steps.close(step, StepPaths::default());
        }
        self.steps.leaf("variables", "", None);
        self.instead(|planner| planner.walk_fields(block, rows))?;
        Ok(StepPaths::one(BlockPath::CountPaths)
            .or(BlockPath::Walk, "if the targets lie far apart"))
    }

    /// Notes what is expected of the variables of a field.
    pub(super) fn bind(&mut self, field: &Field, rows: Cardinality) {
        let rows = rows.part();
        self.define(field.var, rows, false);
        for item in field.facets.iter().flat_map(|facets| &facets.items) {
            self.define(item.var, rows, false);
        }
    }

    fn define(&mut self, var: Option<VarId>, rows: Cardinality, may_be_column: bool) {
        let Some(var) = var else { return };
        self.vars[var.0 as usize] = PlannedVar { rows, may_be_column, is_path: false };
        // Only that it is there counts.
        self.context.set_var(var, Var::uids(Default::default()));
    }

    /// The number of nodes of a variable: any where a later field of this block defines it.
    pub(super) fn var_rows(&self, var: VarId) -> Cardinality {
        match self.context.vars[var.0 as usize] {
            Some(_) => self.vars[var.0 as usize].rows,
            None => self.any_rows(),
        }
    }

    /// Whether a variable has the nodes of a path.
    pub(super) fn is_path(&self, var: VarId) -> bool {
        self.vars[var.0 as usize].is_path
    }

    /// The expected number of nodes of the graph.
    pub(super) fn nodes(&self) -> usize {
        self.nodes.expected
    }

    /// Any part of the nodes of the graph.
    pub(super) fn any_rows(&self) -> Cardinality {
        Cardinality { most: u32::MAX as usize, ..Cardinality::up_to(self.nodes()) }
    }

    pub(super) fn control(&self) -> &'a RequestContext {
        self.context.control
    }
}
