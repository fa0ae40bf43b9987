//! Tables that are made column by column, and objects that a sink takes as columns, are those that
//! are written one by one.

use crate::db::{Database, OpenOptions, QueryAnswer, QueryRequest, RequestContext};
use fastrand::Rng;
use hexgraph_base::answer::JsonSink;
use hexgraph_base::types::{Error, ObjectCells, Objects, Sink, Uid, ValueRef};
use hexgraph_store::exec::CostModel;
use std::fmt::Write;

const SCHEMA: &str = "age: int @index(int) .\nrate: float .\nis: bool .\nat: datetime .\nfar: datetime .\n\
     city: string .\nname: string @index(exact) .\nsaid: string @lang .\nplain: default .\n\
     tags: [string] .\nnums: [int] .\ngreat: bigfloat .\nplace: geo .\nvector: float32vector .\n\
     knows: [uid] @reverse .\nlikes: [uid] .\nboss: uid @reverse .\n";

const VALUES: [&str; 14] = [
    "age", "rate", "is", "at", "far", "city", "name", "said", "plain", "tags", "nums", "great",
    "place", "vector",
];

const EDGES: [&str; 5] = ["knows", "likes", "boss", "~boss", "~knows"];

fn value_of(name: &str, rng: &mut Rng) -> String {
    let pick = |rng: &mut Rng, texts: &[&str]| (*rng.choice(texts).unwrap()).to_owned();
    match name {
        "age" => pick(rng, &["1", "-2", "3000000000", "9223372036854775807"]),
        "rate" => pick(rng, &["0", "-0.0", "0.5", "1e300"]),
        "is" => rng.bool().to_string(),
        "at" => pick(rng, &["2001-02-03T04:05:06Z", "2001-02-03T05:05:06.5+01:00", "1969-12-31"]),
        "far" => pick(rng, &["2001-02-03", "0001-01-01T00:00:00Z", "3000-01-01"]),
        "nums" => rng.i64(-9..9).to_string(),
        "great" => pick(rng, &["1", "2.5"]),
        "vector" => pick(rng, &["[1.0, 2.5]", "[0.1, -3.0]"]),
        "place" => r#"{'type':'Point','coordinates':[1,2]}"#.to_owned(),
        "city" => format!("c{}", rng.u8(..4)),
        _ => pick(rng, &["a", "", "long enough to be no short text", "žluťoučký", "1"]),
    }
}

fn statements(nodes: u64, count: u64, fraction: f64, rng: &mut Rng) -> String {
    let mut text = String::new();
    for _ in 0..count {
        let node = rng.u64(..nodes) + 1;
        for edge in &EDGES[..3] {
            for _ in 0..rng.u8(..3) {
                let facet = if rng.u8(..4) == 0 { " (since=1)" } else { "" };
                writeln!(text, "<{node}> <{edge}> <{}>{facet} .", rng.u64(..nodes) + 1).unwrap();
            }
        }
        for name in VALUES {
            if rng.f64() < fraction {
                let value = value_of(name, rng);
                let lang =
                    if name == "said" { *rng.choice(&["", "@en", "@fr"]).unwrap() } else { "" };
                let facet = if name == "name" && rng.bool() { " (sure=true)" } else { "" };
                writeln!(text, "<{node}> <{name}> \"{value}\"{lang}{facet} .").unwrap();
            }
        }
    }
    text
}

/// A graph that was built, and then perhaps changed; a type may be another than that of older
/// values.
fn database(threads: usize, rng: &mut Rng) -> Database {
    let db = Database::in_memory_with(OpenOptions { threads, ..OpenOptions::default() });
    db.alter(SCHEMA).unwrap();
    let fraction = *rng.choice(&[0.3, 0.8, 1.0]).unwrap();
    db.mutate(&statements(60, 80, fraction, rng), "").unwrap();
    if rng.bool() {
        db.compact().unwrap();
        for _ in 0..rng.u8(..3) {
            db.mutate(&statements(70, 6, 0.3, rng), "").unwrap();
            let name = rng.choice(VALUES).unwrap();
            db.mutate("", &format!("<{}> <{name}> * .\n", rng.u8(1..60))).unwrap();
        }
    }
    if rng.u8(..6) == 0 {
        let types = ["rate: string .", "city: default .", "said: string .", "tags: [default] ."];
        db.alter(rng.choice(types).unwrap()).unwrap();
    }
    db
}

