//! Work that is shared with other threads: the same bytes with any number of threads, and with one
//! of them no other at all.

use crate::process;
use hexgraph::db::{Database, OpenOptions, QueryAnswer, QueryRequest, RequestContext};
use hexgraph::internals::exec::{CostModel, Limits};
use hexgraph_base::types::Error;
use std::collections::BTreeSet;

const SCHEMA: &str = "score: int .\nage: int @index(int) .\nweight: float .\ncity: string @index(exact) .\nnick: string .\n\
     tag: string @index(hash) .\nborn: datetime .\nlikes: [string] .\nnote: string @lang .\nfriend: [uid] @reverse @count .\nboss: uid .\n\
     big: int .\n";

/// Queries of all kinds that large graphs answer with several threads.
const QUERIES: &[&str] = &[
    "{ q(func: has(nick)) @filter(regexp(nick, /7.*9$/)) { count(uid) } }",
    "{ q(func: has(score)) @filter(gt(score, 200) and (lt(weight, 50) or not ge(score, 900))) { uid } }",
    "{ q(func: has(friend)) @filter(ge(count(friend), 2)) { uid count(friend) } }",
    "{ v as var(func: has(age)) @filter(ge(age, 30)) q(func: has(friend)) @filter(uid_in(friend, uid(v))) { uid } }",
    "{ q(func: has(score)) @groupby(city, age) { count(uid) } }",
    "{ q(func: has(score)) @groupby(born) { count(uid) max(score) min(weight) sum(score) } }",
    "{ q(func: has(score)) @groupby(city) { avg(weight) sum(weight) min(nick) max(born) } }",
    "{ q(func: has(age)) @groupby(weight, nick) { count(uid) avg(score) } }",
    "{ q(func: has(nick)) @groupby(likes) { count(uid) } }",
    "{ q(func: has(friend)) @groupby(friend) { count(uid) } }",
    "{ q(func: has(score), first: 700) { nick friend @groupby(city) { count(uid) avg(weight) } } }",
    "{ var(func: has(friend)) { d as count(~friend) } q(func: uid(d), orderdesc: val(d), first: 100) { uid val(d) } }",
    "{ var(func: has(friend)) { friend { s as score } t as sum(val(s)) } q(func: uid(t), orderdesc: val(t)) { val(t) } }",
    "{ var(func: has(friend)) { friend { s as weight } t as avg(val(s)) } q(func: uid(t)) { val(t) } }",
    "{ var(func: has(friend)) { f as friend { w as weight } } q() { sum(val(w)) avg(val(w)) max(val(w)) } g(func: uid(f)) { count(uid) } }",
    "{ var(func: has(friend)) { f as friend @filter(ge(score, 500)) { g as friend } } q(func: uid(f)) { uid } r(func: uid(g)) { uid } }",
    "{ q(func: has(friend)) { friend(first: 2, orderdesc: score) { uid score } count(friend @filter(lt(score, 400))) } }",
    "{ q(func: has(friend)) { friend(first: -2) @filter(has(weight)) { uid } ~friend(offset: 1) { uid nick } } }",
    "{ q(func: has(score), orderasc: age, orderdesc: score) { uid } }",
    "{ q(func: has(score), orderasc: nick, orderdesc: weight, first: 900) { uid nick } }",
    "{ q(func: has(weight), orderdesc: weight) { weight } }",
    "{ q(func: has(nick)) { uid score nick city born likes note note@en boss { nick } } }",
    "{ q(func: has(friend)) { nick friend { uid nick friend { age } count(friend) } boss { boss { uid } } } }",
    "{ q(func: has(friend)) @cascade { nick friend { weight boss { uid } } } }",
    "{ q(func: has(friend)) @normalize { n: nick friend { f: nick w: weight } } }",
    "{ q(func: has(friend)) @ignorereflex { nick friend { nick friend { nick } } } }",
    "{ q(func: has(friend)) { count(uid) n as nick } r(func: uid(n)) { val(n) } }",
    "{ var(func: has(score)) { a as score b as weight c as math(a * 2 + b) } q(func: uid(c), orderasc: val(c)) { val(c) } }",
    "{ q(func: has(friend), first: 5) @recurse(depth: 3) { uid friend } }",
    "{ q(func: has(friend)) { friend @facets(since) { uid } } }",
    "{ q(func: has(boss)) { boss { boss { boss { nick } } } } }",
    // Blocks and fields beside each other.
    "{ a(func: has(score), orderasc: score) { uid } b(func: has(nick), orderdesc: nick) { nick } c(func: has(friend)) { friend { age } } }",
    "{ A as var(func: has(friend)) { f as friend @filter(ge(score, 300)) } B as var(func: has(age)) @filter(ge(age, 20)) \
     q(func: uid(A, f)) @filter(uid(B)) { uid friend { nick } boss { friend { uid } } } r(func: uid(B), orderasc: age) { age } }",
    "{ q(func: has(friend)) { friend { friend { nick } boss { age } } ~friend { boss { nick } } boss { friend(first: 2) { uid } } count(friend) } }",
    "{ var(func: has(score)) { s as score w as weight } a() { sum(val(s)) } b() { sum(val(w)) avg(val(s)) } c(func: uid(w), orderdesc: val(w), first: 9) { val(w) } }",
    "{ a(func: has(friend)) { friend @filter(ge(nick, 7)) { uid } } b(func: has(score)) @filter(gt(score, 2)) { uid } }",
    "{ a(func: has(score)) @groupby(age) { sum(big) } b(func: has(friend)) { friend @filter(ge(nosuch, 7)) { uid } } c(func: has(age), first: -3) { age } }",
    "{ b(func: uid(v)) @groupby(city) { sum(big) } v as var(func: has(friend)) { friend { uid } } c(func: has(score)) @groupby(age) { sum(big) } }",
    // The first few of an order, with filters and without.
    "{ q(func: has(score), orderdesc: score, first: 9) @filter(lt(age, 12)) { uid score } }",
    "{ q(func: has(score), orderasc: age, orderdesc: score, first: 9, offset: 3) @filter(regexp(nick, /7/)) { uid age } }",
    "{ q(func: has(score), orderdesc: weight, first: 5) @filter(eq(city, \"c3\") and not ge(score, 400)) { uid weight } }",
    "{ q(func: has(score), orderasc: born, first: 20) { uid born } r(func: has(boss), orderasc: weight, first: 20) { weight } }",
    // Whole columns.
    "{ var(func: has(score)) { s as score w as weight m as math(s * 2 + w) } \
     q() { min(val(w)) max(val(w)) sum(val(m)) min(val(s)) max(val(m)) avg(val(s)) } }",
    "{ q(func: has(nick)) @groupby(nick) { count(uid) sum(weight) max(score) } }",
    "{ q(func: has(nick)) @groupby(born, nick) { min(weight) } }",
    "{ q(func: has(tag)) @groupby(tag) { count(uid) sum(weight) min(score) } }",
    "{ q(func: has(tag)) @groupby(tag) { avg(weight) max(nick) } }",
    // Aggregates of all values of a group.
    "{ q(func: has(score)) @groupby(city) { median(weight) stddev(weight) quantile(score, 0.9) variance(score) count(distinct score) count(distinct nick) } }",
    "{ q(func: has(nick)) @groupby(nick) { sum(weight) stddev(weight) median(score) count(distinct friend) } }",
    "{ q(func: has(nick)) @groupby(weight, nick) { median(score) count(uid) } }",
    "{ q(func: has(tag)) @groupby(tag) { stddev(weight) median(score) count(distinct weight) } }",
    "{ var(func: has(friend)) { friend { s as weight } t as stddev(val(s)) m as median(val(s)) d as count(distinct val(s)) } \
     q(func: uid(t)) { val(t) val(m) val(d) } }",
    "{ var(func: has(score)) { s as score w as weight n as nick } \
     q() { median(val(w)) stddev(val(w)) variance(val(s)) quantile(val(s), 0.1) count(distinct val(w)) count(distinct val(n)) } }",
    // An error, whatever thread meets it.
    "{ q(func: has(score)) @groupby(city) { sum(big) } }",
    "{ var(func: has(friend)) { friend { s as big } t as sum(val(s)) } q(func: uid(t)) { val(t) } }",
];

