//! Removes passwords from requests before they are logged.
//!
//! The lexer of DQL identifies strings, comments and calls. Each secret is a range of bytes; ranges
//! may overlap. A request that the lexer rejects never runs, so more of it may be removed than
//! necessary.

use crate::lexer::Lexer;
use crate::syntax::token::{FieldFunction, Token};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

/// Replaces a password.
pub const BLANKED: &str = "***";

/// Replaces a string of a mutation.
const OMITTED: &str = "\"…\"";

/// A text with none of these words, ignoring case, has no password in it: `checkpwd`, what
/// begins a mutation, and the words of GraphQL requests, which may be sent to the DQL endpoint by
/// mistake.
const WORDS: [&str; 5] = ["checkpwd", "password", "mutation", "set", "delete"];

/// Replaces passwords by [`BLANKED`]: the strings in the arguments of `checkpwd(...)`, those of
/// mutations and those in comments. If the lexer rejects the text, it replaces all strings. Returns
/// the text, and the names (with `$`) of the variables that hold passwords; the caller has to
/// remove their values. A text without any of `WORDS` is returned as it is; any other is split into
/// tokens once.
pub fn without_passwords(text: &str) -> (Cow<'_, str>, BTreeSet<String>) {
    if !WORDS.iter().any(|word| has_word(text, word)) {
        return (Cow::Borrowed(text), BTreeSet::new());
    }
    let (tokens, refused) = tokens_of(text);
    let mut secrets = outside_of_strings(text, &tokens, refused.unwrap_or(text.len()));
    let (variables, is_open) = arguments(text, &tokens, &mut secrets);
    // Behind the first error there may be a `checkpwd` that has any of the variables.
    let is_secret = |name: &str| refused.is_some() || variables.contains(name);
    defaults(text, &tokens, is_secret, &mut secrets);
    if let Some(end) = refused {
        secrets.extend(strings(&tokens));
        let rest = &text[end..];
        let hidden = match is_open || has_word(rest, "checkpwd") {
            true => Some(0),
            // Which quotation marks begin strings is unknown there.
            false => rest.find(QUOTES),
        };
        secrets.extend(hidden.map(|at| end + at..text.len()));
    }
    (Cow::Owned(replaced(text, secrets, BLANKED)), variables)
}

/// Replaces the strings of a mutation or a query by `"…"`: those of the language, those of its RDF,
/// and those in comments.
pub fn without_strings(text: &str) -> String {
    let (tokens, refused) = tokens_of(text);
    let mut secrets = outside_of_strings(text, &tokens, refused.unwrap_or(text.len()));
    secrets.extend(strings(&tokens));
    if let Some(end) = refused {
        let quote = text[end..].find(QUOTES);
        secrets.extend(quote.map(|at| end + at..text.len()));
    }
    replaced(text, secrets, OMITTED)
}

/// Quotation marks of strings, and characters that a person may use as such.
const QUOTES: [char; 3] = ['"', '\'', '`'];

type Spanned = (usize, Token, usize);

/// Returns the tokens, and the offset at which the lexer rejects the text, if it does.
fn tokens_of(text: &str) -> (Vec<Spanned>, Option<usize>) {
    let mut is_refused = false;
    let good = |token: hexgraph_base::types::Result<Spanned>| {
        is_refused |= token.is_err();
        token.ok()
    };
    let tokens: Vec<Spanned> = Lexer::new(text).map_while(good).collect();
    let end = tokens.last().map_or(0, |(_, _, end)| *end);
    (tokens, is_refused.then_some(end))
}

fn has_word(text: &str, word: &str) -> bool {
    let mut windows = text.as_bytes().windows(word.len());
    windows.any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

fn strings(tokens: &[Spanned]) -> impl Iterator<Item = Range<usize>> + '_ {
    let strings = tokens.iter().filter(|(_, token, _)| matches!(token, Token::String(_)));
    strings.map(|(start, _, end)| *start..*end)
}

/// Returns what is in quotation marks up to `end` but is no string of DQL: in comments, which are
/// between tokens or within tokens of several words, and in RDF.
fn outside_of_strings(text: &str, tokens: &[Spanned], end: usize) -> Vec<Range<usize>> {
    let mut secrets = Vec::new();
    let mut at = 0;
    for (start, token, behind) in tokens {
        let plain_end = match token {
            Token::String(_) | Token::Regex(_) => *start,
            Token::Rdf(_, body) => body.start as usize,
            _ => *behind,
        };
        secrets.extend(quoted(text, at..plain_end));
        if let Token::Rdf(_, body) = token {
            in_rdf(text, body.start as usize..body.end as usize, &mut secrets);
        }
        at = *behind;
    }
    secrets.extend(quoted(text, at..end));
    secrets
}

