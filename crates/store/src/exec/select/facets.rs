//! Facets of edges: filters, order, variables.

use crate::exec::choose::compare::argument_value;
use crate::exec::columns::read::Langs;
use crate::exec::control::context::Context;
use crate::exec::control::tree::{EdgeField, ValueMap};
use crate::exec::math::sums::Sum;
use crate::graph::{Direction, Predicate};
use hexgraph_base::plan::{
    Argument, Call, Comparison, FacetKey, Field, Filter, Operand, TextMatch,
};
use hexgraph_base::types::{Error, Result, ValueRef, stack};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The facets of edges in either direction: they are retained with the forward edges.
#[derive(Clone, Copy)]
pub(crate) struct EdgeFacets<'a> {
    forward: &'a Direction,
    reverse: bool,
}

impl<'a> EdgeFacets<'a> {
    /// The facets of a predicate's edges; `None` when it has values or no facets at all.
    pub(crate) fn new(predicate: &'a Predicate, reverse: bool) -> Option<EdgeFacets<'a>> {
        let forward = predicate.direction(false)?;
        forward.has_facets().then_some(EdgeFacets { forward, reverse })
    }

    /// One facet of the edge that was walked from `node` to `target`.
    pub(crate) fn get(&self, node: u32, target: u32, key: &str) -> Option<ValueRef<'a>> {
        let (from, to) = if self.reverse { (target, node) } else { (node, target) };
        self.forward.facet(from, to, key)
    }

    /// All facets of that edge, by key.
    pub(crate) fn all(&self, node: u32, target: u32) -> Vec<(&'a str, ValueRef<'a>)> {
        let (from, to) = if self.reverse { (target, node) } else { (node, target) };
        self.forward.facets(from, to)
    }
}

