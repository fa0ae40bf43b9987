//! Writes JSON in chunks, for answers that are too long to be in memory at once.

use super::json::JsonSink;
use super::json_rows::Rows;
use crate::types::{Objects, Result, Sink, Uid, ValueRef};
use std::panic::resume_unwind;

/// A sink that writes an answer as JSON and passes it to a function chunk by chunk. A chunk is cut
/// after an object, so it is slightly longer than the requested length. When the function fails,
/// the thread unwinds with the error, since the methods of a sink return nothing.
pub struct ChunkSink<F> {
    json: JsonSink,
    chunk_len: usize,
    send: F,
}

impl<F: FnMut(Vec<u8>) -> Result<()>> ChunkSink<F> {
    /// Creates a sink that passes chunks of at least `chunk_len` bytes to `send`.
    pub fn new(chunk_len: usize, send: F) -> ChunkSink<F> {
        ChunkSink { json: JsonSink::with_capacity(chunk_len + chunk_len / 8), chunk_len, send }
    }

    /// Passes on what is left; it may be shorter than a chunk.
    ///
    /// # Errors
    ///
    /// The error of the function that takes the chunks.
    pub fn finish(mut self) -> Result<()> {
        (self.send)(self.json.into_bytes())
    }

    /// Passes on what is written where it is long enough. To be called after an object.
    fn pass_on(&mut self) {
        if self.chunk_len < self.json.as_bytes().len() {
            let written = self.json.drain();
            if let Err(error) = (self.send)(written) {
                resume_unwind(Box::new(error));
            }
        }
    }
}

impl<F: FnMut(Vec<u8>) -> Result<()>> Sink for ChunkSink<F> {
    fn begin_object(&mut self) {
        self.json.begin_object();
    }

    fn end_object(&mut self) {
        self.json.end_object();
        self.pass_on();
    }

    fn discard_object(&mut self) {
        self.json.discard_object();
    }

    fn begin_array(&mut self) {
        self.json.begin_array();
    }

    fn end_array(&mut self) {
        self.json.end_array();
    }

    fn discard_array(&mut self) {
        self.json.discard_array();
    }

    fn is_empty(&self) -> bool {
        self.json.is_empty()
    }

    fn key(&mut self, key: &str) {
        self.json.key(key);
    }

    fn value(&mut self, value: ValueRef<'_>) {
        self.json.value(value);
    }

    fn uid(&mut self, uid: Uid) {
        self.json.uid(uid);
    }

    fn int(&mut self, number: i64) {
        self.json.int(number);
    }

    fn null(&mut self) {
        self.json.null();
    }

    fn text(&mut self, text: &str) {
        self.json.text(text);
    }

    fn takes_rows(&self) -> bool {
        true
    }

    fn objects(&mut self, objects: &Objects<'_>) -> bool {
        let rows = Rows::new(objects);
        for position in objects.positions() {
            let before = self.json.as_bytes().len();
            self.json.write_row(&rows, position);
            // One without a value is left out.
            if before < self.json.as_bytes().len() {
                self.pass_on();
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random objects, some of them removed because nothing is in them.
    fn write(sink: &mut dyn Sink, random: &mut fastrand::Rng, depth: usize) {
        sink.begin_object();
        for field in 0..random.usize(..4) {
            match random.usize(..4) {
                0 | 1 if 0 < depth => {
                    sink.key(&format!("k{field}"));
                    sink.begin_array();
                    for _ in 0..random.usize(..4) {
                        write(sink, random, depth - 1);
                    }
                    if sink.is_empty() {
                        sink.discard_array();
                    } else {
                        sink.end_array();
                    }
                }
                2 => {
                    sink.key(&format!("k{field}"));
                    sink.text("some text");
                }
                _ => {
                    sink.key(&format!("k{field}"));
                    // Left out, with its key.
                    sink.value(ValueRef::Float(f64::NAN));
                }
            }
        }
        if sink.is_empty() {
            sink.discard_object();
        } else {
            sink.end_object();
        }
    }

    #[test]
    fn chunks_concatenate_to_the_answer() {
        for seed in 0..300 {
            let mut full = JsonSink::new();
            write(&mut full, &mut fastrand::Rng::with_seed(seed), 6);
            for chunk_len in [0, 1, 30, 200] {
                let mut chunks = Vec::new();
                let mut sink = ChunkSink::new(chunk_len, |chunk: Vec<u8>| {
                    chunks.push(chunk);
                    Ok(())
                });
                write(&mut sink, &mut fastrand::Rng::with_seed(seed), 6);
                sink.finish().unwrap();
                let joined = String::from_utf8(chunks.concat()).unwrap();
                assert_eq!(joined.as_bytes(), full.as_bytes(), "seed {seed}, {chunk_len}");
            }
        }
    }
}
