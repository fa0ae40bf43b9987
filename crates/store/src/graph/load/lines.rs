//! Bulk loads: files of N-Quads, of any length, straight into the stored form.
//!
//! The file is cut into chunks. While one round of chunks is parsed on all threads, the next one
//! is read and decompressed; the batches are gathered in the order of the file. So the result does
//! not depend on the threads, nobody waits for anybody but at the end of a round, and only two
//! rounds of text are in memory at a time.

use super::batch::{BadLine, Batch, read_chunk};
use super::duplicates::Duplicates;
use super::gather::small::SmallLoad;
use super::gather::{Built, Gathered};
use super::names::ExternalIds;
use super::spill::SpillOptions;
use super::stored_ids::{LostIds, define_names};
use super::typed_endpoints::OwnedEdges;
use crate::graph::version::graph_version::Version;
use hexgraph_base::formats::{Chunk, ChunkReader};
use hexgraph_base::schema::PredicateDef;
use hexgraph_base::types::{Error, Result, shown};
use rayon::prelude::*;
use std::io::Read;
use std::time::{Duration, Instant};

/// The number of skipped lines that are reported at the most.
const SKIPPED_MAX: usize = 1000;

/// A file, or another stream of statements, to be loaded.
pub struct LoadSource {
    /// The name that errors and reports call it.
    pub name: String,
    /// N-Quads, a statement a line; compressed with gzip or plain.
    pub reader: Box<dyn Read + Send>,
}

/// The options of a load.
#[derive(Default)]
pub struct LoadOptions<'a> {
    /// Leaves out lines that can't be stored, instead of giving up.
    pub skip_errors: bool,
    /// Bounds the memory that the load takes.
    pub spill: Option<SpillOptions>,
    /// Is called from time to time; an error ends the load.
    pub progress: Option<&'a dyn Fn(LoadProgress) -> Result<()>>,
    /// The predicate for the external ids of nodes, which is added to the schema if missing. `None`
    /// if ids are valid for this load only.
    pub ids: Option<&'a str>,
    /// True when the load has ended, as `progress` has decided. Called before each slow step, such
    /// as hashing a password.
    pub has_ended: Option<&'a (dyn Fn() -> bool + Sync)>,
}

/// The progress of a load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoadProgress {
    /// Statements that were read.
    pub triples: u64,
    /// Bytes of text that were read, without compression.
    pub bytes: u64,
}

/// The result of a load.
#[derive(Debug, Clone, Default)]
pub struct LoadReport {
    /// The number of triples that were stored.
    pub triples: u64,
    /// The number of distinct nodes in those triples.
    pub nodes: u64,
    /// The number of nodes that the load created: for labels of blank nodes, and for ids without a
    /// node. Nodes named by uid are not counted.
    pub new_nodes: u64,
    /// The number of stored values that the load replaced by other ones, including single-valued
    /// edges.
    pub replaced: u64,
    /// The number of values of the load that later ones of the same load replaced.
    pub overridden: u64,
    /// The number of rows that repeat the id of an earlier row, and the first of them: they are one
    /// node.
    pub duplicates: Duplicates,
    /// The number of edges and values that were repeated or existed already with other facets. The
    /// last ones are retained.
    pub merged: u64,
    /// The number of edges that were repeated or existed already, with or without facets: each is
    /// stored once.
    pub repeated: u64,
    /// The ids without a node, where edges to such are left out.
    pub lost: LostIds,
    /// The number of nodes without a type that the load created as endpoints of edges: the other
    /// nodes on the same side have no type, or several.
    pub untyped: u64,
    /// Warnings about input that was stored but is likely a mistake, as sentences.
    pub warnings: Vec<String>,
    /// How each text file of a table was read, as `a.csv: comma, header, utf-8, 3 columns`. Also
    /// columns that are strings because one cell is, and predicates whose column names are invalid,
    /// as sentences.
    pub notes: Vec<String>,
    /// The wall time of the load.
    pub elapsed: Duration,
    /// The number of lines that were skipped.
    pub skipped: u64,
    /// The first skipped lines, in their order; there may be fewer than [`LoadReport::skipped`].
    pub skipped_lines: Vec<SkippedLine>,
    /// As [`LoadReport::as_commit`].
    commit: Option<SmallLoad>,
}