impl<'a> Context<'a> {
    /// True when the facets that `get` returns by name pass a facet filter.
    pub(crate) fn facets_pass<'f, 'v>(
        &self,
        filter: &'f Filter,
        get: &dyn Fn(&str) -> Option<ValueRef<'v>>,
    ) -> Result<bool>
    where
        'a: 'f,
    {
        stack::require();
        match filter {
            Filter::And(parts) => {
                for part in parts {
                    if !self.facets_pass(part, get)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Filter::Or(parts) => {
                for part in parts {
                    if self.facets_pass(part, get)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Filter::Not(part) => self.facets_pass(part, get).map(|passes| !passes),
            Filter::SemiJoin(_) => Err(Error::query("a facet has no targets")),
            Filter::Function(function) => match &function.call {
                Call::Compare { op, left: Operand::Predicate(facet), arguments } => {
                    let Some(value) = get(&facet.name) else { return Ok(false) };
                    let [Argument::Text(text)] = arguments.as_slice() else {
                        return Err(Error::query("a facet is compared with exactly one value"));
                    };
                    // An argument that is none of the facet's type makes the comparison false.
                    let expected = argument_value(text, value.value_type());
                    Ok(expected.is_ok_and(|expected| match op {
                        Comparison::Eq => value.equals(expected.as_ref()),
                        op => {
                            let order = value.compare(expected.as_ref());
                            order.is_some_and(|order| op.holds(order))
                        }
                    }))
                }
                Call::Terms { predicate: facet, expects, text, .. } => {
                    Ok(get(&facet.name).is_some_and(|value| has_terms(value, text, *expects)))
                }
                _ => Err(Error::query(
                    "facets can be filtered by eq, le, lt, ge, gt, allofterms and anyofterms only",
                )),
            },
        }
    }

    /// Sorts the targets of one node by facets; edges without the facet come last.
    pub(crate) fn order_by_facets(
        &self,
        order: &[FacetKey],
        facets: Option<EdgeFacets<'_>>,
        node: u32,
        targets: &mut [u32],
    ) {
        let Some(facets) = facets else { return };
        targets.sort_by(|&one, &other| {
            for key in order {
                let one = facets.get(node, one, &key.facet);
                let other = facets.get(node, other, &key.facet);
                let result = match (one, other) {
                    (None, None) => Ordering::Equal,
                    (None, Some(_)) => return Ordering::Greater,
                    (Some(_), None) => return Ordering::Less,
                    (Some(one), Some(other)) => one.compare(other).unwrap_or(Ordering::Equal),
                };
                if result.is_ne() {
                    return if key.descending { result.reverse() } else { result };
                }
            }
            Ordering::Equal
        });
    }

    /// The values that a facet variable takes: by target, summed over the edges that lead there.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when several edges with a facet that is no number have one target.
    pub(crate) fn facet_values(
        &self,
        facet: &str,
        edges: &EdgeField,
        nodes: &[u32],
    ) -> Result<ValueMap> {
        let Some(facets) = EdgeFacets::new(&edges.predicate, edges.reverse) else {
            return Ok(ValueMap::default());
        };
        let is_number =
            |value: &ValueRef<'_>| matches!(value, ValueRef::Int(_) | ValueRef::Float(_));
        let mut sums: BTreeMap<u32, (bool, Sum)> = BTreeMap::new();
        for (position, &node) in nodes.iter().enumerate() {
            for &target in edges.targets_of(position) {
                let Some(value) = facets.get(node, target, facet) else { continue };
                match sums.entry(target) {
                    Entry::Vacant(entry) => {
                        entry.insert((is_number(&value), Sum::of(value)));
                    }
                    Entry::Occupied(mut entry) => match entry.get_mut() {
                        (true, sum) if is_number(&value) => sum.add(value),
                        _ => return Err(no_sum(facet)),
                    },
                }
            }
        }
        let values = sums.into_iter().map(|(node, (_, sum))| Ok((node, sum.value()?)));
        Ok(ValueMap::from_sorted(values.collect::<Result<Vec<_>>>()?))
    }

    /// The positions of the values that pass a facet filter, where Dgraph heeds such a filter at
    /// all: on lists, on predicates with languages, and with a projection.
    pub(crate) fn shown_values<'f>(
        &self,
        field: &'f Field,
        predicate: &Predicate,
        langs: &[String],
        nodes: &[u32],
    ) -> Result<Option<FxHashMap<u32, Vec<usize>>>>
    where
        'a: 'f,
    {
        if field.facet_filter.is_none() {
            return Ok(None);
        }
        if !predicate.def.list && !predicate.def.lang && field.facets.is_none() {
            return Ok(None);
        }
        self.passing_values(field, predicate, langs, nodes).map(Some)
    }

    /// The positions of the values that pass the field's facet filter, of each node that has any;
    /// of `@*` the positions of the languages.
    pub(crate) fn passing_values(
        &self,
        field: &Field,
        predicate: &Predicate,
        langs: &[String],
        nodes: &[u32],
    ) -> Result<FxHashMap<u32, Vec<usize>>> {
        let Some(filter) = &field.facet_filter else { return Ok(FxHashMap::default()) };
        let mut shown = FxHashMap::default();
        let in_all = langs.iter().any(|lang| lang == "*");
        for &node in nodes {
            let mut positions = Vec::new();
            if in_all {
                for (lang, part) in predicate.langs().iter().enumerate() {
                    let list = part.values(node);
                    let passes = |key: &str| list.facet(0, key);
                    if !list.is_empty() && self.facets_pass(filter, &passes)? {
                        positions.push(lang);
                    }
                }
            } else if let Some((_, list)) = predicate.values_in(Langs::First(langs), node) {
                for position in 0..list.len() {
                    if self.facets_pass(filter, &|key: &str| list.facet(position, key))? {
                        positions.push(position);
                    }
                }
            }
            if !positions.is_empty() {
                shown.insert(node, positions);
            }
        }
        Ok(shown)
    }
}

/// The error for a facet that is no number, of several edges to one node.
fn no_sum(facet: &str) -> Error {
    let message =
        format!("several edges with facet `{facet}` have one target, so a variable can't hold it");
    Error::query(message).with_hint("only numbers are summed up")
}

/// True when a text facet has all, or any, of the terms of a text.
fn has_terms(value: ValueRef<'_>, text: &str, expects: TextMatch) -> bool {
    let ValueRef::String(content) = value else { return false };
    let tokens = |text: &str| {
        let mut tokens = Vec::new();
        let value = ValueRef::String(text);
        let kind = crate::index::IndexKind::Term;
        crate::index::tokens_of(
            kind,
            value,
            hexgraph_base::types::ValueType::String,
            "",
            &mut tokens,
        );
        tokens
    };
    let (have, want) = (tokens(content), tokens(text));
    match expects {
        TextMatch::All => !want.is_empty() && want.iter().all(|token| have.contains(token)),
        TextMatch::Any => want.iter().any(|token| have.contains(token)),
    }
}
