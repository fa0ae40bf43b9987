//! The grammar of requests.

use crate::syntax::lexer::Kind;
use crate::syntax::recognizer::{Read, Recognizer};

/// A whole text.
pub(super) fn document(tokens: &mut Recognizer<'_>) -> Read {
    while tokens.ahead().kind != Kind::End {
        match (tokens.ahead().kind, tokens.ahead().text) {
            (Kind::Mark("{"), _) => selection_set(tokens)?,
            (Kind::Name, "query" | "mutation" | "subscription") => operation(tokens)?,
            (Kind::Name, "fragment") => fragment_definition(tokens)?,
            _ => return tokens.unexpected(),
        }
    }
    Ok(())
}

fn operation(tokens: &mut Recognizer<'_>) -> Read {
    tokens.next()?;
    if tokens.ahead().kind == Kind::Name {
        tokens.next()?;
    }
    tokens.many("(", ")", variable_definition)?;
    tokens.directives(false)?;
    selection_set(tokens)
}

fn variable_definition(tokens: &mut Recognizer<'_>) -> Read {
    tokens.variable()?;
    tokens.expect(":")?;
    tokens.type_reference()?;
    if tokens.skip("=")? {
        tokens.value(true)?;
    }
    tokens.directives(false).map(drop)
}

fn fragment_definition(tokens: &mut Recognizer<'_>) -> Read {
    tokens.keyword("fragment")?;
    if tokens.is_word("on") {
        return tokens.unexpected();
    }
    tokens.name()?;
    tokens.keyword("on")?;
    tokens.name()?;
    tokens.directives(false)?;
    selection_set(tokens)
}

fn selection_set(tokens: &mut Recognizer<'_>) -> Read {
    if !tokens.is("{") {
        return Err(tokens.expected("{"));
    }
    tokens.some("{", "}", selection).map(drop)
}

fn selection(tokens: &mut Recognizer<'_>) -> Read {
    if tokens.skip("...")? {
        return fragment(tokens);
    }
    tokens.name()?;
    if tokens.skip(":")? {
        tokens.name()?;
    }
    tokens.arguments(false)?;
    tokens.directives(false)?;
    if tokens.is("{") { selection_set(tokens) } else { Ok(()) }
}

/// What stands behind `...`.
fn fragment(tokens: &mut Recognizer<'_>) -> Read {
    if tokens.ahead().kind == Kind::Name && !tokens.is_word("on") {
        tokens.next()?;
        return tokens.directives(false).map(drop);
    }
    if tokens.is_word("on") {
        tokens.next()?;
        tokens.name()?;
    }
    tokens.directives(false)?;
    selection_set(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::recognizer::recognize;

    #[test]
    fn requests_are_accepted() {
        for text in [
            "{ a }",
            "query Q($a: [Int!]! = [1] @x) @y { b: a(x: $a, y: {z: [$a]}) @skip(if: true) { c ...F ... on T { d } ... @x { e } } }",
            "mutation { a } subscription S { b } fragment F on T @x { a }",
            "",
        ] {
            recognize(text, document).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        }
    }

    #[test]
    fn the_first_fault_is_told() {
        let told = |text: &str| recognize(text, document).expect_err(text).message;
        assert_eq!(told("query { "), "Expected Name, found <EOF>");
        assert_eq!(told("query { a } garbage"), "Unexpected Name \"garbage\"");
        assert_eq!(told("query { a: }"), "Expected Name, found }");
        assert_eq!(told("query { a(id: $id): B! }"), "Expected Name, found :");
        assert_eq!(told("query {}"), "expected at least one definition, found }");
        assert_eq!(told("query Q"), "Expected {, found <EOF>");
    }
}
