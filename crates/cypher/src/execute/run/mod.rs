//! How a plan runs: one row, whose slots the stages fill, and callbacks for each next row.

mod rows;
mod cache;
mod algorithms;
mod execution;
mod expressions;
mod values;
mod lists;
mod entities;
mod stages;
mod groups;
mod sorting;
mod ranges;
mod matches;
mod walks;
mod shortest;

pub(super) use cache::{LabelSet, VisitedNodes};
pub(super) use execution::{DONE, Execution, Flow, MORE, Reservation, Row, Sink, weight};
