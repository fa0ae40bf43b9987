//! What can be asked of a database, and what it answers.

use crate::db::change::input::LoadProgress;
use hexgraph_base::budget::Budget;
use hexgraph_base::types::{Error, Result};
use hexgraph_store::durability::{FileAccess, SyncPolicy};
use hexgraph_store::exec::{Limits, byte_count, parse_time};
use hexgraph_store::graph;
use hexgraph_store::graph::PredicateStats;
use std::time::Duration;

/// How a database is opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenOptions {
    /// True to leave the directory as it is: many processes may do so at once.
    pub read_only: bool,
    /// The number of threads for loads and large queries; 0 for as many as there are cores.
    pub threads: usize,
    /// What a single request may use.
    pub limits: Limits,
    /// The memory that all requests, transactions and the history of versions may take together.
    pub memory: Memory,
    /// What open transactions may take.
    pub transactions: TxnLimits,
    /// When a commit to a directory counts as done.
    pub sync: SyncPolicy,
    /// So many bytes of log make a snapshot due, and a quarter of the last snapshot at the least;
    /// 0 for 64 MiB.
    pub checkpoint: u64,
    /// True to read the snapshot into memory as a whole when a directory is opened. Else one of more than a MiB is mapped: opening
    /// takes no time and reading no memory of its own, but a program that shortens the file while it is open ends this
    /// process (SIGBUS). hexgraph itself never does that.
    pub no_map: bool,
}

impl OpenOptions {
    /// How snapshots are had.
    pub(crate) fn access(&self) -> FileAccess {
        if self.no_map { FileAccess::Read } else { FileAccess::Map }
    }
}

/// The memory that all work in a database may take together. What one request may take of it is
/// in its [`Limits`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Memory {
    /// What all databases of the process that say nothing else share: four fifths of what the
    /// process may have of the machine. The data themselves do not count.
    #[default]
    Shared,
    /// So many bytes. The data themselves do not count.
    Work(u64),
    /// So many bytes of anonymous memory for the whole process, its data included; 0 for two
    /// thirds of what the process may have of the machine.
    Process(u64),
}

impl Memory {
    /// The bytes that it means.
    pub fn bytes(self) -> u64 {
        self.budget().bound()
    }

    /// The budget that it means.
    pub(super) fn budget(self) -> Budget {
        match self {
            Memory::Shared => Budget::shared(),
            Memory::Work(bytes) => Budget::new(bytes),
            Memory::Process(0) => Budget::of_process(Budget::part_of_machine(66)),
            Memory::Process(bytes) => Budget::of_process(bytes),
        }
    }
}

/// The least memory that a database may be bounded to.
const MEMORY_MIN: u64 = 16 << 20;

/// A number of bytes that all work of a database may take, like `2GB`.
///
/// # Errors
///
/// [`Error::Query`] when it is none, or less than 16 MiB.
pub fn memory_count(value: &str) -> Result<u64> {
    let bytes = byte_count("memory", value).ok().filter(|bytes| MEMORY_MIN <= *bytes);
    let expected = "expected a number of bytes, 16MiB or more, like 2GB";
    bytes.ok_or_else(|| Error::query(format!("memory={value}: {expected}")))
}

impl OpenOptions {
    /// Sets when a commit counts as done: `always`, `every=100ms` or another time, or `never`.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for anything else.
    pub fn set_sync(&mut self, value: &str) -> Result<()> {
        let every = || parse_time(value.strip_prefix("every=")?).filter(|time| !time.is_zero());
        self.sync = match value {
            "always" => SyncPolicy::Always,
            "never" => SyncPolicy::Never,
            _ => SyncPolicy::Every(every().ok_or_else(|| {
                let expected = "expected always, every=TIME (like every=100ms) or never";
                Error::query(format!("sync={value}: {expected}"))
            })?),
        };
        Ok(())
    }

