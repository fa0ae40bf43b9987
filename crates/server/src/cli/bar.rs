//! Shows the progress of a load, and the time of a request, on a terminal.

use super::interrupt::Interrupt;
use hexgraph::db::{LoadProgress, RequestContext};
use std::io;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time after which work shows its progress. Shorter work shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);

const WIDTH: usize = 30;

/// What stops a load, and shows its progress where the standard error is a terminal.
pub(super) fn control_with_bar(interrupt: Interrupt, progress: &LoadProgress) -> RequestContext {
    let progress = progress.clone();
    control_with_line(interrupt, move |elapsed| {
        text(progress.done(), progress.total(), progress.records(), elapsed)
    })
}

/// What stops a request, and shows the time since it began where the standard error is a terminal.
pub(super) fn control_with_clock(interrupt: Interrupt) -> RequestContext {
    control_with_line(interrupt, |elapsed| {
        format!("running … {} s (Ctrl-C stops it)", elapsed.as_secs())
    })
}

/// What stops work, and shows a line about it where the standard error is a terminal.
fn control_with_line(
    interrupt: Interrupt,
    line: impl Fn(Duration) -> String + Send + Sync + 'static,
) -> RequestContext {
    if !io::stderr().is_terminal() {
        return interrupt.control();
    }
    let started = Instant::now();
    let shown = Mutex::new(String::new());
    RequestContext::new().with_poll(move || {
        let elapsed = started.elapsed();
        let line = line(elapsed);
        let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        if PATIENCE <= elapsed && *shown != line {
            // A terminal that is gone has nobody to report to.
            let _ = write!(io::stderr(), "\r{line:width$}", width = shown.len());
            *shown = line;
        }
        interrupt.came()
    })
}

/// Removes the bar.
pub(super) fn clear_bar() {
    if io::stderr().is_terminal() {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
}

fn text(done: u64, total: u64, records: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    let rate = records as f64 / seconds.max(1e-9);
    if total == 0 {
        return format!("{records} records, {} a second", rounded(rate));
    }
    if total <= done {
        return format!("building the graph of {records} records … {seconds:.0} s");
    }
    let fraction = done as f64 / total as f64;
    let filled = (fraction * WIDTH as f64) as usize;
    let left = if done == 0 { f64::NAN } else { seconds * (1.0 - fraction) / fraction };
    let bar = format!("{}{}", "#".repeat(filled), ".".repeat(WIDTH - filled));
    let left = if left.is_finite() { format!("{left:.0} s left") } else { String::new() };
    format!("reading [{bar}] {:3.0}%  {} records/s  {left}", fraction * 100.0, rounded(rate))
}

fn rounded(rate: f64) -> String {
    match rate {
        rate if rate < 1e3 => format!("{rate:.0}"),
        rate if rate < 1e6 => format!("{:.0}k", rate / 1e3),
        rate => format!("{:.1}M", rate / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_rate_and_time_left() {
        let at = |done, total, records| text(done, total, records, Duration::from_secs(2));
        let quarter = at(25, 100, 5_000_000);
        assert!(quarter.contains(" 25%  2.5M records/s  6 s left"), "{quarter}");
        assert_eq!(at(100, 100, 7), "building the graph of 7 records … 2 s");
        assert_eq!(at(0, 0, 6000), "6000 records, 3k a second");
    }
}
