//! The functions: one row for each, which the analysis and the evaluation read.

use super::kinds::{Kind, Kinds};
use hexgraph_base::types::nearest;

/// A function of Cypher.
#[derive(Debug, PartialEq)]
pub(super) struct Function {
    /// The name as the manual writes it; calls ignore case.
    pub(super) name: &'static str,
    /// The fewest arguments.
    pub(super) least: usize,
    /// The most arguments.
    pub(super) most: usize,
    /// What each argument may be; the last row is for all that follow.
    pub(super) arguments: &'static [Kinds],
    returns: Returns,
    /// What is special about it.
    pub(super) role: Role,
}

/// What distinguishes a function from those that compute a value of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The same arguments give the same value.
    Scalar,
    /// It needs the graph of its argument.
    Graph,
    /// It computes one value of a group of rows.
    Aggregate,
    /// Each call gives another value.
    Volatile,
}

/// The kind of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Returns {
    Any,
    Boolean,
    Integer,
    Float,
    String,
    Temporal,
    Point,
    Map,
    Node,
    Strings,
    Integers,
    Nodes,
    Relationships,
    List,
    /// A list of what the argument is.
    Collected,
    /// The kind of the first argument.
    Argument,
    /// The kind of an element of the first argument.
    Element,
    /// The kind that all arguments have.
    Joined,
}

impl Function {
    /// Finds a function; case does not count.
    pub(super) fn named(name: &str) -> Option<&'static Function> {
        FUNCTIONS.iter().find(|it| it.name.eq_ignore_ascii_case(name))
    }

    /// The name of a function that was probably meant.
    pub(super) fn near(name: &str) -> Option<&'static str> {
        let lower = name.to_ascii_lowercase();
        let lowered: Vec<String> =
            FUNCTIONS.iter().map(|it| it.name.to_ascii_lowercase()).collect();
        let near = nearest(&lower, lowered.iter().map(String::as_str))?;
        Function::named(near).map(|it| it.name)
    }

    /// The kind of the result for arguments of these kinds.
    pub(super) fn result(&self, arguments: &[Kind]) -> Kind {
        let first = || arguments.first().cloned().unwrap_or(Kind::Any);
        match self.returns {
            Returns::Any => Kind::Any,
            Returns::Boolean => Kind::Boolean,
            Returns::Integer => Kind::Integer,
            Returns::Float => Kind::Float,
            Returns::String => Kind::String,
            Returns::Temporal => Kind::Temporal,
            Returns::Point => Kind::Point,
            Returns::Map => Kind::Map,
            Returns::Node => Kind::Node,
            Returns::Strings => Kind::list(Kind::String),
            Returns::Integers => Kind::list(Kind::Integer),
            Returns::Nodes => Kind::list(Kind::Node),
            Returns::Relationships => Kind::list(Kind::Relationship),
            Returns::List => Kind::list(Kind::Any),
            Returns::Collected => Kind::list(first()),
            Returns::Argument => first(),
            Returns::Element => first().element(),
            Returns::Joined => arguments.iter().cloned().fold(Kind::Null, Kind::join),
        }
    }
}

const fn row(
    name: &'static str,
    (least, most): (usize, usize),
    arguments: &'static [Kinds],
    returns: Returns,
) -> Function {
    Function { name, least, most, arguments, returns, role: Role::Scalar }
}

const fn graph(name: &'static str, arguments: &'static [Kinds], returns: Returns) -> Function {
    Function { role: Role::Graph, ..row(name, (1, 1), arguments, returns) }
}

const fn aggregate(name: &'static str, arguments: &'static [Kinds], returns: Returns) -> Function {
    let count = arguments.len();
    Function { role: Role::Aggregate, ..row(name, (count, count), arguments, returns) }
}

const fn volatile(name: &'static str, returns: Returns) -> Function {
    Function { role: Role::Volatile, ..row(name, (0, 0), &[], returns) }
}

/// No bound on the number of arguments.
const MANY: usize = usize::MAX;

const ANY: Kinds = Kinds::ANY;
const NUMBER: Kinds = Kinds::NUMBER;
const INTEGER: Kinds = Kinds::INTEGER;
const STRING: Kinds = Kinds::STRING;
const LIST: Kinds = Kinds::LIST;
const MAP: Kinds = Kinds::MAP;
const POINT: Kinds = Kinds::POINT;
const TEMPORAL: Kinds = Kinds::TEMPORAL;
const SUMMED: Kinds = NUMBER.or(TEMPORAL);
const CREATED: Kinds = MAP.or(STRING).or(TEMPORAL);
const COUNTED: Kinds = STRING.or(LIST);
const SIZED: Kinds = COUNTED.or(MAP);
const CONVERTED: Kinds = STRING.or(NUMBER).or(Kinds::BOOLEAN);
const WRITTEN: Kinds = CONVERTED.or(TEMPORAL).or(POINT);

