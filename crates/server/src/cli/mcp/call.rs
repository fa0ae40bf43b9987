//! The tables of tools and their parameters, and a call as it is read by them.

use super::answer::{Outcome, ToolAnswer, ToolFault};
use super::model::{Model, Models};
use hexgraph::db::{Database, RequestContext};
use hexgraph_base::types::did_you_mean;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The values of a parameter.
#[derive(Debug, Clone, Copy)]
pub(super) enum ParamKind {
    Text,
    /// A list of texts.
    Texts,
    /// An object whose values are scalars or lists of them.
    Object,
    /// False where nothing is given, or true.
    Flag(bool),
    /// A number between two, both included, and the one where nothing is given.
    Number(i64, i64, i64),
    /// One of some words, the default one first.
    Choice(&'static [&'static str]),
    /// One of some numbers, and the one where nothing is given.
    Size(&'static [i64], i64),
}

/// A parameter of a tool.
pub(super) struct ParamDef {
    pub name: &'static str,
    pub kind: ParamKind,
    pub is_required: bool,
    pub what: &'static str,
}

/// An optional parameter.
pub(super) const fn param(name: &'static str, kind: ParamKind, what: &'static str) -> ParamDef {
    ParamDef { name, kind, is_required: false, what }
}

/// A parameter that must be given.
pub(super) const fn required(name: &'static str, kind: ParamKind, what: &'static str) -> ParamDef {
    ParamDef { name, kind, is_required: true, what }
}

/// The bound on the time of a call, which most tools have.
pub(super) const SECONDS: ParamDef =
    param("seconds", ParamKind::Number(1, 60, 10), "the most seconds that the call may run");

/// A tool.
pub(super) struct ToolDef {
    pub name: &'static str,
    pub title: &'static str,
    pub what: &'static str,
    pub params: &'static [ParamDef],
    /// Whether it changes data.
    pub writes: bool,
    pub run: fn(&ToolCall<'_>) -> Outcome<ToolAnswer>,
}

/// A call of a tool, with what it runs on.
pub(super) struct ToolCall<'a> {
    pub database: &'a Database,
    pub models: &'a Models,
    pub control: &'a RequestContext,
    pub arguments: &'a ToolArguments,
}

impl ToolCall<'_> {
    /// The model of the database as it is now.
    ///
    /// # Errors
    ///
    /// As [`Models::of`].
    pub(super) fn model(&self) -> Outcome<Arc<Model>> {
        Ok(self.models.of(self.database, self.control)?)
    }
}

/// The arguments of a call, checked by the parameters of its tool.
#[derive(Debug)]
pub(super) struct ToolArguments {
    values: Map<String, Value>,
}

impl ToolArguments {
    /// Checks what was given.
    ///
    /// # Errors
    ///
    /// [`ToolFault::Params`] with what is right.
    pub(super) fn read(tool: &ToolDef, given: Map<String, Value>) -> Outcome<ToolArguments> {
        let mut values = given;
        // Some clients send all parameters.
        values.retain(|_, value| !value.is_null());
        for name in values.keys() {
            if !tool.params.iter().any(|param| param.name == name) {
                return Err(unknown_param(tool, name));
            }
        }
        for param in tool.params {
            match (values.get_mut(param.name), default_of(param.kind)) {
                (Some(value), _) => check(tool, param, value)?,
                (None, _) if param.is_required => {
                    let (tool, name, what) = (tool.name, param.name, param.what);
                    let message = format!("{tool}: `{name}` is missing: {what}");
                    return Err(ToolFault::Params(message));
                }
                (None, Some(default)) => {
                    values.insert(param.name.to_owned(), default);
                }
                (None, None) => {}
            }
        }
        Ok(ToolArguments { values })
    }

    /// A text, where it was given.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name)?.as_str()
    }

    /// A text that must be given.
    pub(super) fn required(&self, name: &str) -> &str {
        self.text(name).expect("the parameter is required, and was checked")
    }

    /// A list of texts; empty where none was given.
    pub(super) fn texts(&self, name: &str) -> Vec<&str> {
        let list = self.values.get(name).and_then(Value::as_array);
        list.map(|list| list.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
    }

    /// A number.
    pub(super) fn number(&self, name: &str) -> usize {
        let number = self.values.get(name).and_then(Value::as_u64);
        number.and_then(|number| usize::try_from(number).ok()).unwrap_or_default()
    }

    /// Whether a flag is set.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.values.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    /// The members of an object; none where it was not given.
    pub(super) fn object(&self, name: &str) -> impl Iterator<Item = (&String, &Value)> {
        self.values.get(name).and_then(Value::as_object).into_iter().flatten()
    }
}

fn unknown_param(tool: &ToolDef, name: &str) -> ToolFault {
    let names: Vec<&str> = tool.params.iter().map(|param| param.name).collect();
    let hint = did_you_mean(name, names.iter().copied());
    let hint = if hint.is_empty() { String::new() } else { format!(" ({hint})") };
    let list = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let message = format!("{}: there is no parameter `{name}`{hint}; there are {list}", tool.name);
    ToolFault::Params(message)
}

fn default_of(kind: ParamKind) -> Option<Value> {
    match kind {
        ParamKind::Text | ParamKind::Texts | ParamKind::Object => None,
        ParamKind::Flag(default) => Some(default.into()),
        ParamKind::Number(_, _, default) | ParamKind::Size(_, default) => Some(default.into()),
        ParamKind::Choice(words) => Some(words[0].into()),
    }
}

