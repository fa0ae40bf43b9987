//! Lowers an entire request, from its syntax tree to a plan: first its declarations and fragments,
//! then its blocks.

use super::variables::{IN_MUTATION, Names, Reader};
use crate::lower::arguments::values::{Held, Values};
use crate::lower::parameter_value::ParameterValue;
use crate::lower::upsert::{UpsertCondition, UpsertPlan};
use crate::syntax::ast::{Block, Fragment, Operation};
use crate::syntax::source::Source;
use crate::syntax::token::Text;
use hexgraph_base::plan::{Filter, Query, VarId};
use hexgraph_base::types::{Error, Result, did_you_mean};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// The uses of a query's variables by the mutations of an upsert. A query alone has none.
#[derive(Default)]
pub(crate) struct Uses<'a> {
    /// The conditions of the mutations, in their order, with `None` for a mutation without a
    /// condition. The conditions of the plan have the same positions.
    pub conditions: &'a [Option<&'a UpsertCondition>],
    /// The variables that their statements name.
    pub names: &'a [String],
}

/// The state of lowering one request.
pub(crate) struct Lowering<'a> {
    /// The text that the tree came from, which names and positions of errors refer to. While a
    /// condition is lowered it is the text of the condition.
    pub(super) source: &'a Source,
    /// The values of the `$variables`.
    pub(super) values: Values<'a>,
    /// The variables that blocks define and read.
    pub(super) names: Names<'a>,
    /// The fragments by name.
    pub(super) fragments: FxHashMap<&'a str, &'a Fragment>,
    /// The fragments that are being expanded, outermost first: one that expands itself is an error.
    pub(super) expanding: Vec<&'a str>,
    /// The variables that the current block reads. Each block starts with none; from `reads` and
    /// `defines` the executor knows in which order the blocks can run.
    pub(super) reads: Vec<VarId>,
    /// The variables that the current block defines.
    pub(super) defines: Vec<VarId>,
    /// The number of fields made so far. It is bounded, since fragments in fragments multiply.
    pub(super) field_count: usize,
    /// The number of selections around the current field.
    pub(super) depth: usize,
}

