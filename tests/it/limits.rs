//! Past a limit a request fails with the limit's name, and the database goes on.

use hexgraph::answer::JsonSink;
use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{
    Database, ExplainedStep, LoadOptions, Memory, Mutation, MutationRequest, OpenOptions,
    QueryRequest, RequestContext, Source, Statements, Txn, TxnOptions,
};
use hexgraph::types::Error;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// A hundred nodes, each with an edge to each, and a name.
fn database(limits: &[(&str, &str)]) -> Database {
    let mut options = OpenOptions::default();
    for (name, value) in limits {
        options.limits.set(name, value).unwrap();
    }
    let db = Database::in_memory_with(options);
    db.alter("name: string @index(exact) .\nknows: [uid] @reverse .\nage: int @index(int) .")
        .unwrap();
    let mut lines = String::new();
    for one in 1..=100 {
        writeln!(lines, "<{one}> <name> \"node {one}\" .\n<{one}> <age> \"{one}\" .").unwrap();
        for other in 1..=100 {
            writeln!(lines, "<{one}> <knows> <{other}> .").unwrap();
        }
    }
    let source = Source::Bytes(lines.into_bytes().into());
    db.load_with(source, None, LoadOptions::default(), &RequestContext::new()).unwrap();
    db
}

fn ask(db: &Database, text: &str) -> Result<String, String> {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let answer =
        db.query_with(&request, &RequestContext::new()).and_then(|answer| answer.to_json());
    answer.map(|(json, _)| json).map_err(|error| error.to_string())
}

const WIDE: &str = "{ q(func: has(name)) { name knows { name knows { name } } } }";

#[test]
fn each_limit_is_named_and_nothing_else_suffers() {
    let recurse = "{ q(func: uid(1)) @recurse(depth: 40, loop: true) { uid knows } }";
    let flat = "{ q(func: uid(1)) @normalize { a: name knows { b: name knows { c: name } } } }";
    let paths = "{ shortest(from: 1, to: 100, numpaths: 50) { knows } }";
    for (name, value, text) in [
        ("memory", "50KiB", WIDE),
        ("result", "100KiB", WIDE),
        ("timeout", "0s", WIDE),
        ("text", "20", WIDE),
        ("edges", "500", recurse),
        (
            "levels",
            "3",
            "{ q(func: uid(1)) @recurse(depth: 9, loop: true) { knows @filter(uid(2)) } }",
        ),
        ("normalize", "5000", flat),
        ("frontier", "20", paths),
    ] {
        let db = database(&[(name, value)]);
        let error = ask(&db, text).unwrap_err();
        assert!(error.contains(&format!("`{name}`")), "{name}: {error}");
        if !matches!(name, "timeout" | "text") {
            assert_eq!(
                ask(&db, "{ q(func: uid(7)) { name } }").unwrap(),
                r#"{"q":[{"name":"node 7"}]}"#
            );
        }
        let roomy = database(&[]);
        assert!(name == "edges" || name == "levels" || ask(&roomy, text).is_ok(), "{name}");
    }
}

#[test]
fn aggregates_of_all_values_reserve_their_memory() {
    let mut options = OpenOptions::default();
    options.limits.set("memory", "1MiB").unwrap();
    let db = Database::in_memory_with(options);
    db.alter("city: string @index(exact) .\nage: int .\nnick: string .\nall: bool .").unwrap();
    let mut lines = String::new();
    for uid in 1..=60_000 {
        let city = uid % 7;
        writeln!(lines, "<{uid}> <age> \"{uid}\" .\n<{uid}> <city> \"{city}\" .").unwrap();
        writeln!(lines, "<{uid}> <nick> \"n{uid}\" .\n<{uid}> <all> \"true\" .").unwrap();
    }
    let source = Source::Bytes(lines.into_bytes().into());
    db.load_with(source, None, LoadOptions::default(), &RequestContext::new()).unwrap();
    let group = |call: &str| format!("{{ q(func: has(city)) @groupby(city) {{ {call} }} }}");
    assert!(ask(&db, &group("sum(age)")).is_ok());
    for call in ["median(age)", "stddev(age)", "count(distinct age)"] {
        let error = ask(&db, &group(call)).unwrap_err();
        assert!(error.contains("`memory`"), "{call}: {error}");
    }
    // A set of different texts lives as long as its group is counted.
    let text = "{ q(func: has(all)) @groupby(all) { count(distinct nick) } }";
    let error = ask(&db, text).unwrap_err();
    assert!(error.contains("`memory`"), "{error}");
    assert!(ask(&db, &group("sum(age)")).is_ok());
}