impl LoadReport {
    /// The load as a commit, where it is small relative to the graph, once.
    #[doc(hidden)]
    pub fn as_commit(&mut self) -> Option<SmallLoad> {
        self.commit.take()
    }

    /// Notes what was built.
    #[doc(hidden)]
    pub fn note(&mut self, built: &Built) {
        (self.nodes, self.new_nodes) = (built.nodes, built.new_nodes);
        let superseded = built.superseded;
        (self.replaced, self.overridden) = (superseded.stored, superseded.own);
        (self.merged, self.repeated) = (superseded.facets, built.repeated);
        self.duplicates.clone_from(&built.duplicates);
        self.untyped = built.untyped;
        self.commit.clone_from(&built.small);
        self.notes.extend(built.owned.iter().map(OwnedEdges::note));
        self.warnings.extend(superseded_warnings(built));
    }
}

/// Sentences about what the data of a load say twice, and about facets that are gone.
fn superseded_warnings(built: &Built) -> Vec<String> {
    let (counts, duplicates) = (built.superseded, &built.duplicates);
    let mut warnings = Vec::new();
    let later = |count: u64| match count {
        1 => "1 value is".to_owned(),
        _ => format!("{count} values are"),
    };
    let first = built.first_superseded.as_ref();
    let first = first.map(|(name, uid)| format!(", such as {} of {uid}", shown(name)));
    let first = first.unwrap_or_default();
    if let Some((row, id)) = &duplicates.first {
        let have = match duplicates.rows {
            1 => format!("1 row has the id of an earlier one: {row}, id {id}"),
            rows => {
                format!("{rows} rows have the id of an earlier one: the first is {row}, id {id}")
            }
        };
        let replaced = match counts.own {
            0 => String::new(),
            own => format!("; {} replaced by a later row{first}", later(own)),
        };
        warnings.push(format!("{have}{replaced}"));
    } else if 0 < counts.own {
        warnings.push(format!(
            "{} replaced by later ones of the same load{first}: a node has one, and the last stays",
            later(counts.own)
        ));
    }
    if 0 < counts.facets {
        warnings.push(format!(
            "{} edges or values came more than once, or were there before, with other facets: of each, those that came last stay",
            counts.facets
        ));
    }
    warnings
}

impl LoadReport {
    /// Notes what became of external ids, which are values of a predicate where there is one.
    fn note_names(&mut self, names: &ExternalIds, predicate: Option<&PredicateDef>) {
        let Some((_, first)) = &names.first else { return };
        let count = names.count;
        let have = match count {
            1 => format!("1 node has a name, {first}"),
            _ => format!("{count} nodes have names, such as {first}"),
        };
        let Some(PredicateDef { name, .. }) = predicate else {
            return self.warnings.push(format!(
                "{have}, which only this load knows: xid=\"xid\" (--xid xid) stores names in a predicate, by which later loads find \
                 the nodes"
            ));
        };
        let (old, new) = (names.stored, count - names.stored);
        self.triples += new;
        self.notes
            .push(format!("{have}: `{name}` had {old} of these values before, {new} are new"));
    }
}

/// A line that a load skipped, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedLine {
    /// The name of its source.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The byte within the line, from 1.
    pub column: u32,
    /// Why it can't be stored.
    pub reason: String,
}

