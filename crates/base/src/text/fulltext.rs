//! Full-text analysis: case-folded words without stop words, stemmed by language.

use crate::text::words::case_fold::compact_into;
use crate::text::words::cjk::bigrams;
use crate::text::words::distinct::Distinct;
use crate::text::words::language;
use crate::text::words::segment::Words;
use crate::text::words::stem::Stemmer;
use crate::text::words::stop_words;

/// Makes the tokens of the `fulltext` index. Reuses its buffers: use one for many texts.
#[derive(Debug, Default)]
pub struct FulltextAnalyzer {
    seen: Distinct,
    word: String,
    /// The language of the last text, and its stemmer.
    code: &'static str,
    stemmer: Stemmer,
}

impl FulltextAnalyzer {
    /// An analyzer with empty buffers.
    pub fn new() -> FulltextAnalyzer {
        FulltextAnalyzer::default()
    }

    /// Calls `out` with each distinct token of `text` in language `lang` (empty or unknown:
    /// English), in order of first appearance. Values and queries are analysed alike.
    pub fn tokens(&mut self, text: &str, lang: &str, mut out: impl FnMut(&str)) {
        let mut seen = std::mem::take(&mut self.seen);
        seen.clear();
        self.sequence(text, lang, |token| {
            if seen.insert(token.as_bytes()) {
                out(token);
            }
        });
        self.seen = seen;
    }

    /// Calls `out` with the tokens of `text` in order, with repetitions.
    pub(super) fn sequence(&mut self, text: &str, lang: &str, mut out: impl FnMut(&str)) {
        let code = language::base(lang);
        if matches!(code, "ja" | "ko" | "zh") {
            return bigrams(text, out);
        }
        let stop_words = stop_words::of(code);
        if code != self.code {
            self.code = code;
            self.stemmer = Stemmer::of(code);
        }
        for word in Words::new(text) {
            self.word.clear();
            compact_into(word.text, &mut self.word);
            if stop_words.is_some_and(|words| words.contains(self.word.as_str())) {
                continue;
            }
            self.stemmer.stem(&mut self.word);
            out(&self.word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str, lang: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        FulltextAnalyzer::new().tokens(text, lang, |token| tokens.push(token.to_owned()));
        tokens
    }

    #[test]
    fn analyses_by_language() {
        let text = "the quick brown foxes running, quickly";
        assert_eq!(tokens(text, ""), ["quick", "brown", "fox", "run", "quickli"]);
        assert_eq!(
            tokens("Die Häuser und Katzen laufen schnell", "de-AT"),
            ["haus", "katz", "lauf", "schnell"]
        );
        assert_eq!(tokens("the running", "pl"), ["the", "running"]);
        assert_eq!(tokens("北京大学", "zh"), ["北京", "京大", "大学"]);
        assert_eq!(tokens("", ""), [""; 0]);
    }
}
