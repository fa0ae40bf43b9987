//! What the indexes make of a text: terms, stems, trigrams, shingles, collation. Knows no storage.

mod segment;
mod fold;
mod distinct;
mod language;
mod terms;
mod stop_words;
mod cjk;
mod stem;
mod fulltext;
mod trigram;
mod ngram;
mod go_regex;
mod regex_query;
mod collation;
mod levenshtein;
#[cfg(test)]
mod conformance;

pub use collation::Collation;
pub use fulltext::FulltextAnalyzer;
pub use levenshtein::within_distance;
pub use ngram::NgramAnalyzer;
pub use regex_query::{TrigramQuery, compile, compile_plain, trigram_query};
pub use terms::TermAnalyzer;
pub use trigram::trigrams;
