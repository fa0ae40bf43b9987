//! The variables of a query that start with `$`: declared in its head, given by the caller.

use super::number;
use crate::dql::ast::Declaration;
use crate::dql::source::Source;
use crate::types::did_you_mean;
use crate::types::{Error, Result};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The values of the `$variables`.
pub struct Values<'a> {
    given: &'a BTreeMap<String, String>,
    /// The type and the value of each variable.
    declared: FxHashMap<&'a str, (&'a str, &'a str)>,
    /// True when a query has a list of declarations, even an empty one.
    has_list: bool,
}

impl<'a> Values<'a> {
    /// Nothing is declared yet.
    pub fn new(given: &'a BTreeMap<String, String>) -> Values<'a> {
        Values { given, declared: FxHashMap::default(), has_list: false }
    }

    /// Takes one list of declarations.
    pub fn declare(&mut self, source: &'a Source, list: &'a [Declaration]) -> Result<()> {
        self.has_list = true;
        for declaration in list {
            let name = declaration.name.of(source.text());
            let value = self.value(source, declaration, name)?;
            if !value.is_empty() {
                check(source, declaration, name, value)?;
            }
            let type_name = declaration.type_name.of(source.text());
            self.declared.insert(name, (type_name, value));
        }
        Ok(())
    }

    fn value(
        &self,
        source: &'a Source,
        declaration: &'a Declaration,
        name: &str,
    ) -> Result<&'a str> {
        let at = source.position(declaration.name.start);
        let default = declaration.default.as_ref().map(|default| default.of(source.text()));
        if declaration.required && default.is_some() {
            let message = format!("variable {name} is required and has a default");
            let hint = "remove the `!` or the default".to_owned();
            return Err(Error::Syntax { message, at, hint });
        }
        match self.given.get(name) {
            Some(given) if !given.is_empty() => Ok(given),
            _ if declaration.required => {
                let message = format!("variable {name} is required and has no value");
                Err(Error::syntax(at, message).with_hint("give it one with the request"))
            }
            _ => Ok(default.unwrap_or_default()),
        }
    }

    /// Checks that everything given is declared. Without declarations nothing is.
    pub fn check_given(&self) -> Result<()> {
        let is_declared = |name: &str| self.declared.contains_key(name);
        match self.given.keys().find(|name| self.has_list && !is_declared(name)) {
            Some(name) => {
                let message = format!("variable {name} has a value but no declared type");
                let declared = self.declared.keys().copied();
                let hint = match did_you_mean(name, declared) {
                    near if near.is_empty() => {
                        format!("declare it: `query name({name}: string) {{ ... }}`")
                    }
                    near => near,
                };
                Err(Error::query(message).with_hint(hint))
            }
            None => Ok(()),
        }
    }

    /// The value of a declared variable; empty when it has none.
    pub fn declared(&self, name: &str) -> Option<&'a str> {
        self.declared.get(name).map(|&(_, value)| value)
    }

    /// The names of the declared variables.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.declared.keys().copied()
    }

    /// The type that a variable was declared with.
    pub fn type_of(&self, name: &str) -> Option<&'a str> {
        self.declared.get(name).map(|&(type_name, _)| type_name)
    }

    /// The value of a variable that need not be declared.
    pub fn declared_or_given(&self, name: &str) -> Option<&'a str> {
        self.declared(name).or_else(|| self.given.get(name).map(String::as_str))
    }
}

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
            let hint = "expected int, float, bool, string or float32vector".to_owned();
            return Err(Error::Syntax { message, at, hint });
        }
    };
    if fits {
        return Ok(());
    }
    let at = source.position(declaration.name.start);
    let message = format!("variable {name} is declared as {type_name}, and its value is `{value}`");
    Err(Error::syntax(at, message))
}
