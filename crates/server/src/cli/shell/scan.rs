//! Splits a text in DQL or GraphQL into tokens, however unfinished it is: for colours, for
//! completion, and to see whether a statement is complete. No error: the parser of the language
//! reports those.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Comment,
    /// A text in quotes, or a regular expression between slashes.
    Text,
    Number,
    /// A name between `<` and `>`.
    Iri,
    Word,
    /// `@filter`, or a language.
    Directive,
    Variable,
    Open,
    Close,
    /// `...`
    Spread,
    Sign,
}

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub kind: Kind,
    /// The offset of its first byte.
    pub at: usize,
    pub text: &'t str,
}

impl Token<'_> {
    /// The name that a word, or a name between `<` and `>`, means.
    pub(super) fn name(&self) -> Option<&str> {
        match self.kind {
            Kind::Word => Some(self.text.trim_start_matches('~')),
            Kind::Iri => Some(self.text.trim_matches(['<', '>'])),
            _ => None,
        }
    }
}

/// Splits a text into tokens; blanks are between them. O(text).
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let before = tokens.iter().rev().find(|token| token.kind != Kind::Comment);
        let (kind, length) = token_at(&text[at..], first, before.map_or("", |token| token.text));
        tokens.push(Token { kind, at, text: &text[at..at + length] });
        at += length;
    }
    tokens
}

/// The kind of the token that a text begins with, and its length. `before` is the token before it.
fn token_at(text: &str, first: char, before: &str) -> (Kind, usize) {
    let word = |from: usize| from + prefix(&text[from..], is_name);
    match first {
        '#' => (Kind::Comment, line(text)),
        '"' if text.starts_with("\"\"\"") => {
            let end = text[3..].find("\"\"\"").map_or(text.len(), |end| end + 6);
            (Kind::Text, end)
        }
        '"' => (Kind::Text, until(text, '"')),
        // Elsewhere a slash divides.
        '/' if before == "," => (Kind::Text, until(text, '/')),
        '<' => match text[1..].find(['>', ' ', '\n', '<']) {
            Some(end) if text.as_bytes()[1 + end] == b'>' => (Kind::Iri, end + 2),
            _ => (Kind::Sign, 1),
        },
        '@' => (Kind::Directive, word(1)),
        '$' => (Kind::Variable, word(1)),
        '(' | '{' | '[' => (Kind::Open, 1),
        ')' | '}' | ']' => (Kind::Close, 1),
        '.' if text.starts_with("...") => (Kind::Spread, 3),
        first if first.is_ascii_digit() => (Kind::Number, word(0)),
        first if is_name(first) && first != '.' => (Kind::Word, word(0)),
        first => (Kind::Sign, first.len_utf8()),
    }
}

/// True for what names in DQL are made of, and `~` before them.
pub(super) fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '.' | '~')
}

fn prefix(text: &str, accepts: impl Fn(char) -> bool) -> usize {
    text.find(|letter| !accepts(letter)).unwrap_or(text.len())
}

fn line(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// The length of a text up to the character that closes it, or else of its line.
fn until(text: &str, close: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            '\n' => return at,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            letter if letter == close => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        tokens(text).iter().map(|token| (token.kind, token.text)).collect()
    }

    #[test]
    fn braces_in_texts_are_none() {
        let all =
            kinds("{q(func: eq(<a#b>, \"x}\\\"\"), $n) @filter(regexp(n, /a}\\//i)) # }\n~r}");
        let opens = all.iter().filter(|(kind, _)| *kind == Kind::Open).count();
        let closes = all.iter().filter(|(kind, _)| *kind == Kind::Close).count();
        assert_eq!((opens, closes), (5, 5), "{all:?}");
        for expected in [
            (Kind::Iri, "<a#b>"),
            (Kind::Text, "\"x}\\\"\""),
            (Kind::Text, "/a}\\//"),
            (Kind::Comment, "# }"),
            (Kind::Word, "~r"),
            (Kind::Directive, "@filter"),
            (Kind::Variable, "$n"),
        ] {
            assert!(all.contains(&expected), "{expected:?} {all:?}");
        }
        assert_eq!(kinds("math(a < b / 2)").iter().filter(|it| it.0 == Kind::Sign).count(), 2);
    }

    #[test]
    fn unfinished_texts_are_closed_by_their_line() {
        assert_eq!(kinds("\"a\n}"), [(Kind::Text, "\"a"), (Kind::Close, "}")]);
        assert_eq!(kinds("\"\"\"a\n}\"\"\"").len(), 1);
        for text in ["\"", "<", "@", "$", "/", "\\", "é", "\"\\", "...", "\"\"\"", "~", "東"] {
            assert_eq!(kinds(text).iter().map(|it| it.1).collect::<String>(), text);
        }
    }
}
