//! An open-loop load: requests are sent when it is their time, whether those before were answered
//! or not, and a latency counts from when the request should have been sent. So a server that gets
//! slow does not make its load smaller.

use super::wire::{Line, Report};
use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How long things took.
#[derive(Debug, Default, Clone)]
pub struct Latencies(Vec<Duration>);

/// Requests at a constant rate.
#[derive(Clone, Copy)]
pub struct Load<'a> {
    pub address: SocketAddr,
    /// A query in DQL.
    pub text: &'a str,
    pub per_second: f64,
    pub lasts: Duration,
    /// The connections that they come on.
    pub connections: usize,
}

/// What became of them.
#[derive(Debug, Default)]
pub struct Outcome {
    pub answered: Latencies,
    /// Refused with status 503 and `Retry-After`.
    pub refused: Latencies,
    pub failures: Vec<String>,
    /// How late they were sent, because the client had no processor or no connection. It is part of
    /// the latencies.
    pub late: Latencies,
}

impl Latencies {
    pub fn add(&mut self, latency: Duration) {
        self.0.push(latency);
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// What so many of a hundred are within; zero of none.
    pub fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
        sorted.get(at).copied().unwrap_or_default()
    }
}

impl Load<'_> {
    /// Sends them, and waits for all answers.
    pub fn run(self) -> Outcome {
        let count = (self.per_second * self.lasts.as_secs_f64()) as usize;
        let (next, outcome) = (Mutex::new(0), Mutex::new(Outcome::default()));
        let started = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..self.connections {
                scope.spawn(|| {
                    let mut line = Line::connect(self.address);
                    loop {
                        let number = {
                            let mut next = next.lock().unwrap();
                            *next += 1;
                            *next - 1
                        };
                        if count <= number {
                            return;
                        }
                        let due =
                            started + Duration::from_secs_f64(number as f64 / self.per_second);
                        std::thread::sleep(due.saturating_duration_since(Instant::now()));
                        outcome.lock().unwrap().late.add(due.elapsed());
                        let reported =
                            line.try_post("/query", "application/dql", self.text.as_bytes());
                        outcome.lock().unwrap().note(reported, due.elapsed());
                    }
                });
            }
        });
        outcome.into_inner().unwrap()
    }
}

impl Outcome {
    fn note(&mut self, reported: std::io::Result<Report>, latency: Duration) {
        match reported {
            Ok(reported) if reported.status == 200 && !reported.text().contains("\"errors\"") => {
                self.answered.add(latency);
            }
            Ok(reported) if reported.status == 503 && reported.head.contains("retry-after: 1") => {
                self.refused.add(latency);
            }
            other => self.failures.push(format!("{other:?}")),
        }
    }
}
