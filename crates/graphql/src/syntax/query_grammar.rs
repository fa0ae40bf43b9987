//! The grammar of requests (GraphQL specification, *Document*).

use crate::syntax::lexer::LexemeKind;
use crate::syntax::recognizer::{Read, Recognizer};

/// Reads an entire text.
pub(super) fn document(tokens: &mut Recognizer<'_>) -> Read {
    while tokens.lookahead().kind != LexemeKind::End {
        match (tokens.lookahead().kind, tokens.lookahead().text) {
            (LexemeKind::Mark("{"), _) => selection_set(tokens)?,
            (LexemeKind::Name, "query" | "mutation" | "subscription") => operation(tokens)?,
            (LexemeKind::Name, "fragment") => fragment_definition(tokens)?,
            _ => return tokens.unexpected(),
        }
    }
    Ok(())
}

/// Reads `query Name($v: T) @d { ... }`.
fn operation(tokens: &mut Recognizer<'_>) -> Read {
    tokens.next()?;
    if tokens.lookahead().kind == LexemeKind::Name {
        tokens.next()?;
    }
    tokens.many("(", ")", variable_definition)?;
    tokens.directives(false)?;
    selection_set(tokens)
}

/// Reads `$name: Type = value @d`.
fn variable_definition(tokens: &mut Recognizer<'_>) -> Read {
    tokens.variable()?;
    tokens.expect(":")?;
    tokens.type_reference()?;
    if tokens.skip("=")? {
        tokens.value(true)?;
    }
    tokens.directives(false).map(drop)
}

/// Reads `fragment Name on Type @d { ... }`.
fn fragment_definition(tokens: &mut Recognizer<'_>) -> Read {
    tokens.keyword("fragment")?;
    // No fragment has the name `on`: `... on T` would be ambiguous.
    if tokens.is_word("on") {
        return tokens.unexpected();
    }
    tokens.name()?;
    tokens.keyword("on")?;
    tokens.name()?;
    tokens.directives(false)?;
    selection_set(tokens)
}

/// Reads `{ ... }`, which is never empty.
fn selection_set(tokens: &mut Recognizer<'_>) -> Read {
    if !tokens.is("{") {
        return Err(tokens.expected("{"));
    }
    tokens.some("{", "}", selection).map(drop)
}

/// Reads a field, or `...` with a fragment.
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

/// Reads what follows `...`: the name of a fragment, or a fragment itself.
fn fragment(tokens: &mut Recognizer<'_>) -> Read {
    if tokens.lookahead().kind == LexemeKind::Name && !tokens.is_word("on") {
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
    fn the_first_fault_is_reported() {
        let reported = |text: &str| recognize(text, document).expect_err(text).message;
        assert_eq!(reported("query { "), "Expected Name, found <EOF>");
        assert_eq!(reported("query { a } garbage"), "Unexpected Name \"garbage\"");
        assert_eq!(reported("query { a: }"), "Expected Name, found }");
        assert_eq!(reported("query { a(id: $id): B! }"), "Expected Name, found :");
        assert_eq!(reported("query {}"), "expected at least one definition, found }");
        assert_eq!(reported("query Q"), "Expected {, found <EOF>");
    }
}