fn fields(depth: usize, rng: &mut Rng) -> String {
    let mut text = String::from("{ ");
    for _ in 0..rng.usize(1..5) {
        let alias = if rng.u8(..4) == 0 { format!("k{}: ", rng.u8(..9)) } else { String::new() };
        let field = match rng.u8(..16) {
            0 | 1 => "uid".to_owned(),
            2 => format!("count({})", rng.choice(&EDGES[..2]).unwrap()),
            3 => (*rng.choice(&["said@en", "said@en:fr", "said@.", "val(x)"]).unwrap()).to_owned(),
            4..9 if 0 < depth => {
                let edge = rng.choice(EDGES).unwrap();
                let more = ["", "", "", " (first: 2)", " @filter(has(name))", " @facets"];
                format!("{edge}{} {}", rng.choice(more).unwrap(), fields(depth - 1, rng))
            }
            9 if rng.u8(..4) == 0 => (*rng.choice(&["said@*", "name @facets"]).unwrap()).to_owned(),
            10 if rng.u8(..8) == 0 => "count(uid)".to_owned(),
            _ => (*rng.choice(VALUES).unwrap()).to_owned(),
        };
        let _ = write!(text, "{alias}{field} ");
    }
    text + "}"
}

fn query(rng: &mut Rng) -> String {
    let root = *rng
        .choice(&[
            "has(name)",
            "has(city)",
            "uid(1,2,3,200)",
            "has(name), orderasc: age",
            "has(name), first: 9, offset: 3",
            "has(place)",
            "uid(200, 300)",
        ])
        .unwrap();
    let directive =
        *rng.choice(&["", "", "", "", "@cascade", "@normalize", "@ignorereflex"]).unwrap();
    let fields = fields(2, rng);
    // A variable that nobody uses is refused.
    let var = match fields.contains("val(x)") {
        true => *rng.choice(&["x as age", "x as math(age_of / 2.0)", "x as rate"]).unwrap(),
        false => return format!("{{ q(func: {root}) {directive} {fields} }}"),
    };
    let age = if var.contains("age_of") { "age_of as age " } else { "" };
    format!("{{ var(func: has(age)) {{ {age}{var} }} q(func: {root}) {directive} {fields} }}")
}

fn json(db: &Database, text: &str) -> Option<QueryAnswer> {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    db.query_with(&request, &RequestContext::new()).ok()
}

/// Takes objects as columns, if it does, and writes them one by one.
struct ByColumns {
    json: JsonSink,
    takes: bool,
    /// The number of objects, and of those in their lists.
    objects: usize,
    nested: usize,
}

impl Sink for ByColumns {
    fn begin_object(&mut self) {
        self.json.begin_object();
    }
    fn end_object(&mut self) {
        self.json.end_object();
    }
    fn discard_object(&mut self) {
        self.json.discard_object();
    }
    fn begin_array(&mut self) {
        self.json.begin_array();
    }
    fn end_array(&mut self) {
        self.json.end_array();
    }
    fn discard_array(&mut self) {
        self.json.discard_array();
    }
    fn is_empty(&self) -> bool {
        self.json.is_empty()
    }
    fn key(&mut self, key: &str) {
        self.json.key(key);
    }
    fn value(&mut self, value: ValueRef<'_>) {
        self.json.value(value);
    }
    fn uid(&mut self, uid: Uid) {
        self.json.uid(uid);
    }
    fn int(&mut self, number: i64) {
        self.json.int(number);
    }
    fn null(&mut self) {
        self.json.null();
    }
    fn text(&mut self, text: &str) {
        self.json.text(text);
    }
    fn takes_rows(&self) -> bool {
        self.takes
    }
    fn objects(&mut self, objects: &Objects<'_>) -> bool {
        self.objects += objects.positions().count();
        objects.positions().for_each(|position| self.object(objects, position));
        true
    }
}

