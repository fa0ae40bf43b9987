//! An upsert: what mutations ask of the query before them, and the plan of both.

use super::ast;
use super::source::Source;
use hexgraph_base::plan;
use std::sync::Arc;

/// The condition of a mutation.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    pub(super) source: Arc<Source>,
    pub(super) filter: Option<ast::Condition>,
}

/// What an upsert will do: its query, and the condition of each mutation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UpsertPlan {
    /// The query; empty when there is none.
    pub query: plan::Query,
    /// The conditions in the order given; `None` is always true. Their variables are those of
    /// the query.
    pub conditions: Vec<Option<plan::Filter>>,
}
