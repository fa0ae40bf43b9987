//! Term analysis: the distinct case-folded words of a text.

use crate::text::words::case_fold::compact_into;
use crate::text::words::distinct::Distinct;
use crate::text::words::language;
use crate::text::words::segment::Words;

/// Makes the tokens of the `term` index. Reuses its buffers: use one for many texts.
#[derive(Debug, Default)]
pub struct TermAnalyzer {
    seen: Distinct,
    word: String,
}

impl TermAnalyzer {
    /// An analyzer with empty buffers.
    pub fn new() -> TermAnalyzer {
        TermAnalyzer::default()
    }

    /// Calls `out` with each distinct token of a stored value tagged `lang` (empty: untagged), in
    /// order of first appearance. A value in a language written without spaces between words is
    /// only split at spaces, case preserved; the empty text has one empty token.
    pub fn value(&mut self, text: &str, lang: &str, out: impl FnMut(&str)) {
        match language::base(lang) {
            "zh" | "ja" | "th" | "lo" | "my" | "bo" | "km" | "kxm" => self.chunks(text, out),
            _ => self.query(text, out),
        }
    }

    /// Calls `out` with each distinct token of a search text, in order of first appearance.
    pub fn query(&mut self, text: &str, mut out: impl FnMut(&str)) {
        if text.is_empty() {
            return out("");
        }
        self.seen.clear();
        for word in Words::new(text) {
            self.word.clear();
            compact_into(word.text, &mut self.word);
            if self.seen.insert(self.word.as_bytes()) {
                out(&self.word);
            }
        }
    }

    fn chunks(&mut self, text: &str, mut out: impl FnMut(&str)) {
        self.seen.clear();
        for chunk in text.split(' ') {
            if self.seen.insert(chunk.as_bytes()) {
                out(chunk);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str, lang: &str) -> Vec<String> {
        let mut terms = Vec::new();
        TermAnalyzer::new().value(text, lang, |term| terms.push(term.to_owned()));
        terms
    }

    #[test]
    fn words_are_normalized_and_distinct() {
        assert_eq!(terms("Hello, World! HELLO", ""), ["hello", "world"]);
        assert_eq!(terms("C++ #tag ½ Ⅷ", "de"), ["c", "tag", "viii"]);
        assert_eq!(terms("!!!", ""), [""; 0]);
        assert_eq!(terms("", "en"), [""]);
    }

    #[test]
    fn some_languages_split_at_spaces() {
        assert_eq!(terms("第一轮 Ab 第一轮", "zh-Hans"), ["第一轮", "Ab"]);
        let mut query = Vec::new();
        TermAnalyzer::new().query("第一", |term| query.push(term.to_owned()));
        assert_eq!(query, ["第", "一"]);
    }
}