impl ByColumns {
    fn object(&mut self, objects: &Objects<'_>, position: usize) {
        self.json.begin_object();
        for (key, cells) in objects.columns.iter().filter(|(_, cells)| cells.has(position)) {
            self.json.key(key);
            match cells {
                ObjectCells::Ints(ints, _) => self.json.int(ints[position]),
                ObjectCells::Floats(floats, _) => {
                    self.json.value(ValueRef::Float(floats[position]))
                }
                ObjectCells::Bools(truths, _) => self.json.value(ValueRef::Bool(truths[position])),
                ObjectCells::Times(times, _) => {
                    self.json.value(ValueRef::DateTime(times[position]))
                }
                ObjectCells::Uids(uids) => self.json.uid(uids[position]),
                ObjectCells::Lists(lists) => {
                    self.nested += lists.of(position).len();
                    if lists.is_list {
                        self.json.begin_array();
                    }
                    for item in lists.of(position) {
                        self.object(&lists.objects, *item as usize);
                    }
                    if lists.is_list {
                        self.json.end_array();
                    }
                }
                texts => self.json.text(texts.text(position).unwrap()),
            }
        }
        match self.json.is_empty() {
            true => self.json.discard_object(),
            false => self.json.end_object(),
        }
    }
}

/// What is written, and how many objects came as columns: of the blocks, and of lists in those.
fn by_columns(answer: &QueryAnswer, takes: bool) -> (String, [usize; 2]) {
    let sink = ByColumns { json: JsonSink::new(), takes, objects: 0, nested: 0 };
    match answer.write(sink, &RequestContext::new()) {
        Ok(sink) => {
            let text = String::from_utf8(sink.json.into_bytes()).unwrap();
            (text, [sink.objects, sink.nested])
        }
        Err(error) => (error.to_string(), [0; 2]),
    }
}

/// Whether the table of block `q` was made column by column.
fn is_by_columns(answer: &QueryAnswer) -> bool {
    let held = answer.held_answer().unwrap();
    matches!(held.table("q", &RequestContext::new(), &mut |_| Ok(())), Ok(Some(_)))
}

/// The table of block `q`, or why there is none.
fn table(answer: &QueryAnswer, context: &RequestContext) -> String {
    let table = answer.table_with(Some("q"), context);
    table.map_or_else(|error| error.to_string(), |table| format!("{table:?}"))
}

/// How many answers were made by columns: tables, and blocks of rows for a sink; and how many were
/// compared, and were empty.
#[derive(Debug, Default, PartialEq, PartialOrd)]
struct Seen {
    compared: usize,
    tables: usize,
    rows: usize,
    nested: usize,
    empty: usize,
}

/// Compares what is made of an answer by columns with what is written object by object: a copy
/// always is.
fn compare(answer: &QueryAnswer, seen: &mut Seen, rng: &mut Rng, requested: &str) {
    let json = answer.to_json().map_or_else(|error| error.to_string(), |it| it.0);
    let (taken, [objects, nested]) = by_columns(answer, true);
    assert_eq!(taken, json, "{requested}");
    assert_eq!(by_columns(answer, false), (json.clone(), [0; 2]), "{requested}");
    let mut chunks = Vec::new();
    let chunk_len = rng.usize(1..2_000);
    let written = answer.write_chunks(chunk_len, &RequestContext::new(), |chunk| {
        chunks.extend(chunk);
        Ok(())
    });
    match written {
        Ok(()) => assert_eq!(String::from_utf8(chunks).unwrap(), json, "{requested}"),
        Err(error) => assert_eq!(error.to_string(), json, "{requested}"),
    }
    let result = table(answer, &RequestContext::new());
    let costs = CostModel { spread: 1, morsel: rng.usize(1..200), ..CostModel::default() };
    assert_eq!(table(answer, &RequestContext::new().with_costs(costs)), result, "{requested}");
    let Some(copied) = answer.copied_out(u64::MAX) else { return };
    assert_eq!(result, table(&copied, &RequestContext::new()), "{requested}");
    seen.compared += 1;
    seen.tables += usize::from(is_by_columns(answer));
    seen.rows += usize::from(0 < objects);
    seen.nested += usize::from(0 < nested);
    seen.empty += usize::from(json.ends_with("\"q\":[]}"));
}

