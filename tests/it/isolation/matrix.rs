//! Every pair of changes of one datum, in two transactions that overlap, for every kind of
//! predicate.
//!
//! The oracle knows no conflict keys. It has both changes done one after the other, in either
//! order, on the same data. Where the two orders differ, neither transaction may go on as if it
//! were alone: the second one to commit has to fail. Where both are committed, the data are those
//! of both orders. And changes that have no datum in common never disturb each other.

use hexgraph::db::{
    Database, Mutation, MutationRequest, QueryRequest, RequestContext, Statements, TxnOptions,
};
use hexgraph::types::{Error, Result};
use std::fmt;

/// A kind of predicate.
struct Kind {
    schema: &'static str,
    /// Two things that a node may have of it.
    things: [&'static str; 2],
    /// What is asked of two nodes to see all of it.
    query: &'static str,
}

const VALUE: &str = "{ q(func: uid(0x1001, 0x1002)) { uid n } h(func: has(n)) { uid } }";
const INDEXED: &str = "{ q(func: uid(0x1001, 0x1002)) { uid n }
    e(func: eq(n, \"1\")) { uid } f(func: eq(n, \"2\")) { uid } h(func: has(n)) { uid } }";
const LANGS: &str = "{ q(func: uid(0x1001, 0x1002)) { uid n n@en }
    e(func: eq(n, \"1\")) { uid } f(func: eq(n@en, \"2\")) { uid } h(func: has(n)) { uid } }";
const EDGE: &str = "{ q(func: uid(0x1001, 0x1002)) { uid n { uid } c: count(n) } }";
const BOTH_WAYS: &str = "{ q(func: uid(0x1001, 0x1002)) { uid n { uid } }
    r(func: uid(0xa, 0xb)) { uid ~n { uid } } }";
const COUNTED: &str = "{ q(func: uid(0x1001, 0x1002)) { uid n { uid } }
    r(func: uid(0xa, 0xb)) { uid ~n { uid } }
    one(func: eq(count(n), 1)) { uid } two(func: eq(count(n), 2)) { uid } }";

const NUMBERS: [&str; 2] = ["\"1\"", "\"2\""];
const NODES: [&str; 2] = ["<0xa>", "<0xb>"];

const KINDS: [Kind; 31] = [
    Kind { schema: "n: string .", things: NUMBERS, query: VALUE },
    Kind { schema: "n: default .", things: NUMBERS, query: VALUE },
    Kind { schema: "n: int .", things: NUMBERS, query: VALUE },
    Kind { schema: "n: bool .", things: ["\"true\"", "\"false\""], query: VALUE },
    Kind { schema: "n: datetime .", things: ["\"2001\"", "\"2002\""], query: VALUE },
    Kind { schema: "n: bigfloat .", things: NUMBERS, query: VALUE },
    Kind { schema: "n: float32vector .", things: ["\"[1, 2]\"", "\"[2, 1]\""], query: VALUE },
    Kind {
        schema: "n: geo .",
        things: [
            r#""{'type':'Point','coordinates':[1,2]}"^^<geo:geojson>"#,
            r#""{'type':'Point','coordinates':[2,1]}"^^<geo:geojson>"#,
        ],
        query: VALUE,
    },
    Kind { schema: "n: string @index(exact) .", things: NUMBERS, query: INDEXED },
    Kind { schema: "n: int @index(int) .", things: NUMBERS, query: INDEXED },
    Kind { schema: "n: float @index(float) .", things: NUMBERS, query: INDEXED },
    Kind { schema: "n: string @index(hash) @upsert .", things: NUMBERS, query: INDEXED },
    Kind { schema: "n: string @index(exact) @upsert @unique .", things: NUMBERS, query: INDEXED },
    Kind { schema: "n: string @index(exact) @noconflict .", things: NUMBERS, query: INDEXED },
    Kind { schema: "n: string @lang @index(exact) .", things: ["\"1\"", "\"2\"@en"], query: LANGS },
    Kind {
        schema: "n: string @lang @index(exact) @upsert .",
        things: ["\"1\"", "\"2\"@en"],
        query: LANGS,
    },
    Kind { schema: "n: [string] .", things: NUMBERS, query: VALUE },
    Kind { schema: "n: [default] .", things: NUMBERS, query: VALUE },
    // One and the same for a delete.
    Kind { schema: "n: [default] . # alike", things: ["\"5\"", "\"5\"^^<xs:int>"], query: VALUE },
    Kind { schema: "n: [float] . # alike", things: ["\"0\"", "\"-0\""], query: VALUE },
    Kind { schema: "n: [datetime] .", things: ["\"2001\"", "\"2002\""], query: VALUE },
    Kind { schema: "n: [string] @index(exact) .", things: NUMBERS, query: INDEXED },
    Kind { schema: "n: [string] @index(exact) @count .", things: NUMBERS, query: INDEXED },
    Kind { schema: "n: [int] @index(int) @upsert .", things: NUMBERS, query: INDEXED },
    Kind { schema: "n: [int] @noconflict .", things: NUMBERS, query: VALUE },
    Kind { schema: "n: uid .", things: NODES, query: EDGE },
    Kind { schema: "n: uid @reverse .", things: NODES, query: BOTH_WAYS },
    Kind { schema: "n: [uid] .", things: NODES, query: EDGE },
    Kind { schema: "n: [uid] @reverse .", things: NODES, query: BOTH_WAYS },
    Kind { schema: "n: [uid] @count .", things: NODES, query: EDGE },
    Kind { schema: "n: [uid] @reverse @count .", things: NODES, query: COUNTED },
];

impl Kind {
    fn has(&self, word: &str) -> bool {
        self.schema.contains(word)
    }

    /// True where elements of one node stand for themselves.
    fn is_list(&self) -> bool {
        // With `@upsert` a list is one datum.
        self.has("[") && !self.has("@upsert")
    }
}

/// A change of one node.
#[derive(Clone, Copy, PartialEq)]
enum What {
    Set(usize),
    Delete(usize),
    DeleteAll,
    DeleteEnglish,
}

#[derive(Clone, Copy)]
struct Operation<'k> {
    kind: &'k Kind,
    node: u64,
    what: What,
}

impl fmt::Display for Operation<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (set, delete) = self.texts();
        write!(out, "{}{}", if set.is_empty() { "delete " } else { "set " }, set + &delete)
    }
}

