//! Savoy's light stemmers for French, Spanish, Italian and Portuguese.

use crate::text::words::stem::rules::{Rule, apply, apply_first, cut, ends_with};

/// French endings; the first match is replaced, as the last step before the vowels.
const FRENCH: [Rule; 14] = [
    (9, "issement", "ir"),
    (8, "issant", "ir"),
    (11, "ficatrice", "fier"),
    (10, "ficateur", "fier"),
    (9, "catrice", "quer"),
    (8, "cateur", "quer"),
    (8, "atrice", "er"),
    (7, "ateur", "er"),
    (5, "ième", ""),
    (7, "teuse", "ter"),
    (6, "teur", "ter"),
    (5, "euse", "eu"),
    (8, "ère", "er"),
    (7, "ive", "if"),
];

/// Those that come after, in the same manner.
const FRENCH_FINAL: [Rule; 10] = [
    (4, "folle", "fou"),
    (4, "molle", "mou"),
    (9, "nnelle", "n"),
    (9, "nnel", "n"),
    (8, "esse", "e"),
    (7, "inage", "in"),
    (9, "isateur", ""),
    (8, "ation", ""),
    (8, "ition", ""),
    (9, "isation", ""),
];

/// Replaces a French word in lower case by its stem.
pub(in crate::text::words::stem) fn stem_french(word: &mut Vec<char>) {
    french_plural(word);
    french_derivation(word);
    french_vowels(word);
}

fn french_plural(word: &mut Vec<char>) {
    if 5 < word.len() && ends_with(word, "aux") && !ends_with(word, "eaux") {
        apply(word, (0, "ux", "l"));
    }
    for ending in ["x", "s"] {
        apply(word, (3, ending, ""));
    }
}

fn french_derivation(word: &mut Vec<char>) {
    // The tables are cut where the published algorithm has a rule with a second step between two
    // others.
    if apply_first(word, &FRENCH[..2]) {
        return;
    }
    if apply(word, (6, "ement", "e")) {
        apply(word, (3, "ive", "if"));
        return;
    }
    if apply_first(word, &FRENCH[2..8]) {
        return;
    }
    apply(word, (6, "trice", "teur"));
    if apply_first(word, &FRENCH[8..]) || apply_first(word, &FRENCH_FINAL[..4]) {
        return;
    }
    apply(word, (4, "ète", "et"));
    apply(word, (8, "ique", ""));
    if apply_first(word, &FRENCH_FINAL[4..6]) {
        return;
    }
    if apply(word, (9, "isation", "")) {
        apply(word, (5, "ual", "uel"));
        return;
    }
    apply_first(word, &FRENCH_FINAL[6..9]);
}

fn french_vowels(word: &mut Vec<char>) {
    if 4 < word.len() {
        for character in word.iter_mut() {
            *character = match *character {
                'à' | 'á' | 'â' => 'a',
                'ô' => 'o',
                'è' | 'é' | 'ê' => 'e',
                'ù' | 'û' => 'u',
                'î' => 'i',
                'ç' => 'c',
                other => other,
            };
        }
        word.dedup_by(|next, last| next == last && last.is_alphabetic());
    }
    apply(word, (4, "ie", ""));
    if 4 < word.len() {
        apply(word, (0, "r", ""));
        apply(word, (0, "e", ""));
        apply(word, (0, "e", ""));
        if let [.., a, b] = word[..]
            && a == b
            && b.is_alphabetic()
        {
            word.pop();
        }
    }
}

/// Replaces a Spanish word in lower case by its stem. Accents stay.
pub(in crate::text::words::stem) fn stem_spanish(word: &mut Vec<char>) {
    if word.len() < 5 {
        return;
    }
    apply_first(
        word,
        &[
            (0, "o", ""),
            (0, "a", ""),
            (0, "e", ""),
            (0, "eses", "es"),
            (0, "ces", "z"),
            (0, "os", ""),
            (0, "as", ""),
            (0, "es", ""),
        ],
    );
}

/// Replaces an Italian word in lower case by its stem.
pub(in crate::text::words::stem) fn stem_italian(word: &mut Vec<char>) {
    if word.len() < 6 {
        return;
    }
    without_accents(word);
    apply_first(
        word,
        &[
            (0, "ie", ""),
            (0, "he", ""),
            (0, "hi", ""),
            (0, "ii", ""),
            (0, "ia", ""),
            (0, "io", ""),
            (0, "e", ""),
            (0, "i", ""),
            (0, "a", ""),
            (0, "o", ""),
        ],
    );
}

const PORTUGUESE_PLURAL: [Rule; 14] = [
    (4, "res", "r"),
    (4, "ses", "s"),
    (4, "les", "l"),
    (4, "zes", "z"),
    (3, "ns", "m"),
    (4, "eis", "el"),
    (4, "éis", "el"),
    (4, "ais", "al"),
    (4, "óis", "ol"),
    (4, "is", "il"),
    (3, "ões", "ão"),
    (3, "ães", "ão"),
    (6, "mente", ""),
    (3, "s", ""),
];

const PORTUGUESE_FEMININE: [Rule; 13] = [
    (7, "inha", "inho"),
    (7, "iaca", "iaco"),
    (7, "eira", "eiro"),
    (6, "osa", "oso"),
    (6, "ica", "ico"),
    (6, "ida", "ido"),
    (6, "ada", "ado"),
    (6, "iva", "ivo"),
    (6, "ama", "amo"),
    (6, "ona", "ão"),
    (6, "ora", "or"),
    (6, "esa", "ês"),
    (6, "na", "no"),
];

/// Replaces a Portuguese word in lower case by its stem.
pub(in crate::text::words::stem) fn stem_portuguese(word: &mut Vec<char>) {
    if word.len() < 4 {
        return;
    }
    apply_first(word, &PORTUGUESE_PLURAL);
    if 3 < word.len() {
        apply_first(word, &PORTUGUESE_FEMININE);
    }
    if 4 < word.len() && matches!(word.last(), Some('e' | 'a' | 'o')) {
        cut(word, 1);
    }
    for character in word.iter_mut() {
        *character = match *character {
            'ã' => 'a',
            'õ' => 'o',
            'ç' => 'c',
            other => other,
        };
    }
    without_accents(word);
}

fn without_accents(word: &mut [char]) {
    for character in word.iter_mut() {
        *character = match *character {
            'à' | 'á' | 'â' | 'ä' => 'a',
            'ò' | 'ó' | 'ô' | 'ö' => 'o',
            'è' | 'é' | 'ê' | 'ë' => 'e',
            'ù' | 'ú' | 'û' | 'ü' => 'u',
            'ì' | 'í' | 'î' | 'ï' => 'i',
            other => other,
        };
    }
}
