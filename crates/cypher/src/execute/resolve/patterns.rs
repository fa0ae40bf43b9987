//! Patterns of a match become nodes, hops between them, and conditions; `order` brings them into
//! steps.

use super::order::{Condition, Draft, DraftHop, DraftPath, DraftSelection, IndexDraft, UidDraft};
use super::resolver::Resolver;
use crate::ast::{
    CompareOp, Expr, ExprKind, LabelExpr, Length, Name, NodePattern, PathPattern,
    RelationshipPattern, Selector,
};
use crate::execute::graph::NameKind;
use crate::execute::plan::{
    Expression, IndexSeek, LabelTest, MatchPlan, Operation, PathElement, SeekTest, Selection,
    Shortness, SlotIndex, ValueStep,
};
use crate::execute::run::Execution;
use crate::execute::seeks::index_seeks_of;
use crate::execute::seeks::seeks_of;
use crate::span::Span;
use hexgraph_base::types::{Result, stack};
use hexgraph_scalar::Value;
use std::mem;
use std::sync::Arc;

impl<'a> Resolver<'a> {
    /// Resolves the patterns of a match and its condition.
    pub(super) fn match_plan(
        &mut self,
        paths: &'a [PathPattern],
        filter: Option<&'a Expr>,
    ) -> Result<MatchPlan> {
        let mut draft = Draft::default();
        let mut parts = Vec::new();
        for path in paths {
            self.path(path, &mut draft, &mut parts)?;
        }
        for (slot, part) in parts {
            self.conditions_of(slot, part, &mut draft)?;
        }
        if let Some(filter) = filter {
            self.conjuncts(filter, &mut draft)?;
        }
        self.used = mem::take(&mut draft.used);
        let assigned = draft.assigned.clone();
        let execution = Execution::new(self.graph, self.text, self.context)?;
        Ok(MatchPlan { steps: draft.steps(&execution)?, assigned })
    }

