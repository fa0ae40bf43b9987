//! A table of questions and columns, each with the factor to the frozen graph.

use std::fmt;
use std::time::Duration;

/// The times of questions, in columns.
pub struct Table {
    names: Vec<&'static str>,
    columns: Vec<(String, Vec<(Duration, Duration)>)>,
}

impl Table {
    /// No columns yet.
    pub fn new(names: impl Iterator<Item = &'static str>) -> Table {
        Table { names: names.collect(), columns: Vec::new() }
    }

    /// Adds a column: the times of the frozen and of the changed graph.
    pub fn add(&mut self, name: &str, times: Vec<(Duration, Duration)>) {
        self.columns.push((name.to_owned(), times));
    }
}

/// Whether a time is beyond what is requested: 1.3 times the frozen graph, and after very many
/// commits twice that, but not more than a millisecond on top.
fn misses(column: &str, frozen: Duration, changed: Duration) -> bool {
    let allowed = match column {
        "100000" => (frozen * 2).min(frozen.mul_f64(1.3).max(frozen + Duration::from_millis(1))),
        _ => frozen.mul_f64(1.3),
    };
    allowed < changed
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "| us | frozen |")?;
        self.columns.iter().try_for_each(|(name, _)| write!(f, " {name} |"))?;
        let mut missed = 0;
        for (row, name) in self.names.iter().enumerate() {
            let frozen: Vec<f64> =
                self.columns.iter().map(|(_, times)| times[row].0.as_secs_f64() * 1e6).collect();
            let least = frozen.iter().copied().fold(f64::INFINITY, f64::min);
            write!(f, "\n| {name} | {least:.1} |")?;
            for ((column, times), frozen) in self.columns.iter().zip(frozen) {
                let changed = times[row].1.as_secs_f64() * 1e6;
                let mark = if misses(column, times[row].0, times[row].1) { " !" } else { "" };
                missed += usize::from(!mark.is_empty());
                write!(f, " {changed:.1} ({:.2}){mark} |", changed / frozen)?;
            }
        }
        write!(f, "\n{missed} beyond what is wanted (!)")
    }
}
