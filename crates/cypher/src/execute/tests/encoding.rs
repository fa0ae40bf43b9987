//! When two values are the same, as the scenarios have it: a text that is equal for both.

use super::memory_graph::MemoryGraph;
use crate::execute::Graph;
use hexgraph_scalar::{Kind, Value};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// The text of an expected value.
pub(super) fn expected(json: &Json, unordered: bool) -> String {
    match json {
        Json::Null | Json::Bool(_) => json.to_string(),
        Json::Number(number) => match number.as_i64() {
            Some(int) => int.to_string(),
            None => float(number.as_f64().unwrap()),
        },
        Json::String(text) => string(text),
        Json::Array(items) => {
            list(items.iter().map(|it| expected(it, unordered)).collect(), unordered)
        }
        Json::Object(object) => {
            let (kind, body) = object.iter().next().unwrap();
            match &**kind {
                "float" => format!("{}f", body.as_str().unwrap()),
                "map" => map(body, unordered),
                "node" => node(body, unordered),
                "rel" => format!(
                    "[:{} {}]",
                    body["type"].as_str().unwrap(),
                    map(&body["props"], unordered)
                ),
                "path" => path(body, unordered),
                _ => string(body.as_str().unwrap()),
            }
        }
    }
}

fn map(json: &Json, unordered: bool) -> String {
    let entries = json.as_object().unwrap().iter();
    entries_text(entries.map(|(key, it)| (key.clone(), expected(it, unordered))).collect())
}

fn node(json: &Json, unordered: bool) -> String {
    let labels =
        json["labels"].as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned());
    node_text(labels.collect(), map(&json["props"], unordered))
}

fn path(json: &Json, unordered: bool) -> String {
    let nodes = json["nodes"].as_array().unwrap();
    let mut text = node(&nodes[0], unordered);
    for (rel, after) in json["rels"].as_array().unwrap().iter().zip(&nodes[1..]) {
        let (left, right) = if rel["forward"] == true { ("-", "->") } else { ("<-", "-") };
        let (name, props) = (rel["type"].as_str().unwrap(), map(&rel["props"], unordered));
        text += &format!("{left}[:{name} {props}]{right}{}", node(after, unordered));
    }
    format!("<{text}>")
}

/// The text of a value of a result.
pub(super) fn returned(value: &Value, graph: &MemoryGraph, unordered: bool) -> String {
    let again = |it: &Value| returned(it, graph, unordered);
    let entries = |map: &hexgraph_scalar::Map| {
        entries_text(map.entries().iter().map(|(key, it)| (key.to_string(), again(it))).collect())
    };
    let node = |id: u64| {
        let labels = graph.labels(id).unwrap().iter().map(|it| it.to_string()).collect();
        node_text(labels, entries(&graph.properties(id).unwrap()))
    };
    let relationship = |it: hexgraph_scalar::Relationship| {
        let types = graph.relationship_types().unwrap();
        let properties = entries(&graph.relationship_properties(it).unwrap());
        format!("[:{} {properties}]", types[it.type_id as usize])
    };
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => float(*value),
        Value::String(text) => string(text),
        Value::List(items) => list(items.iter().map(again).collect(), unordered),
        Value::Map(map) => entries(map),
        Value::Node(id) => node(*id),
        Value::Relationship(it) => relationship(*it),
        Value::Path(path) => {
            let mut text = node(path.nodes[0]);
            let mut last = path.nodes[0];
            for (it, after) in path.relationships.iter().zip(&path.nodes[1..]) {
                let (left, right) = if { it.subject } == last { ("-", "->") } else { ("<-", "-") };
                text += &format!("{left}{}{right}{}", relationship(*it), node(*after));
                last = *after;
            }
            format!("<{text}>")
        }
        other => {
            assert!(!matches!(other.kind(), Kind::Point), "no scenario has a point");
            string(&other.to_string())
        }
    }
}

