//! The table of functions.

use super::call::{Call, Evaluation, Function};
use super::{conversions, entities, lists, numbers, points, strings, temporals};
use crate::error::Result;
use crate::values::Value;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Finds a function by its name, in any case.
///
/// ```
/// use hexgraph_scalar::function;
///
/// assert_eq!(function("DATETIME.FROMEPOCH").unwrap().name, "datetime.fromEpoch");
/// assert!(function("datum").is_none());
/// ```
pub fn function(name: &str) -> Option<&'static Function> {
    static BY_NAME: LazyLock<FxHashMap<String, &Function>> = LazyLock::new(|| {
        FUNCTIONS.iter().map(|function| (function.name.to_lowercase(), function)).collect()
    });
    BY_NAME.get(&name.to_lowercase()).copied()
}

type Evaluate = fn(&Call<'_>) -> Result<Value>;

/// A function that is null where an argument is null.
const fn strict(
    name: &'static str,
    min: usize,
    max: usize,
    evaluate: Evaluate,
    doc: &'static str,
) -> Function {
    let evaluation = Evaluation::Strict(evaluate);
    Function { name, arguments_min: min, arguments_max: max, evaluation, doc }
}

/// A function that has a rule of its own for null.
const fn lenient(
    name: &'static str,
    min: usize,
    max: usize,
    evaluate: Evaluate,
    doc: &'static str,
) -> Function {
    let evaluation = Evaluation::Lenient(evaluate);
    Function { name, arguments_min: min, arguments_max: max, evaluation, doc }
}

/// A function that the executor evaluates for nodes and relationships.
const fn graph(name: &'static str, evaluate: Evaluate, doc: &'static str) -> Function {
    let evaluation = Evaluation::Graph(evaluate);
    Function { name, arguments_min: 1, arguments_max: 1, evaluation, doc }
}

fn exists(call: &Call<'_>) -> Result<Value> {
    Ok(Value::Bool(!call.get(0).is_null()))
}

/// All functions that are no aggregates.
#[rustfmt::skip]
pub static FUNCTIONS: &[Function] = &[
    // Strings.
    strict("toUpper", 1, 1, strings::to_upper, "toUpper(text): the text in capitals"),
    strict("upper", 1, 1, strings::to_upper, "upper(text): the text in capitals"),
    strict("toLower", 1, 1, strings::to_lower, "toLower(text): the text in small letters"),
    strict("lower", 1, 1, strings::to_lower, "lower(text): the text in small letters"),
    strict("trim", 1, 1, strings::trim, "trim(text): the text without white space around it"),
    strict("btrim", 1, 2, strings::trim, "btrim(text, letters): the text without these letters around it, or without white space"),
    strict("lTrim", 1, 2, strings::trim_left, "lTrim(text, letters): the text without these letters in front, or without white space"),
    strict("rTrim", 1, 2, strings::trim_right, "rTrim(text, letters): the text without these letters behind, or without white space"),
    strict("replace", 3, 3, strings::replace, "replace(text, search, by): the text with `by` for each `search`"),
    strict("split", 2, 2, strings::split, "split(text, separator): the parts of the text between a separator, or one of a list of them"),
    strict("substring", 2, 3, strings::substring, "substring(text, start, length): characters from the position `start`, the first is 0"),
    strict("left", 2, 2, strings::left, "left(text, length): the first characters"),
    strict("right", 2, 2, strings::right, "right(text, length): the last characters"),
    strict("char_length", 1, 1, strings::char_length, "char_length(text): the number of characters"),
    strict("character_length", 1, 1, strings::char_length, "character_length(text): the number of characters"),
    strict("byte_length", 1, 1, strings::byte_length, "byte_length(text): the number of bytes in UTF-8"),
    // Numbers.
    strict("abs", 1, 1, numbers::abs, "abs(number): the number without its sign"),
    strict("sign", 1, 1, numbers::sign, "sign(number): -1, 0 or 1"),
    strict("ceil", 1, 1, numbers::ceil, "ceil(number): the smallest integer that is not below, as a float"),
    strict("floor", 1, 1, numbers::floor, "floor(number): the largest integer that is not above, as a float"),
    strict("round", 1, 3, numbers::round, "round(number, digits, mode): rounded to some digits behind the point; the mode is HALF_UP or another"),
    strict("sqrt", 1, 1, numbers::sqrt, "sqrt(number): the square root"),
    strict("exp", 1, 1, numbers::exp, "exp(number): e to the power of the number"),
    strict("log", 1, 1, numbers::log, "log(number): the natural logarithm"),
    strict("log10", 1, 1, numbers::log10, "log10(number): the logarithm to base 10"),
    strict("sin", 1, 1, numbers::sin, "sin(number): the function of trigonometry, with angles in radians"),
    strict("cos", 1, 1, numbers::cos, "cos(number): the function of trigonometry, with angles in radians"),
    strict("tan", 1, 1, numbers::tan, "tan(number): the function of trigonometry, with angles in radians"),
    strict("cot", 1, 1, numbers::cot, "cot(number): the function of trigonometry, with angles in radians"),
    strict("asin", 1, 1, numbers::asin, "asin(number): the function of trigonometry, with angles in radians"),
    strict("acos", 1, 1, numbers::acos, "acos(number): the function of trigonometry, with angles in radians"),
    strict("atan", 1, 1, numbers::atan, "atan(number): the function of trigonometry, with angles in radians"),
    strict("sinh", 1, 1, numbers::sinh, "sinh(number): the function of trigonometry, with angles in radians"),
    strict("cosh", 1, 1, numbers::cosh, "cosh(number): the function of trigonometry, with angles in radians"),
    strict("tanh", 1, 1, numbers::tanh, "tanh(number): the function of trigonometry, with angles in radians"),
    strict("coth", 1, 1, numbers::coth, "coth(number): the function of trigonometry, with angles in radians"),
    strict("atan2", 2, 2, numbers::atan2, "atan2(y, x): the angle of a point in radians"),
    strict("haversin", 1, 1, numbers::haversin, "haversin(angle): half of the versine of an angle in radians"),
    strict("degrees", 1, 1, numbers::degrees, "degrees(angle): radians as degrees"),
    strict("radians", 1, 1, numbers::radians, "radians(angle): degrees as radians"),
    strict("pi", 0, 0, numbers::pi, "pi(): the circumference of a circle by its diameter"),
    strict("e", 0, 0, numbers::e, "e(): the base of the natural logarithm"),
    strict("isNaN", 1, 1, numbers::is_nan, "isNaN(number): whether the number is NaN"),
    strict("rand", 0, 0, numbers::rand, "rand(): a random float from 0 up to and without 1"),
    // Conversions.
    strict("toString", 1, 1, conversions::to_string, "toString(value): the text of a value"),
    strict("toStringOrNull", 1, 1, conversions::to_string_or_null, "toStringOrNull(value): as toString(), and null for other kinds"),
    strict("toStringList", 1, 1, conversions::to_string_list, "toStringList(list): toStringOrNull() of each element"),
    strict("toInteger", 1, 1, conversions::to_integer, "toInteger(value): the integer of a number without what is behind the point, of a text or boolean; null where there is none"),
    strict("toIntegerOrNull", 1, 1, conversions::to_integer_or_null, "toIntegerOrNull(value): as toInteger(), and null for other kinds"),
    strict("toIntegerList", 1, 1, conversions::to_integer_list, "toIntegerList(list): toIntegerOrNull() of each element"),
    strict("toFloat", 1, 1, conversions::to_float, "toFloat(value): the float of a number or text; null where there is none"),
    strict("toFloatOrNull", 1, 1, conversions::to_float_or_null, "toFloatOrNull(value): as toFloat(), and null for other kinds"),
    strict("toFloatList", 1, 1, conversions::to_float_list, "toFloatList(list): toFloatOrNull() of each element"),
    strict("toBoolean", 1, 1, conversions::to_boolean, "toBoolean(value): the boolean of a text or integer; null where there is none"),
    strict("toBooleanOrNull", 1, 1, conversions::to_boolean_or_null, "toBooleanOrNull(value): as toBoolean(), and null for other kinds"),
    strict("toBooleanList", 1, 1, conversions::to_boolean_list, "toBooleanList(list): toBooleanOrNull() of each element"),
    lenient("valueType", 1, 1, conversions::value_type, "valueType(value): the name of the value's kind"),
    // Lists, maps, and choices.
    strict("range", 2, 3, lists::range, "range(start, end, step): the integers from `start` to `end`, both included"),
    strict("head", 1, 1, lists::head, "head(list): the first element"),
    strict("last", 1, 1, lists::last, "last(list): the last element"),
    strict("tail", 1, 1, lists::tail, "tail(list): all elements but the first"),
    strict("size", 1, 1, lists::size, "size(value): the number of elements, characters or keys"),
    strict("reverse", 1, 1, lists::reverse, "reverse(value): a list or text from back to front"),
    strict("isEmpty", 1, 1, lists::is_empty, "isEmpty(value): whether a list, text or map has nothing in it"),
    lenient("coalesce", 1, usize::MAX, lists::coalesce, "coalesce(value, ...): the first value that is not null"),
    lenient("nullIf", 2, 2, lists::null_if, "nullIf(one, other): null where both are equal, else the first"),
    graph("keys", lists::keys, "keys(value): the names of the properties of a node, relationship or map"),
    graph("properties", lists::properties, "properties(value): a map of the properties of a node, relationship or map"),
    // Temporal values.
    strict("date", 0, 1, temporals::date, "date(value): a day of a text, a map or another temporal value; of the moment of the query without an argument"),
    strict("date.transaction", 0, 1, temporals::date_now, "date.transaction(zone): a day, at the moment at which the query began"),
    strict("date.statement", 0, 1, temporals::date_now, "date.statement(zone): a day, at the moment at which the query began"),
    strict("date.realtime", 0, 1, temporals::date_now, "date.realtime(zone): a day, at the moment at which the query began"),
    strict("date.truncate", 1, 3, temporals::date_truncate, "date.truncate(unit, value, fields): the first a day of the unit that the value is in"),
    strict("localtime", 0, 1, temporals::local_time, "localtime(value): a time of day of a text, a map or another temporal value; of the moment of the query without an argument"),
    strict("localtime.transaction", 0, 1, temporals::local_time_now, "localtime.transaction(zone): a time of day, at the moment at which the query began"),
    strict("localtime.statement", 0, 1, temporals::local_time_now, "localtime.statement(zone): a time of day, at the moment at which the query began"),
    strict("localtime.realtime", 0, 1, temporals::local_time_now, "localtime.realtime(zone): a time of day, at the moment at which the query began"),
    strict("localtime.truncate", 1, 3, temporals::local_time_truncate, "localtime.truncate(unit, value, fields): the first a time of day of the unit that the value is in"),
    strict("time", 0, 1, temporals::time, "time(value): a time of day with an offset of a text, a map or another temporal value; of the moment of the query without an argument"),
    strict("time.transaction", 0, 1, temporals::time_now, "time.transaction(zone): a time of day with an offset, at the moment at which the query began"),
    strict("time.statement", 0, 1, temporals::time_now, "time.statement(zone): a time of day with an offset, at the moment at which the query began"),
    strict("time.realtime", 0, 1, temporals::time_now, "time.realtime(zone): a time of day with an offset, at the moment at which the query began"),
    strict("time.truncate", 1, 3, temporals::time_truncate, "time.truncate(unit, value, fields): the first a time of day with an offset of the unit that the value is in"),
    strict("localdatetime", 0, 1, temporals::local_date_time, "localdatetime(value): a day and a time of day of a text, a map or another temporal value; of the moment of the query without an argument"),
    strict("localdatetime.transaction", 0, 1, temporals::local_date_time_now, "localdatetime.transaction(zone): a day and a time of day, at the moment at which the query began"),
    strict("localdatetime.statement", 0, 1, temporals::local_date_time_now, "localdatetime.statement(zone): a day and a time of day, at the moment at which the query began"),
    strict("localdatetime.realtime", 0, 1, temporals::local_date_time_now, "localdatetime.realtime(zone): a day and a time of day, at the moment at which the query began"),
    strict("localdatetime.truncate", 1, 3, temporals::local_date_time_truncate, "localdatetime.truncate(unit, value, fields): the first a day and a time of day of the unit that the value is in"),
    strict("datetime", 0, 1, temporals::date_time, "datetime(value): a moment, with an offset or a zone of a text, a map or another temporal value; of the moment of the query without an argument"),
    strict("datetime.transaction", 0, 1, temporals::date_time_now, "datetime.transaction(zone): a moment, with an offset or a zone, at the moment at which the query began"),
    strict("datetime.statement", 0, 1, temporals::date_time_now, "datetime.statement(zone): a moment, with an offset or a zone, at the moment at which the query began"),
    strict("datetime.realtime", 0, 1, temporals::date_time_now, "datetime.realtime(zone): a moment, with an offset or a zone, at the moment at which the query began"),
    strict("datetime.truncate", 1, 3, temporals::date_time_truncate, "datetime.truncate(unit, value, fields): the first a moment, with an offset or a zone of the unit that the value is in"),
    strict("datetime.fromEpoch", 1, 2, temporals::from_epoch_seconds, "datetime.fromEpoch(seconds, nanoseconds): the moment after so many seconds since 1970"),
    strict("datetime.fromEpochMillis", 1, 1, temporals::from_epoch_millis, "datetime.fromEpochMillis(milliseconds): the moment after so many milliseconds since 1970"),
    strict("timestamp", 0, 0, temporals::timestamp, "timestamp(): the milliseconds from 1970 to the moment at which the query began"),
    strict("duration", 1, 1, temporals::duration, "duration(value): a duration of a text or a map"),
    strict("duration.between", 2, 2, temporals::between_all, "duration.between(from, to): the difference in months, days and seconds"),
    strict("duration.inMonths", 2, 2, temporals::between_months, "duration.inMonths(from, to): the difference in full months"),
    strict("duration.inDays", 2, 2, temporals::between_days, "duration.inDays(from, to): the difference in full days"),
    strict("duration.inSeconds", 2, 2, temporals::between_seconds, "duration.inSeconds(from, to): the difference in seconds"),
    // Points.
    strict("point", 1, 1, points::point, "point(map): a point of x and y, or of longitude and latitude"),
    strict("distance", 2, 2, points::distance, "distance(one, other): the distance of two points, on the earth in metres"),
    strict("point.distance", 2, 2, points::distance, "point.distance(one, other): the distance of two points, on the earth in metres"),
    strict("point.withinBBox", 3, 3, points::within_box, "point.withinBBox(point, low, high): whether a point lies in a box between two corners"),
    // Nodes, relationships and paths.
    strict("id", 1, 1, entities::id, "id(node): the uid as an integer"),
    graph("elementId", entities::of_graph, "elementId(value): the uid of a node, or subject, type and object of a relationship, as a text"),
    graph("labels", entities::of_graph, "labels(node): the labels of a node"),
    graph("type", entities::of_graph, "type(relationship): the type of a relationship"),
    strict("startNode", 1, 1, entities::start_node, "startNode(relationship): the node that it begins at"),
    strict("endNode", 1, 1, entities::end_node, "endNode(relationship): the node that it points to"),
    strict("length", 1, 1, entities::length, "length(path): the number of relationships of a path"),
    strict("nodes", 1, 1, entities::nodes, "nodes(path): the nodes of a path"),
    strict("relationships", 1, 1, entities::relationships, "relationships(path): the relationships of a path"),
    lenient("exists", 1, 1, exists, "exists(value): whether the value is not null"),
];
