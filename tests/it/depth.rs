//! Deep graphs: what nests too deep is refused, never a stack that overflows.

use hexgraph::db::{Control, Database, QueryRequest};

const NODES: u64 = 20_000;

fn ask(db: &Database, text: &str) -> Result<String, String> {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let answer = db.query(&request, &Control::new()).and_then(|answer| answer.to_json());
    answer.map(|(json, _)| json).map_err(|error| error.to_string())
}

/// A chain of nodes, and two nodes that lead to each other.
fn chain() -> Database {
    let db = Database::in_memory();
    db.alter("next: [uid] .").unwrap();
    let mut lines: String =
        (1..NODES).map(|uid| format!("<{uid}> <next> <{}> .\n", uid + 1)).collect();
    lines.push_str("<0x50000> <next> <0x50001> .\n<0x50001> <next> <0x50000> .\n");
    db.mutate(&lines, "").unwrap();
    db
}

#[test]
fn deep_answers_are_refused_or_written() {
    let db = chain();
    // Frames of unoptimised code are large; a server's thread has less room and smaller frames.
    let deep = std::thread::Builder::new().stack_size(16 << 20).spawn(move || {
        let endless = ask(&db, "{ q(func: uid(1)) @recurse { uid next } }");
        assert!(endless.unwrap_err().contains("deeper than 256 levels"));
        let looped = "{ q(func: uid(0x50000)) @recurse(depth: 35000, loop: true) { uid next } }";
        assert!(ask(&db, looped).unwrap_err().contains("deeper than 256 levels"));
        let some = ask(&db, "{ q(func: uid(1)) @recurse(depth: 200) { uid next } }").unwrap();
        assert_eq!(some.matches("\"next\"").count(), 199);
        let path = format!("{{ shortest(from: 1, to: {NODES}) {{ next }} }}");
        let path = ask(&db, &path).unwrap();
        assert_eq!(path.matches("\"next\"").count() as u64, NODES - 1);
        assert!(path.ends_with(&format!("\"_weight_\":{}}}]}}", NODES - 1)));
    });
    deep.unwrap().join().unwrap();
}