/// Returns the range from the first quotation mark of a part of the text to the end of the line of
/// its last one.
fn quoted(text: &str, part: Range<usize>) -> Option<Range<usize>> {
    let inside = &text.as_bytes()[part.clone()];
    let first = inside.iter().position(|&byte| byte == b'"')?;
    let last = inside.iter().rposition(|&byte| byte == b'"')?;
    Some(part.start + first..line_end(text, part.start + last, part.end))
}

/// Returns the end of the line of the byte `at`, at most `end`.
fn line_end(text: &str, at: usize, end: usize) -> usize {
    let feed = text.as_bytes()[at..end].iter().position(|&byte| byte == b'\n');
    feed.map_or(end, |len| at + len)
}

/// Adds the literals of an RDF body, which end in the line in which they begin. From invalid RDF
/// on, the rest of the body is one secret: such a body is rejected.
fn in_rdf(text: &str, body: Range<usize>, secrets: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let mut at = body.start;
    while at < body.end {
        match bytes[at] {
            b'"' => match literal_end(&bytes[..body.end], at) {
                Some(end) => {
                    secrets.push(at..end);
                    at = end;
                }
                None => return secrets.push(at..body.end),
            },
            b'\'' => return secrets.push(at..body.end),
            b'#' => {
                let end = line_end(text, at, body.end);
                secrets.extend(quoted(text, at..end));
                at = end;
            }
            b'<' => {
                // An IRI has neither quotation marks nor line breaks.
                let mut rest = bytes[at..body.end].iter();
                let end = rest.position(|byte| matches!(byte, b'>' | b'"' | b'\n'));
                let end = end.map_or(at, |len| at + len);
                at = if bytes[end] == b'>' { end + 1 } else { at + 1 };
            }
            _ => at += 1,
        }
    }
}

/// Returns the offset after the literal that begins at `start`, unless the line is shorter.
fn literal_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\n' => return None,
            b'\\' if bytes.get(at + 1) != Some(&b'\n') => at += 2,
            _ => at += 1,
        }
    }
}

/// Adds the secrets between `checkpwd(` and its closing parenthesis: strings, and after the comma
/// also words, since the quotation marks may be missing. Returns the variables there, and whether
/// the last such parenthesis is still open.
fn arguments(
    text: &str,
    tokens: &[Spanned],
    secrets: &mut Vec<Range<usize>>,
) -> (BTreeSet<String>, bool) {
    let mut variables = BTreeSet::new();
    // The number of open parentheses since `checkpwd(`, itself included.
    let mut depth = 0;
    let mut is_behind_comma = false;
    let mut before = "";
    for (start, token, end) in tokens {
        let opens = text[..*end].ends_with('(');
        match token {
            Token::CallOpen(FieldFunction::CheckPassword) if depth == 0 => {
                (depth, is_behind_comma) = (1, false);
            }
            // Where no function of fields may occur, the word and the parenthesis are two tokens.
            Token::RoundOpen if depth == 0 && checks_password(before) => {
                (depth, is_behind_comma) = (1, false);
            }
            _ if depth == 0 => {}
            Token::RoundClose => depth -= 1,
            Token::Comma => is_behind_comma |= depth == 1,
            Token::String(_) | Token::Regex(_) => secrets.push(*start..*end),
            Token::Name(_) | Token::Langs(_) if is_behind_comma && depth == 1 => {
                secrets.push(*start..*end);
            }
            Token::Variable(name) => {
                variables.insert(name.of(text).to_owned());
            }
            _ if opens => depth += 1,
            _ => {}
        }
        before = &text[*start..*end];
    }
    (variables, depth != 0)
}

/// Whether a word is `checkpwd`, perhaps at the end of a longer one that the lexer has joined, or
/// the `checkUserPassword` of GraphQL.
fn checks_password(word: &str) -> bool {
    let end = word.len().saturating_sub("checkpwd".len());
    let is_dql = word.get(end..).is_some_and(|end| end.eq_ignore_ascii_case("checkpwd"));
    is_dql || word.contains("check") && word.ends_with("Password")
}

/// Adds the defaults of secret variables: `"the default"` in `$password: string = "the default"`.
fn defaults(
    text: &str,
    tokens: &[Spanned],
    is_secret: impl Fn(&str) -> bool,
    secrets: &mut Vec<Range<usize>>,
) {
    let (mut of_secret, mut is_default) = (false, false);
    for (start, token, end) in tokens {
        match token {
            Token::Variable(name) => (of_secret, is_default) = (is_secret(name.of(text)), false),
            Token::Equals => is_default = true,
            Token::Comma | Token::RoundClose => is_default = false,
            _ if of_secret && is_default => secrets.push(*start..*end),
            _ => {}
        }
    }
}

