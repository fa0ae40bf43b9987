//! Functions that choose nodes, and filters made of them.

use super::VarId;
use crate::types::Position;

/// A function with its place in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// What it does.
    pub call: Call,
    /// Where it is.
    pub at: Position,
}

/// What a function does.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    /// `eq le lt ge gt`.
    Compare {
        /// Which one.
        op: Comparison,
        /// What is compared.
        left: Operand,
        /// What it is compared with; only `eq` may have more or fewer than one.
        arguments: Vec<Argument>,
    },
    /// `between`, both ends included.
    Between {
        /// What is compared.
        left: Operand,
        /// The lower end.
        low: Argument,
        /// The upper end.
        high: Argument,
    },
    /// `anyofterms allofterms anyoftext alloftext ngram`.
    Terms {
        /// The predicate.
        predicate: PredicateRef,
        /// Which index.
        index: TermIndex,
        /// Whether all tokens must be there, or any.
        wants: TextMatch,
        /// The text to be analysed.
        text: String,
    },
    /// `anyof allof` with a custom tokenizer.
    CustomTerms {
        /// The tokenizer.
        tokenizer: String,
    },
    /// `regexp(p, /pattern/flags)`.
    Regexp {
        /// The predicate.
        predicate: PredicateRef,
        /// The pattern between the slashes, `\/` already `/`.
        pattern: String,
        /// The letters after the last slash.
        flags: String,
    },
    /// `match(p, text, distance)`.
    Match {
        /// The predicate.
        predicate: PredicateRef,
        /// The text to be compared.
        text: String,
        /// The greatest distance, as written.
        distance: String,
    },
    /// `has(p)`.
    Has(PredicateRef),
    /// `type(T)`.
    Type(String),
    /// `uid(...)`. Literals stand as written (ascending, with repeats) and are dropped by the
    /// reader when there is a variable too.
    Uid {
        /// The literals, ascending.
        uids: Vec<u64>,
        /// The variables.
        vars: Vec<VarId>,
    },
    /// `uid_in(p, ...)`.
    UidIn {
        /// The predicate.
        predicate: PredicateRef,
        /// The literals.
        uids: Vec<u64>,
        /// The variables.
        vars: Vec<VarId>,
    },
    /// `near within contains intersects`.
    Geo {
        /// Which one.
        relation: GeoRelation,
        /// The predicate.
        predicate: PredicateRef,
        /// The arguments as text, lists re-joined (`[1.0,2.0]`).
        arguments: Vec<String>,
    },
    /// `similar_to(p, k, vector, ef: n, distance_threshold: x)`.
    SimilarTo {
        /// The predicate.
        predicate: PredicateRef,
        /// How many neighbours, as written.
        count: String,
        /// A vector text, a uid, or a variable.
        target: Argument,
        /// The options, lower-cased names, as written.
        options: Vec<(String, String)>,
        /// Nodes that don't pass take no place among the neighbours. DQL has no word for it.
        admits: Option<Box<Filter>>,
    },
}

/// What is compared.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// A predicate's values.
    Predicate(PredicateRef),
    /// The number of a predicate's values or edges.
    Count(PredicateRef),
    /// A value variable.
    Val(VarId),
    /// The number of uids in a variable.
    Len(VarId),
}

/// What something is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// A text, converted to the type of what it is compared with.
    Text(String),
    /// All values of a variable.
    Val(VarId),
}

/// A predicate as a function names it.
#[derive(Debug, Clone, PartialEq)]
pub struct PredicateRef {
    /// The name, without `~`.
    pub name: String,
    /// True for `~name`.
    pub reverse: bool,
    /// The language, `.` for any, `None` for untagged values.
    pub lang: Option<String>,
}

/// The comparisons.
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
    /// As it is written in a query.
    pub fn name(self) -> &'static str {
        match self {
            Comparison::Eq => "eq",
            Comparison::Le => "le",
            Comparison::Lt => "lt",
            Comparison::Ge => "ge",
            Comparison::Gt => "gt",
        }
    }
}

/// The indexes of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermIndex {
    /// `term`.
    Term,
    /// `fulltext`.
    FullText,
    /// `ngram`.
    NGram,
}

/// How many of the tokens must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextMatch {
    /// One is enough.
    Any,
    /// Every one.
    All,
}

/// The geo functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeoRelation {
    /// Within a distance.
    Near,
    /// Inside.
    Within,
    /// Around.
    Contains,
    /// Touching.
    Intersects,
}

impl GeoRelation {
    /// As it is written in a query.
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
    /// Every one holds.
    And(Vec<Filter>),
    /// One holds.
    Or(Vec<Filter>),
    /// It does not hold.
    Not(Box<Filter>),
    /// The function holds.
    Function(Box<Function>),
    /// The node leads to nodes that pass a condition of their own. DQL has no word for it.
    Reaches(Box<Reach>),
}

/// A condition on the nodes at the other end of a node's edges.
#[derive(Debug, Clone, PartialEq)]
pub struct Reach {
    /// The predicate, without `~`.
    pub predicate: String,
    /// True for incoming edges.
    pub reverse: bool,
    /// More than so many nodes have to be there.
    pub more_than: u32,
    /// What they have to pass; nothing when any will do.
    pub filter: Option<Filter>,
}
