//! Answers as columns: the type of each, what is text of JSON, what a warning says, and limits.

use crate::db::{Database, RequestContext};
use hexgraph_base::answer::{Cells, Structs, Table, TemporalUnit, Texts};
use hexgraph_base::budget::Budget;
use hexgraph_scalar::{Map, Value};
use std::sync::Arc;

fn table(text: &str) -> (Table, Vec<String>) {
    let answer = Database::in_memory().cypher(text);
    let answer = answer.unwrap_or_else(|error| panic!("{text}: {error}"));
    answer.table(&RequestContext::new()).unwrap()
}

/// The cells of the only column, without a warning.
fn cells(text: &str) -> Cells {
    let (mut table, warnings) = table(text);
    assert!(warnings.is_empty(), "{text}: {warnings:?}");
    table.columns.remove(0).cells
}

/// The texts of the only column, and its only warning.
fn warned(text: &str) -> (Vec<Option<String>>, String) {
    let (mut table, mut warnings) = table(text);
    assert_eq!(warnings.len(), 1, "{text}: {warnings:?}");
    let Cells::Text(texts) = table.columns.remove(0).cells else { panic!("{text}: no texts") };
    (strings(&texts), warnings.remove(0))
}

fn strings(texts: &Texts) -> Vec<Option<String>> {
    (0..texts.offsets.len()).map(|cell| texts.get(cell).map(str::to_owned)).collect()
}

fn names(structs: &Structs) -> Vec<&str> {
    structs.columns.iter().map(|column| column.name.as_str()).collect()
}

fn numbers(cells: Cells) -> (TemporalUnit, Vec<i64>, Vec<bool>) {
    let Cells::Temporal(it) = cells else { panic!("no dates or times: {cells:?}") };
    (it.unit, it.cells.values, it.cells.valid)
}

#[test]
fn scalars_have_the_types_of_arrow() {
    assert!(
        matches!(cells("UNWIND [1, 2.5] AS x RETURN x"), Cells::Float(it) if it.values == [1.0, 2.5])
    );
    assert!(
        matches!(cells("UNWIND [7, null] AS x RETURN x"), Cells::Int(it) if it.valid == [true, false])
    );
    assert!(matches!(cells("RETURN true AS x"), Cells::Bool(it) if it.values == [true]));
    assert!(matches!(cells("UNWIND [null, null] AS x RETURN x"), Cells::Null(2)));
    assert!(matches!(cells("UNWIND [] AS x RETURN x"), Cells::Null(0)));
    let Cells::Text(texts) = cells("RETURN duration('P1M2DT3S') AS x") else { panic!("no text") };
    assert_eq!(texts.get(0), Some("P1M2DT3S"));
    let Cells::Text(texts) = cells("RETURN time('10:00+01:00') AS x") else { panic!("no text") };
    assert_eq!(texts.get(0), Some("10:00+01:00"));
}

#[test]
fn a_column_of_several_types_is_json() {
    let texts = |texts: &[&str]| texts.iter().map(|it| Some((*it).to_owned())).collect::<Vec<_>>();
    let (mixed, warning) = warned("UNWIND [1, 'x', [true]] AS x RETURN x");
    assert_eq!(mixed, texts(&["1", "\"x\"", "[true]"]));
    assert_eq!(warning, "the column `x` has values of several types: each is text of JSON");
    // An int that no float equals, and two types that are texts apart.
    assert_eq!(
        warned("UNWIND [9007199254740993, 0.5] AS x RETURN x").0,
        texts(&["9007199254740993", "0.5"])
    );
    assert_eq!(
        warned("UNWIND ['P1D', duration('P1D')] AS x RETURN x").0,
        texts(&["\"P1D\"", "\"P1D\""])
    );
    assert_eq!(
        warned("UNWIND [date('2020-01-02'), localdatetime('2020-01-02T00:00')] AS x RETURN x").0,
        texts(&["\"2020-01-02\"", "\"2020-01-02T00:00\""])
    );
}

#[test]
fn objects_have_the_keys_of_all() {
    let text = "UNWIND [{a: 1, p: {q: 'x'}}, null, {b: [1, null]}, {a: 2.5}] AS x RETURN x";
    let Cells::Struct(objects) = cells(text) else { panic!("no objects") };
    assert_eq!(
        (names(&objects), &objects.valid[..]),
        (vec!["a", "b", "p"], &[true, false, true, true][..])
    );
    let [a, b, p] = &objects.columns[..] else { panic!("three keys") };
    assert!(
        matches!(&a.cells, Cells::Float(it) if it.values == [1.0, 0.0, 0.0, 2.5] && it.valid == [true, false, false, true])
    );
    let Cells::List(lists) = &b.cells else { panic!("no lists") };
    assert_eq!((lists.offsets.len(), &lists.valid[..]), (4, &[false, false, true, false][..]));
    assert!(matches!(&lists.items, Cells::Int(it) if it.values == [1, 0]));
    let Cells::Struct(inner) = &p.cells else { panic!("no objects") };
    assert_eq!(inner.valid, [true, false, false, false]);
    assert!(
        objects.columns.iter().all(|it| it.cells.len() == 4) && inner.columns[0].cells.len() == 4
    );
}

