//! Calls of procedures become stages.

use super::resolver::{Names, Resolver};
use crate::ast::{ProcedureCall, Yields};
use crate::execute::plan::{AlgorithmPlan, Expression, Stage};
use crate::execute::slots::Uses;
use crate::procedures::{OptionFault, named};
use crate::span::Span;
use hexgraph_base::types::{Error, Result};

impl<'a> Resolver<'a> {
    /// Adds the stages of a call; returns its columns.
    pub(super) fn procedure(
        &mut self,
        call: &'a ProcedureCall,
        stages: &mut Vec<Stage>,
    ) -> Result<Names> {
        let span = call.name.span;
        let signature = named(&call.name.text).map_err(|it| self.refused(span, it))?;
        let (types, options) = match call.arguments.as_deref().unwrap_or_default() {
            [types] => (types, None),
            [types, options] => (types, Some(options)),
            _ => return Err(self.failure(span, "a procedure has 1 or 2 arguments", "")),
        };
        let types = self.expression(types)?;
        let options = options.map(|it| self.expression(it)).transpose()?;
        let mut columns = Names::new();
        let mut slots = Vec::new();
        match &call.yields {
            Yields::Items(items) => {
                for (field, alias) in items {
                    let index = signature.column(&field.text);
                    let index = index.map_err(|it| self.refused(field.span, it))?;
                    let name = &alias.as_ref().unwrap_or(field).text;
                    let slot = self.bind(name);
                    slots.push((index, slot));
                    columns.push((name.clone(), slot));
                }
            }
            Yields::All | Yields::Absent => {
                for (index, column) in signature.columns().into_iter().enumerate() {
                    let slot = self.bind(column.name);
                    slots.push((index, slot));
                    columns.push((column.name.into(), slot));
                }
            }
        }
        let (own, reads) = (self.new_slot(), reads_of(&types, options.as_ref()));
        let plan = AlgorithmPlan { signature, types, options, columns: slots, own, reads, span };
        stages.push(Stage::Algorithm(Box::new(plan)));
        if let Some(filter) = &call.filter {
            let filter = self.expression(filter)?;
            stages.push(Stage::Filter(filter));
        }
        Ok(columns)
    }

    fn refused(&self, span: Span, fault: OptionFault) -> Error {
        self.failure(span, fault.message, &fault.hint)
    }
}

/// The slots that the arguments read; `None` where these have other values each time.
fn reads_of(types: &Expression, options: Option<&Expression>) -> Option<Vec<usize>> {
    let uses = [Some(types), options].into_iter().flatten().map(Uses::of);
    let mut reads = Vec::new();
    for it in uses {
        if it.is_random {
            return None;
        }
        reads.extend(it.outer());
    }
    Some(reads)
}
