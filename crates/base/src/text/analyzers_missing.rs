//! Represents the analyzers in a build without the feature `text`. No schema of such a build has an
//! index of words, so nothing makes an analyzer.

use std::convert::Infallible;

const WHY: &str = "no schema has an index of words without the feature `text`";

/// The analyzer of the `term` index, which this build lacks.
#[derive(Debug)]
pub struct TermAnalyzer(Infallible);

/// The analyzer of the `fulltext` index, which this build lacks.
#[derive(Debug)]
pub struct FulltextAnalyzer(Infallible);

/// The analyzer of the `ngram` index, which this build lacks.
#[derive(Debug)]
pub struct NgramAnalyzer(Infallible);

#[expect(clippy::new_without_default, reason = "there is no analyzer to be made")]
impl TermAnalyzer {
    /// Would make an analyzer.
    ///
    /// # Panics
    ///
    /// Always: a schema that needs one is refused.
    pub fn new() -> TermAnalyzer {
        unreachable!("{WHY}")
    }

    /// Would give the tokens of a stored value.
    pub fn value(&mut self, _: &str, _: &str, _: impl FnMut(&str)) {
        match self.0 {}
    }

    /// Would give the tokens of a search text.
    pub fn query(&mut self, _: &str, _: impl FnMut(&str)) {
        match self.0 {}
    }
}

#[expect(clippy::new_without_default, reason = "there is no analyzer to be made")]
impl FulltextAnalyzer {
    /// Would make an analyzer.
    ///
    /// # Panics
    ///
    /// Always: a schema that needs one is refused.
    pub fn new() -> FulltextAnalyzer {
        unreachable!("{WHY}")
    }

    /// Would give the tokens of a text.
    pub fn tokens(&mut self, _: &str, _: &str, _: impl FnMut(&str)) {
        match self.0 {}
    }
}

#[expect(clippy::new_without_default, reason = "there is no analyzer to be made")]
impl NgramAnalyzer {
    /// Would make an analyzer.
    ///
    /// # Panics
    ///
    /// Always: a schema that needs one is refused.
    pub fn new() -> NgramAnalyzer {
        unreachable!("{WHY}")
    }

    /// Would give the tokens of a stored value.
    pub fn value(&mut self, _: &str, _: impl FnMut(&[u8])) {
        match self.0 {}
    }

    /// Would give the tokens of a phrase.
    pub fn query(&mut self, _: &str, _: &str, _: impl FnMut(&[u8])) {
        match self.0 {}
    }
}
