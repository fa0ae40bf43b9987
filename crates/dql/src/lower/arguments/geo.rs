//! Lowers coordinates, which are nested lists of numbers, to text. The executor parses them.

use crate::lower::request::Lowering;
use crate::syntax::ast::Value;
use hexgraph_base::types::{Error, Result, stack};

/// The greatest depth of nested lists. The coordinates of a multipolygon have four levels.
const DEPTH_MAX: usize = 4;

impl<'a> Lowering<'a> {
    /// Returns an argument of a geo function as text. A list is written `[1.0,2.0]`.
    pub(super) fn geo_argument(&self, at: u32, value: &'a Value) -> Result<String> {
        if !matches!(value, Value::List(..)) {
            return self.text_of_list(at, value).map(str::to_owned);
        }
        let mut text = String::new();
        self.write_list(value, 0, &mut text)?;
        Ok(text)
    }

    fn no_coordinate(&self, at: u32) -> Error {
        self.error_with(at, "this is no coordinate", "a point is `[8.5, 47.4]`, without a `+`")
    }

    fn write_list(&self, value: &'a Value, depth: usize, out: &mut String) -> Result<()> {
        stack::check()?;
        match value {
            Value::List(at, _) if depth == DEPTH_MAX => Err(self.error_with(
                *at,
                "coordinates are nested too deep",
                "a polygon is `[[[8, 47], ...]]`",
            )),
            Value::List(_, values) => {
                for (index, value) in values.iter().enumerate() {
                    out.push(if index == 0 { '[' } else { ',' });
                    self.write_list(value, depth + 1, out)?;
                }
                out.push(']');
                Ok(())
            }
            Value::Word(number, None) if !self.text(number).starts_with('+') => {
                out.push_str(self.text(number));
                Ok(())
            }
            Value::Word(number, _) => Err(self.no_coordinate(number.start)),
            Value::Variable(name) => {
                out.push_str(self.value_of(name)?);
                Ok(())
            }
            Value::Quoted(text) | Value::Regex(text) => Err(self.no_coordinate(text.start)),
            Value::Call(call) => Err(self.no_coordinate(call.name.start)),
            Value::Named(argument) => Err(self.no_coordinate(argument.key.start)),
        }
    }
}
