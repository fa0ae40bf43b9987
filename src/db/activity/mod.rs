//! What a database does and has done, for operators.

mod activity_report;
mod meter;

pub use activity_report::Activity;
pub(super) use meter::Meter;
pub use meter::Runs;