impl Operation<'_> {
    /// What it sets, and what it deletes.
    fn texts(&self) -> (String, String) {
        let Operation { kind, node, what } = self;
        let nothing = String::new;
        match what {
            What::Set(thing) => (format!("<{node:#x}> <n> {} .", kind.things[*thing]), nothing()),
            What::Delete(thing) => {
                (nothing(), format!("<{node:#x}> <n> {} .", kind.things[*thing]))
            }
            What::DeleteAll => (nothing(), format!("<{node:#x}> <n> * .")),
            What::DeleteEnglish => (nothing(), format!("<{node:#x}> <n@en> * .")),
        }
    }

    /// The things that it is about.
    fn things(&self) -> &'static [usize] {
        match self.what {
            _ if self.kind.has("alike") || !self.kind.is_list() => &[0, 1],
            What::Set(0) | What::Delete(0) => &[0],
            What::Set(_) | What::Delete(_) => &[1],
            What::DeleteAll | What::DeleteEnglish => &[0, 1],
        }
    }

    /// True where a conflict with another one is no surprise: they are about one node and a thing
    /// in common, or about one value that is looked up by `@upsert`, or change one number of
    /// elements.
    fn overlaps(&self, other: &Operation<'_>) -> bool {
        let is_looked_up = self.kind.has("@upsert");
        let is_common = self.things().iter().any(|thing| other.things().contains(thing));
        let is_counted = self.kind.has("@count");
        let is_one_node = self.node == other.node;
        is_looked_up
            || is_one_node && (is_common || is_counted)
            || is_counted && self.kind.has("@reverse")
    }

    /// True where Dgraph lets both pass although one takes what the other one sets: all of a list
    /// is deleted, and an element is added.
    fn is_let_pass(&self, other: &Operation<'_>) -> bool {
        let is_all = |one: &Operation<'_>| one.what == What::DeleteAll;
        self.kind.has("[") && self.kind.is_list() && (is_all(self) != is_all(other))
    }
}

