//! Maps files into memory. This is the only file of the layer with unsafe code.

use bytes::Bytes;
use hexgraph_base::types::{Error, Result};
use memmap2::Mmap;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The pages of a map.
#[derive(Clone, Default)]
pub(in crate::storage) struct Pages {
    map: Option<Arc<Mmap>>,
}

/// Lends the bytes of a map to [`Bytes`].
struct Lent(Arc<Mmap>);

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Pages {
    /// Releases the pages of a range. They no longer count as memory of the process, the system may
    /// drop them from its cache, and they are read again on the next access.
    #[cfg(unix)]
    #[expect(unsafe_code)]
    pub(in crate::storage) fn release(&self, range: Range<usize>) {
        use memmap2::UncheckedAdvice;
        let Some(map) = self.map.as_ref().filter(|map| range.end <= map.len()) else { return };
        // SAFETY: Nobody writes to the map, so a page that comes back from the file has the bytes
        // that it had.
        let advised = unsafe {
            map.unchecked_advise_range(UncheckedAdvice::DontNeed, range.start, range.len())
        };
        // Only a hint: a system without it retains the pages.
        let _ = advised;
    }

    /// Does nothing: only Unix knows how.
    #[cfg(not(unix))]
    pub(in crate::storage) fn release(&self, _range: Range<usize>) {}
}

/// Maps a file read-only. Costs the same for any length: pages are read when they are touched.
///
/// # Errors
///
/// [`Error::Io`] when the file can't be opened or mapped.
#[expect(unsafe_code)]
pub(super) fn map_file(path: &Path) -> Result<(Bytes, Pages)> {
    let failed = |source| Error::io(format!("mapping {}", path.display()), source);
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() == 0 {
        return Ok((Bytes::new(), Pages::default()));
    }
    // SAFETY: The map must not change or shrink while it is borrowed. A published snapshot is
    // written once as a new file, and then only renamed or unlinked, which leaves the mapped pages
    // intact; none of our code opens one for writing.
    let map = unsafe { Mmap::map(&file) }.map_err(failed)?;
    let map = Arc::new(map);
    Ok((Bytes::from_owner(Lent(Arc::clone(&map))), Pages { map: Some(map) }))
}
