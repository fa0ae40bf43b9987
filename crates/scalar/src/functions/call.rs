//! A row of the table, and a call of it with its arguments.

use crate::context::Context;
use crate::error::{Fault, Result, ScalarError};
use crate::values::{List, Map, Value, shortened};
use std::sync::Arc;

/// A function: a row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    /// The name as it is written in Cypher; calls may have it in any case.
    pub name: &'static str,
    /// The fewest arguments.
    pub arguments_min: usize,
    /// The most arguments.
    pub arguments_max: usize,
    /// Who evaluates it.
    pub evaluation: Evaluation,
    /// What it does, in a line.
    pub doc: &'static str,
}

/// Who evaluates a function.
#[derive(Debug, Clone, Copy)]
pub enum Evaluation {
    /// [`Function::call`]. It is null where an argument is null.
    Strict(fn(&Call<'_>) -> Result<Value>),
    /// [`Function::call`]. It has a rule of its own for null.
    Lenient(fn(&Call<'_>) -> Result<Value>),
    /// The executor for nodes and relationships, whose names and properties it has;
    /// [`Function::call`] for values of other kinds. It is null where an argument is null.
    Graph(fn(&Call<'_>) -> Result<Value>),
}

/// A call of a function.
pub struct Call<'a> {
    pub(super) function: &'static Function,
    pub(super) arguments: &'a [Value],
    pub(super) context: &'a Context,
}

impl Function {
    /// Calls the function.
    ///
    /// ```
    /// use hexgraph_scalar::{Context, Value, function};
    /// # let now = jiff::Timestamp::UNIX_EPOCH.to_zoned(jiff::tz::TimeZone::UTC);
    ///
    /// let (context, upper) = (Context::new(now, 0), function("toupper").unwrap());
    /// assert_eq!((upper.name, upper.arguments_max), ("toUpper", 1));
    /// assert_eq!(upper.call(&[Value::from("é")], &context)?, Value::from("É"));
    /// assert_eq!(upper.call(&[Value::Null], &context)?, Value::Null);
    /// # Ok::<(), Box<hexgraph_scalar::ScalarError>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Fault::Argument`] for too few or too many arguments and for one without a meaning;
    /// [`Fault::Type`] for one of a wrong kind, and for a function of the executor;
    /// [`Fault::Limit`] where the result would be too large.
    pub fn call(&'static self, arguments: &[Value], context: &Context) -> Result<Value> {
        let count = arguments.len();
        if count < self.arguments_min || self.arguments_max < count {
            return Err(ScalarError::argument(
                format!("`{}` has {}, and {count} are passed", self.name, self.arity()),
                self.doc,
            ));
        }
        let call = Call { function: self, arguments, context };
        match self.evaluation {
            Evaluation::Lenient(evaluate) => evaluate(&call),
            _ if arguments.iter().any(Value::is_null) => Ok(Value::Null),
            Evaluation::Strict(evaluate) | Evaluation::Graph(evaluate) => evaluate(&call),
        }
    }

    /// How many arguments there are, for messages.
    pub fn arity(&self) -> String {
        match (self.arguments_min, self.arguments_max) {
            (1, 1) => "1 argument".to_owned(),
            (min, max) if min == max => format!("{min} arguments"),
            (min, usize::MAX) => format!("at least {min} arguments"),
            (min, max) => format!("{min} to {max} arguments"),
        }
    }
}

impl Call<'_> {
    /// An argument; null where it is left out.
    pub(super) fn get(&self, index: usize) -> &Value {
        self.arguments.get(index).unwrap_or(&Value::Null)
    }

    pub(super) fn has(&self, index: usize) -> bool {
        index < self.arguments.len()
    }

    /// The argument is of another kind than `expected`.
    pub(super) fn wrong_kind(&self, index: usize, expected: &str) -> Box<ScalarError> {
        let (number, kind) = (index + 1, self.get(index).kind().described());
        ScalarError::kind(
            format!(
                "argument {number} of `{}` is {expected}, and this is {kind}",
                self.function.name
            ),
            self.function.doc,
        )
    }

    /// The argument has no meaning.
    pub(super) fn wrong_value(&self, index: usize, expected: &str) -> Box<ScalarError> {
        let (number, value) = (index + 1, shortened(self.get(index)));
        ScalarError::argument(
            format!(
                "argument {number} of `{}` is {expected}, and this is {value}",
                self.function.name
            ),
            self.function.doc,
        )
    }

    pub(super) fn overflow(&self) -> Box<ScalarError> {
        ScalarError::new(
            Fault::Overflow,
            format!("the result of `{}` is beyond 64 bits", self.function.name),
            "convert the argument by toFloat()",
        )
    }

    pub(super) fn text(&self, index: usize) -> Result<&Arc<str>> {
        match self.get(index) {
            Value::String(text) => Ok(text),
            _ => Err(self.wrong_kind(index, "a STRING")),
        }
    }

    pub(super) fn int(&self, index: usize) -> Result<i64> {
        match self.get(index) {
            Value::Int(number) => Ok(*number),
            _ => Err(self.wrong_kind(index, "an INTEGER")),
        }
    }

    pub(super) fn float(&self, index: usize) -> Result<f64> {
        match self.get(index) {
            Value::Int(number) => Ok(*number as f64),
            Value::Float(number) => Ok(*number),
            _ => Err(self.wrong_kind(index, "a number")),
        }
    }

    pub(super) fn list(&self, index: usize) -> Result<&List> {
        match self.get(index) {
            Value::List(items) => Ok(items),
            _ => Err(self.wrong_kind(index, "a LIST")),
        }
    }

    pub(super) fn map(&self, index: usize) -> Result<&Map> {
        match self.get(index) {
            Value::Map(map) => Ok(map),
            _ => Err(self.wrong_kind(index, "a MAP")),
        }
    }

    /// Reserves the bytes of the result.
    pub(super) fn admit(&self, bytes: u128) -> Result<()> {
        self.context.admit(bytes, &format!("`{}`", self.function.name))
    }

    /// Creates a list of so many values; they are reserved before they are made.
    pub(super) fn list_of(
        &self,
        count: u128,
        values: impl Iterator<Item = Value>,
    ) -> Result<Value> {
        self.admit(count * size_of::<Value>() as u128)?;
        Value::list(values.collect())
    }
}
