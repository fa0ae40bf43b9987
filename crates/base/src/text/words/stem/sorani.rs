//! The light stemmer for Sorani Kurdish.

use crate::text::words::stem::rules::{Rule, apply_first};

const POSTPOSITIONS: [Rule; 3] = [(5, "دا", ""), (4, "نا", "ن"), (6, "ەوە", "")];

const POSSESSIVES: [Rule; 3] = [(6, "مان", ""), (6, "یان", ""), (6, "تان", "")];

const ENDINGS: [Rule; 18] = [
    (6, "ێکی", ""),
    (7, "یەکی", ""),
    (5, "ێک", ""),
    (6, "یەک", ""),
    (6, "ەکە", ""),
    (5, "کە", ""),
    (7, "ەکان", ""),
    (6, "کان", ""),
    (7, "یانی", ""),
    (6, "انی", ""),
    (6, "یان", ""),
    (5, "ان", ""),
    (7, "یانە", ""),
    (6, "انە", ""),
    (5, "ایە", ""),
    (5, "ەیە", ""),
    (4, "ە", ""),
    (4, "ی", ""),
];

/// Replaces a word by its stem: a postposition goes, then a possessive, then one more ending.
pub(in crate::text::words::stem) fn stem(word: &mut Vec<char>) {
    apply_first(word, &POSTPOSITIONS);
    apply_first(word, &POSSESSIVES);
    apply_first(word, &ENDINGS);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_go() {
        for (word, expected) in
            [("پیاوێک", "پیاو"), ("پیاوەکان", "پیاو"), ("پیاوەکە", "پیاو"), ("پیاو", "پیاو")]
        {
            let mut characters: Vec<char> = word.chars().collect();
            stem(&mut characters);
            assert_eq!(String::from_iter(characters), expected);
        }
    }
}
