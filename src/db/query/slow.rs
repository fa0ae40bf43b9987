//! The log of slow queries: the last ones that exceeded the limit `slow`, without passwords.

use super::plans::Variables;
use crate::db::operation::Latency;
use hexgraph_dql::{BLANKED, ParameterValue, without_passwords};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// The number of queries that are retained.
const QUERIES_MAX: usize = 128;

/// A longer text is cut to this many bytes, and so are the variables of a query together: with all
/// its queries the log has 1 MiB.
const TEXT_MAX: usize = 4096;

/// A query that exceeded the limit `slow`.
#[derive(Debug, Clone, PartialEq)]
pub struct SlowQuery {
    /// The text with passwords blanked out, cut to 4096 bytes.
    pub text: String,
    /// The values of its variables, as many as have 4096 bytes together with their names; a longer
    /// one is cut, and is a text then. Values that are compared with passwords are blanked out.
    pub variables: Variables,
    /// The times of parsing and processing; encoding has not started yet.
    pub latency: Latency,
    /// When the query was finished.
    pub at: SystemTime,
}

/// The last slow queries, at most 128.
#[derive(Debug, Default)]
pub(in crate::db) struct SlowLog {
    queries: Mutex<VecDeque<SlowQuery>>,
}

impl SlowLog {
    /// Records a query, replacing the oldest one if the log is full.
    pub(in crate::db) fn note(&self, text: &str, variables: &Variables, latency: Latency) {
        let (text, secrets) = without_passwords(text);
        let variables = shortened(variables, |name| secrets.contains(name));
        let at = SystemTime::now();
        let query = SlowQuery { text: cut(&text, TEXT_MAX).to_owned(), variables, latency, at };
        let mut queries = self.queries.lock().unwrap_or_else(PoisonError::into_inner);
        if queries.len() == QUERIES_MAX {
            queries.pop_front();
        }
        queries.push_back(query);
    }

    /// Returns the queries in the log, the newest last.
    pub(in crate::db) fn queries(&self) -> Vec<SlowQuery> {
        let queries = self.queries.lock().unwrap_or_else(PoisonError::into_inner);
        queries.iter().cloned().collect()
    }
}

/// The values of variables as far as there is space for them, without those that are secret.
fn shortened(variables: &Variables, is_secret: impl Fn(&str) -> bool) -> Variables {
    let mut capacity = TEXT_MAX;
    let mut retained = Variables::new();
    for (name, value) in variables {
        let Some(rest) = capacity.checked_sub(name.len()) else { break };
        let value = match is_secret(name) {
            true => ParameterValue::from(BLANKED),
            false if value.text().len() <= rest => value.clone(),
            false => ParameterValue::from(cut(value.text(), rest)),
        };
        // A list of many empty texts has a text that is longer than those: so that bounds them,
        // too.
        capacity = rest.saturating_sub(value.text().len());
        retained.insert(name.clone(), value);
    }
    retained
}

/// The beginning of a text, of complete characters.
fn cut(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_and_many_are_no_burden() {
        let log = SlowLog::default();
        let long = "é".repeat(10_000);
        let mut variables: Variables =
            (0..10_000).map(|n| (format!("$b{n}"), ParameterValue::from("x"))).collect();
        variables.insert("$a".to_owned(), ParameterValue::from(long.clone()));
        log.note(&long, &variables, Latency::default());
        let list = ParameterValue::list(vec![String::new(); 10_000]);
        let short = ParameterValue::list(vec!["x".to_owned(), "y".to_owned()]);
        let variables = [("$a".to_owned(), short.clone()), ("$b".to_owned(), list)].into();
        log.note("", &variables, Latency::default());
        let [first, second] = &log.queries()[..] else { panic!() };
        assert_eq!(first.text, "é".repeat(TEXT_MAX / 2));
        assert_eq!(first.variables["$a"].text(), "é".repeat((TEXT_MAX - 2) / 2));
        assert_eq!(first.variables.len(), 1);
        assert_eq!(second.variables["$a"], short);
        let cut = &second.variables["$b"];
        assert!(cut.items().is_none() && cut.text().len() <= TEXT_MAX, "{cut:?}");
    }
}
