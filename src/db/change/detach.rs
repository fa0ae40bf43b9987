//! Deletes nodes with all values and all edges, both those that start at them and those that point
//! to them.

use super::upsert::Prepared;
use crate::db::database::Database;
use crate::db::guard::guarded;
use crate::db::query::plans::{Variables, reserve_plan};
use crate::db::query::shown::shown_blocks;
use hexgraph_base::plan::{BlockKind, Query, Reads, VarId, Variable};
use hexgraph_base::types::{Error, Result, Uid};
use hexgraph_store::exec::{self, RequestContext};
use hexgraph_store::graph::{Binding, Changes, Version, detach};
use std::sync::Arc;

/// The variable of the nodes that are selected. No text can have this name.
const SELECTED: &str = "deleted nodes";

/// Which nodes are deleted.
#[derive(Debug, Clone)]
pub enum Nodes<'a> {
    /// These. Those that the database does not know are left out.
    Uids(&'a [Uid]),
    /// The nodes that the only block of a query in DQL selects, and not those below them.
    Query(&'a str, &'a Variables),
}

/// What [`Database::delete`] did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeleteAnswer {
    /// The nodes that had a value, an edge, or an edge to them.
    pub nodes: u64,
    /// The values that they had, their types included.
    pub values: u64,
    /// The edges from them and to them.
    pub edges: u64,
    /// The number of the commit.
    pub commit: u64,
}

/// # Deleting nodes
impl Database {
    /// Deletes nodes with all their values, and all edges from and to them.
    ///
    /// ```
    /// use hexgraph::db::{Database, Nodes};
    /// use hexgraph::types::Uid;
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .\n<1> <knows> <2> .\n<2> <name> \"Bob\" .", "")?;
    /// assert_eq!(db.delete(&Nodes::Uids(&[Uid(1)]))?.nodes, 1);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::delete_with`].
    pub fn delete(&self, nodes: &Nodes<'_>) -> Result<DeleteAnswer> {
        self.delete_with(nodes, &RequestContext::new())
    }

    /// Deletes nodes with all their values and edges in one commit: independent of their types, and
    /// with the edges that point to them, with or without reverse edges in the schema.
    ///
    /// ```
    /// use hexgraph::db::{RequestContext, Database, Nodes};
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .\n<2> <knows> <1> .\n<2> <name> \"Bob\" .", "")?;
    /// let gone = db.delete_with(&Nodes::Uids(&[hexgraph::types::Uid(1)]), &RequestContext::new())?;
    /// assert_eq!((gone.nodes, gone.values, gone.edges), (1, 1, 1));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `Syntax` and `Query` for a text that is not one block that selects nodes; `Access` where the
    /// caller may not write a predicate that would change; `Limit` when `context` stops it. Nothing
    /// is deleted then.
    pub fn delete_with(&self, nodes: &Nodes<'_>, context: &RequestContext) -> Result<DeleteAnswer> {
        guarded(|| {
            self.prepare(context);
            self.check_may_write()?;
            let selection = Selection::new(nodes, context)?;
            let prepare = |version: &Arc<Version>| {
                let staged = self.compute(context, || self.detached(&selection, version, context));
                // Any commit may add an edge to one of the nodes, so it holds for this version
                // alone.
                Ok(Prepared { staged: staged?, reads: Reads::everything() })
            };
            let fits =
                |detached: &Detached, version: &Version| detached.changes.fit(&version.schema);
            let (commit, mut answer) = self.change_prepared(
                context,
                prepare,
                fits,
                |Detached { changes, nodes, .. }, version, commit| {
                    let (next, effect) = self.apply(changes, version, commit, context)?;
                    let (values, edges) = (effect.values_deleted, effect.edges_deleted);
                    Ok((next, DeleteAnswer { nodes, values, edges, commit: 0 }))
                },
            )?;
            answer.commit = commit;
            Ok(answer)
        })
    }

    /// What a delete changes in a version, in which all blocks read what the caller sees of it.
    ///
    /// # Errors
    ///
    /// As [`Database::delete`].
    pub(super) fn detached(
        &self,
        selection: &Selection<'_>,
        version: &Arc<Version>,
        context: &RequestContext,
    ) -> Result<Detached> {
        let selected;
        let uids = match selection {
            Selection::Uids(uids) => uids,
            Selection::Query(query, name) => {
                let seen = self.seen(Arc::clone(version))?;
                let query = match seen.view() {
                    Some(view) => shown_blocks(Arc::clone(query), view),
                    None => Arc::clone(query),
                };
                let names = std::slice::from_ref(name);
                let mut bindings = exec::execute_upsert(seen, query, &[], names, context)?.bindings;
                selected = match bindings.remove(name) {
                    Some(Binding::Uids(uids)) => uids,
                    _ => Vec::new(),
                };
                &selected[..]
            }
        };
        let charge = |bytes| context.charge(bytes);
        let (changes, nodes) = detach(version, uids, &charge, &|| context.check())?;
        let names: Vec<Arc<str>> = changes.names().map(Arc::from).collect();
        self.check_commit(&names)?;
        Ok(Detached { changes, nodes, uids: uids.to_vec() })
    }
}

/// What a delete changes in one version.
pub(super) struct Detached {
    pub(super) changes: Changes,
    /// The number of the nodes that had a value, an edge, or an edge to them.
    pub(super) nodes: u64,
    /// The nodes that were named, those without anything among them.
    pub(super) uids: Vec<Uid>,
}

/// [`Nodes`], planned.
pub(super) enum Selection<'a> {
    Uids(&'a [Uid]),
    /// A query, and the variable of the nodes.
    Query(Arc<Query>, String),
}

impl<'a> Selection<'a> {
    /// Plans a delete.
    ///
    /// # Errors
    ///
    /// `Syntax` and `Query` for a text that is not one block that selects nodes.
    pub(super) fn new(nodes: &Nodes<'a>, context: &RequestContext) -> Result<Selection<'a>> {
        let (text, variables) = match nodes {
            Nodes::Uids(uids) => return Ok(Selection::Uids(uids)),
            Nodes::Query(text, variables) => (text, variables),
        };
        reserve_plan(text.len(), context)?;
        let mut query = hexgraph_dql::parse(text)?.plan(variables)?;
        let [block] = query.blocks.as_mut_slice() else {
            let message = format!(
                "a delete takes a query of one block, which selects the nodes, and this one has {}",
                query.blocks.len()
            );
            return Err(Error::query(message).with_hint("`{ q(func: eq(name, \"Ada\")) }`"));
        };
        let is_plain = matches!(block.kind, BlockKind::Visible | BlockKind::Hidden);
        if !is_plain || block.group_by.is_some() || block.recurse.is_some() {
            let message =
                format!("the block `{}` selects no nodes that could be deleted", block.name);
            return Err(Error::query_at(block.at, message)
                .with_hint("select them by a function: `{ q(func: eq(name, \"Ada\")) }`"));
        }
        let name = match block.var {
            Some(VarId(at)) => query.variables[at as usize].name.clone(),
            None => {
                block.var = Some(VarId(query.variables.len() as _));
                query.variables.push(Variable { name: SELECTED.to_owned() });
                SELECTED.to_owned()
            }
        };
        Ok(Selection::Query(Arc::new(query), name))
    }
}
