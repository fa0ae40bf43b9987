//! Cells and columns that can't be stored: what is reported of them, and what happens to the
//! others.

use super::*;
use arrow_array::types::UInt64Type;
use arrow_array::{
    Array, Decimal128Array, DictionaryArray, FixedSizeListArray, Float32Array,
    TimestampMicrosecondArray, UInt32Array,
};
use arrow_schema::{DataType, Field, Schema};
use std::collections::HashMap;

fn skipping() -> NodeOptions {
    let table = TableOptions { skip_errors: true, ..TableOptions::default() };
    NodeOptions { table, ..NodeOptions::default() }
}

/// A table of ids from 1 and a column `a`.
fn with_ids(column: ArrayRef) -> Table {
    let ids = ints(&(1..=column.len() as i64).collect::<Vec<_>>());
    table(vec![batch(vec![("id", ids), ("a", column)])])
}

fn fault(db: &Database, rows: Table) -> String {
    nodes(db, rows, NodeOptions::default()).unwrap_err().to_string()
}

fn with_schema(schema: &str) -> Database {
    let db = Database::in_memory();
    db.alter(schema).unwrap();
    db
}

fn decimals(values: &[i128], scale: i8) -> ArrayRef {
    let array = Decimal128Array::from(values.to_vec());
    Arc::new(array.with_precision_and_scale(38, scale).unwrap())
}

/// One number above all ints made the cells of its entire batch fail.
#[test]
fn a_large_int_is_one_cell() {
    let mut numbers: Vec<u64> = (0..70_000).collect();
    numbers[66_000] = 1 << 63;
    let plain: ArrayRef = Arc::new(UInt64Array::from(numbers.clone()));
    let keys = UInt32Array::from_iter_values(0..70_000);
    let packed: ArrayRef = Arc::new(DictionaryArray::new(keys, plain.clone()));
    let lists = numbers.iter().map(|&number| Some([Some(number)]));
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<UInt64Type, _, _>(lists));
    for (column, rest) in [(plain, 69_999), (packed, 69_999), (lists, 69_999)] {
        let db = Database::in_memory();
        let reported = fault(&db, with_ids(column.clone()));
        assert!(reported.starts_with("<table>:66001:2: row 66001, column \"a\""), "{reported}");
        assert!(reported.contains("9223372036854775808"), "{reported}");
        assert!(reported.contains("the type string with `types`"), "{reported}");
        let report = nodes(&db, with_ids(column), skipping()).unwrap();
        assert_eq!((report.skipped, report.skipped_lines[0].line), (1, 66_001));
        let want = format!(r#"{{"q":[{{"count":{rest}}}]}}"#);
        assert_eq!(json(&db, "{ q(func: has(a)) { count(uid) } }"), want);
    }
}

