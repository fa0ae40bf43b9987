//! The other client: asks for health all the while, perhaps for a node, too, and notes how long it took.

use super::load::Latencies;
use super::wire::Line;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A client that goes on until it is stopped.
pub struct Watch {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Seen>,
}

/// What it met.
#[derive(Debug, Default)]
pub struct Seen {
    /// How long answers took.
    pub latencies: Latencies,
    /// The answers that were none.
    pub failures: Vec<String>,
}

impl Watch {
    /// Begins. Each question comes on a connection of its own, as from somebody new: for health, and in turn with it the
    /// query, if there is one.
    pub fn start(address: SocketAddr, pause: Duration, query: Option<&'static str>) -> Watch {
        Watch::by(move || Line::try_connect(address), pause, query)
    }

    /// As [`Watch::start`], on connections of any kind.
    pub fn by<S: Read + Write>(
        connect: impl Fn() -> io::Result<Line<S>> + Send + 'static,
        pause: Duration,
        query: Option<&'static str>,
    ) -> Watch {
        let stop = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut seen = Seen::default();
            let questions = [None, query];
            let questions = if query.is_some() { &questions[..] } else { &questions[..1] };
            for question in questions.iter().cycle() {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let started = Instant::now();
                let asked = connect().and_then(|mut line| match question {
                    Some(text) => line.try_post("/query", "application/dql", text.as_bytes()),
                    None => line.try_get("/health"),
                });
                let word = if question.is_some() { "\"data\":{\"q\":[{" } else { "healthy" };
                match asked {
                    Ok(told) if told.status == 200 && told.text().contains(word) => {
                        seen.latencies.add(started.elapsed());
                    }
                    Ok(told) => seen.failures.push(format!("{} {}", told.status, told.text())),
                    Err(error) => seen.failures.push(error.to_string()),
                }
                std::thread::sleep(pause);
            }
            seen
        });
        Watch { stop, thread }
    }

    /// Ends, and tells.
    pub fn stop(self) -> Seen {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}
