//! Checks whether long work may continue.

use crate::types::error::Result;

/// Called during long work, from any thread. An error stops the work without any change.
pub type Check<'a> = &'a (dyn Fn() -> Result<()> + Sync);

/// For work that nothing stops.
///
/// # Errors
///
/// Never.
pub fn endless() -> Result<()> {
    Ok(())
}
