//! Generated text as a tree, so that it can be made smaller part by part.

use std::fmt;

/// A part of a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Chunk {
    /// Words that stay.
    Text(String),
    /// One after the other.
    Row(Vec<Chunk>),
    /// What may go.
    Maybe(Box<Chunk>),
    /// Items of which each may go; without any, nothing is written.
    List(List),
}

/// Items between brackets.
#[derive(Debug, Clone, PartialEq)]
pub struct List {
    pub open: &'static str,
    pub items: Vec<Chunk>,
    pub separator: &'static str,
    pub close: &'static str,
}

/// Words.
pub fn text(words: impl Into<String>) -> Chunk {
    Chunk::Text(words.into())
}

/// What may go.
pub fn maybe(chunk: Chunk) -> Chunk {
    Chunk::Maybe(Box::new(chunk))
}

/// Items between brackets.
pub fn list(
    open: &'static str,
    items: Vec<Chunk>,
    separator: &'static str,
    close: &'static str,
) -> Chunk {
    Chunk::List(List { open, items, separator, close })
}

impl Chunk {
    /// Every text that is this one less one part; larger parts first.
    pub fn smaller(&self) -> Vec<Chunk> {
        match self {
            Chunk::Text(_) => Vec::new(),
            Chunk::Maybe(inner) => {
                let mut all = vec![Chunk::Row(Vec::new())];
                all.extend(inner.smaller().into_iter().map(maybe));
                all
            }
            Chunk::Row(parts) => replaced(parts).map(Chunk::Row).collect(),
            Chunk::List(list) => {
                let with = |items| Chunk::List(List { items, ..list.clone() });
                let mut all = Vec::new();
                for position in 0..list.items.len() {
                    let mut items = list.items.clone();
                    items.remove(position);
                    all.push(with(items));
                }
                all.extend(replaced(&list.items).map(with));
                all
            }
        }
    }

    /// The text without a variable: its definition, and whatever may go and uses it. `None` when
    /// what is left uses it.
    pub fn without(&self, variable: &str) -> Option<Chunk> {
        match self {
            Chunk::Text(words) => {
                let words = words.replace(&format!("{variable} as "), "");
                let uses = words.split(|c: char| !c.is_alphanumeric()).any(|word| word == variable);
                (!uses).then_some(Chunk::Text(words))
            }
            Chunk::Maybe(inner) => {
                Some(inner.without(variable).map_or(Chunk::Row(Vec::new()), maybe))
            }
            Chunk::Row(parts) => {
                let parts: Option<Vec<Chunk>> =
                    parts.iter().map(|part| part.without(variable)).collect();
                parts.map(Chunk::Row)
            }
            Chunk::List(list) => {
                let items = list.items.iter().filter_map(|item| item.without(variable)).collect();
                Some(Chunk::List(List { items, ..list.clone() }))
            }
        }
    }
}

/// The parts with one of them made smaller.
fn replaced(parts: &[Chunk]) -> impl Iterator<Item = Vec<Chunk>> {
    parts.iter().enumerate().flat_map(move |(position, part)| {
        part.smaller().into_iter().map(move |less| {
            let mut parts = parts.to_vec();
            parts[position] = less;
            parts
        })
    })
}

impl fmt::Display for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Chunk::Text(words) => f.write_str(words),
            Chunk::Row(parts) => parts.iter().try_for_each(|part| part.fmt(f)),
            Chunk::Maybe(inner) => inner.fmt(f),
            Chunk::List(list) if list.items.is_empty() => Ok(()),
            Chunk::List(list) => {
                f.write_str(list.open)?;
                for (position, item) in list.items.iter().enumerate() {
                    if position != 0 {
                        f.write_str(list.separator)?;
                    }
                    item.fmt(f)?;
                }
                f.write_str(list.close)
            }
        }
    }
}
