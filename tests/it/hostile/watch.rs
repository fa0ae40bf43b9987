//! The other client: asks for health and a node all the while, and notes how long it took.

use super::load::Latencies;
use super::wire::Line;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;
use std::time::Instant;

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
    /// Begins. Each question comes on a connection of its own, as from somebody new.
    pub fn start(address: SocketAddr, pause: Duration) -> Watch {
        let stop = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut seen = Seen::default();
            while !is_over.load(Ordering::Relaxed) {
                let started = Instant::now();
                let asked = Line::try_connect(address).and_then(|mut line| line.try_get("/health"));
                match asked {
                    Ok(told) if told.status == 200 && told.text().contains("healthy") => {
                        seen.latencies.add(started.elapsed());
                    }
                    other => seen.failures.push(format!("{other:?}")),
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
