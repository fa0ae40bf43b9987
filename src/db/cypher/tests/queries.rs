//! A version of the graph as Cypher sees it: names, hidden predicates, values, indexes, changes.

use crate::db::{Database, Limits, OpenOptions, RequestContext, cypher_params};
use hexgraph_scalar::{Map, Value};
use std::time::{Duration, Instant};

const DATA: &str = r#"
<1> <dgraph.type> "Film" .
<1> <Film.title> "Metropolis" .
<1> <year> "1927"^^<xs:int> .
<2> <dgraph.type> "Person" .
<2> <name> "Fritz" .
<2> <name> "Fritz Lang"@de .
<2> <born> "1890-12-05T00:00:00Z"^^<xs:dateTime> .
<2> <secret> "geheim!" .
<2> <home> "{'type':'Point','coordinates':[16.4,48.2]}"^^<geo:geojson> .
<2> <Person.directed> <1> (scenes=7) .
<3> <likes> <3> .
<3> <likes> <4> .
<5> <tags> "b" .
<5> <tags> "a" .
"#;

const SCHEMA: &str = "
name: string @lang @index(exact) .
year: int @index(int) .
secret: password .
born: datetime @index(year) .
home: geo .
tags: [string] .
likes: [uid] .
Person.directed: [uid] @reverse .
Film.title: string @index(hash) .
type Film {
  Film.title
  year
}
type Person {
  name
  Person.directed
}";

fn database() -> Database {
    let db = Database::in_memory();
    db.alter(SCHEMA).unwrap();
    db.mutate(DATA, "").unwrap();
    db
}

fn rows(db: &Database, text: &str) -> String {
    let answer = db.cypher(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let rows =
        answer.rows().map(|row| row.iter().map(|it| it.to_string()).collect::<Vec<_>>().join(", "));
    rows.collect::<Vec<_>>().join("; ")
}

#[test]
fn names_in_the_graph_are_listed() {
    let db = database();
    let [labels, types, keys] =
        ["labels", "relationshipTypes", "propertyKeys"].map(|list| format!("CALL db.{list}()"));
    assert_eq!(rows(&db, &labels), "Film; Person");
    assert_eq!(rows(&db, &types), "Person.directed; likes");
    assert_eq!(rows(&db, &keys), "born; home; name; name@de; tags; title; year");
    // A name that the schema alone has is not in the graph; one without a schema is.
    db.mutate(
        "<6> <dgraph.type> \"Town\" .\n<6> <dgraph.type> \"Port\" .\n<6> <size> \"1\" .",
        "<1> * * .",
    )
    .unwrap();
    assert_eq!(rows(&db, &labels), "Person; Port; Town");
    assert_eq!(rows(&db, &keys), "born; home; name; name@de; size; tags");
    db.mutate("", "<2> <Person.directed> * .\n<2> <name@de> * .").unwrap();
    assert_eq!(rows(&db, &types), "likes");
    assert_eq!(rows(&db, &keys), "born; home; name; size; tags");
    assert_eq!(rows(&Database::in_memory(), &keys), "");
}

#[test]
fn names_find_the_fields_of_types() {
    let db = database();
    assert_eq!(
        rows(&db, "MATCH (f:Film) RETURN f.title, f.`Film.title`, f.year"),
        "Metropolis, Metropolis, 1927"
    );
    assert_eq!(rows(&db, "MATCH (f {title: 'Metropolis'}) RETURN id(f)"), "1");
    assert_eq!(
        rows(&db, "MATCH (p)-[r:directed]->(f) RETURN type(r), r.scenes, p.name"),
        "Person.directed, 7, Fritz"
    );
    assert_eq!(rows(&db, "MATCH (f)<-[:directed]-(p) RETURN p.`name@de`"), "Fritz Lang");
    assert_eq!(
        rows(&db, "MATCH (f:Film) RETURN keys(f), properties(f)"),
        "['title', 'year'], {title: 'Metropolis', year: 1927}"
    );
}

#[test]
fn values_that_differ_by_name_are_an_error_that_names_them() {
    let db = database();
    db.alter(
        "Film.name: string .\nWork.name: string .\ntype Film {\nFilm.name\n}\ntype Work {\nWork.name\n}",
    )
    .unwrap();
    db.mutate("<9> <dgraph.type> \"Film\" .\n<9> <dgraph.type> \"Work\" .\n<9> <Film.name> \"M\" .\n<9> <Work.name> \"N\" .", "").unwrap();
    let error = db.cypher("MATCH (n:Work) RETURN n.name").map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("`Film.name`") && error.contains("`Work.name`"), "{error}");
    assert_eq!(rows(&db, "MATCH (n:Work) RETURN n.`Work.name`"), "N");
}

