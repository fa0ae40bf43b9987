//! Queries: planning, answers, answers that are retained, paging, explanations, and the log of slow
//! ones.

pub(super) mod plans;
pub(super) mod slow;
pub(super) mod retained;
pub(super) mod algorithm;
pub(super) mod checked;
pub(super) mod shown;
pub(super) mod warnings;
pub(super) mod answer;
pub(super) mod results;
pub(super) mod prepared;
pub(super) mod each;
pub(super) mod many;
pub(super) mod pages;
pub(super) mod explain;
pub(super) mod grammar;
pub(super) mod objects;
