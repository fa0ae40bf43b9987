//! Functions that select nodes, and filters that combine such functions with `and`, `or` and `not`.

use super::VarId;
use crate::schema::NODE_TYPE;
use crate::types::Position;
use std::cmp::Ordering;
use std::ops::Bound;

/// A function call with its position in the text of the query.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// The function and its arguments.
    pub call: Call,
    /// The position of the call in the text, for error messages.
    pub at: Position,
}

impl Function {
    /// Returns the name of the predicate that the function is about, that of types among them;
    /// `None` for one about uids or variables.
    pub fn predicate(&self) -> Option<&str> {
        match &self.call {
            Call::Type(_) => Some(NODE_TYPE),
            call => call.predicate().map(|predicate| predicate.name.as_str()),
        }
    }
}

impl Call {
    /// Returns the predicate that the call names; `None` for one that names none.
    pub fn predicate(&self) -> Option<&PredicateRef> {
        match self {
            Call::Compare { left, .. } | Call::Between { left, .. } => match left {
                Operand::Predicate(predicate) | Operand::Count(predicate) => Some(predicate),
                Operand::Val(_) | Operand::Len(_) => None,
            },
            Call::Terms { predicate, .. }
            | Call::Text { predicate, .. }
            | Call::Has(predicate)
            | Call::UidIn { predicate, .. }
            | Call::Geo { predicate, .. }
            | Call::SimilarTo { predicate, .. } => Some(predicate),
            Call::Type(_) | Call::CustomTerms { .. } | Call::Uid { .. } => None,
        }
    }
}

/// A function and its arguments. An argument that is a number is retained as the text of the query
/// where the type of the predicate decides how it is read.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    /// `eq`, `le`, `lt`, `ge` and `gt`: values that compare with an argument with this operator.
    Compare {
        /// The comparison.
        op: Comparison,
        /// What is compared.
        left: Operand,
        /// What it is compared with; only `eq` may have more or fewer than one.
        arguments: Vec<Argument>,
    },
    /// `between`: values in a closed interval, both bounds included.
    Between {
        /// What is compared.
        left: Operand,
        /// The lower end.
        low: Argument,
        /// The upper end.
        high: Argument,
    },
    /// `anyofterms`, `allofterms`, `anyoftext`, `alloftext` and `ngram`: texts that have words in
    /// common with another text.
    Terms {
        /// The predicate.
        predicate: PredicateRef,
        /// The index that splits texts into tokens.
        index: TermIndex,
        /// Whether a value must have all tokens of the text or at least one.
        expects: TextMatch,
        /// The text whose tokens are searched for.
        text: String,
    },
    /// `anyof` and `allof` with a custom tokenizer, which the executor refuses: there are none.
    CustomTerms {
        /// The name of the tokenizer.
        tokenizer: String,
    },
    /// `regexp` and `match`: texts that pass a test of their own.
    Text {
        /// The predicate.
        predicate: PredicateRef,
        /// The test.
        test: TextTest,
    },
    /// `has(p)`: nodes with at least one value or edge of the predicate.
    Has(PredicateRef),
    /// `type(T)`: nodes whose `dgraph.type` lists the type.
    Type(String),
    /// `uid(...)`: the given nodes. The executor ignores the literal uids when there is a variable
    /// as well.
    Uid {
        /// The literal uids, ascending; one may occur several times.
        uids: Vec<u64>,
        /// The variables.
        vars: Vec<VarId>,
    },
    /// `uid_in(p, ...)`: nodes with an edge of the predicate to one of the given nodes.
    UidIn {
        /// The predicate.
        predicate: PredicateRef,
        /// The literal uids of the targets.
        uids: Vec<u64>,
        /// The variables.
        vars: Vec<VarId>,
    },
    /// `near`, `within`, `contains` and `intersects`: geometries in a spatial relation to another
    /// one.
    Geo {
        /// The spatial relation.
        relation: GeoRelation,
        /// The predicate.
        predicate: PredicateRef,
        /// The arguments as text; a list of coordinates is written `[1.0,2.0]`.
        arguments: Vec<String>,
    },
    /// `similar_to(p, k, vector, ef: n, distance_threshold: x)`: the nodes whose vectors are
    /// nearest to a vector.
    SimilarTo {
        /// The predicate.
        predicate: PredicateRef,
        /// The number of neighbours, as the query writes it.
        count: String,
        /// The vector to compare with: a vector as text, the uid of a node that has one, or a
        /// variable.
        target: Argument,
        /// The options as pairs of name (in lower case) and value (as the query writes it).
        options: Vec<(String, String)>,
        /// A filter that is applied during the search, so that nodes that fail it do not count as
        /// neighbours. DQL has no syntax for it; GraphQL uses it for its authorization rules.
        admits: Option<Box<Filter>>,
    },
}

/// The left side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// The values that a node has for a predicate.
    Predicate(PredicateRef),
    /// The number of values or edges that a node has for a predicate.
    Count(PredicateRef),
    /// The value that a node has in a value variable.
    Val(VarId),
    /// The number of uids in a variable.
    Len(VarId),
}

/// The right side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// A text, which the executor converts to the type of the left side.
    Text(String),
    /// All values of a variable.
    Val(VarId),
}

