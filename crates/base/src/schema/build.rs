//! What a schema needs of the build.

use crate::schema::{PredicateDef, Schema, Tokenizer};
use crate::types::{Error, Feature, Result, ValueType};

impl PredicateDef {
    /// Checks that this build has the features which the type and the indexes need.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`], which names the predicate and the missing feature.
    pub fn check_build(&self) -> Result<()> {
        let password = (self.value_type == ValueType::Password)
            .then(|| (Feature::Passwords, "type `password`".to_owned()));
        let indexes = self.indexes.iter().filter_map(|index| {
            let what = || format!("index `{}`", index.name());
            index.feature().map(|feature| (feature, what()))
        });
        let missing = password.into_iter().chain(indexes).find(|(it, _)| !it.is_built());
        match missing {
            Some((feature, what)) => {
                let reason = feature.missing(what);
                Err(Error::schema(format!("predicate `{}`: {reason}", self.name)))
            }
            None => Ok(()),
        }
    }
}

impl Schema {
    /// Checks that this build has the features which the predicates need.
    ///
    /// # Errors
    ///
    /// As [`PredicateDef::check_build`], for the first predicate by name that needs a missing
    /// feature.
    pub fn check_build(&self) -> Result<()> {
        self.predicates.values().try_for_each(PredicateDef::check_build)
    }
}

impl Tokenizer {
    /// Returns the feature that the index needs, `None` for those that every build has.
    fn feature(&self) -> Option<Feature> {
        match self {
            Tokenizer::Term | Tokenizer::FullText | Tokenizer::Trigram | Tokenizer::NGram => {
                Some(Feature::Text)
            }
            Tokenizer::Geo => Some(Feature::Geo),
            _ => None,
        }
    }
}
