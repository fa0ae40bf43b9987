//! Answers that are written while they are sent.
//!
//! The writer runs on a thread that may wait, and hands fragments over through a short channel: so
//! an answer of gigabytes needs a few fragments of memory in addition to its data. The writer waits
//! for a client that reads slowly, but not long, and not past the deadline of the request.
//!
//! The result is complete when the writing begins; what may fail then are the limits on time and on
//! the length of the answer, or damage in a file. The status is sent by then, so the connection is
//! cut: a client sees that the body has no end.

use super::coding::{Coding, Compressor};
use super::stream_slots::StreamSlot;
use crate::http::admission::lower_priority;
use axum::body::{Body, Bytes};
use futures_util::stream;
use hexgraph::db::RequestContext;
use hexgraph_base::types::{Error, Result};
use std::time::Duration;
use std::{io, thread};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::sync::mpsc::Sender;
use tokio::time::timeout;

/// Answers of more bytes than this are written while they are sent.
pub(in crate::http) const STREAM_MIN: u64 = 4 << 20;

/// The length of a fragment in bytes.
pub(in crate::http) const CHUNK_LEN: usize = 256 << 10;

/// The largest number of answers that are written while they are sent at the same time; each
/// occupies a thread.
pub(in crate::http) const STREAMS_MAX: usize = 64;

/// The number of fragments that may wait for the client.
const CHUNKS_MAX: usize = 4;

/// A client that reads no fragment for this long is disconnected.
const PATIENCE: Duration = Duration::from_secs(30);

/// The interval at which a waiting writer checks its control.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// The receiver of the fragments of an answer.
pub(in crate::http) struct Chunks<'a> {
    channel: ClientChannel<'a>,
    packer: Option<Compressor>,
}

/// The channel to the client.
#[derive(Clone, Copy)]
struct ClientChannel<'a> {
    sender: &'a Sender<Chunk>,
    control: &'a RequestContext,
    runtime: &'a Handle,
}

/// An answer that is not written yet.
pub(in crate::http) struct StreamedAnswer {
    control: RequestContext,
    write: Box<dyn FnOnce(&RequestContext, &mut Chunks<'_>) -> Result<()> + Send>,
    slot: StreamSlot,
}

enum Chunk {
    Next(Vec<u8>),
    End,
}

impl StreamedAnswer {
    /// What `write` will write, until `control` stops it.
    pub(in crate::http) fn new(
        slot: StreamSlot,
        control: RequestContext,
        write: impl FnOnce(&RequestContext, &mut Chunks<'_>) -> Result<()> + Send + 'static,
    ) -> StreamedAnswer {
        StreamedAnswer { control, write: Box::new(write), slot }
    }

    /// Begins to write. Returns what is to be sent.
    pub(in crate::http) fn start(self, coding: Option<Coding>) -> Body {
        let StreamedAnswer { control, write, slot } = self;
        let packer = coding.and_then(Coding::packer);
        let (sender, receiver) = mpsc::channel(CHUNKS_MAX);
        let runtime = Handle::current();
        let work = move || {
            // An answer of this length is never quick.
            lower_priority();
            let channel = ClientChannel { sender: &sender, control: &control, runtime: &runtime };
            let mut chunks = Chunks { channel, packer };
            // A writer that fails sends no end, so the connection is cut.
            if write(&control, &mut chunks).and_then(|()| chunks.finish()).is_ok() {
                let _ = channel.wait(Chunk::End);
            }
            drop(slot);
        };
        // Not one of the threads that answer requests. Without one there is no end either.
        let _ = thread::Builder::new().name("hexgraph-stream".to_owned()).spawn(work);
        Body::from_stream(stream::unfold(Some(receiver), |receiver| async {
            let mut receiver = receiver?;
            match receiver.recv().await {
                Some(Chunk::Next(bytes)) => Some((Ok(Bytes::from(bytes)), Some(receiver))),
                Some(Chunk::End) => None,
                // After the error there is no receiver, and the stream is closed.
                None => Some((Err(io::Error::other("the answer is incomplete")), None)),
            }
        }))
    }
}

impl Chunks<'_> {
    /// Hands a fragment over, compressed if the client accepts that; compression may delay it.
    ///
    /// # Errors
    ///
    /// `Limit` when the client does not read it.
    pub(in crate::http) fn send(&mut self, bytes: Vec<u8>) -> Result<()> {
        let Some(packer) = &mut self.packer else { return self.hand_over(bytes) };
        packer.write(&bytes).expect("a vector takes what is written to it");
        match CHUNK_LEN / 4 < packer.ready().len() {
            true => {
                let packed = std::mem::take(packer.ready());
                self.hand_over(packed)
            }
            false => Ok(()),
        }
    }

    fn finish(mut self) -> Result<()> {
        match self.packer.take() {
            Some(packer) => {
                let rest = packer.finish().expect("a vector takes what is written to it");
                self.hand_over(rest)
            }
            None => Ok(()),
        }
    }

    fn hand_over(&self, bytes: Vec<u8>) -> Result<()> {
        self.channel.wait(Chunk::Next(bytes))
    }
}

impl ClientChannel<'_> {
    /// Hands a fragment over as soon as there is space for it.
    fn wait(&self, chunk: Chunk) -> Result<()> {
        let message = "the client takes nothing of the answer";
        let given_up = || Error::Limit { message: message.to_owned() };
        let mut waited = Duration::ZERO;
        let position = loop {
            self.control.check()?;
            // The timer belongs to the runtime.
            let capacity = async { timeout(LOOK_INTERVAL, self.sender.reserve()).await };
            // This thread is none of the runtime, so it may block on it.
            match self.runtime.block_on(capacity) {
                Ok(Ok(position)) => break position,
                Ok(Err(_)) => return Err(given_up()),
                Err(_) => waited += LOOK_INTERVAL,
            }
            if PATIENCE <= waited {
                return Err(given_up());
            }
        };
        position.send(chunk);
        Ok(())
    }
}
