//! One changed edge of a node with very many: `HEXGRAPH_BENCH_HUB` of them, ten million.

use crate::clock::pair;
use crate::graph::{copy, open};
use crate::queries::Question;
use crate::table::Table;
use hexgraph::db::Database;
use hexgraph_benches::load_lines;
use std::path::Path;
use std::time::Instant;

const QUESTIONS: &[(&str, Question)] = &[
    (
        "page by after",
        Question::Dql("{ q(func: uid(1)) { e(first: 10, after: 0x2dc6#) { uid } } }"),
    ),
    (
        "page by offset",
        Question::Dql("{ q(func: uid(1)) { e(first: 10, offset: 30000#) { uid } } }"),
    ),
    ("counted", Question::Dql("{ q(func: uid(1)) { count(e) } }")),
    ("one edge", Question::Dql("{ q(func: uid(1)) @filter(uid_in(e, 0x2dc6#)) { uid } }")),
    ("count at least", Question::Dql("{ q(func: ge(count(e), 10000#)) { uid } }")),
    (
        "filtered page",
        Question::Dql("{ q(func: uid(1)) { e(first: 10) @filter(ge(rank, 5#)) { uid } } }"),
    ),
    ("all counted", Question::Dql("{ q(func: uid(1)) { e { count(uid) } } }")),
];

/// Measures one changed edge: an added one, and a deleted one more.
pub fn measure(dir: &Path) {
    let edges = std::env::var("HEXGRAPH_BENCH_HUB").ok().and_then(|text| text.parse().ok());
    let edges: u64 = edges.unwrap_or(10_000_000);
    let dirs = ["hub", "hub-frozen"].map(|name| dir.join(name));
    let started = Instant::now();
    build(&dirs[0], edges);
    copy(&dirs[0], &dirs[1]);
    println!("a node of {edges} edges built: {:.1} s", started.elapsed().as_secs_f64());
    let [db, frozen] = dirs.map(|dir| open(&dir, "auto"));
    let mut table = Table::new(QUESTIONS.iter().map(|(name, _)| *name));
    let changes = [
        ("one edge more", "<1> <e> <50000001> .", ""),
        ("and one less", "", "<1> <e> <3000001> ."),
    ];
    for (column, set, delete) in changes {
        db.mutate(set, delete).expect("a valid mutation");
        let times = QUESTIONS.iter().map(|(_, question)| {
            pair(|number| question.ask(&frozen, number), |number| question.ask(&db, number))
        });
        table.add(column, times.collect());
    }
    println!("A node of {edges} edges\n{table}");
}

fn build(path: &Path, edges: u64) {
    let db = Database::in_memory();
    db.alter("e: [uid] @count .\nrank: int .").expect("a valid schema");
    let dir = tempfile::tempdir().expect("a directory for temporary files");
    load_lines(&db, dir.path(), |out| {
        for target in 2..edges + 2 {
            writeln!(out, "<1> <e> <{target}> .").expect("room");
            if target % 16 == 0 {
                writeln!(out, "<{target}> <rank> \"{}\" .", target / 16 % 100).expect("room");
            }
        }
    });
    db.save(path).expect("the disk has room");
}
