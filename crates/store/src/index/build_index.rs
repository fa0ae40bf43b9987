//! Builds the token indexes of a column, and computes the tokens of a value.
//!
//! An index of entire values sorts the positions of the column by value; since positions ascend by
//! node, so do the postings of each token. An index of words or trigrams numbers the tokens on
//! arrival, and partitions the nodes by token with a counting sort, which is stable, so they ascend
//! too.

use super::geo;
use super::interner::TokenInterner;
use super::source::{CHECKED_VALUES, Source, is_of};
use super::token_index::{TokenIndex, TokenKey};
use crate::storage::{Array, Column, Offsets, Values, ValuesBuilder, text_of};
use hexgraph_base::schema::{PredicateDef, Tokenizer};
use hexgraph_base::text::{FulltextAnalyzer, NgramAnalyzer, TermAnalyzer, trigrams};
use hexgraph_base::types::{
    Check, Result, ValueRef, ValueType, ordered_bits, ordered_prefix, parallel,
};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::fmt::Write;

/// The kind of tokens that an index has.
#[derive(Debug, Copy, Clone, Eq, PartialEq, Hash)]
#[repr(u8)]
pub enum IndexKind {
    /// Entire values, in their order.
    Ordered = 0,
    /// Words of a text.
    Term = 1,
    /// Stems of the words of a text.
    FullText = 2,
    /// Windows of three bytes of a text.
    Trigram = 3,
    /// Runs of stems of a text.
    NGram = 4,
    /// Cells of the sphere.
    Geo = 5,
}

impl IndexKind {
    const ALL: [IndexKind; 6] = [
        IndexKind::Ordered,
        IndexKind::Term,
        IndexKind::FullText,
        IndexKind::Trigram,
        IndexKind::NGram,
        IndexKind::Geo,
    ];

    /// Returns the kind of a number, by which files name it.
    pub(crate) fn of_number(number: u8) -> Option<IndexKind> {
        IndexKind::ALL.into_iter().find(|kind| *kind as u8 == number)
    }
}

