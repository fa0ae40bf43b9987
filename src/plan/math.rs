//! Expressions of `math(...)`.

use super::VarId;
use crate::types::Value;

/// An expression over value variables, evaluated for each node.
#[derive(Debug, Clone, PartialEq)]
pub enum MathExpr {
    /// A number in the text.
    Constant(Constant),
    /// The value of a `$variable` that is no number: a vector, a text, a truth value.
    Value(Value),
    /// A value variable (or a single aggregate).
    Var(VarId),
    /// A function or operator with its operands.
    Call(MathFunction, Vec<MathExpr>),
}

/// A number in the text: whole numbers are ints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Constant {
    /// A whole number.
    Int(i64),
    /// Any other.
    Float(f64),
}

/// The operators and functions of `math`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // each is named as it is written
pub enum MathFunction {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Negate,
    Floor,
    Ceil,
    Since,
    Exp,
    Ln,
    Sqrt,
    Cond,
    Pow,
    LogBase,
    Max,
    Min,
    Dot,
    Less,
    Greater,
    LessEqual,
    GreaterEqual,
    Equal,
    NotEqual,
}
