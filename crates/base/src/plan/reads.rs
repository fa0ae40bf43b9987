//! Collects the predicates that a query reads.
//!
//! Two versions of the graph that agree on these predicates give the same answer to the query. The
//! set is computed by one walk over the plan. A part of the plan whose predicates depend on the
//! data, such as `expand`, counts as reading every predicate.

use super::{
    Block, BlockKind, Call, Cascade, Expand, Field, FieldKind, Filter, Function, OrderKey, Query,
};
use std::collections::BTreeSet;

/// A set of predicates that were read: either some by name, or all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reads {
    is_everything: bool,
    names: BTreeSet<String>,
}

impl Reads {
    /// Every predicate counts as read.
    pub fn everything() -> Reads {
        Reads { is_everything: true, ..Reads::default() }
    }

    /// Returns the names of the predicates, or `None` when every predicate counts as read.
    pub fn names(&self) -> Option<&BTreeSet<String>> {
        (!self.is_everything).then_some(&self.names)
    }

    /// Adds a predicate.
    pub fn add(&mut self, name: &str) {
        if !self.names.contains(name) {
            self.names.insert(name.to_owned());
        }
    }

    /// Adds all predicates of another set.
    pub fn add_all(&mut self, others: Reads) {
        self.is_everything |= others.is_everything;
        self.names.extend(others.names);
    }

    /// Adds the predicates that a query reads. Takes time linear in the size of the plan.
    pub fn add_query(&mut self, query: &Query) {
        let Query { blocks, variables: _, schema } = query;
        // A schema request lists every predicate.
        self.is_everything |= schema.is_some();
        blocks.iter().for_each(|block| self.block(block));
    }

    fn block(&mut self, block: &Block) {
        if let Some(root) = &block.root {
            self.function(root);
        }
        if let BlockKind::Algorithm(call) = &block.kind {
            call.predicates().for_each(|name| self.add(name));
        }
        self.filter(block.filter.as_ref());
        self.order(&block.order);
        self.cascade(block.cascade.as_ref());
        for key in block.group_by.iter().flat_map(|group| &group.keys) {
            self.add(key.predicate.trim_start_matches('~'));
        }
        block.fields.iter().for_each(|field| self.field(field));
    }

    fn field(&mut self, field: &Field) {
        match &field.kind {
            FieldKind::Predicate { name, .. }
            | FieldKind::Count { name, .. }
            | FieldKind::AggregatePredicate { name, .. }
            | FieldKind::CheckPassword { name, .. } => self.add(name),
            // `expand` names predicates by the types of the nodes or by the values of a variable.
            FieldKind::Expand(Expand::All | Expand::Types(_) | Expand::Var(_)) => {
                self.is_everything = true;
            }
            FieldKind::Uid
            | FieldKind::CountUid
            | FieldKind::Val(_)
            | FieldKind::AggregateVar(..)
            | FieldKind::Math(_) => {}
        }
        self.filter(field.filter.as_ref());
        // The names in `field.facets` and `field.facet_filter` are those of facets, which belong to
        // the predicate.
        self.order(&field.order);
        self.cascade(field.cascade.as_ref());
        for key in field.group_by.iter().flat_map(|group| &group.keys) {
            self.add(key.predicate.trim_start_matches('~'));
        }
        field.fields.iter().for_each(|field| self.field(field));
    }

    fn order(&mut self, order: &[OrderKey]) {
        for key in order {
            if let OrderKey::Predicate { predicate, .. } = key {
                self.add(predicate);
            }
        }
    }

    fn cascade(&mut self, cascade: Option<&Cascade>) {
        let Some(Cascade::Fields(fields)) = cascade else { return };
        for field in fields {
            // An entry may be `~name` or `name@en`; only the name in between is a predicate.
            let name = field.trim_start_matches('~');
            self.add(name.split_once('@').map_or(name, |(name, _)| name));
        }
    }

    fn filter(&mut self, filter: Option<&Filter>) {
        match filter {
            None => {}
            Some(Filter::And(parts) | Filter::Or(parts)) => {
                parts.iter().for_each(|part| self.filter(Some(part)));
            }
            Some(Filter::Not(part)) => self.filter(Some(part)),
            Some(Filter::Function(function)) => self.function(function),
            Some(Filter::SemiJoin(join)) => {
                self.add(&join.predicate);
                self.filter(join.filter.as_ref());
            }
        }
    }

    fn function(&mut self, function: &Function) {
        // The types of a node are values of a predicate, too; a node as the target of a search
        // represents its own vector.
        if let Some(name) = function.predicate() {
            self.add(name);
        }
        if let Call::SimilarTo { admits, .. } = &function.call {
            self.filter(admits.as_deref());
        }
    }
}