    /// Adds a path. What its elements require is added later, when all names are bound.
    fn path(
        &mut self,
        path: &'a PathPattern,
        draft: &mut Draft,
        parts: &mut Vec<(SlotIndex, Part<'a>)>,
    ) -> Result<()> {
        let shortness = shortness(path.selector);
        let is_simple = matches!(&path.steps[..], [(it, _)] if it.length.is_some());
        let (Some(shortness), false) = (shortness, is_simple) else {
            return self.chain(path, shortness, draft, parts);
        };
        let mut inside = Draft { bound: draft.bound.clone(), ..Draft::default() };
        inside.bound.extend(&draft.assigned);
        let mut inside_parts = Vec::new();
        self.chain(path, None, &mut inside, &mut inside_parts)?;
        for (slot, part) in inside_parts {
            self.conditions_of(slot, part, &mut inside)?;
        }
        let selection = Selection {
            shortness,
            start: inside.endpoints.0,
            end: inside.endpoints.1,
            retained: inside.assigned.clone(),
            relationships: inside.hops.iter().map(|it| it.relationship).collect(),
        };
        draft.used.extend(mem::take(&mut inside.used));
        draft.assigned.extend(&inside.assigned);
        draft.selections.push(DraftSelection { draft: inside, selection });
        Ok(())
    }

    fn chain(
        &mut self,
        path: &'a PathPattern,
        shortness: Option<Shortness>,
        draft: &mut Draft,
        parts: &mut Vec<(SlotIndex, Part<'a>)>,
    ) -> Result<()> {
        let start = self.node(&path.start, draft, parts);
        let mut elements = Vec::new();
        let mut left = start;
        let is_named = path.variable.is_some();
        for (pattern, node) in &path.steps {
            let right = self.node(node, draft, parts);
            let relationship = self.hop(pattern, (left, right), shortness, draft, parts)?;
            if is_named && let Some(hop) = draft.hops.last_mut() {
                hop.is_listed = true;
            }
            elements.push(match pattern.length {
                None => PathElement::One(relationship),
                Some(_) => PathElement::List(relationship),
            });
            left = right;
        }
        draft.endpoints = (start, left);
        if let Some(name) = &path.variable {
            let slot = self.bind(&name.text);
            draft.assigned.push(slot);
            draft.paths.push(DraftPath { slot, start, elements });
        }
        Ok(())
    }

    /// The slot of an element, and whether the element has it from before the match.
    fn element(&mut self, name: Option<&Name>, draft: &mut Draft) -> SlotIndex {
        let Some(name) = name else {
            let slot = self.new_slot();
            draft.assigned.push(slot);
            return slot;
        };
        if let Some(slot) = self.slot(&name.text) {
            draft.used.push(slot);
            if !draft.assigned.contains(&slot) {
                draft.bound.push(slot);
            }
            return slot;
        }
        let slot = self.bind(&name.text);
        draft.assigned.push(slot);
        slot
    }

    fn node(
        &mut self,
        pattern: &'a NodePattern,
        draft: &mut Draft,
        parts: &mut Vec<(SlotIndex, Part<'a>)>,
    ) -> SlotIndex {
        let slot = self.element(pattern.variable.as_ref(), draft);
        if !draft.nodes.contains(&slot) {
            draft.nodes.push(slot);
        }
        self.nodes.insert(slot);
        parts.push((slot, Part::Node(pattern)));
        slot
    }

    fn hop(
        &mut self,
        pattern: &'a RelationshipPattern,
        (left, right): (SlotIndex, SlotIndex),
        shortest: Option<Shortness>,
        draft: &mut Draft,
        parts: &mut Vec<(SlotIndex, Part<'a>)>,
    ) -> Result<SlotIndex> {
        self.graph.check()?;
        if let Some(types) = &pattern.types {
            self.note_labels(types, NameKind::RelationshipType)?;
        }
        let types = pattern.types.as_ref().map(|it| self.types_of(it)).transpose()?;
        let bounds = pattern.length.map(bounds);
        let name = pattern.variable.as_ref();
        let old = name.and_then(|it| self.slot(&it.text)).filter(|_| bounds.is_some());
        let relationship = match old {
            Some(old) => {
                // The list that is bound already has to be the one that is walked.
                let slot = self.element(None, draft);
                let same = vec![(CompareOp::Equal, Operation::Slot(old).at(pattern.span))];
                let walked = Box::new(Operation::Slot(slot).at(pattern.span));
                draft.used.push(old);
                draft.conditions.push(Condition {
                    expression: Operation::Compare(walked, same).at(pattern.span),
                    needs: vec![slot, old],
                });
                slot
            }
            None => self.element(name, draft),
        };
        let each = if bounds.is_some() { self.new_slot() } else { relationship };
        parts.push((each, Part::Relationship(pattern, draft.hops.len())));
        draft.hops.push(DraftHop {
            left,
            right,
            relationship,
            direction: pattern.direction,
            types,
            bounds,
            each,
            conditions: Vec::new(),
            shortest,
            is_listed: name.is_some(),
        });
        Ok(relationship)
    }

    /// Adds what the labels, properties and the condition inside of an element require.
    fn conditions_of(&mut self, slot: SlotIndex, part: Part<'a>, draft: &mut Draft) -> Result<()> {
        let (properties, filter, hop, name) = match part {
            Part::Node(it) => {
                if let Some(labels) = &it.labels {
                    self.note_labels(labels, NameKind::Label)?;
                    self.labels(slot, labels, it.span, draft);
                }
                self.note_properties(it.properties.as_deref());
                (it.properties.as_deref(), it.filter.as_deref(), None, None)
            }
            Part::Relationship(it, hop) => {
                let hop = it.length.map(|_| hop);
                let name = it.variable.as_ref().filter(|_| hop.is_some());
                (it.properties.as_deref(), it.filter.as_deref(), hop, name)
            }
        };
        let before = draft.conditions.len();
        if let Some(properties) = properties {
            self.properties(slot, properties, draft)?;
        }
        if let Some(filter) = filter {
            self.scoped(|resolver| {
                if let Some(name) = name {
                    // Inside of the brackets the name means each relationship of the list.
                    resolver.bind_to(&name.text, slot);
                }
                resolver.conjuncts(filter, draft)
            })?;
        }
        if let Some(hop) = hop {
            let conditions = draft.conditions.drain(before..).map(|it| it.expression);
            draft.hops[hop].conditions.extend(conditions);
        }
        Ok(())
    }

    fn labels(&self, slot: SlotIndex, labels: &'a LabelExpr, span: Span, draft: &mut Draft) {
        required_labels(labels, &mut |label| draft.labels.push((slot, label)));
        // Nodes only are tested, so the types of relationships that would pass are not needed.
        let test =
            vec![ValueStep::HasLabels(LabelTest { labels: labels.clone(), types: Vec::new() })];
        let expression = Operation::Steps(Box::new(Operation::Slot(slot).at(span)), test).at(span);
        draft.conditions.push(Condition { expression, needs: vec![slot] });
    }

    /// Adds an equality for each entry of a map, or of a parameter that is a map.
    fn properties(&mut self, slot: SlotIndex, map: &'a Expr, draft: &mut Draft) -> Result<()> {
        let span = map.span;
        let entries: Vec<(Arc<str>, Expression, Vec<SlotIndex>)> = match &map.kind {
            ExprKind::Map(entries) => {
                let mut result = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    let (value, needs) = self.with_needs(value, draft)?;
                    result.push(((&*key.text).into(), value, needs));
                }
                result
            }
            _ => match self.expression(map)?.operation {
                Operation::Constant(Value::Map(map)) => {
                    let entries = map.entries().iter().cloned();
                    entries
                        .map(|(key, value)| (key, Operation::Constant(value).at(span), Vec::new()))
                        .collect()
                }
                _ => {
                    let message = "the properties of a pattern are not a map";
                    return Err(self.failure(span, message, "write `{name: value}`"));
                }
            },
        };
        for (property, value, mut needs) in entries {
            let test = SeekTest::Equal(value.clone());
            let seek = IndexSeek { property: property.clone(), test };
            draft.index_seeks.push(IndexDraft { slot, seek, needs: needs.clone() });
            let steps = vec![ValueStep::Property(property)];
            let read = Operation::Steps(Box::new(Operation::Slot(slot).at(span)), steps).at(span);
            let equal = Operation::Compare(Box::new(read), vec![(CompareOp::Equal, value)]);
            needs.push(slot);
            draft.conditions.push(Condition { expression: equal.at(span), needs });
        }
        Ok(())
    }

    /// Resolves an expression; returns the slots that it reads.
    fn with_needs(
        &mut self,
        expr: &'a Expr,
        draft: &mut Draft,
    ) -> Result<(Expression, Vec<SlotIndex>)> {
        self.used.clear();
        let expression = self.expression(expr)?;
        let mut needs = mem::take(&mut self.used);
        needs.sort_unstable();
        needs.dedup();
        draft.used.extend(&needs);
        Ok((expression, needs))
    }

    /// Adds each part of a conjunction as a condition of its own.
    fn conjuncts(&mut self, filter: &'a Expr, draft: &mut Draft) -> Result<()> {
        stack::check()?;
        if let ExprKind::And(list) = &filter.kind {
            return list.iter().try_for_each(|it| self.conjuncts(it, draft));
        }
        let (expression, needs) = self.with_needs(filter, draft)?;
        let needs_of = |slot| needs.iter().copied().filter(|it| *it != slot).collect();
        for (slot, seek) in index_seeks_of(&expression) {
            draft.index_seeks.push(IndexDraft { slot, seek, needs: needs_of(slot) });
        }
        for (slot, seek) in seeks_of(&expression) {
            draft.uid_seeks.push(UidDraft { slot, seek, needs: needs_of(slot) });
        }
        if let Operation::Steps(value, steps) = &expression.operation
            && let (Operation::Slot(slot), [ValueStep::HasLabels(test)]) =
                (&value.operation, &steps[..])
        {
            required_labels(&test.labels, &mut |label| draft.labels.push((*slot, label)));
        }
        draft.conditions.push(Condition { expression, needs });
        Ok(())
    }

    /// The ids of the types that a condition lets pass, in ascending order.
    pub(super) fn types_of(&self, labels: &LabelExpr) -> Result<Vec<u32>> {
        stack::check()?;
        let all = || Ok::<_, hexgraph_base::types::Error>(self.graph.relationship_types()?.len());
        Ok(match labels {
            LabelExpr::Label(name) => self.graph.types_named(&name.text)?,
            LabelExpr::Any(_) => (0..all()? as u32).collect(),
            LabelExpr::Not(inside) => {
                let refused = self.types_of(inside)?;
                (0..all()? as u32).filter(|it| !refused.contains(it)).collect()
            }
            LabelExpr::And(list) => {
                let mut result: Vec<u32> = (0..all()? as u32).collect();
                for it in list {
                    let types = self.types_of(it)?;
                    result.retain(|it| types.contains(it));
                }
                result
            }
            LabelExpr::Or(list) => {
                let mut result = Vec::new();
                for it in list {
                    result.extend(self.types_of(it)?);
                }
                result.sort_unstable();
                result.dedup();
                result
            }
        })
    }
}

/// What an element requires besides its position.
#[derive(Clone, Copy)]
enum Part<'a> {
    Node(&'a NodePattern),
    /// With the index of its hop.
    Relationship(&'a RelationshipPattern, usize),
}

/// The labels that every node has that passes.
fn required_labels(labels: &LabelExpr, add: &mut impl FnMut(Arc<str>)) {
    match labels {
        LabelExpr::Label(name) => add((&*name.text).into()),
        LabelExpr::And(list) => {
            for it in list {
                if let LabelExpr::Label(name) = it {
                    add((&*name.text).into());
                }
            }
        }
        _ => {}
    }
}

fn bounds(length: Length) -> (u64, u64) {
    let least = if length.quantifier { 0 } else { 1 };
    (length.min.unwrap_or(least), length.max.unwrap_or(u64::MAX))
}

fn shortness(selector: Selector) -> Option<Shortness> {
    match selector {
        Selector::All => None,
        Selector::ShortestPath | Selector::AnyShortest => Some(Shortness::Paths(1)),
        Selector::AllShortestPaths | Selector::AllShortest => Some(Shortness::Groups(1)),
        Selector::Shortest(count) => Some(Shortness::Paths(count)),
        Selector::ShortestGroups(count) => Some(Shortness::Groups(count)),
    }
}
