//! What a query will do: made from text alone, without a look at the data.

mod function;
mod math;
mod node;
mod reads;

pub use function::{Argument, Filter, Reach, TextMatch};
pub use function::{Call, Comparison, Function, GeoRelation, Operand, PredicateRef, TermIndex};
pub use math::{Constant, MathExpr, MathFunction};
pub use node::{Aggregate, Block, BlockKind, Cascade, Expand, FacetItem, FacetKey, Facets, Field};
pub use node::{Endpoint, ShortestPath, VarId, Variable};
pub use node::{
    FieldKind, GroupBy, GroupKey, Order, OrderKey, Page, Query, Recurse, SchemaRequest,
};
pub use reads::Reads;
