//! Reads tables in rounds: while all threads make parts of some chunks, the next are read.

use super::pages::memory::ReadMemory;
use super::source::{Chunk, Source};
use crate::db::Canceller;
use crate::tables::shape::choose_ids::all_new_warning;
use crate::tables::shape::options::TableOptions;
use crate::tables::shape::parts::Fault;
use crate::tables::shape::plan::{Gaps, Parts, Plan};
use hexgraph_base::types::{Error, Result};
use hexgraph_store::graph::{ColumnLoad, Interner, LoadReport, LostIds, SkippedLine, Version};
use rayon::prelude::*;
use std::time::Instant;

/// The largest number of skipped cells that a report lists.
const SKIPPED_MAX: usize = 1000;

/// The state of a load of several tables, one after the other.
pub(in crate::tables) struct Rounds<'a> {
    load: ColumnLoad,
    options: TableOptions,
    memory: ReadMemory,
    canceller: &'a Canceller,
    started: Instant,
    report: LoadReport,
    /// The rows of all tables so far.
    rows: u64,
    /// The predicate of ids that some node should have; `None` where all may be new.
    expected: Option<String>,
    /// The rows that are no edges since an end is missing, and the first of them with its table.
    gaps: u64,
    first_gap: Option<(u64, String)>,
}

