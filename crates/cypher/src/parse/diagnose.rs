//! Error messages for tokens that the grammar refuses: what was read, what was expected, and a hint
//! at what was probably meant.

use super::refusals::{instead_of, refused};
use crate::error::{Code, Fault};
use crate::lexer::Spanned;
use crate::span::Span;
use crate::syntax::token::{Sign, Token};
use hexgraph_base::types::nearest;
use lalrpop_util::ParseError;

/// How messages show the terminals of the grammar, by the names that the grammar gives them. An
/// empty text leaves a terminal out. A terminal that is not listed is shown by its name, which is
/// how it is written.
const SHOWN: [(&str, &str); 16] = [
    ("name", "a name"),
    ("function(", ""),
    ("integer", "a number"),
    ("float", ""),
    ("string", "a string"),
    ("$parameter", ""),
    ("pattern(", ""),
    ("-[", "`-[...]->`"),
    ("]-", "`]-`"),
    ("--", "`-->`"),
    ("[x IN", ""),
    ("[p =", ""),
    ("bar", "`|`"),
    ("quantifier(", ""),
    ("reduce(", ""),
    ("shortestPath(", ""),
];

/// The terminals that begin an expression: where one is expected, all are.
const BEGINS_EXPRESSION: [&str; 3] = ["NULL", "CASE", "string"];
/// The terminals that may follow an expression: where one is expected, so are many.
const FOLLOWS_EXPRESSION: [&str; 3] = ["=~", "STARTS WITH", "IS NULL"];
/// The words of clauses.
const CLAUSES: [&str; 10] = [
    "MATCH",
    "OPTIONAL MATCH",
    "WHERE",
    "WITH",
    "UNWIND",
    "RETURN",
    "ORDER BY",
    "SKIP",
    "LIMIT",
    "UNION",
];

/// The most expected tokens that a message lists.
const EXPECTED_MAX: usize = 6;
/// The most characters of a refused token that a message shows.
const SHOWN_MAX: usize = 40;

/// Converts an error of the parser.
pub(super) fn diagnose(
    text: &str,
    tokens: &[Spanned],
    error: ParseError<usize, Token, Fault>,
) -> Fault {
    match error {
        ParseError::User { error } => error,
        ParseError::UnrecognizedToken { token: (start, _, end), expected } => {
            let index = tokens.partition_point(|token| token.0 < start);
            unexpected(text, tokens, index, Span::new(start, end), &expected)
        }
        ParseError::ExtraToken { token: (start, _, end) } => {
            Fault::new(Code::UnexpectedSyntax, Span::new(start, end), "the query has ended before")
        }
        ParseError::InvalidToken { location } => {
            Fault::new(Code::UnexpectedSyntax, Span::new(location, location), "an unknown word")
        }
        ParseError::UnrecognizedEof { location, expected } => {
            let message = match list(&names(&expected)) {
                listed if listed.is_empty() => "the query ends too early".to_owned(),
                listed => format!("the query ends too early: expected {listed}"),
            };
            let fault = Fault::new(Code::UnexpectedSyntax, Span::new(location, location), message);
            fault.with_hint(end_hint(tokens))
        }
    }
}

fn end_hint(tokens: &[Spanned]) -> &'static str {
    match tokens.last().map(|(_, token, _)| token) {
        Some(Token::Match | Token::OptionalMatch) => "a pattern follows: `MATCH (n)-[r]->(m)`",
        Some(Token::Dashes(..) | Token::RelationshipClose(_)) => {
            "a node follows a relationship: `-->(n)`, or `-->()` for any"
        }
        _ => "",
    }
}

fn names(expected: &[String]) -> Vec<&str> {
    expected.iter().map(|name| name.trim_matches('"')).collect()
}

/// Makes the error for a token that the grammar refuses.
fn unexpected(
    text: &str,
    tokens: &[Spanned],
    index: usize,
    span: Span,
    expected: &[String],
) -> Fault {
    let written = span.of(text);
    let next = tokens.get(index + 1).map_or("", |&(start, _, end)| &text[start..end]);
    let word = written.trim_end_matches('(').trim_end();
    let before = index.checked_sub(1).map(|it| &tokens[it].1);
    if begins_clause(before)
        && let Some(fault) = refused(word, next.trim_end_matches('(').trim_end(), span)
    {
        return fault;
    }
    let expected = names(expected);
    let mut shown: String = written.chars().take(SHOWN_MAX).collect();
    if shown.len() < written.len() {
        shown.push('…');
    }
    let listed = list(&expected);
    let message = match listed.is_empty() {
        true => format!("unexpected `{shown}`"),
        false => format!("expected {listed}, not `{shown}`"),
    };
    let code = match in_relationship(tokens, index) {
        true => Code::InvalidRelationshipPattern,
        false => Code::UnexpectedSyntax,
    };
    Fault::new(code, span, message).with_hint(hint(tokens, index, word, &expected))
}

/// Whether a clause may begin after a token: everywhere but after what needs an operand.
fn begins_clause(before: Option<&Token>) -> bool {
    match before {
        None => true,
        Some(Token::Sign(sign)) => matches!(
            sign,
            Sign::RoundClose
                | Sign::SquareClose
                | Sign::BraceClose
                | Sign::BraceOpen
                | Sign::Star
                | Sign::Semicolon
        ),
        Some(token) => !matches!(token, Token::Dashes(..) | Token::RelationshipClose(_)),
    }
}