/// A number that looks random and is the same in each run.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^= mixed >> 29;
    mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

fn lines(uids: std::ops::Range<u64>, nodes: u64) -> String {
    let mut out = String::new();
    for uid in uids {
        let random = mixed(uid);
        let mut add = |predicate: &str, value: String| {
            out += &format!("<{uid}> <{predicate}> {value} .\n");
        };
        for (position, (predicate, value)) in [
            ("score", format!("\"{}\"", random % 1000)),
            ("age", format!("\"{}\"", random / 7 % 40)),
            ("weight", format!("\"{}.{}\"", random / 3 % 100, random / 5 % 1000)),
            ("city", format!("\"c{}\"", random / 11 % 20)),
            ("nick", format!("\"n{}\"", random / 17 % 1000)),
            ("tag", format!("\"a tag that is longer than others {}\"", random / 19 % 3000)),
            ("born", format!("\"{}-03-{:02}\"", 1940 + random % 80, random / 80 % 28 + 1)),
            ("likes", format!("\"l{}\"", random % 5)),
            ("likes", format!("\"m{}\"", random % 7)),
            ("note", format!("\"t{random}\"")),
            ("note", format!("\"t{random}\"@en")),
            ("boss", format!("<{}>", random / 13 % nodes + 1)),
            ("big", format!("\"{}\"", i64::MAX - 5)),
        ]
        .into_iter()
        .enumerate()
        {
            // Most nodes lack something.
            if !mixed(uid * 32 + position as u64).is_multiple_of(8) {
                add(predicate, value);
            }
        }
        for edge in 0..random % 6 {
            let friend = mixed(uid * 8 + edge) % nodes + 1;
            add("friend", format!("<{friend}> (since={})", random % 2000));
        }
    }
    out
}

