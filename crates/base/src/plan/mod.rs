//! The plan of a query: a tree that says what to do, made from the request alone without reading
//! the data.

mod variable;
mod aggregate;
mod algorithm;
mod algorithm_table;
mod function;
mod look_up;
mod math;
mod node;
mod reads;
mod uses;

pub use aggregate::{
    AGGREGATES, Aggregate, AggregateFunction, AggregateTypes, Algebraic, Fraction, Holistic,
};
pub use algorithm::{
    Algorithm, AlgorithmCall, ArgumentDef, ArgumentKind, ArgumentValue, COMMON_ARGUMENTS,
    Direction, Gives, GroupsBy, NUMBERS_MAX, NodeList, ResultColumn, ResultKind,
};
pub use algorithm_table::{ALGORITHMS, algorithm, nearest_algorithm};
pub use function::{
    Argument, Call, Comparison, Filter, Function, GeoRelation, Operand, PredicateRef, SemiJoin,
    TermIndex, TextMatch, TextTest,
};
pub use look_up::{LookUp, LookUpIndex};
pub use math::{Constant, MathExpr, MathFunction};
pub use node::{
    Block, BlockKind, Cascade, Endpoint, Expand, FacetItem, FacetKey, Facets, Field, FieldKind,
    GroupBy, GroupKey, Order, OrderKey, Page, Query, Recurse, SchemaRequest, ShortestPath,
};
pub use reads::Reads;
pub use uses::PredicateUse;
pub use variable::{VarId, Variable};
