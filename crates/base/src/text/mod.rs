//! What the indexes make of a text: terms, stems, trigrams, shingles, collation. Knows no storage.

#[cfg(feature = "text")]
mod words;
#[cfg(feature = "text")]
mod terms;
#[cfg(feature = "text")]
mod fulltext;
mod patterns;
#[cfg(feature = "text")]
mod ngram;
#[cfg(not(feature = "text"))]
mod analyzers_missing;
#[cfg(feature = "collation")]
mod collation;
#[cfg(not(feature = "collation"))]
#[path = "collation_missing.rs"]
mod collation;
mod levenshtein;
#[cfg(all(test, feature = "text", feature = "collation"))]
mod token_conformance;

#[cfg(not(feature = "text"))]
pub use analyzers_missing::{FulltextAnalyzer, NgramAnalyzer, TermAnalyzer};
pub use collation::Collation;
#[cfg(feature = "text")]
pub use fulltext::FulltextAnalyzer;
pub use levenshtein::within_distance;
#[cfg(feature = "text")]
pub use ngram::NgramAnalyzer;
pub use patterns::{
    PatternError, Regex, TrigramQuery, compile, compile_plain, trigram_query, trigrams,
    unicode_trigram_query,
};
#[cfg(feature = "text")]
pub use terms::TermAnalyzer;
