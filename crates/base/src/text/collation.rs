//! The order of texts in a language.

use std::cmp::Ordering;
use std::fmt;

use icu_collator::CollatorBorrowed;
use icu_collator::options::CollatorOptions;
use icu_locale_core::Locale;

use crate::text::words::language;
use crate::types::MissingFeature;

/// The Unicode collation of one language, that distinguishes letters, accents and case.
pub struct Collation {
    collator: CollatorBorrowed<'static>,
}

impl Collation {
    /// The collation of a BCP 47 tag, the root one for languages without their own; `None` when the
    /// tag is malformed or of an unknown language. Costs microseconds: reuse it for many texts.
    ///
    /// # Errors
    ///
    /// [`MissingFeature`] in a build without the feature `collation`, thus never here.
    pub fn of(tag: &str) -> Result<Option<Collation>, MissingFeature> {
        if !is_supported(tag) {
            return Ok(None);
        }
        let locale = Locale::try_from_str(&tag.replace('_', "-")).ok();
        let collator = locale.and_then(|locale| {
            CollatorBorrowed::try_new((&locale).into(), CollatorOptions::default()).ok()
        });
        Ok(collator.map(|collator| Collation { collator }))
    }

    /// How `a` and `b` are ordered. Texts may be equal here that are not the same.
    pub fn compare(&self, a: &str, b: &str) -> Ordering {
        self.collator.compare(a, b)
    }

    /// Replaces what is in `out` by bytes that order as the text does.
    pub fn sort_key(&self, text: &str, out: &mut Vec<u8>) {
        out.clear();
        // Writing to a vector does not fail.
        let _ = self.collator.write_sort_key_to(text, out);
    }
}

/// Whether the tag is one of a registered language: such have a collation.
fn is_supported(tag: &str) -> bool {
    let end = tag.find(['-', '_']).unwrap_or(tag.len());
    language::is_well_formed(tag) && language::is_registered(&tag[..end].to_ascii_lowercase())
}

impl fmt::Debug for Collation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collation").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tag: &str) -> Option<Collation> {
        Collation::of(tag).expect("this build has collations")
    }

    #[test]
    fn languages_have_their_own_order() {
        let german = of("de").expect("German has a collation");
        let swedish = of("sv-SE").expect("Swedish has a collation");
        assert_eq!(german.compare("Ärger", "Zeit"), Ordering::Less);
        assert_eq!(swedish.compare("Ärger", "Zeit"), Ordering::Greater);
        assert_eq!(german.compare("a", "B"), Ordering::Less);
        assert_eq!(german.compare("a", "A"), Ordering::Less);
        assert!(of("xx").is_none() && of("").is_none());
    }

    #[test]
    fn keys_order_as_texts_do() {
        let collation = of("en").expect("English has a collation");
        let texts = ["", "a", "A", "ä", "b", "a b", "ab", "1", "日本"];
        let key = |text: &str| {
            let mut key = Vec::new();
            collation.sort_key(text, &mut key);
            key
        };
        for a in texts {
            for b in texts {
                assert_eq!(key(a).cmp(&key(b)), collation.compare(a, b), "{a} {b}");
            }
        }
    }
}
