//! The nodes that have a text with some trigrams of a pattern.

use crate::exec::columns::batches::Members;
use crate::exec::control::context::Context;
use crate::graph::{IndexView, Predicate};
use crate::index::{IndexKind, TokenKey};
use crate::storage::NodeSet;
use hexgraph_base::plan::{Call, Function, TextTest};
use hexgraph_base::text::TrigramQuery;
use hexgraph_base::types::{Result, stack};

impl<'a> Context<'a> {
    /// All nodes that have a text that matches the pattern of a filter, where trigrams leave at
    /// most `most` nodes to be tested; `None` where they leave more, or there is no index of them,
    /// and for any other function. O(trigrams), or what these leave.
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
        let Some((views, query)) = self.pattern_trigrams(function) else { return Ok(None) };
        let pays = pattern_pays(&views, &query, most);
        if !self.pick(pays, most, || vec![true, false]) {
            return Ok(None);
        }
        let sets = views.into_iter().map(|view| trigram_set(view, &query));
        let result = sets.reduce(|one, other| one.or(&other)).unwrap_or_default();
        let tester = self.tester(function)?;
        Ok(Some(NodeSet::from(self.retain_passing(Members::Set(&result), &tester)?)))
    }

    /// Whether the trigrams of a regular expression leave at most `most` nodes. Reads no postings.
    pub(crate) fn is_matched_by_trigrams(&self, function: &Function, most: usize) -> bool {
        self.pattern_trigrams(function)
            .is_some_and(|(views, query)| pattern_pays(&views, &query, most))
    }

    /// The indexes of trigrams that a regular expression is looked up in, and the trigrams.
    fn pattern_trigrams(&self, function: &Function) -> Option<(Vec<IndexView<'a>>, TrigramQuery)> {
        let Call::Text { predicate: name, test: TextTest::Regexp { pattern, flags } } =
            &function.call
        else {
            return None;
        };
        // What is wrong with the name or the pattern is reported by the test.
        let predicate = self.resolve(name).ok()??;
        let views: Option<Vec<IndexView<'a>>> =
            trigram_views(predicate, name.lang.as_deref()).collect();
        let query = hexgraph_base::text::trigram_query(pattern, flags).ok()?;
        (!matches!(query, TrigramQuery::Any)).then_some((views?, query))
    }
}

fn pattern_pays(views: &[IndexView<'_>], query: &TrigramQuery, most: usize) -> bool {
    let result = views.iter().map(|view| trigram_len(*view, query));
    let result = result.reduce(|one, other| Some(one?.saturating_add(other?)));
    result.flatten().is_some_and(|result| result <= most)
}

/// The most trigrams of a chunk of a text that are looked up, to select a rare one.
const CHUNK_TRIGRAMS_MAX: usize = 64;

/// Trigrams such that every text within a distance of another has at least one of them, and how
/// many nodes have them, about; `None` where there are none, since the text is too short for the
/// distance.
///
/// The text is cut into one chunk more than there may be changes of characters. A change is within
/// one chunk at most, so that one of them stands in the other text as it is, with all trigrams of
/// it: the one that fewest nodes have is taken of each. O(chunks).
pub(super) fn near_trigrams(
    text: &str,
    distance: usize,
    count: &dyn Fn(&TokenKey) -> usize,
) -> Option<(Vec<TokenKey>, usize)> {
    let chunks = distance.checked_add(1)?;
    if text.len() / 3 < chunks {
        return None;
    }
    // No character is in two chunks.
    let end_of = |chunk: usize| {
        let mut end = text.len() / chunks * chunk + text.len() % chunks * chunk / chunks;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        end
    };
    let (mut taken, mut nodes) = (Vec::with_capacity(chunks), 0_usize);
    for chunk in 0..chunks {
        let bytes = &text.as_bytes()[end_of(chunk)..end_of(chunk + 1)];
        let keys = bytes.windows(3).take(CHUNK_TRIGRAMS_MAX);
        let keys =
            keys.map(|it| TokenKey::Int(u32::from_be_bytes([0, it[0], it[1], it[2]]).into()));
        let (count, key) = keys.map(|key| (count(&key), key)).min_by_key(|(count, _)| *count)?;
        nodes = nodes.saturating_add(count);
        taken.push(key);
    }
    Some((taken, nodes))
}

/// The indexes of trigrams of what a predicate has in a language; `None` for a part that has none.
pub(super) fn trigram_views<'p>(
    predicate: &'p Predicate,
    lang: Option<&str>,
) -> impl Iterator<Item = Option<IndexView<'p>>> {
    predicate.parts(lang).iter().map(|part| part.index(IndexKind::Trigram))
}

/// The most nodes that may match a pattern, by their trigrams; `None` if these give no bound.
pub(super) fn trigram_len(view: IndexView<'_>, query: &TrigramQuery) -> Option<usize> {
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

/// The nodes that may match a pattern, by their trigrams.
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

#[cfg(test)]
mod tests {
    use super::*;
    use hexgraph_base::text::{trigrams, within_distance};
    use proptest::prelude::*;

    #[test]
    fn a_text_is_cut_into_pieces_of_three_bytes_at_least() {
        let none = |_: &TokenKey| 1;
        assert!(near_trigrams("abcde", 1, &none).is_none());
        assert_eq!(near_trigrams("abcdef", 1, &none).unwrap().0.len(), 2);
        assert!(near_trigrams("", 0, &none).is_none());
        assert!(near_trigrams("abcdef", usize::MAX, &none).is_none());
        // Three characters of two bytes have no cut with three bytes on each side.
        assert!(near_trigrams("\u{e9}\u{e9}\u{e9}", 1, &none).is_none());
    }

    proptest! {
        /// A text that is near has one of the trigrams, whichever are the rare ones.
        #[test]
        fn near_texts_have_one_of_the_trigrams(
            text in "[abc\u{e9}\u{65e5}]{1,14}",
            changes in prop::collection::vec((0..14_usize, 0..3_u8, "[abc\u{e9}]"), 0..4),
            salt in 1..1_000_i64,
        ) {
            let mut letters: Vec<char> = text.chars().collect();
            for (position, change, letter) in &changes {
                let position = *position % (letters.len() + 1);
                match change {
                    0 => letters.insert(position, letter.chars().next().unwrap()),
                    1 if position < letters.len() => drop(letters.remove(position)),
                    _ if position < letters.len() => letters[position] = letter.chars().next().unwrap(),
                    _ => {}
                }
            }
            let other: String = letters.into_iter().collect();
            prop_assert!(within_distance(&text, &other, changes.len()));
            let count = |key: &TokenKey| match key {
                TokenKey::Int(int) => (int * salt % 97) as usize,
                _ => 0,
            };
            if let Some((taken, _)) = near_trigrams(&text, changes.len(), &count) {
                let mut existing = Vec::new();
                trigrams(&other, &mut existing);
                let is_known = |key: &TokenKey| {
                    existing.iter().any(|it| *key == TokenKey::Int(i64::from(*it)))
                };
                prop_assert!(taken.iter().any(is_known), "{text} {other} {taken:?}");
            }
        }
    }
}
