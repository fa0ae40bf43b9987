//! Upserts: a query followed by mutations that use its variables.

use crate::syntax::ast;
use crate::syntax::source::Source;
use hexgraph_base::plan;
use std::sync::Arc;

/// The parsed condition of a mutation. It has a source text of its own, so its positions are not
/// those of the query.
#[derive(Debug, Clone, PartialEq)]
pub struct UpsertCondition {
    pub(crate) source: Arc<Source>,
    pub(crate) filter: Option<ast::Condition>,
}

/// The plan of an upsert: its query, and the condition of each mutation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UpsertPlan {
    /// The query; it has no blocks when the upsert has no query.
    pub query: plan::Query,
    /// The conditions in the order of the mutations; `None` for a mutation that always runs. Their
    /// variables are those of the query.
    pub conditions: Vec<Option<plan::Filter>>,
}
