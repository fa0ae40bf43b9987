//! Carries out functions: as the set of their nodes, from an index, or as a test of single nodes.

use super::compare::ValueCondition;
use super::geo_function::GeoCall;
use super::needed_index::expect_index;
use super::similar::Similar;
use super::tester::{Counter, Tester, comparable};
use super::text_function::text_condition;
use crate::exec::control::context::Context;
use crate::exec::cost;
use crate::graph::{IndexView, LangValues, Predicate};
use crate::index::{IndexKind, TokenKey, tokens_of};
use crate::storage::{NodeSet, Values};
use hexgraph_base::plan::{
    Call, Function, Operand, PredicateRef, PredicateUse, TermIndex, TextMatch, VarId,
};
use hexgraph_base::schema::PredicateDef;
use hexgraph_base::types::{Error, Result, Uid, Value, ValueRef, ValueType, stack};
use std::ops::Bound;

impl<'a> Context<'a> {
    /// The predicate that a function names.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for a language on a predicate that has none, and for `~` on one without
    /// reverse edges.
    pub(crate) fn resolve(&self, name: &PredicateRef) -> Result<Option<&'a Predicate>> {
        let Some(predicate) = self.predicate(&name.name) else { return Ok(None) };
        if name.lang.is_some() && !predicate.def.lang {
            return Err(no_languages(predicate, name.lang.as_deref().unwrap_or_default()));
        }
        if name.reverse && predicate.direction(true).is_none() {
            return Err(no_reverse(&name.name));
        }
        Ok(Some(predicate))
    }

    /// The number of nodes that the function has, about, if an index has it. Costs a search in the
    /// index, and reads no postings.
    pub(crate) fn estimate(&self, function: &Function) -> Option<usize> {
        stack::require();
        match &function.call {
            Call::Uid { uids, vars } => {
                Some(uids.len() + vars.iter().map(|var| self.uid_var(*var).len()).sum::<usize>())
            }
            Call::Has(name) => {
                let predicate = self.predicate(&name.name)?;
                self.has_set(predicate, name).ok().map(|set| set.len())
            }
            Call::Type(name) => self.type_nodes(name).map(|nodes| nodes.len()),
            Call::Compare { op, left: Operand::Predicate(name), arguments } => {
                let predicate = self.resolve(name).ok()??;
                let expected = self.expected(*op, arguments, comparable(predicate.def.value_type));
                estimate_expected(predicate, name.lang.as_deref(), &expected.ok()?)
            }
            Call::Between { left: Operand::Predicate(name), low, high } => {
                let predicate = self.resolve(name).ok()??;
                let expected =
                    self.expected_between(low, high, comparable(predicate.def.value_type));
                estimate_expected(predicate, name.lang.as_deref(), &expected.ok()?)
            }
            // Only the index can answer these.
            Call::Terms { .. } | Call::SimilarTo { .. } => Some(0),
            Call::Compare { .. }
            | Call::Between { .. }
            | Call::Text { .. }
            | Call::UidIn { .. }
            | Call::Geo { .. }
            | Call::CustomTerms { .. } => None,
        }
    }

    /// The nodes of a function from an index; `None` when no index gives them exactly.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] with the position of the function, for wrong arguments or a missing index.
    pub(crate) fn indexed<'f>(&self, function: &'f Function) -> Result<Option<NodeSet>>
    where
        'a: 'f,
    {
        self.set_of(&function.call).map_err(|error| error.or_at(function.at))
    }

    fn set_of<'f>(&self, call: &'f Call) -> Result<Option<NodeSet>>
    where
        'a: 'f,
    {
        match call {
            Call::Uid { uids, vars } => Ok(Some(self.uid_set(uids, vars))),
            Call::Has(name) => self.having(name).map(Some),
            Call::Type(name) => Ok(Some(self.type_nodes(name).unwrap_or_default())),
            Call::Compare { op, left: Operand::Predicate(name), arguments } => {
                let Some(predicate) = self.resolve(name)? else { return Ok(None) };
                let expected = self.expected(*op, arguments, comparable(predicate.def.value_type));
                let expected = expected.map_err(|error| error.or_hint(type_of(&predicate.def)))?;
                Ok(ordered_set(predicate, name.lang.as_deref(), &expected))
            }
            Call::Between { left: Operand::Predicate(name), low, high } => {
                let Some(predicate) = self.resolve(name)? else { return Ok(None) };
                let value_type = comparable(predicate.def.value_type);
                let expected = self.expected_between(low, high, value_type)?;
                Ok(ordered_set(predicate, name.lang.as_deref(), &expected))
            }
            Call::Terms { predicate, index, expects, text } => {
                self.term_set(predicate, *index, *expects, text).map(Some)
            }
            Call::Geo { relation, predicate, arguments } => {
                let call = GeoCall { relation: *relation, name: predicate, arguments };
                self.geo_nodes(call, None).map(Some)
            }
            Call::SimilarTo { predicate, count, target, options, admits } => {
                let admits = admits.as_deref();
                self.similar_set(Similar { predicate, count, target, options, admits }).map(Some)
            }
            Call::CustomTerms { tokenizer } => Err(no_tokenizer(tokenizer)),
            // Each candidate is tested.
            Call::Compare { .. }
            | Call::Between { .. }
            | Call::Text { .. }
            | Call::UidIn { .. } => Ok(None),
        }
    }

    /// The nodes of `has`.
    pub(crate) fn having(&self, name: &PredicateRef) -> Result<NodeSet> {
        match self.resolve(name)? {
            Some(predicate) => self.has_set(predicate, name),
            None => Ok(NodeSet::default()),
        }
    }

    /// The function as a test of single nodes.
    ///
    /// # Errors
    ///
    /// As [`Context::indexed`].
    pub(crate) fn tester<'f>(&self, function: &'f Function) -> Result<Tester<'f>>
    where
        'a: 'f,
    {
        self.test_of(function).map_err(|error| error.or_at(function.at))
    }

    fn test_of<'f>(&self, function: &'f Function) -> Result<Tester<'f>>
    where
        'a: 'f,
    {
        match &function.call {
            Call::Compare { op, left, arguments } => {
                self.compare_tester(left, |value_type| self.expected(*op, arguments, value_type))
            }
            Call::Between { left, low, high } => {
                self.compare_tester(left, |value_type| self.expected_between(low, high, value_type))
            }
            Call::Text { predicate, test } => {
                let Some(result) = self.resolve(predicate)? else { return nothing() };
                let expected = text_condition(result, test)?.into();
                Ok(Tester::of_values(result, predicate.lang.as_deref(), expected))
            }
            Call::Has(name) => match self.resolve(name)? {
                Some(predicate) => Ok(Tester::Has(predicate, name.lang.as_deref(), name.reverse)),
                None => nothing(),
            },
            Call::UidIn { predicate, uids, vars } => self.uid_in_tester(predicate, uids, vars),
            Call::Uid { .. } | Call::Type(_) | Call::Terms { .. } | Call::SimilarTo { .. } => {
                Ok(Tester::Member(self.indexed(function)?.unwrap_or_default().into()))
            }
            Call::Geo { relation, predicate, arguments } => {
                self.geo_tester(GeoCall { relation: *relation, name: predicate, arguments })
            }
            Call::CustomTerms { tokenizer } => Err(no_tokenizer(tokenizer)),
        }
    }

    fn compare_tester<'f>(
        &self,
        left: &'f Operand,
        expected: impl Fn(ValueType) -> Result<ValueCondition>,
    ) -> Result<Tester<'f>>
    where
        'a: 'f,
    {
        match left {
            Operand::Predicate(name) => {
                let Some(predicate) = self.resolve(name)? else { return nothing() };
                if predicate.is_edges() {
                    let name = &name.name;
                    let message =
                        format!("`{name}` is an edge, which can't be compared with a value");
                    let hint = format!("write `uid_in({name}, 0x1)`");
                    return Err(Error::query(message).with_hint(hint));
                }
                let expected = expected(comparable(predicate.def.value_type));
                let expected = expected.map_err(|error| error.or_hint(type_of(&predicate.def)))?;
                Ok(Tester::of_values(predicate, name.lang.as_deref(), expected.into()))
            }
            Operand::Count(name) => {
                let expected = expected(ValueType::Int);
                let expected = expected.map_err(|error| error.or_hint("a count is an int"))?;
                let Some(predicate) = self.resolve(name)? else { return nothing() };
                let counter =
                    Counter { predicate, reverse: name.reverse, lang: name.lang.as_deref() };
                Ok(Tester::Count { counter, expected })
            }
            Operand::Val(var) => {
                let map = self.expect_values(*var)?;
                let Some(value_type) = var_type(&map) else { return nothing() };
                let hint = || {
                    let name = self.var_name(*var);
                    format!("the values of `{name}` are of type {}", value_type.name())
                };
                let expected = expected(comparable(value_type));
                let expected = expected.map_err(|error| error.or_hint(hint()))?;
                Ok(Tester::Var { map, expected })
            }
            Operand::Len(var) => {
                let length = self.uid_var(*var).len() as i64;
                Ok(Tester::Constant(expected(ValueType::Int)?.holds(ValueRef::Int(length))))
            }
        }
    }

    fn uid_in_tester(
        &self,
        name: &PredicateRef,
        uids: &[u64],
        vars: &[VarId],
    ) -> Result<Tester<'a>> {
        let Some(predicate) = self.resolve(name)? else { return nothing() };
        if !predicate.is_edges() {
            let name = &name.name;
            let message = format!("`uid_in` needs an edge predicate, and `{name}` has values");
            return Err(Error::query(message).with_hint(format!("write `eq({name}, ...)`")));
        }
        Ok(Tester::EdgeTo(predicate, name.reverse, self.uid_in_ends(uids, vars).into()))
    }

    /// The nodes that `uid_in` names: literals and those of variables.
    pub(crate) fn uid_in_ends(&self, uids: &[u64], vars: &[VarId]) -> NodeSet {
        let ends = self.node_set(uids.iter().copied());
        vars.iter().fold(ends, |all, var| all.or(&self.uid_var(*var)))
    }

    /// The nodes of `uid(...)`: literals beside a variable do not count, as in Dgraph.
    pub(crate) fn uid_set(&self, uids: &[u64], vars: &[VarId]) -> NodeSet {
        if vars.is_empty() {
            return self.node_set(uids.iter().copied());
        }
        vars.iter().fold(NodeSet::default(), |all, var| all.or(&self.uid_var(*var)))
    }

    /// The nodes of some uids.
    pub(crate) fn node_set(&self, uids: impl Iterator<Item = u64>) -> NodeSet {
        let nodes = uids.filter_map(|uid| self.version.nodes.node(Uid(uid)));
        let mut nodes: Vec<u32> = nodes.collect();
        nodes.sort_unstable();
        nodes.dedup();
        NodeSet::from(nodes)
    }

    /// The nodes that have a predicate.
    pub(crate) fn has_set(&self, predicate: &Predicate, name: &PredicateRef) -> Result<NodeSet> {
        if predicate.is_edges() {
            let edges = predicate.direction(name.reverse);
            return edges.map(|edges| edges.subjects()).ok_or_else(|| no_reverse(&name.name));
        }
        let parts = predicate.parts(name.lang.as_deref()).iter().map(LangValues::subjects);
        Ok(parts.reduce(|one, other| one.or(&other)).unwrap_or_default())
    }

    /// The nodes of a type.
    pub(crate) fn type_nodes(&self, name: &str) -> Option<NodeSet> {
        let index = self.predicate("dgraph.type")?.values("")?.index(IndexKind::Ordered)?;
        Some(index.nodes(&TokenKey::Text(name.into())))
    }

    /// The nodes that have any or all tokens of a text.
    pub(crate) fn term_set(
        &self,
        name: &PredicateRef,
        index: TermIndex,
        expects: TextMatch,
        text: &str,
    ) -> Result<NodeSet> {
        let Some(predicate) = self.resolve(name)? else { return Ok(NodeSet::default()) };
        let (kind, needed) = match index {
            TermIndex::Term => (IndexKind::Term, PredicateUse::Terms),
            TermIndex::FullText => (IndexKind::FullText, PredicateUse::FullText),
            TermIndex::NGram => (IndexKind::NGram, PredicateUse::NGram),
        };
        expect_index(predicate, needed)?;
        let lang = name.lang.as_deref().filter(|lang| *lang != "." && kind != IndexKind::Term);
        let tokens = query_tokens(kind, text, lang.unwrap_or(""));
        let parts = predicate.parts(name.lang.as_deref());
        let views = parts.iter().filter_map(|part| part.index(kind));
        let sets = views.map(|view| tokens_in(view, &tokens, expects));
        Ok(sets.reduce(|one, other| one.or(&other)).unwrap_or_default())
    }
}

