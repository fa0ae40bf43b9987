//! Lowers the argument `filter: {...}` to conditions on nodes.
//!
//! The keys of an object are joined by *and*, except for `or`: its list and the conjunction of all
//! other keys are alternatives.

use super::filter_value::text_of;
use super::geo::geo_call;
use crate::generate::lower_first;
use crate::lower::refusal::Refusal;
use crate::lower::target::{all, filter_of, is_uid, nothing, reference};
use crate::model::{Field, Kind, Model, TypeDef};
use crate::request::Value;
use apollo_compiler::Name;
use hexgraph_base::plan::{
    Argument, Call, Comparison, Filter, Operand, SemiJoin, TermIndex, TextMatch, TextTest,
};
use hexgraph_base::types::{Uid, stack};

/// A caller for whom rules may hide nodes.
pub(in crate::lower) trait Viewer {
    /// The schema.
    fn model(&self) -> &Model;

    /// Returns the condition that nodes of a type have to pass to be visible; `None` when all are
    /// visible.
    fn visible(&self, def: &TypeDef) -> Option<Filter>;
}

/// On whose behalf a filter is lowered, which decides what it may see.
#[derive(Clone, Copy)]
pub(in crate::lower) enum Sight<'a> {
    /// A caller: edges to nodes that the rules hide from the caller do not exist for the filter.
    Of(&'a dyn Viewer),
    /// A rule, which sees all data.
    Full(&'a Model),
    /// A mutation, which sees all data as well. It must not change more nodes than its filter says.
    /// So only `{}` selects every node, and an alternative without conditions, which would make its
    /// siblings useless, is refused.
    Changing(&'a Model),
}

impl<'a> Sight<'a> {
    fn model(self) -> &'a Model {
        match self {
            Sight::Of(viewer) => viewer.model(),
            Sight::Full(model) | Sight::Changing(model) => model,
        }
    }
}

/// Lowers the filter of a root field. When it names nodes by their IDs, only these nodes can be
/// selected, and all other keys, `or` included, restrict them further. Returns `None` when the
/// filter has no condition.
///
/// # Errors
///
/// The errors of [`filter`], and for a mutation a filter that has no condition and is not `{}`.
pub(in crate::lower) fn root_filter(
    sight: Sight<'_>,
    def: &TypeDef,
    value: &Value,
) -> Result<Option<RootFilter>, Refusal> {
    let Value::Object(entries) = value else { return Ok(None) };
    // The ID of an entity that another service declares is a value, and no uid.
    let names_nodes =
        |(key, value): &&(Name, Value)| *value != Value::Null && def.field(key).is_some_and(is_uid);
    let named = entries.iter().find(names_nodes).map(|(_, value)| uids_of(value));
    let rest = conditions(sight, def, entries.iter().filter(|entry| !names_nodes(entry)))?;
    // A key without a value requests nothing, too: a variable that was forgotten must not change
    // every node.
    if let (Sight::Changing(_), None, None) = (sight, &named, &rest)
        && !entries.is_empty()
    {
        return Err(Refusal::new(format!(
            "the filter is empty, which would change every {}: write `filter: {{}}` if that is meant",
            def.name
        )));
    }
    Ok(Some(RootFilter { named, rest }))
}

/// The filter of a root field.
pub(in crate::lower) struct RootFilter {
    /// The uids of the nodes that it names, ascending; `None` when it names none.
    pub named: Option<Vec<u64>>,
    /// The condition on these nodes, or on all nodes of the type.
    pub rest: Option<Filter>,
}

impl RootFilter {
    /// Returns the filter as one condition.
    pub(in crate::lower) fn into_filter(self) -> Option<Filter> {
        let named = self.named.map(|uids| filter_of(Call::Uid { uids, vars: Vec::new() }));
        match self.rest {
            Some(Filter::And(rest)) => all(named.into_iter().chain(rest).collect()),
            rest => all(named.into_iter().chain(rest).collect()),
        }
    }
}

/// Lowers a filter on nodes of a type. Returns `None` when it has no condition.
///
/// # Errors
///
/// The reason why a value is wrong, worded as in Dgraph.
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

/// Lowers the entries of a filter object.
fn conditions<'v>(
    sight: Sight<'_>,
    def: &TypeDef,
    entries: impl Iterator<Item = &'v (Name, Value)>,
) -> Result<Option<Filter>, Refusal> {
    let mut together = Vec::new();
    let mut alternatives = None;
    for (key, value) in entries {
        // A field may be named `has` or `or`: the type's own field goes first.
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
                // What is not stored, as the distance of a neighbour, no node has.
                let names = names.iter().filter_map(Value::as_str);
                let fields = names.map(|name| def.field(name).and_then(|it| has(sight, it)));
                together.extend(fields.map(|it| it.unwrap_or_else(nothing)));
            }
            ("or", Value::List(items)) if !items.is_empty() => {
                // All are looked at first: what is wrong in one is refused wherever it stands.
                let each = items.iter().map(|item| filter(sight, def, item));
                let each: Vec<Option<Filter>> = each.collect::<Result<_, Refusal>>()?;
                alternatives = Some(each.into_iter().collect::<Option<Vec<Filter>>>());
            }
            _ => {}
        }
    }
    match (all(together), alternatives) {
        (together, None) => Ok(together),
        // An alternative without conditions is true for every node, and so is the entire
        // disjunction.
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

/// The refusal of a `not` without conditions.
const NOTHING_NEGATED: &str = "Invalid filter statement: `not` needs a filter with a condition, \
                               and its filter has no condition";

/// The refusal of an alternative without conditions in the filter of a mutation.
const OPEN_ALTERNATIVE: &str = "Invalid filter statement: a filter in `or` has no condition, so all nodes \
                                would match: leave it out, or write `filter: {}` if all are meant";

/// Returns the condition that a node has a type.
pub(crate) fn has_type(def: &TypeDef) -> Filter {
    filter_of(Call::Type(def.dgraph_type.clone()))
}

/// Returns the uids in a list of texts, ascending, each once. Texts that are not uids name no node
/// and are left out.
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

/// Returns the condition that a field has a value, or an edge to a visible node.
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
    // Edges that are read backwards may come from nodes of any type.
    let checks_type = predicate.reverse && target.kind != Kind::Union;
    let typed = checks_type.then(|| has_type(target));
    Some(Filter::SemiJoin(Box::new(SemiJoin {
        predicate: predicate.name.clone(),
        reverse: predicate.reverse,
        more_than: 0,
        filter: all(typed.into_iter().chain([permitted]).collect()),
    })))
}

