//! The type of a field or an argument as it is written: a name, in lists, nullable or not.

use std::fmt;

/// A reference to a type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TypeRef {
    /// A type by its name.
    Named {
        /// The name.
        name: String,
        /// True if null is never a value: `Post!`.
        non_null: bool,
    },
    /// A list.
    List {
        /// The type of an element.
        element: Box<TypeRef>,
        /// True if the list is never null: `[Post]!`.
        non_null: bool,
    },
}

impl TypeRef {
    /// Makes the nullable type of a name.
    pub fn named(name: impl Into<String>) -> TypeRef {
        TypeRef::Named { name: name.into(), non_null: false }
    }

    /// Returns the name inside of all lists: `Post` of `[Post!]!`.
    pub fn name(&self) -> &str {
        match self {
            TypeRef::Named { name, .. } => name,
            TypeRef::List { element, .. } => element.name(),
        }
    }

    /// Returns true if the type has a `!`, so that null is never a value.
    pub fn is_non_null(&self) -> bool {
        match self {
            TypeRef::Named { non_null, .. } | TypeRef::List { non_null, .. } => *non_null,
        }
    }

    /// Returns true for a list.
    pub fn is_list(&self) -> bool {
        matches!(self, TypeRef::List { .. })
    }

    /// Returns the type of an element of a list; `None` for what is no list.
    pub fn element(&self) -> Option<&TypeRef> {
        match self {
            TypeRef::Named { .. } => None,
            TypeRef::List { element, .. } => Some(element),
        }
    }

    /// Returns the type without the `!` at its end.
    #[must_use]
    pub fn nullable(&self) -> TypeRef {
        let mut ty = self.clone();
        match &mut ty {
            TypeRef::Named { non_null, .. } | TypeRef::List { non_null, .. } => *non_null = false,
        }
        ty
    }

    /// Returns the type with another name inside of its lists: `[Post!]!` becomes `[PostRef!]!`.
    #[must_use]
    pub fn renamed(&self, new: &str) -> TypeRef {
        match self {
            TypeRef::Named { non_null, .. } => {
                TypeRef::Named { name: new.to_owned(), non_null: *non_null }
            }
            TypeRef::List { element, non_null } => {
                TypeRef::List { element: Box::new(element.renamed(new)), non_null: *non_null }
            }
        }
    }
}

impl fmt::Display for TypeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TypeRef::Named { name, .. } => f.write_str(name)?,
            TypeRef::List { element, .. } => write!(f, "[{element}]")?,
        }
        f.write_str(if self.is_non_null() { "!" } else { "" })
    }
}

/// The scalars of the schema language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// The uid of a node.
    Id,
    /// Integers of 32 bits.
    Int,
    /// Integers of 64 bits.
    Int64,
    /// Numbers of double precision.
    Float,
    /// Text.
    String,
    /// Truth values.
    Boolean,
    /// Moments of time, as text by RFC 3339.
    DateTime,
}

impl Scalar {
    /// Returns the scalar of a name in the schema language.
    pub fn from_name(name: &str) -> Option<Scalar> {
        Some(match name {
            "ID" => Scalar::Id,
            "Int" => Scalar::Int,
            "Int64" => Scalar::Int64,
            "Float" => Scalar::Float,
            "String" => Scalar::String,
            "Boolean" => Scalar::Boolean,
            "DateTime" => Scalar::DateTime,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_written_as_it_was_read() {
        let book = TypeRef::Named { name: "Book".into(), non_null: true };
        let books = TypeRef::List { element: Box::new(book), non_null: true };
        assert_eq!(books.to_string(), "[Book!]!");
        assert_eq!(books.nullable().to_string(), "[Book!]");
        assert_eq!(books.renamed("BookRef").to_string(), "[BookRef!]!");
        assert_eq!(books.name(), "Book");
    }
}
