//! The syntax tree. Chains of operators of one level are lists and not nested, so that only
//! brackets, `CASE` and subqueries make a tree deep, and the lexer bounds those.

use crate::span::Span;

/// A text: one query.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// What the words before the query request.
    pub mode: Mode,
    /// The query.
    pub query: Query,
}

/// What is requested of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Its rows.
    Run,
    /// Its plan: `EXPLAIN`.
    Explain,
    /// Its plan with what each step cost: `PROFILE`.
    Profile,
}

/// Queries joined by `UNION`.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The queries that are joined, at least one.
    pub branches: Vec<SingleQuery>,
    /// What joins them, one fewer.
    pub unions: Vec<Union>,
}

/// What joins two queries.
#[derive(Debug, Clone, PartialEq)]
pub struct Union {
    /// Whether equal rows stay: `UNION ALL`.
    pub all: bool,
    /// Where the word is.
    pub span: Span,
}

/// A list of clauses.
#[derive(Debug, Clone, PartialEq)]
pub struct SingleQuery {
    /// The clauses, at least one, in any order: the analysis checks it.
    pub clauses: Vec<Clause>,
}

/// A clause and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    /// The clause.
    pub kind: ClauseKind,
    /// Where it is.
    pub span: Span,
}

/// A clause.
#[derive(Debug, Clone, PartialEq)]
pub enum ClauseKind {
    /// `MATCH`.
    Match(Match),
    /// `UNWIND list AS name`.
    Unwind(Expr, Name),
    /// `WITH`, and its `WHERE`.
    With(Projection, Option<Expr>),
    /// `LET name = expression, ...`: as `WITH *`, but no item has an aggregate.
    Let(Projection),
    /// `RETURN`.
    Return(Projection),
    /// `CALL name(...)`.
    Procedure(ProcedureCall),
    /// `CALL (imports) { query }`.
    Subquery(Imports, Query),
}

/// `MATCH` with its patterns.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// `OPTIONAL`.
    pub optional: bool,
    /// The patterns, at least one.
    pub paths: Vec<PathPattern>,
    /// `WHERE`.
    pub filter: Option<Expr>,
}

/// `CALL name(arguments) YIELD items WHERE filter`.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcedureCall {
    /// The name with its dots.
    pub name: Name,
    /// The arguments; `None` without brackets.
    pub arguments: Option<Vec<Expr>>,
    /// What is bound.
    pub yields: Yields,
    /// `WHERE`.
    pub filter: Option<Expr>,
}

/// What a call of a procedure binds.
#[derive(Debug, Clone, PartialEq)]
pub enum Yields {
    /// There is no `YIELD`.
    Absent,
    /// `YIELD *`.
    All,
    /// `YIELD field AS name, ...`.
    Items(Vec<(Name, Option<Name>)>),
}

/// What a subquery sees of the variables before it.
#[derive(Debug, Clone, PartialEq)]
pub enum Imports {
    /// `CALL { WITH a ... }`: what its first clause names.
    Leading,
    /// `CALL (*) { ... }`.
    All,
    /// `CALL (a, b) { ... }`.
    Names(Vec<Name>),
}

/// What `WITH` and `RETURN` have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    /// `DISTINCT`.
    pub distinct: bool,
    /// `*`.
    pub star: bool,
    /// The items.
    pub items: Vec<Item>,
    /// `ORDER BY`.
    pub order: Vec<SortItem>,
    /// `SKIP`.
    pub skip: Option<Expr>,
    /// `LIMIT`.
    pub limit: Option<Expr>,
}

/// An item of a projection.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// What is computed.
    pub expr: Expr,
    /// Its name.
    pub alias: Option<Name>,
    /// Where the expression is, with brackets around it: an item without a name is called as it is
    /// written.
    pub written: Span,
}

impl Item {
    /// The name of its column: the alias, the name of a variable, or the expression as it is
    /// written in the text.
    pub(crate) fn column_name<'a>(&'a self, text: &'a str) -> &'a str {
        match (&self.alias, &self.expr.kind) {
            (Some(alias), _) => &alias.text,
            (None, ExprKind::Variable(name)) => name,
            (None, _) => self.written.of(text),
        }
    }
}

/// A key of an order.
#[derive(Debug, Clone, PartialEq)]
pub struct SortItem {
    /// What is compared.
    pub expr: Expr,
    /// `DESC`.
    pub descending: bool,
    /// Where nulls are, if the text says it: `NULLS FIRST`, which is true, or `NULLS LAST`.
    pub nulls_first: Option<bool>,
}

