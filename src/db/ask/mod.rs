//! Questions, and what is kept of them.

pub(super) mod plans;
pub(super) mod slow;
pub(super) mod checked;
pub(super) mod rows;
pub(super) mod query;
pub(super) mod pages;
pub(super) mod explain;
