//! The definitions of the generated API before they are printed, as plain data.

use crate::model::TypeRef;

/// The definition of a type.
#[derive(Debug, Clone)]
pub(in crate::generate) struct Definition {
    pub word: Word,
    pub name: String,
    pub description: String,
    /// The directives as they are printed, each with a blank before it.
    pub directives: String,
    pub interfaces: Vec<String>,
    pub members: Vec<String>,
    /// The fields; of an enum its values, which have no type.
    pub fields: Vec<Entry>,
}

/// The word that begins a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::generate) enum Word {
    Type,
    Interface,
    Union,
    Enum,
    Input,
}

/// A field, or a value of an enum.
#[derive(Debug, Clone)]
pub(in crate::generate) struct Entry {
    pub name: String,
    pub description: String,
    pub arguments: Vec<ArgumentEntry>,
    pub ty: Option<TypeRef>,
    /// The directives as they are printed, each with a blank before it.
    pub directives: String,
}

/// An argument of a field.
#[derive(Debug, Clone)]
pub(in crate::generate) struct ArgumentEntry {
    pub name: String,
    pub description: String,
    pub ty: TypeRef,
    /// The default as it is printed, ` = ` before it; empty without one.
    pub default: String,
}

impl Definition {
    /// Makes a definition without fields.
    pub(in crate::generate) fn new(word: Word, name: impl Into<String>) -> Definition {
        Definition {
            word,
            name: name.into(),
            description: String::new(),
            directives: String::new(),
            interfaces: Vec::new(),
            members: Vec::new(),
            fields: Vec::new(),
        }
    }

    pub(in crate::generate) fn with(
        mut self,
        fields: impl IntoIterator<Item = Entry>,
    ) -> Definition {
        self.fields.extend(fields);
        self
    }
}

impl Entry {
    pub(in crate::generate) fn new(name: impl Into<String>, ty: TypeRef) -> Entry {
        Entry { ty: Some(ty), ..Entry::value(name) }
    }

    /// Makes a value of an enum.
    pub(in crate::generate) fn value(name: impl Into<String>) -> Entry {
        Entry {
            name: name.into(),
            description: String::new(),
            arguments: Vec::new(),
            ty: None,
            directives: String::new(),
        }
    }

    pub(in crate::generate) fn taking(mut self, arguments: Vec<ArgumentEntry>) -> Entry {
        self.arguments = arguments;
        self
    }
}

impl ArgumentEntry {
    pub(in crate::generate) fn new(name: impl Into<String>, ty: TypeRef) -> ArgumentEntry {
        ArgumentEntry { name: name.into(), description: String::new(), ty, default: String::new() }
    }
}

/// Makes the type `T`.
pub(in crate::generate) fn one(name: impl Into<String>) -> TypeRef {
    TypeRef::named(name)
}

/// Makes the type `ty!`.
pub(in crate::generate) fn required(ty: TypeRef) -> TypeRef {
    match ty {
        TypeRef::Named { name, .. } => TypeRef::Named { name, non_null: true },
        TypeRef::List { element, .. } => TypeRef::List { element, non_null: true },
    }
}

/// Makes the type `[ty]`.
pub(in crate::generate) fn list(element: TypeRef) -> TypeRef {
    TypeRef::List { element: Box::new(element), non_null: false }
}

/// Returns the name with its first character in lower case.
pub(crate) fn lower_first(name: &str) -> String {
    let mut rest = name.chars();
    rest.next().map_or_else(String::new, |first| first.to_lowercase().chain(rest).collect())
}