/// True when the estimate of a function comes from its index. The others can only be answered by
/// their index, and count as 0.
pub(crate) fn is_reported(function: &Function) -> bool {
    !matches!(function.call, Call::Terms { .. } | Call::SimilarTo { .. })
}

fn nothing<'a>() -> Result<Tester<'a>> {
    Ok(Tester::Constant(false))
}

/// The error for `~p` without `@reverse`.
pub(crate) fn no_reverse(name: &str) -> Error {
    let message = format!("predicate `{name}` has no reverse edges");
    Error::query(message).with_hint(format!("add `@reverse` to the schema of `{name}`"))
}

/// Names the type of a predicate, as a hint for a comparison with something else.
pub(crate) fn type_of(def: &PredicateDef) -> String {
    format!("`{}` is of type {}", def.name, def.value_type.name())
}

/// The error for a language of a predicate without `@lang`.
pub(crate) fn no_languages(predicate: &Predicate, lang: &str) -> Error {
    let name = &predicate.def.name;
    let message = format!("predicate `{name}` has no languages");
    let hint = match predicate.def.value_type == ValueType::String {
        true => format!("leave out `@{lang}`, or add `@lang` to the schema of `{name}`"),
        false => format!("leave out `@{lang}`"),
    };
    Error::query(message).with_hint(hint)
}

