//! How much faster is a query when a second thread helps? One graph of a million nodes and five
//! million edges, opened twice: by a database of one thread and by one of two, or of as many as
//! `HEXGRAPH_THREADS` says. The answers are compared, each shape is asked of both in turns, and
//! from the medians come the speed-up and the share of the time that stays on one thread (Amdahl).
//!
//! Before them, what plain loops gain from as many threads on this machine: no query gains more
//! than the loop that does what it does. Memory and its caches may be what both threads wait for,
//! and a thread that sleeps takes its time to wake up.
//!
//! A word chooses the shapes that have it in their names. `HEXGRAPH_BENCH_GRAPH` names a directory
//! that keeps the graph from run to run.
//!
//! At the end: the times of a small query on a thread of its own, alone and beside a large one that
//! uses all threads.

mod machine;

use hexgraph::answer::Table;
use hexgraph::db::{
    Database, ManyRequest, OpenOptions, QueryAnswer, QueryRequest, RequestContext, Variables,
};
use hexgraph_benches::load_lines;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const NODES: u64 = 1_000_000;

const SCHEMA: &str = "score: int .\nage: int .\nweight: float .\ncity: string @index(exact) .\nnick: string .\nborn: datetime .\n\
     friend: [uid] @reverse .\n";

/// The forms in which answers are fetched.
#[derive(Clone, Copy)]
enum Form {
    Json,
    Table,
    /// A thousand questions in one call, each about another node.
    Many,
}

/// The shapes: what is asked, how it is fetched, and the query.
const SHAPES: &[(&str, Form, &str)] = &[
    (
        "filter by a regular expression",
        Form::Json,
        "{ q(func: has(nick)) @filter(regexp(nick, /7.*9$/)) { count(uid) } }",
    ),
    (
        "filter by three conditions",
        Form::Json,
        "{ q(func: has(score)) @filter(gt(age, 20) and (lt(weight, 50) or ge(score, 900000))) { count(uid) } }",
    ),
    (
        "filter by the far end",
        Form::Json,
        "{ v as var(func: has(age)) @filter(ge(age, 75)) \
         q(func: has(friend)) @filter(uid_in(friend, uid(v))) { count(uid) } }",
    ),
    (
        "groups by two keys",
        Form::Json,
        "{ q(func: has(score)) @groupby(city, age) { count(uid) } }",
    ),
    (
        "groups by a date",
        Form::Json,
        "{ q(func: has(score)) @groupby(born) { count(uid) max(score) } }",
    ),
    (
        "groups, sum of ints",
        Form::Json,
        "{ q(func: has(score)) @groupby(city, age) { sum(score) min(score) } }",
    ),
    (
        "groups, average of floats",
        Form::Json,
        "{ q(func: has(score)) @groupby(city) { avg(weight) } }",
    ),
    ("100,000 groups", Form::Json, "{ q(func: has(score)) @groupby(nick) { count(uid) } }"),
    (
        "degrees, ordered",
        Form::Json,
        "{ var(func: has(friend)) { d as count(~friend) } \
         q(func: uid(d), orderdesc: val(d), first: 10) { uid val(d) } }",
    ),
    (
        "sum over neighbours",
        Form::Json,
        "{ var(func: has(friend)) { friend { s as score } t as sum(val(s)) } \
         q(func: uid(t), orderdesc: val(t), first: 10) { val(t) } }",
    ),
    (
        "distinct neighbours in two hops",
        Form::Json,
        "{ var(func: has(friend), first: 100000) { friend { f as friend } } q(func: uid(f)) { count(uid) } }",
    ),
    (
        "neighbours filtered",
        Form::Json,
        "{ var(func: has(friend)) { f as friend @filter(ge(score, 500000)) } q(func: uid(f)) { count(uid) } }",
    ),
    (
        "order by two keys",
        Form::Json,
        "{ q(func: has(score), orderasc: age, orderdesc: score, first: 100000) { uid } }",
    ),
    (
        "order by two keys, page",
        Form::Json,
        "{ q(func: has(score), orderasc: nick, orderdesc: score, first: 20000) { uid } }",
    ),
    (
        "three blocks",
        Form::Json,
        "{ a(func: has(score), orderasc: born, first: 1000) { uid } b(func: has(weight)) @groupby(city) { sum(weight) } \
         c(func: has(friend), orderdesc: weight, orderasc: age, first: 1000) { uid } }",
    ),
    (
        "fields beside each other",
        Form::Json,
        "{ q(func: has(friend), first: 60000) { friend @filter(ge(score, 990000)) { uid } \
         ~friend @filter(lt(weight, 1)) { uid } } }",
    ),
    (
        "JSON of 200,000 objects",
        Form::Json,
        "{ q(func: has(score), first: 200000) { uid score nick city born } }",
    ),
    (
        "JSON, nested",
        Form::Json,
        "{ q(func: has(friend), first: 50000) { nick friend { uid nick age } } }",
    ),
    (
        "1,000 questions, two hops each",
        Form::Many,
        "query q($a: string) { var(func: uid($a)) { friend { friend { f as friend } } } \
         q(func: uid(f)) { count(uid) } }",
    ),
    ("table of a million rows", Form::Table, "{ q(func: has(score)) { uid score weight } }"),
];