#[test]
fn explain_tells_the_steps() {
    let db = database(&[("slow", "0s")]);
    let text = "{ var(func: eq(name, \"node 3\")) { x as knows @filter(ge(age, 91)) }\n\
                q(func: uid(x), orderdesc: age, first: 2) { name } }";
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let explanation = db.profile_with(&request, &RequestContext::new()).unwrap();
    let row = |step: &'_ ExplainedStep| step.actual.map_or(0, |actual| actual.rows);
    let result: Vec<_> = explanation
        .steps
        .iter()
        .map(|step| (step.depth, step.operator, step.detail.as_str(), step.strategy, row(step)))
        .collect();
    let expected = [
        (0, "Project", "var", "", 1),
        (1, "IndexSeek", "eq(name, \"node 3\")", "", 1),
        (1, "Expand", "knows", "distinct targets, then lists", 10),
        (2, "Filter", "ge(age, 91)", "index", 10),
        (1, "Variable", "", "", 1),
        (0, "Project", "q", "", 2),
        (1, "UidSeek", "uid(x)", "", 10),
        (1, "Sort", "q", "", 2),
        (1, "Project", "name", "", 2),
        (1, "Variable", "", "", 0),
    ];
    assert_eq!(result, expected);
    assert_eq!(explanation.steps[1].estimate, Some(1));
    assert!(explanation.to_string().contains("ge(age, 91) (index)"));
    let slow = db.slow_queries();
    assert_eq!(slow.last().map(|query| query.text.as_str()), Some(text));
    let count = slow.len();
    let planned = db.explain_with(&request, &RequestContext::new()).unwrap();
    assert!(planned.steps.iter().all(|step| step.actual.is_none()));
    assert_eq!(db.slow_queries().len(), count, "it did not run");
    let sort = planned.steps.iter().find(|step| step.detail == "q" && step.depth == 1).unwrap();
    assert!(sort.is_estimated, "{planned}");
}

/// A query that would run for minutes is explained at once, and one of an empty database too.
#[test]
fn what_is_explained_does_not_run() {
    let db = Database::in_memory();
    let far = "{ q(func: uid(0x1)) @recurse(depth: 30, loop: true) { name knows } }";
    let paths = "{ p as shortest(from: 0x1, to: 0x3e8, numpaths: 100000) { knows } q(func: uid(p)) { name } }";
    let empty = db.explain(far).unwrap();
    assert_eq!(empty.plan(), db.explain(far).unwrap().plan());
    db.alter("knows: [uid] @reverse .").unwrap();
    let edges =
        (1..=1_000_u64).flat_map(|from| (1..=20).map(move |step| (from, from * step % 1_000 + 1)));
    let lines: Vec<String> = edges.map(|(from, to)| format!("<{from}> <knows> <{to}> .")).collect();
    db.mutate(&lines.join("\n"), "").unwrap();
    for text in [far, paths] {
        let context = RequestContext::new();
        let request = QueryRequest::from(text);
        let started = Instant::now();
        let explanation = db.explain_with(&request, &context).unwrap();
        assert!(started.elapsed() < Duration::from_secs(1), "{text}");
        assert!(1 < explanation.steps.len(), "{explanation}");
    }
    let context = RequestContext::new().with_timeout(Duration::from_millis(200));
    assert!(db.profile_with(&QueryRequest::from(paths), &context).is_err(), "it runs longer");
}