/// The type of the values of a variable.
pub(crate) fn var_type(map: &crate::exec::control::tree::ValueMap) -> Option<ValueType> {
    if let Some(value) = &map.constant {
        return Some(value.value_type());
    }
    (!map.nodes.is_empty()).then(|| map.values.get(0).value_type())
}

fn query_tokens(kind: IndexKind, text: &str, lang: &str) -> Vec<TokenKey> {
    if kind == IndexKind::NGram {
        return crate::index::ngram_query(text, lang);
    }
    let mut tokens = Vec::new();
    tokens_of(kind, ValueRef::String(text), ValueType::String, lang, &mut tokens);
    tokens.sort_unstable();
    tokens.dedup();
    tokens
}

fn tokens_in(view: IndexView<'_>, tokens: &[TokenKey], expects: TextMatch) -> NodeSet {
    let mut sets: Vec<NodeSet> = tokens.iter().map(|token| view.nodes(token)).collect();
    match expects {
        TextMatch::All => {
            // The smallest first: what both have is never more, so each step costs no more than
            // the one before.
            sets.sort_by_key(NodeSet::len);
            sets.into_iter().reduce(|one, other| one.and(&other)).unwrap_or_default()
        }
        TextMatch::Any => crate::graph::union_of_sets(&sets),
    }
}

