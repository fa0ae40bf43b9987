//! Calls of procedures become stages.

use super::resolver::{Names, Resolver};
use crate::ast::{ProcedureCall, Yields};
use crate::execute::plan::{AlgorithmPlan, Expression, Operation, SlotIndex, Stage};
use crate::execute::slots::Uses;
use crate::procedures::{NameList, NamedProcedure, OptionFault, Procedure, named};
use crate::span::Span;
use hexgraph_base::types::{Error, Result};
use hexgraph_scalar::Value;

impl<'a> Resolver<'a> {
    /// Adds the stages of a call; returns its columns.
    pub(super) fn procedure(
        &mut self,
        call: &'a ProcedureCall,
        stages: &mut Vec<Stage>,
    ) -> Result<Names> {
        let span = call.name.span;
        let procedure = named(&call.name.text).map_err(|it| self.refused(span, it))?;
        let columns = match procedure {
            NamedProcedure::Algorithm(signature) => self.algorithm(call, signature, stages)?,
            NamedProcedure::Names(list) => self.name_list(call, list, stages)?,
        };
        if let Some(filter) = &call.filter {
            let filter = self.expression(filter)?;
            stages.push(Stage::Filter(filter));
        }
        Ok(columns)
    }

    fn algorithm(
        &mut self,
        call: &'a ProcedureCall,
        signature: Procedure,
        stages: &mut Vec<Stage>,
    ) -> Result<Names> {
        let span = call.name.span;
        let (types, options) = match call.arguments.as_deref().unwrap_or_default() {
            [types] => (types, None),
            [types, options] => (types, Some(options)),
            _ => return Err(self.failure(span, "a procedure has 1 or 2 arguments", "")),
        };
        let types = self.expression(types)?;
        let options = options.map(|it| self.expression(it)).transpose()?;
        let (columns, slots) = self.yielded(call, NamedProcedure::Algorithm(signature))?;
        let (own, reads) = (self.new_slot(), reads_of(&types, options.as_ref()));
        let plan = AlgorithmPlan { signature, types, options, columns: slots, own, reads, span };
        stages.push(Stage::Algorithm(Box::new(plan)));
        Ok(columns)
    }

    /// Names do not change within a query, so their list is a constant of the plan.
    fn name_list(
        &mut self,
        call: &'a ProcedureCall,
        list: NameList,
        stages: &mut Vec<Stage>,
    ) -> Result<Names> {
        let span = call.name.span;
        let names = self.graph.names(list)?.into_iter().map(Value::String).collect();
        let names = Value::list(names).map_err(|it| self.failure(span, it.to_string(), ""))?;
        let (columns, slots) = self.yielded(call, NamedProcedure::Names(list))?;
        let Some(((_, first), others)) = slots.split_first() else { return Ok(columns) };
        let list = Operation::Constant(names).at(span);
        stages.push(Stage::Unwind { list, slot: *first });
        // The same column under another name.
        let copy = |(_, slot): &(usize, SlotIndex)| (*slot, Operation::Slot(*first).at(span));
        if !others.is_empty() {
            stages.push(Stage::Project(others.iter().map(copy).collect()));
        }
        Ok(columns)
    }

    /// Binds the columns that a call names, or all. Returns them, and the slot of each with its
    /// index among the columns of the procedure.
    fn yielded(
        &mut self,
        call: &'a ProcedureCall,
        procedure: NamedProcedure,
    ) -> Result<(Names, Vec<(usize, SlotIndex)>)> {
        let mut columns = Names::new();
        let mut slots = Vec::new();
        match &call.yields {
            Yields::Items(items) => {
                for (field, alias) in items {
                    let index = procedure.column(&field.text);
                    let index = index.map_err(|it| self.refused(field.span, it))?;
                    let name = &alias.as_ref().unwrap_or(field).text;
                    let slot = self.bind(name);
                    slots.push((index, slot));
                    columns.push((name.clone(), slot));
                }
            }
            Yields::All | Yields::Absent => {
                for (index, name) in procedure.columns().into_iter().enumerate() {
                    let slot = self.bind(name);
                    slots.push((index, slot));
                    columns.push((name.into(), slot));
                }
            }
        }
        Ok((columns, slots))
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