impl<'a> Lowering<'a> {
    /// Creates the state for a request. `given` has the values of its `$variables`.
    pub(crate) fn new(
        source: &'a Source,
        given: &'a BTreeMap<String, ParameterValue>,
    ) -> Lowering<'a> {
        Lowering {
            source,
            values: Values::new(given),
            names: Names::default(),
            fragments: FxHashMap::default(),
            expanding: Vec::new(),
            reads: Vec::new(),
            defines: Vec::new(),
            field_count: 0,
            depth: 0,
        }
    }

    /// Lowers all operations, and the conditions that use their variables. With a schema block
    /// among the operations the plan is that block alone.
    ///
    /// # Errors
    ///
    /// The first that is met: those of declarations and given values, then those of blocks and
    /// conditions in their order, and last variables that are not defined exactly once, or not
    /// used.
    pub(crate) fn run(
        mut self,
        operations: &'a [Operation],
        uses: &Uses<'a>,
    ) -> Result<UpsertPlan> {
        let mut blocks = Vec::new();
        // Declarations and fragments come first: a block may use those that stand after it.
        self.collect(operations, &mut blocks)?;
        // Where a query declares variables, a value for one that it does not declare is an error.
        self.values.check_given()?;
        if let Some(schema) = self.schema(operations)? {
            let query = Query { schema: Some(schema), ..Query::default() };
            return Ok(UpsertPlan { query, conditions: Vec::new() });
        }
        self.check_block_names(&blocks)?;
        let blocks = blocks.into_iter().map(|block| self.block(block)).collect::<Result<_>>()?;
        let conditions = self.conditions(uses)?;
        self.names.check(self.source)?;
        let query = Query { blocks, variables: self.names.into_variables(), schema: None };
        Ok(UpsertPlan { query, conditions })
    }

    /// Declares the variables and the fragments of all operations, and lists their blocks.
    fn collect(&mut self, operations: &'a [Operation], blocks: &mut Vec<&'a Block>) -> Result<()> {
        for operation in operations {
            match operation {
                Operation::Blocks(list) => blocks.extend(list),
                Operation::Query(query) => {
                    if let Some(declarations) = &query.declarations {
                        if query.name.is_none() && !declarations.is_empty() {
                            let hint = "write `query name(...)`";
                            let message = "only a query with a name can declare variables";
                            return Err(self.error_with(query.at, message, hint));
                        }
                        self.values.declare(self.source, declarations)?;
                    }
                    blocks.extend(&query.blocks);
                }
                Operation::Fragment(fragment) => {
                    // Of two fragments of one name the later one counts.
                    self.fragments.insert(self.text(&fragment.name), fragment);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_block_names(&self, blocks: &[&'a Block]) -> Result<()> {
        let mut seen = FxHashSet::default();
        for block in blocks {
            let name = self.text(&block.name);
            // `var` blocks have no key in the answer, nor has an algorithm whose result goes to a
            // variable; all `shortest` blocks have one key.
            let is_hidden = matches!(name, "var" | "shortest")
                || block.var.is_some() && self.algorithm_of(block).is_some();
            if !is_hidden && !seen.insert(name) {
                let message = format!("two blocks are named `{name}`");
                return Err(self.error_with(block.name.start, message, "rename one of them"));
            }
        }
        Ok(())
    }

    /// Lowers the conditions of the mutations, and counts the variables that their statements name
    /// as read.
    fn conditions(&mut self, uses: &Uses<'a>) -> Result<Vec<Option<Filter>>> {
        // All blocks are lowered by now, so what is read here counts as a use of the variable, and
        // belongs to no block.
        for name in uses.names {
            self.names.read(name, IN_MUTATION, Reader::Other);
        }
        // Conditions have texts of their own, where the positions in their errors are.
        let own = self.source;
        let mut filters = Vec::with_capacity(uses.conditions.len());
        for condition in uses.conditions {
            let filter = match condition {
                Some(condition) => {
                    self.source = &condition.source;
                    condition.filter.as_ref().map(|filter| self.filter(filter)).transpose()?
                }
                None => None,
            };
            filters.push(filter);
        }
        self.source = own;
        Ok(filters)
    }

    /// Returns the content of a fragment of the text.
    pub(super) fn text(&self, text: &'a Text) -> &'a str {
        text.of(self.source.text())
    }

    /// Records that the current block defines a variable.
    pub(super) fn define(&mut self, name: &'a Text) -> VarId {
        let id = self.names.define(self.text(name), name.start);
        self.defines.push(id);
        id
    }

    /// Records that the current block reads a variable.
    pub(super) fn read(&mut self, name: &'a Text) -> VarId {
        self.read_in(name, Reader::Other)
    }

    /// As [`Lowering::read`], and says what reads it.
    pub(super) fn read_in(&mut self, name: &'a Text, reader: Reader) -> VarId {
        let id = self.names.read(self.text(name), name.start, reader);
        self.reads.push(id);
        id
    }

    /// Returns the value of a `$variable` as one text.
    pub(super) fn value_of(&self, variable: &'a Text) -> Result<&'a str> {
        self.held(variable).map(|value| value.text)
    }

    /// Returns the value of a `$variable`. It is an error if it is not declared, or has no value
    /// and needs one.
    pub(super) fn held(&self, variable: &'a Text) -> Result<Held<'a>> {
        let name = self.text(variable);
        if self.values.is_missing(name) {
            let message = format!("variable {name} has no value");
            let hint = "give it one with the request, or a default behind its type";
            return Err(self.error_with(variable.start, message, hint));
        }
        self.values.declared(name).ok_or_else(|| {
            let hint = match did_you_mean(name, self.values.names()) {
                near if near.is_empty() => {
                    format!("declare it: `query name({name}: string) {{ ... }}`")
                }
                near => near,
            };
            self.error_with(variable.start, format!("variable {name} is not declared"), hint)
        })
    }

    pub(super) fn error(&self, at: u32, message: impl Into<String>) -> Error {
        self.error_with(at, message, "")
    }

    pub(super) fn error_with(
        &self,
        at: u32,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Error {
        let at = self.source.position(at);
        Error::syntax(at, message.into()).with_hint(hint)
    }
}
