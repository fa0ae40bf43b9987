//! What does a query cost on a graph that was changed a moment ago? Each kind of access on a
//! million nodes, beside the same graph without changes: after one commit, after a thousand, after
//! a hundred thousand, and after `compact`.
//!
//! Parts of it run alone by their names: `queries`, `reopened`, `first` (the first call after a
//! commit), `writer` (beside one that commits 10,000 times a second), `hub` (a node of ten million
//! edges) and `costs`. Numbers are those of commits, after which all is asked, and nothing is
//! compacted then. Any other word leaves out the questions without it in their names.
//! `HEXGRAPH_BENCH_GRAPH` names a directory that keeps the graph from run to run.

mod clock;
mod costs;
mod graph;
mod hub;
mod queries;
mod table;
mod writer;

use clock::pair;
use graph::{commit, commit_all, copy, open};
use hexgraph::db::Database;
use queries::{QUESTIONS, Question};
use std::path::Path;
use std::time::{Duration, Instant};
use table::Table;

/// The time in which the folds that are due after the commits come to an end.
const FOLDS: Duration = Duration::from_secs(3);

/// The numbers of commits after which questions are asked, unless others are given.
const COMMITS: [u64; 3] = [1, 1_000, 100_000];

const PARTS: [&str; 6] = ["queries", "reopened", "first", "writer", "hub", "costs"];

/// A question with its name.
pub type Named = (&'static str, &'static Question);

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let given: Vec<u64> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let words = words.iter().map(String::as_str).filter(|word| word.parse::<u64>().is_err());
    let (parts, names): (Vec<_>, Vec<_>) = words.partition(|word| PARTS.contains(word));
    let is_requested =
        |name: &str| names.is_empty() || names.iter().any(|part| name.contains(*part));
    let questions = QUESTIONS.iter().filter(|(name, _)| is_requested(name));
    let questions: Vec<Named> = questions.map(|(name, question)| (*name, question)).collect();
    let runs = |part: &str| parts.is_empty() || parts.contains(&part);
    let dir = tempfile::tempdir().expect("a directory for temporary files");
    if runs("hub") {
        hub::measure(dir.path());
    }
    if !PARTS.iter().any(|part| *part != "hub" && runs(part)) {
        return;
    }
    let retained = std::env::var_os("HEXGRAPH_BENCH_GRAPH");
    let saved = retained.map_or_else(|| dir.path().join("graph"), std::path::PathBuf::from);
    if !saved.exists() {
        let started = Instant::now();
        graph::build(&saved);
        println!("graph built and saved: {:.1} s", started.elapsed().as_secs_f64());
    }
    if runs("queries") {
        changed(&saved, &dir.path().join("queries"), &questions, (&given, false));
    }
    if runs("reopened") {
        changed(&saved, &dir.path().join("reopened"), &questions, (&given, true));
    }
    if runs("first") {
        first(&saved, dir.path(), &questions);
    }
    if runs("writer") {
        writer::measure(&saved, dir.path(), &names);
    }
    if runs("costs") {
        costs::measure(&saved, dir.path());
    }
}

/// Asks everything after each number of commits, of the graph or of a copy of it that is opened
/// again, and of one without changes.
fn changed(saved: &Path, work: &Path, questions: &[Named], (given, reopens): (&[u64], bool)) {
    copy(saved, work);
    copy(saved, &work.join("frozen"));
    let (frozen, db) = (open(&work.join("frozen"), "auto"), open(work, "auto"));
    let mut table = Table::new(questions.iter().map(|(name, _)| *name));
    let mut done = 0;
    for &commits in if given.is_empty() { &COMMITS } else { given } {
        let started = Instant::now();
        commit_all(&db, done..commits);
        let each = started.elapsed().as_secs_f64() / (commits - done) as f64;
        println!("{commits} commits: {:.1} us each", each * 1e6);
        done = commits;
        // What is due to be folded is folded first: a row would be slower the earlier it stands in
        // the list.
        std::thread::sleep(FOLDS);
        if reopens {
            let again = work.join(format!("again-{commits}"));
            copy(work, &again);
            let started = Instant::now();
            let db = open(&again, "auto");
            println!("opened again in {:.2} s", started.elapsed().as_secs_f64());
            std::thread::sleep(FOLDS);
            ask_all(&mut table, &commits.to_string(), (&frozen, &db), questions);
        } else {
            ask_all(&mut table, &commits.to_string(), (&frozen, &db), questions);
        }
    }
    if !reopens && given.is_empty() {
        let started = Instant::now();
        db.compact().expect("there is memory");
        println!("compact: {:.2} s", started.elapsed().as_secs_f64());
        ask_all(&mut table, "compacted", (&frozen, &db), questions);
    }
    println!("{}\n{table}", if reopens { "Opened again" } else { "Changed" });
}

fn ask_all(table: &mut Table, column: &str, dbs: (&Database, &Database), questions: &[Named]) {
    let times = questions.iter().map(|(_, question)| {
        pair(|number| question.ask(dbs.0, number), |number| question.ask(dbs.1, number))
    });
    table.add(column, times.collect());
}

/// Asks everything once, each time after a commit; beside a graph without changes, which is asked
/// after a commit to another one.
fn first(saved: &Path, dir: &Path, questions: &[Named]) {
    const CALLS: u64 = 15;
    let dirs = ["first", "first-frozen"].map(|name| dir.join(name));
    dirs.iter().for_each(|dir| copy(saved, dir));
    let [db, frozen] = dirs.map(|dir| open(&dir, "auto"));
    let mut table = Table::new(questions.iter().map(|(name, _)| *name));
    let mut number = 1;
    let mut times = Vec::new();
    for (_, question) in questions {
        let mut first_of = |requested: &Database| {
            let mut times: Vec<Duration> = (0..CALLS)
                .map(|call| {
                    number += 1;
                    commit(&db, number);
                    let started = Instant::now();
                    question.ask(requested, call);
                    started.elapsed()
                })
                .collect();
            clock::median(&mut times)
        };
        times.push((first_of(&frozen), first_of(&db)));
    }
    table.add("first call behind a commit", times);
    println!("First calls, after {number} commits at last\n{table}");
}
