//! The words of `@search`: the indexes that they mean, the types that may have them, and the check
//! of the directive.

use super::subject::Subject;
use crate::model::SearchIndex;
use crate::sdl::build::builtin::is_geo;
use crate::sdl::source::raw::{RawDirective, RawField, RawKind};
use crate::sdl::source::value::{bare, items};
use crate::syntax::GraphqlError;
use apollo_compiler::ast::Value;

/// A word of `@search`.
struct Word {
    name: &'static str,
    /// The type of the fields that may have it.
    ty: &'static str,
    /// The name of the index in the store.
    index: &'static str,
    /// The name of the filter that uses the index. Two words of one filter exclude each other.
    filter: &'static str,
}

const fn word(
    name: &'static str,
    ty: &'static str,
    index: &'static str,
    filter: &'static str,
) -> Word {
    Word { name, ty, index, filter }
}

/// All words, in the order of their names.
const WORDS: &[Word] = &[
    word("bool", "Boolean", "bool", "Boolean"),
    word("day", "DateTime", "day", "DateTimeFilter"),
    word("exact", "String", "exact", "StringExactFilter"),
    word("float", "Float", "float", "FloatFilter"),
    word("fulltext", "String", "fulltext", "StringFullTextFilter"),
    word("hash", "String", "hash", "StringHashFilter"),
    word("hnsw", "Float", "hnsw", "HNSWSearchFilter"),
    word("hour", "DateTime", "hour", "DateTimeFilter"),
    word("int", "Int", "int", "IntFilter"),
    word("int64", "Int64", "int", "Int64Filter"),
    word("month", "DateTime", "month", "DateTimeFilter"),
    word("multiPolygon", "MultiPolygon", "geo", "PolygonGeoFilter"),
    word("ngram", "String", "ngram", "StringNgramFilter"),
    word("point", "Point", "geo", "PointGeoFilter"),
    word("polygon", "Polygon", "geo", "PolygonGeoFilter"),
    word("regexp", "String", "trigram", "StringRegExpFilter"),
    word("term", "String", "term", "StringTermFilter"),
    word("trigram", "String", "trigram", "StringRegExpFilter"),
    word("year", "DateTime", "year", "DateTimeFilter"),
];

/// The words that fields of enums may have.
const ENUM_WORDS: &[&str] = &["trigram", "hash", "exact", "regexp", "ngram"];

fn word_of(name: &str) -> Option<&'static Word> {
    WORDS.iter().find(|word| word.name == name)
}

/// Returns the name of the index that a word means in the store.
pub(in crate::sdl) fn store_index(word: &str) -> &'static str {
    word_of(word).map_or("hash", |word| word.index)
}

/// Returns the word of a type for `@search` without words. What is no scalar is an enum.
fn default_word(ty: &str) -> &'static str {
    match ty {
        "Boolean" => "bool",
        "Int" => "int",
        "Int64" => "int64",
        "Float" => "float",
        "String" => "term",
        "DateTime" => "year",
        "Point" => "point",
        "Polygon" => "polygon",
        "MultiPolygon" => "multiPolygon",
        _ => "hash",
    }
}

/// Returns the words by which a field can be filtered, in order, with their options as they are
/// written: those of `@search`, or the type's where it has none, and the one that `@id` needs.
fn words(field: &RawField) -> Vec<String> {
    let ty = field.ty.name();
    let is_unique = field.has("id");
    // `@id` needs an index for look-ups: by equality for texts, else that of the type.
    let Some(search) = field.directive("search") else {
        let implied = if ty == "String" { "hash" } else { default_word(ty) };
        return if is_unique { vec![implied.to_owned()] } else { Vec::new() };
    };
    let by = search.argument("by").map_or(&[][..], |by| items(by));
    if by.is_empty() {
        return vec![default_word(ty).to_owned()];
    }
    let mut words: Vec<String> = by.iter().map(|word| bare(word)).collect();
    // Terms and trigrams find candidates only; a look-up by `@id` needs the value itself.
    if is_unique && ty == "String" && !words.iter().any(|word| word == "hash" || word == "exact") {
        words.push("hash".to_owned());
    }
    words.sort_unstable();
    words
}

/// Returns the indexes of a field that passed the check, in the order of their words.
pub(in crate::sdl) fn indexes(field: &RawField) -> Vec<SearchIndex> {
    let read = |text: String| SearchIndex {
        word: bare_word(&text).to_owned(),
        options: options(&text).unwrap_or_default(),
    };
    words(field).into_iter().map(read).collect()
}

/// Returns the word without its options.
fn bare_word(text: &str) -> &str {
    text.split('(').next().unwrap_or(text).trim()
}

/// Reads the options of `hnsw(metric: cosine, exponent: 4)`, ordered by name; `None` when they are
/// malformed.
fn options(text: &str) -> Option<Vec<(String, String)>> {
    let text = text.trim();
    let Some((_, rest)) = text.split_once('(') else {
        return (!text.ends_with(')')).then(Vec::new);
    };
    let inside = rest.strip_suffix(')')?;
    let mut options = Vec::new();
    for pair in inside.split(',') {
        let (name, value) = pair.split_once(": ")?;
        let value = value.trim().trim_matches(['"', '\'']);
        let name = name.trim();
        if name.is_empty() || value.is_empty() || value.contains(['{', '}', '[', ']', ':']) {
            return None;
        }
        options.push((name.to_owned(), value.to_owned()));
    }
    options.sort_unstable();
    Some(options)
}

