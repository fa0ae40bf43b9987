//! Arithmetic expressions: the argument of `math(...)`.

use super::VarId;
use crate::types::Value;

/// An expression over value variables, evaluated for each node.
#[derive(Debug, Clone, PartialEq)]
pub enum MathExpr {
    /// A number in the text.
    Constant(Constant),
    /// The value of a `$variable` that is not a number: a vector, a text or a truth value.
    Value(Value),
    /// A value variable, read at the node, or a variable that holds one aggregate for all nodes.
    Var(VarId),
    /// A function or operator with its operands.
    Call(MathFunction, Vec<MathExpr>),
}

/// A number in the text of a query. A number without fraction and exponent is an integer, and
/// integers and floats differ in their arithmetic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Constant {
    /// An integer.
    Int(i64),
    /// Any other number.
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

impl MathFunction {
    /// True for the operators that compare.
    pub fn is_comparison(self) -> bool {
        matches!(
            self,
            MathFunction::Less
                | MathFunction::Greater
                | MathFunction::LessEqual
                | MathFunction::GreaterEqual
                | MathFunction::Equal
                | MathFunction::NotEqual
        )
    }

    /// Returns the operator or the name of the function as a query writes it. Subtraction and
    /// negation are both `-`.
    pub fn name(self) -> &'static str {
        match self {
            MathFunction::Add => "+",
            MathFunction::Subtract => "-",
            MathFunction::Multiply => "*",
            MathFunction::Divide => "/",
            MathFunction::Modulo => "%",
            MathFunction::Negate => "-",
            MathFunction::Floor => "floor",
            MathFunction::Ceil => "ceil",
            MathFunction::Since => "since",
            MathFunction::Exp => "exp",
            MathFunction::Ln => "ln",
            MathFunction::Sqrt => "sqrt",
            MathFunction::Cond => "cond",
            MathFunction::Pow => "pow",
            MathFunction::LogBase => "logbase",
            MathFunction::Max => "max",
            MathFunction::Min => "min",
            MathFunction::Dot => "dot",
            MathFunction::Less => "<",
            MathFunction::Greater => ">",
            MathFunction::LessEqual => "<=",
            MathFunction::GreaterEqual => ">=",
            MathFunction::Equal => "==",
            MathFunction::NotEqual => "!=",
        }
    }
}
