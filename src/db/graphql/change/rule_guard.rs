//! What a mutation may do: the rules of `@auth`.
//!
//! Rules that restrict which nodes an update or a delete selects are part of its query; the checks
//! here are for other nodes that a mutation touches.

use super::stage::{MayWrite, Permits};
use super::touched::Touched;
use crate::db::Database;
use hexgraph_base::plan::{Block, Query, Reads, Variable};
use hexgraph_base::types::{Result, Uid};
use hexgraph_graphql::lower::{Access, Caller, lower_permitted};
use hexgraph_graphql::model::Operation;
use hexgraph_store::exec::{RequestContext, execute_upsert};
use hexgraph_store::graph::{Mutation, Version};
use std::sync::{Arc, Mutex, PoisonError};

/// The name of the query variable that collects the nodes whose rules hold.
const PASSED: &str = "passed";

/// Evaluates the rules for one mutation.
pub(in crate::db::graphql) struct Guard<'a> {
    /// The database, as the user of the request sees it.
    pub database: &'a Database,
    /// The caller of the mutation.
    pub caller: Caller<'a>,
    /// The context that can stop the queries of the rules.
    pub context: &'a RequestContext,
    /// True if a caller may link nodes that the rules hide from it, provided that it names their
    /// IDs or values.
    pub links_hidden: bool,
    /// The predicates that the rules have read so far.
    pub reads: Mutex<Reads>,
}

impl Permits for Guard<'_> {
    fn seen(&self, version: &Arc<Version>) -> Result<Arc<Version>> {
        self.database.seen(Arc::clone(version))
    }

    fn check_writes(&self, mutation: &Mutation<'_>) -> Result<MayWrite> {
        Ok(Box::new(self.database.check_writes(std::slice::from_ref(mutation))?))
    }

    /// Evaluates the `update` rules of the nodes.
    fn may_upsert(&self, before: &Arc<Version>, nodes: &[Touched<'_>]) -> Result<Vec<Uid>> {
        self.permitted(before, nodes, Operation::Update)
    }

    /// Evaluates the `query` rules of the nodes, and for hidden ones the `update` rules of types
    /// that have any. Without `update` rules everybody may change the nodes of a type, but not
    /// learn of them.
    fn may_link(&self, before: &Arc<Version>, nodes: &[Touched<'_>]) -> Result<Vec<Uid>> {
        if self.links_hidden {
            return Ok(sorted(nodes.iter().map(|node| node.uid)));
        }
        let mut existing = self.permitted(before, nodes, Operation::Query)?;
        let is_left = |node: &&Touched<'_>| {
            existing.binary_search(&node.uid).is_err() && self.has_update_rules(node.type_name)
        };
        let left: Vec<Touched<'_>> = nodes.iter().filter(is_left).copied().collect();
        existing.extend(self.permitted(before, &left, Operation::Update)?);
        Ok(sorted(existing))
    }
}

impl Guard<'_> {
    /// Returns true if a type has `update` rules. For an interface or a union, each of its types
    /// must have some.
    fn has_update_rules(&self, type_name: &str) -> bool {
        let Some(def) = self.caller.model.get(type_name) else { return false };
        let concrete: Vec<&String> = def.implementors.iter().chain(&def.members).collect();
        match concrete.is_empty() {
            true => def.auth.update.is_some(),
            false => concrete.into_iter().all(|name| self.has_update_rules(name)),
        }
    }

    /// Whether all nodes that lose a link to another one may be changed, by `update` rules.
    ///
    /// # Errors
    ///
    /// When the context says stop.
    pub(super) fn may_displace(
        &self,
        before: &Arc<Version>,
        nodes: &[Touched<'_>],
    ) -> Result<bool> {
        self.may_all(before, nodes, Operation::Update)
    }

    /// Whether all new nodes may be added, by `add` rules on the version that has them.
    ///
    /// # Errors
    ///
    /// When the context says stop.
    pub(super) fn may_add(&self, after: &Arc<Version>, nodes: &[Touched<'_>]) -> Result<bool> {
        self.may_all(after, nodes, Operation::Add)
    }

    fn may_all(
        &self,
        version: &Arc<Version>,
        nodes: &[Touched<'_>],
        operation: Operation,
    ) -> Result<bool> {
        let expected = sorted(nodes.iter().map(|node| node.uid));
        Ok(self.permitted(version, nodes, operation)? == expected)
    }

    /// The nodes that the rules of all their types leave, ascending. One query for each type.
    fn permitted(
        &self,
        version: &Arc<Version>,
        nodes: &[Touched<'_>],
        operation: Operation,
    ) -> Result<Vec<Uid>> {
        let mut names: Vec<&str> = nodes.iter().map(|node| node.type_name).collect();
        names.sort_unstable();
        names.dedup();
        let mut refused: Vec<Uid> = Vec::new();
        for name in names {
            let of_type = nodes.iter().filter(|node| node.type_name == name);
            let mut uids = sorted(of_type.map(|node| node.uid));
            let def = self.caller.model.get(name);
            match def.map_or(Access::All, |def| self.caller.access(def, operation)) {
                Access::All => continue,
                Access::None => {}
                Access::Where(filter) => {
                    let query = lower_permitted(uids.iter().map(|uid| uid.0).collect(), filter);
                    let passed = self.passing(version, query)?;
                    uids.retain(|uid| passed.binary_search(uid).is_err());
                }
            }
            refused.extend(uids);
        }
        let refused = sorted(refused);
        let mut left = sorted(nodes.iter().map(|node| node.uid));
        left.retain(|uid| refused.binary_search(uid).is_err());
        Ok(left)
    }

    fn passing(&self, version: &Arc<Version>, block: Block) -> Result<Vec<Uid>> {
        let variables = vec![Variable { name: PASSED.to_owned() }];
        let query = Query { blocks: vec![block], variables, ..Query::default() };
        self.reads.lock().unwrap_or_else(PoisonError::into_inner).add_query(&query);
        let names = [PASSED.to_owned()];
        let seen = self.seen(version)?;
        let done = execute_upsert(seen, Arc::new(query), &[], &names, self.context)?;
        let mut uids = done.bindings.get_uids(PASSED).map_or_else(Vec::new, |uids| uids.to_vec());
        uids.sort_unstable();
        Ok(uids)
    }
}

/// Uids ascending, each once.
fn sorted(uids: impl IntoIterator<Item = Uid>) -> Vec<Uid> {
    let mut uids: Vec<Uid> = uids.into_iter().collect();
    uids.sort_unstable();
    uids.dedup();
    uids
}
