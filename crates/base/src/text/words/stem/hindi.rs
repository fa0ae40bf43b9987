//! The light stemmer for Hindi of Ramanathan and Rao.

use crate::text::words::stem::rules::{cut, ends_with};

/// The endings by length, the longest first: each needs a word longer than itself by two.
const ENDINGS: [(usize, &[&str]); 5] = [
    (5, &["ाएंगी", "ाएंगे", "ाऊंगी", "ाऊंगा", "ाइयाँ", "ाइयों", "ाइयां"]),
    (
        4,
        &[
            "ाएगी",
            "ाएगा",
            "ाओगी",
            "ाओगे",
            "एंगी",
            "ेंगी",
            "एंगे",
            "ेंगे",
            "ूंगी",
            "ूंगा",
            "ातीं",
            "नाओं",
            "नाएं",
            "ताओं",
            "ताएं",
            "ियाँ",
            "ियों",
            "ियां",
        ],
    ),
    (
        3,
        &[
            "ाकर",
            "ाइए",
            "ाईं",
            "ाया",
            "ेगी",
            "ेगा",
            "ोगी",
            "ोगे",
            "ाने",
            "ाना",
            "ाते",
            "ाती",
            "ाता",
            "तीं",
            "ाओं",
            "ाएं",
            "ुओं",
            "ुएं",
            "ुआं",
        ],
    ),
    (2, &["कर", "ाओ", "िए", "ाई", "ाए", "ने", "नी", "ना", "ते", "ीं", "ती", "ता", "ाँ", "ां", "ों", "ें"]),
    (1, &["ो", "े", "ू", "ु", "ी", "ि", "ा"]),
];

/// Replaces a word by its stem.
pub(in crate::text::words::stem) fn stem(word: &mut Vec<char>) {
    let length = ENDINGS.iter().find_map(|&(length, endings)| {
        let fits = length + 1 < word.len() && endings.iter().any(|ending| ends_with(word, ending));
        fits.then_some(length)
    });
    cut(word, length.unwrap_or(0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_ending_goes() {
        for (word, expected) in [("लड़कियाँ", "लड़क"), ("भाषा", "भाष"), ("पढ़ाएगी", "पढ़"), ("घर", "घर")]
        {
            let mut characters: Vec<char> = word.chars().collect();
            stem(&mut characters);
            assert_eq!(String::from_iter(characters), expected);
        }
    }
}
