//! What quick answers after changes must not cost: loads, commits, memory and processor time.

use crate::clock::{at, median, of_process, resident};
use crate::graph::{commit, copy, open};
use hexgraph::db::{Database, LoadOptions, RequestContext, Source};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const COMMITS: u64 = 100_000;

/// Measures the commits with folds beside them and without, then loads of one row.
pub fn measure(saved: &Path, dir: &Path) {
    for fold in ["manual", "auto"] {
        let work = dir.join(format!("costs-{fold}"));
        copy(saved, &work);
        let db = open(&work, fold);
        let sizes = db.stats().expect("it is open").predicates.into_iter();
        let sizes = sizes.map(|it| {
            (it.column_bytes + it.index_bytes + it.reverse_bytes + it.facet_bytes, it.name)
        });
        let (bytes, name) = sizes.max().expect("there are predicates");
        println!("largest predicate: {name}, {:.1} MB", bytes as f64 / 1e6);
        commits(&db, fold);
        if fold == "auto" {
            one_row(&db);
        }
    }
}

fn commits(db: &Database, fold: &str) {
    let (base, stop, peak) = (resident(), AtomicBool::new(false), AtomicU64::new(0));
    let (reserved, before) = (AtomicU64::new(0), of_process());
    let mut times: Vec<Duration> = Vec::new();
    let wall = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                peak.fetch_max(resident(), Ordering::Relaxed);
                reserved.fetch_max(db.budget().reserved(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        let started = Instant::now();
        for number in 0..COMMITS {
            let one = Instant::now();
            commit(db, number);
            times.push(one.elapsed());
        }
        let wall = started.elapsed();
        std::thread::sleep(crate::FOLDS);
        stop.store(true, Ordering::Relaxed);
        wall
    });
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    println!(
        "fold={fold}: {COMMITS} commits in {:.2} s, p50 {:?}, p99 {:?}, worst {:?}; processor {:.2} s",
        wall.as_secs_f64(),
        median(&mut times),
        at(&mut times, 99),
        at(&mut times, 100),
        (of_process() - before).as_secs_f64(),
    );
    println!(
        "  resident {:.0} MB before, {:.0} at most, {:.0} behind; drawn for folds at most {:.1} MB",
        megabytes(base),
        megabytes(peak.load(Ordering::Relaxed)),
        megabytes(resident()),
        megabytes(reserved.load(Ordering::Relaxed)),
    );
}

/// One row is loaded, into the directory and into memory alone.
fn one_row(db: &Database) {
    let mut times: Vec<Duration> = (0..11u64)
        .map(|number| {
            let line = format!("<{}> <score> \"{number}\" .", 77_000 + number);
            let (options, started) = (LoadOptions::default(), Instant::now());
            db.load_with(Source::Bytes(line.into()), None, options, &RequestContext::new())
                .expect("a valid line");
            started.elapsed()
        })
        .collect();
    println!("load of one row into a directory: {:?}, worst {:?}", median(&mut times), times[10]);
}