/// Only the key is text of JSON, and not the objects.
#[test]
fn a_key_of_several_types_is_json() {
    let (mut table, warnings) = table("UNWIND [{k: {a: 1}}, {k: {a: 'x'}}] AS x RETURN [x] AS l");
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(warning.contains("`l[].k.a`"), "{warning}");
    let Cells::List(lists) = table.columns.remove(0).cells else { panic!("no lists") };
    let Cells::Struct(objects) = lists.items else { panic!("no objects") };
    let Cells::Struct(inner) = &objects.columns[0].cells else { panic!("no objects") };
    let Cells::Text(texts) = &inner.columns[0].cells else { panic!("no texts") };
    assert_eq!(strings(texts), [Some("1".to_owned()), Some("\"x\"".to_owned())]);
    assert!(matches!(cells("RETURN {} AS x"), Cells::Text(it) if it.get(0) == Some("{}")));
}

#[test]
fn points_are_objects() {
    let text = "UNWIND [point({x: 1, y: 2}), null, point({x: 1, y: 2, z: 3})] AS x RETURN x";
    let Cells::Struct(points) = cells(text) else { panic!("no objects") };
    assert_eq!(names(&points), ["srid", "x", "y", "z"]);
    assert!(matches!(&points.columns[0].cells, Cells::Int(it) if it.values == [7203, 0, 9157]));
    assert!(
        matches!(&points.columns[3].cells, Cells::Float(it) if it.valid == [false, false, true])
    );
    let Cells::Struct(flat) = cells("RETURN point({x: 1, y: 2}) AS x") else {
        panic!("no objects")
    };
    assert_eq!(names(&flat), ["srid", "x", "y"]);
}

#[test]
fn dates_and_times_have_types() {
    let days =
        numbers(cells("UNWIND [date('1970-01-02'), date('1969-12-31'), null] AS x RETURN x"));
    assert_eq!(days, (TemporalUnit::Days, vec![1, -1, 0], vec![true, true, false]));
    let time = numbers(cells("RETURN localtime('00:00:01.000000002') AS x"));
    assert_eq!((time.0, time.1), (TemporalUnit::NanosOfDay, vec![1_000_000_002]));
    let local = numbers(cells("RETURN localdatetime('1970-01-01T00:00:01') AS x"));
    assert_eq!((local.0, local.1), (TemporalUnit::Nanos(None), vec![1_000_000_000]));
    for (zone, text, nanos) in [
        ("UTC", "datetime('1970-01-01T00:00:01Z')", 1_000_000_000),
        ("+02:00", "datetime('1970-01-01T00:00:01+02:00')", 1_000_000_000 - 7_200_000_000_000),
        ("-03:00", "datetime('1969-12-31T21:00:00-03:00')", 0),
        ("Europe/Berlin", "datetime('1970-01-01T01:00:00[Europe/Berlin]')", 0),
    ] {
        let zoned = numbers(cells(&format!("RETURN {text} AS x")));
        assert_eq!((zoned.0, zoned.1), (TemporalUnit::Nanos(Some(zone.into())), vec![nanos]));
    }
}

#[test]
fn what_times_lose_is_said() {
    let (_, warnings) = table("RETURN datetime('1970-01-01T05:30:00+05:30') AS x");
    assert!(matches!(&warnings[..], [one] if one.contains("no hour")), "{warnings:?}");
    let (mut all, warnings) = table(
        "UNWIND [datetime('1970-01-01T00:00:00Z'), datetime('1970-01-01T01:00:00+01:00')] AS x RETURN x",
    );
    assert_eq!(
        warnings,
        [
            "the column `x` has times of several zones, or of an offset that is no hour: all are in UTC"
        ]
    );
    let (unit, values, _) = numbers(all.columns.remove(0).cells);
    assert_eq!((unit, values), (TemporalUnit::Nanos(Some("UTC".into())), vec![0, 0]));
    let wide = numbers(cells("RETURN localdatetime('2500-01-01T00:00:00.000001') AS x"));
    assert_eq!((wide.0, wide.1), (TemporalUnit::Micros(None), vec![16_725_225_600_000_001]));
    let (_, warnings) = table("RETURN localdatetime('2500-01-01T00:00:00.000000001') AS x");
    assert!(matches!(&warnings[..], [one] if one.contains("microseconds")), "{warnings:?}");
    for text in [
        "date('-0044-03-15')",
        "localdatetime('0000-12-31T00:00')",
        "datetime('0001-01-01T00:00:00+01:00')",
    ] {
        let (texts, warning) = warned(&format!("RETURN {text} AS x"));
        assert!(warning.contains("years outside of 1 to 9999"), "{warning}");
        let first = texts[0].as_deref().unwrap_or_default();
        assert!(text.contains(&first[..10]), "{text}: {first}");
    }
}

