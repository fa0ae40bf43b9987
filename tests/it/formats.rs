//! Directories that earlier releases wrote open, and answer as they did.
//!
//! `tests/fixtures/format-N` has a directory that was written with format N, and what it answered
//! then. [`write`] is what wrote them all; it also runs on a directory of the format of today.

use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{Database, Drop, OpenOptions, QueryRequest, RequestContext, TxnOptions, check};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The schema of the part that went to the snapshot: each type of value and each kind of index.
const FIRST_SCHEMA: &str = r#"
    name: string @index(exact, term, fulltext, trigram) @lang @count .
    code: string @index(hash) @upsert @unique .
    words: string @index(ngram) .
    age: int @index(int) .
    height: float @index(float) .
    born: datetime @index(hour) .
    seen: [datetime] @index(month) .
    alive: bool @index(bool) .
    home: geo @index(geo) .
    tags: [string] @index(exact) @count .
    scores: [int] .
    mass: bigfloat @index(bigfloat) .
    anything: default .
    secret: password .
    vector: float32vector @index(hnsw(metric: "cosine", efSearch: "60")) .
    friend: [uid] @reverse @count .
    boss: uid @reverse .
    quiet: string @noconflict .
    old: string @index(term) .
    gone: [uid] @reverse .
    doomed: int @index(int) .
    type Person {
        name
        age
        friend
        boss
        <~friend>
    }
    type Old {
        old
    }
"#;

const FIRST_DATA: &str = r#"
    <0x1> <dgraph.type> "Person" .
    <0x1> <name> "Ada Lovelace" (since=1815-12-10T00:00:00Z, sure=true) .
    <0x1> <name> "Ada"@en .
    <0x1> <name> "Аda"@ru .
    <0x1> <code> "A1" .
    <0x1> <words> "the quick brown fox" .
    <0x1> <age> "36" .
    <0x1> <height> "1.65" .
    <0x1> <born> "1815-12-10T13:30:00.25+01:00" .
    <0x1> <seen> "2020-01-02" (by="bob") .
    <0x1> <seen> "2021-03-04T05:06:07Z" .
    <0x1> <alive> "false" .
    <0x1> <home> "{'type':'Point','coordinates':[-0.1,51.5]}"^^<geo:geojson> .
    <0x1> <tags> "x" (weight=1.5) .
    <0x1> <tags> "y" .
    <0x1> <tags> "z" .
    <0x1> <scores> "1" .
    <0x1> <scores> "5000000000" .
    <0x1> <mass> "1.25" .
    <0x1> <anything> "5"^^<xs:int> .
    <0x1> <secret> "hunter2-hunter2" .
    <0x1> <vector> "[1.0, 2.0, 3.0]" .
    <0x1> <friend> <0x2> (close=true, score=0.5) .
    <0x1> <friend> <0x3> .
    <0x1> <boss> <0x3> .
    <0x1> <quiet> "hush" .
    <0x1> <old> "old words" .
    <0x1> <gone> <0x2> .
    <0x1> <doomed> "1" .
    <0x2> <dgraph.type> "Person" .
    <0x2> <name> "Bob" .
    <0x2> <name> "Robert"@de .
    <0x2> <age> "41" .
    <0x2> <code> "B2" .
    <0x2> <secret> "correct horse" .
    <0x2> <vector> "[3.0, 2.0, 1.0]" .
    <0x2> <friend> <0x1> .
    <0x2> <tags> "y" .
    <0x2> <home> "{'type':'Polygon','coordinates':[[[0,0],[2,0],[2,2],[0,2],[0,0]]]}"^^<geo:geojson> .
    <0x3> <name> "Cy"@en .
    <0x3> <age> "-7" .
    <0x3> <secret> "battery staple" .
    <0x10000000001> <name> "far" .
    <0x10000000001> <friend> <0x1> (close=false) .
"#;

/// The schema that is added in the log; it defines some predicates otherwise, too.
const SECOND_SCHEMA: &str = r#"
    age: int @index(int) @count .
    height: float .
    old: string @index(exact, fulltext) .
    boss: uid @reverse @count .
    title: string @index(term, trigram) @lang .
    day: datetime @index(day) .
    place: geo @index(geo) .
    ratings: [float] @count .
    pass: password .
    v2: float32vector @index(hnsw(metric: "euclidean", maxLevels: "4", efConstruction: "80")) .
    key: int @index(int) @unique .
    likes: [uid] @reverse @count .
    type Thing {
        title
        day
        likes
        <~likes>
    }
    type Person {
        name
        age
        friend
        boss
        title
    }
