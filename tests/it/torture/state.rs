//! What a database holds, so that two can be compared, and the model that they are compared with.

use super::operations;
use super::operations::{FIRST_NEW_UID, Operation, THREADS};
use hexgraph::db::{Database, QueryRequest, RequestContext};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// Everything that can be seen of a database.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    schema: Vec<String>,
    /// The triples. Nodes without uids of their own are named by their `xid`.
    triples: Vec<String>,
    answers: Vec<String>,
}

impl State {
    /// What `db` holds. A file is written to `folder`.
    pub fn of(db: &Database, folder: &Path) -> State {
        let schema = db.schema_text().unwrap();
        // Which queries can be asked depends on the schema.
        let answers = match schema.contains("balance:") {
            true => answers(db),
            false => Vec::new(),
        };
        let mut schema: Vec<String> = schema.lines().map(str::to_owned).collect();
        schema.sort_unstable();
        State { schema, triples: named(&export(db, folder)), answers }
    }

    /// True when there is no data.
    pub fn is_empty(&self) -> bool {
        self.triples.is_empty()
    }

    fn schema_of(&self, thread: u64) -> Vec<&String> {
        let is_own = |line: &&String| {
            let name = line.trim_start_matches('<');
            ["flip", "scratch"].iter().any(|stem| name.starts_with(&format!("{stem}{thread}")))
        };
        self.schema.iter().filter(is_own).collect()
    }

    /// Fails where it is not the same as `expected`, and says what the difference is.
    pub fn assert_same(&self, expected: &State, what: &str) {
        let parts = [
            ("schema", &self.schema, &expected.schema),
            ("triples", &self.triples, &expected.triples),
            ("answers", &self.answers, &expected.answers),
        ];
        for (part, result, expected) in parts {
            let only = |one: &[String], other: &[String]| {
                let only = one.iter().filter(|line| !other.contains(line)).take(8);
                only.map(|line| format!("\n  {line}")).collect::<String>()
            };
            assert!(
                result == expected,
                "{what}, {part}: found only:{}\nmissing:{}",
                only(result, expected),
                only(expected, result)
            );
        }
    }
}

/// The lines of an export.
pub fn export(db: &Database, folder: &Path) -> String {
    let path = folder.join("export.rdf");
    db.export_with(&path, &RequestContext::new()).unwrap();
    std::fs::read_to_string(path).unwrap()
}

fn named(export: &str) -> Vec<String> {
    let names: BTreeMap<&str, &str> = export
        .lines()
        .filter_map(|line| line.split_once(" <xid> \"").filter(|(uid, _)| is_new(uid)))
        .map(|(uid, rest)| (uid, rest.split('"').next().unwrap()))
        .collect();
    let name = |line: &str| {
        let (uid, rest) = line.split_once(' ').unwrap();
        match names.get(uid) {
            Some(name) => format!("_:{name} {rest}"),
            None => line.to_owned(),
        }
    };
    let mut lines: Vec<String> = export.lines().map(name).collect();
    lines.sort_unstable();
    lines
}

fn is_new(uid: &str) -> bool {
    uid_of(uid).is_some_and(|uid| (FIRST_NEW_UID..1 << 31).contains(&uid))
}

fn uid_of(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("<0x")?.strip_suffix('>')?, 16).ok()
}

/// An answer a line.
fn answers(db: &Database) -> Vec<String> {
    let text = operations::QUESTIONS.to_owned();
    let request = QueryRequest { text, ..QueryRequest::default() };
    let json = db
        .query_with(&request, &RequestContext::new())
        .and_then(|answer| answer.to_json())
        .unwrap()
        .0;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let blocks = json.as_object().unwrap().iter();
    let rows = blocks.flat_map(|(name, rows)| {
        rows.as_array().unwrap().iter().map(move |row| format!("{name} {row}"))
    });
    rows.collect()
}

/// What the data must be: the same operations, done one after the other in memory.
pub struct Model {
    db: Database,
    seed: u64,
    generation: Option<u64>,
    /// The last operation of each thread.
    last: [u64; THREADS as usize],
    /// Uids that were handed out, once each and not to nodes.
    assigned: Vec<Range<u64>>,
}