/// The nodes whose value meets a condition, from the index of entire values; `None` when there is
/// no index, or it cannot decide.
pub(crate) fn ordered_set(
    predicate: &Predicate,
    lang: Option<&str>,
    expected: &ValueCondition,
) -> Option<NodeSet> {
    let mut all: Option<NodeSet> = None;
    for part in predicate.parts(lang) {
        // One part without an index leaves it open which nodes there are.
        let view = part.index(IndexKind::Ordered)?;
        let set = set_in(view, expected)?;
        all = Some(all.map_or(set.clone(), |other| other.or(&set)));
    }
    Some(all.unwrap_or_default())
}

/// The refusal of a function with a custom tokenizer.
pub(crate) fn no_tokenizer(tokenizer: &str) -> Error {
    let message = format!("there is no custom tokenizer `{tokenizer}`");
    Error::query(message).with_hint("use the function of a known index, such as anyofterms")
}

/// The number of numbers that are compared with a range in the time in which a posting of its index
/// becomes a member of a set: about 13 ns for a posting and 2 for a number, with what it takes to
/// list its node.
const INTS_PER_POSTING: usize = cost::LOOKUP.and(cost::GATHER).per(cost::GATHER);

/// With fewer nodes both are cheap.
const SCANNED_MIN: usize = cost::WAKE.per(cost::GATHER);

