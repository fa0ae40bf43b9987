//! The predicate that holds the values of a field, with its direction and language.

/// The predicate of a field, as the field uses it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Predicate {
    /// The name in the store: without brackets, without a language, without `~`.
    pub name: String,
    /// True if the field reads the edges of the predicate backwards (`~name`).
    pub reverse: bool,
    /// The language of the values.
    pub language: Language,
}

impl Predicate {
    /// Makes a predicate that is read forward and without a language.
    pub fn new(name: impl Into<String>) -> Predicate {
        Predicate { name: name.into(), reverse: false, language: Language::Untagged }
    }
}

/// The language of a field's values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Language {
    /// The field has the value without a language.
    Untagged,
    /// `name@en`: the field has the value of this language.
    Tagged(String),
    /// `name@.`: the field has a value of any language, and can't be written.
    Any,
    /// `name@hi:en`: the field has the value of the first of these languages that has one, where
    /// `.` represents any. It can't be written, and nodes can't be filtered or ordered by it.
    Preferred(Vec<String>),
}

impl Language {
    /// Returns true for a list of languages.
    pub fn is_preferred(&self) -> bool {
        matches!(self, Language::Preferred(_))
    }

    /// Returns true if a mutation may set the field.
    pub fn is_writable(&self) -> bool {
        matches!(self, Language::Untagged | Language::Tagged(_))
    }
}
