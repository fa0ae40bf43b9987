//! `filter: {...}` → conditions on nodes.
//!
//! All keys of an object hold together, but for `or`: what it lists is an alternative to all the rest.

use super::geo::geo_call;
use super::value::text_of;
use crate::lower::refusal::Refusal;
use crate::lower::target::{all, filter_of, is_uid, nothing, reference};
use crate::model::{Field, Kind, Model, TypeDef};
use crate::request::Value;
use apollo_compiler::Name;
use hexgraph_base::plan::{
    Argument, Call, Comparison, Filter, Operand, Reach, TermIndex, TextMatch,
};
use hexgraph_base::types::{Uid, stack};

/// Somebody who sees a part of the data.
pub(in crate::lower) trait Viewer {
    /// The schema.
    fn model(&self) -> &Model;

    /// The condition that nodes of a type have to pass to be seen; `None` when all are.
    fn visible(&self, def: &TypeDef) -> Option<Filter>;
}

/// Who filters.
#[derive(Clone, Copy)]
pub(in crate::lower) enum Sight<'a> {
    /// Somebody for whom edges to nodes that the rules hide are not there.
    Of(&'a dyn Viewer),
    /// A rule, which sees all data.
    Whole(&'a Model),
    /// A mutation, which sees all data too. What it changes must not be more than its filter says: only `{}` is everything,
    /// and an alternative that asks for nothing, which would undo the conditions beside it, is refused.
    Changing(&'a Model),
}

impl<'a> Sight<'a> {
    fn model(self) -> &'a Model {
        match self {
            Sight::Of(viewer) => viewer.model(),
            Sight::Whole(model) | Sight::Changing(model) => model,
        }
    }
}

/// What a filter at a root asks. The nodes that it names by their IDs are all that there are: everything else, `or` too, is
/// asked of them. `None` when it asks for nothing.
///
/// # Errors
///
/// As [`filter`]; and, where a mutation filters, when it asks for nothing without being `{}`.
pub(in crate::lower) fn root_filter(
    sight: Sight<'_>,
    def: &TypeDef,
    value: &Value,
) -> Result<Option<RootFilter>, Refusal> {
    let Value::Object(entries) = value else { return Ok(None) };
    let names_nodes =
        |(key, value): &&(Name, Value)| *value != Value::Null && def.field(key).is_some_and(is_uid);
    let named = entries.iter().find(names_nodes).map(|(_, value)| uids_of(value));
    let rest = conditions(sight, def, entries.iter().filter(|entry| !names_nodes(entry)))?;
    // Keys without a value, which variables may leave, are as if they were not there.
    let is_empty = entries.iter().all(|(_, value)| *value == Value::Null);
    if let (Sight::Changing(_), None, None) = (sight, &named, &rest)
        && !is_empty
    {
        return Err(Refusal::new(format!(
            "the filter asks for nothing, which would change every {}: write `filter: {{}}` if that is meant",
            def.name
        )));
    }
    Ok(Some(RootFilter { named, rest }))
}

/// What a filter at a root asks.
pub(in crate::lower) struct RootFilter {
    /// The nodes that it names, ascending.
    pub named: Option<Vec<u64>>,
    /// What is asked of them, or of all nodes of the type.
    pub rest: Option<Filter>,
}

impl RootFilter {
    /// The same as one condition.
    pub(in crate::lower) fn into_filter(self) -> Option<Filter> {
        let named = self.named.map(|uids| filter_of(Call::Uid { uids, vars: Vec::new() }));
        match self.rest {
            Some(Filter::And(rest)) => all(named.into_iter().chain(rest).collect()),
            rest => all(named.into_iter().chain(rest).collect()),
        }
    }
}

/// What a filter asks of nodes of a type; `None` when it asks for nothing.
///
/// # Errors
///
/// What is wrong with a value, in the words of the reference.
pub(in crate::lower) fn filter(
    sight: Sight<'_>,
    def: &TypeDef,
    value: &Value,
) -> Result<Option<Filter>, Refusal> {
    stack::require();
    match value {
        _ if def.kind == Kind::Union => union_filter(sight, def, value),
        Value::Object(entries) => conditions(sight, def, entries.iter()),
        _ => Ok(None),
    }
}

/// What the entries of a filter ask of nodes of a type.
fn conditions<'v>(
    sight: Sight<'_>,
    def: &TypeDef,
    entries: impl Iterator<Item = &'v (Name, Value)>,
) -> Result<Option<Filter>, Refusal> {
    let mut together = Vec::new();
    let mut alternatives = None;
    for (key, value) in entries {
        if let Some(field) = def.field(key) {
            together.extend(field_filter(field, value)?);
            continue;
        }
        match (key.as_str(), value) {
            (_, Value::Null) => {}
            ("and", Value::List(items)) => {
                for item in items {
                    together.extend(filter(sight, def, item)?);
                }
            }
            ("not", _) => match filter(sight, def, value)? {
                Some(inner) => together.push(Filter::Not(Box::new(inner))),
                None => return Err(Refusal::new(NOTHING_NEGATED)),
            },
            ("has", Value::List(names)) => {
                let fields = names.iter().filter_map(|name| def.field(name.as_str()?));
                together.extend(fields.filter_map(|field| has(sight, field)));
            }
            ("or", Value::List(items)) if !items.is_empty() => {
                let each = items.iter().map(|item| filter(sight, def, item));
                alternatives = Some(each.collect::<Result<Option<Vec<Filter>>, Refusal>>()?);
            }
            _ => {}
        }
    }
    match (all(together), alternatives) {
        (together, None) => Ok(together),
        // One of the alternatives asks for nothing.
        (_, Some(None)) => match sight {
            Sight::Changing(_) => Err(Refusal::new(OPEN_ALTERNATIVE)),
            _ => Ok(None),
        },
        (together, Some(Some(mut any))) => {
            any.extend(together);
            Ok(if any.len() > 1 { Some(Filter::Or(any)) } else { any.pop() })
        }
    }
}