/// The indexes of a predicate. Tokenizers that use the same index share it.
pub(crate) fn index_kinds(def: &PredicateDef) -> Vec<IndexKind> {
    let mut kinds = Vec::new();
    for tokenizer in &def.indexes {
        let kind = match tokenizer {
            Tokenizer::Term => IndexKind::Term,
            Tokenizer::FullText => IndexKind::FullText,
            Tokenizer::Trigram => IndexKind::Trigram,
            Tokenizer::NGram => IndexKind::NGram,
            Tokenizer::Geo => IndexKind::Geo,
            Tokenizer::Hnsw(_) => continue,
            Tokenizer::Int
            | Tokenizer::Float
            | Tokenizer::BigFloat
            | Tokenizer::Bool
            | Tokenizer::Year
            | Tokenizer::Month
            | Tokenizer::Day
            | Tokenizer::Hour
            | Tokenizer::Exact
            | Tokenizer::Hash
            | Tokenizer::Sha256 => IndexKind::Ordered,
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// Adds the tokens of one value, each once, to `out`. A value that can't be converted to the
/// predicate's type has none.
pub(crate) fn tokens_of(
    kind: IndexKind,
    value: ValueRef<'_>,
    value_type: ValueType,
    lang: &str,
    out: &mut Vec<TokenKey>,
) {
    let converted;
    let value = if is_of(value.value_type(), value_type) {
        value
    } else {
        let Ok(other) = value.convert(value_type) else { return };
        converted = other;
        converted.as_ref()
    };
    match kind {
        IndexKind::Ordered => out.extend(TokenKey::of(value)),
        IndexKind::Geo => geo::push_cells(value, out),
        IndexKind::Trigram => {
            let Some(text) = text_of(value) else { return };
            let mut result = Vec::new();
            trigrams(text, &mut result);
            out.extend(result.into_iter().map(|trigram| TokenKey::Int(i64::from(trigram))));
        }
        IndexKind::Term | IndexKind::FullText | IndexKind::NGram => {
            let Some(text) = text_of(value) else { return };
            Analyzer::new(kind).tokens(text, lang, |token| {
                out.push(TokenKey::Text(String::from_utf8_lossy(token).into()));
            });
        }
    }
}

/// The tokens of a phrase for an [`IndexKind::NGram`] index: its runs of three words.
pub(crate) fn ngram_query(text: &str, lang: &str) -> Vec<TokenKey> {
    let mut tokens = Vec::new();
    NgramAnalyzer::new()
        .query(text, lang, |token| tokens.push(TokenKey::Text(ngram_text(token).into())));
    tokens
}

/// Builds the index of a kind over a column whose predicate has type `value_type`.
///
/// # Errors
///
/// Those of `check`.
pub(crate) fn build_index(
    kind: IndexKind,
    column: &Column,
    value_type: ValueType,
    lang: &str,
    check: Check<'_>,
) -> Result<TokenIndex> {
    let source = Source::new(column, value_type, check)?;
    check()?;
    match kind {
        IndexKind::Ordered => Ok(build_ordered(&source)),
        IndexKind::Trigram => build_trigrams(&source, check),
        IndexKind::Geo => geo::build_cells(&source, check),
        IndexKind::Term | IndexKind::FullText | IndexKind::NGram => {
            build_words(kind, &source, lang, check)
        }
    }
}

fn build_ordered(source: &Source<'_>) -> TokenIndex {
    use ValueType::{Binary, Bool, DateTime, Float, Geo, Int, Password, Uid, Vector};
    match &*source.values {
        Values::SmallInt(numbers) => by_key(source, numbers.as_slice(), |&number| number),
        Values::Int(numbers) => by_key(source, numbers.as_slice(), |&number| number),
        Values::Float(numbers) => {
            by_key(source, numbers.as_slice(), |&number| ordered_bits(number))
        }
        Values::Bool(bools) => by_key(source, bools.as_slice(), |&truth| truth != 0),
        Values::Days(days) => by_key(source, days.as_slice(), |&day| day),
        Values::SmallTime(seconds) => by_key(source, seconds.as_slice(), |&second| second),
        Values::DateTime { seconds, nanos, .. } => {
            let instants: Vec<_> = (0..seconds.len())
                .map(|at| (seconds.get(at), if nanos.is_empty() { 0 } else { nanos.get(at) }))
                .collect();
            by_key(source, &instants, |&instant| instant)
        }
        Values::Text { value_type: ValueType::BigFloat, .. }
        | Values::Coded { value_type: ValueType::BigFloat, .. } => {
            // The sort is stable, so positions of equal numbers go on ascending, as
            // `finish_ordered` expects.
            let key = |position: &u32| TokenKey::of(source.values.get(*position as usize));
            let mut positions: Vec<u32> = (0..source.nodes.len() as u32).collect();
            positions.sort_by_cached_key(key);
            finish_ordered(source, &positions, |one, other| key(&one) == key(&other))
        }
        Values::Text { value_type: ValueType::String | ValueType::Default, texts } => {
            // The first eight bytes decide most comparisons without reading the texts. A shorter
            // text is padded with zeros, and then the entire texts decide.
            let text = |position: u32| texts.get_bytes(position as usize);
            let mut keyed: Vec<(u64, u32)> =
                (0..texts.len() as u32).map(|at| (ordered_prefix(text(at)), at)).collect();
            parallel::sort_unstable_by(&mut keyed, |one, other| {
                let rest = || text(one.1).cmp(text(other.1)).then(one.1.cmp(&other.1));
                one.0.cmp(&other.0).then_with(rest)
            });
            let positions: Vec<u32> = keyed.into_iter().map(|(_, position)| position).collect();
            finish_ordered(source, &positions, |one, other| text(one) == text(other))
        }
        Values::Coded { value_type: ValueType::String | ValueType::Default, codes, texts } => {
            // Only the distinct texts are sorted, at most 65,535 of them; values compare by rank.
            let mut order: Vec<u16> = (0..texts.len() as u16).collect();
            order.sort_unstable_by_key(|&code| texts.get_bytes(usize::from(code)));
            let mut ranks = vec![0_u16; order.len()];
            for (rank, code) in order.into_iter().enumerate() {
                ranks[usize::from(code)] = rank as u16;
            }
            // A code in a file may be invalid; it has no rank then, and does no harm. The ranks
            // only sort: the keys of the index are the texts themselves, read from the column.
            by_key(source, codes.as_slice(), |&code| ranks.get(usize::from(code)).copied())
        }
        // No values of these types are tokens; a type that is new has to be named, here or above.
        Values::Text {
            value_type: Int | Float | Bool | DateTime | Geo | Uid | Password | Vector | Binary,
            ..
        }
        | Values::Coded {
            value_type: Int | Float | Bool | DateTime | Geo | Uid | Password | Vector | Binary,
            ..
        }
        | Values::Vector { .. }
        | Values::Mixed { .. } => TokenIndex::empty(),
    }
}

fn by_key<T, K: Ord + Send>(source: &Source<'_>, items: &[T], key: impl Fn(&T) -> K) -> TokenIndex {
    let mut keyed: Vec<(K, u32)> =
        items.iter().enumerate().map(|(position, item)| (key(item), position as u32)).collect();
    // Serial numbers and times often come in order, and a test costs one pass.
    if !keyed.is_sorted() {
        parallel::sort_unstable(&mut keyed);
    }
    let positions: Vec<u32> = keyed.into_iter().map(|(_, position)| position).collect();
    finish_ordered(source, &positions, |one, other| {
        key(&items[one as usize]) == key(&items[other as usize])
    })
}

/// Makes the index of positions that are sorted by value, and by position where it is equal.
fn finish_ordered(
    source: &Source<'_>,
    positions: &[u32],
    same: impl Fn(u32, u32) -> bool,
) -> TokenIndex {
    let mut firsts: Vec<u32> = Vec::new();
    let mut starts: Vec<u64> = Vec::new();
    let mut postings: Vec<u32> = Vec::with_capacity(positions.len());
    for &position in positions {
        let node = source.nodes[position as usize];
        if firsts.last().is_some_and(|&first| same(first, position)) {
            // Two values of a list may have one token: instants are compared without their zones.
            // Positions of one token ascend, and with them the nodes, so only the last one can
            // repeat.
            if postings.last() != Some(&node) {
                postings.push(node);
            }
            continue;
        }
        firsts.push(position);
        starts.push(postings.len() as u64);
        postings.push(node);
    }
    starts.push(postings.len() as u64);
    // Values that are all distinct and in order are their own dictionary, whose arrays are
    // shared.
    let keys = if firsts.len() == source.values.len() && firsts.is_sorted() {
        Values::clone(&source.values)
    } else {
        source.values.gather(&firsts)
    };
    postings.shrink_to_fit();
    TokenIndex::new(keys, Offsets::from_vec(starts), Array::from_vec(postings))
}

/// One of the analyzers that cut texts into words.
enum Analyzer {
    Term(TermAnalyzer),
    FullText(FulltextAnalyzer),
    NGram(NgramAnalyzer),
}

impl Analyzer {
    fn new(kind: IndexKind) -> Analyzer {
        match kind {
            IndexKind::Term => Analyzer::Term(TermAnalyzer::new()),
            IndexKind::NGram => Analyzer::NGram(NgramAnalyzer::new()),
            _ => Analyzer::FullText(FulltextAnalyzer::new()),
        }
    }

    fn tokens(&mut self, text: &str, lang: &str, mut out: impl FnMut(&[u8])) {
        match self {
            Analyzer::Term(analyzer) => analyzer.value(text, lang, |token| out(token.as_bytes())),
            Analyzer::FullText(analyzer) => {
                analyzer.tokens(text, lang, |token| out(token.as_bytes()));
            }
            Analyzer::NGram(analyzer) => {
                analyzer.value(text, |token| out(ngram_text(token).as_bytes()));
            }
        }
    }
}

/// A shingle as text. One that was hashed is bytes and becomes hexadecimal.
fn ngram_text(token: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(token) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(token.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a string takes all that is written");
            text
        })),
    }
}