#[test]
fn slow_queries_are_kept_without_passwords() {
    let db = database(&[("slow", "0s")]);
    db.alter("secret: password .").unwrap();
    let text = "query q($word: string = \"by default\", $name: string) { q(func: eq(name, $name)) { a: checkpwd(secret, \"in the text\") b: checkpwd(secret, $word) } }";
    let variables = [("$word", "in a variable"), ("$name", "node 3")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned().into()));
    let variables = variables.into_iter().collect();
    let request = QueryRequest { text: text.to_owned(), variables, debug: false };
    db.query_with(&request, &RequestContext::new()).unwrap();
    let slow = db.slow_queries().pop().unwrap();
    let want = text.replace("\"by default\"", "***").replace("\"in the text\"", "***");
    assert_eq!(slow.text, want);
    let values: Vec<&str> = slow.variables.values().map(|value| value.text()).collect();
    assert_eq!(values, ["node 3", "***"]);
}

/// Two nodes that know each other and themselves.
fn circle(levels: usize, shown: &str) -> (Database, String) {
    let db = Database::in_memory_with(OpenOptions::default());
    db.alter("knows: [uid] .").unwrap();
    db.mutate("<1> <knows> <1> .\n<1> <knows> <2> .\n<2> <knows> <1> .\n<2> <knows> <2> .", "")
        .unwrap();
    let text = format!(
        "{{ q(func: uid(1)) {{ {} {shown} {} }} }}",
        "knows { ".repeat(levels),
        "}".repeat(levels)
    );
    (db, text)
}

#[test]
fn an_answer_that_is_too_long_is_refused_before_it_is_written() {
    for (shown, levels) in [("uid", 50), ("uid", 180), ("nobody_has_it", 60)] {
        let (db, text) = circle(levels, shown);
        let started = Instant::now();
        let error = ask(&db, &text).unwrap_err();
        assert!(error.contains("the limit `result`"), "{error}");
        assert!(error.contains("the answer has more than 536870912 objects"), "{error}");
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "{levels} levels: {:?}",
            started.elapsed()
        );
    }
    // 2^12 paths are no fault.
    let (db, text) = circle(12, "uid");
    assert_eq!(ask(&db, &text).unwrap().matches("\"uid\"").count(), 1 << 12);
}

#[test]
fn what_ignorereflex_leaves_out_is_not_counted_and_what_normalize_walks_is() {
    let (db, text) = circle(40, "uid");
    let reflex = text.replace(") {", ") @ignorereflex {");
    assert!(ask(&db, &reflex).unwrap().len() < 200);
    let flat = text.replace(") {", ") @normalize {");
    assert!(ask(&db, &flat).unwrap_err().contains("the limit `result`"));
}

#[test]
fn requests_share_the_memory_of_their_database() {
    let mut options = OpenOptions { memory: Memory::Work(20 << 20), ..OpenOptions::default() };
    // A query takes 17 MB here: a compaction in the background leaves too little.
    options.set_fold("manual").unwrap();
    let db = Database::in_memory_with(options);
    db.alter("knows: [uid] @reverse .").unwrap();
    let mut lines = String::new();
    for one in 1..=1000 {
        for other in 1..=100 {
            writeln!(lines, "<{one}> <knows> <{other}> .").unwrap();
        }
        if one % 100 == 0 {
            db.mutate(&std::mem::take(&mut lines), "").unwrap();
        }
    }
    assert!(db.budget().reserved() < 2 << 20, "{}", db.budget().reserved());
    // 100,000 edges a level, and 2 MB of text that are drawn several times, as a buffer that grows;
    // given back when the answer goes.
    let level = "{ q(func: has(knows)) { knows { count(knows) } } }";
    let wide =
        "{ q(func: has(knows)) { knows { knows { count(knows) } } ~knows { knows { uid } } } }";
    for _ in 0..20 {
        ask(&db, level).unwrap();
    }
    let error = ask(&db, wide).map(|json| json.len()).unwrap_err();
    assert!(error.contains("there is no memory for another"), "{error}");
    assert!(error.contains("of the 20971520 bytes"), "{error}");
    assert!(error.contains("the setting `memory`"), "{error}");
    assert!(db.budget().reserved() < 2 << 20, "{}", db.budget().reserved());
    ask(&db, level).unwrap();
}

