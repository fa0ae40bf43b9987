//! Printing, and files that are entire or not there.

use hexgraph_base::types::{Error, Result};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Prints to the standard output; a reader that went away (`| head`) is no fault.
///
/// # Errors
///
/// `Io` on an error of the operating system.
pub(super) fn print(text: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::io("writing to the standard output", error))
        }
        _ => Ok(()),
    }
}

/// Writes a file, instead of one that is there: a reader sees the complete old or new one.
///
/// # Errors
///
/// `Io` with the name of the file.
pub(super) fn save(file: &Path, bytes: &[u8]) -> Result<()> {
    // A device or a pipe is written to, and not replaced.
    let is_special = fs::metadata(file).is_ok_and(|it| !it.is_file() && !it.is_dir());
    let mut partial = file.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let done = match is_special {
        true => fs::write(file, bytes),
        false => fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, file)),
    };
    done.map_err(|error| {
        // The error says more than that half a file can't be removed.
        let _ = fs::remove_file(&partial);
        Error::io(format!("writing {}", file.display()), error)
    })
}
