//! What the writers do: operations that follow from a seed, the number of a thread, and their own
//! number, so that they can be done again on a model.
//!
//! Each operation notes its number in the same commit (`seq` of its thread), and those of one
//! thread commute with those of the others: they are about nodes and predicates of their own, or
//! move amounts between accounts. So the numbers alone tell what the whole data must be.

use fastrand::Rng;
use hexgraph::db::{
    Database, Drop, LoadOptions, Mutation, MutationRequest, QueryRequest, RequestContext, Source,
    Statements, Txn, TxnOptions,
};
use hexgraph::types::{Error, Result};
use std::fmt::Write;
use std::ops::Range;

pub const THREADS: u64 = 4;
pub const ACCOUNTS: u64 = 6;
pub const TOTAL: i64 = 100 * ACCOUNTS as i64;

/// The uids of the accounts; those of the nodes that hold the numbers; the node that tells that all
/// is set up; those of the nodes of threads.
const FIRST_ACCOUNT: u64 = 0x100;
const FIRST_MARKER: u64 = 0x200;
const READY: u64 = 0xf;
const FIRST_NODE: u64 = 0x1000;
const FIRST_HIGH_NODE: u64 = 0xf000_0000_0000_0000;

/// From here on uids are handed out to nodes without one.
pub const FIRST_NEW_UID: u64 = 0x10001;

const WORDS: &[&str] = &["red", "green", "blue", "yellow", "black", "white", "Ö\\\"x", ""];

