//! Runs the scripts of `tests/golden`: a graph, then queries with their answers or errors.
//!
//! A script is text. `#` starts a comment. `schema`, `set` and `delete` open a section that ends at
//! a blank line, `set json` and `delete json` likewise, with the new nodes in a line `answer: `;
//! below `mutate` stands a whole request, with what it found and the new nodes in such a line. `>`
//! starts a query, whose answer stands below it, one line to the next blank line. `graphql schema`
//! opens a section that sets the schema of the GraphQL API, with its faults below it. `graphql>`
//! starts a request to that API, whose variables may follow in a line `variables `; its response
//! stands below it. `load` loads lines of a file, and `load NAME` one whose names of nodes are
//! values of a predicate; the numbers of triples and new nodes, notes and warnings stand in a line
//! `answer: `. `people N` loads N nodes that are alike in each script (see [`people`]). `explain>`
//! starts a query below which its plan stands: the steps with their access paths and what the
//! indexes promised, first as they are planned, then as they are executed with what came out. `warnings>` starts one below whose answer its warnings stand, a line
//! each, with their kinds. `rewrite NAME>` shows the plan of a query without a rewrite and with it,
//! and that the answers are the same. `rdf>` starts a query that is answered in RDF, and `debug>`
//! one whose objects all have their uid. `HEXGRAPH_UPDATE_GOLDEN=1` writes the answers as they are
//! now.

use super::shadow::unplanned_step;
use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{
    Database, LoadOptions, LoadReport, Mutation, MutationAnswer, MutationRequest, OpenOptions,
    QueryRequest, RequestContext, Source, Statements,
};
use hexgraph::internals::exec::{CostModel, REWRITES};
use hexgraph::types::Result;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// How a line of a GraphQL request begins, and the line with its variables.
const GRAPHQL: &str = "graphql>";
const VARIABLES: &str = "variables ";

/// How lines of queries begin whose plans are shown.
const EXPLAIN: &str = "explain>";
const REWRITE: &str = "rewrite ";

/// How lines of queries begin that are answered in another form.
const RDF: &str = "rdf>";
const DEBUG: &str = "debug>";

/// How lines of queries begin whose warnings are shown.
const WARNINGS: &str = "warnings>";

fn scripts(dir: &Path) -> Vec<PathBuf> {
    let mut result = Vec::new();
    for entry in std::fs::read_dir(dir).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            result.extend(scripts(&path));
        } else {
            result.push(path);
        }
    }
    result.sort();
    result
}

fn answer(db: &Database, text: &str) -> String {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let result =
        db.query_with(&request, &RequestContext::new()).and_then(|answer| answer.to_json());
    match result {
        Ok((json, _)) => json,
        Err(error) => format!("error: {error}"),
    }
}

fn in_rdf(db: &Database, text: String) -> String {
    let request = QueryRequest { text, ..QueryRequest::default() };
    let result = db.query_with(&request, &RequestContext::new()).and_then(|answer| answer.to_rdf());
    result.map_or_else(|error| format!("error: {error}\n"), |(lines, _)| lines)
}

fn in_debug(db: &Database, text: String) -> String {
    let request = QueryRequest { text, debug: true, ..QueryRequest::default() };
    let result =
        db.query_with(&request, &RequestContext::new()).and_then(|answer| answer.to_json());
    result.map_or_else(|error| format!("error: {error}"), |(json, _)| json)
}

/// The answer of a query, and its warnings.
fn warned(db: &Database, text: &str) -> String {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let mut shown = format!("{}\n", answer(db, text));
    if let Ok(answer) = db.query_with(&request, &RequestContext::new()) {
        for warning in answer.warnings() {
            writeln!(shown, "{}: {warning}", warning.kind.name()).expect("a string grows");
        }
    }
    shown
}

/// The plan of a query: its steps as they are planned and as they are executed, without their
/// times.
fn plan(db: &Database, text: &str, costs: CostModel) -> String {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let control = || RequestContext::new().with_costs(costs);
    let (planned, steps) =
        (db.explain_with(&request, &control()), db.planned_steps(&request, &control()));
    let running = control();
    let executed = db.profile_with(&request, &running);
    if let (Ok(steps), Ok(_), Some(trace)) = (steps, &executed, running.trace())
        && let Some(step) = unplanned_step(&steps, &trace.steps())
    {
        panic!("{text}\n{step}");
    }
    match (planned, executed) {
        (Ok(planned), Ok(executed)) => format!("{}{}", planned.plan(), executed.plan()),
        (_, Err(error)) | (Err(error), _) => format!("error: {error}\n"),
    }
}