use Returns as R;

/// All functions.
static FUNCTIONS: &[Function] = &[
    aggregate("count", &[ANY], R::Integer),
    aggregate("sum", &[SUMMED], R::Any),
    aggregate("avg", &[SUMMED], R::Any),
    aggregate("min", &[ANY], R::Argument),
    aggregate("max", &[ANY], R::Argument),
    aggregate("collect", &[ANY], R::Collected),
    aggregate("stDev", &[NUMBER], R::Float),
    aggregate("stDevP", &[NUMBER], R::Float),
    aggregate("percentileCont", &[NUMBER, NUMBER], R::Float),
    aggregate("percentileDisc", &[NUMBER, NUMBER], R::Any),
    graph("id", &[Kinds::ELEMENT], R::Integer),
    graph("elementId", &[Kinds::ELEMENT], R::String),
    graph("labels", &[Kinds::NODE], R::Strings),
    graph("type", &[Kinds::RELATIONSHIP], R::String),
    graph("properties", &[Kinds::KEYED], R::Map),
    graph("keys", &[Kinds::KEYED], R::Strings),
    graph("startNode", &[Kinds::RELATIONSHIP], R::Node),
    graph("endNode", &[Kinds::RELATIONSHIP], R::Node),
    graph("nodes", &[Kinds::PATH], R::Nodes),
    graph("relationships", &[Kinds::PATH], R::Relationships),
    graph("length", &[Kinds::PATH], R::Integer),
    graph("exists", &[ANY], R::Boolean),
    volatile("rand", R::Float),
    volatile("randomUUID", R::String),
    row("coalesce", (1, MANY), &[ANY], R::Joined),
    row("nullIf", (2, 2), &[ANY], R::Argument),
    row("valueType", (1, 1), &[ANY], R::String),
    row("toBoolean", (1, 1), &[CONVERTED], R::Boolean),
    row("toBooleanOrNull", (1, 1), &[ANY], R::Boolean),
    row("toFloat", (1, 1), &[CONVERTED], R::Float),
    row("toFloatOrNull", (1, 1), &[ANY], R::Float),
    row("toInteger", (1, 1), &[CONVERTED], R::Integer),
    row("toIntegerOrNull", (1, 1), &[ANY], R::Integer),
    row("toString", (1, 1), &[WRITTEN], R::String),
    row("toStringOrNull", (1, 1), &[ANY], R::String),
    row("toBooleanList", (1, 1), &[LIST], R::List),
    row("toFloatList", (1, 1), &[LIST], R::List),
    row("toIntegerList", (1, 1), &[LIST], R::List),
    row("toStringList", (1, 1), &[LIST], R::List),
    row("head", (1, 1), &[LIST], R::Element),
    row("last", (1, 1), &[LIST], R::Element),
    row("tail", (1, 1), &[LIST], R::Argument),
    row("range", (2, 3), &[INTEGER], R::Integers),
    row("reverse", (1, 1), &[COUNTED], R::Argument),
    row("size", (1, 1), &[COUNTED], R::Integer),
    row("isEmpty", (1, 1), &[SIZED], R::Boolean),
    row("abs", (1, 1), &[NUMBER], R::Argument),
    row("ceil", (1, 1), &[NUMBER], R::Float),
    row("floor", (1, 1), &[NUMBER], R::Float),
    row("round", (1, 3), &[NUMBER, NUMBER, STRING], R::Float),
    row("sign", (1, 1), &[NUMBER], R::Integer),
    row("isNaN", (1, 1), &[NUMBER], R::Boolean),
    row("e", (0, 0), &[], R::Float),
    row("exp", (1, 1), &[NUMBER], R::Float),
    row("log", (1, 1), &[NUMBER], R::Float),
    row("log10", (1, 1), &[NUMBER], R::Float),
    row("sqrt", (1, 1), &[NUMBER], R::Float),
    row("acos", (1, 1), &[NUMBER], R::Float),
    row("asin", (1, 1), &[NUMBER], R::Float),
    row("atan", (1, 1), &[NUMBER], R::Float),
    row("atan2", (2, 2), &[NUMBER], R::Float),
    row("cos", (1, 1), &[NUMBER], R::Float),
    row("cosh", (1, 1), &[NUMBER], R::Float),
    row("cot", (1, 1), &[NUMBER], R::Float),
    row("coth", (1, 1), &[NUMBER], R::Float),
    row("degrees", (1, 1), &[NUMBER], R::Float),
    row("haversin", (1, 1), &[NUMBER], R::Float),
    row("pi", (0, 0), &[], R::Float),
    row("radians", (1, 1), &[NUMBER], R::Float),
    row("sin", (1, 1), &[NUMBER], R::Float),
    row("sinh", (1, 1), &[NUMBER], R::Float),
    row("tan", (1, 1), &[NUMBER], R::Float),
    row("tanh", (1, 1), &[NUMBER], R::Float),
    row("left", (2, 2), &[STRING, INTEGER], R::String),
    row("right", (2, 2), &[STRING, INTEGER], R::String),
    row("lTrim", (1, 2), &[STRING], R::String),
    row("rTrim", (1, 2), &[STRING], R::String),
    row("bTrim", (1, 2), &[STRING], R::String),
    row("trim", (1, 1), &[STRING], R::String),
    row("replace", (3, 3), &[STRING], R::String),
    row("split", (2, 2), &[STRING, COUNTED], R::Strings),
    row("substring", (2, 3), &[STRING, INTEGER], R::String),
    row("toLower", (1, 1), &[STRING], R::String),
    row("lower", (1, 1), &[STRING], R::String),
    row("toUpper", (1, 1), &[STRING], R::String),
    row("upper", (1, 1), &[STRING], R::String),
    row("normalize", (1, 2), &[STRING], R::String),
    row("char_length", (1, 1), &[STRING], R::Integer),
    row("character_length", (1, 1), &[STRING], R::Integer),
    row("timestamp", (0, 0), &[], R::Integer),
    row("date", (0, 1), &[CREATED], R::Temporal),
    row("date.transaction", (0, 1), &[CREATED], R::Temporal),
    row("date.statement", (0, 1), &[CREATED], R::Temporal),
    row("date.realtime", (0, 1), &[CREATED], R::Temporal),
    row("date.truncate", (1, 3), &[STRING, TEMPORAL, MAP], R::Temporal),
    row("time", (0, 1), &[CREATED], R::Temporal),
    row("time.transaction", (0, 1), &[CREATED], R::Temporal),
    row("time.statement", (0, 1), &[CREATED], R::Temporal),
    row("time.realtime", (0, 1), &[CREATED], R::Temporal),
    row("time.truncate", (1, 3), &[STRING, TEMPORAL, MAP], R::Temporal),
    row("localtime", (0, 1), &[CREATED], R::Temporal),
    row("localtime.transaction", (0, 1), &[CREATED], R::Temporal),
    row("localtime.statement", (0, 1), &[CREATED], R::Temporal),
    row("localtime.realtime", (0, 1), &[CREATED], R::Temporal),
    row("localtime.truncate", (1, 3), &[STRING, TEMPORAL, MAP], R::Temporal),
    row("datetime", (0, 1), &[CREATED], R::Temporal),
    row("datetime.transaction", (0, 1), &[CREATED], R::Temporal),
    row("datetime.statement", (0, 1), &[CREATED], R::Temporal),
    row("datetime.realtime", (0, 1), &[CREATED], R::Temporal),
    row("datetime.truncate", (1, 3), &[STRING, TEMPORAL, MAP], R::Temporal),
    row("datetime.fromepoch", (2, 2), &[NUMBER], R::Temporal),
    row("datetime.fromepochmillis", (1, 1), &[NUMBER], R::Temporal),
    row("localdatetime", (0, 1), &[CREATED], R::Temporal),
    row("localdatetime.transaction", (0, 1), &[CREATED], R::Temporal),
    row("localdatetime.statement", (0, 1), &[CREATED], R::Temporal),
    row("localdatetime.realtime", (0, 1), &[CREATED], R::Temporal),
    row("localdatetime.truncate", (1, 3), &[STRING, TEMPORAL, MAP], R::Temporal),
    row("duration", (1, 1), &[CREATED], R::Temporal),
    row("duration.between", (2, 2), &[TEMPORAL], R::Temporal),
    row("duration.inMonths", (2, 2), &[TEMPORAL], R::Temporal),
    row("duration.inDays", (2, 2), &[TEMPORAL], R::Temporal),
    row("duration.inSeconds", (2, 2), &[TEMPORAL], R::Temporal),
    row("point", (1, 1), &[MAP], R::Point),
    row("point.distance", (2, 2), &[POINT], R::Float),
    row("point.withinBBox", (3, 3), &[POINT], R::Boolean),
    row("distance", (2, 2), &[POINT], R::Float),
];
