//! Represents the order of texts in a language in a build without the feature `collation`.

use crate::types::{Feature, MissingFeature};
use std::cmp::Ordering;
use std::convert::Infallible;

/// The collation of a language, which this build lacks.
#[derive(Debug)]
pub struct Collation(Infallible);

impl Collation {
    /// Returns `Ok(None)` for what is no tag of a language, as the collation itself does.
    ///
    /// # Errors
    ///
    /// [`MissingFeature`] for every tag of a language.
    pub fn of(tag: &str) -> Result<Option<Collation>, MissingFeature> {
        let letters = tag.bytes().take_while(u8::is_ascii_alphabetic).count();
        if letters < 2 {
            return Ok(None);
        }
        Err(Feature::Collation.missing(format!("the order of language `{tag}`")))
    }

    /// Would order two texts.
    pub fn compare(&self, _: &str, _: &str) -> Ordering {
        match self.0 {}
    }

    /// Would give the bytes that order as a text does.
    pub fn sort_key(&self, _: &str, _: &mut Vec<u8>) {
        match self.0 {}
    }
}
