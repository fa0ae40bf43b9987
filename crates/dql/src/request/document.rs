//! A parsed text. It can be planned many times, with different values of its `$variables`.

use crate::lower::parameter_value::ParameterValue;
use crate::lower::upsert::{UpsertCondition, UpsertPlan};
use crate::lower::{Lowering, Uses};
use crate::syntax::ast;
use crate::syntax::source::Source;
use hexgraph_base::plan;
use hexgraph_base::types::Result;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A parsed text. Clones have a common source text, and planning does not copy it.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    pub(crate) source: Arc<Source>,
    pub(crate) operations: Vec<ast::Operation>,
}

impl Document {
    /// Creates the document of an empty text, which has no block.
    pub fn empty() -> Document {
        Document { source: Arc::new(Source::new("")), operations: Vec::new() }
    }

    /// Returns the first declared `$variable` that has neither a value among these nor a default.
    pub fn missing(&self, variables: &BTreeMap<String, ParameterValue>) -> Option<&str> {
        let open = self.declarations().flatten().filter(|it| it.default.is_none());
        let mut names = open.map(|it| it.name.of(self.source.text()));
        names.find(|name| !variables.contains_key(*name))
    }

    /// Returns the first of these variables that is not declared, and the names that are. Without
    /// any declaration a variable counts as declared where the text has its name: some arguments
    /// accept it then.
    pub fn undeclared<'a>(
        &self,
        variables: &'a BTreeMap<String, ParameterValue>,
    ) -> Option<(&'a str, Vec<&str>)> {
        let text = self.source.text();
        let declared = self.declarations().flatten().map(|it| it.name.of(text));
        let is_free = self.declarations().next().is_none();
        let is_declared = |name: &str| {
            declared.clone().any(|declared| declared == name) || is_free && text.contains(name)
        };
        let name = variables.keys().find(|name| !is_declared(name))?;
        Some((name, declared.collect()))
    }

    /// The lists of declarations of the queries that have one.
    fn declarations(&self) -> impl Iterator<Item = &[ast::Declaration]> + Clone {
        self.operations.iter().filter_map(|operation| match operation {
            ast::Operation::Query(query) => query.declarations.as_deref(),
            _ => None,
        })
    }

    /// Checks the rules of the language and returns the plan of the query. `variables` maps each
    /// `$name` to its value.
    ///
    /// # Errors
    /// [`hexgraph_base::types::Error::Syntax`] where a rule of the language is broken, which
    /// includes wrong values of variables.
    pub fn plan(&self, variables: &BTreeMap<String, ParameterValue>) -> Result<plan::Query> {
        let lowering = Lowering::new(&self.source, variables);
        Ok(lowering.run(&self.operations, &Uses::default())?.query)
    }

    /// Plans a query whose variables mutations use as well: `conditions` are those of the
    /// mutations, and `names` the variables that their statements use in `uid(name)` and
    /// `val(name)`. A variable that only they use counts as used.
    ///
    /// # Errors
    /// As [`Document::plan`].
    pub fn plan_upsert(
        &self,
        variables: &BTreeMap<String, ParameterValue>,
        conditions: &[Option<&UpsertCondition>],
        names: &[String],
    ) -> Result<UpsertPlan> {
        let lowering = Lowering::new(&self.source, variables);
        lowering.run(&self.operations, &Uses { conditions, names })
    }

    /// Returns the source text.
    pub fn text(&self) -> &str {
        self.source.text()
    }
}
