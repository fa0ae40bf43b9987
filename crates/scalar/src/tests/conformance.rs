//! The scenarios of the openCypher TCK whose queries read no graph: WITH, UNWIND and RETURN are
//! interpreted here, all values are computed by this crate.

use super::evaluator::{Row, Stop, evaluate, evaluate_group};
use crate::{Context, Value, truth};
use hexgraph_cypher::ast::{ClauseKind, Expr, ExprKind, Projection, Query};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value as Json;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

/// How many lines of each file agree, and the ids of those that do not, with the reason.
const AGREE: [(&str, usize, &[(&str, &str)]); 2] = [
    (
        "read.jsonl",
        2193,
        &[
            ("expressions/temporal/Temporal10 [9]", "a year beyond 9999"),
            ("expressions/temporal/Temporal10 [10]", "a year beyond 9999"),
        ],
    ),
    ("rewritten.jsonl", 99, &[]),
];

fn lines(file: &str) -> Option<Vec<Json>> {
    let shared = std::env::var("HEXGRAPH_SHARED").map_or_else(
        |_| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let path = shared.join("conformance/cypher").join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is missing", path.display());
        return None;
    };
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn expressions_have_the_values_of_the_tck() {
    let now: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
    let context = Context::new(now.to_zoned(TimeZone::UTC), 1);
    for (file, expected, listed) in AGREE {
        let Some(lines) = lines(file) else { return };
        let (mut agree, mut differ) = (0, Vec::new());
        let mut skipped: BTreeMap<String, usize> = BTreeMap::new();
        for line in &lines {
            match check(line, &context) {
                Ok(()) => agree += 1,
                Err(Stop::Skipped(why)) => *skipped.entry(why).or_default() += 1,
                Err(Stop::Failed(why)) => differ.push((line["id"].as_str().unwrap(), why, line)),
            }
        }
        println!("{file}: {agree} agree, {} differ, skipped {skipped:?}", differ.len());
        differ.retain(|(id, ..)| !listed.iter().any(|(listed, _)| listed == id));
        for (id, why, line) in &differ {
            println!("{id}: {why}\n  {}", line["query"].as_str().unwrap());
        }
        assert!(differ.is_empty(), "{} differ", differ.len());
        assert_eq!(agree, expected, "of {file} agree; raise the number if it is more");
    }
}

/// Whether a line agrees.
fn check(line: &Json, context: &Context) -> Result<(), Stop> {
    let skip = |why: &str| Err(Stop::Skipped(why.to_owned()));
    if line["graph"]["nodes"].as_array().is_some_and(|nodes| !nodes.is_empty()) {
        return skip("a graph");
    }
    // What the analysis of a text decides is not evaluated.
    if line["error"]["phase"] == "compile" {
        return skip("an error of the analysis");
    }
    let query = line["query"].as_str().unwrap();
    let Ok(parsed) = hexgraph_cypher::parse(query) else { return skip("the parser refuses it") };
    let mut row = Row::new();
    for (name, value) in line["params"].as_object().into_iter().flatten() {
        row.insert(format!("${name}"), parameter(value));
    }
    let result = rows_of(&parsed.statement().query, row, context);
    let is_error = !line["error"].is_null();
    let (columns, rows) = match result {
        Err(Stop::Failed(_)) if is_error => return Ok(()),
        Err(stop) => return Err(stop),
        Ok(_) if is_error => return Err(Stop::Failed("an error is expected".to_owned())),
        Ok(result) => result,
    };
    let mut values: Vec<Vec<Json>> =
        rows.iter().map(|row| columns.iter().map(|name| encoded(&row[name])).collect()).collect();
    let mut expected: Vec<Vec<Json>> = line["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_array().unwrap().clone())
        .collect();
    if line["lists_unordered"] == true {
        let lists = values.iter_mut().chain(&mut expected).flatten().filter_map(Json::as_array_mut);
        lists.for_each(|list| list.sort_by_key(Json::to_string));
    }
    if line["ordered"] != true {
        values.sort_by_key(|row| format!("{row:?}"));
        expected.sort_by_key(|row| format!("{row:?}"));
    }
    if same(&Json::from(values.concat()), &Json::from(expected.concat()))
        && values.len() == expected.len()
    {
        return Ok(());
    }
    Err(Stop::Failed(format!("{values:?} for {expected:?}")))
}

type Rows = (Vec<String>, Vec<Row>);

/// The rows of a query of one branch.
fn rows_of(query: &Query, row: Row, context: &Context) -> Result<Rows, Stop> {
    let skip = |why: &str| Err(Stop::Skipped(why.to_owned()));
    let [branch] = &query.branches[..] else { return skip("UNION") };
    let mut rows = vec![row];
    for clause in &branch.clauses {
        match &clause.kind {
            ClauseKind::With(projection, filter) => {
                (_, rows) = projected(projection, rows, context)?;
                let mut filtered = Vec::new();
                for row in rows {
                    let value = filter.as_ref().map(|filter| evaluate(filter, &row, context));
                    if value.transpose()?.map_or(Ok(Some(true)), |value| truth(&value))?
                        == Some(true)
                    {
                        filtered.push(row);
                    }
                }
                rows = filtered;
            }
            ClauseKind::Unwind(list, name) => {
                let mut unwound = Vec::new();
                for row in rows {
                    let items = match evaluate(list, &row, context)? {
                        Value::Null => Vec::new(),
                        Value::List(items) => items.to_vec(),
                        other => vec![other],
                    };
                    for item in items {
                        let mut row = row.clone();
                        row.insert(name.text.to_string(), item);
                        unwound.push(row);
                    }
                }
                rows = unwound;
            }
            ClauseKind::Return(projection) => return projected(projection, rows, context),
            _ => return skip("a clause of the graph"),
        }
    }
    skip("no RETURN")
}

/// The rows of WITH or RETURN.
fn projected(projection: &Projection, rows: Vec<Row>, context: &Context) -> Result<Rows, Stop> {
    let mut names: Vec<String> = Vec::new();
    if projection.star {
        names.extend(
            rows.first()
                .into_iter()
                .flat_map(Row::keys)
                .filter(|name| !name.starts_with('$'))
                .cloned(),
        );
        names.sort_unstable();
    }
    let stars = names.len();
    names.extend(projection.items.iter().map(|item| match (&item.alias, &item.expr.kind) {
        (Some(alias), _) => alias.text.to_string(),
        (None, ExprKind::Variable(name)) => name.to_string(),
        _ => format!("column at {:?}", item.expr.span),
    }));
    let mut result: Vec<(Vec<Value>, Row)> = Vec::new();
    for group in groups(projection, rows, context)? {
        let row = &group[0];
        let members = if row.contains_key("no row") { &[] } else { &group[..] };
        let mut projected: Row = row
            .iter()
            .filter(|(name, _)| name.starts_with('$') || names[..stars].contains(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        for (item, name) in projection.items.iter().zip(&names[stars..]) {
            projected.insert(name.clone(), evaluate_group(&item.expr, row, members, context)?);
        }
        let mut scope = row.clone();
        scope.extend(projected.clone());
        let keys = projection.order.iter().map(|key| {
            match projection.items.iter().position(|item| item.expr == key.expr) {
                Some(index) => Ok(projected[&names[stars + index]].clone()),
                None => evaluate_group(&key.expr, &scope, members, context),
            }
        });
        result.push((keys.collect::<Result<_, _>>()?, projected));
    }
    if projection.distinct {
        let mut seen = HashSet::new();
        result.retain(|(_, row)| {
            seen.insert(names.iter().map(|name| row[name].clone()).collect::<Vec<_>>())
        });
    }
    result.sort_by(|(one, _), (other, _)| {
        let keys = projection.order.iter().zip(one.iter().zip(other));
        let order = keys.map(
            |(key, (one, other))| if key.descending { other.cmp(one) } else { one.cmp(other) },
        );
        order.fold(Ordering::Equal, Ordering::then)
    });
    let count = |expr: &Option<Expr>, otherwise: usize| match expr
        .as_ref()
        .map(|expr| evaluate(expr, &Row::new(), context))
        .transpose()?
    {
        None => Ok(otherwise),
        Some(Value::Int(count)) => Ok(count as usize),
        Some(_) => Err(Stop::Failed("SKIP and LIMIT need an integer".to_owned())),
    };
    let (skip, limit) = (count(&projection.skip, 0)?, count(&projection.limit, usize::MAX)?);
    let rows = result.into_iter().map(|(_, row)| row).skip(skip).take(limit).collect();
    Ok((names, rows))
}

/// The rows by what is equal in them, where there is an aggregate; else each row alone. A group
/// without rows, which there is where nothing has to be equal, has a row that says so.
fn groups(
    projection: &Projection,
    rows: Vec<Row>,
    context: &Context,
) -> Result<Vec<Vec<Row>>, Stop> {
    let keys: Vec<&Expr> =
        projection.items.iter().map(|item| &item.expr).filter(|expr| !is_aggregate(expr)).collect();
    if keys.len() == projection.items.len() {
        return Ok(rows.into_iter().map(|row| vec![row]).collect());
    }
    let mut groups: Vec<(Vec<Value>, Vec<Row>)> = Vec::new();
    for row in rows {
        let values =
            keys.iter().map(|key| evaluate(key, &row, context)).collect::<Result<Vec<_>, _>>()?;
        match groups.iter_mut().find(|(other, _)| *other == values) {
            Some((_, group)) => group.push(row),
            None => groups.push((values, vec![row])),
        }
    }
    if groups.is_empty() && keys.is_empty() {
        return Ok(vec![vec![Row::from([("no row".to_owned(), Value::Null)])]]);
    }
    Ok(groups.into_iter().map(|(_, group)| group).collect())
}

fn is_aggregate(expr: &Expr) -> bool {
    let text = format!("{expr:?}").to_lowercase();
    let names = [
        "count",
        "sum",
        "avg",
        "min",
        "max",
        "collect",
        "stdev",
        "stdevp",
        "percentilecont",
        "percentiledisc",
    ];
    text.contains("countstar")
        || names.iter().any(|name| text.contains(&format!("text: \"{name}\"")))
}

/// A parameter, in the encoding of the files.
fn parameter(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => {
            number.as_i64().map_or_else(|| Value::Float(number.as_f64().unwrap()), Value::Int)
        }
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(parameter).collect()).unwrap(),
        Json::Object(entries) => {
            let entries = entries.get("map").and_then(Json::as_object).unwrap_or(entries);
            let entries =
                entries.iter().map(|(key, value)| (key.as_str().into(), parameter(value)));
            Value::map(entries.collect()).unwrap()
        }
    }
}

/// A value in the encoding of the files.
fn encoded(value: &Value) -> Json {
    let tagged = |tag: &str| serde_json::json!({ tag: value.to_string() });
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::from(*value),
        Value::Int(value) => Json::from(*value),
        Value::Float(value) if value.is_finite() => Json::from(*value),
        Value::Float(_) => tagged("float"),
        Value::String(text) => Json::from(&**text),
        Value::List(items) => items.iter().map(encoded).collect(),
        Value::Map(map) => {
            let entries =
                map.entries().iter().map(|(key, value)| (key.to_string(), encoded(value)));
            serde_json::json!({ "map": entries.collect::<serde_json::Map<_, _>>() })
        }
        Value::Date(_) => tagged("date"),
        Value::LocalTime(_) => tagged("localtime"),
        Value::Time(_) => tagged("time"),
        Value::LocalDateTime(_) => tagged("localdatetime"),
        Value::DateTime(_) => tagged("datetime"),
        Value::Duration(_) => tagged("duration"),
        other => Json::from(other.to_string()),
    }
}

/// Whether two encoded values are the same; floats to 12 digits.
fn same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) if one.is_f64() && other.is_f64() => {
            let (one, other) = (one.as_f64().unwrap(), other.as_f64().unwrap());
            (one - other).abs() <= 1e-12 * one.abs().max(other.abs())
        }
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, one)| other.get(key).is_some_and(|other| same(one, other)))
        }
        _ => one == other,
    }
}