/// Where a predicate has truth values an int is one, too, and the column is read as it is.
#[test]
fn a_large_int_is_reported_where_ints_are_converted() {
    let db = with_schema("a: bool .");
    let numbers: ArrayRef = Arc::new(UInt64Array::from(vec![Some(1), None, Some(u64::MAX)]));
    let reported = fault(&db, with_ids(numbers.clone()));
    assert!(reported.contains("row 3, column \"a\": \"18446744073709551615\""), "{reported}");
    assert!(reported.contains("64 bits"), "{reported}");
    assert_eq!(nodes(&db, with_ids(numbers), skipping()).unwrap().skipped, 1);
    assert_eq!(json(&db, "{ q(func: has(a)) { a } }"), r#"{"q":[{"a":true}]}"#);
}

/// One facet that can't be stored made those of the other rows fail.
#[test]
fn a_facet_that_cannot_be_stored_is_one_cell() {
    let db = Database::in_memory();
    let large: ArrayRef = Arc::new(UInt64Array::from(vec![1, 1 << 63, 3]));
    let weights: ArrayRef = Arc::new(Float64Array::from(vec![0.5, f64::INFINITY, 1.5]));
    let endpoints = [("from", ints(&[1, 2, 3])), ("to", ints(&[2, 3, 1]))];
    let columns = endpoints.into_iter().chain([("n", large), ("w", weights)]).collect();
    let mut options = EdgeOptions::new("knows", "from", "to");
    options.facets = ["n", "w"].map(|name| (name.to_owned(), name.to_owned())).to_vec();
    options.table.skip_errors = true;
    let report = edges(&db, table(vec![batch(columns)]), options).unwrap();
    assert_eq!((report.skipped, report.triples), (2, 6));
    let result = json(&db, "{ q(func: has(knows)) { knows @facets(n, w) { uid } } }");
    assert_eq!(result.matches("knows|n").count(), 2, "{result}");
    assert_eq!(result.matches("knows|w").count(), 2, "{result}");
}

/// The language of schemas refuses such lists, so no export of them could be read again.
#[test]
fn lists_of_truth_values_are_refused() {
    let mut lists =
        arrow_array::builder::ListBuilder::new(arrow_array::builder::BooleanBuilder::new());
    lists.append_value([Some(true), Some(false)]);
    let db = Database::in_memory();
    let reported = fault(&db, with_ids(Arc::new(lists.finish())));
    assert!(reported.contains("column \"a\": a list can't hold values of type bool"), "{reported}");
    assert!(db.alter("a: [bool] .").unwrap_err().to_string().contains("can't hold"));
}

/// JSON has no NaN, and an export with one could not be loaded.
#[test]
fn vectors_have_finite_numbers() {
    let db = Database::in_memory();
    let vector = |numbers: [Option<f32>; 2]| Some(numbers.to_vec());
    let rows = |last| -> ArrayRef {
        let vectors = [vector([Some(1.0), Some(2.0)]), None, last];
        Arc::new(FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(vectors, 2))
    };
    for (last, reason) in [
        (vector([Some(1.5), Some(f32::NAN)]), "a vector has finite numbers, and NaN is none"),
        (vector([Some(f32::NEG_INFINITY), Some(1.0)]), "and -inf is none"),
        (vector([Some(1.5), None]), "a number of the vector is missing"),
    ] {
        let reported = fault(&db, with_ids(rows(last.clone())));
        assert!(
            reported.contains("row 3, column \"a\"") && reported.contains(reason),
            "{reported}"
        );
        assert_eq!(nodes(&db, with_ids(rows(last)), skipping()).unwrap().skipped, 1);
        assert_eq!(json(&db, "{ q(func: has(a)) { a } }"), r#"{"q":[{"a":[1E+00,2E+00]}]}"#);
    }
    for text in ["[1.1, inf]", "[nan, 1]", "[1, 1e39]"] {
        let reported = db.mutate(&format!("_:x <a> \"{text}\"^^<float32vector> ."), "").err();
        assert!(reported.is_some(), "{text}");
    }
    // Doubles that are infinite as floats.
    let far = Float64Array::from(vec![1e300, 1.0]);
    let item = Arc::new(Field::new_list_field(DataType::Float64, true));
    let far: ArrayRef = Arc::new(FixedSizeListArray::new(item, 2, Arc::new(far), None));
    let reported = fault(&db, with_ids(far));
    assert!(reported.contains("and inf is none"), "{reported}");
}

/// A vector that has a gap outside of the rows, or under a missing one, is none.
#[test]
fn vectors_between_the_rows_do_not_count() {
    let numbers: Float32Array = [Some(1.0), None, Some(2.0), None].into_iter().collect();
    let item = Arc::new(Field::new_list_field(DataType::Float32, true));
    let present = Some(vec![false, true, true, false].into());
    let all = FixedSizeListArray::new(item, 1, Arc::new(numbers), present);
    let report = nodes(&Database::in_memory(), with_ids(Arc::new(all.slice(0, 1))), person());
    assert_eq!(report.unwrap().skipped, 0);
    let reported = fault(&Database::in_memory(), with_ids(Arc::new(all.slice(1, 3))));
    assert!(reported.contains("row 1, column \"a\": a number"), "{reported}");
}

/// The last of them won.
#[test]
fn columns_of_one_name_are_refused() {
    let rows = |names: [&str; 3]| {
        let fields = names.map(|name| Field::new(name, DataType::Int64, true));
        let schema = Arc::new(Schema::new(fields.to_vec()));
        let columns = vec![ints(&[1]), ints(&[2]), ints(&[3])];
        table(vec![RecordBatch::try_new(schema, columns).unwrap()])
    };
    let db = Database::in_memory();
    let keeping = || {
        let table = TableOptions { names: Names::Retain, ..TableOptions::default() };
        NodeOptions { table, ..NodeOptions::default() }
    };
    for (names, reported) in [(["id", "a", "a"], "\"a\""), (["id", "b", "id"], "\"id\"")] {
        let fault = nodes(&db, rows(names), keeping()).unwrap_err().to_string();
        assert!(fault.contains(&format!("<table> has several columns {reported}")), "{fault}");
    }
    let reported = edges(&db, rows(["from", "to", "to"]), EdgeOptions::new("e", "from", "to"));
    assert!(reported.unwrap_err().to_string().contains("several columns \"to\""));
    let columns = [("a".to_owned(), None)].into();
    let options = NodeOptions { columns, ..NodeOptions::default() };
    assert_eq!(nodes(&db, rows(["id", "a", "a"]), options).unwrap().triples, 1);
    let (_folder, path) = file("a.csv", b"id,a,a\n1,2,3\n");
    let reported = nodes(&db, Table::File(path), keeping()).unwrap_err().to_string();
    assert!(reported.contains("a.csv has several columns \"a\""), "{reported}");
}

/// They vanished without a word.
#[test]
fn edges_without_an_endpoint_are_reported() {
    let db = Database::in_memory();
    let from: ArrayRef = Arc::new(StringArray::from(vec![Some("1"), None, Some("3"), None]));
    let to: ArrayRef = Arc::new(StringArray::from(vec![Some("2"), Some("2"), Some(""), None]));
    let rows = || table(vec![batch(vec![("from", from.clone()), ("to", to.clone())])]);
    let report = edges(&db, rows(), EdgeOptions::new("e", "from", "to")).unwrap();
    let want = "3 rows have no source or no target and made no edge: the first is row 2 of <table>";
    assert_eq!(report.warnings, [want]);
    // The node of "3" is made, and none of the empty text.
    assert_eq!((report.new_nodes, report.triples), (3, 4));
    let raising = EdgeOptions { missing: Missing::Raise, ..EdgeOptions::new("e", "from", "to") };
    let reported = edges(&db, rows(), raising).unwrap_err().to_string();
    assert!(
        reported.contains("row 2, column \"from\": a row of edges has no end here"),
        "{reported}"
    );
    let reported = fault(&db, table(vec![batch(vec![("id", texts(&["x", ""]))])]));
    assert!(reported.contains("row 2, column \"id\": a row of nodes has no id"), "{reported}");
}

/// A text with a fraction was refused before, and a float lost it.
#[test]
fn fractions_are_no_ints() {
    let db = with_schema("a: int .\nb: [int] .");
    let floats: ArrayRef = Arc::new(Float64Array::from(vec![2.0, -1.5, f64::NAN]));
    let reported = fault(&db, with_ids(floats.clone()));
    assert!(reported.contains("row 2, column \"a\": \"-1.5\": it has a fraction"), "{reported}");
    assert_eq!(nodes(&db, with_ids(floats), skipping()).unwrap().skipped, 1);
    assert_eq!(json(&db, "{ q(func: has(a)) { a } }"), r#"{"q":[{"a":2}]}"#);
    let reported = fault(&db, with_ids(decimals(&[200, 150], 2)));
    assert!(reported.contains("row 2, column \"a\": \"1.50\""), "{reported}");
    let large = [900_719_925_474_099_300, 100];
    nodes(&db, with_ids(decimals(&large, 2)), NodeOptions::default()).unwrap();
    let result = json(&db, "{ q(func: has(a), orderdesc: a, first: 1) { a } }");
    assert_eq!(result, r#"{"q":[{"a":9007199254740993}]}"#);
}

/// They were converted without a word, as a fraction was.
#[test]
fn cells_that_a_type_does_not_hold_are_refused() {
    let db = with_schema("a: bool .");
    let message = fault(&db, with_ids(ints(&[1, 5])));
    let want = "row 2, column \"a\": \"5\": it becomes true as a value of type bool: alter the predicate to int";
    assert!(message.contains(want), "{message}");
    nodes(&db, with_ids(ints(&[1, 0])), NodeOptions::default()).unwrap();
    let halves: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 0.5]));
    assert!(fault(&db, with_ids(halves)).contains("\"0.5\": it becomes true"));
    let db = with_schema("a: float .");
    let message = fault(&db, with_ids(ints(&[1, 9_007_199_254_740_993])));
    assert!(message.contains("it becomes 9007199254740992 as a value of type float"), "{message}");
    nodes(&db, with_ids(ints(&[1, 1 << 60])), NodeOptions::default()).unwrap();
    let message = fault(&db, with_ids(texts(&["1.5", "9007199254740993"])));
    assert!(message.contains("row 2, column \"a\""), "{message}");
    let db = with_schema("a: int .");
    let times: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![5_000_000, 5_500_000]));
    let message = fault(&db, with_ids(times));
    assert!(message.contains("it has a fraction") && message.contains("to datetime"), "{message}");
    let db = with_schema("a: datetime .");
    let message = fault(&db, with_ids(texts(&["2024-01-01", "2024-01-01T00:00:00.1234567891Z"])));
    assert!(message.contains("row 2, column \"a\""), "{message}");
    assert_eq!(
        nodes(&db, with_ids(texts(&["2024-01-01T00:00:00.1234567891Z"])), skipping())
            .unwrap()
            .skipped,
        1
    );
}

