//! Which stemmer a language has.

use std::borrow::Cow;
use std::fmt;

use rust_stemmers::Algorithm;

use crate::text::words::stem::porter::Porter;
use crate::text::words::stem::{arabic, german, hindi, romance, sorani};

/// The stemmer of one language.
#[derive(Default)]
pub(in crate::text) enum Stemmer {
    /// The language has none: words stay as they are.
    #[default]
    None,
    /// Porter's of 1980, for English.
    Porter(Porter),
    /// One of the Snowball project's.
    Snowball(rust_stemmers::Stemmer),
    /// One that works on the characters of the word.
    Light(fn(&mut Vec<char>), Vec<char>),
}

impl Stemmer {
    /// The stemmer of a language given by its base code.
    pub(in crate::text) fn of(code: &str) -> Stemmer {
        let algorithm = match code {
            "en" => return Stemmer::Porter(Porter::default()),
            "ar" => return Stemmer::Light(arabic::stem, Vec::new()),
            "ckb" => return Stemmer::Light(sorani::stem, Vec::new()),
            "de" => return Stemmer::Light(german::stem, Vec::new()),
            "es" => return Stemmer::Light(romance::stem_spanish, Vec::new()),
            "fr" => return Stemmer::Light(romance::stem_french, Vec::new()),
            "hi" => return Stemmer::Light(hindi::stem, Vec::new()),
            "it" => return Stemmer::Light(romance::stem_italian, Vec::new()),
            "pt" => return Stemmer::Light(romance::stem_portuguese, Vec::new()),
            "da" => Algorithm::Danish,
            "fi" => Algorithm::Finnish,
            "hu" => Algorithm::Hungarian,
            "nl" => Algorithm::Dutch,
            "no" => Algorithm::Norwegian,
            "ro" => Algorithm::Romanian,
            "ru" => Algorithm::Russian,
            "sv" => Algorithm::Swedish,
            "tr" => Algorithm::Turkish,
            _ => return Stemmer::None,
        };
        Stemmer::Snowball(rust_stemmers::Stemmer::create(algorithm))
    }

    /// Replaces a case-folded word by its stem.
    pub(in crate::text) fn stem(&mut self, word: &mut String) {
        match self {
            Stemmer::None => {}
            Stemmer::Porter(porter) => porter.stem(word),
            Stemmer::Snowball(stemmer) => {
                let length = match stemmer.stem(word) {
                    Cow::Borrowed(stem) => stem.len(),
                    Cow::Owned(stem) => {
                        *word = stem;
                        return;
                    }
                };
                word.truncate(length);
            }
            Stemmer::Light(stem, characters) => {
                characters.clear();
                characters.extend(word.chars());
                stem(characters);
                word.clear();
                word.extend(characters.iter());
            }
        }
    }
}

impl fmt::Debug for Stemmer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stemmer::None => "None",
            Stemmer::Porter(_) => "Porter",
            Stemmer::Snowball(_) => "Snowball",
            Stemmer::Light(..) => "Light",
        })
    }
}
