//! Errors of the text of one rule of `@auth`, in Dgraph's words.

use thiserror::Error;

/// Why a text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum RuleError {
    /// The text begins with `{` and is not `{$claim: {operator: value}}`.
    #[error("`{text}` is not a valid rule.")]
    NoClaimTest { text: String },
    /// The claim has no `$`, or the value after the operator is no JSON.
    #[error("`{claim}` is not a valid GraphQL variable.")]
    NoVariable { claim: String },
    /// The value after the operator is `null`.
    #[error("`{operator}` operator has invalid value. null values aren't supported.")]
    Null { operator: String },
    /// The value after the operator is of a kind that the operator does not accept.
    #[error("`{operator}` operator has invalid value `{value}`.{why}")]
    Operand { operator: String, value: String, why: &'static str },
    /// No such operator exists.
    #[error("`{operator}` operator is not supported.")]
    Operator { operator: String },
    /// The value of `regexp` is no regular expression.
    #[error("`{claim}` does not have a valid regex expression.")]
    Pattern { claim: String },
    /// The text is no GraphQL.
    #[error("failed to parse GraphQL rule [reason : {reason}]")]
    Syntax { reason: String },
    /// The text has no operation, or several.
    #[error("a rule should be exactly one query, found {count} GraphQL operations")]
    Operations { count: usize },
    /// The operation is no query; `result` is its name, or its kind.
    #[error("a rule should be exactly one query, found an {result}")]
    NoQuery { result: String },
    /// The query has several fields.
    #[error("a rule should be exactly one query, found {count} queries")]
    Queries { count: usize },
    /// The query requests a fragment.
    #[error("error couldn't generate query from rule")]
    Fragment,
    /// The query is about another type than the rule.
    #[error("expected only query{type_name} rules,but found {result}")]
    OtherType { type_name: String, result: String },
}
