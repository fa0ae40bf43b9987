//! Porter's stemmer for English, as published in 1980 ("An algorithm for suffix stripping"), with
//! the two rules of step 2 that he changed later: `bli` for `abli`, and `logi`.

/// The stemmer with its buffers.
#[derive(Debug, Default)]
pub(in crate::text) struct Porter {
    /// The word a byte a character, [`EXTERNAL`] for those that are not ASCII.
    word: Vec<u8>,
    external: Vec<char>,
}

/// Represents any character that is not ASCII: a consonant.
const EXTERNAL: u8 = 0x80;

/// A rule of steps 2 to 4: the suffix and what replaces it.
type Rule = (&'static [u8], &'static [u8]);

const STEP_2: [Rule; 21] = [
    (b"ational", b"ate"),
    (b"tional", b"tion"),
    (b"enci", b"ence"),
    (b"anci", b"ance"),
    (b"izer", b"ize"),
    (b"bli", b"ble"),
    (b"alli", b"al"),
    (b"entli", b"ent"),
    (b"eli", b"e"),
    (b"ousli", b"ous"),
    (b"ization", b"ize"),
    (b"ation", b"ate"),
    (b"ator", b"ate"),
    (b"alism", b"al"),
    (b"iveness", b"ive"),
    (b"fulness", b"ful"),
    (b"ousness", b"ous"),
    (b"aliti", b"al"),
    (b"iviti", b"ive"),
    (b"biliti", b"ble"),
    (b"logi", b"log"),
];

const STEP_3: [Rule; 7] = [
    (b"icate", b"ic"),
    (b"ative", b""),
    (b"alize", b"al"),
    (b"iciti", b"ic"),
    (b"ical", b"ic"),
    (b"ful", b""),
    (b"ness", b""),
];

const STEP_4: [Rule; 19] = [
    (b"al", b""),
    (b"ance", b""),
    (b"ence", b""),
    (b"er", b""),
    (b"ic", b""),
    (b"able", b""),
    (b"ible", b""),
    (b"ant", b""),
    (b"ement", b""),
    (b"ment", b""),
    (b"ent", b""),
    (b"ion", b""),
    (b"ou", b""),
    (b"ism", b""),
    (b"ate", b""),
    (b"iti", b""),
    (b"ous", b""),
    (b"ive", b""),
    (b"ize", b""),
];

impl Porter {
    /// Replaces a word in lower case by its stem.
    pub(in crate::text::words::stem) fn stem(&mut self, word: &mut String) {
        if word.len() <= 2 {
            return;
        }
        self.word.clear();
        if word.is_ascii() {
            self.word.extend_from_slice(word.as_bytes());
            stem(&mut self.word);
            word.clear();
            word.extend(self.word.iter().map(|&byte| char::from(byte)));
            return;
        }
        self.external.clear();
        self.external.extend(word.chars().filter(|character| !character.is_ascii()));
        self.word.extend(word.chars().map(|it| u8::try_from(it).unwrap_or(EXTERNAL).min(EXTERNAL)));
        if 2 < self.word.len() {
            stem(&mut self.word);
        }
        // Only suffixes went, so what is left is in the same order.
        let mut external = self.external.iter();
        word.clear();
        word.extend(self.word.iter().filter_map(|&byte| match byte {
            EXTERNAL => external.next().copied(),
            ascii => Some(char::from(ascii)),
        }));
    }
}

fn stem(word: &mut Vec<u8>) {
    plurals(word);
    past_and_gerund(word);
    // Step 1c: `happy` becomes `happi`, `sky` stays.
    if word.ends_with(b"y") && has_vowel(&word[..word.len() - 1]) {
        replace(word, 1, b"i");
    }
    apply_longest(word, &STEP_2, 0);
    apply_longest(word, &STEP_3, 0);
    apply_longest(word, &STEP_4, 1);
    final_e(word);
}

fn replace(word: &mut Vec<u8>, count: usize, by: &[u8]) {
    word.truncate(word.len() - count);
    word.extend_from_slice(by);
}

/// Step 1a.
fn plurals(word: &mut Vec<u8>) {
    // `caresses` becomes `caress`, `ponies` `poni`, `cats` `cat`.
    if word.ends_with(b"sses") || word.ends_with(b"ies") {
        replace(word, 2, b"");
    } else if word.ends_with(b"s") && !word.ends_with(b"ss") {
        replace(word, 1, b"");
    }
}

