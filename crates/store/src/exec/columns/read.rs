//! Reads values in the type of the schema and in the language that is requested.

use crate::graph::{LangValues, Predicate, ValueList};
use hexgraph_base::types::{Error, Result, Value, ValueRef, ValueType};

/// A value as the schema types it: as stored where the types agree.
pub enum Typed<'a> {
    /// The value as it is stored.
    Stored(ValueRef<'a>),
    /// Converted.
    Converted(Value),
}

impl Typed<'_> {
    /// Borrows the value.
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Typed::Stored(value) => *value,
            Typed::Converted(value) => value.as_ref(),
        }
    }
}

/// Converts a stored value to the type of the schema, which may have been altered since.
///
/// # Errors
///
/// [`Error::Query`] when the value has no equivalent in that type.
pub fn typed<'a>(value: ValueRef<'a>, expected: ValueType) -> Result<Typed<'a>> {
    match (value, expected) {
        _ if value.value_type() == expected => Ok(Typed::Stored(value)),
        // The two are the same text, and nothing has to be copied.
        (ValueRef::Default(text), ValueType::String) => Ok(Typed::Stored(ValueRef::String(text))),
        (ValueRef::String(text), ValueType::Default) => Ok(Typed::Stored(ValueRef::Default(text))),
        // What is never shown stays so.
        (ValueRef::Password(_), ValueType::Default) => Ok(Typed::Stored(value)),
        // A vector is a text where any text is.
        (ValueRef::Vector(_), ValueType::Default) => {
            value.convert(ValueType::String).map(Typed::Converted).map_err(Error::query)
        }
        _ => value.convert(expected).map(Typed::Converted).map_err(|error| {
            Error::query(error).with_hint(
                "the value is older than the type of its predicate: set it anew, or alter the predicate back",
            )
        }),
    }
}

/// Like [`typed`], for positions where a value that can't be converted counts as none.
pub(crate) fn typed_or_none(value: ValueRef<'_>, expected: ValueType) -> Option<Typed<'_>> {
    typed(value, expected).ok()
}

/// A node's value in the first language that it has one in, as the schema types it.
pub fn first_value(predicate: &Predicate, langs: &[String], node: u32) -> Option<Value> {
    let value = predicate.first_in(langs, node)?;
    typed_or_none(value, predicate.def.value_type).map(|value| value.as_ref().to_value())
}

/// Which languages a function or a field looks at.
#[derive(Clone, Copy)]
pub enum Langs<'a> {
    /// The first of these that a node has a value in; none named means untagged values.
    First(&'a [String]),
    /// The one language of a function, `None` for untagged values, `.` for any.
    One(Option<&'a str>),
}

impl Predicate {
    /// The values of a node in the first language of a preference list that has any.
    pub fn values_in<'a>(
        &'a self,
        langs: Langs<'_>,
        node: u32,
    ) -> Option<(&'a LangValues, ValueList<'a>)> {
        match langs {
            Langs::First([]) | Langs::One(None) => values_among(self.untagged(), node),
            Langs::One(Some(".")) => self.any_values(node),
            Langs::One(Some(lang)) => self.values_of(lang, node),
            Langs::First(list) => list.iter().find_map(|lang| match lang.as_str() {
                "." => self.any_values(node),
                lang => self.values_of(lang, node),
            }),
        }
    }

    /// The first value of a node in the first language of a list that has any, as stored.
    pub fn first_in(&self, langs: &[String], node: u32) -> Option<ValueRef<'_>> {
        match langs {
            [] => match self.untagged() {
                [part] => part.first(node),
                parts => values_among(parts, node).map(|(_, list)| list.get(0)),
            },
            _ => self.values_in(Langs::First(langs), node).map(|(_, list)| list.get(0)),
        }
    }

    fn values_of(&self, lang: &str, node: u32) -> Option<(&LangValues, ValueList<'_>)> {
        let values = self.values(lang)?;
        let list = values.values(node);
        (!list.is_empty()).then_some((values, list))
    }

    /// All values of a node that are read where no language is named, as the schema types them:
    /// tagged ones, which only a predicate that has lost its `@lang` shows so, before untagged
    /// ones.
    ///
    /// # Errors
    ///
    /// As [`typed`].
    pub(crate) fn untagged_values(&self, node: u32) -> Result<Vec<Typed<'_>>> {
        let parts = self.untagged();
        let (untagged, tagged): (Vec<_>, Vec<_>) =
            parts.iter().partition(|part| part.lang.is_empty());
        let mut values = Vec::new();
        for part in tagged.into_iter().chain(untagged) {
            let list = part.values(node);
            for position in 0..list.len() {
                values.push(typed(list.get(position), self.def.value_type)?);
            }
        }
        Ok(values)
    }

    /// The untagged values of a node, else those of the first language that it has.
    fn any_values(&self, node: u32) -> Option<(&LangValues, ValueList<'_>)> {
        values_among(self.langs(), node)
    }

    /// The parts that a function in this language looks at.
    pub(crate) fn parts(&self, lang: Option<&str>) -> &[LangValues] {
        match lang {
            Some(".") => self.langs(),
            None => self.untagged(),
            Some(lang) => match self.values(lang) {
                Some(values) => std::slice::from_ref(values),
                None => &[],
            },
        }
    }
}

/// The values of a node in the first of some parts that has any.
fn values_among(parts: &[LangValues], node: u32) -> Option<(&LangValues, ValueList<'_>)> {
    parts.iter().find_map(|values| {
        let list = values.values(node);
        (!list.is_empty()).then_some((values, list))
    })
}
