//! Stop words: words too common to search by. The lists are those of the Snowball and Apache
//! Lucene projects.

use std::collections::HashMap;
use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

type Words = FxHashSet<&'static str>;

macro_rules! lists {
    ($($code:literal)*) => {
        /// The lists as text, a word a line, by language.
        const LISTS: &[(&str, &str)] =
            &[$(($code, include_str!(concat!("stop_words/", $code, ".txt")))),*];
    };
}

lists!("ar" "bg" "ca" "ckb" "cs" "da" "de" "el" "en" "es" "eu" "fa" "fi" "fr" "ga" "gl" "hi"
    "hu" "hy" "id" "it" "nl" "no" "pt" "ro" "ru" "sv" "tr");

static SETS: OnceLock<FxHashMap<&'static str, Words>> = OnceLock::new();

/// The stop words of a language given by its base code; `None` where there are none.
pub(in crate::text) fn of(code: &str) -> Option<&'static Words> {
    SETS.get_or_init(read_lists).get(code)
}

fn read_lists() -> FxHashMap<&'static str, Words> {
    LISTS
        .iter()
        .map(|(code, words)| (*code, words.lines().collect::<Words>()))
        .collect::<HashMap<_, _, _>>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_by_language() {
        assert!(of("en").is_some_and(|words| words.contains("the") && !words.contains("die")));
        assert!(of("de").is_some_and(|words| words.contains("die")));
        assert!(of("pl").is_none() && of("").is_none());
    }
}
