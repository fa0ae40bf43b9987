//! Shingles: runs of neighbouring words, for phrase search.

use blake2::digest::consts::U32;
use blake2::{Blake2b, Digest};

use super::fulltext::FulltextAnalyzer;
use crate::text::words::distinct::Distinct;

/// The most words a stored shingle has.
const WORDS_MAX: usize = 4;

/// How many words the shingles of a query have, if the query has so many.
const QUERY_WORDS: usize = 3;

/// A shingle of so many bytes or more is stored as its hash.
const HASHED_FROM: usize = 30;

/// Makes the tokens of the `ngram` index. Reuses its buffers: use one for many texts.
#[derive(Debug, Default)]
pub struct NgramAnalyzer {
    fulltext: FulltextAnalyzer,
    seen: Distinct,
    /// The words of the text, joined by single spaces.
    joined: String,
    /// The range of each word in it.
    spans: Vec<(usize, usize)>,
}

impl NgramAnalyzer {
    /// An analyzer with empty buffers.
    pub fn new() -> NgramAnalyzer {
        NgramAnalyzer::default()
    }

    /// Calls `out` with each distinct token of a stored value: all its shingles of one to four
    /// words, stemmed as if English. Long ones are given as a hash of 32 bytes.
    pub fn value(&mut self, text: &str, mut out: impl FnMut(&[u8])) {
        self.read_words(text, "");
        for words in 1..=WORDS_MAX {
            self.shingles(words, &mut out);
        }
    }

    /// Calls `out` with each distinct token of a phrase in language `lang` (empty: English); a
    /// value with the phrase has them all. None when the phrase has only stop words.
    pub fn query(&mut self, text: &str, lang: &str, mut out: impl FnMut(&[u8])) {
        self.read_words(text, lang);
        self.shingles(QUERY_WORDS.min(self.spans.len()), &mut out);
    }

    fn read_words(&mut self, text: &str, lang: &str) {
        self.joined.clear();
        self.spans.clear();
        self.seen.clear();
        let (joined, spans) = (&mut self.joined, &mut self.spans);
        self.fulltext.sequence(text, lang, |word| {
            if !joined.is_empty() {
                joined.push(' ');
            }
            let start = joined.len();
            joined.push_str(word);
            spans.push((start, joined.len()));
        });
    }

    fn shingles(&mut self, words: usize, out: &mut impl FnMut(&[u8])) {
        if words == 0 {
            return;
        }
        for window in self.spans.windows(words) {
            let token = &self.joined.as_bytes()[window[0].0..window[words - 1].1];
            if !self.seen.insert(token) {
                continue;
            }
            if token.len() < HASHED_FROM {
                out(token);
            } else {
                out(&Blake2b::<U32>::digest(token));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(each: impl FnOnce(&mut dyn FnMut(&[u8]))) -> Vec<String> {
        let mut tokens = Vec::new();
        each(&mut |token| tokens.push(String::from_utf8_lossy(token).into_owned()));
        tokens
    }

    #[test]
    fn values_have_all_shingles_and_queries_windows() {
        let mut analyzer = NgramAnalyzer::new();
        assert_eq!(
            strings(|out| analyzer.value("The quick brown fox", out)),
            ["quick", "brown", "fox", "quick brown", "brown fox", "quick brown fox"]
        );
        assert_eq!(
            strings(|out| analyzer.query("one two tree four", "", out)),
            ["on two tree", "two tree four"]
        );
        assert_eq!(strings(|out| analyzer.query("brown foxes", "", out)), ["brown fox"]);
        assert!(strings(|out| analyzer.query("the of", "", out)).is_empty());
    }

    #[test]
    fn long_shingles_are_hashed() {
        let mut lengths = Vec::new();
        NgramAnalyzer::new().value(&"x".repeat(29), |token| lengths.push(token.len()));
        NgramAnalyzer::new().value(&"x".repeat(30), |token| lengths.push(token.len()));
        assert_eq!(lengths, [29, 32]);
    }
}