/// The plans of a query without a rewrite and with it.
fn rewritten(db: &Database, name: &str, text: &str) -> String {
    let position = REWRITES.iter().position(|rewrite| rewrite.name == name);
    let position = position.unwrap_or_else(|| panic!("no rewrite `{name}`"));
    let without = CostModel { left_out: 1 << position, ..CostModel::default() };
    let control = || RequestContext::new().with_costs(without);
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    let answered =
        |control: &RequestContext| db.query_with(&request, control).and_then(|it| it.to_json());
    let (before, after) = (answered(&control()), answered(&RequestContext::new()));
    assert_eq!(before.unwrap().0, after.unwrap().0, "with and without `{name}`: {text}");
    format!("before\n{}after\n{}", plan(db, text, without), plan(db, text, CostModel::default()))
}

/// N-Quads of some people. Person n has the uid n, the name `person n`, the age n modulo 90 but for
/// each tenth, one of seven cities, a score below 100,003 that no other has, a height below 1,000,
/// a day of birth, and follows five others. Person 1 follows the first half of them, too.
fn people(count: u64) -> String {
    let mut lines = String::new();
    for n in 1..=count {
        let mut add = |predicate: &str, value: &str| {
            writeln!(lines, "<{n}> <{predicate}> \"{value}\" .").expect("a string grows");
        };
        add("name", &format!("person {n}"));
        add("city", &format!("c{}", n % 7));
        add("height", &(n * 31 % 1_000).to_string());
        add("score", &(n * 7_919 % 100_003).to_string());
        add("born", &format!("19{:02}-0{}-1{}", n % 80 + 10, n % 9 + 1, n % 10));
        add("dgraph.type", if n % 3 == 0 { "Member" } else { "Guest" });
        if n % 10 != 0 {
            add("age", &(n % 90).to_string());
        }
        let hub = 1..=(if n == 1 { count / 2 } else { 0 });
        let some = (1..=5).map(|edge| (n * 7 + edge * 13) % count + 1);
        let mut targets: Vec<u64> = hub.chain(some).filter(|target| *target != n).collect();
        targets.sort_unstable();
        targets.dedup();
        for target in targets {
            writeln!(lines, "<{n}> <follows> <{target}> .").expect("a string grows");
        }
    }
    lines
}

/// The response to a GraphQL request, which is written over several lines.
fn response(db: &Database, lines: &[&str]) -> String {
    let mut request = Request::new("");
    for line in lines {
        if let Some(text) = line.strip_prefix(GRAPHQL) {
            request.query += text;
            request.query += "\n";
        } else if let Some(json) = line.strip_prefix(VARIABLES) {
            request.variables = serde_json::from_str(json).expect("variables are a JSON object");
        }
    }
    let response = db.graphql_with(&request, &Headers::new(), &RequestContext::new());
    String::from_utf8(response.to_json("")).expect("JSON is text")
}

/// What a mutation answers: what its query found, and the new nodes.
fn shown(done: MutationAnswer) -> Result<String> {
    let queries = match &done.queries {
        Some(queries) => queries.to_json()?.0,
        None => "null".to_owned(),
    };
    Ok(format!("{queries} {:?}", done.uids))
}

/// Carries out a section that changes something, and says what it answers.
fn change(db: &Database, name: &str, text: &str) -> Result<Option<String>> {
    if let Some(count) = name.strip_prefix("people ") {
        let lines = people(count.parse().expect("a number of people"));
        let source = Source::Bytes(lines.into());
        return db
            .load_with(source, None, LoadOptions::default(), &RequestContext::new())
            .map(|_| None);
    }
    if let Some(predicate) = name.strip_prefix("load") {
        let xid = Some(predicate.trim().to_owned()).filter(|name| !name.is_empty());
        let options = LoadOptions { xid, ..LoadOptions::default() };
        let source = Source::Bytes(text.to_owned().into());
        let report = db.load_with(source, None, options, &RequestContext::new())?;
        let LoadReport { triples, new_nodes, notes, warnings, .. } = report;
        let lines = [notes, warnings].concat().join("; ");
        return Ok(Some(format!("{triples} triples, {new_nodes} new nodes; {lines}")));
    }
    let json = vec![Statements::Json(text)];
    let mutation = match name {
        "schema" => return db.alter(text).map(|_| None),
        "graphql schema" => return db.set_graphql_schema(text).map(|_| None),
        "set" => return db.mutate(text, "").map(|_| None),
        "delete" => return db.mutate("", text).map(|_| None),
        "mutate" => {
            return db.mutate_text_with(text, &RequestContext::new()).and_then(shown).map(Some);
        }
        "set json" => Mutation { set: json, ..Mutation::default() },
        "delete json" => Mutation { delete: json, ..Mutation::default() },
        other => panic!("not a section and not a query: {other}"),
    };
    let request = MutationRequest { mutations: vec![mutation], ..MutationRequest::default() };
    db.mutate_with(&request, &RequestContext::new()).and_then(shown).map(Some)
}