/// A name and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Name {
    /// The name, without backticks.
    pub text: Box<str>,
    /// Where it is.
    pub span: Span,
}

/// A path of nodes and relationships.
#[derive(Debug, Clone, PartialEq)]
pub struct PathPattern {
    /// `name =`.
    pub variable: Option<Name>,
    /// Which of the paths between two nodes match.
    pub selector: Selector,
    /// The first node.
    pub start: NodePattern,
    /// Each relationship with the node after it.
    pub steps: Vec<(RelationshipPattern, NodePattern)>,
    /// Where it is.
    pub span: Span,
}

/// Which of the paths between two nodes match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selector {
    /// All.
    All,
    /// `shortestPath(...)`.
    ShortestPath,
    /// `allShortestPaths(...)`.
    AllShortestPaths,
    /// `ANY SHORTEST`.
    AnyShortest,
    /// `ALL SHORTEST`.
    AllShortest,
    /// `SHORTEST k`.
    Shortest(u64),
    /// `SHORTEST k GROUPS`.
    ShortestGroups(u64),
}

/// `(variable:labels {properties} WHERE filter)`.
#[derive(Debug, Clone, PartialEq)]
pub struct NodePattern {
    /// The variable.
    pub variable: Option<Name>,
    /// The labels.
    pub labels: Option<LabelExpr>,
    /// A map or a parameter.
    pub properties: Option<Box<Expr>>,
    /// `WHERE`.
    pub filter: Option<Box<Expr>>,
    /// Where it is.
    pub span: Span,
}

/// `-[variable:types*min..max {properties} WHERE filter]->`.
#[derive(Debug, Clone, PartialEq)]
pub struct RelationshipPattern {
    /// The variable.
    pub variable: Option<Name>,
    /// The types.
    pub types: Option<LabelExpr>,
    /// How many relationships in a row; `None` for one.
    pub length: Option<Length>,
    /// A map or a parameter.
    pub properties: Option<Box<Expr>>,
    /// `WHERE`.
    pub filter: Option<Box<Expr>>,
    /// The direction.
    pub direction: Direction,
    /// Where it is.
    pub span: Span,
}

/// How many relationships in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    /// The fewest, if it is written.
    pub min: Option<u64>,
    /// The most, if it is written.
    pub max: Option<u64>,
    /// Whether it is a quantifier after the relationship, as in GQL: there the fewest are 0 and not
    /// 1 where it is not written.
    pub quantifier: bool,
}

/// The direction of a relationship, as seen from the node on its left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// `-->`.
    Out,
    /// `<--`.
    In,
    /// `--` or `<-->`.
    Either,
}

/// A condition on labels or types.
#[derive(Debug, Clone, PartialEq)]
pub enum LabelExpr {
    /// `A`.
    Label(Name),
    /// `%`: any label.
    Any(Span),
    /// `!A`.
    Not(Box<LabelExpr>),
    /// `A&B` or `A:B`.
    And(Vec<LabelExpr>),
    /// `A|B`.
    Or(Vec<LabelExpr>),
}

/// An expression and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// The expression.
    pub kind: ExprKind,
    /// Where it is, without brackets around it.
    pub span: Span,
}

impl Expr {
    /// The name, where the expression is a variable.
    pub fn variable(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::Variable(name) => Some(name),
            _ => None,
        }
    }
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// `null`.
    Null,
    /// `true`, `false`.
    Boolean(bool),
    /// An integer without a sign; what it may be is checked by the analysis.
    Integer(u64),
    /// A float.
    Float(f64),
    /// A string.
    String(Box<str>),
    /// `$name`.
    Parameter(Box<str>),
    /// A variable.
    Variable(Box<str>),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `{a: 1}`.
    Map(Vec<(Name, Expr)>),
    /// `a OR b`, at least two.
    Or(Vec<Expr>),
    /// `a XOR b`, at least two.
    Xor(Vec<Expr>),
    /// `a AND b`, at least two.
    And(Vec<Expr>),
    /// `NOT a`.
    Not(Box<Expr>),
    /// `a < b <= c`: each is compared with the one before.
    Compare(Box<Expr>, Vec<(CompareOp, Expr)>),
    /// `a IN b IS NULL`: tests one after the other.
    Test(Box<Expr>, Vec<Test>),
    /// `a + b - c`, operators of one level, from left to right.
    Arithmetic(Box<Expr>, Vec<(ArithmeticOp, Expr)>),
    /// `-a`, which is true, and `+a`.
    Signed(bool, Box<Expr>),
    /// `a.b[1][2..3]`.
    Access(Box<Expr>, Vec<Access>),
    /// `a:Label`.
    HasLabels(Box<Expr>, LabelExpr),
    /// `name(DISTINCT a, b)`.
    Call(Call),
    /// `count(*)`.
    CountStar,
    /// `CASE subject WHEN a THEN b ELSE c END`.
    Case(Box<Case>),
    /// `[x IN list WHERE filter | result]`.
    ListComprehension(Box<ListComprehension>),
    /// `[path WHERE filter | result]`.
    PatternComprehension(Box<PatternComprehension>),
    /// `all(x IN list WHERE filter)`.
    Quantifier(QuantifierKind, Box<ListComprehension>),
    /// `reduce(total = 0, x IN list | total + x)`.
    Reduce(Box<Reduce>),
    /// A pattern that is true where it matches.
    Pattern(Box<PathPattern>),
    /// `EXISTS { ... }` and the like.
    Subquery(SubqueryKind, Box<SubqueryBody>),
    /// `n {.name, .*, other: 1, x}`.
    MapProjection(Name, Vec<MapItem>),
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompareOp {
    /// `=`.
    Equal,
    /// `<>`.
    Unequal,
    /// `<`.
    Less,
    /// `<=`.
    LessEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterEqual,
}