/// Which tokens there are at which nodes, in the order of the nodes.
#[derive(Default)]
struct Pairs {
    pairs: Vec<(u32, u32)>,
    /// For each token, the last node that has it and the number of nodes that have it.
    seen: Vec<(u32, u32)>,
}

impl Pairs {
    fn push(&mut self, token: u32, node: u32) {
        if self.seen.len() <= token as usize {
            self.seen.resize(token as usize + 1, (0, 0));
        }
        // The values of a node are contiguous, so comparing with the last node suffices to store
        // each node once.
        let (last, count) = &mut self.seen[token as usize];
        // The count distinguishes a token without nodes from one whose last node is 0.
        if *count == 0 || *last != node {
            *last = node;
            *count += 1;
            self.pairs.push((token, node));
        }
    }

    /// Deals the nodes out to the tokens, which come in the order that `sorted` lists them.
    fn partition(self, sorted: &[u32], keys: Values) -> TokenIndex {
        let offsets =
            Offsets::from_lens(sorted.iter().map(|&token| self.seen[token as usize].1 as usize));
        // A counting sort: how many nodes each token has says where its list begins, and nodes
        // are partitioned in their order, so that each list ascends.
        let mut next = vec![0_usize; sorted.len()];
        for (position, &token) in sorted.iter().enumerate() {
            // `next` is by the number of the token on arrival, and offsets by its sorted position.
            next[token as usize] = offsets.start(position);
        }
        let mut postings = vec![0; self.pairs.len()];
        for (token, node) in self.pairs {
            let position = &mut next[token as usize];
            postings[*position] = node;
            *position += 1;
        }
        TokenIndex::new(keys, offsets, Array::from_vec(postings))
    }
}

