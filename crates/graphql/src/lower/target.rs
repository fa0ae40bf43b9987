//! Fields → what the executor calls them.

use crate::model::{Field, Language, Predicate};
use hexgraph_base::plan;
use hexgraph_base::plan::{Call, FieldKind, Filter, Function, Page, PredicateRef};
use hexgraph_base::types::Position;

/// A function without a position in any text.
pub(super) fn function(call: Call) -> Function {
    Function { call, at: Position::default() }
}

/// A filter of one function.
pub(super) fn filter_of(call: Call) -> Filter {
    Filter::Function(Box::new(function(call)))
}

/// A filter that nothing passes.
pub(super) fn nothing() -> Filter {
    filter_of(Call::Uid { uids: Vec::new(), vars: Vec::new() })
}

/// All of some filters; `None` when there are none.
pub(super) fn all(mut filters: Vec<Filter>) -> Option<Filter> {
    if filters.len() > 1 { Some(Filter::And(filters)) } else { filters.pop() }
}

/// A predicate as functions name it.
pub(super) fn reference(predicate: &Predicate) -> PredicateRef {
    PredicateRef {
        name: predicate.name.clone(),
        reverse: predicate.reverse,
        lang: language(&predicate.language),
    }
}

/// The one language of a predicate, if it has one.
pub(super) fn language(language: &Language) -> Option<String> {
    match language {
        Language::Tagged(tag) => Some(tag.clone()),
        Language::Any => Some(".".to_owned()),
        Language::Untagged | Language::Preferred(_) => None,
    }
}

/// The languages in order of preference.
pub(super) fn languages(predicate: &Predicate) -> Vec<String> {
    match &predicate.language {
        Language::Untagged => Vec::new(),
        Language::Tagged(tag) => vec![tag.clone()],
        Language::Any => vec![".".to_owned()],
        Language::Preferred(tags) => tags.clone(),
    }
}

/// A field of a selection that fetches a predicate.
pub(super) fn fetched(predicate: &Predicate) -> plan::Field {
    let langs = languages(predicate);
    let (name, reverse) = (predicate.name.clone(), predicate.reverse);
    plan_field(FieldKind::Predicate { name, reverse, langs }, predicate.name.clone())
}

/// A field of a selection that requests nothing special.
pub(crate) fn plan_field(kind: FieldKind, key: String) -> plan::Field {
    plan::Field {
        kind,
        at: Position::default(),
        alias: None,
        key,
        var: None,
        filter: None,
        order: Vec::new(),
        page: Page::default(),
        facets: None,
        facet_filter: None,
        cascade: None,
        normalize: false,
        group_by: None,
        fields: Vec::new(),
        has_body: false,
    }
}

/// The field that is the node's uid, and not the key of another service's entity.
pub(super) fn is_uid(field: &Field) -> bool {
    field.is_id() && field.predicate.is_none()
}
