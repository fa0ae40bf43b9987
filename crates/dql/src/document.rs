//! A text that was read: it can be planned many times, with other variables each time.

use super::lower::{Lowering, Uses};
use super::source::Source;
use super::upsert::{Condition, UpsertPlan};
use super::{Given, ast};
use hexgraph_base::plan;
use hexgraph_base::types::Result;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A text that was read. Sharing and planning it needs no copy of the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    pub(super) source: Arc<Source>,
    pub(super) operations: Vec<ast::Operation>,
}

impl Document {
    /// A text without any block.
    pub fn empty() -> Document {
        Document { source: Arc::new(Source::new("")), operations: Vec::new() }
    }

    /// Checks the text with these variables (`$name` to value) and says what to do.
    ///
    /// # Errors
    /// [`hexgraph_base::types::Error::Syntax`] where a rule of the language is broken, which includes
    /// wrong values of variables.
    pub fn plan(&self, variables: &BTreeMap<String, Given>) -> Result<plan::Query> {
        let lowering = Lowering::new(&self.source, variables);
        Ok(lowering.run(&self.operations, &Uses::default())?.query)
    }

    /// [`Document::plan`] for a query whose variables mutations use, too: in conditions, and by
    /// name in `uid(name)` and `val(name)`.
    ///
    /// # Errors
    /// As [`Document::plan`].
    pub fn plan_upsert(
        &self,
        variables: &BTreeMap<String, Given>,
        conditions: &[Option<&Condition>],
        names: &[String],
    ) -> Result<UpsertPlan> {
        let lowering = Lowering::new(&self.source, variables);
        lowering.run(&self.operations, &Uses { conditions, names })
    }

    /// The text that was read.
    pub fn text(&self) -> &str {
        self.source.text()
    }
}
