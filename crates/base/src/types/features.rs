//! Parts of hexgraph that a build may lack, since each of them needs libraries of its own.

/// A part that is switched on by a feature of the crates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// Indexes of words, stems, trigrams and runs of words; regular expressions.
    Text,
    /// Indexes of positions and the functions that compare them.
    Geo,
    /// The order of texts in a language.
    Collation,
    /// Passwords, which are stored as hashes.
    Passwords,
    /// Files that are compressed, and patterns of file names.
    Files,
}

/// Something was requested that needs a feature which this build lacks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} needs hexgraph built with the feature `{feature}`")]
pub struct MissingFeature {
    /// What was requested.
    pub what: String,
    /// The name of the feature.
    pub feature: &'static str,
}

impl Feature {
    /// Returns the name that the crates have for the feature.
    pub const fn name(self) -> &'static str {
        match self {
            Feature::Text => "text",
            Feature::Geo => "geo",
            Feature::Collation => "collation",
            Feature::Passwords => "passwords",
            Feature::Files => "files",
        }
    }

    /// Returns true if this build has the feature.
    pub const fn is_built(self) -> bool {
        match self {
            Feature::Text => cfg!(feature = "text"),
            Feature::Geo => cfg!(feature = "geo"),
            Feature::Collation => cfg!(feature = "collation"),
            Feature::Passwords => cfg!(feature = "passwords"),
            Feature::Files => cfg!(feature = "files"),
        }
    }

    /// Returns the error that something can't be had without the feature.
    pub fn missing(self, what: impl Into<String>) -> MissingFeature {
        MissingFeature { what: what.into(), feature: self.name() }
    }
}