/// A graph with changes on top of its columns.
fn database(nodes: u64, threads: usize) -> Database {
    let db = Database::in_memory_with(OpenOptions { threads, ..OpenOptions::default() });
    db.alter(SCHEMA).unwrap();
    db.mutate(&lines(1..nodes, nodes), "").unwrap();
    db.compact().unwrap();
    db.mutate(&lines(nodes..nodes + 20, nodes), "").unwrap();
    let changed: String = (1..nodes)
        .step_by(37)
        .map(|uid| {
            format!("<{uid}> <score> \"{}\" .\n<{uid}> <city> \"new{}\" .\n", uid % 77, uid % 3)
        })
        .collect();
    let gone: String = (5..nodes)
        .step_by(53)
        .map(|uid| format!("<{uid}> <weight> * .\n<{uid}> <nick> * .\n<{uid}> <friend> * .\n"))
        .collect();
    db.mutate(&changed, &gone).unwrap();
    db
}

fn requested(db: &Database, text: &str, control: &RequestContext) -> Result<QueryAnswer, Error> {
    db.query_with(&QueryRequest { text: text.to_owned(), ..QueryRequest::default() }, control)
}

/// An answer in all its forms.
fn shown(db: &Database, text: &str, costs: CostModel) -> Vec<String> {
    let control = || RequestContext::new().with_costs(costs);
    let reported = |error: Error| error.to_string();
    let answer = match requested(db, text, &control()) {
        Ok(answer) => answer,
        Err(error) => return vec![reported(error)],
    };
    let mut chunks = Vec::new();
    let chunked = answer.write_chunks(2000, &control(), |chunk| {
        chunks.extend(chunk);
        Ok(())
    });
    vec![
        answer.to_json_with(&control()).map_or_else(reported, |(json, _)| json),
        chunked.map_or_else(reported, |()| String::from_utf8(chunks).unwrap()),
        answer.table_with(None, &control()).map_or_else(reported, |table| format!("{table:?}")),
        answer
            .to_short_json(3000, &control())
            .map_or_else(reported, |json| format!("{:?}", json.map(|it| it.0))),
    ]
}

fn sharing(morsel: usize) -> CostModel {
    CostModel { spread: 1, morsel, ..CostModel::default() }
}

fn alone() -> CostModel {
    CostModel { spread: usize::MAX, ..CostModel::default() }
}

