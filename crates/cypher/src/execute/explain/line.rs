//! A line of a plan.

use crate::execute::profile::StepId;

/// One operator.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::execute) struct Line {
    /// How many operators it is part of.
    pub(in crate::execute) depth: usize,
    pub(in crate::execute) operator: &'static str,
    /// What it works on, in the words of the text.
    pub(in crate::execute) detail: String,
    /// About how many rows it gives, where labels, indexes and edges say so.
    pub(in crate::execute) estimate: Option<f64>,
    /// What is measured; `None` for a part of an operator that is not measured by itself.
    pub(in crate::execute) measured: Option<StepId>,
}
