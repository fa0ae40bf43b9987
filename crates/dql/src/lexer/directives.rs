//! Tokens that begin with `@`: directives and lists of languages.

use super::cursor;
use super::modes::{Lexer, Spanned};
use super::other_languages;
use super::scope::Scope;
use crate::syntax::token::{Text, Token};
use hexgraph_base::types::{Error, Result, nearest};

const ROOT_DIRECTIVES: [&str; 6] =
    ["filter", "cascade", "normalize", "groupby", "ignorereflex", "recurse"];
const FIELD_DIRECTIVES: [&str; 5] = ["filter", "facets", "cascade", "normalize", "groupby"];

/// What is done instead of a filter of groups.
pub const GROUPS_UNFILTERED: &str = "filter the rows of the answer; or begin at the nodes that make the groups, and count: \
     `n as count(~month)` in one block, `q(func: uid(n)) @filter(gt(val(n), 100))` in the next";
pub(super) const OPERATIONS: [&str; 4] = ["query", "fragment", "schema", "upsert"];

/// The names of the directives of blocks, fields and upserts.
pub(crate) fn directives() -> impl Iterator<Item = &'static str> {
    ROOT_DIRECTIVES.into_iter().chain(FIELD_DIRECTIVES).chain(["if"])
}

impl Lexer<'_> {
    /// Reads a directive, or a list of languages where the scope allows one.
    pub(super) fn directive(&mut self, scope: Scope) -> Result<Spanned> {
        let at = self.cursor.at;
        let start = at + 1;
        let end = self.after_lang_or_dot(start);
        if end == start {
            let result = self.cursor.shown(start);
            let message = format!("found {result} after `@`");
            return Err(self.error(start, message, "expected a directive or a language"));
        }
        let bracket = self.cursor.after_blank(end);
        let opens = self.cursor.peek_at(bracket) == b'(';
        let word = &self.cursor.text[start..end];
        let result = match scope {
            // Behind a block the case of a directive does not matter.
            // Behind a field it does, since the word may be a language.
            Scope::Blocks => self.root_directive(&word.to_ascii_lowercase(), opens),
            Scope::Fields | Scope::Count => self.field_directive(word, bracket, opens),
            _ => None,
        };
        match result {
            Some((token, Some(inner))) => self.opened_until(bracket + 1, token, inner),
            Some((token, None)) => self.word(end, token),
            None if scope == Scope::Blocks => {
                Err(self.unknown_directive(at, &ROOT_DIRECTIVES, opens))
            }
            // A language has no brackets, and nothing in braces after it.
            None if opens || self.cursor.peek_at(bracket) == b'{' && is_directive(word) => {
                Err(self.unknown_directive(at, &FIELD_DIRECTIVES, opens))
            }
            None => self.langs(start, end),
        }
    }

    /// Returns the token of a directive of a block, with the scope of the bracket that belongs to
    /// the token. `opens` is true when a bracket follows.
    fn root_directive(&self, word: &str, opens: bool) -> Option<(Token, Option<Scope>)> {
        Some(match (word, opens) {
            ("filter", true) => (Token::FilterOpen, Some(Scope::Filter)),
            ("groupby", true) => (Token::GroupByOpen, Some(Scope::Arguments)),
            ("cascade", true) => (Token::CascadeOpen, Some(Scope::Arguments)),
            ("cascade", false) => (Token::Cascade, None),
            ("recurse", true) => (Token::RecurseOpen, Some(Scope::Arguments)),
            ("recurse", false) => (Token::Recurse, None),
            ("normalize", _) => (Token::Normalize, None),
            ("ignorereflex", _) => (Token::IgnoreReflex, None),
            _ => return None,
        })
    }

    /// Returns the token of a directive of a field, with the scope of the bracket that belongs to
    /// the token.
    fn field_directive(
        &self,
        word: &str,
        bracket: usize,
        opens: bool,
    ) -> Option<(Token, Option<Scope>)> {
        Some(match (word, opens) {
            ("filter", true) => (Token::FilterOpen, Some(Scope::Filter)),
            ("groupby", true) => (Token::GroupByOpen, Some(Scope::Arguments)),
            ("cascade", true) => (Token::CascadeOpen, Some(Scope::Arguments)),
            ("cascade", false) => (Token::Cascade, None),
            ("normalize", _) => (Token::Normalize, None),
            ("facets", false) => (Token::Facets, None),
            ("facets", true) if self.facets_hold_filter(bracket + 1) => {
                (Token::FacetFilterOpen, Some(Scope::Filter))
            }
            ("facets", true) => (Token::FacetListOpen, Some(Scope::Facets)),
            _ => return None,
        })
    }

    /// Returns true when `@facets(` is followed by a condition rather than a list: by a bracket, a
    /// function or `not`.
    fn facets_hold_filter(&self, at: usize) -> bool {
        let start = self.cursor.after_blank(at);
        let end = self.cursor.after_name(start);
        let next = self.cursor.after_blank(end);
        let is_not = self.cursor.text[start..end].eq_ignore_ascii_case("not");
        self.cursor.peek_at(next) == b'('
            || is_not && cursor::starts_name(self.cursor.peek_at(next))
    }

    /// Reads a list of languages that begins at `start` and whose first language is before `end`.
    fn langs(&mut self, start: usize, mut end: usize) -> Result<Spanned> {
        let mut joined: Option<String> = None;
        loop {
            let colon = self.cursor.after_blank(end);
            let next = self.cursor.after_blank(colon + 1);
            let next_end = self.after_lang_or_dot(next);
            if self.cursor.peek_at(colon) != b':' || next == next_end {
                break;
            }
            // A list without blanks is a slice of the text; the first blank makes a copy necessary.
            if joined.is_none() && next != end + 1 {
                joined = Some(self.cursor.text[start..end].to_owned());
            }
            if let Some(joined) = &mut joined {
                joined.push(':');
                joined.push_str(&self.cursor.text[next..next_end]);
            }
            end = next_end;
        }
        let mut text = Text::slice(start, end);
        text.owned = joined.map(String::into_boxed_str);
        self.word(end, Token::Langs(text))
    }

    fn after_lang_or_dot(&self, at: usize) -> usize {
        // `langs` looks after a colon without knowing that there is one, so this may be called
        // after the end.
        if at >= self.cursor.text.len() {
            return at;
        }
        if self.cursor.peek_at(at) == b'.' { at + 1 } else { self.cursor.after_lang(at) }
    }

    /// Reads `@if(` before a mutation.
    pub(super) fn if_open(&mut self) -> Result<Spanned> {
        self.condition(&["if"])
    }

    /// Reads `@if(` or `@filter(` at the start of a text that is only a condition.
    pub(super) fn condition_open(&mut self) -> Result<Spanned> {
        self.condition(&["if", "filter"])
    }

    /// Makes the error for a text that should be a condition and does not begin like one.
    pub(super) fn no_condition(&self, at: usize) -> Error {
        let text = self.cursor.text;
        if text[..at].contains('@') {
            return self.error(at, "text behind the condition", "write one `@if(...)`");
        }
        let bare = text[at..].trim();
        let is_call = bare.get(..2).is_some_and(|word| word.eq_ignore_ascii_case("if"));
        let hint = match is_call && bare[2..].trim_start().starts_with('(') {
            true => format!("write `@if{}`", &bare[2..]),
            false => format!("write `@if({bare})`"),
        };
        self.error(at, "a condition begins with `@if(`", hint)
    }

    fn condition(&mut self, words: &[&str]) -> Result<Spanned> {
        let start = self.cursor.at + 1;
        let end = self.after_lang_or_dot(start);
        let word = &self.cursor.text[start..end];
        let bracket = self.cursor.after_blank(end);
        if !words.contains(&word) || self.cursor.peek_at(bracket) != b'(' {
            let message = format!("found `@{word}` before a mutation");
            let hint =
                match word.eq_ignore_ascii_case("if") && words.contains(&"if") && word != "if" {
                    true => "write `@if(...)` in small letters",
                    false => "expected `@if(...)`",
                };
            return Err(self.error(start - 1, message, hint));
        }
        self.opened_until(bracket + 1, Token::IfOpen, Scope::Filter)
    }

    fn unknown_directive(&self, at: usize, existing: &[&str], opens: bool) -> Error {
        let word = &self.cursor.text[at + 1..self.after_lang_or_dot(at + 1)];
        let lower = word.to_ascii_lowercase();
        let needs_brackets = matches!(lower.as_str(), "filter" | "groupby");
        if existing.contains(&lower.as_str()) && needs_brackets && !opens {
            let message = format!("`@{word}` without its brackets");
            return self.error(at, message, format!("write `@{lower}(...)`"));
        }
        if existing.contains(&lower.as_str()) {
            let brackets = if opens { "(...)" } else { "" };
            let hint = format!("did you mean `@{lower}{brackets}`? It is written in small letters");
            return self.error(at, format!("unknown directive `@{word}`"), hint);
        }
        if lower == "having" {
            let message = "`@having` is none of DQL: groups are not filtered";
            return self.error(at, message, GROUPS_UNFILTERED);
        }
        // Only blocks know `@recurse`, so it identifies the given list.
        let elsewhere = match existing.contains(&"recurse") {
            true => FIELD_DIRECTIVES.contains(&&*lower).then_some(("block", "field")),
            false => ROOT_DIRECTIVES.contains(&&*lower).then_some(("field", "block")),
        };
        if let Some((here, there)) = elsewhere {
            let message = format!("`@{word}` can't stand behind a {here}");
            return self.error(at, message, format!("put it behind a {there}"));
        }
        let hint = match nearest(&lower, existing.iter().copied()) {
            Some(name) => format!("did you mean `@{name}`?"),
            None => format!("valid here are @{}", existing.join(", @")),
        };
        self.error(at, format!("unknown directive `@{word}`"), hint)
    }

    /// Makes the error for a word that can't begin an operation.
    pub(super) fn unknown_operation(&self, at: usize, word: &str) -> Error {
        let text = &self.cursor.text[at..];
        let hint = match nearest(word, OPERATIONS.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None if let Some(hint) = other_languages::hint(word, text) => hint.to_owned(),
            None => "blocks stand between `{` and `}`".to_owned(),
        };
        self.error(at, format!("`{word}` starts no operation"), hint)
    }
}

/// True for the name of a directive of fields, in whatever case.
fn is_directive(word: &str) -> bool {
    FIELD_DIRECTIVES.iter().any(|existing| existing.eq_ignore_ascii_case(word))
}
