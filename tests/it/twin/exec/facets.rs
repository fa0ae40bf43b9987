//! Facets: filters, orders, and what shows.

use super::functions::terms_of;
use super::state::{Outcome, Twin, refuse};
use crate::twin::graph::Facets;
use hexgraph::internals::plan;
use hexgraph::internals::plan::{Argument, Call, Comparison, Filter, Function, Operand, TextMatch};
use hexgraph::types::Value;
use std::cmp::Ordering;

/// Whether facets pass a filter.
pub fn passes(filter: &Filter, facets: &Facets) -> Outcome<bool> {
    Ok(match filter {
        Filter::And(parts) => {
            let mut all = true;
            for part in parts {
                all &= passes(part, facets)?;
            }
            all
        }
        Filter::Or(parts) => {
            let mut any = false;
            for part in parts {
                any |= passes(part, facets)?;
            }
            any
        }
        Filter::Not(part) => !passes(part, facets)?,
        Filter::Function(function) => holds(function, facets)?,
        Filter::SemiJoin(_) => unreachable!("DQL has no word for it"),
    })
}

fn holds(function: &Function, facets: &Facets) -> Outcome<bool> {
    match &function.call {
        Call::Compare { op, left: Operand::Predicate(key), arguments } => {
            let [Argument::Text(text)] = arguments.as_slice() else {
                return refuse("one argument for a facet");
            };
            let Some(value) = facets.get(&key.name) else { return Ok(false) };
            let Ok(bound) = Value::parse(text, value.value_type()) else { return Ok(false) };
            if *op == Comparison::Eq {
                return Ok(value.as_ref().equals(bound.as_ref()));
            }
            Ok(match value.as_ref().compare(bound.as_ref()) {
                None => false,
                Some(order) => match op {
                    Comparison::Le => order.is_le(),
                    Comparison::Lt => order.is_lt(),
                    Comparison::Ge => order.is_ge(),
                    _ => order.is_gt(),
                },
            })
        }
        Call::Terms { predicate: key, expects, text, .. } => {
            let Some(Value::String(content)) = facets.get(&key.name) else { return Ok(false) };
            let (have, want) = (terms_of(content), terms_of(text));
            Ok(match expects {
                TextMatch::All => !want.is_empty() && want.is_subset(&have),
                TextMatch::Any => !want.is_disjoint(&have),
            })
        }
        _ => refuse("not a function for facets"),
    }
}

/// How two edges are ordered by their facets. Those without one come last.
pub fn compare(order: &[plan::FacetKey], one: &Facets, other: &Facets) -> Ordering {
    for key in order {
        let result = match (one.get(&key.facet), other.get(&key.facet)) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => return Ordering::Greater,
            (Some(_), None) => return Ordering::Less,
            (Some(one), Some(other)) => {
                one.as_ref().compare(other.as_ref()).unwrap_or(Ordering::Equal)
            }
        };
        if result.is_ne() {
            return if key.descending { result.reverse() } else { result };
        }
    }
    Ordering::Equal
}

/// The facets that were asked for, with their keys in the answer.
pub fn shown<'f>(
    expected: &plan::Facets,
    prefix: &str,
    facets: &'f Facets,
) -> Vec<(String, &'f Value)> {
    let mut all = Vec::new();
    for (name, value) in facets {
        let item = expected.items.iter().find(|item| item.facet == *name);
        let is_ordered = expected.order.iter().any(|key| key.facet == *name);
        if expected.all || item.is_some() || is_ordered {
            let alias = item.and_then(|item| item.alias.clone());
            all.push((alias.unwrap_or_else(|| format!("{prefix}|{name}")), value));
        }
    }
    all
}

impl Twin<'_> {
    /// The facets of the edge that was walked from a node to a target.
    pub fn edge_facets(&self, name: &str, reverse: bool, node: u64, target: u64) -> Facets {
        self.graph.targets(node, name, reverse).remove(&target).unwrap_or_default()
    }
}
