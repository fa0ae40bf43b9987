//! Deep graphs: what nests too deep is refused, never a stack that overflows.

use hexgraph::db::{Database, OpenOptions, QueryRequest, RequestContext};

const NODES: u64 = 20_000;

fn ask(db: &Database, text: &str) -> Result<String, String> {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let answer =
        db.query_with(&request, &RequestContext::new()).and_then(|answer| answer.to_json());
    answer.map(|(json, _)| json).map_err(|error| error.to_string())
}

/// A chain of nodes, and two nodes that lead to each other.
fn chain(levels: &str) -> Database {
    let mut options = OpenOptions::default();
    options.limits.set("levels", levels).unwrap();
    let db = Database::in_memory_with(options);
    db.alter("next: [uid] .").unwrap();
    let mut lines: String =
        (1..NODES).map(|uid| format!("<{uid}> <next> <{}> .\n", uid + 1)).collect();
    lines.push_str("<0x50000> <next> <0x50001> .\n<0x50001> <next> <0x50000> .\n");
    db.mutate(&lines, "").unwrap();
    db
}

#[test]
fn deep_answers_are_refused_or_written() {
    let db = chain("256");
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

/// A recursion needs no stack: neither to walk its levels, nor to write them, nor to free them.
#[test]
fn levels_are_walked_and_written_on_a_small_stack() {
    let db = chain("100_000");
    let small = std::thread::Builder::new().stack_size(1 << 20).spawn(move || {
        let all = NODES as usize - 1;
        for (text, links) in [
            ("{ q(func: uid(1)) @recurse { uid next } }", all),
            ("{ q(func: uid(1)) @recurse(depth: 5000) { next uid } }", 4_999),
            ("{ q(func: uid(0x50000)) @recurse(depth: 30000, loop: true) { uid next } }", 29_999),
            // The last node has no edge, and neither has the one before it then.
            ("{ q(func: uid(1)) @recurse(depth: 20) @cascade(uid) { uid next } }", 19),
            ("{ q(func: uid(1)) @recurse @cascade(uid) { uid x as next } n(func: uid(x), first: 1) { uid } }", all),
            ("{ q(func: uid(1)) @recurse @ignorereflex { uid next } }", all),
        ] {
            let json = ask(&db, text).unwrap();
            assert_eq!(json.matches("\"next\"").count(), links, "{text}");
            assert_eq!(json.matches('{').count(), json.matches('}').count());
        }
        let request = |text: &str| QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
        let deep = request("{ q(func: uid(1)) @recurse { uid next } }");
        let answer = db.query_with(&deep, &RequestContext::new()).unwrap();
        assert_eq!(answer.warnings().len(), 1);
        assert_eq!(answer.warnings()[0].kind.name(), "deep_answer");
        let refused = answer.table_with(None, &RequestContext::new()).err().unwrap().to_string();
        assert!(refused.contains("`bfs(source"), "{refused}");
        assert_eq!(answer.to_rdf().unwrap().0.lines().count(), all);
        let shallow = request("{ q(func: uid(1)) @recurse(depth: 40) { uid next } }");
        let answer = db.query_with(&shallow, &RequestContext::new()).unwrap();
        assert!(answer.warnings().is_empty());
        assert!(answer.table_with(None, &RequestContext::new()).is_ok());
    });
    small.unwrap().join().unwrap();
}
