//! The other client: asks for health all the while, perhaps for a node, too, and notes how long it
//! took.

use super::load::Latencies;
use super::wire::Line;
use crate::process::number_from_environment;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Whether the machine does nothing else and what is built is optimised, so that times say
/// something.
fn is_earnest() -> bool {
    number_from_environment("HEXGRAPH_HOSTILE_SECONDS").is_some()
}

/// How long it looks at a server that nothing is done to, before the attack begins.
fn before() -> Duration {
    if is_earnest() { Duration::from_secs(2) } else { Duration::ZERO }
}

/// What an answer may take at 99 of 100, however short it was before: a turn of the scheduler or
/// two.
const SHORT: Duration = Duration::from_millis(20);

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
    /// How long they took before the attack.
    pub normal: Latencies,
    /// The answers that were none.
    pub failures: Vec<String>,
}

impl Seen {
    /// Fails unless all was answered, and 99 of 100 answers in three times the time of before;
    /// where other tests run meanwhile, within `most`.
    pub fn check(&self, name: &str, most: Duration) {
        let [late, normal] = [&self.latencies, &self.normal].map(|it| it.percentile(99));
        let (middle, count) = (self.latencies.percentile(50), self.latencies.len());
        println!("beside {name}: p50 {middle:?}, p99 {late:?} of {count}; before p99 {normal:?}");
        assert!(self.failures.is_empty(), "{name}: {:?}", self.failures.first());
        let most = if is_earnest() { (3 * normal).max(SHORT) } else { most };
        assert!(late < most, "{name}: p99 {late:?}, {normal:?} before");
    }
}

impl Watch {
    /// Begins. Each question comes on a connection of its own, as from somebody new: for health,
    /// and in turn with it the query, if there is one.
    pub fn start(address: SocketAddr, pause: Duration, query: Option<&'static str>) -> Watch {
        let watch = Watch::by(move || Line::try_connect(address), pause, query);
        Watch::look_first();
        watch
    }

    /// As [`Watch::start`], on connections of any kind.
    pub fn by<S: Read + Write>(
        connect: impl Fn() -> io::Result<Line<S>> + Send + 'static,
        pause: Duration,
        query: Option<&'static str>,
    ) -> Watch {
        let stop = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&stop);
        let attacked = Instant::now() + before();
        let thread = std::thread::spawn(move || {
            let mut seen = Seen::default();
            let questions = [None, query];
            let questions = if query.is_some() { &questions[..] } else { &questions[..1] };
            for question in questions.iter().cycle() {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let started = Instant::now();
                let requested = connect().and_then(|mut line| match question {
                    Some(text) => line.try_post("/query", "application/dql", text.as_bytes()),
                    None => line.try_get("/health"),
                });
                let word = if question.is_some() { "\"data\":{\"q\":[{" } else { "healthy" };
                match requested {
                    Ok(reported) if reported.status == 200 && reported.text().contains(word) => {
                        let is_before = started < attacked;
                        let list = if is_before { &mut seen.normal } else { &mut seen.latencies };
                        list.add(started.elapsed());
                    }
                    Ok(reported) => {
                        seen.failures.push(format!("{} {}", reported.status, reported.text()))
                    }
                    Err(error) => seen.failures.push(error.to_string()),
                }
                std::thread::sleep(pause);
            }
            seen
        });
        Watch { stop, thread }
    }

    /// Waits until it has seen how long answers take before anything is done to the server.
    pub fn look_first() {
        std::thread::sleep(before());
    }

    /// Ends, and tells.
    pub fn stop(self) -> Seen {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}
