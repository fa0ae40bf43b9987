//! The syntax tree of a text, as the grammar produces it: no name is resolved and no rule is
//! checked yet. Positions are byte offsets in the text.

use crate::syntax::token::{FieldFunction, RdfKind, Text};
use hexgraph_base::plan::MathFunction;

/// One operation of a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operation {
    /// `{ blocks }`.
    Blocks(Vec<Block>),
    /// `query name($a: int) { blocks }`.
    Query(QueryOperation),
    /// `fragment name { items }`.
    Fragment(Fragment),
    /// `schema(pred: [...]) { fields }`.
    Schema(SchemaBlock),
    /// `{ set {...} delete {...} }`.
    Mutation(Vec<Rdf>),
    /// `upsert { query, fragments and mutations }`.
    Upsert(Vec<UpsertPart>),
    /// A text that is only `@if(...)`; `None` when its brackets are empty.
    Condition(Option<Condition>),
}

/// `query name($a: int) { blocks }`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryOperation {
    /// Where the word `query` is.
    pub at: u32,
    /// The name.
    pub name: Option<Text>,
    /// The declarations of `$variables`; `None` when the query has no brackets after its name.
    pub declarations: Option<Vec<Declaration>>,
    /// The blocks.
    pub blocks: Vec<Block>,
}

/// `$a: int! = 3`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Declaration {
    /// `$a`.
    pub name: Text,
    /// `int`.
    pub type_name: Text,
    /// True when a `!` marks the variable as required.
    pub required: bool,
    /// The default value after `=`.
    pub default: Option<Text>,
}

/// `fragment name { items }`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fragment {
    /// The name.
    pub name: Text,
    /// The items.
    pub items: Vec<Item>,
}

/// `schema(pred: [...]) { fields }`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SchemaBlock {
    /// Where the word `schema` is.
    pub at: u32,
    /// The argument in brackets, which selects predicates or types.
    pub argument: Option<Argument>,
    /// The properties to list.
    pub fields: Vec<Text>,
}

/// `set { ... }` or `delete { ... }`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rdf {
    /// Whether the statements are set or deleted.
    pub kind: RdfKind,
    /// The text between the braces, which is not parsed yet.
    pub body: Text,
}

/// One part of an upsert block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum UpsertPart {
    /// The query.
    Query(QueryOperation),
    /// A fragment that the query uses.
    Fragment(Fragment),
    /// `mutation @if(...) { ... }`; the condition is `None` without `@if`.
    Mutation(Option<Option<Condition>>, Vec<Rdf>),
}

/// A root block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    /// The variable before `as`.
    pub var: Option<Text>,
    /// The name.
    pub name: Text,
    /// The arguments in brackets.
    pub arguments: Vec<Argument>,
    /// The directives.
    pub directives: Vec<Suffix>,
    /// The selection; `None` when the block has no braces.
    pub body: Option<Vec<Item>>,
}

/// `key: value`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Argument {
    /// The key.
    pub key: Text,
    /// The value.
    pub value: Value,
}

/// The value of an argument.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// A name or number, perhaps with languages.
    Word(Text, Option<Text>),
    /// A string.
    Quoted(Text),
    /// `$name`.
    Variable(Text),
    /// `/pattern/flags`.
    Regex(Text),
    /// A function.
    Call(Call),
    /// `[a, b]`, with the offset of the opening bracket.
    List(u32, Vec<Value>),
    /// `name: value`.
    Named(Box<Argument>),
}

/// `name(arguments)`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    /// The name.
    pub name: Text,
    /// The arguments.
    pub arguments: Vec<Value>,
}

/// A filter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Condition {
    /// All of the conditions.
    And(Vec<Condition>),
    /// At least one of the conditions.
    Or(Vec<Condition>),
    /// The negation of the condition.
    Not(Box<Condition>),
    /// A function.
    Call(Call),
}

/// One item of a selection.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Item {
    /// `...name`.
    Spread(Text),
    /// A field.
    Field(FieldItem),
}

/// A field as written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FieldItem {
    /// Where it starts.
    pub at: u32,
    /// The variable and the alias before it.
    pub prefix: Prefix,
    /// What it requests.
    pub head: Head,
    /// The arguments, directives and selections after it, in the order of the text.
    pub suffixes: Vec<Suffix>,
}

/// `var as alias:` before a field.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Prefix {
    /// The variable before `as`.
    pub var: Option<Text>,
    /// The alias before `:`.
    pub alias: Option<Text>,
}

/// What a field requests.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Head {
    /// A predicate or `uid`.
    Predicate(Text),
    /// `count(...)`.
    Count(Box<Counted>),
    /// `val(...)`, `expand(...)`, an aggregate or `checkpwd(...)`.
    Call(FieldFunction, Vec<Value>),
    /// `math(...)`; `None` when its brackets are empty.
    Math(Option<Box<MathSequence>>),
}

/// The argument of `count(...)`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Counted {
    /// Empty brackets.
    Nothing,
    /// A predicate or `uid`, with what follows it inside the brackets.
    Predicate(Text, Vec<Suffix>),
    /// A function, which is an error.
    Call,
    /// `distinct` and what has the values: a predicate, or a variable as `val(x)`.
    Distinct(Value),
}

/// A part that may follow a field or the brackets of a block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Suffix {
    /// `@en:fr`.
    Langs(Text),
    /// `(first: 1)`.
    Arguments(Vec<Argument>),
    /// `{ items }`.
    Body(Vec<Item>),
    /// Any other directive, with the offset of its `@`.
    Directive(u32, Directive),
}

/// A directive. Lists of languages are not among them, though they begin with `@` as well.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Directive {
    /// `@filter(...)`.
    Filter(Option<Condition>),
    /// `@cascade` or `@cascade(names)`.
    Cascade(Option<Vec<Text>>),
    /// `@normalize`.
    Normalize,
    /// `@ignorereflex`.
    IgnoreReflex,
    /// `@recurse` or `@recurse(arguments)`.
    Recurse(Vec<Argument>),
    /// `@groupby(keys)`.
    GroupBy(Vec<GroupKey>),
    /// `@facets`.
    Facets,
    /// `@facets(list)`.
    FacetList(Vec<FacetItem>),
    /// `@facets(condition)`.
    FacetFilter(Option<Condition>),
}

/// One key of `@groupby`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GroupKey {
    /// The alias.
    pub alias: Option<Text>,
    /// The predicate.
    pub name: Text,
    /// The languages.
    pub langs: Option<Text>,
}

/// One item of `@facets(list)`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FacetItem {
    /// The alias, or `orderasc` or `orderdesc`.
    pub alias: Option<Text>,
    /// The variable.
    pub var: Option<Text>,
    /// The facet.
    pub name: Text,
}

/// Operands with operators between them, in the order of the text. Lowering groups them by the
/// precedence of the operators.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MathSequence {
    /// The first operand.
    pub first: MathOperand,
    /// The others, each with the operator before it.
    pub rest: Vec<(MathFunction, MathOperand)>,
}

/// An operand of `math`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum MathOperand {
    /// A number or a variable.
    Name(Text),
    /// `$name`.
    Variable(Text),
    /// `(...)`.
    Group(Box<MathSequence>),
    /// `name(...)`.
    Call(Text, Vec<MathSequence>),
    /// `-operand`.
    Negate(Box<MathOperand>),
}

/// Returns the list that begins with `first` and continues with `rest`.
pub(crate) fn joined<T>(first: T, mut rest: Vec<T>) -> Vec<T> {
    rest.insert(0, first);
    rest
}
