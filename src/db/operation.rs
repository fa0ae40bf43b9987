//! What can be asked of a database, and what it answers.

use super::input::LoadProgress;
use super::transactions::TxnLimits;
use crate::durability::SyncPolicy;
use crate::exec::Limits;
use crate::exec::byte_count;
use crate::exec::parse_time;
use crate::graph;
use crate::graph::PredicateStats;
use crate::types::Error;
use crate::types::Result;
use bytes::Bytes;
use std::path::PathBuf;
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
    /// What open transactions may take.
    pub transactions: TxnLimits,
    /// When a commit to a directory counts as done.
    pub sync: SyncPolicy,
    /// So many bytes of log make a snapshot due, and a quarter of the last snapshot at the least;
    /// 0 for 64 MiB.
    pub checkpoint: u64,
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

/// Where triples are read from. Gzip is recognised by its first bytes.
#[derive(Debug, Clone)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// The bytes themselves.
    Bytes(Bytes),
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

impl From<Source> for Vec<Source> {
    fn from(source: Source) -> Vec<Source> {
        vec![source]
    }
}

/// What a load did.
#[derive(Debug, Clone, Default)]
pub struct LoadReport {
    /// The triples that were stored.
    pub triples: u64,
    /// The distinct nodes in them.
    pub nodes: u64,
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