/// A reference to a predicate as a function writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct PredicateRef {
    /// The name, without `~`.
    pub name: String,
    /// True for `~name`.
    pub reverse: bool,
    /// The language tag of the values: `.` for any language, `None` for values without a tag.
    pub lang: Option<String>,
}

/// The comparison operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Equal to any argument.
    Eq,
    /// Less or equal.
    Le,
    /// Less.
    Lt,
    /// Greater or equal.
    Ge,
    /// Greater.
    Gt,
}

impl Comparison {
    /// All comparisons.
    pub const ALL: [Comparison; 5] =
        [Comparison::Eq, Comparison::Le, Comparison::Lt, Comparison::Ge, Comparison::Gt];

    /// Returns the name of the function in a query.
    pub fn name(self) -> &'static str {
        match self {
            Comparison::Eq => "eq",
            Comparison::Le => "le",
            Comparison::Lt => "lt",
            Comparison::Ge => "ge",
            Comparison::Gt => "gt",
        }
    }

    /// Returns the comparison of a name in lower case; `None` for the name of another function.
    pub fn from_name(name: &str) -> Option<Comparison> {
        Comparison::ALL.into_iter().find(|comparison| comparison.name() == name)
    }

    /// Returns true when a value in this order to the argument matches.
    #[inline]
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Comparison::Eq => order.is_eq(),
            Comparison::Le => order.is_le(),
            Comparison::Lt => order.is_lt(),
            Comparison::Ge => order.is_ge(),
            Comparison::Gt => order.is_gt(),
        }
    }

    /// Returns the lower and the upper bound of the matching values.
    pub fn bounds<T: Clone>(self, argument: T) -> (Bound<T>, Bound<T>) {
        match self {
            Comparison::Eq => (Bound::Included(argument.clone()), Bound::Included(argument)),
            Comparison::Le => (Bound::Unbounded, Bound::Included(argument)),
            Comparison::Lt => (Bound::Unbounded, Bound::Excluded(argument)),
            Comparison::Ge => (Bound::Included(argument), Bound::Unbounded),
            Comparison::Gt => (Bound::Excluded(argument), Bound::Unbounded),
        }
    }
}

/// The indexes that split texts into words or runs of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermIndex {
    /// `term`.
    Term,
    /// `fulltext`.
    FullText,
    /// `ngram`.
    NGram,
}

/// A test of a single text. What it is for each access path is in one file of the executor
/// (`choose/text_function.rs`), so no other match lists the tests.
#[derive(Debug, Clone, PartialEq)]
pub enum TextTest {
    /// `regexp(p, /pattern/flags)`: a regular expression matches the text.
    Regexp {
        /// The pattern between the slashes, in which `\/` is replaced by `/`.
        pattern: String,
        /// The letters after the last slash.
        flags: String,
    },
    /// `match(p, text, distance)`: the text is within an edit distance (Levenshtein) of another.
    Near {
        /// The text to be compared.
        text: String,
        /// The greatest edit distance, as the query writes it.
        distance: String,
    },
}

/// How many of the tokens of a query a value must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextMatch {
    /// At least one.
    Any,
    /// Every one.
    All,
}

/// The spatial relations that the geo functions test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeoRelation {
    /// The geometry is within a distance of a point.
    Near,
    /// The geometry lies inside the given one.
    Within,
    /// The geometry contains the given one.
    Contains,
    /// The geometry and the given one have a point in common.
    Intersects,
}

impl GeoRelation {
    /// Returns the name of the function in a query.
    pub fn name(self) -> &'static str {
        match self {
            GeoRelation::Near => "near",
            GeoRelation::Within => "within",
            GeoRelation::Contains => "contains",
            GeoRelation::Intersects => "intersects",
        }
    }
}

/// A condition on nodes (or, in `@facets(...)`, on the facets of an edge, where a predicate's
/// name is the facet's).
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// All conditions hold.
    And(Vec<Filter>),
    /// At least one condition holds.
    Or(Vec<Filter>),
    /// The condition does not hold.
    Not(Box<Filter>),
    /// The function selects the node.
    Function(Box<Function>),
    /// The node has edges to nodes that pass a condition of their own. DQL has no syntax for it;
    /// GraphQL uses it for its authorization rules.
    SemiJoin(Box<SemiJoin>),
}

/// A condition on the nodes at the other end of a node's edges.
#[derive(Debug, Clone, PartialEq)]
pub struct SemiJoin {
    /// The predicate, without `~`.
    pub predicate: String,
    /// True for incoming edges.
    pub reverse: bool,
    /// The number of such nodes has to be greater than this.
    pub more_than: u32,
    /// The condition on the nodes at the other end; `None` when any node counts.
    pub filter: Option<Filter>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::RangeBounds;

    #[test]
    fn comparisons_hold_within_their_bounds() {
        for comparison in Comparison::ALL {
            assert_eq!(Comparison::from_name(comparison.name()), Some(comparison));
            for value in [1, 2, 3] {
                let is_within = comparison.bounds(2).contains(&value);
                assert_eq!(comparison.holds(value.cmp(&2)), is_within, "{comparison:?} {value}");
            }
        }
        assert_eq!(Comparison::from_name("between"), None);
    }
}
