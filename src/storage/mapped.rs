//! Files mapped into memory. The only place of this layer where memory safety is on us.

use crate::types::Error;
use crate::types::Result;
use bytes::Bytes;
use memmap2::Mmap;
use std::fs::File;
use std::path::Path;

/// Maps a file read-only. Costs the same for any length: pages are read when they are touched.
///
/// # Errors
///
/// [`Error::Io`] when the file can't be opened or mapped.
#[expect(unsafe_code)]
pub(super) fn map_file(path: &Path) -> Result<Bytes> {
    let failed = |source| Error::io(format!("mapping {}", path.display()), source);
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() == 0 {
        return Ok(Bytes::new());
    }
    // SAFETY: The map must not change or shrink while it is borrowed. A published snapshot is
    // written once, beside the others, and from then on only ever renamed or unlinked, which
    // leaves the mapped pages as they are; no code of ours opens one for writing.
    let map = unsafe { Mmap::map(&file) }.map_err(failed)?;
    Ok(Bytes::from_owner(map))
}
