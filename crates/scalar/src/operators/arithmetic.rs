//! `+`, `-`, `*`, `/`, `%` and `^`.

use crate::context::Context;
use crate::error::{Fault, Result, ScalarError};
use crate::temporal::{Sign, add_durations, divide, multiply, shift};
use crate::values::{List, Value};

/// An operator of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `%`.
    Modulo,
    /// `^`.
    Power,
}

impl Arithmetic {
    fn symbol(self) -> &'static str {
        match self {
            Arithmetic::Add => "+",
            Arithmetic::Subtract => "-",
            Arithmetic::Multiply => "*",
            Arithmetic::Divide => "/",
            Arithmetic::Modulo => "%",
            Arithmetic::Power => "^",
        }
    }
}

/// Evaluates `one operator other`. Null with anything is null. Two integers give an integer, except
/// for `^`; `+` also joins strings and lists, appends to a list, and adds durations to temporal
/// values.
///
/// ```
/// use hexgraph_scalar::{Arithmetic, Context, Value, arithmetic};
/// # let now = jiff::Timestamp::UNIX_EPOCH.to_zoned(jiff::tz::TimeZone::UTC);
/// # let context = Context::new(now, 0);
///
/// let divide = |one, other| arithmetic(Value::Int(one), Arithmetic::Divide, Value::Int(other), &context);
/// assert_eq!(divide(7, 2)?, Value::Int(3));
/// assert!(divide(7, 0).unwrap_err().to_string().contains("division by zero"));
/// # Ok::<(), Box<hexgraph_scalar::ScalarError>>(())
/// ```
///
/// # Errors
///
/// [`Fault::Type`] for kinds that the operator is not for; [`Fault::Overflow`] and
/// [`Fault::DivisionByZero`] of integers; [`Fault::Limit`] where a string or list would be too
/// large.
pub fn arithmetic(
    one: Value,
    operator: Arithmetic,
    other: Value,
    context: &Context,
) -> Result<Value> {
    match (operator, one, other) {
        (_, Value::Null, _) | (_, _, Value::Null) => Ok(Value::Null),
        (_, Value::Int(one), Value::Int(other)) => of_ints(one, operator, other),
        (_, Value::Float(one), Value::Float(other)) => Ok(of_floats(one, operator, other)),
        (_, Value::Int(one), Value::Float(other)) => Ok(of_floats(one as f64, operator, other)),
        (_, Value::Float(one), Value::Int(other)) => Ok(of_floats(one, operator, other as f64)),
        (Arithmetic::Add, Value::List(one), Value::List(other)) => join(one, &other, context),
        (Arithmetic::Add, Value::List(one), other) => join(one, &[other], context),
        (Arithmetic::Add, one, Value::List(other)) => join(List::new(vec![one])?, &other, context),
        (operator, one, other) => of_others(one, operator, other, context),
    }
}

/// Evaluates `-value`.
///
/// # Errors
///
/// [`Fault::Type`] for what is neither number nor duration, [`Fault::Overflow`] for the smallest
/// integer.
pub fn negate(value: Value) -> Result<Value> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::Int(value) => value.checked_neg().map(Value::Int).ok_or_else(|| {
            ScalarError::overflow(format!("-({value}) is beyond the integers of 64 bits"))
        }),
        Value::Float(value) => Ok(Value::Float(-value)),
        Value::Duration(value) => multiply(&value, &Value::Int(-1)),
        other => Err(ScalarError::kind(
            format!("{} has no negative", other.kind().described()),
            "`-` is for numbers and durations",
        )),
    }
}