/// Checks a value, and makes it the one that the tool reads.
fn check(tool: &ToolDef, param: &ParamDef, value: &mut Value) -> Outcome<()> {
    let is_text = |value: &Value| value.as_str().is_some();
    let (is_right, expected) = match param.kind {
        ParamKind::Text => (is_text(value), "a text".to_owned()),
        ParamKind::Texts => {
            // One text is a list of one.
            if is_text(value) {
                *value = Value::Array(vec![value.clone()]);
            }
            (
                value.as_array().is_some_and(|list| list.iter().all(is_text)),
                "a list of texts".into(),
            )
        }
        ParamKind::Object => (value.is_object(), "an object".to_owned()),
        ParamKind::Flag(_) => (value.is_boolean(), "true or false".to_owned()),
        ParamKind::Number(least, most, _) => {
            let number = integer(value).filter(|number| (least..=most).contains(number));
            if let Some(number) = number {
                *value = number.into();
            }
            (number.is_some(), format!("an integer from {least} to {most}"))
        }
        ParamKind::Choice(words) => (
            value.as_str().is_some_and(|word| words.contains(&word)),
            format!("one of {}", words.join(", ")),
        ),
        ParamKind::Size(sizes, _) => {
            let number = integer(value).filter(|number| sizes.contains(number));
            if let Some(number) = number {
                *value = number.into();
            }
            let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
            (number.is_some(), format!("one of {}", sizes.join(", ")))
        }
    };
    match is_right {
        true => Ok(()),
        false => {
            let (tool, name) = (tool.name, param.name);
            Err(ToolFault::Params(format!("{tool}: `{name}`: expected {expected}")))
        }
    }
}

/// An integer, which some clients write with a fraction of zero.
fn integer(value: &Value) -> Option<i64> {
    let is_integer = |number: &f64| number.fract() == 0.0 && number.abs() < 1e15;
    value.as_i64().or_else(|| value.as_f64().filter(is_integer).map(|number| number as i64))
}

/// The schema of the parameters of a tool.
pub(super) fn input_schema(tool: &ToolDef) -> Value {
    let mut properties = Map::new();
    for ParamDef { name, kind, what, .. } in tool.params {
        let mut schema = match kind {
            ParamKind::Text => json!({"type": "string"}),
            ParamKind::Texts => json!({"type": "array", "items": {"type": "string"}}),
            ParamKind::Object => json!({"type": "object"}),
            ParamKind::Flag(_) => json!({"type": "boolean"}),
            ParamKind::Number(least, most, _) => {
                json!({"type": "integer", "minimum": least, "maximum": most})
            }
            ParamKind::Choice(words) => json!({"type": "string", "enum": words}),
            ParamKind::Size(sizes, _) => json!({"type": "integer", "enum": sizes}),
        };
        schema["description"] = (*what).into();
        if let Some(default) = default_of(*kind) {
            schema["default"] = default;
        }
        properties.insert((*name).to_owned(), schema);
    }
    let required = tool.params.iter().filter(|param| param.is_required).map(|param| param.name);
    let required: Vec<&str> = required.collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOL: ToolDef = ToolDef {
        name: "tool",
        title: "",
        what: "",
        params: &[
            required("query", ParamKind::Text, "the text"),
            param("rows", ParamKind::Number(1, 10, 5), ""),
            param("names", ParamKind::Texts, ""),
            param("size", ParamKind::Size(&[500, 2000], 500), ""),
            param("order", ParamKind::Choice(&["up", "down"]), ""),
            param("dry", ParamKind::Flag(true), ""),
        ],
        writes: false,
        run: |_| Ok(ToolAnswer::default()),
    };

    fn read(given: Value) -> Result<ToolArguments, String> {
        let given = given.as_object().cloned().unwrap_or_default();
        ToolArguments::read(&TOOL, given).map_err(|fault| match fault {
            ToolFault::Params(message) => message,
            ToolFault::Engine(error, _) => panic!("{error}"),
        })
    }

    #[test]
    fn arguments_have_defaults() {
        let arguments = read(json!({"query": "x", "rows": null, "names": "a"})).unwrap();
        assert_eq!((arguments.number("rows"), arguments.number("size")), (5, 500));
        assert_eq!(arguments.texts("names"), ["a"]);
        assert_eq!(arguments.text("order"), Some("up"));
        assert!(arguments.flag("dry"));
        assert_eq!(read(json!({"query": "x", "rows": 3.0})).unwrap().number("rows"), 3);
    }

    #[test]
    fn wrong_arguments_are_refused_with_what_is_right() {
        for (given, expected) in [
            (json!({}), "tool: `query` is missing: the text"),
            (json!({"query": 1}), "tool: `query`: expected a text"),
            (json!({"query": "", "rows": 11}), "tool: `rows`: expected an integer from 1 to 10"),
            (json!({"query": "", "rows": "5"}), "tool: `rows`: expected an integer from 1 to 10"),
            (json!({"query": "", "size": 501}), "tool: `size`: expected one of 500, 2000"),
            (json!({"query": "", "order": "x"}), "tool: `order`: expected one of up, down"),
            (json!({"query": "", "dry": "yes"}), "tool: `dry`: expected true or false"),
            (json!({"query": "", "names": [1]}), "tool: `names`: expected a list of texts"),
            (
                json!({"query": "", "row": 1}),
                "tool: there is no parameter `row` (did you mean `rows`?); there are query, rows, names, size, order, dry",
            ),
        ] {
            assert_eq!(read(given).unwrap_err(), expected);
        }
    }

    #[test]
    fn schemas_say_what_is_required() {
        let schema = input_schema(&TOOL);
        assert_eq!(schema["required"], json!(["query"]));
        assert_eq!(schema["properties"]["rows"]["maximum"], 10);
        assert_eq!(schema["additionalProperties"], false);
    }
}
