//! Bytes of a text that is read event by event: lines are counted, and an event has a greatest
//! length.

use std::io::{self, BufRead, BufReader, Read};

/// The greatest length of an event in bytes, as of a line of other texts.
const EVENT_LEN_MAX: usize = 64 << 20;

/// A text whose lines are counted.
pub(super) struct CountedText {
    inner: BufReader<Box<dyn Read + Send>>,
    /// The line feeds so far.
    feeds: u64,
    /// The bytes of the event.
    event_len: usize,
}

impl CountedText {
    /// Begins to read.
    pub(super) fn new(text: Box<dyn Read + Send>) -> CountedText {
        CountedText { inner: BufReader::with_capacity(1 << 16, text), feeds: 0, event_len: 0 }
    }

    /// Begins an event. Returns the line that it is in, from 1.
    pub(super) fn begin(&mut self) -> u64 {
        self.event_len = 0;
        self.feeds + 1
    }
}

impl Read for CountedText {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for CountedText {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if EVENT_LEN_MAX < self.event_len {
            let fault = format!("a tag or text is longer than {} MiB", EVENT_LEN_MAX >> 20);
            return Err(io::Error::new(io::ErrorKind::InvalidData, fault));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        let read = &self.inner.buffer()[..count];
        self.feeds += memchr::memchr_iter(b'\n', read).count() as u64;
        self.event_len += count;
        self.inner.consume(count);
    }
}