#[test]
fn root_fields_give_back_what_they_have_drawn() {
    let options = OpenOptions { memory: Memory::Work(8 << 20), ..OpenOptions::default() };
    let db = Database::in_memory_with(options);
    db.set_graphql_schema("type Item { id: ID! name: String knows: [Item] }").unwrap();
    let lines = (1..=2_000).fold(String::new(), |mut lines, uid| {
        let next = uid % 2_000 + 1;
        writeln!(lines, "<{uid}> <Item.name> \"{uid}\" .\n<{uid}> <Item.knows> <{next}> .\n")
            .unwrap();
        writeln!(lines, "<{uid}> <dgraph.type> \"Item\" .").unwrap();
        lines
    });
    db.mutate(&lines, "").unwrap();
    // Each goes over all nodes and shows one: together they would need more than the budget.
    let field = "queryItem(first: 1) @cascade(fields: [\"name\", \"knows\"]) { knows { name } }";
    let query = (0..300).fold(String::new(), |text, number| format!("{text} a{number}: {field}"));
    let request = Request { query: format!("{{ {query} }}"), ..Request::default() };
    let response = db.graphql_with(&request, &Headers::default(), &RequestContext::new());
    assert!(response.errors.is_empty(), "{:?}", response.errors.first());
    let data = String::from_utf8(response.data.unwrap()).unwrap();
    assert_eq!(data.matches(r#":[{"knows":[{"name":""#).count(), 300);
    assert!(db.budget().reserved() < 2 << 20, "{}", db.budget().reserved());
}

/// `{"n":1}` has seven bytes, and seven hundred once it is read into values: what a query in DQL
/// answers a field of GraphQL is weighed so.
#[test]
fn answers_that_are_read_again_are_weighed_as_values() {
    let options = OpenOptions { memory: Memory::Work(16 << 20), ..OpenOptions::default() };
    let db = Database::in_memory_with(options);
    let schema = "type Item { id: ID! n: Int } type Short @remote { n: Int } \
                  type Query { first(k: Int!): [Short] @custom(dql: \"query q($k: int) { \
                  first(func: type(Item), first: $k) { n: Item.n } }\") }";
    db.set_graphql_schema(schema).unwrap();
    let lines = (1..=40_000).fold(String::new(), |mut lines, uid| {
        writeln!(lines, "<{uid}> <Item.n> \"1\" .\n<{uid}> <dgraph.type> \"Item\" .").unwrap();
        lines
    });
    let source = Source::Bytes(lines.into_bytes().into());
    db.load_with(source, None, LoadOptions::default(), &RequestContext::new()).unwrap();
    let first = |k: usize| {
        let request = Request::new(format!("{{ first(k: {k}) {{ n }} }}"));
        db.graphql_with(&request, &Headers::new(), &RequestContext::new())
    };
    let reported = first(40_000).errors[0].message.clone();
    assert!(reported.contains("there is no memory for another"), "{reported}");
    let fits = first(2_000);
    assert!(fits.errors.is_empty(), "{:?}", fits.errors);
    assert_eq!(String::from_utf8(fits.data.unwrap()).unwrap().matches(r#"{"n":1}"#).count(), 2_000);
    assert!(db.budget().reserved() < 2 << 20, "{}", db.budget().reserved());
}

#[test]
fn statements_are_charged_before_they_are_made() {
    let options = OpenOptions { memory: Memory::Work(64 << 20), ..OpenOptions::default() };
    let db = Database::in_memory_with(options);
    db.alter("name: string @index(exact, trigram) .\nnode: int @index(int) .\nknows: [uid] .")
        .unwrap();
    let lines: String =
        (1..=900).fold(String::new(), |lines, uid| lines + &format!("<{uid}> <node> \"1\" .\n"));
    db.mutate(&lines, "").unwrap();
    let before = db.budget().reserved();
    let text = "x".repeat(1200);
    // 900 nodes, 1200 trigrams each; 900 * 900 edges.
    for set in [format!("uid(v) <name> \"{text}\" ."), "uid(v) <knows> uid(v) .".to_owned()] {
        let request = format!(
            "upsert {{ query {{ v as var(func: has(node)) }} mutation {{ set {{ {set} }} }} }}"
        );
        let error = db.mutate_text_with(&request, &RequestContext::new()).map(|_| ()).unwrap_err();
        let said = error.to_string();
        assert!(matches!(error, Error::Limit { .. }), "{said}");
        assert!(said.contains("of the 67108864 bytes"), "{said}");
    }
    assert_eq!(db.budget().reserved(), before);
    assert_eq!(
        ask(&db, "{ q(func: has(name)) { uid } p(func: has(knows)) { uid } }").unwrap(),
        r#"{"q":[],"p":[]}"#
    );
}

#[test]
fn open_transactions_hold_what_they_staged_until_they_end() {
    let mut options = OpenOptions { memory: Memory::Work(64 << 20), ..OpenOptions::default() };
    options.transactions.per_client = 3;
    let db = Database::in_memory_with(options);
    db.alter("name: string .").unwrap();
    let client = Some("10.0.0.1".parse().unwrap());
    let begin = |client| db.begin(TxnOptions { client, ..TxnOptions::default() });
    let stage = |txn: &Txn| {
        let line = format!("_:a <name> \"{}\" .", "x".repeat(200_000));
        let set = vec![Statements::NQuads(&line)];
        let mutations = vec![Mutation { set, ..Mutation::default() }];
        let request = MutationRequest { mutations, ..MutationRequest::default() };
        txn.mutate_with(&request, &RequestContext::new()).map(|_| ())
    };
    let mut open = Vec::new();
    let error = loop {
        let txn = begin(None).unwrap();
        match stage(&txn) {
            Ok(()) => open.push(txn),
            Err(error) => break error,
        }
        assert!(open.len() < 400);
    };
    assert!(matches!(&error, Error::Limit { message } if message.contains("`memory`")), "{error}");
    assert!(20 < open.len(), "{}", open.len());
    open.pop().unwrap().commit().unwrap();
    stage(&begin(None).unwrap()).unwrap();
    drop(open);
    assert!(db.budget().reserved() < 4 << 20, "{}", db.budget().reserved());
    let three: Vec<_> = (0..3).map(|_| begin(client).unwrap()).collect();
    let error = begin(client).map(|_| ()).unwrap_err();
    assert!(
        matches!(&error, Error::Limit { message }
        if message.contains("3 transactions of 10.0.0.1 are open")),
        "{error}"
    );
    begin(Some("10.0.0.2".parse().unwrap())).unwrap();
    three[0].discard();
    begin(client).unwrap();
}

#[test]
fn moments_that_keep_too_much_alive_are_too_old() {
    let mut options = OpenOptions { memory: Memory::Work(64 << 20), ..OpenOptions::default() };
    options.transactions.history = 4 << 20;
    let db = Database::in_memory_with(options);
    db.alter("n: int @index(int) .").unwrap();
    let request = |text: &str| QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let count = |start: u64| {
        let requested = request("{ q(func: has(n)) { count(uid) } }");
        let (answer, start) = db.query_at(start, &requested, &RequestContext::new())?;
        Ok::<_, Error>((answer.to_json()?.0, start))
    };
    let mut starts = Vec::new();
    for round in 1..=40_u64 {
        let lines: String = (1..=20_000_u64).fold(String::new(), |mut lines, uid| {
            writeln!(lines, "<{uid}> <n> \"{}\" .", uid * round).unwrap();
            lines
        });
        let source = Source::Bytes(lines.into_bytes().into());
        db.load_with(source, None, LoadOptions::default(), &RequestContext::new()).unwrap();
        starts.push(count(0).unwrap().1);
    }
    let error = count(starts[0]).map(|_| ()).unwrap_err();
    let said = format!("StartTs {} is too old: that version is no longer available", starts[0]);
    assert!(matches!(&error, Error::Query { message, .. } if *message == said), "{error}");
    let last = starts.pop().unwrap();
    assert_eq!(count(last).unwrap().0, r#"{"q":[{"count":20000}]}"#);
    let retained = starts.iter().filter(|&&start| count(start).is_ok()).count();
    assert!((1..30).contains(&retained), "{retained}");
    assert!(db.budget().reserved() < 8 << 20, "{}", db.budget().reserved());
}

#[test]
fn the_head_of_an_answer_costs_what_is_written() {
    let db = database(&[("result", "100KiB")]);
    let request = QueryRequest { text: WIDE.to_owned(), ..QueryRequest::default() };
    let answer = db.query_with(&request, &RequestContext::new()).unwrap();
    // The whole has a million names, which is more than the limit.
    assert!(answer.to_json().unwrap_err().to_string().contains("the limit `result`"));
    let head = answer.write_head(3, JsonSink::new(), &RequestContext::new()).unwrap().into_bytes();
    let head = String::from_utf8(head).unwrap();
    assert_eq!(head.matches("\"name\"").count(), 3 + 3 * 3 + 3 * 3 * 3);
    assert!(answer.has_rows_with(&RequestContext::new()).unwrap());
    assert_eq!(answer.root_counts().collect::<Vec<_>>(), [("q", 100)]);
}

/// There may be a fault for each value, also where nothing is left of the data: they are bounded as
/// an answer is.
#[test]
fn faults_count_as_what_is_answered() {
    let database = |limits: &[(&str, &str)]| {
        let mut options = OpenOptions::default();
        for (name, value) in limits {
            options.limits.set(name, value).unwrap();
        }
        let db = Database::in_memory_with(options);
        db.set_graphql_schema("type Thing { id: ID! name: String! numbers: [Int] }").unwrap();
        let mut lines = String::new();
        for node in 1..=2_000 {
            writeln!(lines, "<{node}> <dgraph.type> \"Thing\" .").unwrap();
            // None of them has 32 bits.
            writeln!(lines, "<1> <Thing.numbers> \"{}\" .", node + (1_u64 << 40)).unwrap();
        }
        let source = Source::Bytes(lines.into_bytes().into());
        db.load_with(source, None, LoadOptions::default(), &RequestContext::new()).unwrap();
        db
    };
    let faults = |db: &Database, text: &str| {
        let response =
            db.graphql_with(&Request::new(text), &Headers::new(), &RequestContext::new());
        (response.errors.len(), response.errors[0].message.clone())
    };
    let roomy = database(&[]);
    for text in ["{ queryThing { name } }", "{ getThing(id: \"0x1\") { numbers } }"] {
        assert_eq!(faults(&roomy, text).0, 2_000, "{text}");
        let (count, message) = faults(&database(&[("result", "100KiB")]), text);
        assert_eq!(count, 1, "{text}: {message}");
        assert!(message.contains("`result`"), "{text}: {message}");
    }
}

/// Each name that is not known is compared with all that are, so only so many are.
#[test]
fn warnings_are_bounded() {
    let db = database(&[]);
    let names: String = (0..300).map(|number| format!(" unknown{number}")).collect();
    let text = format!("{{ q(func: uid(1)) {{ {names} {} }} }}", "x".repeat(60_000));
    let request = QueryRequest { text, ..QueryRequest::default() };
    let answer = db.query_with(&request, &RequestContext::new()).unwrap();
    let warnings = answer.warnings();
    assert_eq!((answer.unknown().len(), warnings.len()), (100, 100));
    assert_eq!(warnings[99].message, "there is no predicate `unknown99`");
}

#[test]
fn an_algorithm_without_memory_says_what_it_takes() {
    let db = database(&[("memory", "50KiB")]);
    let mut edges: String =
        (1..=5_000).map(|from| format!("<{from}> <near> <{}> .\n", from + 1)).collect();
    edges.push_str("<1> <near> <3> .\n");
    let source = Source::Bytes(edges.into_bytes().into());
    db.load_with(source, None, LoadOptions::default(), &RequestContext::new()).unwrap();
    let error =
        ask(&db, "{ q as pagerank() { near } r(func: uid(q), first: 1) { val(q) } }").unwrap_err();
    assert!(error.contains("`pagerank` on 5001 nodes and 5001 edges takes about 1MiB"), "{error}");
}
