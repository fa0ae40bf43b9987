//! The state that is common to all steps of a request: the version, the plan, the variables so far.

use super::column_var::ColumnVar;
use super::stop::RequestContext;
use super::tree::ValueMap;
use crate::graph::{Predicate, Version};
use crate::storage::NodeSet;
use hexgraph_base::plan::{Query, VarId};
use hexgraph_base::types::{Error, Result};
use std::sync::Arc;

/// The least capacity of a list, in nodes.
const CAPACITY_MIN: usize = 16;

/// A request while it runs.
pub(crate) struct Context<'a> {
    /// The graph.
    pub(crate) version: &'a Version,
    /// The plan.
    pub(crate) query: &'a Query,
    /// Stops the request, and charges its memory.
    pub(crate) control: &'a RequestContext,
    /// The variables that have a value, by [`VarId`].
    pub(crate) vars: Vec<Option<Var>>,
}

/// The content of a variable.
#[derive(Debug, Clone)]
pub(crate) enum Var {
    /// Nodes; in the order of the path for a `shortest` block.
    Uids(UidVar),
    /// A value for some nodes.
    Values(Arc<ValueMap>),
    /// The numbers that some nodes have of a predicate, read when they are requested.
    Column(Arc<ColumnVar>),
}

/// The nodes of a variable.
#[derive(Clone)]
pub(crate) struct UidVar {
    /// The nodes.
    pub(crate) set: NodeSet,
    /// The nodes in the order of a path.
    pub(crate) path: Option<Arc<Vec<u32>>>,
}

impl std::fmt::Debug for UidVar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UidVar({} nodes)", self.set.len())
    }
}

impl Var {
    /// A variable of nodes.
    pub(crate) fn uids(set: NodeSet) -> Var {
        Var::Uids(UidVar { set, path: None })
    }
}

impl<'a> Context<'a> {
    /// The predicate of a name.
    pub(crate) fn predicate(&self, name: &str) -> Option<&'a Arc<Predicate>> {
        self.version.predicate(name)
    }

    /// The nodes of a variable: of a value variable, those that have a value.
    pub(crate) fn uid_var(&self, var: VarId) -> NodeSet {
        match &self.vars[var.0 as usize] {
            Some(Var::Uids(uids)) => uids.set.clone(),
            // One value for all stands at a node of its own, as in Dgraph.
            Some(Var::Values(map)) if map.constant.is_some() => NodeSet::from(vec![u32::MAX]),
            Some(Var::Values(map)) => NodeSet::from(map.nodes.clone()),
            Some(Var::Column(column)) => column.subjects(),
            None => NodeSet::default(),
        }
    }

    /// The values of a variable; `None` while it has none, or when it holds nodes.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] when there is no memory to read them.
    pub(crate) fn value_var(&self, var: VarId) -> Result<Option<Arc<ValueMap>>> {
        match &self.vars[var.0 as usize] {
            Some(Var::Values(map)) => Ok(Some(Arc::clone(map))),
            Some(Var::Column(column)) => column.values(self.control).map(Some),
            Some(Var::Uids(_)) | None => Ok(None),
        }
    }

    /// The column that a variable represents, until its values are requested.
    pub(crate) fn unread_column(&self, var: VarId) -> Option<&ColumnVar> {
        let Some(Var::Column(column)) = &self.vars[var.0 as usize] else { return None };
        (!column.is_read()).then_some(column)
    }

    /// The name of a variable.
    pub(crate) fn var_name(&self, var: VarId) -> &'a str {
        &self.query.variables[var.0 as usize].name
    }

    /// The values of a variable.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when it holds nodes; [`Error::Limit`] when there is no memory to read the
    /// values.
    pub(crate) fn expect_values(&self, var: VarId) -> Result<Arc<ValueMap>> {
        match &self.vars[var.0 as usize] {
            Some(Var::Values(map)) => Ok(Arc::clone(map)),
            Some(Var::Column(column)) => column.values(self.control),
            Some(Var::Uids(uids)) if uids.set.is_empty() => Ok(Arc::default()),
            Some(Var::Uids(_)) => {
                let name = self.var_name(var);
                let message =
                    format!("variable `{name}` holds nodes, and `val({name})` needs values");
                let hint =
                    format!("write `uid({name})`, or `{name} as ...` before a field with values");
                Err(Error::query(message).with_hint(hint))
            }
            None => Ok(Arc::default()),
        }
    }

    /// Sets a variable.
    pub(crate) fn set_var(&mut self, var: VarId, value: Var) {
        self.vars[var.0 as usize] = Some(value);
    }

    /// Reserves capacity in a list for `more` nodes; the memory is charged before it is allocated.
    /// A list that has to grow gets at least twice its capacity, and both are charged while it is
    /// copied.
    pub(crate) fn make_space(&self, list: &mut Vec<u32>, more: usize) -> Result<()> {
        let (capacity, expected) = (list.capacity(), list.len() + more);
        if expected <= capacity {
            return Ok(());
        }
        let expected = expected.max(2 * capacity).max(CAPACITY_MIN);
        self.control.charge(size_of::<u32>() * expected)?;
        list.reserve_exact(expected - list.len());
        self.control.uncharge(size_of::<u32>() * capacity);
        Ok(())
    }

    /// Stops the request when it was cancelled or is out of time.
    pub(crate) fn check(&self) -> Result<()> {
        self.control.check()
    }
}
