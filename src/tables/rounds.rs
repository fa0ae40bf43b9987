//! Reads a table in rounds: while all threads make parts of some pieces, the next are read.

use super::parts::Fault;
use super::plan::Parts;
use super::plan::Plan;
use super::source::Piece;
use super::source::Pieces;
use crate::db::Canceller;
use crate::graph::ColumnLoad;
use crate::graph::Interner;
use crate::graph::LoadReport;
use crate::graph::SkippedLine;
use crate::graph::Version;
use crate::tables::options::TableOptions;
use crate::types::Error;
use crate::types::Result;
use rayon::prelude::*;
use std::time::Instant;

/// So many skipped cells are reported.
const SKIPPED_MAX: usize = 1000;

/// Loads a table.
///
/// # Errors
///
/// [`Error::Load`] with the first cell that can't be stored, unless such are skipped;
/// [`Error::Limit`] when it is stopped, or for too many nodes.
pub fn load_pieces(
    mut load: ColumnLoad,
    plan: &Plan,
    mut pieces: Pieces,
    options: &TableOptions,
    canceller: &Canceller,
) -> Result<(Version, LoadReport)> {
    let started = Instant::now();
    let mut report = LoadReport::default();
    let mut rows = 0;
    let round_len = 2 * rayon::current_num_threads();
    let mut round = pieces.take(round_len)?;
    load.expect_rows(round.iter().map(|piece| piece.len).sum());
    while !round.is_empty() {
        load.interner().check()?;
        let interner = load.interner();
        let (done, next) = rayon::join(
            || -> Result<Vec<Vec<Parts>>> {
                round.par_iter().map(|piece| parts_of(piece, plan, interner)).collect()
            },
            || pieces.take(round_len),
        );
        for mut parts in done?.into_iter().flatten() {
            rows += parts.rows;
            let faults = std::mem::take(&mut parts.faults);
            report_faults(faults, pieces.name(), options.skip_errors, &mut report)?;
            plan.add(parts, &mut load);
        }
        options.progress.set(rows, pieces.total);
        canceller.check()?;
        round = next?;
    }
    let (next, triples, nodes) = load.finish()?;
    (report.triples, report.nodes) = (triples, nodes);
    report.seconds = started.elapsed().as_secs_f64();
    Ok((next, report))
}

fn parts_of(piece: &Piece, plan: &Plan, interner: &Interner) -> Result<Vec<Parts>> {
    let mut parts = Vec::new();
    piece.for_each(|batch, first_row| parts.push(plan.parts(batch, first_row, interner)))?;
    Ok(parts)
}

fn report_faults(
    mut faults: Vec<Fault>,
    table: &str,
    skip: bool,
    report: &mut LoadReport,
) -> Result<()> {
    faults.sort_by_key(|fault| fault.row);
    report.skipped_count += faults.len() as u64;
    for Fault { row, column, place, reason } in faults {
        let (file, line, place) = (table.to_owned(), row + 1, place as u32 + 1);
        let message = format!("row {line}, column {column:?}: {reason}");
        if !skip {
            return Err(Error::Load { file, line, column: place, message });
        }
        if report.skipped.len() < SKIPPED_MAX {
            report.skipped.push(SkippedLine { file, line, column: place, reason: message });
        }
    }
    Ok(())
}
