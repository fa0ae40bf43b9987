//! The nodes of which some trigrams of a text are those of a pattern.

use crate::exec::control::context::Context;
use crate::exec::select::batches::Members;
use crate::graph::{IndexView, Predicate};
use crate::index::{IndexKind, TokenKey};
use crate::storage::NodeSet;
use hexgraph_base::plan::{Call, Function};
use hexgraph_base::text::TrigramQuery;
use hexgraph_base::types::{Result, stack};

impl<'a> Context<'a> {
    /// All nodes of which a text matches the pattern of a filter, where trigrams leave at most `most` nodes to be tested; `None` where they leave more, or
    /// there is no index of them, and for any other function. O(trigrams), or what these leave.
    ///
    /// # Errors
    ///
    /// Those of the pattern, and the end of the request's time.
    pub(in crate::exec) fn matching_set<'f>(
        &self,
        function: &'f Function,
        most: usize,
    ) -> Result<Option<NodeSet>>
    where
        'a: 'f,
    {
        let Call::Regexp { predicate: name, pattern, flags } = &function.call else {
            return Ok(None);
        };
        // What is wrong with the name or the pattern is told by the test.
        let Ok(Some(predicate)) = self.resolve(name) else { return Ok(None) };
        let views: Option<Vec<IndexView<'_>>> =
            trigram_views(predicate, name.lang.as_deref()).collect();
        let Some(views) = views else { return Ok(None) };
        let Ok(query) = hexgraph_base::text::trigram_query(pattern, flags) else { return Ok(None) };
        let found = views.iter().map(|view| trigram_len(*view, &query));
        let found = found.reduce(|one, other| Some(one?.saturating_add(other?)));
        let pays = found.flatten().is_some_and(|found| found <= most);
        let is_known = !matches!(query, TrigramQuery::Any);
        if !is_known || !self.pick(pays, most, || vec![true, false]) {
            return Ok(None);
        }
        let sets = views.into_iter().map(|view| trigram_set(view, &query));
        let found = sets.reduce(|one, other| one.or(&other)).unwrap_or_default();
        let tester = self.tester(function)?;
        Ok(Some(NodeSet::from(self.keep_passing(Members::Set(&found), &tester)?)))
    }
}

/// The indexes of trigrams of what a predicate has in a language; `None` for a part that has none.
pub(super) fn trigram_views<'p>(
    predicate: &'p Predicate,
    lang: Option<&str>,
) -> impl Iterator<Item = Option<IndexView<'p>>> {
    predicate.parts(lang).iter().map(|part| part.index(IndexKind::Trigram))
}

/// The most nodes that may match a pattern, as far as trigrams tell; `None` where they do not.
fn trigram_len(view: IndexView<'_>, query: &TrigramQuery) -> Option<usize> {
    stack::require();
    match query {
        TrigramQuery::Any => None,
        TrigramQuery::None => Some(0),
        TrigramQuery::Trigram(trigram) => {
            Some(view.nodes(&TokenKey::Int(i64::from(*trigram))).len())
        }
        TrigramQuery::And(parts) => parts.iter().filter_map(|part| trigram_len(view, part)).min(),
        TrigramQuery::Or(parts) => parts.iter().map(|part| trigram_len(view, part)).sum(),
    }
}

/// The nodes that may match a pattern, as far as trigrams tell.
pub(super) fn trigram_set(view: IndexView<'_>, query: &TrigramQuery) -> NodeSet {
    match query {
        TrigramQuery::Any | TrigramQuery::None => NodeSet::default(),
        TrigramQuery::Trigram(trigram) => view.nodes(&TokenKey::Int(i64::from(*trigram))),
        TrigramQuery::And(parts) => {
            let mut sets: Vec<NodeSet> = parts.iter().map(|part| trigram_set(view, part)).collect();
            // The smallest first, since what is left only becomes fewer.
            sets.sort_by_key(NodeSet::len);
            sets.into_iter().reduce(|one, other| one.and(&other)).unwrap_or_default()
        }
        TrigramQuery::Or(parts) => {
            let sets: Vec<NodeSet> = parts.iter().map(|part| trigram_set(view, part)).collect();
            crate::graph::union_of_sets(&sets)
        }
    }
}