const NOTHING_NEGATED: &str = "Invalid filter statement: `not` needs a filter that asks for something, \
                               and its filter asks for nothing";

const OPEN_ALTERNATIVE: &str = "Invalid filter statement: a filter in `or` asks for nothing, so that all nodes would pass \
                                whatever stands beside it: leave it out, or write `filter: {}` if all are meant";

/// The nodes that have a type.
pub(crate) fn has_type(def: &TypeDef) -> Filter {
    filter_of(Call::Type(def.dgraph_type.clone()))
}

/// The uids in a list of texts, ascending; what is no uid names no node.
pub(super) fn uids_of(value: &Value) -> Vec<u64> {
    let one = std::slice::from_ref(value);
    let items = value.as_list().unwrap_or(one).iter();
    let mut uids: Vec<u64> = items
        .filter_map(|item| Some(Uid::parse(item.as_str()?)?.0))
        .filter(|uid| *uid != 0)
        .collect();
    uids.sort_unstable();
    uids.dedup();
    uids
}

/// That a field has a value, or leads to a node that may be seen.
fn has(sight: Sight<'_>, field: &Field) -> Option<Filter> {
    let predicate = field.predicate.as_ref()?;
    let hidden = match (sight, sight.model().get(field.ty.name())) {
        (Sight::Of(viewer), Some(target)) => {
            viewer.visible(target).map(|permitted| (target, permitted))
        }
        _ => None,
    };
    let Some((target, permitted)) = hidden else {
        return Some(filter_of(Call::Has(reference(predicate))));
    };
    let checks_type = predicate.reverse && target.kind != Kind::Union;
    let typed = checks_type.then(|| has_type(target));
    Some(Filter::Reaches(Box::new(Reach {
        predicate: predicate.name.clone(),
        reverse: predicate.reverse,
        more_than: 0,
        filter: all(typed.into_iter().chain([permitted]).collect()),
    })))
}

/// `memberTypes` says which members there are, `<member>Filter` what is asked of one.
fn union_filter(sight: Sight<'_>, def: &TypeDef, value: &Value) -> Result<Option<Filter>, Refusal> {
    let wanted = value.get("memberTypes").and_then(Value::as_list);
    let is_wanted =
        |name: &str| wanted.is_none_or(|wanted| wanted.iter().any(|it| it.as_str() == Some(name)));
    let mut members = Vec::new();
    let mut is_open = wanted.is_none();
    for name in def.members.iter().filter(|name| is_wanted(name)) {
        let Some(member) = sight.model().get(name) else { continue };
        let key = format!("{}Filter", lower_first(name));
        let inner = value.get(&key).map(|value| filter(sight, member, value)).transpose()?;
        let inner = inner.flatten();
        is_open &= inner.is_none();
        let parts = [Some(has_type(member)), inner].into_iter().flatten().collect();
        members.extend(all(parts));
    }
    Ok(match members.len() {
        _ if is_open => None,
        0 => Some(nothing()),
        1 => members.pop(),
        _ => Some(Filter::Or(members)),
    })
}