#[test]
fn answers_are_the_same_bytes_with_any_number_of_threads() {
    let [one, two, eight] = [1, 2, 8].map(|threads| database(1500, threads));
    let mut seen = BTreeSet::new();
    for text in QUERIES {
        let expected = shown(&one, text, alone());
        assert!(expected[0].len() > 16, "{text}: {expected:?}");
        for (db, threads) in [(&one, 1), (&two, 2), (&eight, 8)] {
            for morsel in [1, 300, 20_000] {
                let result = shown(db, text, sharing(morsel));
                assert_eq!(result, expected, "{text}, {threads} threads, morsels of {morsel} ns");
            }
        }
        seen.insert(expected[0].clone());
    }
    assert_eq!(seen.len(), QUERIES.len(), "each query asks something else");
}

#[test]
fn limits_hold_for_all_threads_together() {
    let db = database(1500, 3);
    for text in QUERIES {
        for memory in [1 << 10, 20 << 10, 100 << 10] {
            let limits = Limits { memory, result: 20_000, ..Limits::default() };
            let outcome = |costs| {
                let control = RequestContext::new().with_costs(costs);
                control.set_limits(limits);
                let answer = requested(&db, text, &control)?;
                answer.to_json_with(&control).map(|(json, _)| json)
            };
            let (together, one) = (outcome(sharing(1)), outcome(alone()));
            // Parts take more memory than the whole does; so there may be an error where one thread
            // has none.
            match (together, one) {
                (Ok(together), Ok(one)) => assert_eq!(together, one, "{text}"),
                (Err(error), _) => assert!(
                    matches!(error, Error::Limit { .. } | Error::Query { .. }),
                    "{text}: {error}"
                ),
                (Ok(_), Err(error)) => panic!("{text}: only one thread fails: {error}"),
            }
        }
    }
}

#[test]
fn a_cancelled_request_ends_on_all_threads() {
    let db = database(1500, 3);
    let mut stopped = 0;
    for text in QUERIES {
        let control = RequestContext::new().with_costs(sharing(1));
        control.canceller().cancel();
        match requested(&db, text, &control) {
            Err(Error::Limit { .. }) => stopped += 1,
            // Little work may be done before anybody asks.
            Ok(_) => {}
            Err(error) => panic!("{text}: {error}"),
        }
        // The next one is answered.
        assert!(shown(&db, text, sharing(1))[0] != "the request was cancelled");
    }
    assert!(QUERIES.len() < 2 * stopped, "{stopped} were stopped");
}

/// The numbers of threads of this process that belong to a database.
#[cfg(target_os = "linux")]
fn threads_of_databases() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let name = |task: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap_or_default()
    };
    tasks.map(name).filter(|name| name.starts_with("hexgraph-")).count()
}

/// In a process of its own: all that a database of so many threads starts.
#[test]
#[cfg(target_os = "linux")]
fn one_thread_is_one_thread() {
    if let Some(threads) = process::number_from_environment("HEXGRAPH_CORES_THREADS") {
        process::report_failures();
        let db = database(600, threads as usize);
        // The schema was set, and the graph compacted, by threads of a pool; nothing of that is
        // left in a second handle.
        let dir = tempfile::tempdir().unwrap();
        db.save(dir.path()).unwrap();
        drop(db);
        let options = OpenOptions { threads: threads as usize, ..OpenOptions::default() };
        let db = Database::open(dir.path(), options).unwrap();
        while threads_of_databases() != 0 {
            std::thread::yield_now();
        }
        QUERIES.iter().for_each(|text| drop(shown(&db, text, sharing(1))));
        process::say(&format!("threads {} {}", threads_of_databases(), db.has_started_threads()));
        return;
    }
    for (threads, expected) in [("1", "threads 0 false"), ("3", "threads 3 true")] {
        let environment = [("HEXGRAPH_CORES_THREADS", threads.to_owned())];
        let child = process::start("cores::one_thread_is_one_thread", &environment);
        let said: Vec<String> = child.lines.iter().collect();
        assert!(said.iter().any(|line| line == expected), "{said:#?}");
    }
}
