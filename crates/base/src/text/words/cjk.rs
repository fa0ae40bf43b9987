//! Bigrams of East Asian text: each two neighbouring ideographs or kana make a token.

use super::case_fold::compact_into;
use super::segment::{Word, Words};

/// Calls `out` with the tokens of `text`: bigrams where ideographs and kana follow each other
/// without a gap, a lone one by itself, other words case-normalized. In order, with repetitions.
pub(in crate::text) fn bigrams(text: &str, mut out: impl FnMut(&str)) {
    let mut normalized = String::new();
    let mut run = Run::default();
    for word in Words::new(text) {
        normalized.clear();
        compact_into(word.text, &mut normalized);
        if word.ideographic {
            run.add(word, &normalized, &mut out);
        } else {
            run.end(&mut out);
            out(&normalized);
        }
    }
    run.end(&mut out);
}

/// The neighbours met so far.
#[derive(Debug, Default)]
struct Run {
    /// The last character, and perhaps the one before it.
    pair: String,
    last_start: usize,
    /// Where the next word has to start to go on with the run.
    next_start: usize,
    is_paired: bool,
}

impl Run {
    fn add(&mut self, word: Word<'_>, normalized: &str, out: &mut impl FnMut(&str)) {
        if word.start != self.next_start {
            self.end(out);
        }
        for character in normalized.chars() {
            let is_first = self.pair.is_empty();
            self.pair.drain(..self.last_start);
            self.last_start = self.pair.len();
            self.pair.push(character);
            if !is_first {
                out(&self.pair);
                self.is_paired = true;
            }
        }
        // A case folding that changes the length counts as a gap.
        self.next_start = word.start + normalized.len();
    }

    fn end(&mut self, out: &mut impl FnMut(&str)) {
        if !self.pair.is_empty() && !self.is_paired {
            out(&self.pair);
        }
        *self = Run { pair: std::mem::take(&mut self.pair), ..Run::default() };
        self.pair.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        bigrams(text, |token| tokens.push(token.to_owned()));
        tokens
    }

    #[test]
    fn neighbours_pair_up() {
        assert_eq!(tokens("北京大学生 Hello"), ["北京", "京大", "大学", "学生", "hello"]);
        assert_eq!(tokens("日本 語 日a本"), ["日本", "語", "日", "a", "本"]);
        assert_eq!(tokens("日カタカナ"), ["日カ", "カタ", "タカ", "カナ"]);
        assert_eq!(tokens("나는 한국어"), ["나는", "한국어"]);
    }

    #[test]
    fn folding_to_another_length_breaks_the_run() {
        assert_eq!(tokens("㌀日"), ["アパ", "パー", "ート", "日"]);
        assert_eq!(tokens("か\u{3099}き"), ["が", "き"]);
    }
}
