//! Slots, expressions and patterns as a query would write them.

use super::literals::literal;
use super::outline::Outline;
use crate::ast::{CompareOp, Direction};
use crate::execute::plan::{
    Aggregate, Bounds, Edge, Expression, Hop, Operation, Pattern, SlotIndex, SortKey, ValueStep,
    VarIndex, Walk,
};
use crate::span::Span;
use hexgraph_base::types::Result;

/// The longest text of an expression, in characters.
const TEXT_MAX: usize = 60;

impl Outline<'_, '_> {
    /// The name of a slot. One without a name is numbered, but for those that no row has.
    pub(super) fn slot(&self, slot: SlotIndex) -> String {
        match self.names.get(&slot) {
            Some(name) => name.to_string(),
            None if slot < self.width => format!("_{slot}"),
            None => "_".to_owned(),
        }
    }

    pub(super) fn slots(&self, slots: &[SlotIndex]) -> String {
        let names: Vec<String> = slots.iter().map(|it| self.slot(*it)).collect();
        names.join(", ")
    }

    /// An expression: what the plan made of a pattern in the words of a condition, else as it is
    /// written.
    pub(super) fn expression(&self, expression: &Expression) -> String {
        let span = expression.span;
        match &expression.operation {
            Operation::Slot(slot) => self.slot(*slot),
            Operation::Constant(value) => literal(value, TEXT_MAX),
            Operation::Steps(value, steps) => match (&value.operation, &steps[..]) {
                (Operation::Slot(slot), [ValueStep::HasLabels(test)]) => {
                    format!("{}:{}", self.slot(*slot), test.labels)
                }
                (Operation::Slot(slot), [ValueStep::IsNull(true)]) => {
                    format!("{} IS NOT NULL", self.slot(*slot))
                }
                (Operation::Slot(slot), [ValueStep::Property(name)]) => {
                    format!("{}.{name}", self.slot(*slot))
                }
                _ => self.written(span),
            },
            Operation::Compare(one, rest) => match &rest[..] {
                [(CompareOp::Equal, other)] => {
                    format!("{} = {}", self.expression(one), self.expression(other))
                }
                _ => self.written(span),
            },
            _ => self.written(span),
        }
    }

    /// A part of the text on one line.
    pub(super) fn written(&self, span: Span) -> String {
        let (start, end) = (span.start as usize, span.end as usize);
        let text = self.execution.text.get(start..end).unwrap_or_default();
        cut(&text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Expressions, each with the name of its slot where that is another one.
    pub(super) fn items(&self, items: &[(SlotIndex, Expression)]) -> String {
        let item = |(slot, it): &(SlotIndex, Expression)| {
            let text = self.expression(it);
            match self.names.get(slot) {
                Some(name) if **name != *text => format!("{text} AS {name}"),
                _ => text,
            }
        };
        items.iter().map(item).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn aggregates(&self, aggregates: &[Aggregate]) -> String {
        let text = |it: &Aggregate| self.written(it.span);
        aggregates.iter().map(text).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn sort_keys(&self, keys: &[SortKey]) -> String {
        let text = |it: &SortKey| {
            let descending = if it.descending { " DESC" } else { "" };
            let nulls = match it.nulls_first {
                same if same == it.descending => "",
                true => " NULLS FIRST",
                false => " NULLS LAST",
            };
            format!("{}{descending}{nulls}", self.expression(&it.key))
        };
        keys.iter().map(text).collect::<Vec<_>>().join(", ")
    }

    /// What is skipped, and how many rows follow.
    pub(super) fn bounds(&self, bounds: &Bounds) -> String {
        let skip = bounds.skip.as_ref().map(|it| format!("skip {}", self.expression(it)));
        let limit = bounds.limit.as_ref().map(|it| format!("limit {}", self.expression(it)));
        skip.into_iter().chain(limit).collect::<Vec<_>>().join(", ")
    }

    /// `(a)-[r:knows]->(b)`.
    pub(super) fn hop(&self, hop: &Hop) -> Result<String> {
        let name = self.names.get(&hop.relationship).map_or("", |name| name);
        let relationship = format!("{name}{}", self.types(hop.types.as_deref())?);
        Ok(self.arrow(hop, &relationship))
    }

    /// The comparisons that restrict a hop.
    pub(super) fn range(&self, hop: &Hop) -> String {
        let Some(range) = &hop.range else { return String::new() };
        let element = self.slot(if range.is_of_node { hop.to } else { hop.relationship });
        let bound = |(op, value): &(CompareOp, Expression)| {
            format!("{element}.{} {op} {}", range.property, self.expression(value))
        };
        let bounds: Vec<String> = range.bounds.iter().map(bound).collect();
        format!(" where {}", bounds.join(" AND "))
    }

    /// `(a)-[:knows*1..3]->(b)`.
    pub(super) fn walk(&self, walk: &Walk) -> Result<String> {
        let name = self.names.get(&walk.hop.relationship).map_or("", |name| name);
        let max = if walk.max == u64::MAX { String::new() } else { walk.max.to_string() };
        let types = self.types(walk.hop.types.as_deref())?;
        Ok(self.arrow(&walk.hop, &format!("{name}{types}*{}..{max}", walk.min)))
    }

    fn arrow(&self, hop: &Hop, relationship: &str) -> String {
        let (left, right) = match hop.direction {
            Direction::Out => ("-", "->"),
            Direction::In => ("<-", "-"),
            Direction::Either => ("-", "-"),
        };
        let (from, to) = (self.slot(hop.from), self.slot(hop.to));
        format!("({from}){left}[{relationship}]{right}({to})")
    }

    /// `:knows|likes`; nothing for all types.
    fn types(&self, types: Option<&[u32]>) -> Result<String> {
        let Some(types) = types else { return Ok(String::new()) };
        let graph = self.execution.graph;
        let names: Result<Vec<_>> = types.iter().map(|it| graph.type_name(*it)).collect();
        Ok(format!(":{}", cut(&names?.join("|"))))
    }

    /// The name of a variable of a pattern.
    pub(super) fn variable(&self, pattern: &Pattern, variable: VarIndex) -> String {
        self.slot(pattern.variables[variable].slot)
    }

    /// `(a)-[r:knows]->(b)`.
    pub(super) fn edge(&self, pattern: &Pattern, edge: &Edge) -> Result<String> {
        let is_all = edge.types.len() == self.execution.graph.relationship_types()?.len();
        let types = self.types(Some(&edge.types).filter(|_| !is_all).map(|it| &it[..]))?;
        let (from, to) = (self.variable(pattern, edge.from), self.variable(pattern, edge.to));
        let right = if edge.either { "-" } else { "->" };
        let name = self.names.get(&edge.slot).map_or("", |name| name);
        Ok(format!("({from})-[{name}{types}]{right}({to})"))
    }
}

/// The beginning of a text.
fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
