//! Options of opening and loading, and the reports that operations return.

use crate::db::change::input::LoadProgress;
use hexgraph_base::budget::Budget;
use hexgraph_base::types::{Error, Result};
use hexgraph_store::durability::{FileAccess, SyncPolicy};
use hexgraph_store::exec::{Limits, byte_count, parse_time};
use hexgraph_store::graph::{Folding, PredicateStats, Thresholds};
use std::time::Duration;

/// Options for opening a database. The default opens for writing, with all cores and shared memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenOptions {
    /// True to leave the directory as it is: many processes may do so at once.
    pub read_only: bool,
    /// The number of threads for loads and large queries; 0 for as many as there are cores.
    pub threads: usize,
    /// The limits of each single request: time, memory, length of text and answer.
    pub limits: Limits,
    /// The bound on the memory of all requests, transactions and old versions together.
    pub memory: Memory,
    /// The limits on open transactions: how many, for how long, and how much they stage.
    pub transactions: TxnLimits,
    /// When a commit to a directory is synced to the disk: before it returns, every so often, or
    /// never.
    pub sync: SyncPolicy,
    /// The length of the log, in bytes, from which a snapshot is written instead; 0 represents 64
    /// MiB. The log always grows to a quarter of the last snapshot first.
    pub checkpoint: u64,
    /// True to read the full snapshot into memory when a directory is opened. Else one of more than
    /// a MiB is mapped: opening takes no time and reading no memory of its own, but a program that
    /// shortens the file while it is open kills this process (SIGBUS). hexgraph itself never does
    /// that.
    pub no_map: bool,
    /// The sizes from which changes are compacted, vector graphs used, and conflicts forgotten.
    /// Only tests have a reason to set them: the default suits graphs of any size.
    pub thresholds: Thresholds,
}

impl OpenOptions {
    /// Whether a snapshot file is mapped or read into memory.
    pub(crate) fn access(&self) -> FileAccess {
        if self.no_map { FileAccess::Read } else { FileAccess::Map }
    }
}

impl OpenOptions {
    /// The options that other ones have otherwise: the name of each, its value here and its value
    /// there.
    pub(super) fn differences(&self, other: &OpenOptions) -> Vec<(String, String, String)> {
        let (own, others) = (self.settings(), other.settings());
        let pairs = own.into_iter().zip(others).filter(|(own, other)| own != other);
        pairs.map(|((name, own), (_, other))| (name.to_owned(), own, other)).collect()
    }

    /// All options, by the names that surfaces have for them.
    fn settings(&self) -> Vec<(&'static str, String)> {
        let OpenOptions {
            read_only,
            threads,
            limits,
            memory,
            transactions,
            sync,
            checkpoint,
            no_map,
            thresholds,
        } = self;
        let memory = match memory {
            Memory::Shared => "None".to_owned(),
            Memory::Work(bytes) => bytes.to_string(),
            Memory::Process(bytes) => format!("{bytes} for the process"),
        };
        let sync = match sync {
            SyncPolicy::Always => "always".to_owned(),
            SyncPolicy::Every(pause) => format!("every={pause:?}"),
            SyncPolicy::Never => "never".to_owned(),
        };
        let compaction = match thresholds.folding {
            Folding::Background => "auto",
            Folding::Commit => "commit",
            Folding::Manual => "manual",
        };
        let TxnLimits { idle, open, per_client, statements, history } = transactions;
        let mut settings = vec![
            ("read_only", read_only.to_string()),
            ("threads", threads.to_string()),
            ("memory", memory),
            ("txn_timeout", idle.as_secs_f64().to_string()),
            ("transactions", format!("{open}, {per_client}, {statements}, {history}")),
            ("sync", sync),
            ("checkpoint", checkpoint.to_string()),
            ("fold", compaction.to_owned()),
            ("map", (!no_map).to_string()),
            ("thresholds", format!("{:?}", Thresholds { folding: Folding::Manual, ..*thresholds })),
        ];
        settings.extend(limits.values());
        settings
    }
}

/// The memory of all work in a database together. The bound of one request is in its [`Limits`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Memory {
    /// The common budget of all databases of the process without their own: four fifths of what the
    /// process may have of the machine. The data themselves do not count.
    #[default]
    Shared,
    /// So many bytes. The data themselves do not count.
    Work(u64),
    /// So many bytes of anonymous memory for the entire process, its data included; 0 for two
    /// thirds of what the process may have of the machine.
    Process(u64),
}

impl Memory {
    /// The bound in bytes. For [`Memory::Process(0)`](Memory::Process) it depends on the machine.
    ///
    /// ```
    /// use hexgraph::db::Memory;
    ///
    /// assert_eq!(Memory::Work(1 << 30).bytes(), 1 << 30);
    /// ```
    pub fn bytes(self) -> u64 {
        self.budget().bound()
    }

    /// The budget of requests. [`Memory::Shared`] always returns the one of the process.
    pub(super) fn budget(self) -> Budget {
        match self {
            Memory::Shared => Budget::shared(),
            Memory::Work(bytes) => Budget::new(bytes),
            Memory::Process(0) => Budget::of_process(Budget::part_of_machine(66)),
            Memory::Process(bytes) => Budget::of_process(bytes),
        }
    }
}

