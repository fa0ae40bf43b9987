//! Values as requests write them.

use serde_json::Value as Json;
use std::fmt;

/// A literal.
#[derive(Debug, Clone, PartialEq)]
pub enum Lit {
    Null,
    /// A number, a text, a truth value.
    Plain(Json),
    /// A value of an enum.
    Name(String),
    List(Vec<Lit>),
    Object(Vec<(String, Lit)>),
}

/// An object of one key.
pub fn object(name: impl Into<String>, value: Lit) -> Lit {
    Lit::Object(vec![(name.into(), value)])
}

/// A name of an enum.
pub fn name(name: impl Into<String>) -> Lit {
    Lit::Name(name.into())
}

/// A plain value.
pub fn plain(value: impl Into<Json>) -> Lit {
    Lit::Plain(value.into())
}

impl Lit {
    /// The value of a key that is there, null or not.
    pub fn get(&self, key: &str) -> Option<&Lit> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The value of a key, where it is not null.
    pub fn given(&self, key: &str) -> Option<&Lit> {
        self.get(key).filter(|value| **value != Lit::Null)
    }

    /// The entries of an object; none of anything else.
    pub fn entries(&self) -> &[(String, Lit)] {
        match self {
            Lit::Object(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; anything else but null is a list of one.
    pub fn items(&self) -> &[Lit] {
        match self {
            Lit::Null => &[],
            Lit::List(items) => items,
            other => std::slice::from_ref(other),
        }
    }

    /// As the value of a variable.
    pub fn json(&self) -> Json {
        match self {
            Lit::Null => Json::Null,
            Lit::Plain(value) => value.clone(),
            Lit::Name(name) => Json::from(name.clone()),
            Lit::List(items) => items.iter().map(Lit::json).collect(),
            Lit::Object(entries) => {
                entries.iter().map(|(name, value)| (name.clone(), value.json())).collect()
            }
        }
    }
}

/// As it stands in the text of a request.
impl fmt::Display for Lit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lit::Null => f.write_str("null"),
            Lit::Plain(value) => value.fmt(f),
            Lit::Name(name) => f.write_str(name),
            Lit::List(items) => {
                let items: Vec<String> = items.iter().map(Lit::to_string).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Lit::Object(entries) => {
                let entries = entries.iter().map(|(name, value)| format!("{name}: {value}"));
                write!(f, "{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
        }
    }
}
