//! The queries that took long, for who wants to know which to look at.

use super::plans::Variables;
use crate::db::operation::Latency;
use hexgraph_dql::{BLANKED, Given, without_passwords};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// How many are kept.
const QUERIES_MAX: usize = 128;

/// The longest part of a text that is kept, in bytes.
const TEXT_MAX: usize = 4096;

/// A query that took longer than the limit `slow`.
#[derive(Debug, Clone, PartialEq)]
pub struct SlowQuery {
    /// The text without passwords; the end of a long one is left out.
    pub text: String,
    /// The values of its variables, without those that passwords are compared with.
    pub variables: Variables,
    /// The times it took, without encoding.
    pub latency: Latency,
    /// When it was done.
    pub at: SystemTime,
}

/// The last slow queries.
#[derive(Debug, Default)]
pub(in crate::db) struct SlowLog {
    queries: Mutex<VecDeque<SlowQuery>>,
}

impl SlowLog {
    /// Keeps a query, in the place of the oldest where there is no room.
    pub(in crate::db) fn note(&self, text: &str, variables: &Variables, latency: Latency) {
        let (text, secrets) = without_passwords(text);
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

    /// The queries that are kept, the newest last.
    pub(in crate::db) fn queries(&self) -> Vec<SlowQuery> {
        let queries = self.queries.lock().unwrap_or_else(PoisonError::into_inner);
        queries.iter().cloned().collect()
    }
}
