//! The grammar of schemas (GraphQL specification, *Type System Document*).

use crate::syntax::lexer::LexemeKind;
use crate::syntax::recognizer::{Read, Recognizer};

/// The locations that the definition of a directive may name.
const LOCATIONS: [&str; 18] = [
    "QUERY",
    "MUTATION",
    "SUBSCRIPTION",
    "FIELD",
    "FRAGMENT_DEFINITION",
    "FRAGMENT_SPREAD",
    "INLINE_FRAGMENT",
    "SCHEMA",
    "SCALAR",
    "OBJECT",
    "FIELD_DEFINITION",
    "ARGUMENT_DEFINITION",
    "INTERFACE",
    "UNION",
    "ENUM",
    "ENUM_VALUE",
    "INPUT_OBJECT",
    "INPUT_FIELD_DEFINITION",
];

/// Reads an entire text.
pub(super) fn document(tokens: &mut Recognizer<'_>) -> Read {
    while tokens.lookahead().kind != LexemeKind::End {
        let description = tokens.lookahead();
        let described = skip_description(tokens)?;
        if tokens.lookahead().kind != LexemeKind::Name {
            return tokens.unexpected();
        }
        match tokens.lookahead().text {
            "schema" => {
                tokens.next()?;
                tokens.directives(true)?;
                root_operations(tokens)?;
            }
            "directive" => directive_definition(tokens)?,
            // Extensions have no description: the fault points at it.
            "extend" if described => {
                return Err((description.at, format!("Unexpected {}", description.described())));
            }
            "extend" => extension(tokens)?,
            _ => drop(definition(tokens)?),
        }
    }
    Ok(())
}

/// Reads the description that is next, and says whether there was one.
fn skip_description(tokens: &mut Recognizer<'_>) -> Read<bool> {
    let described = matches!(tokens.lookahead().kind, LexemeKind::String | LexemeKind::BlockString);
    if described {
        tokens.next()?;
    }
    Ok(described)
}

/// Reads `{ query: T ... }` and returns the number of operations.
fn root_operations(tokens: &mut Recognizer<'_>) -> Read<usize> {
    tokens.some("{", "}", |tokens| {
        match tokens.lookahead().text {
            "query" | "mutation" | "subscription" => tokens.next()?,
            _ => return tokens.unexpected(),
        };
        tokens.expect(":")?;
        tokens.name().map(drop)
    })
}

/// Reads `extend ...`, which must have a part next to the name.
fn extension(tokens: &mut Recognizer<'_>) -> Read {
    tokens.keyword("extend")?;
    let parts = match tokens.lookahead().text {
        "schema" => {
            tokens.next()?;
            tokens.directives(true)? + root_operations(tokens)?
        }
        _ => definition(tokens)?,
    };
    // An extension that adds nothing is refused at what comes after it.
    if parts == 0 { tokens.unexpected() } else { Ok(()) }
}

/// Reads the definition of a type, and returns the number of its parts next to the name:
/// directives, interfaces, fields, members, values.
fn definition(tokens: &mut Recognizer<'_>) -> Read<usize> {
    let keyword = tokens.lookahead().text;
    if !matches!(keyword, "scalar" | "type" | "interface" | "union" | "enum" | "input") {
        return tokens.unexpected();
    }
    tokens.next()?;
    tokens.name()?;
    let mut parts = 0;
    // Interfaces do not implement interfaces, as in the specification of 2018.
    if keyword == "type" && tokens.is_word("implements") {
        tokens.next()?;
        tokens.skip("&")?;
        parts += names(tokens, "&")?;
    }
    parts += tokens.directives(true)?;
    parts += match keyword {
        "type" | "interface" => tokens.some("{", "}", field)?,
        "enum" => tokens.some("{", "}", enum_value)?,
        "input" => tokens.some("{", "}", input_value)?,
        "union" if tokens.skip("=")? => {
            tokens.skip("|")?;
            names(tokens, "|")?
        }
        _ => 0,
    };
    Ok(parts)
}

