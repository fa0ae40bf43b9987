//! The newest version for the layer `tables`, which reads columns itself.

use super::database::Database;
use super::guard::guarded;
use hexgraph_base::types::Result;
use hexgraph_store::graph::Version;

impl Database {
    /// Runs `work` on the newest version, with panics converted to errors.
    ///
    /// # Errors
    ///
    /// Those of `work`; `Corrupt` when it meets a damaged part of the file.
    pub(crate) fn with_version<T>(&self, work: impl FnOnce(&Version) -> Result<T>) -> Result<T> {
        let version = self.version()?;
        guarded(|| work(&version))
    }
}
