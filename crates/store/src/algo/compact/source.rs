//! The edges of a part of a graph as they are stored, and what is looked up for each.

use super::numbering::Numbering;
use crate::algo::requested::{EdgeSelection, Requested};
use crate::graph::{Direction as Edges, EdgeNumbers};
use hexgraph_base::types::{Error, Result, did_you_mean};
use std::collections::BTreeSet;

/// The edges of a part, with what is looked up for each.
pub(super) struct Source<'w> {
    pub(super) part: &'w EdgeSelection<'w>,
    pub(super) edges: &'w Edges,
    pub(super) numbers: Option<EdgeNumbers<'w>>,
    pub(super) far: Option<Numbering>,
}

impl<'w> Source<'w> {
    pub(super) fn new(part: &'w EdgeSelection<'w>) -> Result<Source<'w>> {
        let name = &part.predicate.def.name;
        let no_edges = || {
            Error::query(format!("`{name}` has values and no edges"))
                .with_hint("an algorithm follows the edges of a predicate of type uid")
        };
        let edges = part.predicate.direction(false).ok_or_else(no_edges)?;
        let numbers = part.weight.and_then(|key| EdgeNumbers::new(part.predicate, key));
        if let Some(key) = part.weight {
            check_facet(name, edges, key)?;
        }
        let far = part.far.clone().map(Numbering::new);
        Ok(Source { part, edges, numbers, far })
    }

    /// What an edge weighs whose facet is `number`: 1 without the facet. Refuses what is no weight.
    #[inline]
    pub(super) fn weight(
        &self,
        (from, to): (u32, u32),
        number: Option<f64>,
        expected: &Requested<'_>,
    ) -> Result<f64> {
        let Some(weight) = number else {
            let numbers = self.numbers.as_ref();
            return match numbers.and_then(|numbers| numbers.other_type(from, to)) {
                Some(kind) => Err(self.wrong_weight(
                    (from, to),
                    &format!("a value of type {}", kind.name()),
                    expected,
                )),
                None => Ok(1.0),
            };
        };
        match (0.0..f64::INFINITY).contains(&weight) {
            true => Ok(weight),
            false => Err(self.wrong_weight((from, to), &format!("the weight {weight}"), expected)),
        }
    }

    #[cold]
    fn wrong_weight(
        &self,
        (from, to): (u32, u32),
        result: &str,
        expected: &Requested<'_>,
    ) -> Error {
        let (name, uid) = (&self.part.predicate.def.name, expected.uid);
        let key = self.part.weight.unwrap_or_default();
        let message =
            format!("the edge `{name}` from {} to {} has {result} in `{key}`", uid(from), uid(to));
        Error::query(message)
            .with_hint("a weight is a number from 0 on: change the edge, or filter it out")
    }

    /// Whether stored edges from a node are in the part at all.
    pub(super) fn takes_row(&self, from: u32) -> bool {
        !self.part.reverse || self.far.as_ref().is_none_or(|far| far.number(from).is_some())
    }

    /// Whether stored edges to a node are in the part.
    pub(super) fn takes_target(&self, to: u32) -> bool {
        self.part.reverse || self.far.as_ref().is_none_or(|far| far.number(to).is_some())
    }
}

/// Refuses a facet that no edge can have, which is mostly a misspelt one.
fn check_facet(predicate: &str, edges: &Edges, key: &str) -> Result<()> {
    let has_edges = !edges.base.targets.is_empty() || !edges.is_clean();
    let stored = edges.base.facets.iter().map(|facet| facet.key.as_str());
    let mut existing: BTreeSet<&str> = stored.collect();
    if !has_edges || existing.contains(key) {
        return Ok(());
    }
    let changed = edges.delta.rows.values().flat_map(|row| row.added.values());
    existing.extend(changed.flat_map(|facets| facets.iter().map(|(other, _)| &**other)));
    if existing.contains(key) {
        return Ok(());
    }
    let message =
        format!("no edge of `{predicate}` has the facet `{key}`, which is to be its weight");
    let hint = did_you_mean(key, existing.iter().copied());
    let keys: Vec<&str> = existing.into_iter().collect();
    let hint = match (hint.is_empty(), keys.as_slice()) {
        (false, _) => hint,
        (true, []) => "its edges have no facets: leave the weight out".to_owned(),
        (true, keys) => format!("its edges have: {}", keys.join(", ")),
    };
    Err(Error::query(message).with_hint(hint))
}
