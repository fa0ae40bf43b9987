//! JSON in pieces, for answers that are longer than what should be in memory at once.

use super::json::JsonSink;
use crate::types::{Result, Sink, Uid, ValueRef};
use std::panic::resume_unwind;

/// Writes an answer as JSON and hands it over piece by piece. A piece is a little longer than what
/// is asked for: it ends behind an object. Where it can't be handed over, the writing unwinds with
/// the error, since a sink can't refuse what it is given in any other way.
pub struct ChunkSink<F> {
    json: JsonSink,
    chunk_len: usize,
    send: F,
}

impl<F: FnMut(Vec<u8>) -> Result<()>> ChunkSink<F> {
    /// A sink that hands over pieces of about so many bytes.
    pub fn new(chunk_len: usize, send: F) -> ChunkSink<F> {
        ChunkSink { json: JsonSink::with_capacity(chunk_len + chunk_len / 8), chunk_len, send }
    }

    /// Hands over the rest.
    ///
    /// # Errors
    ///
    /// Those of handing over.
    pub fn finish(mut self) -> Result<()> {
        (self.send)(self.json.into_bytes())
    }
}

impl<F: FnMut(Vec<u8>) -> Result<()>> Sink for ChunkSink<F> {
    fn begin_object(&mut self) {
        self.json.begin_object();
    }

    fn end_object(&mut self) {
        self.json.end_object();
        if self.chunk_len < self.json.as_bytes().len() {
            let written = self.json.take_written();
            if let Err(error) = (self.send)(written) {
                resume_unwind(Box::new(error));
            }
        }
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random objects, some of which are taken back because nothing is in them.
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
    fn pieces_are_the_whole() {
        for seed in 0..300 {
            let mut whole = JsonSink::new();
            write(&mut whole, &mut fastrand::Rng::with_seed(seed), 6);
            for chunk_len in [0, 1, 30, 200] {
                let mut pieces = Vec::new();
                let mut sink = ChunkSink::new(chunk_len, |piece: Vec<u8>| {
                    pieces.push(piece);
                    Ok(())
                });
                write(&mut sink, &mut fastrand::Rng::with_seed(seed), 6);
                sink.finish().unwrap();
                let joined = String::from_utf8(pieces.concat()).unwrap();
                assert_eq!(joined.as_bytes(), whole.as_bytes(), "seed {seed}, {chunk_len}");
            }
        }
    }
}
