//! Suffix rules, and the properties of words that the light stemmers test.

/// A rule: a word longer than `.0` with the suffix `.1` gets the suffix `.2`.
pub(in crate::text::words::stem) type Rule = (usize, &'static str, &'static str);

/// Whether the word has this suffix.
pub(in crate::text::words::stem) fn ends_with(word: &[char], suffix: &str) -> bool {
    let mut at = word.len();
    suffix.chars().rev().all(|expected| {
        at = at.wrapping_sub(1);
        word.get(at) == Some(&expected)
    })
}

/// Cuts the last `count` characters off.
pub(in crate::text::words::stem) fn cut(word: &mut Vec<char>, count: usize) {
    word.truncate(word.len().saturating_sub(count));
}

/// Applies one rule; whether it fitted.
pub(in crate::text::words::stem) fn apply(
    word: &mut Vec<char>,
    (longer_than, suffix, replacement): Rule,
) -> bool {
    let fits = longer_than < word.len() && ends_with(word, suffix);
    if fits {
        cut(word, suffix.chars().count());
        word.extend(replacement.chars());
    }
    fits
}

/// Applies the first rule that fits; whether there was one.
pub(in crate::text::words::stem) fn apply_first(word: &mut Vec<char>, rules: &[Rule]) -> bool {
    rules.iter().any(|&rule| apply(word, rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_fits_is_applied() {
        let rules: &[Rule] = &[(5, "ing", ""), (0, "ng", "m"), (0, "m", "x")];
        for (word, expected) in [("walking", "walk"), ("king", "kim"), ("kim", "kix"), ("", "")] {
            let mut characters: Vec<char> = word.chars().collect();
            assert_eq!(apply_first(&mut characters, rules), !word.is_empty());
            assert_eq!(String::from_iter(characters), expected);
        }
    }
}
