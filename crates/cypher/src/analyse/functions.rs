//! The functions: the table of their evaluation, with the kinds of arguments and results, and the
//! aggregates.

use super::kinds::{Kind, Kinds};
use hexgraph_base::types::nearest;
use hexgraph_scalar::FUNCTIONS;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// A function of Cypher.
#[derive(Debug)]
pub(super) struct Signature {
    /// The name as it is written in Cypher; calls may have it in any case.
    pub(super) name: &'static str,
    /// The fewest arguments.
    pub(super) least: usize,
    /// The most arguments.
    pub(super) most: usize,
    /// What it does, in a line.
    pub(super) doc: &'static str,
    /// What each argument may be; the last one is for all that follow.
    arguments: &'static [Kinds],
    returns: Returns,
    /// Whether it computes one value of a group of rows.
    pub(super) is_aggregate: bool,
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

impl Signature {
    /// Finds a function; case does not count.
    pub(super) fn named(name: &str) -> Option<&'static Signature> {
        SIGNATURES.get(&name.to_lowercase())
    }

    /// The name of a function that was probably meant.
    pub(super) fn near(name: &str) -> Option<&'static str> {
        let near = nearest(&name.to_lowercase(), SIGNATURES.keys().map(String::as_str))?;
        Signature::named(near).map(|it| it.name)
    }

    /// What the argument at an index may be.
    pub(super) fn argument(&self, index: usize) -> Kinds {
        let expected = self.arguments.get(index).or(self.arguments.last());
        expected.copied().unwrap_or(Kinds::ANY)
    }

    /// Whether each call gives another value.
    pub(super) fn is_volatile(&self) -> bool {
        self.name == "rand"
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

/// All functions and aggregates, by their names in lower case.
static SIGNATURES: LazyLock<FxHashMap<String, Signature>> = LazyLock::new(|| {
    let kinds: FxHashMap<&str, _> =
        KINDS.iter().map(|&(name, arguments, returns)| (name, (arguments, returns))).collect();
    let scalars = FUNCTIONS.iter().map(|function| {
        let (arguments, returns) = kinds.get(function.name).copied().unwrap_or((&[], R::Any));
        Signature {
            name: function.name,
            least: function.arguments_min,
            most: function.arguments_max,
            doc: function.doc,
            arguments,
            returns,
            is_aggregate: false,
        }
    });
    let aggregates = AGGREGATES.iter().map(|&(name, arguments, returns, doc)| Signature {
        name,
        least: arguments.len(),
        most: arguments.len(),
        doc,
        arguments,
        returns,
        is_aggregate: true,
    });
    scalars.chain(aggregates).map(|it| (it.name.to_lowercase(), it)).collect()
});

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

/// The aggregates.
#[rustfmt::skip]
static AGGREGATES: &[(&str, &[Kinds], Returns, &str)] = &[
    ("count", &[ANY], R::Integer, "count(value): how many rows have a value"),
    ("sum", &[SUMMED], R::Any, "sum(value): the sum of numbers or durations"),
    ("avg", &[SUMMED], R::Any, "avg(value): the mean of numbers or durations"),
    ("min", &[ANY], R::Argument, "min(value): the smallest value"),
    ("max", &[ANY], R::Argument, "max(value): the largest value"),
    ("collect", &[ANY], R::Collected, "collect(value): a list of the values that are not null"),
    ("stDev", &[NUMBER], R::Float, "stDev(value): the standard deviation of a sample"),
    ("stDevP", &[NUMBER], R::Float, "stDevP(value): the standard deviation of a population"),
    ("percentileCont", &[NUMBER, NUMBER], R::Float, "percentileCont(value, part): the percentile, between two values where none is exact; 0.5 is the median"),
    ("percentileDisc", &[NUMBER, NUMBER], R::Any, "percentileDisc(value, part): the nearest value to the percentile; 0.5 is the median"),
];

/// The kinds of the arguments and of the result of each function of the table of their evaluation.
#[rustfmt::skip]
static KINDS: &[(&str, &[Kinds], Returns)] = &[
    ("id", &[Kinds::ELEMENT], R::Integer),
    ("elementId", &[Kinds::ELEMENT], R::String),
    ("labels", &[Kinds::NODE], R::Strings),
    ("type", &[Kinds::RELATIONSHIP], R::String),
    ("properties", &[Kinds::KEYED], R::Map),
    ("keys", &[Kinds::KEYED], R::Strings),
    ("startNode", &[Kinds::RELATIONSHIP], R::Node),
    ("endNode", &[Kinds::RELATIONSHIP], R::Node),
    ("nodes", &[Kinds::PATH], R::Nodes),
    ("relationships", &[Kinds::PATH], R::Relationships),
    ("length", &[Kinds::PATH], R::Integer),
    ("exists", &[ANY], R::Boolean),
    ("rand", &[], R::Float),
    ("coalesce", &[ANY], R::Joined),
    ("nullIf", &[ANY], R::Argument),
    ("valueType", &[ANY], R::String),
    ("toBoolean", &[CONVERTED], R::Boolean),
    ("toBooleanOrNull", &[ANY], R::Boolean),
    ("toFloat", &[CONVERTED], R::Float),
    ("toFloatOrNull", &[ANY], R::Float),
    ("toInteger", &[CONVERTED], R::Integer),
    ("toIntegerOrNull", &[ANY], R::Integer),
    ("toString", &[WRITTEN], R::String),
    ("toStringOrNull", &[ANY], R::String),
    ("toBooleanList", &[LIST], R::List),
    ("toFloatList", &[LIST], R::List),
    ("toIntegerList", &[LIST], R::List),
    ("toStringList", &[LIST], R::List),
    ("head", &[LIST], R::Element),
    ("last", &[LIST], R::Element),
    ("tail", &[LIST], R::Argument),
    ("range", &[INTEGER], R::Integers),
    ("reverse", &[COUNTED], R::Argument),
    ("size", &[SIZED], R::Integer),
    ("isEmpty", &[SIZED], R::Boolean),
    ("abs", &[NUMBER], R::Argument),
    ("ceil", &[NUMBER], R::Float),
    ("floor", &[NUMBER], R::Float),
    ("round", &[NUMBER, NUMBER, STRING], R::Float),
    ("sign", &[NUMBER], R::Integer),
    ("isNaN", &[NUMBER], R::Boolean),
    ("e", &[], R::Float),
    ("exp", &[NUMBER], R::Float),
    ("log", &[NUMBER], R::Float),
    ("log10", &[NUMBER], R::Float),
    ("sqrt", &[NUMBER], R::Float),
    ("acos", &[NUMBER], R::Float),
    ("asin", &[NUMBER], R::Float),
    ("atan", &[NUMBER], R::Float),
    ("atan2", &[NUMBER], R::Float),
    ("cos", &[NUMBER], R::Float),
    ("cosh", &[NUMBER], R::Float),
    ("cot", &[NUMBER], R::Float),
    ("coth", &[NUMBER], R::Float),
    ("degrees", &[NUMBER], R::Float),
    ("haversin", &[NUMBER], R::Float),
    ("pi", &[], R::Float),
    ("radians", &[NUMBER], R::Float),
    ("sin", &[NUMBER], R::Float),
    ("sinh", &[NUMBER], R::Float),
    ("tan", &[NUMBER], R::Float),
    ("tanh", &[NUMBER], R::Float),
    ("left", &[STRING, INTEGER], R::String),
    ("right", &[STRING, INTEGER], R::String),
    ("lTrim", &[STRING], R::String),
    ("rTrim", &[STRING], R::String),
    ("btrim", &[STRING], R::String),
    ("trim", &[STRING], R::String),
    ("replace", &[STRING], R::String),
    ("split", &[STRING, COUNTED], R::Strings),
    ("substring", &[STRING, INTEGER], R::String),
    ("toLower", &[STRING], R::String),
    ("lower", &[STRING], R::String),
    ("toUpper", &[STRING], R::String),
    ("upper", &[STRING], R::String),
    ("char_length", &[STRING], R::Integer),
    ("character_length", &[STRING], R::Integer),
    ("timestamp", &[], R::Integer),
    ("date", &[CREATED], R::Temporal),
    ("date.transaction", &[CREATED], R::Temporal),
    ("date.statement", &[CREATED], R::Temporal),
    ("date.realtime", &[CREATED], R::Temporal),
    ("date.truncate", &[STRING, TEMPORAL, MAP], R::Temporal),
    ("time", &[CREATED], R::Temporal),
    ("time.transaction", &[CREATED], R::Temporal),
    ("time.statement", &[CREATED], R::Temporal),
    ("time.realtime", &[CREATED], R::Temporal),
    ("time.truncate", &[STRING, TEMPORAL, MAP], R::Temporal),
    ("localtime", &[CREATED], R::Temporal),
    ("localtime.transaction", &[CREATED], R::Temporal),
    ("localtime.statement", &[CREATED], R::Temporal),
    ("localtime.realtime", &[CREATED], R::Temporal),
    ("localtime.truncate", &[STRING, TEMPORAL, MAP], R::Temporal),
    ("datetime", &[CREATED], R::Temporal),
    ("datetime.transaction", &[CREATED], R::Temporal),
    ("datetime.statement", &[CREATED], R::Temporal),
    ("datetime.realtime", &[CREATED], R::Temporal),
    ("datetime.truncate", &[STRING, TEMPORAL, MAP], R::Temporal),
    ("datetime.fromEpoch", &[NUMBER], R::Temporal),
    ("datetime.fromEpochMillis", &[NUMBER], R::Temporal),
    ("localdatetime", &[CREATED], R::Temporal),
    ("localdatetime.transaction", &[CREATED], R::Temporal),
    ("localdatetime.statement", &[CREATED], R::Temporal),
    ("localdatetime.realtime", &[CREATED], R::Temporal),
    ("localdatetime.truncate", &[STRING, TEMPORAL, MAP], R::Temporal),
    ("duration", &[CREATED], R::Temporal),
    ("duration.between", &[TEMPORAL], R::Temporal),
    ("duration.inMonths", &[TEMPORAL], R::Temporal),
    ("duration.inDays", &[TEMPORAL], R::Temporal),
    ("duration.inSeconds", &[TEMPORAL], R::Temporal),
    ("point", &[MAP], R::Point),
    ("point.distance", &[POINT], R::Float),
    ("point.withinBBox", &[POINT], R::Boolean),
    ("distance", &[POINT], R::Float),
    ("byte_length", &[STRING], R::Integer),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_has_a_row_of_kinds() {
        let mut functions: Vec<&str> = FUNCTIONS.iter().map(|function| function.name).collect();
        let mut rows: Vec<&str> = KINDS.iter().map(|row| row.0).collect();
        functions.sort_unstable();
        rows.sort_unstable();
        assert_eq!(functions, rows);
    }
}
