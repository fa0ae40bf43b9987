//! Properties of all values, and what several modules do together.

mod samples;
mod rows;
mod evaluator;
mod conformance;
mod calls;
mod groups;
