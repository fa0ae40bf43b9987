//! What is written here for operators of other languages, `age > 41` and `near|km`, with the words
//! around them. For the hints of errors alone.

use super::cursor;

/// Returns the function for the comparison whose operator stands at `at`, such as `` write `not
/// eq(code, "FRA")` `` for `code != "FRA"`.
pub(crate) fn comparison(text: &str, at: usize) -> Option<String> {
    let rest = &text[at..];
    let operators = [
        ("!=", "not eq"),
        ("<>", "not eq"),
        ("==", "eq"),
        ("=", "eq"),
        (">=", "ge"),
        (">", "gt"),
        ("<=", "le"),
        ("<", "lt"),
    ];
    let (operator, function) = operators.into_iter().find(|(sign, _)| rest.starts_with(sign))?;
    let (left, right) = (word_before(text, at), value_of(&rest[operator.len()..])?);
    let is_operand = !["", "and", "or", "not"].contains(&left);
    is_operand.then(|| format!("write `{function}({left}, {right})`"))
}

/// Returns the filter of a facet whose `|` stands at `at` among the arguments of the function that
/// is opened at `open`, such as `` write `near @facets(gt(km, 3000))` `` for `gt(near|km, 3000)`.
pub(super) fn facet_filter(text: &str, open: usize, at: usize) -> Option<String> {
    let (function, edge) = (word_before(text, open), word_before(text, at));
    let rest = text[at + 1..].trim_ascii_start();
    let facet = &rest[..word_len(rest)];
    let close = rest.find([')', '\n'])?;
    let arguments = rest.get(facet.len()..close)?;
    let is_complete = ![function, edge, facet].contains(&"") && rest[close..].starts_with(')');
    is_complete.then(|| {
        format!(
            "a facet is filtered behind its edge: `{edge} @facets({function}({facet}{arguments}))`"
        )
    })
}

/// Returns the name before `at`, and before the white space there; empty where none is.
fn word_before(text: &str, at: usize) -> &str {
    let before = text[..at].trim_ascii_end();
    let length = before.bytes().rev().take_while(|byte| is_word(*byte)).count();
    &before[before.len() - length..]
}

/// Returns the text in quotes, the `$variable` or the word that `rest` begins with.
fn value_of(rest: &str) -> Option<&str> {
    let rest = rest.trim_ascii_start();
    let end = match rest.bytes().next()? {
        b'"' => 2 + rest[1..].find(['"', '\n']).filter(|end| rest[1 + end..].starts_with('"'))?,
        b'$' | b'-' => 1 + word_len(&rest[1..]),
        _ => word_len(rest),
    };
    rest.get(..end).filter(|value| !value.is_empty())
}

fn word_len(text: &str) -> usize {
    text.bytes().take_while(|byte| is_word(*byte)).count()
}

fn is_word(byte: u8) -> bool {
    cursor::is_name(byte) || byte == b'@'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_become_functions() {
        for (text, expected) in [
            ("iata != \"FRA\")", "write `not eq(iata, \"FRA\")`"),
            ("age>=30 and", "write `ge(age, 30)`"),
            ("a == $b)", "write `eq(a, $b)`"),
            ("name@en = \"x y\"", "write `eq(name@en, \"x y\")`"),
            ("t < -1.5", "write `lt(t, -1.5)`"),
        ] {
            let at = text.find(['!', '>', '=', '<']).unwrap();
            assert_eq!(comparison(text, at).as_deref(), Some(expected), "{text}");
        }
        for text in ["!has(a)", "has(a) and <b>", "!= 3", "a !=", "a = \"x", "a = (b)", "a = é"] {
            let at = text.find(['!', '=', '<']).unwrap();
            assert_eq!(comparison(text, at), None, "{text}");
        }
    }

    #[test]
    fn facets_are_filtered_behind_their_edge() {
        let reported = |text: &str| facet_filter(text, text.find('(')?, text.find('|')?);
        let expected = "a facet is filtered behind its edge: `near @facets(gt(km, 3000))`";
        assert_eq!(reported("gt(near|km, 3000)").as_deref(), Some(expected));
        assert_eq!(
            reported("has(near | km)").unwrap().split(": ").last(),
            Some("`near @facets(has(km))`")
        );
        for text in ["(a)|b", "eq(|km, 1)", "eq(near|, 1)", "eq(near|km, 1", "eq(\"a\"|\"b\")"] {
            assert_eq!(reported(text), None, "{text}");
        }
    }
}