/// What was acknowledged.
#[derive(Debug, Clone, Default)]
pub struct Acknowledged {
    /// The last operation of each thread.
    pub last: [u64; THREADS as usize],
    /// The generation that is set up.
    pub ready: Option<u64>,
    /// The generation that all data was to be dropped for.
    pub dropping: Option<u64>,
    /// True when it was dropped.
    pub dropped: bool,
    /// The number of operations.
    pub operations: u64,
    /// Uids that were handed out for others to use.
    pub assigned: Vec<Range<u64>>,
}

impl Model {
    /// An empty database.
    pub fn new(seed: u64) -> Model {
        Model {
            db: Database::in_memory(),
            seed,
            generation: None,
            last: [0; THREADS as usize],
            assigned: Vec::new(),
        }
    }

    /// True when nothing was ever set up.
    pub fn is_empty(&self) -> bool {
        self.generation.is_none()
    }

    /// Moves on to what `db` says it holds, and compares all.
    pub fn follow(&mut self, db: &Database, acknowledged: &Acknowledged, folder: &Path) -> State {
        let result = State::of(db, folder);
        self.check_assigned(acknowledged, &export(db, folder));
        let (generation, last) = operations::progress(db);
        if generation != self.generation {
            self.begin(generation, acknowledged, &result);
        } else {
            assert!(!acknowledged.dropped, "what was dropped is there again");
        }
        let Some(generation) = generation else {
            assert!(acknowledged.ready.is_none(), "what was set up is lost");
            assert!(result.is_empty(), "half of what was set up is there: {result:?}");
            return result;
        };
        assert!(acknowledged.ready.is_none_or(|ready| ready == generation), "{acknowledged:?}");
        for thread in 0..THREADS {
            self.follow_thread(thread, last[thread as usize], acknowledged, &result);
        }
        result.assert_same(&State::of(&self.db, folder), "data and model differ");
        let balances = operations::balances(db);
        assert_eq!(balances.len() as u64, operations::ACCOUNTS);
        assert_eq!(balances.iter().sum::<i64>(), operations::TOTAL, "money was made or lost");
        result
    }

    fn check_assigned(&mut self, acknowledged: &Acknowledged, export: &str) {
        self.assigned.extend_from_slice(&acknowledged.assigned);
        self.assigned.sort_unstable_by_key(|uids| uids.start);
        let is_twice = |pair: &[Range<u64>]| pair[1].start < pair[0].end;
        assert!(!self.assigned.windows(2).any(is_twice), "uids were handed out twice");
        for uid in export.lines().filter_map(|line| uid_of(line.split(' ').next()?)) {
            let of_others = self.assigned.iter().find(|uids| uids.contains(&uid));
            assert!(of_others.is_none(), "a node has the uid {uid:#x}, which was handed out");
        }
    }

    /// Everything was dropped, or set up, or both.
    fn begin(&mut self, generation: Option<u64>, acknowledged: &Acknowledged, result: &State) {
        if self.generation.is_some() {
            let next = acknowledged.dropping;
            let next = next.unwrap_or_else(|| panic!("nobody dropped this: {result:?}"));
            self.db.drop(&operations::drop_before(next)).unwrap();
        }
        if let Some(generation) = generation {
            operations::set_up(&self.db, generation).unwrap();
        }
        (self.generation, self.last) = (generation, [0; THREADS as usize]);
    }

    fn follow_thread(
        &mut self,
        thread: u64,
        result: u64,
        acknowledged: &Acknowledged,
        state: &State,
    ) {
        let last = &mut self.last[thread as usize];
        let least = acknowledged.last[thread as usize].max(*last);
        // One more may be there: it was committed, and its writer died before he said so.
        assert!(
            (least..=least + 1).contains(&result),
            "thread {thread} is at {result}; acknowledged {least}"
        );
        while *last < result {
            *last += 1;
            Operation::new(self.seed, thread, *last).perform(&self.db).unwrap();
        }
        let next = Operation::new(self.seed, thread, result + 1);
        if !next.changes_schema() {
            return;
        }
        // The change of the schema may be there, and the commit that notes it not.
        let schema = self.db.schema_text().unwrap();
        let schema: Vec<String> = schema.lines().map(str::to_owned).collect();
        let mut own = State { schema, triples: Vec::new(), answers: Vec::new() };
        own.schema.sort_unstable();
        if own.schema_of(thread) != state.schema_of(thread) {
            next.change_schema(&self.db).unwrap();
        }
    }
}
