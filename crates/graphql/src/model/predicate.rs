//! Where the values of a field are stored.

/// The predicate of a field.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Predicate {
    /// The name in the store: without brackets, without a language, without `~`.
    pub name: String,
    /// The field reads the edges of the predicate backwards (`~name`).
    pub reverse: bool,
    /// The language of the values.
    pub language: Language,
}

impl Predicate {
    /// A predicate of a name, forward and without a language.
    pub fn new(name: impl Into<String>) -> Predicate {
        Predicate { name: name.into(), reverse: false, language: Language::Untagged }
    }
}

/// The languages that a field reads, and writes if it is one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Language {
    /// The value without a language.
    Untagged,
    /// `name@en`: the value of one language.
    Tagged(String),
    /// `name@.`: the value of any language. Can't be written.
    Any,
    /// `name@hi:en`: the first that is there, `.` standing for any. Can't be written, filtered or
    /// ordered by.
    Preferred(Vec<String>),
}

impl Language {
    /// True for a list of languages.
    pub fn is_preferred(&self) -> bool {
        matches!(self, Language::Preferred(_))
    }

    /// True when a mutation may give the field a value.
    pub fn is_writable(&self) -> bool {
        matches!(self, Language::Untagged | Language::Tagged(_))
    }
}
