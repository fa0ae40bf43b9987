//! Word segmentation by UAX #29, over the character classes of Unicode 8 (those Dgraph's own
//! segmenter has), keeping only the segments that hold a letter, a digit, an ideograph, kana or a
//! connector such as `_`.

use std::sync::LazyLock;

use regex_syntax::hir::{Class as HirClass, HirKind};

/// One word of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::text) struct Word<'a> {
    /// The byte it starts at.
    pub(in crate::text) start: usize,
    /// The word as written.
    pub(in crate::text) text: &'a str,
    /// Whether it is an ideograph or kana: what East Asian bigrams are made of.
    pub(super) ideographic: bool,
}

/// The `Word_Break` property of UAX #29, less what makes no difference to the resulting words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Other,
    Newline,
    Extend,
    Letter,
    Hebrew,
    Digit,
    Katakana,
    Ideograph,
    Connector,
    MidLetter,
    MidNumber,
    MidBoth,
    SingleQuote,
    DoubleQuote,
}

use Class::{
    Connector, Digit, DoubleQuote, Extend, Hebrew, Ideograph, Katakana, Letter, MidBoth, MidLetter,
    MidNumber, Newline, Other, SingleQuote,
};

impl Class {
    /// Whether a segment that starts so is a word. A connector starts one, so `_` by itself is a
    /// word, too.
    fn starts_word(self) -> bool {
        matches!(self, Letter | Hebrew | Digit | Katakana | Ideograph | Connector)
    }

    fn is_letter(self) -> bool {
        matches!(self, Letter | Hebrew)
    }

    /// Whether ASCII letters, digits and `_` may follow without a break.
    fn takes_ascii(self) -> bool {
        matches!(self, Letter | Hebrew | Digit | Connector)
    }
}

const ASCII: [Class; 128] = ascii_classes();

const fn ascii_classes() -> [Class; 128] {
    let mut classes = [Other; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => Letter,
            b'0'..=b'9' => Digit,
            b'_' => Connector,
            b':' => MidLetter,
            b',' | b';' => MidNumber,
            b'.' => MidBoth,
            b'\'' => SingleQuote,
            b'"' => DoubleQuote,
            0x0a..=0x0d => Newline,
            _ => Other,
        };
        byte += 1;
    }
    classes
}

/// Up to here the classes are in a table: planes 0 to 2, since no later one had letters in Unicode
/// 8. The table has a byte for each character, 192 KiB, and is made when the first character beyond
/// ASCII is met.
const TABLE_END: usize = 0x3_0000;

static TABLE: LazyLock<Box<[Class]>> = LazyLock::new(build_table);

/// The sets that make up each class, in the order they are laid over each other: a class of Unicode
/// 8 is the class of today, less the kinds of character that came later. A later set overrides
/// earlier ones: the syllables of Hangul are in the first set, and the second makes letters of
/// them, so runs of them are words and not single ideographs.
const SETS: [(Class, &str); 13] = [
    (Ideograph, r"[[\p{sc=Hiragana}\p{sc=Han}\p{sc=Hangul}\p{Ideographic}]--\x{3006}]"),
    (Letter, r"[[\p{wb=ALetter}&&\p{Alphabetic}]--[\x{70F}\x{1CF2}\x{1CF3}]]"),
    (Letter, r"[\x{5F3}\x{1885}\x{1886}]"),
    (Hebrew, r"\p{wb=Hebrew_Letter}"),
    (Digit, r"[\p{wb=Numeric}--[\p{No}\p{Cf}\x{FF10}-\x{FF19}]]"),
    (Katakana, r"\p{wb=Katakana}"),
    (Connector, r"[\p{wb=ExtendNumLet}--\x{202F}]"),
    (MidLetter, r"[[\p{wb=MidLetter}\x{2D7}]--\x{55F}]"),
    (MidNumber, r"\p{wb=MidNum}"),
    (MidBoth, r"\p{wb=MidNumLet}"),
    (Newline, r"\p{wb=Newline}"),
    (Extend, r"[[\p{wb=Extend}\x{200D}\x{1CF2}\x{1CF3}]--[\x{1F3FB}-\x{1F3FF}\x{1885}\x{1886}]]"),
    (Extend, r"[\p{wb=Format}\x{600}-\x{605}\x{6DD}\x{70F}\x{110BD}]"),
];

fn build_table() -> Box<[Class]> {
    let mut table = vec![Other; TABLE_END];
    for (class, set) in SETS {
        // Characters that came after Unicode 8 have no class.
        for (first, last) in ranges(&format!(r"[{set}&&\p{{age=8.0}}]")) {
            let last = last.min(TABLE_END - 1);
            if first <= last {
                table[first..=last].fill(class);
            }
        }
    }
    table[..128].copy_from_slice(&ASCII);
    table.into_boxed_slice()
}

fn ranges(set: &str) -> Vec<(usize, usize)> {
    let hir = regex_syntax::parse(set).expect("the sets above are well formed");
    match hir.kind() {
        HirKind::Class(HirClass::Unicode(class)) => class
            .ranges()
            .iter()
            .map(|range| (range.start() as usize, range.end() as usize))
            .collect(),
        HirKind::Literal(literal) => String::from_utf8_lossy(&literal.0)
            .chars()
            .map(|only| (only as usize, only as usize))
            .collect(),
        _ => Vec::new(),
    }
}

