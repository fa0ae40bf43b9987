//! A request as a tree, and its text.

use super::lit::Lit;
use serde_json::{Map, Value as Json};
use std::fmt::Write;

/// What a field is given.
#[derive(Debug, Clone)]
pub struct Argument {
    pub name: String,
    /// Its type, for the variable that may hold it.
    pub ty: String,
    pub value: Lit,
    pub is_variable: bool,
}

/// A selected field.
#[derive(Debug, Clone, Default)]
pub struct RequestedQuery {
    pub alias: Option<String>,
    pub name: String,
    pub arguments: Vec<Argument>,
    /// The fields of `@cascade`; without any, all.
    pub cascade: Option<Vec<String>>,
    pub conditions: Vec<Condition>,
    pub below: Vec<Part>,
}

/// `@include`, or `@skip`.
#[derive(Debug, Clone, Copy)]
pub struct Condition {
    pub is_include: bool,
    pub value: bool,
    pub is_variable: bool,
}

/// A part of a selection.
#[derive(Debug, Clone)]
pub enum Part {
    Field(RequestedQuery),
    Fragment(Fragment),
}

/// An inline fragment, or the spread of a named one.
#[derive(Debug, Clone)]
pub struct Fragment {
    pub on: Option<String>,
    pub name: Option<String>,
    pub conditions: Vec<Condition>,
    pub parts: Vec<Part>,
}

/// Root fields.
#[derive(Debug, Clone)]
pub struct Request {
    pub is_mutation: bool,
    pub roots: Vec<RequestedQuery>,
}

impl RequestedQuery {
    pub fn key(&self) -> &str {
        self.alias.as_deref().unwrap_or(&self.name)
    }

    pub fn argument(&self, name: &str) -> Option<&Lit> {
        let result = self.arguments.iter().find(|argument| argument.name == name);
        result.map(|argument| &argument.value).filter(|value| **value != Lit::Null)
    }

    pub fn is_requested(&self) -> bool {
        holds(&self.conditions)
    }
}

/// Whether what follows conditions is there.
pub fn holds(conditions: &[Condition]) -> bool {
    conditions.iter().all(|condition| condition.is_include == condition.value)
}

#[derive(Default)]
struct Printer {
    variables: Vec<String>,
    values: Map<String, Json>,
    fragments: String,
}

impl Request {
    /// The text and the variables.
    pub fn print(&self) -> (String, Map<String, Json>) {
        let mut printer = Printer::default();
        let mut text = String::new();
        for root in &self.roots {
            printer.field(&mut text, root);
        }
        let word = if self.is_mutation { "mutation" } else { "query" };
        let variables = match printer.variables.is_empty() {
            true => String::new(),
            false => format!("({})", printer.variables.join(", ")),
        };
        let text = format!("{word}{variables} {{ {text}}}{}", printer.fragments);
        (text, printer.values)
    }
}

impl Printer {
    fn variable(&mut self, ty: &str, value: Json) -> String {
        let name = format!("v{}", self.variables.len());
        self.variables.push(format!("${name}: {ty}"));
        let text = format!("${name}");
        self.values.insert(name, value);
        text
    }

    fn field(&mut self, text: &mut String, field: &RequestedQuery) {
        if let Some(alias) = &field.alias {
            let _ = write!(text, "{alias}: ");
        }
        *text += &field.name;
        let mut arguments = Vec::new();
        for argument in &field.arguments {
            let value = match argument.is_variable {
                true => self.variable(&argument.ty, argument.value.json()),
                false => argument.value.to_string(),
            };
            arguments.push(format!("{}: {value}", argument.name));
        }
        if !arguments.is_empty() {
            let _ = write!(text, "({})", arguments.join(", "));
        }
        match &field.cascade {
            Some(fields) if fields.is_empty() => *text += " @cascade",
            Some(fields) => {
                let _ = write!(text, " @cascade(fields: {fields:?})");
            }
            None => {}
        }
        self.conditions(text, &field.conditions);
        *text += " ";
        if !field.below.is_empty() {
            self.parts(text, &field.below);
        }
    }

    fn conditions(&mut self, text: &mut String, conditions: &[Condition]) {
        for condition in conditions {
            let word = if condition.is_include { "include" } else { "skip" };
            let value = match condition.is_variable {
                true => self.variable("Boolean!", condition.value.into()),
                false => condition.value.to_string(),
            };
            let _ = write!(text, " @{word}(if: {value})");
        }
    }

    fn parts(&mut self, text: &mut String, parts: &[Part]) {
        *text += "{ ";
        for part in parts {
            match part {
                Part::Field(field) => self.field(text, field),
                Part::Fragment(fragment) => self.fragment(text, fragment),
            }
        }
        *text += "} ";
    }

    fn fragment(&mut self, text: &mut String, fragment: &Fragment) {
        *text += "...";
        match (&fragment.name, &fragment.on) {
            (Some(name), _) => *text += name,
            (None, Some(on)) => {
                let _ = write!(text, " on {on}");
            }
            (None, None) => {}
        }
        self.conditions(text, &fragment.conditions);
        *text += " ";
        let (Some(name), Some(on)) = (&fragment.name, &fragment.on) else {
            return self.parts(text, &fragment.parts);
        };
        let mut body = format!(" fragment {name} on {on} ");
        self.parts(&mut body, &fragment.parts);
        self.fragments += &body;
    }
}
