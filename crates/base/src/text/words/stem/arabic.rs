//! The light stemmer for Arabic of Larkey, Ballesteros and Connell.

use crate::text::words::stem::rules::{cut, ends_with};

const PREFIXES: [&str; 7] = ["ال", "وال", "بال", "كال", "فال", "لل", "و"];

const SUFFIXES: [&str; 10] = ["ها", "ان", "ات", "ون", "ين", "يه", "ية", "ه", "ة", "ي"];

/// Replaces a word by its stem: at most one prefix goes, and each suffix in order.
pub(in crate::text::words::stem) fn stem(word: &mut Vec<char>) {
    if let Some(length) = PREFIXES.iter().find_map(|prefix| prefix_length(word, prefix)) {
        word.drain(..length);
    }
    for suffix in SUFFIXES {
        let length = suffix.chars().count();
        if length + 2 <= word.len() && ends_with(word, suffix) {
            cut(word, length);
        }
    }
}

/// The length of `prefix` if the word has it and enough besides.
fn prefix_length(word: &[char], prefix: &str) -> Option<usize> {
    let length = prefix.chars().count();
    // A single letter needs a longer rest.
    let rest = if length == 1 { 3 } else { 2 };
    let fits = length + rest <= word.len() && prefix.chars().eq(word[..length].iter().copied());
    fits.then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_and_endings_go() {
        for (word, expected) in
            [("الحسن", "حسن"), ("والحسن", "حسن"), ("زوجها", "زوج"), ("ولد", "ولد")]
        {
            let mut characters: Vec<char> = word.chars().collect();
            stem(&mut characters);
            assert_eq!(String::from_iter(characters), expected);
        }
    }
}
