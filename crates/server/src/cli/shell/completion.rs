//! What may follow what is typed: names, words and commands for the tab key, and hints after the
//! cursor.

use super::catalog::{Catalog, quoted};
use super::commands::{Argument, COMMANDS, FORMATS, command_of};
use super::cypher::{WORDS, is_cypher};
use super::scan::{Kind, Token, is_name, tokens};
use super::statements::command;
use hexgraph::cypher::FUNCTIONS as FUNCTIONS_OF_CYPHER;
use hexgraph::db::KeywordKind;

/// The keys of the head of a block.
const HEAD_KEYS: [&str; 6] = ["func:", "first:", "offset:", "after:", "orderasc:", "orderdesc:"];

/// What a request begins with.
const OPENINGS: [&str; 4] = ["query", "upsert", "fragment", "schema"];

/// The words of a selection that are no predicates.
const FIELD_WORDS: [&str; 6] = ["uid", "expand(", "count(", "val(", "math(", "dgraph.type"];

/// What can be at the cursor.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Completion {
    /// From this offset on, one of these.
    Words(usize, Vec<String>),
    /// The name of a file.
    File,
}

/// The text between the beginning of a word and the cursor is completed. `is_graphql` selects the
/// language.
pub(super) fn completion(catalog: &Catalog, text: &str, is_graphql: bool) -> Completion {
    let start = word_start(text);
    if let Some((name, _)) = command(text) {
        if !text.trim_start().contains(char::is_whitespace) {
            let start = text.len() - text.trim_start().len();
            let names = COMMANDS.iter().map(|command| format!("\\{}", command.name));
            return Completion::Words(start, matching(names, &text[start..]));
        }
        let prefix = &text[start..];
        match command_of(name).map(|command| command.argument) {
            Some(Argument::Switch) => {
                return Completion::Words(start, matching(owned(&["on", "off"]), prefix));
            }
            Some(Argument::Format) => {
                return Completion::Words(start, matching(owned(&FORMATS), prefix));
            }
            Some(Argument::File) => return Completion::File,
            Some(Argument::Name) => {
                let names = catalog.types.keys().chain(catalog.predicates.keys());
                return Completion::Words(start, matching(names.map(|name| quoted(name)), prefix));
            }
            Some(Argument::Text) => {}
            Some(Argument::Nothing | Argument::Number) | None => {
                return Completion::Words(start, Vec::new());
            }
        }
    }
    let prefix = &text[start..];
    if is_graphql {
        let names = catalog.graphql.iter().cloned();
        return Completion::Words(start, matching(names, prefix));
    }
    if is_cypher(text) {
        // A point is no part of a name.
        let start = text.trim_end_matches(|it: char| it.is_alphanumeric() || it == '_').len();
        let (before, prefix) = text.split_at(start);
        return Completion::Words(start, matching(cypher_candidates(catalog, before), prefix));
    }
    Completion::Words(start, matching(candidates(catalog, &text[..start], prefix), prefix))
}

/// What may begin at the cursor in Cypher: labels and relationship types after `:`, properties
/// after a point, else words and functions.
fn cypher_candidates(catalog: &Catalog, before: &str) -> Vec<String> {
    let predicates = catalog.predicates.iter();
    let named = |is_edge: bool| {
        let fitting = predicates.clone().filter(move |(_, definition)| {
            let value_type = definition.trim_start_matches('[');
            value_type.starts_with("uid") == is_edge && !value_type.starts_with("password")
        });
        fitting.map(|(name, _)| backquoted(name))
    };
    match before.trim_end().chars().next_back() {
        Some(':' | '|') => {
            catalog.types.keys().map(|name| backquoted(name)).chain(named(true)).collect()
        }
        Some('.') => named(false).collect(),
        _ => {
            let functions = FUNCTIONS_OF_CYPHER.iter().map(|it| format!("{}(", it.name));
            owned(&WORDS).chain(functions).collect()
        }
    }
}

/// A name as Cypher has it: in backquotes where it has other characters than those of plain names.
fn backquoted(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    match name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("`{}`", name.replace('`', "``")),
    }
}