#[test]
fn periods_are_refused() {
    let extension = HashMap::from([("ARROW:extension:name".into(), "pandas.period".into())]);
    let period = Field::new("a", DataType::Int64, true).with_metadata(extension);
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, true), period]));
    let rows = RecordBatch::try_new(schema, vec![ints(&[1]), ints(&[600])]).unwrap();
    let reported = fault(&Database::in_memory(), table(vec![rows]));
    assert!(
        reported.contains("column \"a\": a period is no value: `.dt.to_timestamp()`"),
        "{reported}"
    );
}

/// As floats they lost digits that the predicate has.
#[test]
fn decimals_retain_their_digits() {
    for (schema, want) in
        [("a: bigfloat .", "0.1"), ("a: string .", "\"0.10\""), ("a: float .", "0.1")]
    {
        let db = with_schema(schema);
        nodes(&db, with_ids(decimals(&[10], 2)), NodeOptions::default()).unwrap();
        let result = json(&db, "{ q(func: has(a)) { a } }");
        assert_eq!(result, format!(r#"{{"q":[{{"a":{want}}}]}}"#), "{schema}");
    }
}

/// A division of what is rounded already gives another float now and then.
#[test]
fn decimals_become_the_nearest_floats() {
    let digits: Vec<i128> = (1..200).map(|at| 1_234_567_890_123_456_789 * at + at).collect();
    let db = Database::in_memory();
    nodes(&db, with_ids(decimals(&digits, 21)), NodeOptions::default()).unwrap();
    let result = json(&db, "{ q(func: has(a), orderasc: id) { a } }");
    let numbers = result.split("\"a\":").skip(1).map(|rest| rest.split('}').next().unwrap());
    let numbers: Vec<f64> = numbers.map(|number| number.parse().unwrap()).collect();
    let want = digits.iter().map(|digits| format!("{digits}e-21").parse::<f64>().unwrap());
    assert_eq!(numbers, want.collect::<Vec<_>>());
}

#[test]
fn ids_that_are_decimals_and_floats() {
    let of = |ids: ArrayRef| table(vec![batch(vec![("id", ids)])]);
    let long = 12_345_678_901_234_567_890;
    let db = with_schema("id: string @index(hash) .");
    nodes(&db, of(decimals(&[long * 100, 500], 2)), NodeOptions::default()).unwrap();
    let result = json(&db, "{ q(func: has(id)) { id } }");
    assert_eq!(result, r#"{"q":[{"id":"12345678901234567890"},{"id":"5"}]}"#);
    let reported = fault(&db, of(decimals(&[550], 2)));
    assert!(reported.contains("\"5.50\": an id is a whole number or a text"), "{reported}");
    let db = Database::in_memory();
    let reported = fault(&db, of(decimals(&[long], 0)));
    assert!(
        reported.contains("\"12345678901234567890\": the ids are of type int, which"),
        "{reported}"
    );
    let large: ArrayRef = Arc::new(Float64Array::from(vec![3.0, 9_007_199_254_740_992.0]));
    let reported = fault(&db, of(large));
    assert!(
        reported.contains("row 2, column \"id\": \"9007199254740992\": a float from"),
        "{reported}"
    );
    let reported = fault(&db, of(Arc::new(Float64Array::from(vec![1.5]))));
    assert!(reported.contains("an id is a whole number or a text"), "{reported}");
}

/// The rest of the file was one cell.
#[test]
fn a_quote_that_is_not_closed_is_an_error_where_others_are() {
    let db = Database::in_memory();
    let rows = (0..2000).map(|row| format!("{row},\"x\"\"\n{row}\"\n")).collect::<String>();
    let (_folder, path) = file("a.csv", format!("id,a\n{rows}z,\"open\n5,6\n").as_bytes());
    let reported = fault(&db, Table::File(path.clone()));
    let want = format!("{}:4002:1: a quote opens here that is never closed", path.display());
    assert!(reported.starts_with(&want), "{reported}");
    // Where no quote is ever closed, quotes are literal, which the report says.
    for text in ["id,a\nx,\"abc\ny,2\n", "id,a,b\nx,\"abc,1\ny,2,3\n"] {
        let (_folder, path) = file("a.csv", text.as_bytes());
        let report = nodes(&db, Table::File(path), person()).unwrap();
        assert!(report.notes.iter().any(|note| note.contains("no quotes")), "{:?}", report.notes);
        let texts = json(&db, "{ q(func: eq(id, \"x\")) { a } }");
        assert_eq!(texts, r#"{"q":[{"a":"\"abc"}]}"#);
    }
    let (_folder, path) = file("a.csv", format!("id,a\n{rows}").as_bytes());
    let db = Database::in_memory();
    assert_eq!(nodes(&db, Table::File(path), person()).unwrap().nodes, 2000);
}

/// Each column that was new scanned the schema: 16,000 of them needed half a minute.
#[test]
fn many_columns_may_be_new() {
    let names: Vec<String> = (0..16_000).map(|position| format!("p{position}")).collect();
    let column = ints(&[1, 2]);
    let mut columns = vec![("id", column.clone())];
    columns.extend(names.iter().map(|name| (name.as_str(), column.clone())));
    let db = Database::in_memory();
    let started = Instant::now();
    let report = nodes(&db, table(vec![batch(columns)]), person()).unwrap();
    assert_eq!((report.nodes, report.triples), (2, 2 * 16_001 + 2));
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

#[test]
fn a_column_of_uids_is_said_by_its_name() {
    let db = Database::in_memory();
    let rows = || table(vec![batch(vec![("uid", ints(&[5])), ("id", ints(&[1]))])]);
    let options = NodeOptions { ids: Some(IdSpace::Uid), ..NodeOptions::default() };
    let reported = nodes(&db, rows(), options).unwrap_err().to_string();
    assert!(reported.contains("if it names the nodes say id=\"uid\";"), "{reported}");
    assert!(fault(&db, rows()).contains("say id=\"uid\", uid=True;"));
    let none = RecordBatch::new_empty(Arc::new(Schema::empty()));
    let reported = fault(&db, table(vec![none]));
    assert_eq!(reported, "<table> has no column \"id\": it has no columns");
}

/// A name that no file can have is cut in the name of the file, and entire in what the file has.
#[test]
fn names_that_are_longer_than_those_of_files_are_exported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.parquet");
    let db = Database::in_memory();
    let long = ["a", "b"].map(|end| "T".repeat(300) + end);
    let accents = "\u{e9}".repeat(120);
    for (uid, name) in [&long[0], &long[1], &accents].into_iter().enumerate() {
        let node = uid + 1;
        let set = format!(
            "<{node}> <dgraph.type> \"{name}\" .\n<{node}> <name> \"n\" .\n<{node}> <{name}> <9> ."
        );
        db.mutate(&set, "").unwrap();
    }
    let report = db.export_as_with(&path, &RequestContext::new()).unwrap();
    let copy = Database::in_memory();
    let loaded =
        copy.load_folder_with(&path, TableOptions::default(), &RequestContext::new()).unwrap();
    assert_eq!(loaded.triples, report.triples);
    let rdf = |db: &Database, name: &str| {
        db.export_as_with(&folder.path().join(name), &RequestContext::new()).unwrap();
        std::fs::read_to_string(folder.path().join(name)).unwrap()
    };
    assert_eq!(rdf(&copy, "copy.rdf"), rdf(&db, "own.rdf"));
}

/// Columns of one predicate or facet have cells in different rows.
#[test]
fn two_cells_of_one_value_are_refused() {
    let db = Database::in_memory();
    db.alter("any: default .").unwrap();
    let rows = || {
        let any: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("b"), None]));
        let number: ArrayRef = Arc::new(StringArray::from(vec![None, Some("5"), Some("6")]));
        let mut columns = vec![("id", ints(&[1, 2, 3])), ("to", ints(&[2, 3, 1]))];
        columns.extend([("any", any), ("any^^int", number)]);
        table(vec![batch(columns)])
    };
    let fault = nodes(&db, rows(), NodeOptions::default()).unwrap_err().to_string();
    let want =
        "row 2, column \"any^^int\": the row has a cell in column \"any\", too, and both are `any`";
    assert!(fault.contains(want), "{fault}");
    let skipping = || TableOptions { skip_errors: true, ..TableOptions::default() };
    let options = NodeOptions { table: skipping(), ..NodeOptions::default() };
    let report = nodes(&db, rows(), options).unwrap();
    assert_eq!((report.skipped, report.overridden), (1, 0));
    let result = json(&db, "{ q(func: has(any), orderasc: id) { any } }");
    assert_eq!(result, r#"{"q":[{"any":"a"},{"any":"b"},{"any":"6"}]}"#);
    let uids = Some(IdSpace::Uid);
    let facets = ["any", "any^^int"].map(|it| (it.to_owned(), it.to_owned())).to_vec();
    let mut options = EdgeOptions { facets, ..EdgeOptions::new("e", "id", "to") };
    (options.source_ids, options.target_ids) = (uids.clone(), uids);
    let fault = edges(&db, rows(), options.clone()).unwrap_err().to_string();
    assert!(fault.contains(want), "{fault}");
    options.table = skipping();
    assert_eq!(edges(&db, rows(), options).unwrap().skipped, 1);
    let result = json(&db, "{ q(func: uid(1, 2, 3)) { e @facets { uid } } }");
    let want = r#"{"q":[{"e":[{"uid":"0x2","e|any":"a"}]},{"e":[{"uid":"0x3","e|any":"b"}]},{"e":[{"uid":"0x1","e|any":6}]}]}"#;
    assert_eq!(result, want);
}
