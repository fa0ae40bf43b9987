//! How long somebody else who writes has to wait.

use hexgraph::db::Database;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Checks that nobody else waits while `work` computes: no longer than a part of its time,
/// `fraction` of which make it up. The system may hold anybody up, so it is tried three times.
#[track_caller]
pub fn check_wait(db: &Database, fraction: u32, what: &str, work: impl Fn()) {
    let mut seen = Vec::new();
    for _ in 0..3 {
        let (took, longest) = longest_wait(db, &work);
        if fraction * longest < took {
            return;
        }
        seen.push((took, longest));
    }
    panic!("{what} held up another writer: it took, and the other one waited, {seen:?}");
}

/// How long `work` takes, and the longest wait of another writer meanwhile, who changes `note` of
/// one node again and again.
fn longest_wait(db: &Database, work: impl Fn()) -> (Duration, Duration) {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let mut longest = Duration::ZERO;
            let mut number = 0;
            while !is_done.load(Ordering::Relaxed) {
                let started = Instant::now();
                db.mutate(&format!("<0xffff> <note> \"{number}\" ."), "").unwrap();
                longest = longest.max(started.elapsed());
                number += 1;
                thread::sleep(Duration::from_millis(1));
            }
            longest
        });
        let started = Instant::now();
        work();
        let took = started.elapsed();
        is_done.store(true, Ordering::Relaxed);
        (took, other.join().unwrap())
    })
}