/// The version with all statements of the sources added. Labels of blank nodes and external ids
/// mean the same node in all of them; each new one gets the next uid, in the order in which they
/// appear.
///
/// # Errors
///
/// [`Error::Load`] with the first line that can't be stored, [`Error::Io`] for read errors,
/// [`Error::Limit`] for too many nodes, and what `options.progress` returns.
pub fn load(
    version: &Version,
    sources: Vec<LoadSource>,
    options: &LoadOptions<'_>,
) -> Result<(Version, LoadReport)> {
    let started = Instant::now();
    let (mut defined, mut ids) = (None, None);
    if let Some(name) = options.ids {
        let version = defined.insert(version.clone());
        ids = Some(define_names(version, name)?);
    }
    let version = defined.as_ref().unwrap_or(version);
    let mut loader = Loader {
        version,
        options,
        graphs: (0, String::new()),
        gathered: Gathered::new(options.spill.as_ref(), &version.budget)?,
        report: LoadReport::default(),
        progress: LoadProgress::default(),
    };
    for source in sources {
        loader.source(source)?;
    }
    let Loader { gathered, mut report, graphs, .. } = loader;
    let (built, names) = gathered.finish(version, ids.as_ref())?;
    report.note(&built);
    report.note_names(&names, ids.as_ref());
    if 0 < graphs.0 {
        let (count, first) = graphs;
        let name = match count {
            1 => format!("1 statement names a graph, <{first}>"),
            _ => format!("{count} statements name graphs, such as <{first}>"),
        };
        report.warnings.push(format!("{name}: there is one graph, and such names are not stored"));
    }
    report.elapsed = started.elapsed();
    Ok((built.version, report))
}

struct Loader<'a> {
    version: &'a Version,
    options: &'a LoadOptions<'a>,
    gathered: Gathered,
    report: LoadReport,
    progress: LoadProgress,
    /// The number of statements that name a graph, and the first name.
    graphs: (u64, String),
}

impl Loader<'_> {
    fn source(&mut self, source: LoadSource) -> Result<()> {
        let LoadSource { name, reader } = source;
        let mut chunks = ChunkReader::new(reader, &name)?;
        let round_len = 2 * rayon::current_num_threads();
        let mut round = read_round(&mut chunks, round_len)?;
        while !round.is_empty() {
            let (schema, skip) = (&*self.version.schema, self.options.skip_errors);
            let has_ended = self.options.has_ended.unwrap_or(&|| false);
            let read = |chunk| read_chunk(chunk, schema, skip, has_ended);
            let (batches, next) = rayon::join(
                || -> Vec<Batch> { round.par_iter().map(read).collect() },
                || read_round(&mut chunks, round_len),
            );
            let bytes: usize = round.iter().map(|chunk| chunk.text.len()).sum();
            drop(round);
            // The reason for the end of the load comes before the reports of what was skipped.
            self.options.progress.map_or(Ok(()), |progress| progress(self.progress))?;
            for batch in batches {
                self.batch(batch, &name)?;
            }
            self.progress.bytes += bytes as u64;
            if let Some(progress) = self.options.progress {
                progress(self.progress)?;
            }
            round = next?;
        }
        Ok(())
    }

    fn batch(&mut self, batch: Batch, file: &str) -> Result<()> {
        let read = batch.triples;
        if self.graphs.0 == 0 {
            self.graphs.1.clone_from(&batch.graphs.1);
        }
        self.graphs.0 += batch.graphs.0;
        let refused_before = batch.bad_lines.len();
        let bad_lines = self.gathered.add(batch, &self.version.schema)?;
        let stored = read - (bad_lines.len() - refused_before) as u64;
        self.report.triples += stored;
        self.progress.triples += stored;
        self.report.skipped += bad_lines.len() as u64;
        for BadLine { at, reason } in bad_lines {
            let (file, line, column) = (file.to_owned(), at.line, at.column.saturating_add(1));
            if !self.options.skip_errors {
                return Err(Error::Load { file, line, column, message: reason });
            }
            if self.report.skipped_lines.len() < SKIPPED_MAX {
                self.report.skipped_lines.push(SkippedLine { file, line, column, reason });
            }
        }
        Ok(())
    }
}

fn read_round(chunks: &mut ChunkReader<'_>, len: usize) -> Result<Vec<Chunk>> {
    chunks.take(len).collect()
}
