//! Values that a mutation stores as less than they are, as Dgraph does.

use super::refusal::{Refusal, about_value};
use hexgraph_base::formats::Subject;
use hexgraph_base::types::{Loss, Uid};
use std::fmt;

/// The values of a mutation that the types of their predicates do not hold in full.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Losses {
    /// The number of such values.
    pub count: u64,
    /// The first of them.
    pub first: Option<LostValue>,
}

/// A value that was stored as less than it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostValue {
    /// The predicate.
    pub predicate: String,
    /// The node.
    pub node: Uid,
    /// The value, and what is stored.
    pub loss: Loss,
}

impl Losses {
    /// Counts a value.
    pub(super) fn add(&mut self, predicate: &str, node: Uid, loss: Loss) {
        self.count += 1;
        let lost = || LostValue { predicate: predicate.to_owned(), node, loss };
        self.first.get_or_insert_with(lost);
    }

    /// The warning about them, worded as a load refuses such a value; `None` if there are none.
    pub fn warning(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        let stored = &first.loss.stored;
        Some(match self.count {
            1 => format!("a value was converted with loss, and {stored} is stored: {first}"),
            count => format!(
                "{count} values were converted with loss. For the first of them {stored} is stored: {first}"
            ),
        })
    }
}

impl fmt::Display for LostValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let about = about_value(&self.predicate, Some(self.loss.to), Subject::Uid(self.node.0));
        write!(f, "{} ({about})", Refusal::Lossy(self.loss.clone()))
    }
}
