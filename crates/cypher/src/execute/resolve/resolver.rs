//! What is needed while a text is resolved: the names that are visible, and the next free slot.

use crate::ast::Expr;
use crate::execute::failure::failure;
use crate::execute::graph::Graph;
use crate::execute::plan::{Aggregate, Expression, Operation, SlotIndex};
use crate::span::Span;
use hexgraph_base::types::{Error, Result, stack};
use hexgraph_scalar::{Context, Map, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::mem;

/// The names that a clause sees, in the order in which they are bound, with their slots.
pub(super) type Names = Vec<(Box<str>, SlotIndex)>;

/// Resolves one text.
pub(in crate::execute) struct Resolver<'a> {
    pub(super) graph: &'a dyn Graph,
    pub(super) text: &'a str,
    parameters: &'a Map,
    /// What constants are evaluated with.
    pub(super) context: &'a Context,
    pub(super) names: Names,
    width: SlotIndex,
    /// Expressions whose values are in a slot already: grouping keys and projected items.
    pub(super) computed: Vec<(&'a Expr, SlotIndex)>,
    /// The aggregates of the projection that is resolved; `None` where there can't be one.
    pub(super) aggregates: Option<Vec<Aggregate>>,
    /// The slots of all variables that were resolved since it was cleared.
    pub(super) used: Vec<SlotIndex>,
    /// The slots of the nodes of patterns.
    pub(super) nodes: FxHashSet<SlotIndex>,
    /// The first name of each slot that has one.
    slot_names: FxHashMap<SlotIndex, Box<str>>,
}

/// What the rows of a query look like.
#[derive(Debug, Clone, Default)]
pub(in crate::execute) struct Shape {
    /// How many slots a row has.
    pub(in crate::execute) width: usize,
    /// The names of the columns.
    pub(in crate::execute) columns: Vec<Box<str>>,
}

impl<'a> Resolver<'a> {
    /// Creates a resolver that sees no names.
    pub(in crate::execute) fn new(
        graph: &'a dyn Graph,
        text: &'a str,
        parameters: &'a Map,
        context: &'a Context,
    ) -> Resolver<'a> {
        Resolver {
            graph,
            text,
            parameters,
            context,
            names: Names::new(),
            width: 0,
            computed: Vec::new(),
            aggregates: None,
            used: Vec::new(),
            nodes: FxHashSet::default(),
            slot_names: FxHashMap::default(),
        }
    }

    /// How many slots a row needs.
    pub(in crate::execute) fn width(&self) -> usize {
        self.width
    }

    /// Returns a slot that nothing uses.
    pub(super) fn new_slot(&mut self) -> SlotIndex {
        self.width += 1;
        self.width - 1
    }

    /// Binds a name to a new slot; it hides an older one of that name.
    pub(super) fn bind(&mut self, name: &str) -> SlotIndex {
        let slot = self.new_slot();
        self.bind_to(name, slot);
        slot
    }

    /// Binds a name to a slot.
    pub(super) fn bind_to(&mut self, name: &str, slot: SlotIndex) {
        self.names.retain(|(other, _)| **other != *name);
        self.names.push((name.into(), slot));
        self.slot_names.entry(slot).or_insert_with(|| name.into());
    }

    /// Names the slots of columns that have no name yet.
    pub(super) fn name_slots(&mut self, columns: &Names) {
        for (name, slot) in columns {
            self.slot_names.entry(*slot).or_insert_with(|| name.clone());
        }
    }

    /// The first name of each slot that has one.
    pub(in crate::execute) fn into_slot_names(self) -> FxHashMap<SlotIndex, Box<str>> {
        self.slot_names
    }

    /// The slot of a name.
    pub(super) fn slot(&self, name: &str) -> Option<SlotIndex> {
        self.names.iter().rev().find(|(other, _)| **other == *name).map(|(_, slot)| *slot)
    }

    /// The value of a variable.
    pub(super) fn variable(&mut self, name: &str, span: Span) -> Result<Operation> {
        let Some(slot) = self.slot(name) else {
            let message = format!("variable `{name}` is not defined");
            return Err(self.failure(span, message, ""));
        };
        self.used.push(slot);
        Ok(Operation::Slot(slot))
    }

    /// The value of a parameter.
    pub(super) fn parameter(&self, name: &str, span: Span) -> Result<Value> {
        self.parameters.get(name).cloned().ok_or_else(|| {
            let message = format!("parameter `${name}` has no value");
            self.failure(span, message, "pass it in the parameters")
        })
    }

    /// Resolves something with names of its own, which are forgotten afterwards.
    pub(super) fn scoped<T>(&mut self, inside: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        stack::check()?;
        let names = self.names.clone();
        let computed = self.computed.clone();
        let result = inside(self);
        self.names = names;
        self.computed = computed;
        result
    }

    /// As [`Resolver::scoped`], where aggregates of the projection around it are not visible.
    pub(super) fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let aggregates = mem::take(&mut self.aggregates);
        let result = self.scoped(inside);
        self.aggregates = aggregates;
        result
    }

    /// Binds the variable of a comprehension. Computed expressions that mention the name mean
    /// another variable.
    pub(super) fn bind_local(&mut self, name: &str) -> SlotIndex {
        self.computed.retain(|(expr, _)| !expr.to_string().contains(name));
        self.bind(name)
    }

    /// An error at a position.
    pub(super) fn failure(&self, span: Span, message: impl Into<String>, hint: &str) -> Error {
        failure(self.text, span, message, hint)
    }
}

impl Operation {
    /// Adds where the expression is.
    pub(in crate::execute) fn at(self, span: Span) -> Expression {
        Expression { operation: self, span }
    }
}
