//! What a query becomes before it runs: stages that rows pass through, and expressions over the
//! slots of a row. All variables of a query, its subqueries included, have slots of one row, so
//! that a subquery sees the outer variables.

use crate::ast::{
    ArithmeticOp, CompareOp, Direction, LabelExpr, QuantifierKind, SubqueryKind, TypeName,
};
use crate::procedures::Procedure;
use crate::span::Span;
use hexgraph_scalar::{Aggregate as AggregateFunction, Comparison, Function, TextTest, Value};
use std::sync::Arc;

/// The index of a value in a row.
pub(super) type SlotIndex = usize;

/// An expression over the slots of a row.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    pub(super) operation: Operation,
    /// Where it is in the text, for errors.
    pub(super) span: Span,
}

/// What an expression computes.
#[derive(Debug, Clone)]
pub(super) enum Operation {
    Constant(Value),
    Slot(SlotIndex),
    List(Vec<Expression>),
    Map(Vec<(Arc<str>, Expression)>),
    Or(Vec<Expression>),
    Xor(Vec<Expression>),
    And(Vec<Expression>),
    Not(Box<Expression>),
    /// Each is compared with the one before.
    Compare(Box<Expression>, Vec<(CompareOp, Expression)>),
    Arithmetic(Box<Expression>, Vec<(ArithmeticOp, Expression)>),
    Negative(Box<Expression>),
    /// One after the other.
    Steps(Box<Expression>, Vec<ValueStep>),
    Call(Callee, Vec<Expression>),
    Case {
        subject: Option<Box<Expression>>,
        branches: Vec<(Expression, Expression)>,
        otherwise: Box<Expression>,
    },
    Comprehension {
        loops: Box<ListLoop>,
        result: Option<Box<Expression>>,
    },
    Quantifier(QuantifierKind, Box<ListLoop>),
    Reduce {
        accumulator: SlotIndex,
        start: Box<Expression>,
        loops: Box<ListLoop>,
        step: Box<Expression>,
    },
    /// The rows of a subquery, and the slot of what is collected. The slot of its own names it.
    Subquery {
        kind: SubqueryKind,
        plan: Box<QueryPlan>,
        own: SlotIndex,
    },
    /// A list of a value for each match.
    Matches {
        plan: Box<MatchPlan>,
        result: Box<Expression>,
    },
    Projection {
        base: Box<Expression>,
        all: bool,
        entries: Vec<(Arc<str>, Expression)>,
    },
}

/// A variable that runs over a list, and the condition for its values.
#[derive(Debug, Clone)]
pub(super) struct ListLoop {
    pub(super) slot: SlotIndex,
    pub(super) list: Expression,
    pub(super) filter: Option<Expression>,
}

/// A step from a value to the next.
#[derive(Debug, Clone)]
pub(super) enum ValueStep {
    Text(TextTest, Expression),
    Matches(Expression),
    In(Expression),
    /// With `NOT` it is true.
    IsNull(bool),
    /// With `NOT` it is true.
    IsType(bool, TypeName),
    Property(Arc<str>),
    Index(Expression),
    Slice(Option<Expression>, Option<Expression>),
    HasLabels(LabelTest),
}

/// A condition on labels or types.
#[derive(Debug, Clone)]
pub(super) struct LabelTest {
    pub(super) labels: LabelExpr,
    /// The types that pass, in ascending order.
    pub(super) types: Vec<u32>,
}

/// A function that is called.
#[derive(Debug, Clone, Copy)]
pub(super) struct Callee {
    pub(super) function: &'static Function,
    /// What it reads of the graph for a node or a relationship; other values are the function's
    /// own.
    pub(super) entity: Option<EntityFunction>,
    /// Whether its first argument with a value is its result: those after it are not evaluated.
    pub(super) stops_at_value: bool,
}

/// What a function reads of the graph.
#[derive(Debug, Clone, Copy)]
pub(super) enum EntityFunction {
    Id,
    ElementId,
    Labels,
    Type,
    Keys,
    Properties,
}

/// Queries joined by `UNION`.
#[derive(Debug, Clone)]
pub(super) struct QueryPlan {
    pub(super) branches: Vec<BranchPlan>,
    /// How many of the first branches are without equal rows.
    pub(super) distinct: usize,
    /// The slots that a row of the result is in.
    pub(super) columns: Vec<SlotIndex>,
}

/// One of the queries.
#[derive(Debug, Clone)]
pub(super) struct BranchPlan {
    pub(super) stages: Vec<Stage>,
    /// The slots of its columns, in the order of the columns of the query.
    pub(super) columns: Vec<SlotIndex>,
}

