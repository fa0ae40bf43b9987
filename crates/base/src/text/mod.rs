//! What the indexes make of a text: terms, stems, trigrams, shingles, collation. Knows no storage.

mod words;
mod terms;
mod fulltext;
mod patterns;
mod ngram;
mod collation;
mod levenshtein;
#[cfg(test)]
mod token_conformance;

pub use collation::Collation;
pub use fulltext::FulltextAnalyzer;
pub use levenshtein::within_distance;
pub use ngram::NgramAnalyzer;
pub use patterns::pattern_error::{PatternError, PatternFault};
pub use patterns::regex_query::{TrigramQuery, compile, compile_plain, trigram_query};
pub use patterns::trigram::trigrams;
pub use terms::TermAnalyzer;
