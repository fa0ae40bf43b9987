//! Functions that test a text: their conditions, and how they select the nodes of a block.
//!
//! A new one is a variant of [`TextTest`], its arms in this file, and a [`TextCondition`]: other
//! code treats all of them alike, as a test of each candidate.

use super::column_test::TextCondition;
use super::needed_index::expect_index;
use super::trigrams::{near_trigrams, trigram_set, trigram_views};
use crate::exec::access_path::RootPath;
use crate::exec::columns::batches::Members;
use crate::exec::control::context::Context;
use crate::graph::Predicate;
use crate::index::TokenKey;
use crate::storage::NodeSet;
use hexgraph_base::plan::{Function, PredicateRef, PredicateUse, TextTest};
use hexgraph_base::text::{PatternError, TrigramQuery};
use hexgraph_base::types::{Error, Result, ValueType};

/// How the nodes of a block are selected by a test, and another path with what decides for it.
pub(crate) fn text_root_paths(test: &TextTest) -> (RootPath, Option<(RootPath, &'static str)>) {
    match test {
        TextTest::Regexp { .. } => (RootPath::Trigrams, None),
        TextTest::Near { .. } => {
            (RootPath::Trigrams, Some((RootPath::Texts, "if its trigrams leave more nodes")))
        }
    }
}

/// The condition on the texts of a predicate.
pub(super) fn text_condition(predicate: &Predicate, test: &TextTest) -> Result<TextCondition> {
    Ok(match test {
        TextTest::Regexp { pattern, flags } => {
            expect_text(predicate, "regexp")?;
            let regex = hexgraph_base::text::compile(pattern, flags).map_err(bad_pattern)?;
            TextCondition::Matches(Box::new(regex))
        }
        TextTest::Near { text, distance } => {
            expect_index(predicate, PredicateUse::Trigrams)?;
            TextCondition::Near(text.as_str().into(), match_distance(distance)?)
        }
    })
}

/// The nodes of a block that a test selects.
pub(super) fn root_text<'a: 'f, 'f>(
    context: &Context<'a>,
    function: &'f Function,
    name: &PredicateRef,
    test: &TextTest,
) -> Result<NodeSet> {
    match test {
        TextTest::Regexp { pattern, flags } => {
            root_regexp(context, function, name, (pattern, flags))
        }
        TextTest::Near { text, distance } => root_match(context, function, name, (text, distance)),
    }
}

fn root_regexp<'a: 'f, 'f>(
    context: &Context<'a>,
    function: &'f Function,
    name: &PredicateRef,
    (pattern, flags): (&str, &str),
) -> Result<NodeSet> {
    let tester = context.tester(function)?;
    let Some(predicate) = context.resolve(name)? else { return Ok(NodeSet::default()) };
    expect_text(predicate, "regexp")?;
    expect_index(predicate, PredicateUse::Trigrams).map_err(|error| {
        let hint = format!(
            "add `@index(trigram)` to the schema of `{}`, or use the function in a filter",
            predicate.def.name
        );
        error.with_hint(hint)
    })?;
    let query = hexgraph_base::text::trigram_query(pattern, flags).map_err(bad_pattern)?;
    if matches!(query, TrigramQuery::Any) {
        let message = format!("the regular expression /{pattern}/ matches too much for an index");
        let hint = "each alternative needs three literal bytes in a row; or use it in a filter";
        return Err(Error::query(message).with_hint(hint));
    }
    context.record_path(RootPath::Trigrams);
    let views = trigram_views(predicate, name.lang.as_deref()).flatten();
    let result = views.fold(NodeSet::default(), |all, it| all.or(&trigram_set(it, &query)));
    Ok(NodeSet::from(context.retain_passing(Members::Set(&result), &tester)?))
}

fn root_match<'a: 'f, 'f>(
    context: &Context<'a>,
    function: &'f Function,
    name: &PredicateRef,
    (text, distance): (&str, &str),
) -> Result<NodeSet> {
    let distance = match_distance(distance)?;
    let tester = context.tester(function)?;
    let Some(predicate) = context.resolve(name)? else { return Ok(NodeSet::default()) };
    let views: Option<Vec<_>> = trigram_views(predicate, name.lang.as_deref()).collect();
    let views = views.unwrap_or_default();
    let count = |token: &TokenKey| views.iter().map(|view| view.nodes(token).len()).sum();
    let subjects = context.has_set(predicate, name)?;
    let near = near_trigrams(text, distance, &count).filter(|_| !views.is_empty());
    if let Some((tokens, result)) = near
        && context.pick(result < subjects.len(), result, || vec![true, false])
    {
        context.record_path(RootPath::Trigrams);
        let sets = views.iter().flat_map(|view| tokens.iter().map(|token| view.nodes(token)));
        let candidates = crate::graph::union_of_sets(&sets.collect::<Vec<_>>());
        return Ok(NodeSet::from(context.retain_passing(Members::Set(&candidates), &tester)?));
    }
    context.record_path(RootPath::Texts);
    context.passing_members(&subjects, &tester)
}

/// The error for a regular expression that can't be read.
fn bad_pattern(reason: PatternError) -> Error {
    Error::query(reason).with_hint("a regular expression is written `/pattern/` or `/pattern/i`")
}

/// The greatest distance of `match`.
fn match_distance(text: &str) -> Result<usize> {
    text.parse::<i64>().ok().and_then(|number| usize::try_from(number).ok()).ok_or_else(|| {
        let message =
            format!("the distance of `match` is a whole number from 0 on, found `{text}`");
        Error::query(message).with_hint("write `match(name, \"text\", 3)`")
    })
}

/// Refuses a text function on values that are no strings; those of type default may be anything.
fn expect_text(predicate: &Predicate, function: &str) -> Result<()> {
    match predicate.def.value_type {
        ValueType::String => Ok(()),
        other => {
            let (name, result) = (&predicate.def.name, other.name());
            let message =
                format!("`{function}` works on strings only, and `{name}` is of type {result}");
            Err(Error::query(message))
        }
    }
}
