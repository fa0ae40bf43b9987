//! Printing.

use hexgraph_base::types::{Error, Result};
use std::io;
use std::io::Write;

/// Prints to the standard output; a reader that went away (`| head`) is no fault.
///
/// # Errors
///
/// `Io` when the system refuses.
pub(super) fn print(text: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::io("writing to the standard output", error))
        }
        _ => Ok(()),
    }
}