/// Replaces parts of a text, which may overlap; those that do are replaced as one.
fn replaced(text: &str, mut parts: Vec<Range<usize>>, by: &str) -> String {
    parts.sort_unstable_by_key(|part| part.start);
    let mut reported = String::with_capacity(text.len());
    let mut at = 0;
    for part in parts {
        if at <= part.start {
            reported.push_str(&text[at..part.start]);
            reported.push_str(by);
        }
        at = at.max(part.end);
    }
    reported.push_str(&text[at..]);
    reported
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn passwords_are_blanked() {
        #[rustfmt::skip]
        let cases: &[(&str, &str, &[&str])] = &[
            ("{ q(func: eq(name, \"Ada\")) { name } }", "{ q(func: eq(name, \"Ada\")) { name } }", &[]),
            ("{ q(func: eq(name, \"checkpwd\")) { n: checkpwd(p, \"a \\\" ) b\") name } }",
             "{ q(func: eq(name, \"checkpwd\")) { n: checkpwd(p, ***) name } }", &[]),
            ("{ q(func: uid(1)) { CheckPwd ( p , \"one\" ) f { checkpwd(<p>, \"two\") } } }",
             "{ q(func: uid(1)) { CheckPwd ( p , *** ) f { checkpwd(<p>, ***) } } }", &[]),
            ("query q($n: string = \"a\", $p: string! = \"secret\", $r: int) { q(func: eq(name, $n)) { checkpwd(p, $p) } }",
             "query q($n: string = \"a\", $p: string! = ***, $r: int) { q(func: eq(name, $n)) { checkpwd(p, $p) } }", &["$p"]),
            // A variable may have a blank after its `$`.
            ("query q($p: string = \"secret\") { q(func: uid(1)) { checkpwd(p, $ p) } }",
             "query q($p: string = ***) { q(func: uid(1)) { checkpwd(p, $ p) } }", &["$p"]),
            // A default in the call is both an argument and a default.
            ("query q($x: string) { q(func: uid(1)) { checkpwd(p, $x = \"abc\") } }",
             "query q($x: string) { q(func: uid(1)) { checkpwd(p, $x = ***) } }", &["$x"]),
            // The parenthesis of another call is not the end.
            ("{ q(func: uid(1)) { checkpwd(p, val(x), \"geheim\") n: name@en } }",
             "{ q(func: uid(1)) { checkpwd(p, ***(x), ***) n: name@en } }", &[]),
            ("{ q(func: uid(1)) { checkpwd(p, geheim) name } }", "{ q(func: uid(1)) { checkpwd(p, ***) name } }", &[]),
            ("{ q(func: uid(1)) @filter(eq(name, \"Ada\") and checkpwd(p, \"geheim\")) { name } }",
             "{ q(func: uid(1)) @filter(eq(name, \"Ada\") and checkpwd(p, ***)) { name } }", &[]),
            ("{ q(func: checkpwd(p, /geheim/)) { name } }", "{ q(func: checkpwd(p, ***)) { name } }", &[]),
            // In a comment.
            ("{ q(func: uid(1)) { # checkpwd(p, \"geheim\")\n name } }", "{ q(func: uid(1)) { # checkpwd(p, ***\n name } }", &[]),
            ("{ q(func: uid(1)) { checkpwd # \"geheim\"\n (p, \"geheim\") } }", "{ q(func: uid(1)) { checkpwd # ***\n (p, ***) } }", &[]),
            // As far as it is DQL.
            ("{ q(func: uid(1)) { checkpwd(p, \"one\") \u{1}", "{ q(func: uid(1)) { checkpwd(p, ***) \u{1}", &[]),
            ("{ q(func: uid(1)) { checkpwd(p, \"one\") ; checkpwd(p, \"two\") } }", "{ q(func: uid(1)) { checkpwd(p, ***)***", &[]),
            ("query q($p: string = \"one\" ;) { q(func: uid(1)) { checkpwd(p, $p) } }", "query q($p: string = ******", &[]),
            ("{ q(func: uid(1)) { checkpwd(p, 'geheim') } }", "{ q(func: uid(1)) { checkpwd(p,***", &[]),
            ("{ q(func: uid(1)) { checkpwd(p, \"geheim", "{ q(func: uid(1)) { checkpwd(p,***", &[]),
            // What belongs to another address.
            ("{ set { <1> <p> \"geheim\" . } }", "{ set { <1> <p> *** . } }", &[]),
            ("mutation { addUser(input: [{ password: \"geheim\" }]) { numUids } }", "mutation { addUser(input: [{ password: ***", &[]),
            ("{ checkUserPassword(name: \"Ada\", password: \"geheim\") { name } }",
             "{ checkUserPassword(name: ***, password: ***) { name } }", &[]),
        ];
        for (text, want, names) in cases {
            let (blanked, variables) = without_passwords(text);
            assert_eq!(&blanked, want);
            assert_eq!(variables.iter().map(String::as_str).collect::<Vec<_>>(), *names, "{text}");
        }
    }

    #[test]
    fn strings_of_mutations_are_left_out() {
        #[rustfmt::skip]
        let cases: &[(&str, &str)] = &[
            ("{ set { <1> <p> \"a\\\"b\" . } }", "{ set { <1> <p> \"…\" . } }"),
            ("{ set { <1> <p> \"a\"@en (at=\"b\", n=1) . } }", "{ set { <1> <p> \"…\"@en (at=\"…\", n=1) . } }"),
            // A quotation mark in a comment begins no string, so one after it is not its end.
            ("{ set {\n# it\"s\n<1> <p> \"geheim\" . # \"\n} }", "{ set {\n# it\"…\"\n<1> <p> \"…\" . # \"…\"\n} }"),
            ("{ set { <1> <http://x#y> \"geheim\" . } }", "{ set { <1> <http://x#y> \"…\" . } }"),
            ("{ set {\n<1> <p> \"ge\nheim\" .\n} }", "{ set {\n<1> <p> \"…\"} }"),
            ("{ set { <1> <p> 'geheim' . } }", "{ set { <1> <p> \"…\"} }"),
            ("upsert { query { v as var(func: eq(name, \"Ada\")) } mutation @if(eq(len(v), 0)) { set { _:a <p> \"geheim\" . } } }",
             "upsert { query { v as var(func: eq(name, \"…\")) } mutation @if(eq(len(v), 0)) { set { _:a <p> \"…\" . } } }"),
            ("{ set { <1> <p> \"geheim\" . }", "{ set { <1> <p> \"…\" . }"),
            ("<1> <p> \"geheim\" .", "<1> <p> \"…\""),
        ];
        for (text, want) in cases {
            assert_eq!(&without_strings(text), want);
        }
    }

    /// Fragments of texts that have no secret in them.
    const PLAIN: &[&str] = &[
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "{ q(func: uid(1)) {",
        "query q(",
        "$x",
        "$x: string =",
        "=",
        ",",
        ":",
        "!",
        "name",
        "n:",
        "val(x)",
        "math(",
        "count(",
        "@filter(",
        "@facets(",
        "@en",
        "@if(",
        "...",
        "as",
        "-",
        "and",
        "not",
        "1",
        "<p>",
        "#",
        "\n",
        "upsert",
        "mutation",
        "schema",
        "fragment f",
        "ä",
        "'",
        "checkpwd",
        "checkpwd(p, $x)",
        "set",
        "delete {",
        "eq(name, x)",
        "*",
    ];

    /// Fragments with the string `geheim` where passwords stand.
    const SECRET: &[&str] = &[
        "checkpwd(p, \"geheim\")",
        "checkpwd(p, val(x), \"geheim\")",
        "CheckPwd ( p , ( \"geheim\"",
        "checkpwd(\"geheim\", $x = \"geheim\"",
        "checkpwd # \"geheim\"\n(p, \"a\\\"geheim\")",
        "# checkpwd(p, \"geheim\")\n",
        "set { <1> <p> \"geheim\" . }",
        "checkUserPassword(pwd: \"geheim\")",
    ];

    /// Fragments that change what is a string.
    const MARKS: &[&str] = &["\"", "\\", "/", "\"a\"", "\"\"\"", "/a/", "\"ä", "`"];

    fn chunks(of: Vec<&'static str>) -> impl Strategy<Value = String> {
        let chunk = proptest::sample::select(of);
        let between = proptest::sample::select(vec!["", " ", " ", " ", "\n"]);
        let word = (chunk, between).prop_map(|(chunk, between)| [chunk, between].concat());
        proptest::collection::vec(word, 0..24).prop_map(|words| words.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// Whatever a client sends, its request has a text in the log.
        #[test]
        fn no_text_panics(text in chunks([PLAIN, SECRET, MARKS].concat()), other in "\\PC{0,60}") {
            for text in [&text, &other, &format!("checkpwd({other}{text}"), &format!("{{ set {{ {other}")] {
                without_passwords(text);
                without_strings(text);
            }
        }

        #[test]
        fn no_secret_is_shown(text in chunks([PLAIN, SECRET].concat())) {
            let (shown, _) = without_passwords(&text);
            prop_assert!(!shown.contains("geheim"), "{shown}");
            let shown = without_strings(&text);
            prop_assert!(!shown.contains("geheim"), "{shown}");
        }
    }
}