/// An operator of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArithmeticOp {
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
    /// `||`, which joins strings and lists.
    Concatenate,
}

/// A test of one value.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// `STARTS WITH`.
    StartsWith(Expr),
    /// `ENDS WITH`.
    EndsWith(Expr),
    /// `CONTAINS`.
    Contains(Expr),
    /// `=~`.
    Matches(Expr),
    /// `IN`.
    In(Expr),
    /// `IS NULL`, and `IS NOT NULL`, which is true.
    IsNull(bool),
    /// `IS :: type`; with `NOT` it is true.
    IsType(bool, TypeName),
}

/// The name of a type of values.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeName {
    /// One or more words.
    Simple(Name),
    /// `LIST<type>`.
    List(Box<TypeName>),
    /// `type NOT NULL`.
    NotNull(Box<TypeName>),
}

/// A step into a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Access {
    /// `.key`.
    Property(Name),
    /// `[index]`.
    Index(Expr),
    /// `[from..to]`.
    Slice(Option<Expr>, Option<Expr>),
}

/// A call of a function.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The name with its dots.
    pub name: Name,
    /// `DISTINCT`.
    pub distinct: bool,
    /// The arguments.
    pub arguments: Vec<Expr>,
}

/// Both forms of `CASE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// What the branches are compared with, in the simple form.
    pub subject: Option<Expr>,
    /// `WHEN ... THEN ...`, at least one.
    pub branches: Vec<(Expr, Expr)>,
    /// `ELSE`.
    pub otherwise: Option<Expr>,
}

/// A variable that runs over a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListComprehension {
    /// The variable.
    pub variable: Name,
    /// The list.
    pub list: Expr,
    /// `WHERE`.
    pub filter: Option<Expr>,
    /// Behind `|`.
    pub result: Option<Expr>,
}

/// A pattern, and what each match of it gives.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternComprehension {
    /// The pattern.
    pub path: PathPattern,
    /// `WHERE`.
    pub filter: Option<Expr>,
    /// Behind `|`.
    pub result: Expr,
}

/// For how many elements a condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuantifierKind {
    /// `all`.
    All,
    /// `any`.
    Any,
    /// `none`.
    None,
    /// `single`.
    Single,
}

/// `reduce(accumulator = start, variable IN list | step)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Reduce {
    /// The name of the value that is carried along.
    pub accumulator: Name,
    /// Its first value.
    pub start: Expr,
    /// The variable that runs over the list.
    pub variable: Name,
    /// The list.
    pub list: Expr,
    /// The next value.
    pub step: Expr,
}

/// What is made of the rows of a subquery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubqueryKind {
    /// `EXISTS`.
    Exists,
    /// `COUNT`.
    Count,
    /// `COLLECT`.
    Collect,
}

/// What is between the braces.
#[derive(Debug, Clone, PartialEq)]
pub enum SubqueryBody {
    /// Patterns, and `WHERE`.
    Patterns(Vec<PathPattern>, Option<Expr>),
    /// A query.
    Query(Query),
}

/// An item of a map projection.
#[derive(Debug, Clone, PartialEq)]
pub enum MapItem {
    /// `.*`.
    All,
    /// `.key`.
    Property(Name),
    /// `key: value`.
    Entry(Name, Expr),
    /// `variable`.
    Variable(Name),
}