fn class_of(character: char) -> Class {
    let code = character as usize;
    match code {
        0..128 => ASCII[code],
        128..TABLE_END => TABLE[code],
        // Tags and variation selectors: all that is left of use above the ideographs.
        0xE_0000..0xE_1000 => Extend,
        _ => Other,
    }
}

/// The words of a text, in order.
#[derive(Debug, Clone)]
pub(in crate::text) struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    /// Starts at the beginning of `text`.
    pub(in crate::text) fn new(text: &'a str) -> Words<'a> {
        Words { text, at: 0 }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        let bytes = self.text.as_bytes();
        loop {
            let start = self.at;
            let &first = bytes.get(start)?;
            let (class, length) = if first < 128 {
                (ASCII[usize::from(first)], 1)
            } else {
                let character = self.text[start..].chars().next()?;
                (class_of(character), character.len_utf8())
            };
            if !class.starts_word() {
                self.at = start + length;
                continue;
            }
            let end = word_end(self.text, class, start + length);
            self.at = end;
            let ideographic = matches!(class, Ideograph | Katakana);
            return Some(Word { start, text: &self.text[start..end], ideographic });
        }
    }
}

/// The end of the word whose last character so far is of class `last`, up to `at`. O(length of the
/// word), but for the marks after a mark that joins nothing, which are read a second time.
fn word_end(text: &str, mut last: Class, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    loop {
        // Most words are ASCII, which needs neither the table nor the decoding of a character.
        if last.takes_ascii() {
            while let Some(&byte) = bytes.get(at)
                && byte < 128
                && matches!(ASCII[usize::from(byte)], Letter | Digit | Connector)
            {
                last = ASCII[usize::from(byte)];
                at += 1;
            }
        }
        // Rule WB4 of UAX #29; `joins` has the rules 5, 8 to 10 and 13, `joins_across` 6, 7, 11 and
        // 12.
        let Some((class, end)) = skip_extend(text, &mut at) else { return at };
        if joins(last, class) {
            (last, at) = (class, end);
        } else if let Some((class, end)) = joins_across(text, last, class, end) {
            (last, at) = (class, end);
        } else if last == Hebrew && class == SingleQuote {
            // Rule WB7a. The mark belongs to the word, and what a connector joins is joined to it:
            // a digit or a `_` directly after.
            (last, at) = (Connector, end);
        } else {
            return at;
        }
    }
}

/// Moves `at` after what only extends the character before it; gives the class and the end of
/// the character that follows.
fn skip_extend(text: &str, at: &mut usize) -> Option<(Class, usize)> {
    loop {
        let &byte = text.as_bytes().get(*at)?;
        if byte < 128 {
            return Some((ASCII[usize::from(byte)], *at + 1));
        }
        let character = text[*at..].chars().next()?;
        let (class, end) = (class_of(character), *at + character.len_utf8());
        if class != Extend {
            return Some((class, end));
        }
        *at = end;
    }
}

/// Whether there is no break between neighbours of these classes.
fn joins(last: Class, next: Class) -> bool {
    match next {
        Letter | Hebrew | Digit => last.takes_ascii(),
        Katakana => matches!(last, Katakana | Connector),
        Connector => last.takes_ascii() || last == Katakana,
        _ => false,
    }
}

/// Whether punctuation of class `middle`, ending at `end`, joins what is before and after it;
/// then the class and end of what is after.
fn joins_across(text: &str, last: Class, middle: Class, mut end: usize) -> Option<(Class, usize)> {
    let for_letters = matches!(middle, MidLetter | MidBoth | SingleQuote) && last.is_letter();
    let for_digits = matches!(middle, MidNumber | MidBoth | SingleQuote) && last == Digit;
    let for_hebrew = middle == DoubleQuote && last == Hebrew;
    if !(for_letters || for_digits || for_hebrew) {
        return None;
    }
    let (next, next_end) = skip_extend(text, &mut end)?;
    let joined = (for_letters && next.is_letter())
        || (for_digits && next == Digit)
        || (for_hebrew && next == Hebrew);
    joined.then_some((next, next_end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        Words::new(text).map(|word| word.text).collect()
    }

    #[test]
    fn punctuation_joins_its_own_kind_only() {
        assert_eq!(
            words("a:b a:1 1:2 U.S.A. 3.14 1.a don't 'a'"),
            ["a:b", "a", "1", "1", "2", "U.S.A", "3.14", "1", "a", "don't", "a"]
        );
        assert_eq!(words("_ a_b 1;2 a;b a..b"), ["_", "a_b", "1;2", "a", "b", "a", "b"]);
    }

    #[test]
    fn ideographs_stand_alone_and_katakana_run_together() {
        assert_eq!(words("漢字カタカナ1あ_い"), ["漢", "字", "カタカナ", "1", "あ", "_", "い"]);
        let kinds: Vec<bool> = Words::new("漢 カナ 가나 a").map(|word| word.ideographic).collect();
        assert_eq!(kinds, [true, true, false, false]);
    }

    #[test]
    fn marks_extend_and_never_start() {
        assert_eq!(
            words("e\u{301}te\u{301} \u{301}a a\u{200d}b"),
            ["e\u{301}te\u{301}", "a", "a\u{200d}b"]
        );
        assert_eq!(words("א\"ב א' ไทย ½ 👍🏽"), ["א\"ב", "א'"]);
    }
}
