//! The log of slow queries: the last ones that took longer than the limit `slow`, without passwords.

use super::plans::Variables;
use crate::db::operation::Latency;
use hexgraph_dql::{BLANKED, Given, without_passwords};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// The number of queries that are kept.
const QUERIES_MAX: usize = 128;

/// A longer text is cut to this many bytes.
const TEXT_MAX: usize = 4096;

/// A query that took longer than the limit `slow`.
#[derive(Debug, Clone, PartialEq)]
pub struct SlowQuery {
    /// The text with passwords blanked out, cut to 4096 bytes.
    pub text: String,
    /// The values of its variables. Values that are compared with passwords are blanked out.
    pub variables: Variables,
    /// The times of parsing and processing; encoding is not known yet.
    pub latency: Latency,
    /// The moment when the query was finished.
    pub at: SystemTime,
}

/// The last slow queries, at most 128.
#[derive(Debug, Default)]
pub(in crate::db) struct SlowLog {
    queries: Mutex<VecDeque<SlowQuery>>,
}

impl SlowLog {
    /// Keeps a query, in the place of the oldest where there is no room.
    pub(in crate::db) fn note(&self, text: &str, variables: &Variables, latency: Latency) {
        let (text, secrets) = without_passwords(text);
        // A cut inside of a character would panic: go back to where one begins.
        let mut end = text.len().min(TEXT_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut variables = variables.clone();
        for (name, value) in &mut variables {
            if secrets.contains(name.as_str()) {
                *value = Given::from(BLANKED.to_owned());
            }
        }
        let at = SystemTime::now();
        let query = SlowQuery { text: text[..end].to_owned(), variables, latency, at };
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
