//! Templates of bodies and how values are put into them: `{ author: $id }` with an id becomes
//! `{"author": "0x1"}`.

use apollo_compiler::ast;
use hexgraph_base::types::stack;
use serde_json::{Map, Value};

use crate::request;

/// The values of variables by their names: arguments of a root field, or the fields of an object.
pub type Values = Map<String, Value>;

/// Replaces the variables of a template by values. A member or an item whose variable has no value
/// is left out; the result is `None` when the entire template is such a variable. O(template and
/// values). The grammar bounds how deep templates are.
pub(in crate::remote) fn filled(template: &ast::Value, values: &Values) -> Option<Value> {
    stack::require();
    Some(match template {
        ast::Value::Variable(name) => return values.get(name.as_str()).cloned(),
        ast::Value::Null => Value::Null,
        ast::Value::Boolean(truth) => Value::Bool(*truth),
        ast::Value::String(text) => Value::String(text.clone()),
        // JSON has no names: a word without quotes is text.
        ast::Value::Enum(name) => Value::String(name.to_string()),
        ast::Value::Int(number) => number_of(number.as_str()),
        ast::Value::Float(number) => number_of(number.as_str()),
        ast::Value::List(items) => {
            Value::Array(items.iter().filter_map(|item| filled(item, values)).collect())
        }
        ast::Value::Object(members) => {
            let members = members.iter();
            let pairs = members
                .filter_map(|(name, value)| Some((name.to_string(), filled(value, values)?)));
            Value::Object(pairs.collect())
        }
    })
}

/// A number with all its digits, or the text when JSON has no such number.
fn number_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// Converts the value of an argument to JSON. Values of enums become texts.
pub fn json_of(value: &request::Value) -> Value {
    match value {
        request::Value::Null => Value::Null,
        request::Value::Int(number) => Value::from(*number),
        request::Value::Float(number) => Value::from(*number),
        request::Value::Boolean(truth) => Value::Bool(*truth),
        request::Value::String(text) => Value::String(text.to_string()),
        request::Value::Enum(name) => Value::String(name.to_string()),
        request::Value::List(items) => Value::Array(items.iter().map(json_of).collect()),
        request::Value::Object(members) => {
            let members = members.iter();
            Value::Object(members.map(|(name, value)| (name.to_string(), json_of(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sdl::parse_template;
    use serde_json::json;

    #[test]
    fn members_without_a_value_are_left_out() {
        let template =
            parse_template("{ a: $a, b: { c: $no, d: [1, $no, \"x\"] }, e: $null, f: 1.5 }");
        let Value::Object(values) = json!({"a": {"deep": [1]}, "null": null}) else { panic!() };
        let result = filled(&template.unwrap().unwrap(), &values);
        let want = json!({"a": {"deep": [1]}, "b": {"d": [1, "x"]}, "e": null, "f": 1.5});
        assert_eq!(result, Some(want));
        let full = parse_template("$no").unwrap().unwrap();
        assert_eq!(filled(&full, &values), None);
    }
}
