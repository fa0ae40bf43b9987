//! Savoy's light stemmer for German.

use crate::text::words::stem::rules::{cut, ends_with};

/// Replaces a word in lower case by its stem.
pub(in crate::text::words::stem) fn stem(word: &mut Vec<char>) {
    for character in word.iter_mut() {
        *character = without_accent(*character);
    }
    case_endings(word);
    comparison_endings(word);
}

fn without_accent(character: char) -> char {
    match character {
        'ä' | 'à' | 'á' | 'â' => 'a',
        'ö' | 'ò' | 'ó' | 'ô' => 'o',
        'ï' | 'ì' | 'í' | 'î' => 'i',
        'ü' | 'ù' | 'ú' | 'û' => 'u',
        other => other,
    }
}

fn takes_ending(word: &[char], before: usize) -> bool {
    let at = word.len() - before;
    matches!(word[at], 'b' | 'd' | 'f' | 'g' | 'h' | 'k' | 'l' | 'm' | 'n' | 't')
}

fn case_endings(word: &mut Vec<char>) {
    let length = word.len();
    if 5 < length && ends_with(word, "ern") {
        cut(word, 3);
    } else if 4 < length && ["em", "en", "er", "es"].iter().any(|ending| ends_with(word, ending)) {
        cut(word, 2);
    } else if 3 < length
        && (ends_with(word, "e") || (ends_with(word, "s") && takes_ending(word, 2)))
    {
        cut(word, 1);
    }
}

fn comparison_endings(word: &mut Vec<char>) {
    let length = word.len();
    if 5 < length && ends_with(word, "est") {
        cut(word, 3);
    } else if 4 < length
        && (ends_with(word, "er")
            || ends_with(word, "en")
            || (ends_with(word, "st") && takes_ending(word, 3)))
    {
        cut(word, 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_comparison_endings_go() {
        for (word, expected) in
            [("häuser", "haus"), ("katzen", "katz"), ("schönsten", "schon"), ("es", "es")]
        {
            let mut characters: Vec<char> = word.chars().collect();
            stem(&mut characters);
            assert_eq!(String::from_iter(characters), expected);
        }
    }
}
