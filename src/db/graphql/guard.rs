//! What a mutation may do: where the rules of `@auth` are asked.
//!
//! Rules that restrict which nodes an update or a delete selects are part of its query; what is
//! asked here is about nodes that a mutation touches beside those.

use crate::db::graphql::stage::Touched;
use crate::exec::Control;
use crate::exec::execute_upsert;
use crate::graph::Version;
use crate::graphql::lower::Access;
use crate::graphql::lower::Caller;
use crate::graphql::lower::lower_permitted;
use crate::graphql::model::Operation;
use crate::plan::Block;
use crate::plan::Query;
use crate::plan::Variable;
use crate::types::Result;
use crate::types::Uid;
use std::sync::Arc;

/// The variable of the nodes that pass.
const PASSED: &str = "passed";

/// Asks the rules for one mutation.
pub(super) struct Guard<'a> {
    /// Who mutates.
    pub caller: Caller<'a>,
    /// What stops the asking.
    pub control: &'a Control,
}

impl Guard<'_> {
    /// Which of the nodes that an upsert would change may be changed, by `update` rules.
    ///
    /// # Errors
    ///
    /// When the control says stop.
    pub fn may_upsert(&self, before: &Arc<Version>, nodes: &[Touched<'_>]) -> Result<Vec<Uid>> {
        self.permitted(before, nodes, Operation::Update)
    }

    /// Whether all nodes that lose a link to another one may be changed, by `update` rules.
    ///
    /// # Errors
    ///
    /// When the control says stop.
    pub fn may_displace(&self, before: &Arc<Version>, nodes: &[Touched<'_>]) -> Result<bool> {
        self.may_all(before, nodes, Operation::Update)
    }

    /// Whether all new nodes may be added, by `add` rules on the version that has them.
    ///
    /// # Errors
    ///
    /// When the control says stop.
    pub fn may_add(&self, after: &Arc<Version>, nodes: &[Touched<'_>]) -> Result<bool> {
        self.may_all(after, nodes, Operation::Add)
    }

    fn may_all(
        &self,
        version: &Arc<Version>,
        nodes: &[Touched<'_>],
        operation: Operation,
    ) -> Result<bool> {
        let mut wanted: Vec<Uid> = nodes.iter().map(|node| node.uid).collect();
        wanted.sort_unstable();
        wanted.dedup();
        Ok(self.permitted(version, nodes, operation)? == wanted)
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
            let mut uids: Vec<Uid> = of_type.map(|node| node.uid).collect();
            uids.sort_unstable();
            uids.dedup();
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
        let mut left: Vec<Uid> = nodes.iter().map(|node| node.uid).collect();
        left.sort_unstable();
        left.dedup();
        left.retain(|uid| !refused.contains(uid));
        Ok(left)
    }

    fn passing(&self, version: &Arc<Version>, block: Block) -> Result<Vec<Uid>> {
        let variables = vec![Variable { name: PASSED.to_owned() }];
        let query = Query { blocks: vec![block], variables, ..Query::default() };
        let names = [PASSED.to_owned()];
        let done = execute_upsert(Arc::clone(version), Arc::new(query), &[], &names, self.control)?;
        let mut uids = done.bindings.get_uids(PASSED).map_or_else(Vec::new, |uids| uids.to_vec());
        uids.sort_unstable();
        Ok(uids)
    }
}
