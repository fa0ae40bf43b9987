//! The options of a request, apart from its plan.

use super::limits::Limits;

/// The options of a request that its text does not have.
#[derive(Debug, Clone, Copy)]
pub struct ExecOptions {
    /// Adds the uid to every object.
    pub debug: bool,
    /// The objects that `@normalize` may make of one node.
    pub normalize: u64,
    /// The bytes that the answer may have as it is written.
    pub result: u64,
}

impl Default for ExecOptions {
    fn default() -> ExecOptions {
        let Limits { normalize, result, .. } = Limits::default();
        ExecOptions { debug: false, normalize, result }
    }
}
