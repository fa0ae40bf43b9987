//! What does a query cost on a graph that was changed a moment ago? Each kind of access on a million nodes: frozen, after one
//! commit of four values, after a thousand, after a hundred thousand, and after `compact`. Arguments change from call to call.

use hexgraph::db::Database;
use hexgraph_benches::{ask, load_lines};
use std::time::{Duration, Instant};

const NODES: u64 = 1_000_000;
const HUB: u64 = 2_000_000;
/// The time in which the folds that are due behind the commits come to an end.
const FOLDS: Duration = Duration::from_secs(3);
const SCHEMA: &str = "score: int @index(int) .\nage: int .\ncity: string @index(exact) .\n\
     name: string @index(term) .\nborn: datetime @index(year) .\nfriend: [uid] @reverse @count .\n\
     e: [uid] .\ntype Person {\n  score\n}\n";

/// The queries by name; `#` stands for a number that changes from call to call.
const QUERIES: &[(&str, &str)] = &[
    ("top 10 by index", "{ q(func: has(score), orderasc: score, first: 10) { uid score } }"),
    ("top 10 backwards", "{ q(func: has(score), orderdesc: score, first: 10) { uid score } }"),
    ("top 10 without index", "{ q(func: has(age), orderasc: age, first: 10) { uid } }"),
    ("two keys", "{ q(func: has(score), orderasc: score, orderdesc: age, first: 10) { uid } }"),
    ("groups counted", "{ q(func: has(score)) @groupby(city) { count(uid) } }"),
    ("groups averaged", "{ q(func: has(score)) @groupby(city) { avg(score) } }"),
    ("groups by two keys", "{ q(func: has(score)) @groupby(city, age) { count(uid) } }"),
    ("sum of all", "{ var(func: has(score)) { s as score } q() { sum(val(s)) } }"),
    ("average of all", "{ var(func: has(age)) { s as age } q() { avg(val(s)) } }"),
    ("count at least 2", "{ q(func: ge(count(friend), 2), first: 10) { uid } }"),
    ("count of incoming", "{ q(func: ge(count(~friend), 6), first: 10) { uid } }"),
    ("equality counted", "{ q(func: eq(city, \"c#\")) { count(uid) } }"),
    (
        "filtered page by after",
        "{ q(func: has(score), first: 20, after: 0x7a120) @filter(eq(city, \"c#\")) { uid } }",
    ),
    ("one node filtered", "{ q(func: uid(#)) @filter(eq(city, \"c7\")) { uid } }"),
    ("range counted", "{ q(func: between(score, 5000, 5#)) { count(uid) } }"),
    ("range by a scan", "{ q(func: has(score)) @filter(ge(age, 75)) { count(uid) } }"),
    ("a term counted", "{ q(func: anyofterms(name, \"n#\")) { count(uid) } }"),
    ("count of a type", "{ q(func: type(Person)) { count(uid) } }"),
    ("page of a type", "{ q(func: type(Person), first: 100) { uid } }"),
    ("page by after", "{ q(func: has(score), first: 20, after: 0x7a12#) { uid } }"),
    ("page by offset", "{ q(func: has(score), first: 20, offset: 50000#) { uid } }"),
    ("two hops", "{ q(func: uid(#)) { friend { friend { uid } } } }"),
    ("hub: page by after", "{ q(func: uid(2000000)) { e(first: 10, after: 0x7a12#) { uid } } }"),
    ("hub: counted", "{ q(func: uid(2000000)) { count(e) } }"),
    ("hub: one edge", "{ q(func: uid(2000000)) @filter(uid_in(e, 0x7a12#)) { uid } }"),
];

/// A number that looks random and is the same in each run.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^= mixed >> 29;
    mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