    /// Sets how long the log gets before a snapshot takes its place, like `64MiB`.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when it is no number of bytes above 0.
    pub fn set_checkpoint(&mut self, value: &str) -> Result<()> {
        let bytes = byte_count("", value).ok().filter(|bytes| 0 < *bytes);
        let expected = "expected a number of bytes, like 64MiB";
        self.checkpoint =
            bytes.ok_or_else(|| Error::query(format!("checkpoint={value}: {expected}")))?;
        Ok(())
    }
}

/// What open transactions may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TxnLimits {
    /// A transaction that nobody used for so long is dropped.
    pub idle: Duration,
    /// So many may be open at once.
    pub open: usize,
    /// So many of them may be those of one client over the network.
    pub per_client: usize,
    /// So many statements may be staged in all of them together.
    pub statements: u64,
    /// So many bytes of versions that are not the newest any more are kept for clients that may
    /// come back to what their queries read.
    pub history: u64,
}

impl Default for TxnLimits {
    fn default() -> TxnLimits {
        TxnLimits {
            idle: Duration::from_secs(300),
            open: 10_000,
            per_client: 10_000,
            statements: 10_000_000,
            history: 64 << 20,
        }
    }
}

/// What is dropped.
#[derive(Debug, Clone, PartialEq)]
pub enum Drop {
    /// The data, the schema and the types.
    All,
    /// The data; schema and types stay.
    Data,
    /// One predicate: its data and its definition.
    Predicate(String),
    /// The definition of one type.
    Type(String),
}

/// How triples are loaded.
#[derive(Clone, Default)]
pub struct LoadOptions {
    /// True to go on behind a line that can't be stored, and to report it.
    pub skip_errors: bool,
    /// How far the load is.
    pub progress: LoadProgress,
    /// The bytes that the load may take in memory beside its largest predicate; 0 for no bound.
    pub memory: u64,
}

/// What a load did.
#[derive(Debug, Clone, Default)]
pub struct LoadReport {
    /// The triples that were stored.
    pub triples: u64,
    /// The distinct nodes in them.
    pub nodes: u64,
    /// The nodes that were not there before: those of labels, and of ids that no node had. A uid that is named is not
    /// counted.
    pub new_nodes: u64,
    /// The edges with facets that came more than once, or were there before: the facets that came last stay.
    pub merged: u64,
    /// What was done and is likely not what was meant.
    pub warnings: Vec<String>,
    /// How long it took.
    pub elapsed: Duration,
    /// The number of lines that were left out.
    pub skipped: u64,
    /// The first of them.
    pub skipped_lines: Vec<SkippedLine>,
}

impl From<graph::LoadReport> for LoadReport {
    fn from(report: graph::LoadReport) -> LoadReport {
        let lines = report.skipped.into_iter();
        LoadReport {
            triples: report.triples,
            nodes: report.nodes,
            new_nodes: report.new_nodes,
            merged: report.merged,
            warnings: report.warnings,
            elapsed: Duration::ZERO,
            skipped: report.skipped_count,
            skipped_lines: lines
                .map(|line| SkippedLine { file: line.file, line: line.line, reason: line.reason })
                .collect(),
        }
    }
}

/// A line that was left out of a load.
#[derive(Debug, Clone, PartialEq)]
pub struct SkippedLine {
    /// The file, or what else errors call the source.
    pub file: String,
    /// Its number, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// How large a database is.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    /// The nodes that have at least one value or edge.
    pub nodes: u64,
    /// The number of the last commit.
    pub commit: u64,
    /// The predicates, by name.
    pub predicates: Vec<PredicateStats>,
}

/// The times that a request took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Latency {
    /// To parse and plan it.
    pub parsing: Duration,
    /// To carry it out.
    pub processing: Duration,
    /// To write its answer.
    pub encoding: Duration,
}

impl Latency {
    /// All of it.
    pub fn total(&self) -> Duration {
        self.parsing + self.processing + self.encoding
    }
}
