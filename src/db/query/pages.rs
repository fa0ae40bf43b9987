//! Walks through a long result in pages that cost the same wherever they are.

use super::answer::QueryAnswer;
use super::plans::Variables;
use crate::db::database::Database;
use crate::db::guard::guarded;
use hexgraph_base::plan::{Block, BlockKind, Page, Query};
use hexgraph_base::types::{Error, Result};
use hexgraph_store::exec::RequestContext;
use hexgraph_store::graph::Version;
use std::sync::Arc;

/// A query whose answers come in pages, all of one version.
pub struct Pages {
    database: Database,
    version: Arc<Version>,
    plan: Query,
    /// The index of the block that is paged.
    block: usize,
    size: i32,
    after: u64,
}

/// # Long results in pages
impl Database {
    /// Pages the one visible block of a query with `after`, `size` root nodes at a time.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext, Variables};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <n> \"1\" .\n<2> <n> \"2\" .\n<3> <n> \"3\" .", "")?;
    /// let mut pages = db.pages("{ q(func: has(n)) { n } }", &Variables::new(), 2)?;
    /// let mut sizes = Vec::new();
    /// while let Some(page) = pages.next(&RequestContext::new())? {
    ///     sizes.push(page.row_count()?);
    /// }
    /// assert_eq!(sizes, [2, 1]);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::query`], and [`Error::Query`] where the query has no or several visible
    /// blocks, or the one has `first`, `offset`, an order, or a shape that can't be paged.
    pub fn pages(&self, text: &str, variables: &Variables, size: usize) -> Result<Pages> {
        let context = RequestContext::new();
        self.prepare(&context);
        let plan = guarded(|| Ok(Query::clone(&*self.plan(text, variables, &context)?)))?;
        let block = paged_block(&plan)?;
        let after = plan.blocks[block].page.after;
        let Some(size) = i32::try_from(size).ok().filter(|size| 0 < *size) else {
            return Err(Error::query(format!("pages: size {size} is not in 1..={}", i32::MAX)));
        };
        Ok(Pages { database: self.clone(), version: self.version()?, plan, block, size, after })
    }
}

impl Pages {
    /// The next page; `None` after the last one.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext, Variables};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <n> \"1\" .", "")?;
    /// let mut pages = db.pages("{ q(func: has(n)) { n } }", &Variables::new(), 10)?;
    /// // Commits after the first page don't move the later ones: all are of one version.
    /// db.mutate("<2> <n> \"2\" .", "")?;
    /// let page = pages.next(&RequestContext::new())?.expect("there is a node");
    /// assert_eq!(page.row_count()?, 1);
    /// assert!(pages.next(&RequestContext::new())?.is_none());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::query`]; the same page is tried again by the next call.
    pub fn next(&mut self, context: &RequestContext) -> Result<Option<QueryAnswer>> {
        let page = Page { first: self.size, offset: 0, after: self.after };
        self.plan.blocks[self.block].page = page;
        let plan = Arc::new(self.plan.clone());
        let version = Arc::clone(&self.version);
        let options = self.database.options(false);
        let answer = guarded(|| self.database.run(version, plan, options, context))?;
        let Some(last) = answer.last_root(self.block) else { return Ok(None) };
        self.after = last.0;
        Ok(Some(answer))
    }
}

fn paged_block(plan: &Query) -> Result<usize> {
    let is_shown = |block: &Block| !matches!(block.kind, BlockKind::Hidden);
    let mut shown = (0..plan.blocks.len()).filter(|&position| is_shown(&plan.blocks[position]));
    let (Some(position), None) = (shown.next(), shown.next()) else {
        return Err(Error::query("pages: the query must have exactly one block that is not var"));
    };
    let block = &plan.blocks[position];
    let Block { name, page, .. } = block;
    let fault = if page.first != 0 || page.offset != 0 {
        "has `first` or `offset` of its own, leave them out"
    } else if !block.order.is_empty() {
        "has an order, and pages come in the order of uids"
    } else if block.kind != BlockKind::Visible || block.root.is_none() {
        "does not start from nodes"
    } else if block.recurse.is_some() || block.group_by.is_some() {
        "has @recurse or @groupby, which need all nodes at once"
    } else {
        return Ok(position);
    };
    Err(Error::query(format!("pages: block {name:?} at {} {fault}", block.at)))
}