fn build_words(
    kind: IndexKind,
    source: &Source<'_>,
    lang: &str,
    check: Check<'_>,
) -> Result<TokenIndex> {
    let mut analyzer = Analyzer::new(kind);
    let mut interner = TokenInterner::new();
    let mut pairs = Pairs::default();
    for (at, (node, text)) in source.texts().enumerate() {
        if at.is_multiple_of(CHECKED_VALUES) {
            check()?;
        }
        analyzer.tokens(text, lang, |token| pairs.push(interner.intern(token), node));
    }
    let mut sorted: Vec<u32> = (0..interner.len() as u32).collect();
    sorted.sort_unstable_by(|&one, &other| interner.get(one).cmp(interner.get(other)));
    let mut keys = ValuesBuilder::new(ValueType::String);
    keys.reserve(sorted.len());
    keys.reserve_bytes(interner.byte_len());
    for &token in &sorted {
        keys.push(ValueRef::String(&String::from_utf8_lossy(interner.get(token))));
    }
    // Its texts are in the keys, and the postings need the memory.
    drop(interner);
    Ok(pairs.partition(&sorted, keys.finish()))
}

fn build_trigrams(source: &Source<'_>, check: Check<'_>) -> Result<TokenIndex> {
    let mut ids: FxHashMap<u32, u32> = FxHashMap::default();
    let mut distinct: Vec<u32> = Vec::new();
    let mut pairs = Pairs::default();
    let mut result = Vec::new();
    for (at, (node, text)) in source.texts().enumerate() {
        if at.is_multiple_of(CHECKED_VALUES) {
            check()?;
        }
        trigrams(text, &mut result);
        for &trigram in &result {
            // Numbered on arrival, as three bytes give up to 2^24 positions and a column has few of
            // them.
            let id = *ids.entry(trigram).or_insert_with(|| {
                distinct.push(trigram);
                distinct.len() as u32 - 1
            });
            pairs.push(id, node);
        }
    }
    let mut sorted: Vec<u32> = (0..distinct.len() as u32).collect();
    sorted.sort_unstable_by_key(|&id| distinct[id as usize]);
    let keys = sorted.iter().map(|&id| distinct[id as usize] as i32).collect();
    Ok(pairs.partition(&sorted, Values::SmallInt(Array::from_vec(keys))))
}