/// Step 1b.
fn past_and_gerund(word: &mut Vec<u8>) {
    if word.ends_with(b"eed") {
        if 0 < measure(&word[..word.len() - 3]) {
            replace(word, 1, b"");
        }
        return;
    }
    let suffix = match word.as_slice() {
        [.., b'e', b'd'] => 2,
        [.., b'i', b'n', b'g'] => 3,
        _ => return,
    };
    if !has_vowel(&word[..word.len() - suffix]) {
        return;
    }
    replace(word, suffix, b"");
    // Restores what the suffix removed: `conflat` becomes `conflate`, `hopp` `hop`, `fil` `file`.
    if word.ends_with(b"at") || word.ends_with(b"bl") || word.ends_with(b"iz") {
        word.push(b'e');
    } else if has_double_consonant(word) {
        if !matches!(word.last(), Some(b'l' | b's' | b'z')) {
            word.pop();
        }
    } else if measure(word) == 1 && has_short_last_syllable(word) {
        word.push(b'e');
    }
}

/// Applies the rule with the longest suffix that the word has, if what is left before it has a
/// measure above `above`.
fn apply_longest(word: &mut Vec<u8>, rules: &[Rule], above: usize) {
    let longest = rules
        .iter()
        .filter(|(suffix, _)| word.ends_with(suffix))
        .max_by_key(|(suffix, _)| suffix.len());
    let Some(&(suffix, replacement)) = longest else { return };
    let rest = &word[..word.len() - suffix.len()];
    let ion_stays = suffix == b"ion" && !matches!(rest.last(), Some(b's' | b't'));
    if above < measure(rest) && !ion_stays {
        replace(word, suffix.len(), replacement);
    }
}

/// Step 5.
fn final_e(word: &mut Vec<u8>) {
    if word.ends_with(b"e") {
        let rest = &word[..word.len() - 1];
        let measure = measure(rest);
        if 1 < measure || (measure == 1 && !has_short_last_syllable(rest)) {
            word.pop();
        }
    }
    // Step 5b: `controll` becomes `control`, `roll` stays.
    if word.ends_with(b"ll") && 1 < measure(word) {
        word.pop();
    }
}

/// Whether the character at `at` is a consonant: `y` is one unless it follows a consonant.
fn is_consonant(word: &[u8], at: usize) -> bool {
    match word[at] {
        b'a' | b'e' | b'i' | b'o' | b'u' => false,
        b'y' => {
            // Neighbouring `y`s are alternately consonant and vowel, so their number decides; no
            // call for each of them is needed.
            let ys = word[..at].iter().rev().take_while(|&&before| before == b'y').count();
            let start = at - ys;
            let first = start == 0 || matches!(word[start - 1], b'a' | b'e' | b'i' | b'o' | b'u');
            first == (ys % 2 == 0)
        }
        _ => true,
    }
}

fn has_vowel(word: &[u8]) -> bool {
    (0..word.len()).any(|at| !is_consonant(word, at))
}

/// How often a consonant follows a vowel: the number of syllables, roughly.
fn measure(word: &[u8]) -> usize {
    let mut count = 0;
    let mut after_vowel = false;
    for at in 0..word.len() {
        let consonant = is_consonant(word, at);
        count += usize::from(consonant && after_vowel);
        after_vowel = !consonant;
    }
    count
}

fn has_double_consonant(word: &[u8]) -> bool {
    matches!(word, [.., a, b] if a == b) && is_consonant(word, word.len() - 1)
}

/// Whether its last letters are consonant, vowel, consonant, the last not `w`, `x` or `y`.
fn has_short_last_syllable(word: &[u8]) -> bool {
    let Some(at) = word.len().checked_sub(3) else { return false };
    is_consonant(word, at)
        && !is_consonant(word, at + 1)
        && is_consonant(word, at + 2)
        && !matches!(word[at + 2], b'w' | b'x' | b'y')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_as_published() {
        for (word, expected) in [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("motoring", "motor"),
            ("conflated", "conflat"),
            ("hopping", "hop"),
            ("falling", "fall"),
            ("filing", "file"),
            ("happy", "happi"),
            ("sky", "sky"),
            ("possibly", "possibl"),
            ("apologies", "apolog"),
            ("relational", "relat"),
            ("vietnamization", "vietnam"),
            ("electricity", "electr"),
            ("adoption", "adopt"),
            ("controlling", "control"),
            ("cafés", "café"),
            ("is", "is"),
        ] {
            let mut stem = word.to_owned();
            Porter::default().stem(&mut stem);
            assert_eq!(stem, expected, "{word}");
        }
    }
}