/// Whether to compare the ints of `requested` nodes, which lie close together, costs less than to
/// put together the postings of `result`.
pub(crate) fn pays_to_scan(result: usize, requested: usize) -> bool {
    SCANNED_MIN <= requested && requested < result.saturating_mul(INTS_PER_POSTING)
}

/// The values of a predicate that a function names, where they are a plain column of numbers or
/// instants.
pub(crate) fn number_column<'p>(
    predicate: &'p Predicate,
    name: &PredicateRef,
) -> Option<&'p LangValues> {
    let part = predicate.only_untagged().filter(|_| name.lang.is_none() && !name.reverse)?;
    let column = part.stored();
    let is_plain = matches!(
        (predicate.def.value_type, &column.values),
        (ValueType::Int, Values::SmallInt(_) | Values::Int(_))
            | (ValueType::Float, Values::Float(_))
            | (ValueType::DateTime, Values::Days(_) | Values::SmallTime(_))
    );
    (is_plain && column.rows.is_none()).then_some(part)
}

/// The number of nodes whose value meets a condition, off the index of entire values; `None` when
/// there is none, or it cannot decide, as where a node may have several values. O(log tokens), and
/// a step for each changed token.
pub(super) fn ordered_count(
    predicate: &Predicate,
    lang: Option<&str>,
    expected: &ValueCondition,
) -> Option<usize> {
    let [part] = predicate.parts(lang) else { return None };
    if predicate.def.list || part.stored().rows.is_some() {
        return None;
    }
    let view = part.index(IndexKind::Ordered)?;
    if let ValueCondition::AnyOf(values) = expected {
        let mut keys: Vec<TokenKey> =
            values.iter().map(|value| TokenKey::of(value.as_ref())).collect::<Option<_>>()?;
        // One value may have several spellings.
        keys.sort_unstable();
        keys.dedup();
        return Some(keys.iter().map(|key| view.nodes(key).len()).sum());
    }
    let (low, high) = bounds(expected)?;
    Some(view.count(low.as_ref(), high.as_ref()))
}

fn set_in(view: IndexView<'_>, expected: &ValueCondition) -> Option<NodeSet> {
    if let ValueCondition::AnyOf(values) = expected {
        let keys: Option<Vec<TokenKey>> =
            values.iter().map(|value| TokenKey::of(value.as_ref())).collect();
        let sets: Vec<NodeSet> = keys?.iter().map(|key| view.nodes(key)).collect();
        return Some(crate::graph::union_of_sets(&sets));
    }
    let (low, high) = bounds(expected)?;
    Some(view.range(low.as_ref(), high.as_ref()))
}

/// The range of an index that meets a condition; `None` where there is none, as for values without
/// an order: bools have an index, but no comparison matches them.
pub(crate) fn bounds(expected: &ValueCondition) -> Option<(Bound<TokenKey>, Bound<TokenKey>)> {
    let is_ordered = |value: &&Value| value.value_type().is_ordered();
    let key =
        |value: &Value| Some(value).filter(is_ordered).and_then(|it| TokenKey::of(it.as_ref()));
    Some(match expected {
        ValueCondition::Than(op, value) => op.bounds(key(value)?),
        ValueCondition::Between(low, high) => {
            (Bound::Included(key(low)?), Bound::Included(key(high)?))
        }
        ValueCondition::AnyOf(_) => return None,
    })
}

pub(super) fn estimate_expected(
    predicate: &Predicate,
    lang: Option<&str>,
    expected: &ValueCondition,
) -> Option<usize> {
    let mut count = 0;
    for part in predicate.parts(lang) {
        let view = part.index(IndexKind::Ordered)?;
        count += match expected {
            ValueCondition::AnyOf(values) => values
                .iter()
                .filter_map(|value| TokenKey::of(value.as_ref()))
                .map(|key| view.nodes(&key).len())
                .sum(),
            expected => {
                let (low, high) = bounds(expected)?;
                view.estimate(low.as_ref(), high.as_ref())
            }
        };
    }
    Some(count)
}