/// The script as it should read, with today's answers.
fn replay(script: &str) -> String {
    // As many threads on each machine: a plan says with how many the work of a step is shared.
    let db = Database::in_memory_with(OpenOptions { threads: 3, ..OpenOptions::default() });
    let mut out = String::new();
    let mut paragraphs = script.trim_end().split("\n\n").peekable();
    while let Some(paragraph) = paragraphs.next() {
        // The error of a section stands below it and is no part of it.
        let is_code = |line: &&str| !line.starts_with('#') && !line.starts_with("error: ");
        let code: Vec<&str> = paragraph.lines().filter(is_code).collect();
        let comments = paragraph.lines().filter(|line| line.starts_with('#'));
        for comment in comments {
            writeln!(out, "{comment}").expect("a string grows");
        }
        match code.split_first() {
            None => {}
            Some((first, _)) if first.starts_with(GRAPHQL) => {
                let is_request =
                    |line: &&&str| line.starts_with(GRAPHQL) || line.starts_with(VARIABLES);
                let request: Vec<&str> = code.iter().take_while(is_request).copied().collect();
                for line in &request {
                    writeln!(out, "{line}").expect("a string grows");
                }
                writeln!(out, "{}", response(&db, &request)).expect("a string grows");
            }
            Some((first, _))
                if [EXPLAIN, REWRITE, RDF, DEBUG, WARNINGS]
                    .iter()
                    .any(|it| first.starts_with(it)) =>
            {
                let (prefix, _) = first.split_once('>').expect("a query follows");
                let prefix = format!("{prefix}>");
                let is_query = |line: &&&str| line.starts_with(&prefix);
                let query: Vec<&str> = code.iter().take_while(is_query).copied().collect();
                let text: Vec<&str> = query.iter().map(|line| &line[prefix.len()..]).collect();
                for line in &query {
                    writeln!(out, "{line}").expect("a string grows");
                }
                let text = text.join("\n");
                out += &match prefix.strip_prefix(REWRITE) {
                    Some(name) => rewritten(&db, name.trim_end_matches('>'), &text),
                    None if prefix == RDF => in_rdf(&db, text),
                    None if prefix == DEBUG => in_debug(&db, text) + "\n",
                    None if prefix == WARNINGS => warned(&db, &text),
                    None => plan(&db, &text, CostModel::default()),
                };
            }
            Some((name, rest)) if !name.starts_with('>') => {
                let is_answer =
                    |line: &&&str| line.starts_with("error: ") || line.starts_with("answer: ");
                let rest: Vec<&str> =
                    rest.iter().filter(|line| !is_answer(line)).copied().collect();
                let result = change(&db, name, &rest.join("\n"));
                write_section(&mut out, name, &rest, result);
            }
            Some(_) => {
                let query: Vec<&str> =
                    code.iter().copied().take_while(|line| line.starts_with('>')).collect();
                let text: Vec<&str> = query.iter().map(|line| &line[1..]).collect();
                for line in &query {
                    writeln!(out, "{line}").expect("a string grows");
                }
                writeln!(out, "{}", answer(&db, &text.join("\n"))).expect("a string grows");
            }
        }
        if paragraphs.peek().is_some() {
            out.push('\n');
        }
    }
    out
}

fn write_section(out: &mut String, name: &str, lines: &[&str], result: Result<Option<String>>) {
    writeln!(out, "{name}").expect("a string grows");
    for line in lines {
        writeln!(out, "{line}").expect("a string grows");
    }
    match result {
        Ok(None) => {}
        Ok(Some(answer)) => writeln!(out, "answer: {answer}").expect("a string grows"),
        Err(error) => {
            for line in error.to_string().lines() {
                writeln!(out, "error: {line}").expect("a string grows");
            }
        }
    }
}

#[test]
fn golden_scripts_answer_as_written() {
    let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/golden");
    let update = std::env::var_os("HEXGRAPH_UPDATE_GOLDEN").is_some();
    let mut faults = Vec::new();
    for path in scripts(&dir) {
        let script = std::fs::read_to_string(&path).expect("the script is text");
        let now = replay(&script);
        if update {
            std::fs::write(&path, now).expect("the script can be written");
        } else if now.trim_end() != script.trim_end() {
            let differing = now.lines().zip(script.lines()).find(|(now, then)| now != then);
            let (now, then) = differing.unwrap_or(("(length)", "(length)"));
            faults.push(format!("{}\n  wanted {then}\n  got    {now}", path.display()));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