/// The changes that are paired.
fn operations(kind: &Kind) -> Vec<Operation<'_>> {
    let mut whats =
        vec![What::Set(0), What::Set(1), What::Delete(0), What::Delete(1), What::DeleteAll];
    if kind.has("@lang") {
        whats.push(What::DeleteEnglish);
    }
    let mut all: Vec<Operation<'_>> =
        whats.into_iter().map(|what| Operation { kind, node: 0x1001, what }).collect();
    let others = [What::Set(0), What::Delete(0)];
    all.extend(others.map(|what| Operation { kind, node: 0x1002, what }));
    all
}

fn request<'a>((set, delete): &'a (String, String)) -> MutationRequest<'a> {
    let mutation = Mutation {
        set: vec![Statements::NQuads(set)],
        delete: vec![Statements::NQuads(delete)],
        ..Mutation::default()
    };
    MutationRequest { mutations: vec![mutation], ..MutationRequest::default() }
}

/// A database with one predicate, in which one case after the other is tried.
struct Field<'k> {
    kind: &'k Kind,
    db: Database,
}

impl<'k> Field<'k> {
    fn new(kind: &'k Kind) -> Field<'k> {
        let db = Database::in_memory();
        db.alter(kind.schema).unwrap();
        Field { kind, db }
    }

    fn state(&self) -> String {
        let request = QueryRequest { text: self.kind.query.to_owned(), ..QueryRequest::default() };
        self.db.query_with(&request, &RequestContext::new()).unwrap().to_json().unwrap().0
    }

    fn apply(&self, operation: &Operation<'_>) -> Result<()> {
        let (set, delete) = operation.texts();
        self.db.mutate(&set, &delete).map(drop)
    }

    fn begin_with(&self, start: &[Operation<'_>]) {
        self.db.mutate("", "<0x1001> <n> * .\n<0x1002> <n> * .").unwrap();
        start.iter().for_each(|operation| self.apply(operation).unwrap());
    }

    /// The data after both, one after the other; `None` where the second one is refused.
    fn serial(&self, start: &[Operation<'_>], order: [&Operation<'_>; 2]) -> Option<String> {
        self.begin_with(start);
        self.apply(order[0]).unwrap();
        self.apply(order[1]).ok()?;
        Some(self.state())
    }

    /// The data after both in transactions that overlap, and whether the second one was committed.
    fn overlapping(
        &self,
        start: &[Operation<'_>],
        [first, second]: [&Operation<'_>; 2],
        stages_late: bool,
    ) -> (String, bool) {
        self.begin_with(start);
        let begin = || self.db.begin(TxnOptions::default()).unwrap();
        let (one, other) = (begin(), begin());
        let control = RequestContext::new();
        one.mutate_with(&request(&first.texts()), &control).unwrap();
        if stages_late {
            one.commit().unwrap();
        }
        other.mutate_with(&request(&second.texts()), &control).unwrap();
        if !stages_late {
            one.commit().unwrap();
        }
        let is_committed = match other.commit() {
            Ok(_) => true,
            Err(Error::Conflict | Error::Query { .. }) => false,
            Err(other) => panic!("{other}"),
        };
        (self.state(), is_committed)
    }

    fn check(&self, start: &[Operation<'_>], first: &Operation<'_>, second: &Operation<'_>) {
        let is_refused = |operation| {
            self.begin_with(start);
            self.apply(operation).is_err()
        };
        // Unique values of two nodes: there is no transaction.
        if self.kind.has("@unique") && (is_refused(first) || is_refused(second)) {
            return;
        }
        let orders = [self.serial(start, [first, second]), self.serial(start, [second, first])];
        for stages_late in [false, true] {
            let (state, is_committed) = self.overlapping(start, [first, second], stages_late);
            let had: Vec<String> = start.iter().map(ToString::to_string).collect();
            let case = format!("{}: after {had:?}, `{first}` and `{second}`", self.kind.schema);
            if !is_committed {
                assert!(first.overlaps(second), "{case}: a needless conflict");
                continue;
            }
            assert_eq!(Some(&state), orders[0].as_ref(), "{case}: the commits");
            if !self.kind.has("@noconflict") && !first.is_let_pass(second) {
                assert_eq!(orders[0], orders[1], "{case}: one is lost, and both were committed");
            }
        }
    }
}

#[test]
fn overlapping_changes_of_one_datum_conflict() {
    for kind in &KINDS {
        let field = Field::new(kind);
        let had = |thing| Operation { kind, node: 0x1001, what: What::Set(thing) };
        // Of three nodes of which something is known, the first has nothing, one thing, or another.
        for start in [&[][..], &[had(0)], &[had(1)]] {
            for first in &operations(kind) {
                for second in &operations(kind) {
                    field.check(start, first, second);
                }
            }
        }
    }
}

#[test]
fn a_delete_of_a_node_that_nothing_is_known_of_conflicts() {
    // Of the first nothing is known before it is set, and the others stand in a table of their own.
    for uid in ["0x7777", "0xffffffff", "0x7fffffffffffffff"] {
        for (schema, thing) in
            [("n: string .", "\"a\""), ("n: [string] .", "\"a\""), ("n: [uid] @reverse .", "<0xa>")]
        {
            let db = Database::in_memory();
            db.alter(schema).unwrap();
            let begin = || db.begin(TxnOptions::default()).unwrap();
            let (one, other) = (begin(), begin());
            let line = format!("<{uid}> <n> {thing} .");
            one.mutate_with(&request(&(line.clone(), String::new())), &RequestContext::new())
                .unwrap();
            other.mutate_with(&request(&(String::new(), line)), &RequestContext::new()).unwrap();
            one.commit().unwrap();
            assert!(matches!(other.commit(), Err(Error::Conflict)), "{schema} {uid}");
        }
    }
}

#[test]
fn a_delete_of_a_password_that_is_not_there_conflicts() {
    let db = Database::in_memory();
    db.alter("n: password .").unwrap();
    let begin = || db.begin(TxnOptions::default()).unwrap();
    let (one, other) = (begin(), begin());
    let line = "<0x1> <n> \"secret\" .".to_owned();
    one.mutate_with(&request(&(line.clone(), String::new())), &RequestContext::new()).unwrap();
    other.mutate_with(&request(&(String::new(), line)), &RequestContext::new()).unwrap();
    one.commit().unwrap();
    assert!(matches!(other.commit(), Err(Error::Conflict)));
}

#[test]
fn unique_values_conflict_in_one_language_alone() {
    let texts = |one: &str, other: &str| {
        let db = Database::in_memory();
        db.alter("n: string @lang @index(exact) @unique .").unwrap();
        let begin = || db.begin(TxnOptions::default()).unwrap();
        let (first, second) = (begin(), begin());
        for (txn, node, lang) in [(&first, 1, one), (&second, 2, other)] {
            let line = format!("<{node}> <n> \"red\"{lang} .");
            txn.mutate_with(&request(&(line, String::new())), &RequestContext::new()).unwrap();
        }
        first.commit().unwrap();
        second.commit().is_ok()
    };
    assert!(texts("@en", "@de") && texts("", "@en") && texts("@en", ""));
    assert!(!texts("@en", "@en") && !texts("", ""));
}
