//! The `$variables` of a query: declared in its head, with values that the caller gives.

use super::number;
use crate::lower::parameter_value::ParameterValue;
use crate::syntax::ast::Declaration;
use crate::syntax::source::Source;
use hexgraph_base::types::{Error, Result, did_you_mean};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The value that a `$variable` holds.
#[derive(Clone, Copy, Default)]
pub(in crate::lower) struct Held<'a> {
    /// The text, with or without a list; empty where there is no value.
    pub text: &'a str,
    /// The items when the caller gave a list.
    pub items: Option<&'a [String]>,
}

/// The values of all `$variables` of a request.
pub(in crate::lower) struct Values<'a> {
    given: &'a BTreeMap<String, ParameterValue>,
    /// The type and the value of each variable.
    declared: FxHashMap<&'a str, (&'a str, Held<'a>)>,
    /// True when a query has a list of declarations, even an empty one. Then every given variable
    /// has to be declared.
    has_list: bool,
}

impl<'a> Values<'a> {
    /// Creates the values of a request in which nothing is declared yet.
    pub(in crate::lower) fn new(given: &'a BTreeMap<String, ParameterValue>) -> Values<'a> {
        Values { given, declared: FxHashMap::default(), has_list: false }
    }

    /// Adds a list of declarations and checks the values against the declared types. Of two
    /// declarations of one name the later one counts.
    ///
    /// # Errors
    ///
    /// [`Error::Syntax`] at the declaration for an unknown type, a value that does not fit its
    /// type, and a required variable without a value or with a default.
    pub(in crate::lower) fn declare(
        &mut self,
        source: &'a Source,
        list: &'a [Declaration],
    ) -> Result<()> {
        self.has_list = true;
        for declaration in list {
            let name = declaration.name.of(source.text());
            let value = self.value(source, declaration, name)?;
            match value.items {
                Some(items) => {
                    items.iter().try_for_each(|item| check(source, declaration, name, item))?;
                }
                // Without a value it is an error only where it is used; see `is_missing`.
                None if value.text.is_empty() => {}
                None => check(source, declaration, name, value.text)?,
            }
            let type_name = declaration.type_name.of(source.text());
            self.declared.insert(name, (type_name, value));
        }
        Ok(())
    }

    /// Returns the value of a declared variable: the given one, else its default, else an empty
    /// text.
    fn value(
        &self,
        source: &'a Source,
        declaration: &'a Declaration,
        name: &str,
    ) -> Result<Held<'a>> {
        let at = source.position(declaration.name.start);
        let default = declaration.default.as_ref().map(|default| default.of(source.text()));
        if declaration.required && default.is_some() {
            let message = format!("variable {name} is required and has a default");
            let hint = "remove the `!` or the default";
            return Err(Error::syntax(at, message).with_hint(hint));
        }
        match self.given.get(name) {
            // An empty text counts as no value, so that the default applies.
            Some(given) if !given.text().is_empty() => Ok(Held::of(given)),
            _ if declaration.required => {
                let message = format!("variable {name} is required and has no value");
                Err(Error::syntax(at, message).with_hint("give it one with the request"))
            }
            _ => Ok(Held { text: default.unwrap_or_default(), items: None }),
        }
    }

    /// Checks that each given variable is declared. A query without a list of declarations is not
    /// checked.
    pub(in crate::lower) fn check_given(&self) -> Result<()> {
        let is_declared = |name: &str| self.declared.contains_key(name);
        match self.given.keys().find(|name| self.has_list && !is_declared(name)) {
            Some(name) => {
                let message = format!("variable {name} has a value but no declared type");
                let declared = self.declared.keys().copied();
                let dollar = format!("${name}");
                let hint = match did_you_mean(name, declared) {
                    _ if is_declared(&dollar) => {
                        format!("names of variables begin with `$`: give `{dollar}`")
                    }
                    near if near.is_empty() && !name.starts_with('$') => format!(
                        "names of variables begin with `$`: give `{dollar}`, and declare it: `query name({dollar}: string) {{ ... }}`"
                    ),
                    near if near.is_empty() => {
                        format!(
                            "declare it: `query name({name}: string) {{ ... }}`; or leave it out, of a table its column"
                        )
                    }
                    near => near,
                };
                Err(Error::query(message).with_hint(hint))
            }
            None => Ok(()),
        }
    }

    /// Returns true if a variable has neither a value nor a default, and its type does not allow an
    /// empty text. Dgraph uses the empty text as the value of such a variable, and then reports
    /// that it is not of the type.
    pub(in crate::lower) fn is_missing(&self, name: &str) -> bool {
        let Some(&(type_name, value)) = self.declared.get(name) else { return false };
        value.text.is_empty() && matches!(type_name, "int" | "float" | "bool" | "float32vector")
    }

    /// Returns the value of a declared variable, which is empty when it has none; `None` when it is
    /// not declared.
    pub(in crate::lower) fn declared(&self, name: &str) -> Option<Held<'a>> {
        self.declared.get(name).map(|&(_, value)| value)
    }

    /// Returns the names of the declared variables, in no particular order.
    pub(in crate::lower) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.declared.keys().copied()
    }

    /// Returns the declared type of a variable.
    pub(super) fn type_of(&self, name: &str) -> Option<&'a str> {
        self.declared.get(name).map(|&(type_name, _)| type_name)
    }

    /// Returns the value of a variable, declared or not.
    pub(in crate::lower) fn declared_or_given(&self, name: &str) -> Option<&'a str> {
        let given = || self.given.get(name).map(ParameterValue::text);
        self.declared(name).map(|value| value.text).or_else(given)
    }
}

impl<'a> Held<'a> {
    fn of(given: &'a ParameterValue) -> Held<'a> {
        Held { text: given.text(), items: given.items() }
    }
}

/// Checks that a text is a value of the declared type. Any text is read as a vector here; where it
/// is used it is read.
fn check(source: &Source, declaration: &Declaration, name: &str, value: &str) -> Result<()> {
    let type_name = declaration.type_name.of(source.text());
    let fits = match type_name {
        "int" => number::int(value).is_some(),
        "float" => value.parse::<f64>().is_ok(),
        "bool" => number::boolean(value).is_some(),
        "string" | "float32vector" => true,
        _ => {
            let at = source.position(declaration.type_name.start);
            let message = format!("type `{type_name}` of variable {name} is not supported");
            let hint = "expected int, float, bool, string or float32vector";
            return Err(Error::syntax(at, message).with_hint(hint));
        }
    };
    if fits {
        return Ok(());
    }
    let at = source.position(declaration.name.start);
    let message = format!("variable {name} is declared as {type_name}, and its value is `{value}`");
    Err(Error::syntax(at, message))
}