/// What happens to rows.
#[derive(Debug, Clone)]
pub(super) enum Stage {
    Match {
        plan: MatchPlan,
        optional: bool,
    },
    /// Matches that are counted. It is the first stage.
    Join(Box<JoinPlan>),
    Unwind {
        list: Expression,
        slot: SlotIndex,
    },
    Project(Vec<(SlotIndex, Expression)>),
    Filter(Expression),
    /// Rows that differ in these slots.
    Distinct(Vec<SlotIndex>),
    Aggregate {
        keys: Vec<(SlotIndex, Expression)>,
        aggregates: Vec<Aggregate>,
        /// The slot of how often a row counts; `None` for once.
        count: Option<SlotIndex>,
    },
    Sort {
        keys: Vec<SortKey>,
        retained: Vec<SlotIndex>,
        bounds: Bounds,
    },
    Slice(Bounds),
    /// Each row so many times as a slot says.
    Repeat(SlotIndex),
    Subquery(QueryPlan),
    Algorithm(Box<AlgorithmPlan>),
}

/// A call of an algorithm: its rows follow each row.
#[derive(Debug, Clone)]
pub(super) struct AlgorithmPlan {
    pub(super) signature: Procedure,
    /// The types of relationships.
    pub(super) types: Expression,
    pub(super) options: Option<Expression>,
    /// The columns that are read, by their indexes, and their slots.
    pub(super) columns: Vec<(usize, SlotIndex)>,
    /// A slot that names the call.
    pub(super) own: SlotIndex,
    /// The slots that the arguments read; `None` where they differ each time.
    pub(super) reads: Option<Vec<SlotIndex>>,
    /// Where its name is.
    pub(super) span: Span,
}

/// A key of an order.
#[derive(Debug, Clone)]
pub(super) struct SortKey {
    pub(super) key: Expression,
    pub(super) descending: bool,
    pub(super) nulls_first: bool,
}

/// `SKIP` and `LIMIT`.
#[derive(Debug, Clone, Default)]
pub(super) struct Bounds {
    pub(super) skip: Option<Expression>,
    pub(super) limit: Option<Expression>,
}

/// An aggregate of a group of rows.
#[derive(Debug, Clone)]
pub(super) struct Aggregate {
    pub(super) slot: SlotIndex,
    pub(super) function: &'static AggregateFunction,
    pub(super) distinct: bool,
    /// Empty for `count(*)`.
    pub(super) arguments: Vec<Expression>,
    pub(super) span: Span,
}

impl Aggregate {
    /// Whether memory is reserved for each value of a group.
    pub(super) fn retains_values(&self) -> bool {
        !matches!(self.function.name, "count" | "sum" | "avg" | "min" | "max")
    }
}

/// Patterns, as steps in the order in which they run.
#[derive(Debug, Clone, Default)]
pub(super) struct MatchPlan {
    pub(super) steps: Vec<MatchStep>,
    /// The slots that it assigns.
    pub(super) assigned: Vec<SlotIndex>,
}

/// A step of a match.
#[derive(Debug, Clone)]
pub(super) enum MatchStep {
    /// All nodes, those of a label, those that an index has, or those of uids.
    Scan {
        slot: SlotIndex,
        access: NodeAccess,
    },
    Filter(Expression),
    Expand(Hop),
    Walk(Walk),
    /// A relationship that is bound already.
    Bound {
        hop: Hop,
        from_bound: bool,
    },
    Path {
        slot: SlotIndex,
        start: SlotIndex,
        elements: Vec<PathElement>,
    },
    /// The shortest of the matches of other steps, for each two endpoints.
    Shortest {
        steps: Vec<MatchStep>,
        selection: Selection,
    },
}

/// How the nodes are listed that a match begins at.
#[derive(Debug, Clone)]
pub(super) enum NodeAccess {
    All,
    Label(Arc<str>),
    /// The index that has the fewest nodes for one of the conditions, or the label.
    Index {
        label: Option<Arc<str>>,
        seeks: Vec<IndexSeek>,
    },
    Uids(UidSeek),
}

impl NodeAccess {
    /// The label of all nodes that are scanned where no index is used.
    pub(super) fn label(&self) -> Option<&str> {
        match self {
            NodeAccess::All | NodeAccess::Uids(_) => None,
            NodeAccess::Label(label) => Some(label),
            NodeAccess::Index { label, .. } => label.as_deref(),
        }
    }
}

/// A condition on a property that an index may answer.
#[derive(Debug, Clone)]
pub(super) struct IndexSeek {
    pub(super) property: Arc<str>,
    pub(super) test: SeekTest,
}

/// What the value of a property has to be.
#[derive(Debug, Clone)]
pub(super) enum SeekTest {
    Equal(Expression),
    In(Expression),
    /// On the given side of each bound.
    Range(Vec<(Comparison, Expression)>),
    Text(TextTest, Expression),
    Matches(Expression),
    /// A point that is not farther away.
    Near {
        center: Expression,
        metres: Expression,
    },
}