/// A name with its first letter in lower case.
pub(super) fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn field_filter(field: &Field, value: &Value) -> Result<Option<Filter>, Refusal> {
    if is_uid(field) {
        return Ok(match value {
            Value::Null => None,
            value => Some(filter_of(Call::Uid { uids: uids_of(value), vars: Vec::new() })),
        });
    }
    let Some(predicate) = &field.predicate else { return Ok(None) };
    let equals = |arguments| Call::Compare {
        op: Comparison::Eq,
        left: Operand::Predicate(reference(predicate)),
        arguments,
    };
    match value {
        Value::Boolean(truth) => {
            Ok(Some(filter_of(equals(vec![Argument::Text(truth.to_string())]))))
        }
        // The key of another service's entity is filtered as a list of values.
        Value::List(values) => {
            let texts = values.iter().filter_map(text_of).map(Argument::Text).collect();
            Ok(Some(one_of(equals, texts)))
        }
        Value::Object(functions) => match functions.first() {
            Some((name, value)) => function_filter(field, name, value),
            None => Ok(None),
        },
        _ => Ok(None),
    }
}

fn one_of(equals: impl Fn(Vec<Argument>) -> Call, texts: Vec<Argument>) -> Filter {
    if texts.is_empty() { nothing() } else { filter_of(equals(texts)) }
}

fn function_filter(field: &Field, name: &str, value: &Value) -> Result<Option<Filter>, Refusal> {
    let Some(predicate) = &field.predicate else { return Ok(None) };
    let predicate = reference(predicate);
    if matches!(value, Value::Null) {
        let has_none = || Filter::Not(Box::new(filter_of(Call::Has(predicate))));
        return Ok((name == "eq").then(has_none));
    }
    let compare = |op| {
        let arguments = text_of(value).map(Argument::Text).into_iter().collect();
        Call::Compare { op, left: Operand::Predicate(predicate.clone()), arguments }
    };
    let terms = |index, wants| Call::Terms {
        predicate: predicate.clone(),
        index,
        wants,
        text: text_of(value).unwrap_or_default(),
    };
    let call = match name {
        "eq" => compare(Comparison::Eq),
        "le" => compare(Comparison::Le),
        "lt" => compare(Comparison::Lt),
        "ge" => compare(Comparison::Ge),
        "gt" => compare(Comparison::Gt),
        "in" => {
            let values = value.as_list().unwrap_or(&[]).iter().filter_map(text_of);
            let left = || Operand::Predicate(predicate.clone());
            let equals = |arguments| Call::Compare { op: Comparison::Eq, left: left(), arguments };
            return Ok(Some(one_of(equals, values.map(Argument::Text).collect())));
        }
        "between" if matches!(value, Value::Enum(_)) => {
            return Err(Refusal::new(
                "`between` takes two values, and that of an enum has one: \
                        write `and: [{f: {ge: LOW}}, {f: {le: HIGH}}]`",
            ));
        }
        "between" => {
            let end = |key| value.get(key).and_then(text_of).map(Argument::Text);
            let (Some(low), Some(high)) = (end("min"), end("max")) else { return Ok(None) };
            Call::Between { left: Operand::Predicate(predicate), low, high }
        }
        "allofterms" => terms(TermIndex::Term, TextMatch::All),
        "anyofterms" => terms(TermIndex::Term, TextMatch::Any),
        "alloftext" => terms(TermIndex::FullText, TextMatch::All),
        "anyoftext" => terms(TermIndex::FullText, TextMatch::Any),
        "ngram" => terms(TermIndex::NGram, TextMatch::All),
        "regexp" => {
            let text = text_of(value).unwrap_or_default();
            let (pattern, flags) = regular_expression(&text)?;
            Call::Regexp { predicate, pattern, flags }
        }
        _ => match geo_call(name, value, predicate) {
            Some(call) => call,
            None => return Ok(None),
        },
    };
    Ok(Some(filter_of(call)))
}

/// The parts of `/pattern/flags`.
fn regular_expression(text: &str) -> Result<(String, String), Refusal> {
    let inside = text.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
    match inside {
        Some((pattern, flags)) if flags.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            Ok((pattern.replace("\\/", "/"), flags.to_owned()))
        }
        _ => Err(Refusal::new(format!(
            "Function 'regexp' requires 2 arguments, but got 1 ([{text}]): write the expression between slashes"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_expressions_stand_between_slashes() {
        let parts = |pattern: &str, flags: &str| Ok((pattern.to_owned(), flags.to_owned()));
        assert_eq!(regular_expression("/a.*b/i"), parts("a.*b", "i"));
        assert_eq!(regular_expression(r"/a\/b/"), parts("a/b", ""));
        for bad in ["", "a", "/", "a/b", "/a", "/a/b)"] {
            let error = regular_expression(bad).unwrap_err();
            let why = format!("but got 1 ([{bad}]): write the expression between slashes");
            assert!(error.message().ends_with(&why), "{error:?}");
        }
    }

    #[test]
    fn uids_in_any_form() {
        let texts = ["0x2", "1", "no", "0x2", "0"].map(|text| Value::String(text.into()));
        assert_eq!(uids_of(&Value::List(texts.into())), [1, 2]);
        assert_eq!(uids_of(&Value::Null), [0; 0]);
    }
}