"#;

const SECOND_DATA: &str = r#"
    <0x4> <dgraph.type> "Thing" .
    <0x4> <title> "a thing" (lang="none", n=3) .
    <0x4> <title> "ein Ding"@de .
    <0x4> <title> "une chose"@fr .
    <0x4> <day> "2024-02-29T23:59:59.999999999-11:30" .
    <0x4> <place> "{'type':'Point','coordinates':[1,1]}"^^<geo:geojson> .
    <0x4> <ratings> "1.5" .
    <0x4> <ratings> "-2.25" (by="ada", at=2024-01-01T00:00:00Z) .
    <0x4> <pass> "first password" .
    <0x4> <v2> "[0.5, 0.25]" .
    <0x4> <key> "77" .
    <0x4> <likes> <0x1> (since=2020-01-01T00:00:00Z) .
    <0x4> <likes> <0x2> .
    <0x4> <likes> <0x10000000001> .
    <0x5> <title> "another" .
    <0x5> <pass> "second password" .
    <0x5> <v2> "[9.5, 1.0]" .
    <0x5> <likes> <0x4> .
    <0x1> <age> "37" .
    <0x1> <name> "Ada King"@en .
    <0x1> <friend> <0x4> (close=true) .
    <0x20000000007> <title> "farther" .
    _:new <title> "new" .
    _:new <newpred> "made up" .
    _:new <newint> "12"^^<xs:int> .
    _:new <newlink> <0x1> .
"#;

/// Deletes of all kinds, each a commit: all values, a language, a value, a value of a list, an
/// edge, all edges, all that the types of a node say, and a password by its text.
const DELETES: [&str; 10] = [
    "<0x4> <title> * .",
    "<0x1> <name@en> * .",
    "<0x2> <age> \"41\" .",
    "<0x1> <tags> \"y\" .",
    "<0x1> <scores> \"5000000000\" .",
    "<0x1> <friend> <0x3> .",
    "<0x5> <likes> * .",
    "<0x2> * * .",
    "<0x1> <secret> \"hunter2-hunter2\" .",
    "<0x4> <pass> \"not this one\" .",
];

const GRAPHQL_SCHEMA: &str = r#"
    type Author {
        id: ID!
        name: String! @search(by: [hash, term])
        born: DateTime @search(by: [year])
        books: [Book] @hasInverse(field: author)
        login: String! @id
    }
    type Book @secret(field: "pin") {
        id: ID!
        title: String! @search(by: [fulltext])
        pages: Int @search
        tags: [String] @search(by: [exact])
        author: Author
    }
"#;

const GRAPHQL_MUTATION: &str = r#"
    mutation {
        addBook(input: [{ title: "Notes", pages: 65, pin: "open sesame", tags: ["a", "b"],
            author: { name: "Ada", login: "ada", born: "1815-12-10T00:00:00Z" } }]) { numUids }
    }
"#;

#[test]
fn directories_of_earlier_formats_open() {
    let mut formats = 0;
    for entry in fs::read_dir(fixtures()).unwrap() {
        let fixture = entry.unwrap().path();
        if !fixture.is_dir() {
            continue;
        }
        let expected = fs::read_to_string(fixture.join("answers.txt")).unwrap();
        let home = tempfile::tempdir().unwrap();
        copy(&fixture.join("db"), home.path());
        opens(home.path(), &expected, &fixture.display().to_string());
        formats += 1;
    }
    assert!(0 < formats);
}

#[test]
fn a_directory_of_today_opens() {
    let home = tempfile::tempdir().unwrap();
    write(home.path());
    opens(home.path(), &answers(&open(home.path(), true)), "today");
    let first = fs::read_to_string(fixtures().join("format-1/answers.txt"));
    let again = tempfile::tempdir().unwrap();
    write(again.path());
    assert_eq!(answers(&open(again.path(), true)), first.unwrap(), "what was done is the same");
}

/// Writes a fixture: `HEXGRAPH_WRITE_FIXTURE=<folder> cargo test --features http --test it
/// write_a_fixture -- --ignored`.
#[test]
#[ignore = "writes a fixture, once for each format"]
fn write_a_fixture() {
    let folder = PathBuf::from(std::env::var_os("HEXGRAPH_WRITE_FIXTURE").unwrap());
    write(&folder.join("db"));
    fs::write(folder.join("answers.txt"), answers(&open(&folder.join("db"), true))).unwrap();
}

