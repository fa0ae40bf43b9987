//! Reading values as the schema types them, in the language that is asked for.

use crate::graph::LangValues;
use crate::graph::Predicate;
use crate::graph::ValueList;
use crate::types::Error;
use crate::types::Result;
use crate::types::Value;
use crate::types::ValueRef;
use crate::types::ValueType;

/// A value as the schema types it: as stored where the types agree.
pub(crate) enum Typed<'a> {
    /// As stored.
    Stored(ValueRef<'a>),
    /// Converted.
    Converted(Value),
}

impl Typed<'_> {
    /// Borrows the value.
    pub(crate) fn as_ref(&self) -> ValueRef<'_> {
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
pub(crate) fn typed<'a>(value: ValueRef<'a>, wanted: ValueType) -> Result<Typed<'a>> {
    if value.value_type() == wanted || wanted == ValueType::Default {
        return Ok(Typed::Stored(value));
    }
    if let (ValueRef::Default(text), ValueType::String) = (value, wanted) {
        return Ok(Typed::Stored(ValueRef::String(text)));
    }
    value.convert(wanted).map(Typed::Converted).map_err(Error::query)
}

/// Like [`typed`], for places where a value that can't be converted counts as none.
pub(crate) fn typed_or_none(value: ValueRef<'_>, wanted: ValueType) -> Option<Typed<'_>> {
    typed(value, wanted).ok()
}

/// A node's value in the first language that it has one in, as the schema types it.
pub(crate) fn first_value(predicate: &Predicate, langs: &[String], node: u32) -> Option<Value> {
    let value = predicate.first_in(langs, node)?;
    typed_or_none(value, predicate.def.value_type).map(|value| value.as_ref().to_value())
}

/// Which languages a function or a field looks at.
#[derive(Clone, Copy)]
pub(crate) enum Langs<'a> {
    /// The first of these that a node has a value in; none named means untagged values.
    First(&'a [String]),
    /// The one language of a function, `None` for untagged values, `.` for any.
    One(Option<&'a str>),
}

impl Predicate {
    /// The values of a node in the first language of a preference list that has any.
    pub(crate) fn values_in<'a>(
        &'a self,
        langs: Langs<'_>,
        node: u32,
    ) -> Option<(&'a LangValues, ValueList<'a>)> {
        match langs {
            Langs::First([]) | Langs::One(None) => self.values_of("", node),
            Langs::One(Some(".")) => self.any_values(node),
            Langs::One(Some(lang)) => self.values_of(lang, node),
            Langs::First(list) => list.iter().find_map(|lang| match lang.as_str() {
                "." => self.any_values(node),
                lang => self.values_of(lang, node),
            }),
        }
    }

    /// The first value of a node in the first language of a list that has any, as stored.
    pub(crate) fn first_in(&self, langs: &[String], node: u32) -> Option<ValueRef<'_>> {
        match langs {
            [] => self.values("")?.first(node),
            _ => self.values_in(Langs::First(langs), node).map(|(_, list)| list.get(0)),
        }
    }

    fn values_of(&self, lang: &str, node: u32) -> Option<(&LangValues, ValueList<'_>)> {
        let values = self.values(lang)?;
        let list = values.values(node);
        (!list.is_empty()).then_some((values, list))
    }

    /// The untagged values of a node, else those of the first language that it has.
    fn any_values(&self, node: u32) -> Option<(&LangValues, ValueList<'_>)> {
        self.langs().iter().find_map(|values| {
            let list = values.values(node);
            (!list.is_empty()).then_some((values, list))
        })
    }

    /// The parts that a function in this language looks at.
    pub(crate) fn parts(&self, lang: Option<&str>) -> &[LangValues] {
        match lang {
            Some(".") => self.langs(),
            lang => match self.values(lang.unwrap_or("")) {
                Some(values) => std::slice::from_ref(values),
                None => &[],
            },
        }
    }
}