/// What may begin at the cursor in DQL, likely names first.
fn candidates(catalog: &Catalog, before: &str, prefix: &str) -> Vec<String> {
    if prefix.starts_with('@') {
        return catalog.keywords_of(KeywordKind::Directive).map(str::to_owned).collect();
    }
    let predicates = || catalog.predicates.keys().map(|name| quoted(name));
    let types = || catalog.types.keys().map(|name| quoted(name));
    let calls = |kind| catalog.keywords_of(kind).map(|name| format!("{name}("));
    let functions = || calls(KeywordKind::Condition);
    let tokens: Vec<Token<'_>> =
        tokens(before).into_iter().filter(|token| token.kind != Kind::Comment).collect();
    let last = |back: usize| {
        tokens.len().checked_sub(back).and_then(|at| tokens.get(at)).map_or("", |token| token.text)
    };
    if last(1) == ":" {
        return match last(2) {
            "func" => functions().collect(),
            "orderasc" | "orderdesc" => predicates().collect(),
            _ => Vec::new(),
        };
    }
    let Some(open) = open_bracket(&tokens) else {
        return owned(&OPENINGS).collect();
    };
    let head = open.checked_sub(1).map_or("", |at| tokens[at].text);
    match tokens[open].text {
        "(" if head == "type" => types().collect(),
        "(" if matches!(head, "@filter" | "@if") => functions().collect(),
        // Brackets within a filter.
        "(" if matches!(head, "(" | "AND" | "OR" | "NOT" | "and" | "or" | "not") => {
            functions().collect()
        }
        "(" if catalog.is_function(head) || head.starts_with("@") => predicates().collect(),
        "(" => owned(&HEAD_KEYS).collect(),
        "{" if is_selection(&tokens[..open]) => {
            predicates().chain(owned(&FIELD_WORDS)).chain(calls(KeywordKind::Aggregate)).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a brace after some tokens opens the fields of a node: those of a block and of another
/// field do, that of a request does not.
fn is_selection(before: &[Token<'_>]) -> bool {
    let words = |token: &Token<'_>| matches!(token.text, "set" | "delete");
    !before.last().is_some_and(words) && open_bracket(before).is_some()
        || before.first().is_some_and(|first| first.text == "fragment")
}

/// The position of the innermost bracket that is open.
fn open_bracket(tokens: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().rev() {
        match token.kind {
            Kind::Close => depth += 1,
            Kind::Open if depth == 0 => return Some(at),
            Kind::Open => depth -= 1,
            _ => {}
        }
    }
    None
}

/// A hint after the cursor, and whether it can be accepted.
pub(super) fn hint(catalog: &Catalog, text: &str, is_graphql: bool) -> Option<(String, bool)> {
    if let Some((name, "")) = command(text)
        && text.as_bytes().last() == Some(&b' ')
        && let Some(command) = command_of(name)
        && !command.usage.is_empty()
    {
        return Some((command.usage.to_owned(), false));
    }
    if let Some(head) = text.strip_suffix('(').filter(|_| !is_graphql) {
        let name = &head[word_start(head)..];
        let arguments = catalog.form_of(name).and_then(|form| form.strip_prefix(name));
        return arguments.map(|rest| (rest.trim_start_matches('(').to_owned(), false));
    }
    match completion(catalog, text, is_graphql) {
        Completion::Words(start, words) if start + 1 < text.len() => match &words[..] {
            [only] => only.strip_prefix(&text[start..]).map(|rest| (rest.to_owned(), true)),
            _ => None,
        },
        _ => None,
    }
    .filter(|(rest, _)| !rest.is_empty())
}

/// The offset where the word before the cursor begins.
fn word_start(text: &str) -> usize {
    let start = text.trim_end_matches(is_name).len();
    match text[..start].chars().next_back() {
        Some('@' | '<' | '\\') => start - 1,
        _ => start,
    }
}

fn matching(names: impl IntoIterator<Item = String>, prefix: &str) -> Vec<String> {
    let names = names.into_iter().filter(|name| name.starts_with(prefix));
    names.collect()
}

fn owned<'w>(words: &'w [&'static str]) -> impl Iterator<Item = String> + use<'w> {
    words.iter().map(|word| (*word).to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::catalog::tests::sample;
    use super::*;

    fn words(text: &str) -> Vec<String> {
        match completion(&sample(), text, false) {
            Completion::Words(_, words) => words,
            Completion::File => vec!["FILE".to_owned()],
        }
    }

    #[test]
    fn names_follow_from_what_is_before_them() {
        for (text, expected) in [
            ("\\des", &["\\describe"][..]),
            ("\\timing o", &["on", "off"]),
            ("\\format j", &["json", "jsonl"]),
            ("\\load x", &["FILE"]),
            ("\\describe F", &["Film"]),
            ("{ q(func: any", &["anyofterms(", "anyoftext("]),
            ("{ q(fu", &["func:"]),
            ("{ q(func: type(", &["<Böse>", "Film"]),
            ("{ q(func: eq(n", &["name", "nickname"]),
            ("{ q(func: has(name)) @fi", &["@filter"]),
            ("{ q(func: has(name)) @filter(eq(name, \"x\") AND ha", &["has("]),
            ("{ q(func: has(name), orderasc: ni", &["nickname"]),
            ("{ q(func: has(name)) { sta", &["starring"]),
            ("{ q(func: has(name)) { starring { nam", &["name"]),
            ("{ q(func: has(name)) { <b", &["<böse_zahl>"]),
            ("\\explain { q(func: has(ni", &["nickname"]),
            ("que", &["query"]),
            ("{ na", &[]),
            ("# \\sch", &[]),
            ("MATCH (f:F", &["Film"]),
            ("MATCH (f)-[:st", &["starring"]),
            ("MATCH (f:Film) RETURN f.ni", &["nickname"]),
            ("MATCH (f:Film) WHE", &["WHEN", "WHERE"]),
            ("RETURN toUp", &["toUpper("]),
            ("MATCH (n) RETURN n.b", &[]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn hints_complete_or_explain() {
        let catalog = sample();
        let hint = |text: &str| hint(&catalog, text, false);
        assert_eq!(hint("{ q(func: eq("), Some(("name, \"Ada\")".to_owned(), false)));
        assert_eq!(hint("{ q(func: has(nick"), Some(("name".to_owned(), true)));
        assert_eq!(hint("\\timing "), Some(("on|off".to_owned(), false)));
        assert_eq!(hint("{ q(func: has(n"), None);
        assert_eq!(hint(""), None);
    }
}