fn of_ints(one: i64, operator: Arithmetic, other: i64) -> Result<Value> {
    if other == 0 && matches!(operator, Arithmetic::Divide | Arithmetic::Modulo) {
        return Err(ScalarError::new(
            Fault::DivisionByZero,
            format!("{one} {} 0 is a division by zero", operator.symbol()),
            "divide by a float to get Infinity or NaN, or test the divisor with CASE",
        ));
    }
    let result = match operator {
        Arithmetic::Add => one.checked_add(other),
        Arithmetic::Subtract => one.checked_sub(other),
        Arithmetic::Multiply => one.checked_mul(other),
        Arithmetic::Divide => one.checked_div(other),
        Arithmetic::Modulo => Some(one.wrapping_rem(other)),
        Arithmetic::Power => return Ok(Value::Float((one as f64).powf(other as f64))),
    };
    result.map(Value::Int).ok_or_else(|| {
        let symbol = operator.symbol();
        ScalarError::new(
            Fault::Overflow,
            format!("{one} {symbol} {other} is beyond the integers of 64 bits"),
            "convert one of them by toFloat()",
        )
    })
}

fn of_floats(one: f64, operator: Arithmetic, other: f64) -> Value {
    Value::Float(match operator {
        Arithmetic::Add => one + other,
        Arithmetic::Subtract => one - other,
        Arithmetic::Multiply => one * other,
        Arithmetic::Divide => one / other,
        Arithmetic::Modulo => one % other,
        Arithmetic::Power => one.powf(other),
    })
}

fn join(one: List, other: &[Value], context: &Context) -> Result<Value> {
    let bytes = (one.len() as u128 + other.len() as u128) * size_of::<Value>() as u128;
    // A list that has capacity is not copied.
    match one.has_capacity(other.len()) {
        true => context.check(bytes, "a list")?,
        false => context.admit(bytes, "a list")?,
    }
    one.extended(other).map(Value::List)
}

fn of_others(one: Value, operator: Arithmetic, other: Value, context: &Context) -> Result<Value> {
    use Arithmetic::{Add, Divide, Multiply, Subtract};
    match (operator, &one, &other) {
        (Add, Value::String(_), _) if has_text(&other) => concatenate(&one, &other, context),
        (Add, _, Value::String(_)) if has_text(&one) => concatenate(&one, &other, context),
        (Add, Value::Duration(one), Value::Duration(other)) => {
            add_durations(one, other, Sign::Plus)
        }
        (Subtract, Value::Duration(one), Value::Duration(other)) => {
            add_durations(one, other, Sign::Minus)
        }
        (Add, temporal, Value::Duration(duration)) | (Add, Value::Duration(duration), temporal)
            if is_moment(temporal) =>
        {
            shift(temporal, duration, Sign::Plus)
        }
        (Subtract, temporal, Value::Duration(duration)) if is_moment(temporal) => {
            shift(temporal, duration, Sign::Minus)
        }
        (Multiply, Value::Duration(duration), number @ (Value::Int(_) | Value::Float(_)))
        | (Multiply, number @ (Value::Int(_) | Value::Float(_)), Value::Duration(duration)) => {
            multiply(duration, number)
        }
        (Divide, Value::Duration(duration), number @ (Value::Int(_) | Value::Float(_))) => {
            divide(duration, number)
        }
        (_, one, other) => Err(impossible(one, operator, other)),
    }
}

fn impossible(one: &Value, operator: Arithmetic, other: &Value) -> Box<ScalarError> {
    let (one, symbol, other) = (one.kind().name(), operator.symbol(), other.kind().name());
    let hint = match operator {
        Arithmetic::Subtract if one == other => "use duration.between(from, to) for a difference",
        _ => "convert one of them, for example by toInteger(), toFloat() or toString()",
    };
    ScalarError::kind(format!("`{symbol}` is not possible for {one} and {other}"), hint)
}

/// Whether `+` with a string makes a text of the value.
fn has_text(value: &Value) -> bool {
    matches!(
        value,
        Value::String(_) | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Duration(_)
    ) || is_moment(value)
}

fn is_moment(value: &Value) -> bool {
    matches!(
        value,
        Value::Date(_)
            | Value::LocalTime(_)
            | Value::Time(_)
            | Value::LocalDateTime(_)
            | Value::DateTime(_)
    )
}

fn concatenate(one: &Value, other: &Value, context: &Context) -> Result<Value> {
    let length = |value: &Value| match value {
        Value::String(text) => text.len(),
        _ => 0,
    };
    context.admit(length(one) as u128 + length(other) as u128, "a string")?;
    Ok(Value::from(format!("{one}{other}")))
}
