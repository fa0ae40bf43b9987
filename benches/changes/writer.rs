//! Questions while a thread commits 10,000 times a second, beside threads that burn as much
//! processor time outside of the database.

use crate::clock::{at, median, of_process, of_thread};
use crate::graph::{copy, open, steady_commit};
use crate::queries::{QUESTIONS, Question};
use hexgraph::db::Database;
use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The pace of the writer and of what stands in its place: in each tick so many commits.
const TICK: Duration = Duration::from_millis(1);
const COMMITS_PER_TICK: u64 = 10;

const SPAN: Duration = Duration::from_millis(1200);

/// What is asked unless other names are.
const NAMES: &[&str] = &[
    "top 10 by index",
    "two keys",
    "top 10 without index",
    "groups counted",
    "groups averaged",
    "sum of all",
    "has, a page",
    "counts of a node",
    "equality, a page",
    "range counted",
    "range by a scan",
    "a term counted",
    "a regular expression",
    "near a place",
    "page of a type by after",
    "page by after",
    "a thousand rows",
    "two hops",
    "hops of a thousand",
    "facets filtered",
    "hub: page by after",
    "GraphQL: page",
    "GraphQL: filter, order",
    "stats()",
];

/// What is told of some calls.
struct Times {
    p50: Duration,
    p99: Duration,
    /// The processor time of all other threads, as a part of the time that passed.
    others: f64,
}

/// Measures some questions and writes a line for each.
pub fn measure(saved: &Path, dir: &Path, names: &[&str]) {
    let dirs = ["writer", "writer-frozen"].map(|name| dir.join(name));
    dirs.iter().for_each(|dir| copy(saved, dir));
    let [db, frozen] = dirs.map(|dir| open(&dir, "auto"));
    let is_requested = |name: &str| match names {
        [] => NAMES.contains(&name),
        _ => names.iter().any(|part| name.contains(part)),
    };
    let number = AtomicU64::new(1);
    println!(
        "| us | alone, p50 | p99 | writer, p50 | p99 | burner, p50 | p99 | p50 to alone | p50 to burner | p99 to burner | commits/s, processor |"
    );
    for (name, question) in QUESTIONS.iter().filter(|(name, _)| is_requested(name)) {
        let alone = ask_for(&frozen, question, SPAN / 3);
        let before = number.load(Ordering::Relaxed);
        let written = beside(|stop| write(&db, &number, stop), || ask_for(&db, question, SPAN));
        let commits = (number.load(Ordering::Relaxed) - before) as f64 / SPAN.as_secs_f64();
        let part = written.others;
        let burned = beside(|stop| burn(part, stop), || ask_for(&frozen, question, SPAN));
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        let factor = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
        let mark = |factor: f64, most: f64| if most < factor { " !" } else { "" };
        print!("| {name} |");
        for times in [&alone, &written, &burned] {
            print!(" {:.1} | {:.1} |", micros(times.p50), micros(times.p99));
        }
        let (p50, p99) = (factor(written.p50, burned.p50), factor(written.p99, burned.p99));
        print!(" {:.2} |", factor(written.p50, alone.p50));
        print!(" {p50:.2}{} | {p99:.2}{} |", mark(p50, 1.3), mark(p99, 1.5));
        println!(" {commits:.0}, {:.0} % |", part * 100.0);
    }
}

/// Runs `work` while another thread does something until it is told to stop.
fn beside<T>(other: impl FnOnce(&AtomicBool) + Send, work: impl FnOnce() -> T) -> T {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| other(&stop));
        std::thread::sleep(Duration::from_millis(50));
        let done = work();
        stop.store(true, Ordering::Relaxed);
        done
    })
}

fn ask_for(db: &Database, question: &Question, span: Duration) -> Times {
    let (process, thread, started) = (of_process(), of_thread(), Instant::now());
    let mut times = Vec::new();
    for number in 0.. {
        let one = Instant::now();
        question.ask(db, number);
        times.push(one.elapsed());
        if span < started.elapsed() {
            break;
        }
    }
    let own = of_thread() - thread;
    let others = (of_process() - process).saturating_sub(own).as_secs_f64();
    let others = others / started.elapsed().as_secs_f64();
    Times { p50: median(&mut times), p99: at(&mut times, 99), others }
}

/// Does something in each tick until it is told to stop.
fn tick(stop: &AtomicBool, mut work: impl FnMut()) {
    let started = Instant::now();
    for ticks in 1.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        work();
        // Behind its time it goes on at once.
        std::thread::sleep((TICK * ticks).saturating_sub(started.elapsed()));
    }
}

fn write(db: &Database, number: &AtomicU64, stop: &AtomicBool) {
    tick(stop, || {
        for _ in 0..COMMITS_PER_TICK {
            steady_commit(db, number.fetch_add(1, Ordering::Relaxed));
        }
    });
}

/// Burns so much processor time, in cores: what is more than one on another thread, as the writer
/// has one that folds beside it.
fn burn(cores: f64, stop: &AtomicBool) {
    let span = TICK.mul_f64(cores.min(1.0));
    std::thread::scope(|scope| {
        if 1.0 < cores {
            scope.spawn(|| burn(cores - 1.0, stop));
        }
        tick(stop, || {
            let started = Instant::now();
            while started.elapsed() < span {
                black_box((0..100u64).map(black_box).sum::<u64>());
            }
        });
    });
}
