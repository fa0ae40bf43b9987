//! An array that is written to a temporary file a slice at a time, and mapped in the end.
//!
//! It has no checksums: the file is unlinked before anybody else can open it, and lives as long as
//! this process.

use super::mapped::map_file;
use crate::storage::columns::array::Array;
use hexgraph_base::types::{Error, Result};
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

/// A file that an array is written to.
pub(crate) struct ScratchArray {
    path: PathBuf,
    file: File,
}

impl ScratchArray {
    /// Creates the file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] on an error of the operating system, as do all functions here.
    pub(crate) fn create(path: PathBuf) -> Result<ScratchArray> {
        match File::create_new(&path) {
            Ok(file) => Ok(ScratchArray { path, file }),
            Err(error) => Err(Error::io(format!("creating {}", path.display()), error)),
        }
    }

    /// Appends numbers.
    pub(crate) fn push(&mut self, numbers: &[u32]) -> Result<()> {
        let written = self.file.write_all(bytemuck::cast_slice(numbers));
        written.map_err(|error| Error::io(format!("writing {}", self.path.display()), error))
    }

    /// Maps what was written.
    pub(crate) fn finish(self) -> Result<Array<u32>> {
        let (bytes, _) = map_file(&self.path)?;
        // Where a mapped file can't be removed it goes with its folder.
        let _ = fs::remove_file(&self.path);
        Ok(Array::from_scratch(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_pushed_is_mapped() {
        let folder = tempfile::tempdir().unwrap();
        for slices in [vec![], vec![vec![]], vec![vec![1, u32::MAX], vec![], vec![7; 100_000]]] {
            let path = folder.path().join("scratch");
            let mut scratch = ScratchArray::create(path.clone()).unwrap();
            assert!(ScratchArray::create(path.clone()).is_err());
            slices.iter().for_each(|slice| scratch.push(slice).unwrap());
            assert_eq!(scratch.finish().unwrap().as_slice(), slices.concat());
            assert!(!path.exists());
        }
    }
}