/// Checks `@search`.
///
/// # Errors
///
/// The first word that does not suit the field, or does not go with those before.
pub(in crate::sdl) fn check(
    subject: &Subject<'_>,
    directive: &RawDirective,
) -> Result<(), GraphqlError> {
    let field = subject.field;
    let ty = field.ty.name();
    let Some(by) = directive.argument("by") else {
        let kind = subject.draft.kind_of(ty);
        let searchable = kind == Some(RawKind::Enum)
            || is_geo(ty)
            || kind == Some(RawKind::Scalar) && !field.is_id();
        return if searchable {
            Ok(())
        } else {
            let what = format!(
                "has the @search directive but fields of type {ty} can't have the @search directive."
            );
            Err(subject.fault_at(directive, what))
        };
    };
    if !matches!(**by, Value::List(_)) {
        let what = "the @search directive requires a list argument, like @search(by: [\"hash\"])";
        return Err(subject.fault_at(directive, what));
    }
    // Words come in order, so a clash names the earlier one by its position in the alphabet.
    let mut before: Vec<&Word> = Vec::new();
    for text in words(field) {
        let word = match word_for(subject, &text) {
            Ok(word) => word,
            Err(what) => return Err(subject.fault_at(directive, what)),
        };
        if let Some(what) = clash(subject, word, &text, &before) {
            return Err(subject.fault_at(directive, what));
        }
        before.push(word);
    }
    Ok(())
}

/// Returns the word of a text, or the message when the field can't have it.
fn word_for(subject: &Subject<'_>, text: &str) -> Result<&'static Word, String> {
    let ty = subject.field.ty.name();
    let is_enum = subject.draft.is_kind(ty, RawKind::Enum);
    let Some(word) = word_of(bare_word(text)) else {
        let allowed = allowed(ty, is_enum);
        return Err(format!(
            "the argument to @search {text} isn't valid.Fields of type {ty} {allowed}."
        ));
    };
    if !is_enum && word.ty != ty {
        return Err(format!(
            "has the @search directive but the argument {text} doesn't apply to field type {ty}.  \
             Search by {text} applies to fields of type {}. Fields of type {ty} {}.",
            word.ty,
            allowed(ty, is_enum)
        ));
    }
    if is_enum && !ENUM_WORDS.contains(&text) {
        return Err(format!(
            "has the @search directive but the argument {text} doesn't apply to field type {ty} \
             which is an Enum. Enum only supports hash, exact, regexp and trigram"
        ));
    }
    if word.name == "hnsw" && !subject.field.has("embedding") {
        return Err(format!(
            "has the @search directive but the argument {text} requires the field also has \
             @embedding directive."
        ));
    }
    if word.name == "hnsw" && options(text).is_none() {
        return Err(format!(
            "has the @search directive but the argument '{text}' with search options is malformed. \
             Search options are comma-separated key-value pairs in YAML format => \
             <optionName><COLON><SPACE><VALUE>"
        ));
    }
    Ok(word)
}

/// Returns the message when a word excludes one of those before it.
fn clash(subject: &Subject<'_>, word: &Word, text: &str, before: &[&Word]) -> Option<String> {
    let ty = subject.field.ty.name();
    if let Some(same) = before.iter().find(|other| other.filter == word.filter) {
        return Some(if ty == "String" || subject.draft.is_kind(ty, RawKind::Enum) {
            format!(
                "the argument to @search '{text}' is the same as the index '{}' provided before \
                 and shouldn't be used together",
                same.name
            )
        } else {
            format!("has the search directive on {ty}. {ty} allows only one argument for @search.")
        });
    }
    // Both indexes answer equality, and one is enough.
    let excluded = match word.name {
        "hash" => "exact",
        "exact" => "hash",
        _ => return None,
    };
    let other = before.iter().find(|other| other.name == excluded)?;
    Some(format!(
        "the arguments '{text}' and '{}' can't be used together as arguments to @search.",
        other.name
    ))
}

/// Returns the words of a type for messages.
fn allowed(ty: &str, is_enum: bool) -> String {
    let words: Vec<&str> =
        WORDS.iter().filter(|word| word.ty == ty).map(|word| word.name).collect();
    match words.split_last() {
        _ if is_enum => "are searchable by just @search".to_owned(),
        None => "can't have the @search directive".to_owned(),
        Some((_, [])) => "are searchable by just @search".to_owned(),
        Some((last, others)) => format!("can have @search by {} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_pairs() {
        let pairs = |text| options(text);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(pairs("hnsw"), Some(vec![]));
        let both = vec![pair("exponent", "4"), pair("metric", "cosine")];
        assert_eq!(pairs("hnsw(metric: cosine, exponent: \"4\")"), Some(both));
        for malformed in
            ["hnsw()", "hnsw(metric)", "hnsw(metric:cosine)", "hnsw(a: b", "hnsw)", "hnsw(a: )"]
        {
            assert_eq!(pairs(malformed), None, "{malformed}");
        }
    }

    #[test]
    fn words_are_ordered_by_name() {
        assert!(WORDS.is_sorted_by_key(|word| word.name));
    }
}