#[test]
fn passwords_and_the_engines_own_data_are_hidden() {
    let db = database();
    assert_eq!(rows(&db, "MATCH (n) RETURN collect(id(n))"), "[1, 2, 3, 4, 5]");
    assert_eq!(
        rows(&db, "MATCH (p:Person) RETURN p.secret, keys(p)"),
        "null, ['born', 'home', 'name', 'name@de']"
    );
    assert_eq!(rows(&db, "MATCH (p) WHERE p.`dgraph.type` IS NOT NULL RETURN count(p)"), "0");
    db.mutate("<77> <secret> \"geheim!\" .", "").unwrap();
    assert_eq!(rows(&db, "MATCH (n) RETURN count(n)"), "5");
}

#[test]
fn values_have_the_kinds_of_cypher() {
    let db = database();
    assert_eq!(
        rows(
            &db,
            "MATCH (p:Person) RETURN p.born.year, p.home.x, p.born < datetime('1900-01-01T00:00:00Z')"
        ),
        "1890, 16.4, true"
    );
    assert_eq!(rows(&db, "MATCH (n) WHERE n.tags IS NOT NULL RETURN n.tags"), "['a', 'b']");
}

/// Against the direction of an edge without `@reverse`, from itself to itself, and after a change.
#[test]
fn edges_are_read_in_both_directions() {
    let db = database();
    assert_eq!(rows(&db, "MATCH (a)<-[:likes]-(b) RETURN id(a), id(b)"), "3, 3; 4, 3");
    assert_eq!(rows(&db, "MATCH (a)-[:likes]-(b) RETURN id(a), id(b)"), "3, 3; 3, 4; 4, 3");
    db.mutate("<6> <likes> <4> .", "").unwrap();
    assert_eq!(rows(&db, "MATCH (a {x: null})<--(b) RETURN 1"), "");
    assert_eq!(rows(&db, "MATCH (a)<-[:likes]-(b) WHERE id(a) = 4 RETURN id(b)"), "3; 6");
    db.mutate("", "<3> <likes> <4> .").unwrap();
    assert_eq!(rows(&db, "MATCH (a)<-[:likes]-(b) WHERE id(a) = 4 RETURN id(b)"), "6");
}

/// An index finds what a scan finds: equal numbers of both kinds, and no others.
#[test]
fn an_index_finds_what_a_scan_finds() {
    let db = database();
    for (index, scan) in [
        (
            "MATCH (n {year: 1927.0}) RETURN id(n)",
            "MATCH (n) WHERE n.year + 0 = 1927.0 RETURN id(n)",
        ),
        (
            "MATCH (n {year: 1927.5}) RETURN id(n)",
            "MATCH (n) WHERE n.year + 0 = 1927.5 RETURN id(n)",
        ),
        (
            "MATCH (n {year: '1927'}) RETURN id(n)",
            "MATCH (n) WHERE n.year + 0 = '1927' RETURN id(n)",
        ),
        (
            "MATCH (n {name: 'Fritz'}) RETURN id(n)",
            "MATCH (n) WHERE n.name + '' = 'Fritz' RETURN id(n)",
        ),
        (
            "MATCH (n {born: datetime('1890-12-05T01:00:00+01:00')}) RETURN id(n)",
            "MATCH (n) WHERE n.born.year = 1890 RETURN id(n)",
        ),
        (
            "MATCH (n {born: datetime('1890-12-06T00:00:00Z')}) RETURN id(n)",
            "MATCH (n) WHERE n.born.day = 6 RETURN id(n)",
        ),
    ] {
        assert_eq!(rows(&db, index), rows(&db, scan), "{index}");
    }
}