/// The uids of a node: those of a value, or of the items of a list.
#[derive(Debug, Clone)]
pub(super) struct UidSeek {
    /// Whether they are texts, as `elementId` returns them, and not ints.
    pub(super) is_text: bool,
    pub(super) is_list: bool,
    pub(super) value: Expression,
}

/// A relationship from a bound node.
#[derive(Debug, Clone)]
pub(super) struct Hop {
    pub(super) from: SlotIndex,
    pub(super) relationship: SlotIndex,
    pub(super) to: SlotIndex,
    /// Whether the other node is bound already.
    pub(super) to_bound: bool,
    /// As seen from the bound node.
    pub(super) direction: Direction,
    /// The types that pass; `None` for all.
    pub(super) types: Option<Vec<u32>>,
    /// What conditions behind the hop require.
    pub(super) range: Option<Box<HopRange>>,
}

/// Comparisons of a property that a hop binds with values that are there before it. They only
/// leave out relationships: the conditions that they are from are tested all the same.
#[derive(Debug, Clone)]
pub(super) struct HopRange {
    /// Whether it is one of the other node, and not one of the relationship.
    pub(super) is_of_node: bool,
    pub(super) property: Arc<str>,
    /// Each is `property op value`.
    pub(super) bounds: Vec<(CompareOp, Expression)>,
    /// A slot that names it.
    pub(super) own: SlotIndex,
}

/// Relationships in a row. The slot of the hop gets their list.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    pub(super) hop: Hop,
    pub(super) min: u64,
    pub(super) max: u64,
    /// The slot of each relationship while its conditions are tested.
    pub(super) each: SlotIndex,
    pub(super) conditions: Vec<Expression>,
    /// Whether it begins at the right end of the pattern, so that the list is reversed.
    pub(super) is_reversed: bool,
    /// Whether something reads the list.
    pub(super) is_listed: bool,
    /// Which of the walks between two nodes; `None` for all.
    pub(super) shortest: Option<Shortness>,
    /// Whether each node at the end of some walk comes once, however many walks end there.
    pub(super) is_distinct: bool,
}

/// How many of the shortest paths between two nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shortness {
    /// So many paths.
    Paths(u64),
    /// All paths of the so many smallest lengths.
    Groups(u64),
}

/// Which rows are chosen of all matches of a path.
#[derive(Debug, Clone)]
pub(super) struct Selection {
    pub(super) shortness: Shortness,
    pub(super) start: SlotIndex,
    pub(super) end: SlotIndex,
    /// What a match assigns.
    pub(super) retained: Vec<SlotIndex>,
    /// The relationships of the path: their slots hold one or a list.
    pub(super) relationships: Vec<SlotIndex>,
}

/// A part of a path after its first node.
#[derive(Debug, Clone, Copy)]
pub(super) enum PathElement {
    /// One relationship.
    One(SlotIndex),
    /// A list of them.
    List(SlotIndex),
}

/// The index of a variable of a pattern.
pub(super) type VarIndex = usize;

/// Patterns whose matches are joined. Each row is a binding of the retained variables, with a
/// number of matches that have it.
#[derive(Debug, Clone)]
pub(super) struct JoinPlan {
    /// The matches of all patterns count: those of a walk of one or two steps are those of two
    /// patterns.
    pub(super) patterns: Vec<Pattern>,
    /// The slots of the variables that later stages read. Each pattern has these variables.
    pub(super) retained: Vec<SlotIndex>,
    /// The relationships that later stages read. Their endpoints are retained.
    pub(super) relationships: Vec<JoinedRelationship>,
    /// What a value of the only pattern is compared with.
    pub(super) compared: Option<Box<Compared>>,
    /// The slot of the number of matches.
    pub(super) count: SlotIndex,
    /// Whether its rows are listed. Then they are matched one by one where the numbers of matches
    /// are differences, which the join has at its end alone.
    pub(super) is_listed: bool,
    /// The same as stages, one row for each match: what runs where a condition fails for a node
    /// that has no match.
    pub(super) rows: Vec<Stage>,
}

/// A relationship of a join, which its endpoints determine: it has one type and one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JoinedRelationship {
    pub(super) slot: SlotIndex,
    pub(super) type_id: u32,
    /// The slots of its endpoints.
    pub(super) subject: SlotIndex,
    pub(super) object: SlotIndex,
}

/// The conditions of stages that are nothing but filters.
pub(super) fn filter_conditions(stages: &[Stage]) -> Option<Vec<&Expression>> {
    let mut conditions = Vec::with_capacity(stages.len());
    for stage in stages {
        let Stage::Filter(condition) = stage else { return None };
        conditions.push(condition);
    }
    Some(conditions)
}