const SCHEMA: &str = "
    balance: int @index(int) .
    seq: int .
    ready: int .
    name: string @index(term, exact, trigram) @lang .
    age: int @index(int) .
    score: float @index(float) .
    tags: [string] @index(exact) @count .
    knows: [uid] @reverse @count .
    boss: uid @reverse .
    born: datetime @index(year) .
    active: bool @index(bool) .
    loc: geo @index(geo) .
    emb: float32vector @index(hnsw(metric: \"euclidean\")) .
    email: string @index(exact) @upsert @unique .
    xid: string @index(exact) @upsert .
    label: string .
    was: [string] .
    of: [uid] @reverse .
    flip0: string .
    flip1: string .
    flip2: string .
    flip3: string .
    type Person {\n name\n age\n tags\n knows\n boss\n}";

/// What is asked to compare two databases beside what they export: all kinds of indexes, counts and
/// edges backwards. No uid that was handed out shows.
pub const QUESTIONS: &str = r#"{
    terms(func: anyofterms(name, "red blue")) { uid name name@en name@de }
    exact(func: ge(name, "g"), orderasc: name) { uid }
    trigrams(func: regexp(name, /yell.w/)) { uid }
    ages(func: ge(age, 20), orderasc: age) { uid age }
    scores(func: le(score, 0.5), orderdesc: score) { uid score }
    tags(func: eq(tags, "red")) { uid tags @facets count(tags) }
    counts(func: eq(count(tags), 2)) { uid }
    friends(func: ge(count(knows), 2)) { uid knows @facets { uid } }
    known(func: ge(count(~knows), 2)) { uid ~knows { uid } count(~knows) }
    bosses(func: has(~boss)) { uid ~boss { uid } }
    born(func: ge(born, "2000-01-01"), orderasc: born) { uid born }
    active(func: eq(active, true)) { uid }
    near(func: near(loc, [1.0, 1.0], 150000)) { uid loc }
    emails(func: has(email), orderasc: email) { uid email }
    people(func: type(Person)) { uid expand(_all_) { uid } }
    items(func: has(xid), orderasc: xid) { xid label was of { uid } }
    owners(func: has(~of)) { uid count(~of) }
    balances(func: ge(balance, 100), orderdesc: balance) { uid balance }
}"#;

/// Makes the schema and the first data, which know the number `generation`.
pub fn set_up(db: &Database, generation: u64) -> Result<()> {
    db.alter(SCHEMA)?;
    let mut lines = format!("<{READY:#x}> <ready> \"{generation}\" .\n");
    for account in FIRST_ACCOUNT..FIRST_ACCOUNT + ACCOUNTS {
        writeln!(lines, "<{account:#x}> <balance> \"100\" .").unwrap();
    }
    db.mutate(&lines, "").map(drop)
}

/// What is dropped before the data of a generation are set up.
pub fn drop_before(generation: u64) -> Drop {
    if generation.is_multiple_of(2) { Drop::All } else { Drop::Data }
}

/// The generation of the data; `None` when they are not set up. The numbers of the last operations
/// of all threads, 0 for none.
pub fn progress(db: &Database) -> (Option<u64>, [u64; THREADS as usize]) {
    let generation = numbers(db, "ready").first().map(|(_, generation)| *generation as u64);
    let mut last = [0; THREADS as usize];
    for (uid, number) in numbers(db, "seq") {
        last[(uid - FIRST_MARKER) as usize] = number as u64;
    }
    (generation, last)
}

/// The amounts of all accounts.
pub fn balances(db: &Database) -> Vec<i64> {
    numbers(db, "balance").into_iter().map(|(_, balance)| balance).collect()
}

fn numbers(db: &Database, predicate: &str) -> Vec<(u64, i64)> {
    if !db.schema_text().unwrap().contains(&format!("{predicate}:")) {
        return Vec::new();
    }
    let text = format!("{{ q(func: has({predicate})) {{ uid {predicate} }} }}");
    let request = QueryRequest { text, ..QueryRequest::default() };
    let answer =
        db.query_with(&request, &RequestContext::new()).and_then(|answer| answer.to_json());
    numbers_of(&answer.unwrap().0, predicate)
}

fn numbers_of(json: &str, predicate: &str) -> Vec<(u64, i64)> {
    let json: serde_json::Value = serde_json::from_str(json).unwrap();
    let rows = json["q"].as_array().unwrap().iter();
    rows.map(|row| {
        let uid = row["uid"].as_str().unwrap().trim_start_matches("0x");
        (u64::from_str_radix(uid, 16).unwrap(), row[predicate].as_i64().unwrap())
    })
    .collect()
}

/// An operation.
#[derive(Debug)]
pub struct Operation {
    thread: u64,
    number: u64,
    kind: Kind,
    rng: Rng,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Mutate,
    MutateMuch,
    Transact,
    Upsert,
    MoveByUpsert,
    MoveByTxn,
    Alter,
    DropPredicate,
    Load,
    Compact,
    Checkpoint,
    AssignUids,
}

impl Operation {
    /// The operation of a number, from 1, of a thread.
    pub fn new(seed: u64, thread: u64, number: u64) -> Operation {
        let mut rng = Rng::with_seed(seed ^ (thread << 56) ^ (number << 32));
        let kind = match rng.u8(0..100) {
            0..30 => Kind::Mutate,
            30..33 => Kind::MutateMuch,
            33..53 => Kind::Transact,
            53..68 => Kind::Upsert,
            68..78 => Kind::MoveByUpsert,
            78..88 => Kind::MoveByTxn,
            88..91 => Kind::Alter,
            91..93 => Kind::DropPredicate,
            93..96 => Kind::Load,
            96..97 => Kind::Compact,
            97..99 => Kind::Checkpoint,
            _ => Kind::AssignUids,
        };
        Operation { thread, number, kind, rng }
    }

    /// True for a change of the schema, which is a commit of its own before the one that notes the
    /// number. Doing it twice is doing it once.
    pub fn changes_schema(&self) -> bool {
        matches!(self.kind, Kind::Alter | Kind::DropPredicate)
    }

    /// Does it. What conflicts is tried again. Returns the uids that it had handed out, in most
    /// cases none.
    pub fn perform(&self, db: &Database) -> Result<Range<u64>> {
        if self.kind == Kind::AssignUids {
            let count = self.rng.clone().u64(1..5);
            let first = db.assign_uids(count)?.0;
            return self.finish(db, "").map(|()| first..first + count);
        }
        loop {
            match self.attempt(db) {
                Err(Error::Conflict) => std::thread::yield_now(),
                done => return done.map(|()| 0..0),
            }
        }
    }

    /// Changes the schema only.
    pub fn change_schema(&self, db: &Database) -> Result<()> {
        let mut rng = self.rng.clone();
        let Operation { thread, kind, .. } = self;
        match kind {
            Kind::Alter => {
                let index = ["", "@index(exact)", "@index(term)", "@index(exact, trigram) @upsert"]
                    [rng.usize(0..4)];
                db.alter(&format!("flip{thread}: string {index} .")).map(drop)
            }
            Kind::DropPredicate => db.drop(&Drop::Predicate(format!("scratch{thread}"))),
            _ => Ok(()),
        }
    }

    fn attempt(&self, db: &Database) -> Result<()> {
        let mut rng = self.rng.clone();
        match self.kind {
            Kind::Mutate => {
                db.mutate_with(&self.request(&mut rng).request(), &RequestContext::new()).map(drop)
            }
            Kind::MutateMuch => {
                let mut lines = String::new();
                for _ in 0..rng.usize(20..400) {
                    self.set_line(&mut rng, &mut lines);
                }
                self.finish(db, &lines)
            }
            Kind::Transact => self.transact(db, &mut rng),
            Kind::Upsert => self.mutate_text(db, &self.upsert(&mut rng)),
            Kind::MoveByUpsert => self.mutate_text(db, &self.move_by_upsert(&mut rng)),
            Kind::MoveByTxn => self.move_by_txn(db, &mut rng),
            Kind::Alter | Kind::DropPredicate => {
                self.change_schema(db)?;
                self.finish(db, "")
            }
            Kind::Load => {
                let mut lines = self.marker();
                for _ in 0..20 {
                    self.set_line(&mut rng, &mut lines);
                }
                let source = Source::Bytes(lines.into());
                db.load_with(source, None, LoadOptions::default(), &RequestContext::new()).map(drop)
            }
            Kind::Compact => db.compact().and_then(|()| self.finish(db, "")),
            Kind::Checkpoint => db.checkpoint().and_then(|()| self.finish(db, "")),
            Kind::AssignUids => self.finish(db, ""),
        }
    }

    fn marker(&self) -> String {
        format!("<{:#x}> <seq> \"{}\" .\n", FIRST_MARKER + self.thread, self.number)
    }

    fn finish(&self, db: &Database, lines: &str) -> Result<()> {
        db.mutate(&format!("{lines}{}", self.marker()), "").map(drop)
    }

    fn mutate_text(&self, db: &Database, text: &str) -> Result<()> {
        db.mutate_text_with(text, &RequestContext::new()).map(drop)
    }

    /// A transaction of a few requests, perhaps after one that is discarded.
    fn transact(&self, db: &Database, rng: &mut Rng) -> Result<()> {
        if rng.u8(0..4) == 0 {
            let lost = db.begin(TxnOptions::default())?;
            lost.mutate_with(
                &self.request(&mut self.rng.clone()).request(),
                &RequestContext::new(),
            )?;
            let marker = format!("<{:#x}> <seq> \"999999\" .", FIRST_MARKER + self.thread);
            mutate(&lost, &format!("_:lost <xid> \"lost\" .\n{marker}"))?;
        }
        let txn = db.begin(TxnOptions::default())?;
        for _ in 0..rng.u8(1..4) {
            txn.mutate_with(&self.request(rng).request(), &RequestContext::new())?;
        }
        if rng.bool() {
            txn.mutate_text_with(&self.upsert(rng), &RequestContext::new())?;
        }
        mutate(&txn, &self.marker())?;
        txn.commit().map(drop)
    }

    /// Makes an item, which is two nodes without uids, changes it, or deletes it.
    fn upsert(&self, rng: &mut Rng) -> String {
        let (thread, number, marker) = (self.thread, self.number, self.marker());
        let xid = format!("{thread}-{}", rng.u8(0..5));
        let owner = self.node(rng);
        let (defined, exists) = match rng.u8(0..4) {
            0 => (
                format!("}} e as var(func: eq(xid, \"{xid}-extra\")) {{ uid"),
                "delete { uid(v) <xid> * .\n uid(v) <label> * .\n uid(v) <of> * .\n \
                 uid(v) <was> * .\n uid(e) <xid> * .\n uid(e) <label> * .\n }"
                    .to_owned(),
            ),
            1 => (
                String::new(),
                format!(
                    "delete {{ uid(v) <of> * .\n }} set {{ uid(v) <label> \"{number}\" .\n \
                     uid(v) <of> <{owner:#x}> .\n }}"
                ),
            ),
            _ => (
                "old as label".to_owned(),
                format!("set {{ uid(v) <was> val(old) .\n uid(v) <label> \"{number}\" .\n }}"),
            ),
        };
        let query = format!("query {{ v as var(func: eq(xid, \"{xid}\")) {{ uid {defined} }} }}");
        format!(
            "upsert {{ {query} \
             mutation @if(eq(len(v), 0)) {{ set {{ uid(v) <xid> \"{xid}\" .\n \
             uid(v) <label> \"{number}\" .\n uid(v) <of> <{owner:#x}> .\n \
             _:extra <xid> \"{xid}-extra\" .\n _:extra <label> \"{number}\" .\n }} }} \
             mutation @if(gt(len(v), 0)) {{ {exists} }} \
             mutation {{ set {{ {marker} }} }} }}"
        )
    }

    fn move_by_upsert(&self, rng: &mut Rng) -> String {
        let (from, to, amount) = transfer(rng);
        format!(
            "upsert {{ query {{ a as var(func: uid({from:#x})) {{ x as balance \
             nx as math(x - {amount}) }} b as var(func: uid({to:#x})) {{ y as balance \
             ny as math(y + {amount}) }} }} mutation {{ set {{ uid(a) <balance> val(nx) .\n \
             uid(b) <balance> val(ny) .\n {} }} }} }}",
            self.marker()
        )
    }

    fn move_by_txn(&self, db: &Database, rng: &mut Rng) -> Result<()> {
        let (from, to, amount) = transfer(rng);
        let txn = db.begin(TxnOptions::default())?;
        let text = format!("{{ q(func: uid({from:#x}, {to:#x})) {{ uid balance }} }}");
        let request = QueryRequest { text, ..QueryRequest::default() };
        let answer = txn.query_with(&request, &RequestContext::new())?.to_json()?.0;
        for (uid, balance) in numbers_of(&answer, "balance") {
            let balance = if uid == from { balance - amount } else { balance + amount };
            mutate(&txn, &format!("<{uid:#x}> <balance> \"{balance}\" ."))?;
        }
        mutate(&txn, &self.marker())?;
        txn.commit().map(drop)
    }

    /// A request of a few mutations.
    fn request(&self, rng: &mut Rng) -> Texts {
        let mut texts = Texts::default();
        for _ in 0..rng.u8(1..4) {
            let (mut set, mut delete) = (String::new(), String::new());
            for _ in 0..rng.u8(0..8) {
                self.set_line(rng, &mut set);
            }
            for _ in 0..rng.u8(0..3) {
                self.delete_line(rng, &mut delete);
            }
            texts.0.push((set, delete));
        }
        texts.0.push((self.marker(), String::new()));
        texts
    }

    fn node(&self, rng: &mut Rng) -> u64 {
        node_of(self.thread, rng)
    }

    fn set_line(&self, rng: &mut Rng, out: &mut String) {
        let (thread, node) = (self.thread, self.node(rng));
        let (word, other) = (rng.choice(WORDS).unwrap(), rng.choice(WORDS).unwrap());
        let facets = match rng.u8(0..4) {
            0 => format!(" (since=2020-01-0{}, close=true)", rng.u8(1..9)),
            1 => format!(" (weight=0.{})", rng.u8(1..9)),
            _ => String::new(),
        };
        let number = rng.u32(0..60);
        let rest = match rng.u8(0..17) {
            0..3 => {
                let lang = ["", "", "@en", "@de"][rng.usize(0..4)];
                format!("<name> \"{word} {other}\"{lang}{facets}")
            }
            3 => format!("<age> \"{number}\"{facets}"),
            4 => format!("<score> \"0.{number}\""),
            5..7 => format!("<tags> \"{word}\"{facets}"),
            7..9 => format!("<knows> <{:#x}>{facets}", node_of(rng.u64(0..THREADS), rng)),
            9 => format!("<boss> <{:#x}>{facets}", node_of(rng.u64(0..THREADS), rng)),
            10 => format!("<born> \"20{number:02}-02-03T04:05:06.789Z\""),
            11 => format!("<active> \"{}\"", rng.bool()),
            12 => {
                let point =
                    format!("{{'type':'Point','coordinates':[{}.5,{}]}}", number % 5, rng.u8(0..5));
                format!("<loc> \"{point}\"^^<geo:geojson>")
            }
            13 => format!("<emb> \"[{number}, 0.5, {}]\"", rng.u8(0..9)),
            14 => format!("<scratch{thread}> \"{word}\"{facets}"),
            15 => format!("<flip{thread}> \"{word} {other}\""),
            _ => match rng.bool() {
                true => "<dgraph.type> \"Person\"".to_owned(),
                false => format!("<email> \"{node:x}.{}@x\"", rng.u8(0..3)),
            },
        };
        writeln!(out, "<{node:#x}> {rest} .").unwrap();
    }

    fn delete_line(&self, rng: &mut Rng, out: &mut String) {
        let (thread, node) = (self.thread, self.node(rng));
        let rest = match rng.u8(0..12) {
            0 => "<name> *".to_owned(),
            1 => "<name@en> *".to_owned(),
            2 => "<age> *".to_owned(),
            3 => format!("<tags> \"{}\"", rng.choice(WORDS).unwrap()),
            4 => "<tags> *".to_owned(),
            5..8 => format!("<knows> <{:#x}>", node_of(rng.u64(0..THREADS), rng)),
            8 => "<knows> *".to_owned(),
            9 => "<boss> *".to_owned(),
            10 => ["<email> *", "<loc> *", "<emb> *", "<born> *"][rng.usize(0..4)].to_owned(),
            _ => match rng.bool() {
                true => "* *".to_owned(),
                false => format!("<flip{thread}> *"),
            },
        };
        writeln!(out, "<{node:#x}> {rest} .").unwrap();
    }
}

fn node_of(thread: u64, rng: &mut Rng) -> u64 {
    match rng.u8(0..6) {
        0 => FIRST_HIGH_NODE + 16 * thread + rng.u64(0..3),
        _ => FIRST_NODE * (thread + 1) + rng.u64(0..8),
    }
}

fn transfer(rng: &mut Rng) -> (u64, u64, i64) {
    let from = rng.u64(0..ACCOUNTS);
    let to = (from + rng.u64(1..ACCOUNTS)) % ACCOUNTS;
    (FIRST_ACCOUNT + from, FIRST_ACCOUNT + to, rng.i64(1..20))
}

fn mutate(txn: &Txn, set: &str) -> Result<()> {
    let mutation = Mutation { set: vec![Statements::NQuads(set)], ..Mutation::default() };
    let request = MutationRequest { mutations: vec![mutation], ..MutationRequest::default() };
    txn.mutate_with(&request, &RequestContext::new()).map(drop)
}

/// What is set and what is deleted, for each mutation of a request.
#[derive(Default)]
struct Texts(Vec<(String, String)>);

impl Texts {
    fn request(&self) -> MutationRequest<'_> {
        let mutations = self.0.iter().map(|(set, delete)| Mutation {
            set: vec![Statements::NQuads(set)],
            delete: vec![Statements::NQuads(delete)],
            ..Mutation::default()
        });
        MutationRequest { mutations: mutations.collect(), ..MutationRequest::default() }
    }
}
