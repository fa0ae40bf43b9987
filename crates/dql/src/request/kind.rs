//! What a text in DQL is by its first words, without its grammar.

/// Returns true for a text that is a mutation or an upsert, by its first words: `upsert {`, `{ set
/// {` or `{ delete {`.
pub fn is_mutation(text: &str) -> bool {
    let text = skip_blank(text);
    if let Some(rest) = word(text, "upsert") {
        return rest.starts_with('{');
    }
    let Some(text) = text.strip_prefix('{').map(skip_blank) else { return false };
    let rest = ["set", "delete"].iter().find_map(|name| word(text, name));
    rest.is_some_and(|rest| rest.starts_with('{'))
}

/// What comes after a word and blanks; `None` when the text begins otherwise.
fn word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.strip_prefix(word).map(skip_blank)
}

/// The text without the blanks and comments that it begins with.
fn skip_blank(text: &str) -> &str {
    let mut text = text.trim_start();
    while text.starts_with('#') {
        text = text.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_something() {
        for (text, expected) in [
            ("{ set { _:a <n> \"x\" . } }", true),
            (" # all\n{\n # more\n delete{ <1> * * . } }", true),
            ("upsert { query { v as var(func: has(n)) } mutation { } }", true),
            ("{ set(func: has(n)) { n } }", false),
            ("{ upsert(func: has(n)) { n } }", false),
            ("query q($a: int) { q(func: eq(n, $a)) { n } }", false),
            ("{ q(func: has(n)) { n } }", false),
            ("schema {}", false),
            ("# {set {", false),
            ("", false),
        ] {
            assert_eq!(is_mutation(text), expected, "{text}");
        }
    }
}