/// A directory answers as expected when it is read, when it is written, after more commits, and
/// from a snapshot.
fn opens(home: &Path, expected: &str, context: &str) {
    check(home).unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!(answers(&open(home, true)), expected, "{context}, read-only");
    let db = open(home, false);
    assert!(5 < db.recovery().unwrap().commits, "{context}: the log is not folded");
    assert_eq!(answers(&db), expected, "{context}");
    db.mutate("<0x99> <extra> \"more\" .", "").unwrap();
    db.alter("extra: string @index(exact) .").unwrap();
    drop(db);
    let extra = "{ q(func: eq(extra, \"more\")) { uid } }";
    let reader = open(home, true);
    assert_eq!(dql(&reader, extra), "{\"q\":[{\"uid\":\"0x99\"}]}", "{context}");
    let db = open(home, false);
    db.mutate("", "<0x99> <extra> * .").unwrap();
    db.drop(&Drop::Predicate("extra".to_owned())).unwrap();
    db.checkpoint().unwrap();
    reader.refresh().unwrap();
    assert_eq!(answers(&reader), expected, "{context}, beside a checkpoint");
    db.close().unwrap();
    check(home).unwrap();
    let db = open(home, false);
    assert_eq!((db.recovery().unwrap().commits, answers(&db).as_str()), (0, expected), "{context}");
}

/// Carries out all that a log and a snapshot can hold: a snapshot, and two logs after it.
fn write(home: &Path) {
    let db = open(home, false);
    db.alter(FIRST_SCHEMA).unwrap();
    db.mutate(FIRST_DATA, "").unwrap();
    db.compact().unwrap();
    db.alter(SECOND_SCHEMA).unwrap();
    db.mutate(SECOND_DATA, "").unwrap();
    db.set_graphql_schema(GRAPHQL_SCHEMA).unwrap();
    graphql(&db, GRAPHQL_MUTATION);
    // A directory that is opened again begins another log.
    drop(db);
    let db = open(home, false);
    DELETES.iter().for_each(|delete| drop(db.mutate("", delete).unwrap()));
    db.drop(&Drop::Predicate("doomed".to_owned())).unwrap();
    db.drop(&Drop::Predicate("gone".to_owned())).unwrap();
    db.drop(&Drop::Type("Old".to_owned())).unwrap();
    db.assign_uids(100).unwrap();
    let txn = db.begin(TxnOptions::default()).unwrap();
    let set = "_:late <late> \"too\" .\n_:late <name> \"late\" .";
    txn.mutate_text_with(&format!("{{ set {{ {set} }} }}"), &RequestContext::new()).unwrap();
    txn.commit().unwrap();
    let upsert = "upsert { query { v as var(func: eq(code, \"A1\")) { a as age } }
        mutation @if(eq(len(v), 1)) { set { uid(v) <quiet> \"found\" .
        uid(v) <height> val(a) . } } }";
    db.mutate_text_with(upsert, &RequestContext::new()).unwrap();
}

fn fixtures() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/fixtures")
}

fn open(home: &Path, read_only: bool) -> Database {
    let options = OpenOptions { read_only, threads: 1, ..OpenOptions::default() };
    Database::open(home, options).unwrap()
}

/// The answers to the queries of `queries.txt`; one that begins with `graphql` is a request in
/// GraphQL.
fn answers(db: &Database) -> String {
    let mut text = String::new();
    let queries = fs::read_to_string(fixtures().join("queries.txt")).unwrap();
    for query in queries.trim_end().split("\n\n") {
        let answer = match query.strip_prefix("graphql ") {
            Some(request) => graphql(db, request),
            None => dql(db, query),
        };
        writeln!(text, "{query}\n=> {answer}\n").unwrap();
    }
    text
}

fn dql(db: &Database, query: &str) -> String {
    let request = QueryRequest { text: query.to_owned(), ..QueryRequest::default() };
    let answer =
        db.query_with(&request, &RequestContext::new()).and_then(|answer| answer.to_json());
    answer.map_or_else(|error| format!("error: {error}"), |(json, _)| json)
}

fn graphql(db: &Database, text: &str) -> String {
    let response =
        db.graphql_with(&Request::new(text.to_owned()), &Headers::new(), &RequestContext::new());
    String::from_utf8(response.to_json("")).unwrap()
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}
