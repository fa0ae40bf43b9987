//! Removes passwords from texts before they are logged.

use crate::lexer::Lexer;
use crate::syntax::token::{FieldFunction, Token};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

/// The text that replaces a password.
pub const BLANKED: &str = "***";

/// Replaces the passwords in the arguments of `checkpwd` by [`BLANKED`]. Returns the text, and the names (with `$`) of the
/// variables that hold passwords, whose values have to be removed by the caller. A text without the word `checkpwd` is
/// returned as it is; any other is split into tokens once.
pub fn without_passwords(text: &str) -> (Cow<'_, str>, BTreeSet<&str>) {
    let mut variables = BTreeSet::new();
    let word = b"checkpwd";
    let has_it = |window: &[u8]| window.eq_ignore_ascii_case(word);
    if !text.as_bytes().windows(word.len()).any(has_it) {
        return (Cow::Borrowed(text), variables);
    }
    // Tokens behind the first error are not looked at: such a text is never carried out.
    let tokens: Vec<(usize, Token, usize)> = Lexer::new(text).map_while(Result::ok).collect();
    let mut secrets: Vec<Range<usize>> = Vec::new();
    let mut is_inside = false;
    for (start, token, end) in &tokens {
        match token {
            Token::CallOpen(FieldFunction::CheckPassword) => is_inside = true,
            Token::RoundClose => is_inside = false,
            Token::String(_) if is_inside => secrets.push(*start..*end),
            Token::Variable(_) if is_inside => {
                variables.insert(&text[*start..*end]);
            }
            _ => {}
        }
    }
    // The default in the declaration `$password: string = "the default"` is a password, too.
    let mut is_secret = false;
    for pair in tokens.windows(2) {
        match pair {
            [(start, Token::Variable(_), end), _] => {
                // It stays so until the next variable: between a variable and its default stands the type.
                is_secret = variables.contains(&text[*start..*end]);
            }
            [(_, Token::Equals, _), (start, _, end)] if is_secret => secrets.push(*start..*end),
            _ => {}
        }
    }
    secrets.sort_unstable_by_key(|secret| secret.start);
    let mut blanked = String::with_capacity(text.len());
    let mut at = 0;
    for secret in secrets {
        blanked.push_str(&text[at..secret.start]);
        blanked.push_str(BLANKED);
        at = secret.end;
    }
    blanked.push_str(&text[at..]);
    (Cow::Owned(blanked), variables)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            // As far as it is DQL.
            ("{ q(func: uid(1)) { checkpwd(p, \"one\") \u{1}", "{ q(func: uid(1)) { checkpwd(p, ***) \u{1}", &[]),
        ];
        for (text, want, names) in cases {
            let (blanked, variables) = without_passwords(text);
            assert_eq!(&blanked, want);
            assert_eq!(variables.into_iter().collect::<Vec<_>>(), *names, "{text}");
        }
    }
}