/// A small query, which stays on the thread that asks it.
const POINT: &str = "{ q(func: uid(0x7a12)) { nick score friend { nick } } }";

/// A number that looks random and is the same in each run.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^= mixed >> 29;
    mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

fn build(saved: &Path) {
    let dir = tempfile::tempdir().expect("a directory for temporary files");
    let db = Database::in_memory();
    db.alter(SCHEMA).expect("a valid schema");
    load_lines(&db, dir.path(), |out| {
        let capacity = "the disk has room";
        for uid in 1..=NODES {
            let random = mixed(uid);
            let (score, age, city) = (random % 1_000_000, random / 7 % 80, random / 11 % 100);
            writeln!(out, "<{uid}> <score> \"{score}\" .\n<{uid}> <age> \"{age}\" .")
                .expect(capacity);
            writeln!(out, "<{uid}> <weight> \"{}.{}\" .", random / 3 % 100, random / 5 % 1000)
                .expect(capacity);
            writeln!(
                out,
                "<{uid}> <city> \"c{city}\" .\n<{uid}> <nick> \"n{}\" .",
                random / 17 % 100_000
            )
            .expect(capacity);
            let (month, day) = (random / 80 % 12 + 1, random / 960 % 28 + 1);
            writeln!(out, "<{uid}> <born> \"{}-{month:02}-{day:02}\" .", 1940 + random % 80)
                .expect(capacity);
            // Few nodes have many edges, and most have few: five on average.
            let edges = 2_500_000 / (mixed(uid ^ 0x77) % NODES + 250_000) * 9 / 8 + 1;
            for edge in 0..edges {
                let friend = mixed(uid * 64 + edge) % NODES + 1;
                writeln!(out, "<{uid}> <friend> <{friend}> .").expect(capacity);
            }
        }
    });
    db.save(saved).expect("the disk has room");
}

fn answer(db: &Database, text: &str) -> QueryAnswer {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    db.query_with(&request, &RequestContext::new()).expect("the query is valid")
}

/// The answers about a thousand nodes.
fn answers(db: &Database, text: &str) -> Table {
    let about = |number: u64| {
        let uid = (mixed(number) % NODES + 1).to_string();
        Variables::from([("$a".to_owned(), uid.into())])
    };
    let (text, block, number) = (text.to_owned(), None, "row".to_owned());
    let request = ManyRequest { text, rows: (0..1000).map(about).collect(), block, number };
    db.query_many_with(&request, &RequestContext::new()).expect("the query is valid")
}

/// What a shape's answer is, for a comparison.
fn shown(db: &Database, form: Form, text: &str) -> String {
    match form {
        Form::Json => answer(db, text).to_json().expect("the values are valid").0,
        Form::Table => {
            format!(
                "{:?}",
                answer(db, text).table_with(None, &RequestContext::new()).expect("a table")
            )
        }
        Form::Many => format!("{:?}", answers(db, text)),
    }
}

