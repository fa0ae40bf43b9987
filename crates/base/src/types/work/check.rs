//! How long work asks whether it may go on.

use crate::types::error::Result;

/// Asked in the middle of long work, from any thread, whether it may go on: an error ends the work, which changes
/// nothing then.
pub type Check<'a> = &'a (dyn Fn() -> Result<()> + Sync);

/// For work that nothing stops.
///
/// # Errors
///
/// Never.
pub fn endless() -> Result<()> {
    Ok(())
}