/// The cells of a column with these values, and its only warning.
fn column_of(values: Vec<Value>) -> (Cells, String) {
    let params = Map::new(vec![("v".into(), Value::list(values).unwrap())]).unwrap();
    let context = RequestContext::new();
    let text = "UNWIND $v AS x RETURN x";
    let answer = Database::in_memory().cypher_with(text, &params, &context).unwrap();
    let (mut table, mut warnings) = answer.table(&context).unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    (table.columns.remove(0).cells, warnings.remove(0))
}

/// Objects with few keys in common would be columns of nulls, and Arrow's readers have limits of
/// nesting.
#[test]
fn sparse_wide_and_deep_values_are_json() {
    let one = |key: usize| Value::map(vec![(format!("k{key}").into(), Value::Int(1))]).unwrap();
    let objects = |keys: usize| column_of((0..3_000).map(|row| one(row % keys)).collect());
    for (keys, fault) in [(600, "lack most of their 600 keys"), (3_000, "more than 1000 keys")] {
        let (cells, warning) = objects(keys);
        let Cells::Text(texts) = cells else { panic!("no texts") };
        assert_eq!((texts.offsets.len(), texts.get(7)), (3_000, Some(r#"{"k7":1}"#)));
        assert!(warning.contains(fault), "{warning}");
    }
    let mut deep = Value::Int(1);
    for _ in 0..40 {
        deep = Value::list(vec![deep]).unwrap();
    }
    let (mut cells, warning) = column_of(vec![deep]);
    assert!(warning.contains("deeper than 32 levels"), "{warning}");
    for _ in 0..32 {
        let Cells::List(lists) = cells else { panic!("no lists") };
        cells = lists.items;
    }
    let Cells::Text(texts) = cells else { panic!("no texts") };
    assert_eq!(texts.get(0), Some("[[[[[[[[1]]]]]]]]"));
}

/// The memory of the columns is reserved, and released with the request.
#[test]
fn columns_have_their_memory() {
    let text = "UNWIND range(1, 200000) AS n RETURN {k: n, l: [n, n, n, n, n, n, n, n]} AS x";
    let answer = Database::in_memory().cypher(text).unwrap();
    for (memory, has_space) in [(1 << 30, true), (8 << 20, false)] {
        let budget = Budget::new(memory);
        let context = RequestContext::new().with_reservation(Arc::new(budget.reservation()));
        let done = answer.table(&context);
        assert_eq!(done.is_ok(), has_space, "{:?}", done.map(|_| ()).err());
        if has_space {
            // Nine bytes for each of 200,000 numbers at least.
            assert!(200_000 * 9 * 9 < budget.reserved(), "{}", budget.reserved());
        }
        drop(context);
        assert_eq!(budget.reserved(), 0);
    }
}

/// Text of JSON has one buffer for all cells of a column.
#[test]
fn short_json_texts_use_one_buffer() {
    let text = "UNWIND range(1, 20000) AS n RETURN [n] AS x";
    let answer = Database::in_memory().cypher(text).unwrap();
    let budget = Budget::new(16 << 20);
    let context = RequestContext::new().with_reservation(Arc::new(budget.reservation()));
    let (table, _) = answer.flat_table(&context).unwrap();
    assert!(matches!(&table.columns[0].cells, Cells::Text(it) if it.get(7) == Some("[8]")));
}

#[test]
fn nodes_relationships_and_paths_are_objects() {
    let db = Database::in_memory();
    db.alter("type Person {\nname\n}\nname: string .\nknows: [uid] .").unwrap();
    db.mutate(
        "<1> <name> \"Ada\" .\n<1> <dgraph.type> \"Person\" .\n<1> <knows> <2> (since=2019) .",
        "",
    )
    .unwrap();
    let answer = db.cypher("MATCH p = (a)-[r]->(b) RETURN a, r, p").unwrap();
    let (table, warnings) = answer.table(&RequestContext::new()).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let objects = |index: usize| match &table.columns[index].cells {
        Cells::Struct(structs) => names(structs),
        other => panic!("{other:?}"),
    };
    assert_eq!(objects(0), ["labels", "properties", "uid"]);
    assert_eq!(objects(1), ["end", "properties", "start", "type"]);
    assert_eq!(objects(2), ["nodes", "relationships"]);
    let Cells::Struct(path) = &table.columns[2].cells else { panic!("no path") };
    let Cells::List(nodes) = &path.columns[0].cells else { panic!("no nodes") };
    let Cells::Struct(nodes) = &nodes.items else { panic!("no objects") };
    assert!(matches!(&nodes.columns[2].cells, Cells::Text(it) if it.get(1) == Some("0x2")));
    let (flat, _) = answer.flat_table(&RequestContext::new()).unwrap();
    assert!(flat.columns.iter().all(|column| matches!(column.cells, Cells::Text(_))));
}