#[test]
fn columns_are_the_objects() {
    let mut seen = Seen::default();
    for seed in 0..200 {
        let mut rng = Rng::with_seed(seed);
        let db = database(1 + seed as usize % 3, &mut rng);
        for _ in 0..12 {
            let text = query(&mut rng);
            // A field stands twice in a selection, mostly.
            let Some(answer) = json(&db, &text) else { continue };
            compare(&answer, &mut seen, &mut rng, &format!("seed {seed}: {text}"));
        }
    }
    let least = [
        (seen.compared, 1000),
        (seen.tables, 500),
        (seen.rows, 60),
        (seen.nested, 20),
        (seen.empty, 30),
    ];
    assert!(least.iter().all(|(result, least)| least < result), "{seen:?}");
}

/// A graph of several batches of nodes, and then changes here and there.
fn large(threads: usize, rng: &mut Rng) -> Database {
    let db = Database::in_memory_with(OpenOptions { threads, ..OpenOptions::default() });
    db.alter(SCHEMA).unwrap();
    let mut text = String::new();
    for node in 1..=9_000_u32 {
        for name in ["name", "city", "at", "tags", "rate"] {
            if name == "city" || rng.u8(..8) != 0 {
                writeln!(text, "<{node}> <{name}> \"{}\" .", value_of(name, rng)).unwrap();
            }
        }
        writeln!(text, "<{node}> <age> \"{node}\" .\n<{node}> <plain> \"text {node}\" .").unwrap();
        writeln!(text, "<{node}> <boss> <{}> .", rng.u32(1..=9_000)).unwrap();
    }
    db.mutate(&text, "").unwrap();
    db.compact().unwrap();
    for _ in 0..200 {
        let (node, name) = (rng.u32(1..=9_000), *rng.choice(&VALUES[..9]).unwrap());
        match rng.bool() {
            true => db.mutate("", &format!("<{node}> <{name}> * .")).unwrap(),
            false => {
                let value = value_of(name, rng);
                db.mutate(&format!("<{node}> <{name}> \"{value}\" ."), "").unwrap()
            }
        };
    }
    db
}

/// Batches are cut for threads, and what they make is put contiguously.
#[test]
fn columns_of_many_batches_are_the_objects() {
    let mut rng = Rng::with_seed(1);
    for threads in [1, 3] {
        let (db, mut seen) = (large(threads, &mut rng), Seen::default());
        for fields in [
            "{ uid age rate is at city name plain said tags }",
            "{ plain }",
            "{ uid age rate is at city name plain }",
            "{ name city boss { age plain tags ~boss { city count(knows) } } }",
            "{ name city boss { age plain ~boss { uid city count(knows) } } }",
            "{ boss { boss { ~boss { rate } } } }",
        ] {
            for root in [
                "(func: has(age))",
                "(func: has(tags))",
                "(func: has(name), first: 5000, offset: 4000)",
                "(func: has(rate), orderdesc: rate, orderasc: city)",
                "(func: has(age), orderdesc: plain, first: 6000)",
                "(func: has(age), orderdesc: plain) @cascade",
            ] {
                let text = format!("{{ q{root} {fields} }}");
                compare(&json(&db, &text).unwrap(), &mut seen, &mut rng, &text);
            }
        }
        assert_eq!((seen.compared, seen.tables), (36, 36));
        assert_eq!((seen.rows, seen.nested, seen.empty), (23, 12, 1), "{seen:?}");
    }
}

