//! The table of contents of a snapshot: a sequence of small numbers and texts.
//!
//! Numbers are little-endian; a text is its length in 32 bits and its bytes. Reading checks every
//! step, so a damaged catalog is an error and never more.

use hexgraph_base::types::{Error, Result};

/// Writes a catalog.
#[derive(Default)]
pub(crate) struct CatalogWriter {
    bytes: Vec<u8>,
}

impl CatalogWriter {
    /// Adds a small number.
    pub(crate) fn byte(&mut self, number: u8) {
        self.bytes.push(number);
    }

    /// Adds a number.
    pub(crate) fn number(&mut self, number: u64) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    /// Adds how many things follow.
    ///
    /// # Panics
    ///
    /// When there are 2^32 or more, which no schema has.
    pub(crate) fn count(&mut self, count: usize) {
        let count = u32::try_from(count).expect("a catalog has fewer than 2^32 entries");
        self.bytes.extend_from_slice(&count.to_le_bytes());
    }

    /// Adds a text.
    pub(crate) fn text(&mut self, text: &str) {
        self.count(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Adds bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    /// The complete catalog.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads a catalog.
pub(crate) struct CatalogReader<'a> {
    bytes: &'a [u8],
    at: usize,
    path: String,
}

impl<'a> CatalogReader<'a> {
    /// A reader of the catalog of the file `path`.
    pub(crate) fn new(bytes: &'a [u8], path: String) -> CatalogReader<'a> {
        CatalogReader { bytes, at: 0, path }
    }

    /// The next byte.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] at the end of the catalog, as for all that follow.
    pub(crate) fn byte(&mut self) -> Result<u8> {
        Ok(self.read::<1>()?[0])
    }

    /// The next number.
    pub(crate) fn number(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.read()?))
    }

    /// The number of things that follow.
    pub(crate) fn count(&mut self) -> Result<usize> {
        Ok(u32::from_le_bytes(self.read()?) as usize)
    }

    /// The next text.
    pub(crate) fn text(&mut self) -> Result<&'a str> {
        let text = self.bytes()?;
        std::str::from_utf8(text).map_err(|_| self.corrupt("a text is not UTF-8"))
    }

    /// The next bytes.
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8]> {
        let len = self.count()?;
        let bytes = self.bytes;
        let Some(result) = bytes.get(self.at..).and_then(|rest| rest.get(..len)) else {
            return Err(self.corrupt("it ends within a text"));
        };
        self.at += len;
        Ok(result)
    }

    /// True when all was read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// The error for what makes no sense just before here.
    pub(crate) fn corrupt(&self, what: &str) -> Error {
        let message = format!("section `catalog` before offset {}: {what}", self.at);
        Error::Corrupt { path: self.path.clone(), message }
    }

    fn read<const N: usize>(&mut self) -> Result<[u8; N]> {
        let read = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk());
        let Some(&read) = read else { return Err(self.corrupt("it ends too early")) };
        self.at += N;
        Ok(read)
    }
}
