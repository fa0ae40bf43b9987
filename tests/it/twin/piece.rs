//! Generated text as a tree, so that it can be made smaller part by part.

use std::fmt;

/// A part of a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Words that stay.
    Text(String),
    /// One after the other.
    Row(Vec<Piece>),
    /// What may go.
    Maybe(Box<Piece>),
    /// Items of which each may go; without any, nothing is written.
    List(List),
}

/// Items between brackets.
#[derive(Debug, Clone, PartialEq)]
pub struct List {
    pub open: &'static str,
    pub items: Vec<Piece>,
    pub separator: &'static str,
    pub close: &'static str,
}

/// Words.
pub fn text(words: impl Into<String>) -> Piece {
    Piece::Text(words.into())
}

/// What may go.
pub fn maybe(piece: Piece) -> Piece {
    Piece::Maybe(Box::new(piece))
}

/// Items between brackets.
pub fn list(
    open: &'static str,
    items: Vec<Piece>,
    separator: &'static str,
    close: &'static str,
) -> Piece {
    Piece::List(List { open, items, separator, close })
}

impl Piece {
    /// Every text that is this one less one part; larger parts first.
    pub fn smaller(&self) -> Vec<Piece> {
        match self {
            Piece::Text(_) => Vec::new(),
            Piece::Maybe(inner) => {
                let mut all = vec![Piece::Row(Vec::new())];
                all.extend(inner.smaller().into_iter().map(maybe));
                all
            }
            Piece::Row(parts) => replaced(parts).map(Piece::Row).collect(),
            Piece::List(list) => {
                let with = |items| Piece::List(List { items, ..list.clone() });
                let mut all = Vec::new();
                for place in 0..list.items.len() {
                    let mut items = list.items.clone();
                    items.remove(place);
                    all.push(with(items));
                }
                all.extend(replaced(&list.items).map(with));
                all
            }
        }
    }

    /// The text without a variable: its definition, and whatever may go and uses it. `None` when
    /// what is left uses it.
    pub fn without(&self, variable: &str) -> Option<Piece> {
        match self {
            Piece::Text(words) => {
                let words = words.replace(&format!("{variable} as "), "");
                let uses = words.split(|c: char| !c.is_alphanumeric()).any(|word| word == variable);
                (!uses).then_some(Piece::Text(words))
            }
            Piece::Maybe(inner) => {
                Some(inner.without(variable).map_or(Piece::Row(Vec::new()), maybe))
            }
            Piece::Row(parts) => {
                let parts: Option<Vec<Piece>> =
                    parts.iter().map(|part| part.without(variable)).collect();
                parts.map(Piece::Row)
            }
            Piece::List(list) => {
                let items = list.items.iter().filter_map(|item| item.without(variable)).collect();
                Some(Piece::List(List { items, ..list.clone() }))
            }
        }
    }
}

/// The parts with one of them made smaller.
fn replaced(parts: &[Piece]) -> impl Iterator<Item = Vec<Piece>> {
    parts.iter().enumerate().flat_map(move |(place, part)| {
        part.smaller().into_iter().map(move |less| {
            let mut parts = parts.to_vec();
            parts[place] = less;
            parts
        })
    })
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Piece::Text(words) => f.write_str(words),
            Piece::Row(parts) => parts.iter().try_for_each(|part| part.fmt(f)),
            Piece::Maybe(inner) => inner.fmt(f),
            Piece::List(list) if list.items.is_empty() => Ok(()),
            Piece::List(list) => {
                f.write_str(list.open)?;
                for (place, item) in list.items.iter().enumerate() {
                    if place != 0 {
                        f.write_str(list.separator)?;
                    }
                    item.fmt(f)?;
                }
                f.write_str(list.close)
            }
        }
    }
}
