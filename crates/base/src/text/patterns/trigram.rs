//! Trigrams: the windows of three bytes of a text.

/// A condition on the trigrams of a text, necessary for a match.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrigramQuery {
    /// Nothing can be required: any text may match.
    Any,
    /// No text matches.
    None,
    /// The text has this trigram, packed as by [`trigrams`].
    Trigram(u32),
    /// All of these hold: at least two, distinct, none of them `Any`, `None` or `And`.
    And(Vec<TrigramQuery>),
    /// One of these holds: at least two, distinct, none of them `Any`, `None` or `Or`.
    Or(Vec<TrigramQuery>),
}

/// The longest list of conditions that must all hold; those beyond it are dropped.
pub(super) const AND_MAX: usize = 256;

impl TrigramQuery {
    /// The trigrams of every text that contains a text. O(length).
    pub fn containing(text: &str) -> TrigramQuery {
        let mut distinct = Vec::new();
        trigrams(text, &mut distinct);
        distinct.truncate(AND_MAX);
        match distinct[..] {
            [] => TrigramQuery::Any,
            [one] => TrigramQuery::Trigram(one),
            _ => TrigramQuery::And(distinct.into_iter().map(TrigramQuery::Trigram).collect()),
        }
    }
}

/// Replaces what is in `out` by the distinct trigrams of `text`, in ascending order, each as a
/// number whose three low bytes are the window's, the first the highest. Case is retained.
pub fn trigrams(text: &str, out: &mut Vec<u32>) {
    out.clear();
    out.extend(text.as_bytes().windows(3).map(|window| pack(window[0], window[1], window[2])));
    out.sort_unstable();
    out.dedup();
}

/// One trigram as a number.
pub(super) fn pack(first: u8, second: u8, third: u8) -> u32 {
    u32::from_be_bytes([0, first, second, third])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_bytes_and_distinct() {
        let mut out = vec![7];
        trigrams("ab", &mut out);
        assert!(out.is_empty());
        trigrams("abcabc", &mut out);
        assert_eq!(out, [pack(b'a', b'b', b'c'), pack(b'b', b'c', b'a'), pack(b'c', b'a', b'b')]);
        trigrams("日", &mut out);
        assert_eq!(out, [0xe6_97a5]);
    }
}