/// Whether a token is between the brackets of a relationship.
fn in_relationship(tokens: &[Spanned], index: usize) -> bool {
    for (_, token, _) in tokens[..index].iter().rev() {
        match token {
            Token::RelationshipOpen(_) => return true,
            Token::Name(_)
            | Token::Integer(_)
            | Token::Sign(Sign::Colon | Sign::Pipe | Sign::Star | Sign::DotDot) => {}
            _ => return false,
        }
    }
    false
}

/// Lists what was expected, or nothing where it would be too much.
fn list(expected: &[&str]) -> String {
    let has = |names: &[&str]| names.iter().all(|name| expected.contains(name));
    if has(&BEGINS_EXPRESSION) {
        return "an expression".to_owned();
    }
    let mut shown: Vec<String> = Vec::new();
    for name in expected {
        let listed = SHOWN.iter().find(|(it, _)| it == name).map(|&(_, shown)| shown);
        match listed {
            Some("") => {}
            Some(listed) => shown.push(listed.to_owned()),
            None => shown.push(format!("`{name}`")),
        }
    }
    if has(&FOLLOWS_EXPRESSION) || shown.len() > EXPECTED_MAX {
        return String::new();
    }
    match shown.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

/// What was probably meant.
fn hint(tokens: &[Spanned], index: usize, word: &str, expected: &[&str]) -> String {
    let at = |back: usize| index.checked_sub(back).map(|it| &tokens[it].1);
    let expects = |name: &str| expected.contains(&name);
    let fixed = match (at(2), at(1), &tokens[index].1) {
        (_, None, Token::Sign(Sign::Colon)) => {
            "a line that begins with `:` is a command of a shell; parameters are sent with the query"
        }
        (_, Some(Token::Sign(Sign::Semicolon)), _) => {
            "a request has one query: send each by itself"
        }
        (_, Some(Token::Match | Token::OptionalMatch), Token::Name(_))
        | (Some(Token::Match | Token::OptionalMatch), Some(Token::Name(_)), _) => {
            "a node is in round brackets: `MATCH (n)`"
        }
        (_, _, Token::Not) => "`NOT` is before the condition: `NOT x IN list`",
        (Some(Token::Limit | Token::Skip), _, Token::OrderBy) => {
            "`ORDER BY` is before `SKIP` and `LIMIT`"
        }
        (Some(Token::Limit), _, Token::Skip) => "`SKIP` is before `LIMIT`",
        (_, Some(Token::Sign(Sign::BraceClose)), Token::In) => {
            "a query only reads, so it needs no batches: leave out `IN TRANSACTIONS`"
        }
        (_, before, Token::Sign(Sign::RoundOpen) | Token::PatternOpen)
            if is_repeated_part(before, tokens, index) =>
        {
            "a part of a path can't be repeated in brackets yet: give the relationship a length, `-[:TYPE*1..3]->`"
        }
        (_, _, Token::String(_)) if expects("name") && !expects("NULL") => {
            "a name is written without quotes, or in backquotes"
        }
        (_, _, Token::Sign(Sign::Equal)) if expects(":") => "a map is `{key: value}`",
        (_, _, Token::Sign(Sign::Ampersand)) => "conditions are joined by `AND`",
        (_, _, Token::Where) => {
            "`WHERE` follows `MATCH` or `WITH`: write `WITH ... WHERE ... RETURN`"
        }
        (_, Some(Token::Sign(Sign::Dot)), Token::Sign(Sign::Star)) => {
            "`properties(n)` has all properties of a node"
        }
        (_, Some(Token::Sign(Sign::RoundClose)), Token::Sign(Sign::Minus)) => {
            "a relationship is `-[:TYPE]->`, `<-[:TYPE]-` or `-->`"
        }
        (_, _, Token::Sign(Sign::Comma)) if expects("NULL") => "is there a comma too much?",
        (_, Some(Token::Sign(Sign::Comma)), _) if expects("NULL") => {
            "is the comma before it too much?"
        }
        (_, _, Token::Name(_) | Token::FunctionOpen(_)) if expects("=~") || expects("MATCH") => {
            return clause_hint(word);
        }
        _ if in_relationship(tokens, index) => {
            "a relationship is `-[r:TYPE*1..3 {key: value}]->`, all of it optional"
        }
        _ => "",
    };
    fixed.to_owned()
}

/// Whether a round bracket opens a part of a path, behind a relationship or between two nodes.
fn is_repeated_part(before: Option<&Token>, tokens: &[Spanned], index: usize) -> bool {
    let opens = |token: &Token| matches!(token, Token::Sign(Sign::RoundOpen) | Token::PatternOpen);
    match before {
        Some(Token::RelationshipClose(_) | Token::Dashes(..)) => true,
        Some(Token::Sign(Sign::RoundClose)) => tokens.get(index + 1).is_some_and(|it| opens(&it.1)),
        _ => false,
    }
}

/// What a word was meant to be where a clause or an operator may be.
fn clause_hint(word: &str) -> String {
    let upper = word.to_ascii_uppercase();
    if let Some(instead) = instead_of(&upper) {
        return instead.to_owned();
    }
    match nearest(&upper, CLAUSES.into_iter()) {
        Some(clause) => format!("did you mean `{clause}`?"),
        None => String::new(),
    }
}
