//! Values that the types of their predicates do not hold in full: a load refuses them, a mutation
//! stores what Dgraph would, and counts them.

use crate::db::{
    Database, LoadOptions, LoadReport, Mutation, MutationAnswer, MutationRequest, RequestContext,
    Source, Statements, TxnOptions,
};
use hexgraph_base::types::Result;

const SCHEMA: &str = "i: int .\nb: bool .\nf: float .\nt: datetime .\nn: bigfloat .\n";

/// A predicate, a value in JSON, the same value in N-Quads, and the stored value. JSON has no
/// literals for times, so one is empty.
const LOSSES: [(&str, &str, &str, &str); 7] = [
    ("i", "2.75", "\"2.75\"^^<xs:float>", "2"),
    ("i", "-0.5", "\"-0.5\"^^<xs:double>", "0"),
    ("b", "0.5", "\"0.5\"^^<xs:float>", "true"),
    ("b", "5", "\"5\"^^<xs:int>", "true"),
    ("f", "9007199254740993", "\"9007199254740993\"", "9007199254740992"),
    ("i", "", "\"2024-01-01T00:00:00.5Z\"^^<xs:dateTime>", "1704067200"),
    (
        "t",
        "\"2024-01-01T00:00:00.1234567891Z\"",
        "\"2024-01-01T00:00:00.1234567891Z\"",
        "2024-01-01T00:00:00.123456789Z",
    ),
];

/// Values that are converted in full.
const FULL: [(&str, &str); 6] = [
    ("i", "2.0"),
    ("b", "1"),
    ("f", "9007199254740992"),
    ("f", "1e23"),
    ("t", "1704067200"),
    ("n", "0.1"),
];

fn graph() -> Database {
    let db = Database::in_memory();
    db.alter(SCHEMA).unwrap();
    db
}

fn set(text: &str) -> Mutation<'_> {
    let statements = match text.starts_with('{') {
        true => Statements::Json(text),
        false => Statements::NQuads(text),
    };
    Mutation { set: vec![statements], ..Mutation::default() }
}

fn request<'a>(query: &'a str, mutation: Mutation<'a>) -> MutationRequest<'a> {
    let query = query.into();
    MutationRequest { query, mutations: vec![mutation], ..MutationRequest::default() }
}

fn load(db: &Database, lines: &str) -> Result<LoadReport> {
    let source = Source::Bytes(lines.to_owned().into());
    db.load_with(source, None, LoadOptions::default(), &RequestContext::new())
}

fn json_of(predicate: &str, value: &str) -> String {
    format!("{{\"uid\": \"0x1\", \"{predicate}\": {value}}}")
}

#[track_caller]
fn check(answer: &MutationAnswer, predicate: &str, stored: &str) {
    let warning = answer.losses.warning().expect("it is lost in part");
    assert_eq!(answer.losses.count, 1, "{warning}");
    let first = answer.losses.first.as_ref().unwrap();
    assert_eq!((&*first.predicate, first.node.0, &*first.loss.stored), (predicate, 1, stored));
    let start = format!("a value was converted with loss, and {stored} is stored: ");
    assert!(warning.starts_with(&start), "{warning}");
    assert!(warning.contains(&format!("(`{predicate}` of 0x1 is of type ")), "{warning}");
}

#[test]
fn a_mutation_counts_what_it_cuts_in_the_words_of_a_load() {
    for (predicate, json, quad, stored) in LOSSES {
        let texts = [json_of(predicate, json), format!("<0x1> <{predicate}> {quad} .")];
        for text in texts.into_iter().skip(usize::from(json.is_empty())) {
            let db = graph();
            let answer = db.mutate_with(&request("", set(&text)), &RequestContext::new()).unwrap();
            check(&answer, predicate, stored);
            let txn = db.begin(TxnOptions::default()).unwrap();
            let answer = txn.mutate_with(&request("", set(&text)), &RequestContext::new()).unwrap();
            check(&answer, predicate, stored);
            let fault = load(&db, &text).unwrap_err().to_string();
            let words = answer.losses.first.unwrap().to_string();
            assert!(fault.contains(&words), "{fault}\n{words}");
        }
    }
}

#[test]
fn what_is_converted_in_full_is_no_loss() {
    for (predicate, json) in FULL {
        let (db, text) = (graph(), json_of(predicate, json));
        let answer = db.mutate_with(&request("", set(&text)), &RequestContext::new()).unwrap();
        assert_eq!(answer.losses.warning(), None, "{text}");
        load(&db, &text).unwrap();
    }
}

#[test]
fn variables_of_an_upsert_are_cut_with_a_count() {
    let db = graph();
    db.mutate("<0x1> <f> \"2.5\" .\n<0x2> <f> \"3\" .\n<0x3> <f> \"4.5\" .", "").unwrap();
    let query = "{ v as var(func: has(f)) { x as f } }";
    let request = request(query, set("uid(v) <i> val(x) ."));
    let answer = db.mutate_with(&request, &RequestContext::new()).unwrap();
    assert_eq!(answer.losses.count, 2);
    let warning = answer.losses.warning().unwrap();
    let start = "2 values were converted with loss. For the first of them 2 is stored: 2.5 has a \
                 fraction, which an int cannot hold (alter the predicate to float, or load it \
                 into another one) (`i` of 0x1 is of type int)";
    assert_eq!(warning, start);
}

/// The first value defines the predicate of a mutation, also where a later one does not fit in.
#[test]
fn a_new_predicate_of_a_mutation_counts_too() {
    let db = Database::in_memory();
    let text = "{\"uid\": \"0x1\", \"new\": [1, 2.75]}";
    let answer = db.mutate_with(&request("", set(text)), &RequestContext::new()).unwrap();
    check(&answer, "new", "2");
}

/// An int beyond 2^53 and a fraction have no type together. The float of them was stored, and the
/// int became another one.
#[test]
fn ints_of_a_new_predicate_that_are_no_floats_are_not_cut() {
    let (int, float) = ("\"n\": 9007199254740993", "\"n\": 2.75");
    let line = |node: u32, value: &str| format!("{{\"uid\": \"{node}\", {value}}}\n");
    let between: String = (10..40_000).map(|node| line(node, "\"n\": 7")).collect();
    for memory in [0, 16 << 20] {
        let lines = |one: &str, other: &str, between: &str| {
            let db = Database::in_memory();
            let options = LoadOptions { memory, ..LoadOptions::default() };
            let lines = format!("{}{between}{}", line(1, one), line(2, other));
            let source = Source::Bytes(lines.into());
            db.load_with(source, None, options, &RequestContext::new()).unwrap_err().to_string()
        };
        for between in ["", &between] {
            let fault = lines(int, float, between);
            assert!(
                fault.contains("`n` has the int 9007199254740993, which no float holds"),
                "{fault}"
            );
            let fault = lines(float, int, between);
            assert!(fault.contains("9007199254740993 becomes 9007199254740992"), "{fault}");
        }
        // Booleans that came first, as well.
        let fault = lines("\"n\": true", "\"n\": 5", "");
        assert!(fault.contains("5 becomes true as a value of type bool"), "{fault}");
    }
}