fn list(mut items: Vec<String>, unordered: bool) -> String {
    if unordered {
        items.sort();
    }
    format!("[{}]", items.join(", "))
}

fn entries_text(entries: BTreeMap<String, String>) -> String {
    let entries: Vec<String> = entries.iter().map(|(key, it)| format!("{key}: {it}")).collect();
    format!("{{{}}}", entries.join(", "))
}

fn node_text(mut labels: Vec<String>, properties: String) -> String {
    labels.sort();
    let labels: String = labels.iter().map(|it| format!(":{it}")).collect();
    format!("({labels} {properties})")
}

/// A float to 12 digits.
fn float(value: f64) -> String {
    match value {
        _ if value.is_nan() => "NaNf".to_owned(),
        _ if value.is_infinite() => format!("{}Infinityf", if value < 0.0 { "-" } else { "" }),
        _ if value == 0.0 => "0f".to_owned(),
        _ => format!("{value:.11e}f"),
    }
}

/// A temporal value and a string that says it are the same, whatever seconds and zeros are written.
fn string(text: &str) -> String {
    format!("{:?}", moment(text))
}

/// One spelling of a temporal value; other texts stay.
fn moment(text: &str) -> String {
    if let Some(duration) = duration(text) {
        return duration;
    }
    let Some(clock) = clock_start(text) else { return text.to_owned() };
    let (date, rest) = text.split_at(clock);
    let end =
        rest.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.').unwrap_or(rest.len());
    let (time, zone) = rest.split_at(end);
    let time = match time.split_once('.') {
        Some((seconds, fraction)) => {
            let fraction = fraction.trim_end_matches('0');
            if fraction.is_empty() { seconds.to_owned() } else { format!("{seconds}.{fraction}") }
        }
        None => time.to_owned(),
    };
    let time = match time.strip_suffix(":00") {
        Some(minutes) if minutes.len() == 5 => minutes.to_owned(),
        _ => time,
    };
    format!("{date}{time}{}", zone.replacen("+00:00", "Z", 1))
}

/// Where `HH:MM` begins in a time or a date with a time.
fn clock_start(text: &str) -> Option<usize> {
    let start = match text.find('T') {
        Some(at)
            if text[..at].bytes().all(|it| it.is_ascii_digit() || it == b'-' || it == b'+') =>
        {
            at + 1
        }
        _ => 0,
    };
    let clock = text.as_bytes().get(start..start + 5)?;
    let digits = [0, 1, 3, 4].iter().all(|at| clock[*at].is_ascii_digit());
    (digits && clock[2] == b':').then_some(start)
}

/// Months, days and seconds of a duration.
fn duration(text: &str) -> Option<String> {
    let (date, clock) = text.strip_prefix('P')?.split_once('T').unwrap_or((&text[1..], ""));
    let (mut months, mut days, mut nanos) = (0_i128, 0_i128, 0_i128);
    for (text, is_clock) in [(date, false), (clock, true)] {
        let mut rest = text;
        while !rest.is_empty() {
            let unit = rest.find(|c: char| c.is_ascii_uppercase())?;
            let billions = billionths(&rest[..unit])?;
            match (&rest[unit..=unit], is_clock) {
                ("Y", false) => months += 12 * billions,
                ("M", false) => months += billions,
                ("W", false) => days += 7 * billions,
                ("D", false) => days += billions,
                ("H", true) => nanos += 3600 * billions,
                ("M", true) => nanos += 60 * billions,
                ("S", true) => nanos += billions,
                _ => return None,
            }
            rest = &rest[unit + 1..];
        }
    }
    Some(format!("P{months} {days} {nanos}"))
}

fn billionths(text: &str) -> Option<i128> {
    let (integer, fraction) = text.split_once('.').unwrap_or((text, ""));
    let negative = integer.starts_with('-');
    let digits = format!("{}{fraction:0<9}", integer.trim_start_matches('-'));
    let number: i128 = digits.parse().ok()?;
    Some(if negative { -number } else { number })
}