/// Reads one name or more with punctuators between them, and returns their number.
fn names(tokens: &mut Recognizer<'_>, between: &str) -> Read<usize> {
    tokens.name()?;
    let mut count = 1;
    while tokens.skip(between)? {
        tokens.name()?;
        count += 1;
    }
    Ok(count)
}

/// Reads a field of an object type or interface.
fn field(tokens: &mut Recognizer<'_>) -> Read {
    skip_description(tokens)?;
    tokens.name()?;
    tokens.some("(", ")", input_value)?;
    tokens.expect(":")?;
    tokens.type_reference()?;
    tokens.directives(true).map(drop)
}

/// Reads an argument, or a field of an input type.
fn input_value(tokens: &mut Recognizer<'_>) -> Read {
    skip_description(tokens)?;
    tokens.name()?;
    tokens.expect(":")?;
    tokens.type_reference()?;
    if tokens.skip("=")? {
        tokens.value(true)?;
    }
    tokens.directives(true).map(drop)
}

/// Reads a value of an enum.
fn enum_value(tokens: &mut Recognizer<'_>) -> Read {
    skip_description(tokens)?;
    tokens.name()?;
    tokens.directives(true).map(drop)
}

/// Reads `directive @name(...) on A | B`.
fn directive_definition(tokens: &mut Recognizer<'_>) -> Read {
    tokens.keyword("directive")?;
    tokens.expect("@")?;
    tokens.name()?;
    tokens.some("(", ")", input_value)?;
    tokens.keyword("on")?;
    tokens.skip("|")?;
    loop {
        let location = tokens.lookahead();
        tokens.name()?;
        if !LOCATIONS.contains(&location.text) {
            return Err((location.at, format!("Unexpected {}", location.described())));
        }
        if !tokens.skip("|")? {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::recognizer::recognize;

    #[test]
    fn schemas_are_accepted() {
        for text in [
            "",
            "# only a comment",
            "\"\"\"What\nit is\"\"\" type T implements & A & B @x(a: [1, {b: \"c\"}]) { f(x: [Int!]! = [1]): Int }",
            "extend type Query { q: Int @custom(dql: \"\"\"{ q(func: uid(1)) }\"\"\") }",
            "schema { query: Query } union U = | A | B enum E { A @deprecated B }",
            "directive @x(a: Int = 3) on | OBJECT | FIELD_DEFINITION input I { a: Int = -1.5e3 }",
        ] {
            recognize(text, document).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        }
    }

    #[test]
    fn the_first_fault_is_reported() {
        let reported = |text: &str| {
            let fault = recognize(text, document).expect_err(text);
            (fault.message, fault.positions[0].line, fault.positions[0].column)
        };
        let at = |message: &str, line, column| (message.to_owned(), line, column);
        assert_eq!(reported("type A {\n}"), at("expected at least one definition, found }", 2, 1));
        assert_eq!(reported("type A { f }"), at("Expected :, found }", 1, 12));
        assert_eq!(reported("type A { f: Int"), at("Expected Name, found <EOF>", 1, 16));
        assert_eq!(reported("tipe A"), at("Unexpected Name \"tipe\"", 1, 1));
        assert_eq!(
            reported("interface A implements B {f: Int}").0,
            "Unexpected Name \"implements\""
        );
        assert_eq!(reported("type A { f: Int = 3 }").0, "Expected Name, found =");
        assert_eq!(reported("type A { f: Int @x(a: $b) }").0, "Unexpected $");
        assert_eq!(reported("extend type A").0, "Unexpected <EOF>");
        assert_eq!(reported("\"d\" extend type A { f: Int }"), at("Unexpected String \"d\"", 1, 2));
        assert_eq!(reported("type A { f: Int @x(a: \"b }").0, "Unterminated string.");
        assert_eq!(reported("type A ; B").0, "Cannot parse the unexpected character \";\".");
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "type A { f: ".to_owned() + &"[".repeat(100_000);
        let fault = recognize(&deep, document).expect_err("it is too deep");
        assert_eq!(fault.message, "more than 100 levels deep");
    }
}
