//! Which fragments are a relationship. `(a)-[r]->(b)` in an expression begins like `(a) - [r]`, and
//! `(a)--(b)` like `(a) - (-b)`: what follows the bracket of something that looks like a node
//! decides, as in all of openCypher.

use super::brackets::Brackets;
use super::fragment::{Fragment, Located};
use crate::syntax::token::{Sign, Token};

/// The tokens of a relationship, each with the index of its first fragment and how many fragments
/// it is made of.
pub(super) type RelationshipTokens = Vec<(usize, Token, usize)>;

/// Fragments with their brackets.
#[derive(Clone, Copy)]
pub(super) struct Patterns<'a> {
    pub text: &'a str,
    pub fragments: &'a [Located],
    pub brackets: &'a Brackets,
}

impl Patterns<'_> {
    /// Returns the character at an index.
    pub(super) fn sign(&self, index: usize) -> Option<Sign> {
        match self.fragments.get(index)?.kind {
            Fragment::Sign(sign) => Some(sign),
            _ => None,
        }
    }

    /// Returns true when the fragment is the word, in any case.
    pub(super) fn is_word(&self, index: usize, word: &str) -> bool {
        self.fragments.get(index).is_some_and(|it| {
            it.kind == Fragment::Word && it.span.of(self.text).eq_ignore_ascii_case(word)
        })
    }

    /// Returns true when the fragment is a word or a name in backticks.
    pub(super) fn is_name(&self, index: usize) -> bool {
        let kind = self.fragments.get(index).map(|it| &it.kind);
        matches!(kind, Some(Fragment::Word | Fragment::Quoted(_)))
    }

    /// Whether `WHERE` is the first word of a node or relationship, and no variable of that name.
    pub(super) fn is_filter(&self, index: usize) -> bool {
        let next = self.sign(index + 1);
        self.is_word(index, "where") && !matches!(next, Some(Sign::RoundClose | Sign::Colon))
    }

    /// Whether `IS` and a label are at an index.
    pub(super) fn is_label_test(&self, index: usize) -> bool {
        let is_other = ["null", "not", "typed"].iter().any(|it| self.is_word(index + 1, it));
        let has_label = self.is_name(index + 1)
            || matches!(self.sign(index + 1), Some(Sign::Bang | Sign::Percent | Sign::RoundOpen));
        self.is_word(index, "is") && has_label && !is_other
    }

    /// Returns the relationship after the node that the round bracket at `open` begins; `None` when
    /// it begins no node, or nothing follows.
    pub(super) fn relationship(&self, open: usize) -> Option<RelationshipTokens> {
        let mut inside = open + 1;
        inside += usize::from(self.is_name(inside));
        let is_node = self.is_filter(open + 1)
            || self.is_word(inside, "where")
            || self.is_label_test(inside)
            || matches!(self.fragments[inside].kind, Fragment::Parameter(_))
                && !self.is_word(open + 1, "not")
                && (self.sign(inside + 1) == Some(Sign::RoundClose)
                    || self.is_word(inside + 1, "where"))
            || matches!(self.sign(inside), Some(Sign::RoundClose | Sign::Colon | Sign::BraceOpen));
        match is_node {
            true => self.dashes(self.brackets.partner(open) + 1),
            false => None,
        }
    }

    /// Returns the relationship that begins at an index.
    fn dashes(&self, start: usize) -> Option<RelationshipTokens> {
        let left = self.sign(start) == Some(Sign::Less);
        let dash = start + usize::from(left);
        if self.sign(dash) != Some(Sign::Minus) {
            return None;
        }
        match self.sign(dash + 1)? {
            Sign::SquareOpen => {
                let close = self.brackets.partner(dash + 1);
                // Commas in a relationship are inside of its braces: `(a) - [1, 2] - b` has a list.
                let is_list = self.brackets.has_comma(dash + 1);
                if is_list || self.sign(close + 1) != Some(Sign::Minus) {
                    return None;
                }
                let right = self.sign(close + 2) == Some(Sign::Greater);
                let opens = (start, Token::RelationshipOpen(left), dash + 2 - start);
                let closes = (close, Token::RelationshipClose(right), 2 + usize::from(right));
                Some(vec![opens, closes])
            }
            Sign::Minus => {
                let right = self.sign(dash + 2) == Some(Sign::Greater);
                // `(a)--1` are two minus signs.
                let goes_on = [Sign::RoundOpen, Sign::BraceOpen, Sign::Plus, Sign::Star]
                    .map(Some)
                    .contains(&self.sign(dash + 2));
                let length = dash + 2 + usize::from(right) - start;
                (right || goes_on).then(|| vec![(start, Token::Dashes(left, right), length)])
            }
            _ => None,
        }
    }

    /// Returns the index of the `|` before the result of the comprehension whose bracket is at
    /// `open`.
    pub(super) fn bar(&self, open: usize) -> Option<usize> {
        let close = self.brackets.partner(open);
        let mut index = open + 1;
        let (mut bar, mut has_filter) = (None, false);
        while index < close {
            match self.sign(index) {
                Some(Sign::RoundOpen | Sign::SquareOpen | Sign::BraceOpen) => {
                    index = self.brackets.partner(index);
                }
                // Before it, a condition may have labels: `WHERE x:A|B | x`.
                Some(Sign::Pipe) if bar.is_none() || has_filter => bar = Some(index),
                _ if bar.is_none() && self.is_word(index, "where") => has_filter = true,
                _ => {}
            }
            index += 1;
        }
        bar
    }
}