/// The most frequent selections are built column by column, also on changes and where nodes lack
/// values; what shows more than a value is not. Some have more in their lists than is read at once,
/// and one list has.
#[test]
fn lists_of_hubs_are_the_objects() {
    let mut rng = Rng::with_seed(2);
    let db = database(1, &mut rng);
    let mut text = String::new();
    for node in 1..=3_000 {
        writeln!(text, "<{node}> <plain> \"text {node}\" .\n<{node}> <age> \"{node}\" .").unwrap();
    }
    for hub in 1..=20 {
        for _ in 0..[0, 2_000, 500, 5][hub as usize % 4] {
            writeln!(text, "<{hub}> <knows> <{}> .", rng.u64(1..=3_000)).unwrap();
        }
    }
    db.mutate(&text, "").unwrap();
    let mut seen = Seen::default();
    for fields in [
        "{ uid knows { uid plain age is rate at city } }",
        "{ knows { plain ~knows { uid plain knows (first: 3) { uid } } } }",
        "{ knows { tags ~knows { uid plain } } boss { knows { plain } } }",
        "{ knows (orderdesc: plain) { plain boss { knows { plain } } } }",
    ] {
        for root in ["has(plain), first: 40", "has(plain), orderdesc: age, offset: 2950", "uid(1)"]
        {
            for directive in ["", "@cascade"] {
                let text = format!("{{ q(func: {root}) {directive} {fields} }}");
                compare(&json(&db, &text).unwrap(), &mut seen, &mut rng, &text);
            }
        }
    }
    assert_eq!(seen.compared, 24);
    assert!(9 < seen.nested && 15 < seen.rows, "{seen:?}");
}

#[test]
fn what_qualifies_is_made_by_columns() {
    let db = Database::in_memory();
    db.alter(SCHEMA).unwrap();
    db.mutate(&statements(60, 200, 0.9, &mut Rng::with_seed(7)), "").unwrap();
    db.compact().unwrap();
    db.mutate(
        "<3> <age> \"5\" .\n<4> <city> \"new\" .\n<5> <at> \"2003-01-01\" .",
        "<6> <name> * .",
    )
    .unwrap();
    let is = |fields: &str| {
        let text = format!("{{ q(func: has(knows)) {fields} }}");
        is_by_columns(&json(&db, &text).unwrap())
    };
    for fields in [
        "{ uid age rate is at city name plain place said said@en said@fr:en tags great }",
        "{ name knows { name likes { age } } boss { city ~boss { uid } } c: count(knows) }",
        "@cascade { name knows { age } }",
    ] {
        assert!(is(fields), "{fields}");
    }
    for fields in [
        "{ far }",
        "{ said@* }",
        "{ knows @facets { name } }",
        "{ knows { count(uid) } }",
        "@normalize { n: name }",
        "@ignorereflex { name knows { name } }",
    ] {
        assert!(!is(fields), "{fields}");
    }
    let text = "{ q(func: has(knows)) { uid age name city at count(knows) } }";
    let answer = json(&db, text).unwrap();
    let rows = answer.root_counts().next().unwrap().1;
    assert_eq!(by_columns(&answer, true).1[0], rows);
}

/// A table has the limits of the objects that it is made of.
#[test]
fn a_table_that_is_too_long_is_refused() {
    let db = Database::in_memory();
    db.alter(SCHEMA).unwrap();
    db.mutate(&statements(60, 200, 1.0, &mut Rng::with_seed(7)), "").unwrap();
    let answer = json(&db, "{ q(func: has(knows)) { name city } }").unwrap();
    let held = answer.held_answer().unwrap();
    let mut requested = 0;
    let refused = held.table("q", &RequestContext::new(), &mut |bytes| {
        requested += bytes;
        Err(Error::query("too long"))
    });
    assert!(refused.is_err() && 100 < requested, "{requested}");
    let context = RequestContext::new();
    context.canceller().cancel();
    assert!(answer.table_with(None, &context).is_err());
}
