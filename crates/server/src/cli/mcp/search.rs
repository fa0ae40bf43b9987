//! `search`: nodes by words of their texts, in the predicates that have an index for it.

use super::answer::{Outcome, ToolAnswer, ToolFault};
use super::call::{ParamKind, SECONDS, ToolCall, ToolDef, param, required};
use super::model::Model;
use super::query::{BYTES, CURSOR, ROWS, TEXT_LENGTH, page};
use crate::cli::shell::quoted;
use hexgraph::db::{ParameterValue, QueryRequest, Variables};
use hexgraph_base::types::Error;
use serde_json::{Map, Value, json};

/// The predicates that one call searches.
const SEARCHED_MAX: usize = 20;

/// The shortest text that an index of trigrams has.
const TRIGRAM: usize = 3;

pub(super) const SEARCH: ToolDef = ToolDef {
    name: "search",
    title: "Search texts",
    what: "Searches for nodes by a text in their values: by words where a predicate has an index of words (fulltext, term), by a part of the \
        value with trigram, by the exact value with exact or hash. Where no index allows it, the answer says which one to add.",
    params: &[
        required("text", ParamKind::Text, "the words, or the part of a value"),
        param(
            "predicates",
            ParamKind::Texts,
            "the predicates to search; default: all with an index",
        ),
        param("words", ParamKind::Choice(&["all", "any"]), "whether all words must match, or any"),
        ROWS,
        BYTES,
        TEXT_LENGTH,
        CURSOR,
        SECONDS,
    ],
    writes: false,
    run: search,
};

fn search(call: &ToolCall<'_>) -> Outcome<ToolAnswer> {
    let model = call.model()?;
    let text = call.arguments.required("text");
    if text.trim().is_empty() {
        return Err(ToolFault::Params("search: `text`: it is empty".to_owned()));
    }
    let given = call.arguments.texts("predicates");
    let is_any = call.arguments.text("words") == Some("any");
    let names: Vec<&str> = match given.as_slice() {
        [] => model.catalog.predicates.keys().map(String::as_str).collect(),
        given => given.to_vec(),
    };
    let mut searched = Vec::new();
    for name in names {
        match function(&model, name, text, is_any) {
            Ok(function) => searched.push((name, function)),
            // Of all predicates those count that can be searched.
            Err(error) if !given.is_empty() => return Err(error.into()),
            Err(_) => {}
        }
    }
    if searched.is_empty() {
        return Err(no_index(&model, text).into());
    }
    searched.sort_by_key(|(name, _)| u64::MAX - model.values(name));
    let all = searched.len();
    searched.truncate(SEARCHED_MAX);
    let labels = model.label_fields();
    let block = |(at, (name, function)): (usize, &(&str, String))| {
        let (field, label) = (model.value_field(name), model.labels().contains(name));
        let field = if label { String::new() } else { format!(" {field}") };
        format!("b{at}(func: {function}) {{ {labels}{field} }} ")
    };
    let blocks: String = searched.iter().enumerate().map(block).collect();
    let request = QueryRequest {
        text: format!("query search($text: string) {{ {blocks} }}"),
        variables: Variables::from([("$text".to_owned(), ParameterValue::from(text))]),
        debug: false,
    };
    let mut answer = page(call, &request)?;
    // A variable that only literals replace is unused.
    answer.warnings.retain(|warning| !warning.contains("$text"));
    let Some(Value::Object(mut blocks)) = answer.data.remove("blocks") else {
        return Err(Error::internal("a page has blocks").into());
    };
    let mut rows = Map::new();
    for (at, (name, _)) in searched.iter().enumerate() {
        let matches = blocks.remove(&format!("b{at}")).unwrap_or_else(|| json!([]));
        rows.insert((*name).to_owned(), matches);
    }
    answer.data.insert("matches".to_owned(), Value::Object(rows));
    let names: Vec<&str> = searched.iter().map(|(name, _)| *name).collect();
    answer.data.insert("searched".to_owned(), json!(names));
    if names.len() < all {
        let more = all - names.len();
        answer.cuts.note(format!("predicates: {more} with an index were not searched: name them"));
    }
    Ok(answer)
}

/// The function that searches a predicate for a text.
///
/// # Errors
///
/// Which index is missing.
fn function(
    model: &Model,
    name: &str,
    text: &str,
    is_any: bool,
) -> hexgraph_base::types::Result<String> {
    let (name, definition) = model.predicate(name)?;
    if !is_text(definition) {
        let fault = format!("{name} is no text: {definition}");
        return Err(Error::query(fault).with_hint("search texts; compare others by a query"));
    }
    let has = |index: &str| indexes(definition).any(|it| it == index);
    let field = model.value_field(name);
    let words = if is_any { "anyof" } else { "allof" };
    Ok(if has("fulltext") {
        format!("{words}text({field}, $text)")
    } else if has("term") {
        format!("{words}terms({field}, $text)")
    } else if has("trigram") && TRIGRAM <= text.trim().chars().count() {
        format!("regexp({field}, /{}/i)", literal(text.trim()))
    } else if has("exact") || has("hash") {
        format!("eq({field}, $text)")
    } else {
        return Err(missing(name, definition, text, has("trigram")));
    })
}

fn missing(name: &str, definition: &str, text: &str, has_trigram: bool) -> Error {
    if has_trigram {
        let fault =
            format!("{name} has an index of trigrams, and {text:?} is shorter than three letters");
        return Error::query(fault).with_hint("search for a longer text");
    }
    let fault = format!("{} has no index for texts: {definition}", quoted(name));
    Error::query(fault).with_hint(with_index(name, definition))
}

/// The hint that gives a predicate an index.
fn with_index(name: &str, definition: &str) -> String {
    let kind = definition.split_whitespace().next().unwrap_or("string");
    let name = quoted(name);
    format!("a change of the schema adds one: `{name}: {kind} @index(fulltext) .`")
}

/// The error where no predicate can be searched.
fn no_index(model: &Model, text: &str) -> Error {
    let all = model.catalog.predicates.iter();
    let texts: Vec<&str> =
        all.filter(|(_, it)| is_text(it)).map(|(name, _)| name.as_str()).collect();
    let [first, ..] = texts.as_slice() else {
        return Error::query("no predicate of the schema holds texts");
    };
    let fault =
        format!("no predicate has an index that finds {text:?}: of {} with texts", texts.len());
    let definition = model.catalog.predicates.get(*first).map_or("string", String::as_str);
    Error::query(fault).with_hint(with_index(first, definition))
}

fn is_text(definition: &str) -> bool {
    ["string", "[string]", "default"].iter().any(|kind| definition.starts_with(kind))
}

/// The indexes of a definition: `term` and `exact` of `string @index(term, exact)`.
fn indexes(definition: &str) -> impl Iterator<Item = &str> {
    let list = definition.split_once("@index(").and_then(|(_, rest)| rest.split_once(')'));
    list.map_or("", |(list, _)| list).split(',').map(str::trim)
}

/// A text as a regular expression that matches it alone.
fn literal(text: &str) -> String {
    let mut literal = String::new();
    for letter in text.chars() {
        if !letter.is_alphanumeric() && letter.is_ascii() && !letter.is_ascii_whitespace() {
            literal.push('\\');
        }
        literal.push(if letter.is_control() { '.' } else { letter });
    }
    literal
}
