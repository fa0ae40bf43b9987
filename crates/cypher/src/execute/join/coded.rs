//! Expressions of one variable are evaluated once for each distinct value of the property that they
//! read, not once for each node.

use super::candidates::Reserved;
use crate::execute::adjacency::{Adjacency, PropertyColumn};
use crate::execute::dictionary::Dictionary;
use crate::execute::plan::{Expression, Operation, SlotIndex, ValueStep};
use crate::execute::rewrite::{rewritten, with_steps};
use crate::execute::run::{Execution, Row};
use hexgraph_base::types::Result;
use hexgraph_scalar::Value;
use std::sync::Arc;

/// The code of a property's value whose result is not computed yet.
const UNKNOWN: u32 = u32::MAX;

/// An expression of one variable, and the codes of its values.
pub(super) struct CodedExpression<'p, 'g> {
    original: &'p Expression,
    slot: SlotIndex,
    property: Option<ByProperty<'g>>,
    /// The distinct results.
    results: Dictionary,
    reserved: Reserved<'g>,
    reserved_bytes: usize,
}

/// What the values of expressions are read with.
pub(super) struct Reader<'r, 'a> {
    pub(super) execution: &'r Execution<'a>,
    pub(super) graph: &'r dyn Adjacency,
    pub(super) row: &'r mut Row,
}

/// An expression that reads its variable by one property only.
struct ByProperty<'g> {
    column: Box<dyn PropertyColumn + 'g>,
    /// The expression with the property's value in the slot of the variable; `None` for the
    /// property alone.
    expression: Option<Expression>,
    /// The distinct values of the property, where the expression is another one.
    values: Dictionary,
    /// The code of the result for each code of a value.
    result_of: Vec<u32>,
}

impl<'p, 'g> CodedExpression<'p, 'g> {
    pub(super) fn new(
        original: &'p Expression,
        slot: SlotIndex,
        graph: &'g dyn Adjacency,
    ) -> Result<CodedExpression<'p, 'g>> {
        let mut reads = Reads { name: None, by_day: true };
        let property = by_property(original, slot, &mut reads).and_then(|expression| {
            let expression = (!is_slot(&expression, slot)).then_some(expression);
            let column = graph.property(&reads.name?, reads.by_day);
            let (values, result_of) = (Dictionary::exact(), Vec::new());
            Some(ByProperty { column, expression, values, result_of })
        });
        let (results, reserved) = (Dictionary::new(), Reserved::new(graph, 0)?);
        Ok(CodedExpression { original, slot, property, results, reserved, reserved_bytes: 0 })
    }

    /// The same with a code for each representation of a value: 1 and 1.0.
    pub(super) fn exact(self) -> CodedExpression<'p, 'g> {
        CodedExpression { results: Dictionary::exact(), ..self }
    }

    /// Appends the codes for some ascending nodes. No node may come twice.
    pub(super) fn read(
        &mut self,
        reader: &mut Reader<'_, '_>,
        nodes: &[u32],
        into: &mut Vec<u32>,
    ) -> Result<()> {
        if !self.read_column(reader, nodes, into)? {
            let Reader { execution, graph, row } = reader;
            let is_node = is_slot(self.original, self.slot);
            for node in nodes {
                execution.tick()?;
                row[self.slot] = Value::Node(graph.node(*node));
                let code = match is_node {
                    true => self.results.unique(row[self.slot].clone()),
                    false => self.results.value(execution.value(self.original, row)?),
                };
                into.push(code);
            }
        }
        let bytes = self.results.bytes() + self.property.as_ref().map_or(0, |it| it.values.bytes());
        self.reserved.grow(bytes - self.reserved_bytes)?;
        self.reserved_bytes = bytes;
        Ok(())
    }

    /// The same by the column of a property; false where there is none.
    fn read_column(
        &mut self,
        Reader { execution, row, .. }: &mut Reader<'_, '_>,
        nodes: &[u32],
        into: &mut Vec<u32>,
    ) -> Result<bool> {
        let Some(ByProperty { column, expression, values, result_of }) = &mut self.property else {
            return Ok(false);
        };
        let Some(expression) = expression else {
            return column.codes(nodes, &mut self.results, into);
        };
        let start = into.len();
        if !column.codes(nodes, values, into)? {
            return Ok(false);
        }
        result_of.resize(values.values().len(), UNKNOWN);
        for code in &mut into[start..] {
            let result = &mut result_of[*code as usize];
            if *result == UNKNOWN {
                execution.tick()?;
                row[self.slot] = values.values()[*code as usize].clone();
                *result = self.results.value(execution.value(expression, row)?);
            }
            *code = *result;
        }
        Ok(true)
    }

    /// Whether a code represents equal values with different representations.
    pub(super) fn has_merged(&self) -> bool {
        self.results.has_merged()
    }

    /// The value of a code.
    pub(super) fn value(&self, code: u32) -> &Value {
        &self.results.values()[code as usize]
    }

    /// All values by their codes.
    pub(super) fn values(&self) -> &[Value] {
        self.results.values()
    }
}

fn is_slot(expression: &Expression, slot: SlotIndex) -> bool {
    matches!(expression.operation, Operation::Slot(it) if it == slot)
}

/// What an expression reads of a node.
struct Reads {
    /// The only property.
    name: Option<Arc<str>>,
    /// Whether an instant of the property is read by its day only.
    by_day: bool,
}

/// The components of an instant that depend on its day.
const COMPONENTS_OF_DAYS: [&str; 10] = [
    "year",
    "quarter",
    "month",
    "week",
    "weekYear",
    "day",
    "ordinalDay",
    "dayOfWeek",
    "weekDay",
    "dayOfQuarter",
];

/// The expression with a property's value instead of the node in a slot. `None` where it reads more
/// of the node than one property, or has parts with variables of their own.
fn by_property(expression: &Expression, slot: SlotIndex, reads: &mut Reads) -> Option<Expression> {
    match &expression.operation {
        Operation::Slot(it) if *it == slot => None,
        Operation::Steps(first, steps) => match steps.split_first() {
            Some((ValueStep::Property(property), rest)) if is_slot(first, slot) => {
                if reads.name.get_or_insert_with(|| Arc::clone(property)) != property {
                    return None;
                }
                let is_of_day = |it: &ValueStep| match it {
                    ValueStep::Property(name) => COMPONENTS_OF_DAYS.contains(&&**name),
                    _ => false,
                };
                reads.by_day &= rest.first().is_some_and(is_of_day);
                let each = &mut |it: &Expression| by_property(it, slot, reads);
                with_steps((**first).clone(), rest, expression.span, each)
            }
            _ => rewritten(expression, &mut |it| by_property(it, slot, reads)),
        },
        _ => rewritten(expression, &mut |it| by_property(it, slot, reads)),
    }
}