fn time(db: &Database, form: Form, text: &str) -> Duration {
    let started = Instant::now();
    match form {
        Form::Json => drop(black_box(answer(db, text).to_json().expect("the values are valid"))),
        Form::Table => drop(black_box(
            answer(db, text).table_with(None, &RequestContext::new()).expect("a table"),
        )),
        Form::Many => drop(black_box(answers(db, text))),
    }
    started.elapsed()
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}

/// The medians of a shape on both databases, asked in turns.
fn medians(one: &Database, many: &Database, form: Form, text: &str) -> (f64, f64) {
    let (mut alone, mut shared) = (Vec::new(), Vec::new());
    let started = Instant::now();
    while alone.len() < 9 || started.elapsed() < Duration::from_millis(1500) {
        alone.push(time(one, form, text));
        shared.push(time(many, form, text));
    }
    (median(&mut alone), median(&mut shared))
}

/// The median and the 99th of a hundred times of the small query, over two seconds, in
/// microseconds.
fn point_times(db: &Database) -> (f64, f64) {
    let mut times = Vec::new();
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(2) {
        times.push(time(db, Form::Json, POINT));
        thread::sleep(Duration::from_micros(200));
    }
    times.sort_unstable();
    let at = |position: usize| times[position].as_secs_f64() * 1e6;
    (at(times.len() / 2), at(times.len() * 99 / 100))
}

fn main() {
    let threads = std::env::var("HEXGRAPH_THREADS").ok();
    let threads: usize = threads.map_or(2, |text| text.parse().expect("a number of threads"));
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let dir = tempfile::tempdir().expect("a directory for temporary files");
    let retained = std::env::var_os("HEXGRAPH_BENCH_GRAPH");
    let saved = retained.map_or_else(|| dir.path().join("graph"), PathBuf::from);
    if !saved.exists() {
        build(&saved);
    }
    let open = |threads| {
        let options = OpenOptions { threads, read_only: true, ..OpenOptions::default() };
        Database::open(&saved, options).expect("it was written")
    };
    let (one, many) = (open(1), open(threads));
    println!(
        "{:34} {:>10} {:>10} {:>9} {:>13}",
        "ms",
        "1 thread",
        format!("{threads} threads"),
        "speed-up",
        "serial share"
    );
    let show = |name: &str, alone: f64, shared: f64| {
        let speed_up = alone / shared;
        let serial = (threads as f64 / speed_up - 1.0) / (threads as f64 - 1.0);
        println!(
            "{name:34} {alone:10.2} {shared:10.2} {speed_up:9.2} {:>12.0}%",
            100.0 * serial.clamp(0.0, 1.0)
        );
    };
    let is_requested = |name: &str| only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    for (name, alone, shared) in machine::loops(threads) {
        show(name, alone, shared);
    }
    for (name, form, text) in SHAPES.iter().filter(|(name, ..)| is_requested(name)) {
        assert_eq!(shown(&one, *form, text), shown(&many, *form, text), "{name}");
        let (alone, shared) = medians(&one, &many, *form, text);
        show(name, alone, shared);
    }
    let (median, late) = machine::wakes();
    println!(
        "a plain thread that sleeps wakes up after {median:.0} us, 90 of 100 within {late:.0} us"
    );
    assert!(!one.has_started_threads(), "one thread means one thread");
    if only.is_some() {
        return;
    }
    let (median, late) = point_times(&many);
    println!("a small query alone: median {median:.1} us, 99 of 100 within {late:.1} us");
    for (db, threads) in [(&one, 1), (&many, threads)] {
        let is_over = AtomicBool::new(false);
        let (median, late) = thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    time(db, Form::Json, SHAPES[1].2);
                }
            });
            let times = point_times(db);
            is_over.store(true, Ordering::Relaxed);
            times
        });
        println!(
            "beside a large one on {threads} thread(s): median {median:.1} us, 99 of 100 within {late:.1} us"
        );
    }
}