#[test]
fn nobody_writes_and_limits_hold() {
    let db = database();
    let fault = |text: &str| db.cypher(text).map(|_| ()).unwrap_err().to_string();
    assert!(fault("CREATE (n)").contains("mutate"), "{}", fault("CREATE (n)"));
    assert!(fault("EXPLAIN MATCH (n) RETURN m").contains('m'));
    let plan = db.cypher("EXPLAIN MATCH (n) RETURN count(*)").unwrap();
    assert_eq!(plan.columns.join(" "), "operator detail expected");
    assert!(fault("MATCH (n) RETURN m").contains('m'));
    let endless = fault("UNWIND range(0, 1000000000000) AS n RETURN n");
    assert!(endless.contains("value_bytes_max"), "{endless}");
}

fn json(db: &Database, text: &str) -> String {
    let answer = db.cypher(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    answer.to_json(&RequestContext::new()).unwrap().0
}

#[test]
fn answers_are_json_with_all_digits_and_kinds() {
    let db = database();
    let text = "RETURN 9007199254740993 AS i, 1.0 AS f, 1e300 AS g, 0.0 / 0.0 AS n, -1.0 / 0.0 AS m, \
                '<\"\\n' AS s, [true, null] AS l, {k: 1} AS o, date('2020-01-02') AS d, \
                duration('P1D') AS u, point({x: 1, y: 2.5}) AS p";
    let rows = r#"[[9007199254740993,1.0,1e300,"NaN","-Infinity","\u003c\"\n",[true,null],{"k":1},"2020-01-02","P1D",{"srid":7203,"x":1.0,"y":2.5}]]"#;
    let columns = r#"["i","f","g","n","m","s","l","o","d","u","p"]"#;
    assert_eq!(json(&db, text), format!("{{\"columns\":{columns},\"rows\":{rows}}}"));
    assert_eq!(json(&db, "UNWIND [] AS n RETURN n"), r#"{"columns":["n"],"rows":[]}"#);
    let node = r#"{"labels":["Film"],"properties":{"title":"Metropolis","year":1927},"uid":"0x1"}"#;
    let edge = r#"{"end":"0x1","properties":{"scenes":7},"start":"0x2","type":"Person.directed"}"#;
    assert_eq!(
        json(&db, "MATCH ()-[r]->(f:Film) RETURN f, r"),
        format!("{{\"columns\":[\"f\",\"r\"],\"rows\":[[{node},{edge}]]}}")
    );
}

/// Chunks are the text in parts, and no text is longer than the limit `result`.
#[test]
fn chunks_are_the_text_and_are_bounded() {
    let limits = Limits { result: 1000, ..Limits::default() };
    let db = Database::in_memory_with(OpenOptions { limits, ..OpenOptions::default() });
    let answer = db.cypher("UNWIND range(1, 100) AS n RETURN n, 'abc'").unwrap();
    let context = RequestContext::new();
    let error = answer.to_json(&context).unwrap_err().to_string();
    assert!(error.contains("more than 1000 bytes"), "{error}");
    let mut sent = 0;
    let send = |chunk: Vec<u8>| {
        sent += chunk.len();
        Ok(())
    };
    assert!(answer.write_chunks(64, &context, send).is_err());
    assert!((800..=1000).contains(&sent), "{sent}");
    let answer = db.cypher("UNWIND range(1, 50) AS n RETURN n, 'abc'").unwrap();
    let (full, _) = answer.to_json(&context).unwrap();
    for chunk_len in [1, 64, 10_000] {
        let mut chunks = Vec::new();
        let send = |chunk| {
            chunks.push(chunk);
            Ok(())
        };
        answer.write_chunks(chunk_len, &context, send).unwrap();
        assert_eq!(chunks.concat(), full.as_bytes());
        assert_eq!(chunks.len() == 1, chunk_len == 10_000, "{}", chunks.len());
    }
}

#[test]
fn parameters_are_values_of_json() {
    let db = database();
    let text = r#"{"i": 9007199254740993, "f": 1.0, "$t": "a", "l": [null, {"k": true}]}"#;
    let params = cypher_params(&serde_json::from_str(text).unwrap()).unwrap();
    let answer = db.cypher_with("RETURN $i, $f, $t, $l", &params, &RequestContext::new()).unwrap();
    let texts: Vec<String> = answer.rows().flatten().map(|it| it.to_string()).collect();
    assert_eq!(texts, ["9007199254740993", "1.0", "a", "[null, {k: true}]"]);
    let long = serde_json::from_str(r#"{"n": [18446744073709551615]}"#).unwrap();
    let error = cypher_params(&long).unwrap_err().to_string();
    assert!(error.contains("$n") && error.contains("beyond 64 bits"), "{error}");
}

#[test]
fn slow_queries_are_logged_with_their_parameters() {
    let limits = Limits { slow: Duration::ZERO, ..Limits::default() };
    let db = Database::in_memory_with(OpenOptions { limits, ..OpenOptions::default() });
    let params = Map::new(vec![("n".into(), Value::Int(7))]).unwrap();
    db.cypher_with("RETURN $n", &params, &RequestContext::new()).unwrap();
    let [slow] = &db.slow_queries()[..] else { panic!("{:?}", db.slow_queries()) };
    assert_eq!((slow.text.as_str(), slow.variables["$n"].text()), ("RETURN $n", "7"));
}

/// Lists with common items have texts far longer than their memory.
#[test]
fn shared_lists_are_bounded() {
    let limits = Limits { memory: 256 << 20, ..Limits::default() };
    let db = Database::in_memory_with(OpenOptions { limits, ..OpenOptions::default() });
    let text = "WITH range(1, 1000) AS a WITH [x IN range(1, 1000) | a] AS b \
                WITH [x IN range(1, 1000) | b] AS c WITH [x IN range(1, 1000) | c] AS d RETURN d";
    let started = Instant::now();
    let error = db.cypher(text).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("memory") || error.contains("bytes"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

/// Relationships that have names are matched row by row, others are joined: both have the same
/// groups, also of a graph that was just changed, with and without `@reverse`.
#[test]
fn joins_have_the_groups_of_rows() {
    let db = Database::in_memory();
    db.alter("knows: [uid] @reverse .\nlikes: [uid] .\ntype Person {\n  age\n}\nage: int .")
        .unwrap();
    let person =
        |id: u64| format!("<{id}> <dgraph.type> \"Person\" .\n<{id}> <age> \"{}\" .\n", id % 5);
    let edges = |name: &str, step: u64| -> String {
        (1..60).map(|id| format!("<{id}> <{name}> <{}> .\n", id * step % 61 + 1)).collect()
    };
    let people: String = (1..40).map(person).collect();
    db.mutate(&(people + &edges("knows", 7) + &edges("knows", 11) + &edges("likes", 5)), "")
        .unwrap();
    db.compact().unwrap();
    let pairs = [
        "MATCH (a:Person)-[{x}:knows]->(b)-[{y}:likes]->(c) RETURN a.age, count(*)",
        "MATCH (a)-[{x}:knows]-(b)-[{y}:knows]-(c) WHERE a <> c RETURN count(*), sum(b.age)",
        "MATCH (a)-[{x}:knows]-(b) MATCH (b)-[{y}:likes]-(c) MATCH (c)-[:knows]-(a) RETURN count(*)",
        "MATCH (a)<-[{x}:likes]-(b)<-[{y}:likes]-(c) WHERE NOT (a)-[:knows]-(c) RETURN count(*)",
        "MATCH (a)-[{x}]->(b:Person) OPTIONAL MATCH (b)<-[{y}:likes]-(c) RETURN b.age, count(*)",
    ];
    let check = || {
        for pair in pairs {
            let joined = pair.replace("{x}", "").replace("{y}", "");
            let named = pair.replace("{x}", "x").replace("{y}", "y");
            let by_rows = named.replacen("RETURN", "WITH * WHERE type(x) > '' RETURN", 1);
            let sorted = |text: &str| {
                let mut lines: Vec<String> =
                    rows(&db, text).split("; ").map(str::to_owned).collect();
                lines.sort();
                lines
            };
            assert_eq!(sorted(&joined), sorted(&by_rows), "{joined}\n{by_rows}");
        }
    };
    check();
    db.mutate(&edges("knows", 13), &edges("knows", 7)).unwrap();
    db.mutate("<70> <likes> <3> .\n<3> <knows> <3> .\n<5000000000> <likes> <7> .", "<4> <age> * .")
        .unwrap();
    check();
}

/// Names that nothing has are answered with nothing, and a warning says so, also when the plan of
/// the text is cached. What the schema declares is no mistake, and what is hidden is not there.
#[test]
fn names_that_nothing_has_are_warned_of() {
    let db = Database::in_memory();
    db.alter("type User {\n  User.name\n  email\n}\nUser.name: string .\nemail: string .\npin: password .")
        .unwrap();
    db.mutate(
        "<1> <dgraph.type> \"User\" .\n<1> <User.name> \"Ada\" .\n<1> <friend> <2> .\n<2> <tag> \"x\" .\n<1> <pin> \"secret1\" .",
        "",
    )
    .unwrap();
    let context = RequestContext::new();
    let warnings = |text: &str| -> Vec<String> {
        let answer = db.cypher_with(text, &Map::new(Vec::new()).unwrap(), &context).unwrap();
        answer.warnings().iter().map(ToString::to_string).collect()
    };
    let clean = [
        "MATCH (n:User) WHERE n.name = 'Ada' RETURN n.email, n.tag",
        "MATCH (n:User {name: 'Ada'})-[:friend]->(m) RETURN count(*)",
        "WITH {age: 1} AS m RETURN m.age",
        "MATCH (n) WITH n.name AS name, {a: n} AS m RETURN m.b, m.a.nickname",
        "MATCH (n)-[r:friend]->() RETURN r.since",
        "MATCH (n) WHERE n:User OR n:friend RETURN n.name",
    ];
    for text in clean {
        assert_eq!(warnings(text), Vec::<String>::new(), "{text}");
    }
    for _ in 0..2 {
        let text = "MATCH (n:user)-[:friends]->(m {nam: 'x'}) WHERE m.mail = '' RETURN n.pin, n.friend, n:Admin";
        let expected = [
            "line 1 column 10: no node has the label `user` (did you mean `User`?)",
            "line 1 column 18: there is no relationship type `friends` (did you mean `friend`?)",
            "line 1 column 32: no node has the property `nam` (did you mean `name`?)",
            "line 1 column 51: no node has the property `mail` (did you mean `email`?)",
            "line 1 column 70: no node has the property `pin`",
            "line 1 column 77: no node has the property `friend` (it is a relationship type: match `(n)-[:friend]->(m)`)",
            "line 1 column 87: there is no label and no relationship type `Admin`",
        ];
        assert_eq!(warnings(text), expected);
    }
    let none = || Map::new(Vec::new()).unwrap();
    let rows = [none(), none(), none()];
    let answer = db.cypher_many("MATCH (n:user) RETURN n.nam", &rows, "row", &context).unwrap();
    assert_eq!(answer.warnings().len(), 2, "each name once, and not for each row");
}