/// Lowers a filter on a union: `memberTypes` lists the types that are selected, `<member>Filter`
/// restricts one of them.
fn union_filter(sight: Sight<'_>, def: &TypeDef, value: &Value) -> Result<Option<Filter>, Refusal> {
    let expected = value.get("memberTypes").and_then(Value::as_list);
    let is_expected = |name: &str| {
        expected.is_none_or(|expected| expected.iter().any(|it| it.as_str() == Some(name)))
    };
    // With no member excluded and none restricted, every node passes.
    let mut members = Vec::new();
    let mut is_open = expected.is_none();
    for name in def.members.iter().filter(|name| is_expected(name)) {
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

/// Lowers the filter of one field.
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
        // The validation allows one function at a time.
        Value::Object(functions) => match functions.first() {
            Some((name, value)) => function_filter(field, name, value),
            None => Ok(None),
        },
        _ => Ok(None),
    }
}

/// The condition that a value is one of several; none of them is no node's.
fn one_of(equals: impl Fn(Vec<Argument>) -> Call, texts: Vec<Argument>) -> Filter {
    if texts.is_empty() { nothing() } else { filter_of(equals(texts)) }
}

/// Lowers one function of a field.
fn function_filter(field: &Field, name: &str, value: &Value) -> Result<Option<Filter>, Refusal> {
    let Some(predicate) = &field.predicate else { return Ok(None) };
    let predicate = reference(predicate);
    // `{eq: null}` requests nodes without a value; other functions of null request nothing.
    if matches!(value, Value::Null) {
        let has_none = || Filter::Not(Box::new(filter_of(Call::Has(predicate))));
        return Ok((name == "eq").then(has_none));
    }
    let compare = |op| {
        let arguments = text_of(value).map(Argument::Text).into_iter().collect();
        Call::Compare { op, left: Operand::Predicate(predicate.clone()), arguments }
    };
    let terms = |index, expects| Call::Terms {
        predicate: predicate.clone(),
        index,
        expects,
        text: text_of(value).unwrap_or_default(),
    };
    if let Some(op) = Comparison::from_name(name) {
        return Ok(Some(filter_of(compare(op))));
    }
    let call = match name {
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
            Call::Text { predicate, test: TextTest::Regexp { pattern, flags } }
        }
        _ => match geo_call(name, value, predicate) {
            Some(call) => call,
            None => return Ok(None),
        },
    };
    Ok(Some(filter_of(call)))
}

/// Splits `/pattern/flags`.
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
