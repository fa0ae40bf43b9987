//! The file system interface of durability, small enough to be replaced in tests by files that
//! fail, or that lose unsynced data.

use std::fs::File;
use std::path::Path;
use std::{fs, io};

/// Files that are written. Reading goes past it: what was written is read as it lies on the disk.
pub trait Files: Send + Sync {
    /// Creates a file. One of that name is unlinked first and never written to, since another
    /// process may have mapped it.
    ///
    /// # Errors
    ///
    /// Those of the system, as for everything here.
    fn create(&self, path: &Path) -> io::Result<Box<dyn OutputFile>>;

    /// Cuts a file off after `len` bytes, durably.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn truncate(&self, path: &Path, len: u64) -> io::Result<()>;

    /// Renames a file, replacing an existing one.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Unlinks a file.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Waits until the names in a directory are on the disk.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;
}

/// A file that is written.
pub trait OutputFile: Send + Sync {
    /// Writes some of the bytes at an offset, and says how many.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Cuts the file off after `len` bytes.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Waits until what was written is on the disk.
    ///
    /// # Errors
    ///
    /// Those of the system. What was written may be lost then, whatever a later call says.
    fn sync(&self) -> io::Result<()>;
}

/// Writes all of the bytes at an offset.
///
/// # Errors
///
/// Those of the system; some of them are written then.
pub(crate) fn write_all_at(
    file: &dyn OutputFile,
    mut bytes: &[u8],
    mut offset: u64,
) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write_at(bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                bytes = &bytes[written..];
                offset += written as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The files of the operating system.
pub struct Disk;

impl Files for Disk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn OutputFile>> {
        match fs::remove_file(path) {
            Err(fault) if fault.kind() != io::ErrorKind::NotFound => return Err(fault),
            _ => {}
        }
        Ok(Box::new(File::create_new(path)?))
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        let file = File::options().write(true).open(path)?;
        file.set_len(len)?;
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        // Other systems give no handle of a directory that could be synced, and need none.
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }
}

impl OutputFile for File {
    #[cfg(unix)]
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::write_at(self, bytes, offset)
    }

    #[cfg(windows)]
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_write(self, bytes, offset)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        File::set_len(self, len)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}