fn build() -> Database {
    let db = Database::in_memory();
    db.alter(SCHEMA).expect("a valid schema");
    let dir = tempfile::tempdir().expect("a directory for temporary files");
    load_lines(&db, dir.path(), |out| {
        for uid in 1..=NODES {
            let random = mixed(uid);
            let (score, age, city) = (random % 1_000_000, random / 7 % 80, random / 11 % 100);
            writeln!(out, "<{uid}> <score> \"{score}\" .\n<{uid}> <age> \"{age}\" .")
                .expect("room");
            writeln!(out, "<{uid}> <city> \"c{city}\" .\n<{uid}> <dgraph.type> \"Person\" .")
                .expect("room");
            writeln!(out, "<{uid}> <name> \"n{} m{}\" .", random % 500, random / 3 % 500)
                .expect("room");
            writeln!(out, "<{uid}> <born> \"{}-03-04\" .", 1940 + random % 80).expect("room");
            for edge in 0..random % 5 {
                let friend = mixed(uid * 8 + edge) % NODES + 1;
                writeln!(out, "<{uid}> <friend> <{friend}> .").expect("room");
            }
            writeln!(out, "<{HUB}> <e> <{uid}> .").expect("room");
        }
    });
    db
}

/// One commit: four values of a node, or an edge, or now and then an edge of the hub that goes.
fn commit(db: &Database, number: u64) {
    let random = mixed(number ^ 0x5555);
    let uid = random % NODES + 1;
    let (score, age, city) = (random / 3 % 1_000_000, random / 7 % 80, random / 11 % 100);
    let set = format!(
        "<{uid}> <score> \"{score}\" .\n<{uid}> <age> \"{age}\" .\n<{uid}> <city> \"c{city}\" .\n\
         <{uid}> <name> \"n{} m{}\" .\n<{uid}> <friend> <{}> .\n_:new <dgraph.type> \"Person\" .\n\
         _:new <score> \"{score}\" .",
        random % 500,
        random / 5 % 500,
        random / 13 % NODES + 1,
    );
    let delete =
        if number.is_multiple_of(100) { format!("<{HUB}> <e> <{uid}> .") } else { String::new() };
    db.mutate(&set, &delete).expect("a valid mutation");
}

/// The median time of a query, over at most half a second.
fn median(db: &Database, query: &str) -> Duration {
    let mut times = Vec::new();
    let started = Instant::now();
    for number in 10u64.. {
        let text = query.replace('#', &(number % 90).to_string());
        let one = Instant::now();
        std::hint::black_box(ask(db, &text));
        times.push(one.elapsed());
        if 5 <= times.len() && Duration::from_millis(500) < started.elapsed() {
            break;
        }
    }
    times.sort_unstable();
    times[times.len() / 2]
}

fn main() {
    let db = build();
    db.compact().expect("there is memory");
    let mut done = 0;
    let mut columns: Vec<Vec<Duration>> = Vec::new();
    // Names of queries, or parts of them, leave the others out.
    let names: Vec<String> = std::env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let is_asked =
        |name: &str| names.is_empty() || names.iter().any(|part| name.contains(part.as_str()));
    let queries: Vec<_> = QUERIES.iter().filter(|(name, _)| is_asked(name)).collect();
    let measure = |db: &Database| queries.iter().map(|(_, query)| median(db, query)).collect();
    columns.push(measure(&db));
    for commits in [1, 1_000, 100_000] {
        let started = Instant::now();
        (done..commits).for_each(|number| commit(&db, number));
        let each = started.elapsed().as_secs_f64() / (commits - done) as f64;
        println!("{commits} commits: {:.1} us each", each * 1e6);
        done = commits;
        // What is due to be folded is folded first: a row would be slower the earlier it stands in the list.
        std::thread::sleep(FOLDS);
        columns.push(measure(&db));
    }
    let started = Instant::now();
    db.compact().expect("there is memory");
    println!("compact: {:.2} s", started.elapsed().as_secs_f64());
    columns.push(measure(&db));
    println!(
        "{:24} {:>10} {:>20} {:>20} {:>20} {:>20}",
        "us", "frozen", "1 commit", "1,000", "100,000", "compacted"
    );
    for (row, (name, _)) in queries.iter().enumerate() {
        let frozen = columns[0][row].as_secs_f64() * 1e6;
        print!("{name:24} {frozen:10.1}");
        for column in &columns[1..] {
            let time = column[row].as_secs_f64() * 1e6;
            print!(" {:>20}", format!("{time:.1} ({:.2})", time / frozen));
        }
        println!();
    }
}