/// The smallest bound that [`memory_count`] accepts, in bytes.
const MEMORY_MIN: u64 = 16 << 20;

/// Reads the number of bytes for all work in a database, such as `2GB`.
///
/// ```
/// use hexgraph::db::memory_count;
///
/// assert_eq!(memory_count("2GiB")?, 2 << 30);
/// assert!(memory_count("2 elephants").is_err());
/// # Ok::<(), hexgraph::types::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Query`] when the text is not a number of bytes, or the number is less than 16 MiB.
pub fn memory_count(value: &str) -> Result<u64> {
    let bytes = byte_count("memory", value).ok().filter(|bytes| MEMORY_MIN <= *bytes);
    let expected = "expected a number of bytes, 16MiB or more, like 2GB";
    bytes.ok_or_else(|| Error::query(format!("memory={value}: {expected}")))
}

impl OpenOptions {
    /// Sets when a commit counts as done: `always`, `every=100ms` or another time, or `never`.
    ///
    /// ```
    /// use hexgraph::db::{OpenOptions, SyncPolicy};
    /// use std::time::Duration;
    ///
    /// let mut options = OpenOptions::default();
    /// options.set_sync("every=100ms")?;
    /// assert_eq!(options.sync, SyncPolicy::Every(Duration::from_millis(100)));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
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

    /// Sets who merges changes into their columns: `auto`, a background thread, or `manual`, nobody
    /// before [`Database::compact`](super::Database::compact) is called.
    ///
    /// ```
    /// use hexgraph::db::{Folding, OpenOptions};
    ///
    /// let mut options = OpenOptions::default();
    /// options.set_fold("manual")?;
    /// assert_eq!(options.thresholds.folding, Folding::Manual);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for anything else.
    pub fn set_fold(&mut self, value: &str) -> Result<()> {
        self.thresholds.folding = match value {
            "auto" => Folding::Background,
            "manual" => Folding::Manual,
            _ => return Err(Error::query(format!("fold={value}: expected auto or manual"))),
        };
        Ok(())
    }

    /// Sets how long the log gets before a snapshot replaces it, like `64MiB`.
    ///
    /// ```
    /// use hexgraph::db::OpenOptions;
    ///
    /// let mut options = OpenOptions::default();
    /// options.set_checkpoint("64MiB")?;
    /// assert_eq!(options.checkpoint, 64 << 20);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
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

/// Limits on the transactions that are open at the same time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TxnLimits {
    /// A transaction that nobody has used for this long is aborted.
    pub idle: Duration,
    /// The largest number of transactions that may be open at once.
    pub open: usize,
    /// The largest number of them that one network client may have open.
    pub per_client: usize,
    /// The largest number of statements that all open transactions may hold together.
    pub statements: u64,
    /// The memory, in bytes, for versions that are no longer the newest. They are retained for
    /// clients that may follow a query up with a mutation at the same version.
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

/// Selects what is removed from a database.
#[derive(Debug, Clone, PartialEq)]
pub enum Drop {
    /// Removes the data, all predicates and all types.
    All,
    /// Removes the data; predicates and types stay defined.
    Data,
    /// Removes one predicate, named here: its data and its definition.
    Predicate(String),
    /// Removes the definition of the type named here; its nodes stay.
    Type(String),
}

/// Options for loading triples.
#[derive(Clone, Default)]
pub struct LoadOptions {
    /// True to skip lines that can't be stored and list them in the report; false to fail at the
    /// first one.
    pub skip_errors: bool,
    /// Counts what the load has read so far; use a clone to watch it from another thread.
    pub progress: LoadProgress,
    /// The memory, in bytes, that the load may use in addition to its largest predicate before it
    /// writes parts to temporary files; 0 for no bound.
    pub memory: u64,
    /// The predicate of external ids, such as `<alice>`. Existing nodes are looked up by it, and it
    /// is defined with an index and as `@unique` where it is not there. With `None` a name means a
    /// node of this load alone.
    pub xid: Option<String>,
}

/// The size of a database at one version.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    /// The number of nodes that have at least one value or outgoing edge.
    pub nodes: u64,
    /// The number of the last commit.
    pub commit: u64,
    /// The sizes of all predicates, in the order of their names.
    pub predicates: Vec<PredicateStats>,
}

/// The wall times of the stages of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Latency {
    /// The time for parsing and planning the text.
    pub parsing: Duration,
    /// The time for executing the plan.
    pub processing: Duration,
    /// The time for writing the answer; zero until it is written.
    pub encoding: Duration,
}

impl Latency {
    /// The sum of all stages.
    ///
    /// ```
    /// use hexgraph::db::Latency;
    /// use std::time::Duration;
    ///
    /// let parsing = Duration::from_micros(3);
    /// let latency = Latency { parsing, processing: parsing, encoding: Duration::ZERO };
    /// assert_eq!(latency.total(), Duration::from_micros(6));
    /// ```
    pub fn total(&self) -> Duration {
        self.parsing + self.processing + self.encoding
    }
}