impl<'a> Rounds<'a> {
    /// Begins a load.
    pub(in crate::tables) fn new(
        load: ColumnLoad,
        (options, memory): (TableOptions, ReadMemory),
        canceller: &'a Canceller,
        expected: Option<String>,
    ) -> Rounds<'a> {
        let (started, report) = (Instant::now(), LoadReport::default());
        let (rows, gaps, first_gap) = (0, 0, None);
        Rounds {
            load,
            options,
            memory,
            canceller,
            started,
            report,
            rows,
            expected,
            gaps,
            first_gap,
        }
    }

    /// Adds sentences to the report.
    pub(in crate::tables) fn note(&mut self, notes: Vec<String>) {
        self.report.notes.extend(notes);
    }

    /// Adds warnings to the report.
    pub(in crate::tables) fn warn(&mut self, warnings: Vec<String>) {
        self.report.warnings.extend(warnings);
    }

    /// Loads a table.
    ///
    /// # Errors
    ///
    /// [`Error::Load`] with the first cell that can't be stored, unless such are skipped;
    /// [`Error::Limit`] when it is stopped, or for too many nodes.
    pub(in crate::tables) fn table(&mut self, plan: &Plan, source: Source) -> Result<()> {
        let (name, text) = (source.name.clone(), source.text_file());
        let (json, notes) = (source.json_description(), source.notes.clone());
        let first_row = self.rows;
        let mut chunks = source.chunks(plan.positions(), first_row, self.memory.clone())?;
        self.load.begin_table(first_row, &name);
        let mut gaps = Gaps::default();
        let threads = rayon::current_num_threads();
        let round_len = if self.options.memory == 0 { 2 * threads } else { threads };
        let mut round = chunks.take(round_len)?;
        if first_row == 0 {
            let rows = round.iter().map(|chunk| chunk.len);
            self.load.expect_rows(rows.fold(0, u64::saturating_add))?;
        }
        while !round.is_empty() {
            self.load.interner().check()?;
            let (interner, canceller) = (self.load.interner(), self.canceller);
            let (done, next) = rayon::join(
                || -> Result<Vec<Vec<Parts>>> {
                    let of = |chunk| parts_of(chunk, plan, interner, canceller);
                    round.par_iter().map(of).collect()
                },
                || chunks.take(round_len),
            );
            canceller.check()?;
            for mut parts in done?.into_iter().flatten() {
                self.rows += parts.rows;
                gaps.add(parts.gaps);
                self.options.progress.set_records(self.rows);
                let faults = std::mem::take(&mut parts.faults);
                self.report_faults(faults, (plan, &name), first_row)?;
                plan.add(parts, &mut self.load)?;
            }
            let sizes = round.iter().map(|chunk| chunk.size);
            self.options.progress.add(sizes.fold(0, u64::saturating_add));
            self.canceller.check()?;
            round = next?;
        }
        self.gaps += gaps.rows;
        let first = gaps.first.map(|row| (row - first_row + 1, name.clone()));
        self.first_gap = self.first_gap.take().or(first);
        let (skipped, filled) = chunks.ragged();
        self.report_ragged(&name, skipped, filled);
        // Of many files with the same columns one sentence is enough.
        let new = plan.notes().iter().chain(&notes).filter(|it| !self.report.notes.contains(it));
        let new: Vec<String> = new.cloned().collect();
        self.report.notes.extend(new);
        self.report.notes.extend(json.map(|of| format!("{name}: {of}")));
        if let Some(file) = text {
            self.report.notes.push(format!("{name}: {}", file.description()));
            self.report.notes.extend(file.widened());
            let warning = file.separator_hint().map(|hint| format!("{name}: {hint}"));
            self.report.warnings.extend(warning);
        }
        Ok(())
    }

    /// Reports records of a text file that had another number of fields than there are columns.
    fn report_ragged(&mut self, table: &str, skipped: &[u64], filled: u64) {
        self.report.skipped += skipped.len() as u64;
        let capacity = SKIPPED_MAX.saturating_sub(self.report.skipped_lines.len());
        let reason = "it has another number of fields than there are columns";
        let line = |line: &u64| SkippedLine {
            file: table.to_owned(),
            line: *line,
            column: 1,
            reason: reason.to_owned(),
        };
        self.report.skipped_lines.extend(skipped.iter().take(capacity).map(line));
        if 0 < filled {
            let fault = format!(
                "{filled} records of {table} have fewer fields than there are columns; these are missing values"
            );
            self.report.warnings.push(fault);
        }
    }

    /// Returns the version that has the data of all tables.
    ///
    /// # Errors
    ///
    /// As [`ColumnLoad::finish`]; [`Error::Query`] for ids without a node, if the load refuses
    /// those. `before` is the graph as it was.
    pub(in crate::tables) fn finish(
        mut self,
        before: &Version,
        refuses_lost: bool,
    ) -> Result<(Version, LoadReport)> {
        let lost = self.load.interner().lost();
        if refuses_lost && 0 < lost.count {
            let message = format!("{} ends of edges are no nodes: {}", lost.count, listed(&lost));
            let hint = "missing=\"make\" makes them, missing=\"skip\" leaves the edges out";
            return Err(Error::query(message).with_hint(hint));
        }
        self.report.lost = lost;
        let (ids_len, bound) = (self.load.interner().byte_len(), self.options.memory);
        if 0 < bound && bound < ids_len {
            self.report.warnings.push(format!(
                "ids of nodes take {ids_len} bytes, more than the {bound} of the option `memory`: they stay in memory \
                 during the load, where names in N-Quads go to files"
            ));
        }
        let (built, triples, are_all_new) = self.load.finish()?;
        self.report.triples = triples;
        self.report.note(&built);
        if let (true, Some(name)) = (are_all_new, &self.expected) {
            self.report.warnings.push(all_new_warning(before, name, built.new_nodes));
        }
        self.report.warnings.extend(self.first_gap.map(|(row, table)| {
            let have = if self.gaps == 1 { "row has" } else { "rows have" };
            let made = "no source or no target and made no edge";
            format!("{} {have} {made}: the first is row {row} of {table}", self.gaps)
        }));
        self.report.elapsed = self.started.elapsed();
        Ok((built.version, self.report))
    }

    fn report_faults(
        &mut self,
        mut faults: Vec<Fault>,
        (plan, table): (&Plan, &str),
        first_row: u64,
    ) -> Result<()> {
        faults.sort_by_key(|fault| (fault.row, fault.position));
        self.report.skipped += faults.len() as u64;
        for Fault { row, line, column, position, reason } in faults {
            let (file, row, position) = (table.to_owned(), row - first_row, position as u32 + 1);
            let line = line.unwrap_or(row + 1);
            let advice = plan.advice(&column).map(|advice| format!("; {advice}"));
            let advice = advice.unwrap_or_default();
            let message = format!("row {}, column {column:?}: {reason}{advice}", row + 1);
            if !self.options.skip_errors {
                return Err(Error::Load { file, line, column: position, message });
            }
            if self.report.skipped_lines.len() < SKIPPED_MAX {
                let line = SkippedLine { file, line, column: position, reason: message };
                self.report.skipped_lines.push(line);
            }
        }
        Ok(())
    }
}

/// The first ids of those that were lost.
fn listed(lost: &LostIds) -> String {
    let ids = lost.first.iter().map(|id| format!("{id:?}")).collect::<Vec<_>>().join(", ");
    if lost.is_all() { ids } else { ids + " …" }
}

fn parts_of(
    chunk: &Chunk,
    plan: &Plan,
    interner: &Interner,
    canceller: &Canceller,
) -> Result<Vec<Parts>> {
    let mut parts = Vec::new();
    chunk.for_each(|batch, first_row, mut faults| {
        let mut of_batch = plan.parts(batch, first_row, interner, canceller)?;
        faults.append(&mut of_batch.faults);
        faults.iter_mut().for_each(|fault| fault.line = chunk.line_of(fault.row));
        of_batch.faults = faults;
        parts.push(of_batch);
        // A chunk of a few bytes may have more rows than there can be nodes.
        interner.check()
    })?;
    Ok(parts)
}