/// A condition `own op value` between a pattern and another one that has no edge to it.
#[derive(Debug, Clone)]
pub(super) struct Compared {
    /// The other pattern: only its values and their numbers of matches are read.
    pub(super) pattern: Pattern,
    /// Its variable that the value reads, and the value.
    pub(super) slot: SlotIndex,
    pub(super) value: Expression,
    pub(super) op: CompareOp,
    /// The variable of the own value, and that value.
    pub(super) own: (SlotIndex, Expression),
    /// The condition as it is written.
    pub(super) span: Span,
}

impl IndexSeek {
    /// The values that it compares with.
    pub(super) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let (one, other, bounds): (_, _, &[_]) = match &self.test {
            SeekTest::Equal(it)
            | SeekTest::In(it)
            | SeekTest::Text(_, it)
            | SeekTest::Matches(it) => (Some(it), None, &[]),
            SeekTest::Range(bounds) => (None, None, bounds),
            SeekTest::Near { center, metres } => (Some(center), Some(metres), &[]),
        };
        one.into_iter().chain(other).chain(bounds.iter().map(|(_, it)| it))
    }
}

impl Pattern {
    /// The variable of a slot.
    pub(super) fn variable_of(&self, slot: SlotIndex) -> Option<VarIndex> {
        self.variables.iter().position(|it| it.slot == slot)
    }
}

/// Variables, edges and constraints.
#[derive(Debug, Clone, Default)]
pub(super) struct Pattern {
    pub(super) variables: Vec<Variable>,
    pub(super) edges: Vec<Edge>,
    pub(super) constraints: Vec<Constraint>,
}

/// A node of a pattern.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    /// Where conditions read the node.
    pub(super) slot: SlotIndex,
    pub(super) labels: Vec<Arc<str>>,
    /// An index that has the candidates, perhaps with others.
    pub(super) access: Option<NodeAccess>,
    /// Conditions that read no other variable.
    pub(super) conditions: Vec<Expression>,
    pub(super) attached: Vec<Attached>,
}

/// A pattern that has one variable in common with the pattern around it.
#[derive(Debug, Clone)]
pub(super) struct Attached {
    pub(super) pattern: Pattern,
    /// The common variable in the inner pattern.
    pub(super) variable: VarIndex,
    pub(super) kind: AttachedKind,
}

/// What the number of matches of an attached pattern means for a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttachedKind {
    /// The node counts once for each match, and once without any.
    Optional,
    /// The node has to have a match.
    Exists,
    /// The node must not have a match.
    NotExists,
}

/// A relationship of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) from: VarIndex,
    pub(super) to: VarIndex,
    /// The slot of the relationship.
    pub(super) slot: SlotIndex,
    /// The types, in ascending order.
    pub(super) types: Arc<[u32]>,
    /// Whether it is matched against its direction, too.
    pub(super) either: bool,
    /// Whether several relationships between two nodes count as one.
    pub(super) once: bool,
}

/// A step of a join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum JoinStep {
    /// The matches of a variable with one edge are counted for each node of its neighbour.
    Count { leaf: VarIndex, neighbour: VarIndex, edge: Edge },
    /// A variable without edges multiplies the number of matches.
    Multiply(VarIndex),
    /// A variable that is a function of one neighbour, and has the other one as a function, is left
    /// out.
    Compose { variable: VarIndex, from: VarIndex, to: VarIndex },
    /// A variable that is a function of all its neighbours is equal for them.
    Key { variable: VarIndex, members: Vec<VarIndex> },
    /// The triangles of an edge that is matched in either direction are visited once each.
    Triangles { variables: [VarIndex; 3], edge: Edge },
    /// A variable is bound to the nodes that are in the lists of all its bound neighbours.
    Bind { variable: VarIndex, neighbours: Vec<VarIndex> },
}

/// A condition on more than one variable.
#[derive(Debug, Clone)]
pub(super) enum Constraint {
    /// Two relationships of one clause, which may not be the same one: indexes of edges.
    Unique(usize, usize),
    /// Two variables that are different nodes.
    Differ(VarIndex, VarIndex),
    /// There is no such relationship.
    NoEdge(Edge),
}

impl Edge {
    /// The variable at the other end.
    pub(super) fn other(&self, variable: VarIndex) -> VarIndex {
        if self.from == variable { self.to } else { self.from }
    }

    pub(super) fn has(&self, variable: VarIndex) -> bool {
        self.from == variable || self.to == variable
    }

    pub(super) fn is_loop(&self) -> bool {
        self.from == self.to
    }
}
