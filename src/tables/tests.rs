mod faults;
mod owned;
mod unloaded;

use super::{EdgeOptions, IdSpace, Missing, Names, NodeOptions, PointColumns, Table, TableOptions};
use crate::db::{Database, QueryRequest, RequestContext};
use arrow_array::types::{Float32Type, Int32Type};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch, RecordBatchIterator,
    StringArray, TimestampMillisecondArray, UInt64Array,
};
use hexgraph_base::types::{Result, ValueType};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, ParquetMetaData, ParquetMetaDataReader,
    ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::properties::WriterProperties;
use std::fs;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true)))
        .unwrap()
}

fn table(batches: Vec<RecordBatch>) -> Table {
    let schema = batches[0].schema();
    Table::Batches(Box::new(RecordBatchIterator::new(batches.into_iter().map(Ok), schema)))
}

fn ints(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn texts(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

fn json(db: &Database, text: &str) -> String {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    db.query_with(&request, &RequestContext::new()).unwrap().to_json().unwrap().0
}

fn nodes(db: &Database, table: Table, options: NodeOptions) -> Result<crate::db::LoadReport> {
    db.load_nodes_with(table, options, &RequestContext::new())
}

fn edges(db: &Database, table: Table, options: EdgeOptions) -> Result<crate::db::LoadReport> {
    db.load_edges_with(table, options, &RequestContext::new())
}

fn person() -> NodeOptions {
    NodeOptions { node_types: vec!["Person".to_owned()], ..NodeOptions::default() }
}

#[test]
fn columns_become_predicates_of_their_types() {
    let db = Database::in_memory();
    let vectors = ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(3), Some(1)]),
        None,
        Some(vec![]),
    ]);
    let embedding = arrow_array::FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(
        [Some(vec![Some(1.0), Some(2.5)]), None, Some(vec![Some(0.0), Some(1.0)])],
        2,
    );
    let rows = batch(vec![
        ("id", texts(&["a", "b", "c"])),
        ("age", Arc::new(Int64Array::from(vec![Some(41), None, Some(7)]))),
        ("size", Arc::new(Float64Array::from(vec![1.5, f64::NAN, 2.0]))),
        ("alive", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("born", Arc::new(TimestampMillisecondArray::from(vec![-1, 0, 1500]))),
        ("scores", Arc::new(vectors)),
        ("embedding", Arc::new(embedding)),
    ]);
    let report = nodes(&db, table(vec![rows]), person()).unwrap();
    assert_eq!((report.nodes, report.triples), (3, 3 + 2 + 2 + 3 + 3 + 2 + 2 + 3));
    let schema = db.schema_text().unwrap();
    for line in [
        "age: int .",
        "scores: [int] .",
        "embedding: float32vector .",
        "id: string @index(hash) @upsert @unique",
    ] {
        assert!(schema.contains(line), "{line}: {schema}");
    }
    let want = concat!(
        r#"{"q":[{"id":"a","age":41,"size":1.5,"alive":true,"born":"1969-12-31T23:59:59.999Z","#,
        r#""scores":[1,3],"embedding":[1E+00,2.5E+00]},"#,
        r#"{"id":"b","alive":false,"born":"1970-01-01T00:00:00Z"},"#,
    );
    let all = json(&db, "{ q(func: type(Person)) { id age size alive born scores embedding } }");
    assert!(all.starts_with(want), "{all}");
    assert_eq!(
        json(&db, r#"{ q(func: eq(id, "b")) { expand(Person) } }"#).matches("id").count(),
        1
    );
}

/// An export of a year with five digits could not be loaded again.
#[test]
fn times_that_no_text_can_say_are_refused() {
    let (first, last) = (-62_167_219_200_000, 253_402_300_799_999);
    for far in [first - 1, last + 1, i64::MIN, i64::MAX] {
        let times: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![first, far, last]));
        let rows = || table(vec![batch(vec![("id", ints(&[1, 2, 3])), ("at", times.clone())])]);
        let db = Database::in_memory();
        let reported = nodes(&db, rows(), person()).unwrap_err().to_string();
        assert!(reported.contains("row 2") && reported.contains("from 0 to 9999"), "{reported}");
        let options = TableOptions { skip_errors: true, ..TableOptions::default() };
        let report = nodes(&db, rows(), NodeOptions { table: options, ..person() }).unwrap();
        assert_eq!(report.skipped, 1);
        assert_eq!(
            json(&db, "{ q(func: has(at), orderasc: at) { at } }"),
            r#"{"q":[{"at":"0000-01-01T00:00:00Z"},{"at":"9999-12-31T23:59:59.999Z"}]}"#
        );
    }
}

#[test]
fn edges_find_the_nodes_of_loads_before() {
    let db = Database::in_memory();
    let rows = batch(vec![("id", ints(&[10, 20, 30])), ("name", texts(&["Ada", "Bob", "Eve"]))]);
    nodes(&db, table(vec![rows.slice(0, 2)]), person()).unwrap();
    nodes(&db, table(vec![rows]), person()).unwrap();
    let rows = batch(vec![
        ("src", ints(&[30, 10, 10, 30, 40])),
        ("dst", Arc::new(Int64Array::from(vec![Some(10), Some(30), Some(20), None, Some(10)]))),
        ("since", ints(&[1, 2, 3, 4, 5])),
    ]);
    let options = EdgeOptions {
        facets: vec![("since".into(), "year".into())],
        table: TableOptions {
            schema: Some("knows: [uid] @reverse .".into()),
            ..TableOptions::default()
        },
        ..EdgeOptions::new("knows", "src", "dst")
    };
    let report = edges(&db, table(vec![rows]), options).unwrap();
    // Four edges, and the id and the type of the new node.
    assert_eq!((report.nodes, report.triples), (4, 6));
    assert_eq!(
        json(&db, "{ q(func: eq(id, 10)) { knows @facets(year) { name } ~knows { id } } }"),
        r#"{"q":[{"knows":[{"name":"Bob","knows|year":3},{"name":"Eve","knows|year":2}],"~knows":[{"id":30},{"id":40}]}]}"#
    );
    assert_eq!(json(&db, "{ q(func: type(Person)) { count(uid) } }"), r#"{"q":[{"count":4}]}"#);
}

#[test]
fn uids_of_all_sizes() {
    let db = Database::in_memory();
    let uids: ArrayRef = Arc::new(UInt64Array::from(vec![5, 1 << 40, u64::MAX - 1]));
    let rows = batch(vec![("a", uids.clone()), ("b", texts(&["0x6", "7", "0x10000000000"]))]);
    let (source_ids, target_ids) = (Some(IdSpace::Uid), Some(IdSpace::Uid));
    let options = EdgeOptions { source_ids, target_ids, ..EdgeOptions::new("to", "a", "b") };
    edges(&db, table(vec![rows]), options).unwrap();
    assert_eq!(
        json(&db, "{ q(func: has(to)) { uid to { uid } } }"),
        r#"{"q":[{"uid":"0x5","to":[{"uid":"0x6"}]},{"uid":"0x10000000000","to":[{"uid":"0x7"}]},{"uid":"0xfffffffffffffffe","to":[{"uid":"0x10000000000"}]}]}"#
    );
    let rows = batch(vec![("a", ints(&[3, 0])), ("b", ints(&[1, 1]))]);
    let options = EdgeOptions {
        source_ids: Some(IdSpace::Uid),
        target_ids: Some(IdSpace::Uid),
        ..EdgeOptions::new("to", "a", "b")
    };
    let error = edges(&db, table(vec![rows]), options).unwrap_err().to_string();
    assert_eq!(error, r#"<table>:2:1: row 2, column "a": "0": it is the uid of no node"#);
}

#[test]
fn what_does_not_fit_is_named() {
    let db = Database::in_memory();
    db.alter("age: int .\nname: string .\nfriend: uid .").unwrap();
    let rows = || batch(vec![("id", ints(&[1, 2])), ("age", texts(&["41", "old"]))]);
    let error = nodes(&db, table(vec![rows()]), person()).unwrap_err().to_string();
    assert!(error.starts_with(r#"<table>:2:2: row 2, column "age": "old": "#), "{error}");
    assert_eq!(db.stats().unwrap().nodes, 0);
    let mut options = person();
    options.table.skip_errors = true;
    let report = nodes(&db, table(vec![rows()]), options).unwrap();
    assert_eq!((report.skipped, report.nodes), (1, 2));
    assert_eq!(json(&db, "{ q(func: has(age)) { age } }"), r#"{"q":[{"age":41}]}"#);
    let options = NodeOptions { id: Some("key".into()), ..NodeOptions::default() };
    let error = nodes(&db, table(vec![rows()]), options).unwrap_err().to_string();
    let hint =
        r#"say which column names the nodes, id="id", or id=None where each row is a new node"#;
    assert_eq!(error, format!(r#"<table> has no column "key"; it has "id", "age" ({hint})"#));
    let bad = batch(vec![("id", ints(&[1])), ("first name", texts(&["x"]))]);
    let mut keeping = person();
    keeping.table.names = Names::Retain;
    let error = nodes(&db, table(vec![bad]), keeping).unwrap_err().to_string();
    assert!(error.starts_with(r#"column "first name": "#), "{error}");
    let bad = batch(vec![("id", ints(&[1])), ("friend", ints(&[2]))]);
    let error = nodes(&db, table(vec![bad]), person()).unwrap_err().to_string();
    assert!(error.contains("load_edges"), "{error}");
    let bad = batch(vec![("id", Arc::new(Int64Array::from(vec![None, Some(1)])) as ArrayRef)]);
    let error = nodes(&db, table(vec![bad]), person()).unwrap_err().to_string();
    assert!(error.contains("row 1, column \"id\": a row of nodes has no id"), "{error}");
}

fn file(name: &str, content: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    File::create(&path).unwrap().write_all(content).unwrap();
    (folder, path)
}

#[test]
fn csv_files() {
    let text = "id,zip,born,size\n7,01234,2020-02-03 04:05:06,1.5\n8,,2020-02-03 04:05:06.25,\n";
    let (_folder, path) = file("a.csv", text.as_bytes());
    let db = Database::in_memory();
    let mut options = person();
    options.table.types.insert("zip".to_owned(), ValueType::String);
    let columns = [("size".to_owned(), None), ("born".to_owned(), Some("birth".to_owned()))];
    options.columns.extend(columns);
    nodes(&db, Table::File(path), options).unwrap();
    assert_eq!(
        json(&db, "{ q(func: type(Person)) { id zip birth size } }"),
        r#"{"q":[{"id":7,"zip":"01234","birth":"2020-02-03T04:05:06Z"},{"id":8,"birth":"2020-02-03T04:05:06.25Z"}]}"#
    );
    let packed = zstd::encode_all("id\tname\n7\tAda\n".as_bytes(), 1).unwrap();
    let (_folder, path) = file("b.tsv.zst", &packed);
    nodes(&db, Table::File(path), NodeOptions::default()).unwrap();
    assert_eq!(json(&db, "{ q(func: eq(id, 7)) { name } }"), r#"{"q":[{"name":"Ada"}]}"#);
    let (_folder, path) = file("c.doc", b"");
    let error = nodes(&db, Table::File(path), NodeOptions::default()).unwrap_err().to_string();
    assert!(
        error.contains("c.doc: a table is read from .parquet, .csv, .tsv")
            && error.contains("or .feather (a file whose name has no extension"),
        "{error}"
    );
}

/// Where the schema has texts they retain their digits, also where the predicate's name was made of
/// the column's.
#[test]
fn texts_of_a_column_that_was_renamed_stay_texts() {
    let db = Database::in_memory();
    for text in ["id,Unit Price\n1,about 2\n", "id,Unit Price\n2,1.50\n"] {
        let (_folder, path) = file("a.csv", text.as_bytes());
        nodes(&db, Table::File(path), person()).unwrap();
    }
    let result = json(&db, "{ q(func: eq(id, 2)) { Unit_Price } }");
    assert_eq!(result, r#"{"q":[{"Unit_Price":"1.50"}]}"#);
}

/// Each cell that is left out is read by itself, and not by going through those before it.
#[test]
fn many_skipped_cells_need_linear_time() {
    let db = Database::in_memory();
    let rows = 60_000;
    let cells = (0..rows).map(|row| format!("{row},text\n")).collect::<String>();
    let (_folder, path) = file("a.csv", format!("id,age\n{cells}").as_bytes());
    let mut options = person();
    options.table.types.insert("age".to_owned(), ValueType::Int);
    options.table.skip_errors = true;
    let started = Instant::now();
    assert_eq!(nodes(&db, Table::File(path), options).unwrap().skipped, rows);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

#[test]
fn parquet_files_of_many_row_groups() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.parquet");
    let count = 150_000;
    let rows = batch(vec![
        ("unused", ints(&vec![0; count])),
        ("to", ints(&(0..count as i64).map(|row| row * 7 % 1000).collect::<Vec<_>>())),
        ("from", ints(&(0..count as i64).map(|row| row / 150).collect::<Vec<_>>())),
    ]);
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(20_000)).build();
    let output = File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(output, rows.schema(), Some(properties)).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
    let loaded = |table| {
        let db = Database::in_memory();
        let mut options = EdgeOptions::new("e", "from", "to");
        options.table.schema = Some("e: [uid] @reverse .".into());
        let report = edges(&db, table, options).unwrap();
        assert_eq!((report.nodes, report.triples), (1000, count as u64 + 1000));
        json(&db, "{ q(func: eq(xid, [3, 999])) { uid xid e { uid xid } ~e { uid xid } } }")
    };
    let want = loaded(table(vec![rows]));
    assert_eq!(loaded(Table::File(path)), want);
}

#[test]
fn cells_of_text_files_are_named_by_their_lines() {
    let db = Database::in_memory();
    let text = "id,note,age,born\n1,\"two\nlines\",41,2020-01-01\n2,x,old,2020-01-01\n3,y,7,soon\n";
    let (_folder, path) = file("a.csv", text.as_bytes());
    let mut options = person();
    options.table.schema = Some("age: int .\nborn: datetime .".to_owned());
    options.table.types.insert("age".to_owned(), ValueType::Int);
    options.table.types.insert("born".to_owned(), ValueType::DateTime);
    let fault = nodes(&db, Table::File(path.clone()), options.clone()).unwrap_err().to_string();
    let want = format!(
        "{}:4:3: row 2, column \"age\": \"old\": it is no int; a value of type int is expected, such as 42",
        path.display()
    );
    assert_eq!(fault, want);
    options.table.skip_errors = true;
    let report = nodes(&db, Table::File(path.clone()), options.clone()).unwrap();
    let lines: Vec<u64> = report.skipped_lines.iter().map(|line| line.line).collect();
    assert_eq!((lines, report.nodes), (vec![4, 5], 3));
    options.columns.insert("nots".to_owned(), None);
    let fault = nodes(&db, Table::File(path), options).unwrap_err().to_string();
    assert!(
        fault.contains(
            r#"no column "nots"; it has "id", "note", "age", "born" (did you mean `note`?)"#
        ),
        "{fault}"
    );
    let (_folder, path) = file("b.csv", b"id,age\n1,2\n3\n");
    let fault = nodes(&db, Table::File(path), NodeOptions::default()).unwrap_err().to_string();
    assert!(fault.contains("b.csv:3:1: "), "{fault}");
}

#[test]
fn words_for_missing_values_make_no_texts_of_numbers() {
    let db = Database::in_memory();
    let mut text = "id,pop,share,open,land\n1,7,0.5,true,NA\n2,n/a,-,none,DE\n".to_owned();
    (3..1500).for_each(|id| text.push_str(&format!("{id},{id},1,false,FR\n")));
    // Behind what is guessed from, too.
    text.push_str("1500,Unknown, ? ,NULL,NA\n");
    let (_folder, path) = file("a.csv", text.as_bytes());
    // Loaded twice, since the schema determines the types the second time.
    for _ in 0..2 {
        nodes(&db, Table::File(path.clone()), person()).unwrap();
    }
    let schema = db.schema_text().unwrap();
    for line in ["pop: int .", "share: float .", "open: bool .", "land: string ."] {
        assert!(schema.contains(line), "{schema}");
    }
    let result = json(&db, r#"{ q(func: eq(id, [1, 2, 1500])) { id pop share open land } }"#);
    let want = concat!(
        r#"{"q":[{"id":1,"pop":7,"share":0.5,"open":true,"land":"NA"},"#,
        r#"{"id":2,"land":"DE"},{"id":1500,"land":"NA"}]}"#
    );
    assert_eq!(result, want);
}

#[test]
fn uneven_rows_behind_the_first_ones_are_named_by_their_lines() {
    let db = Database::in_memory();
    // The second row has two lines, and one is empty.
    let mut text = "id,note\n0,x\n1,\"two\nlines\"\n\n".to_owned();
    (2..3000).for_each(|id| text.push_str(&format!("{id},x\n")));
    text.push_str("3000,x,y\n");
    let (_folder, path) = file("a.csv", text.as_bytes());
    let fault = nodes(&db, Table::File(path.clone()), person()).unwrap_err().to_string();
    let line = text.lines().count();
    let want = "this record has 3 fields, and the table has 2 columns; ragged=\"skip\" leaves such records out";
    assert_eq!(fault, format!("{}:{line}:1: {want}", path.display()));
}

#[test]
fn facets_that_fail_are_named_by_their_rows() {
    let db = Database::in_memory();
    let text = "a,b,w\n1,2,5\n2,3,6\n3,4,x\n4,5,7\n";
    let (_folder, path) = file("a.csv", text.as_bytes());
    let mut options = EdgeOptions::new("knows", "a", "b");
    options.facets = vec![("w".to_owned(), "w^^int".to_owned())];
    options.table.types.insert("w".to_owned(), ValueType::String);
    let fault = edges(&db, Table::File(path.clone()), options).unwrap_err().to_string();
    assert!(fault.starts_with(&format!("{}:4:3: row 3, column \"w\"", path.display())), "{fault}");
}

#[test]
fn a_later_load_adds_its_columns_to_the_type() {
    let db = Database::in_memory();
    let rows = |name: &str| table(vec![batch(vec![("id", ints(&[1, 2])), (name, ints(&[3, 4]))])]);
    nodes(&db, rows("age"), person()).unwrap();
    nodes(&db, rows("height"), person()).unwrap();
    nodes(&db, rows("age"), person()).unwrap();
    let schema = db.schema_text().unwrap();
    let start = schema.find("type Person").unwrap();
    let fields: Vec<&str> = schema[start..].lines().skip(1).map(str::trim).take(4).collect();
    assert_eq!(fields, ["id", "age", "height", "}"], "{schema}");
    let result = json(&db, "{ q(func: eq(id, 1)) { expand(_all_) } }");
    assert_eq!(result, r#"{"q":[{"age":3,"height":3,"id":1}]}"#);
    let own = NodeOptions { node_types: vec!["dgraph.Own".to_owned()], ..person() };
    let fault = nodes(&db, rows("age"), own).unwrap_err().to_string();
    assert!(fault.starts_with("Can't alter type `dgraph.Own`"), "{fault}");
}

#[test]
fn reports_say_what_is_new_and_what_came_again() {
    let db = Database::in_memory();
    let people = batch(vec![("id", ints(&[1, 2, 3])), ("age", ints(&[7, 8, 9]))]);
    let report = nodes(&db, table(vec![people.clone()]), person()).unwrap();
    assert_eq!((report.nodes, report.new_nodes, report.merged), (3, 3, 0));
    assert_eq!(nodes(&db, table(vec![people]), person()).unwrap().new_nodes, 0);
    let links = |w: &[i64]| {
        let (from, to) = (ints(&[1, 1, 1, 4]), ints(&[2, 2, 3, 1]));
        table(vec![batch(vec![("a", from), ("b", to), ("w", ints(w))])])
    };
    let mut options = EdgeOptions::new("knows", "a", "b");
    options.facets = vec![("w".to_owned(), "w".to_owned())];
    let report = edges(&db, links(&[1, 2, 3, 4]), options.clone()).unwrap();
    assert_eq!((report.new_nodes, report.merged), (1, 1));
    assert_eq!(report.warnings.len(), 1, "{:?}", report.warnings);
    assert!(report.warnings[0].starts_with("1 edges or values came more"), "{:?}", report.warnings);
    assert_eq!(edges(&db, links(&[5, 6, 7, 8]), options.clone()).unwrap().merged, 4);
    // Ids of another predicate: none exists.
    let other = Some(IdSpace::Predicate("code".to_owned()));
    (options.source_ids, options.target_ids) = (other.clone(), other);
    let report = edges(&db, links(&[1, 2, 3, 4]), options).unwrap();
    assert_eq!(report.new_nodes, 4);
    let warning = report.warnings.iter().find(|it| it.contains("all 4 nodes")).unwrap();
    assert!(
        warning.contains("no node had one of their ids in `code`: name the predicate"),
        "{warning}"
    );
    // Where there are no nodes yet, edges may make them all.
    let report =
        edges(&Database::in_memory(), links(&[1, 1, 1, 1]), EdgeOptions::new("knows", "a", "b"));
    let report = report.unwrap();
    assert_eq!((report.new_nodes, report.warnings.len()), (4, 0));
}

/// What names the nodes of a table when the options do not say so.
#[test]
fn ids_are_stored_in_the_predicate_of_their_column() {
    let db = Database::in_memory();
    let own = |id: &str| NodeOptions { id: Some(id.to_owned()), ..NodeOptions::default() };
    let airports = || table(vec![batch(vec![("iata", texts(&["ZRH", "JFK"]))])]);
    nodes(&db, airports(), own("iata")).unwrap();
    let schema = db.schema_text().unwrap();
    assert!(schema.contains("iata: string @index(hash) @upsert @unique ."), "{schema}");
    assert!(!schema.contains("xid"), "{schema}");
    let routes = || table(vec![batch(vec![("a", texts(&["ZRH"])), ("b", texts(&["JFK"]))])]);
    let report = edges(&db, routes(), EdgeOptions::new("route", "a", "b")).unwrap();
    assert_eq!((report.new_nodes, report.nodes), (0, 2));
    // A second one makes it unclear, unless a column is called as it is.
    nodes(&db, table(vec![batch(vec![("code", texts(&["CH"]))])]), own("code")).unwrap();
    let fault = edges(&db, routes(), EdgeOptions::new("route", "a", "b")).unwrap_err().to_string();
    let want = "column \"a\": nodes are named by code and by iata, which of them is meant? (say it with `on=`";
    assert!(fault.starts_with(want), "{fault}");
    let lies = batch(vec![("iata", texts(&["ZRH"])), ("code", texts(&["CH"]))]);
    let report = edges(&db, table(vec![lies]), EdgeOptions::new("in", "iata", "code")).unwrap();
    assert_eq!(report.new_nodes, 0);
    // A database that has its ids in `xid` goes on so.
    let old = Database::in_memory();
    old.alter("xid: string @index(hash) .").unwrap();
    nodes(&old, airports(), own("iata")).unwrap();
    assert_eq!(
        json(&old, r#"{ q(func: eq(xid, "ZRH")) { xid iata } }"#),
        r#"{"q":[{"xid":"ZRH"}]}"#
    );
}

#[test]
fn edges_to_no_node_are_made_skipped_or_refused() {
    let db = Database::in_memory();
    let ids = batch(vec![("id", ints(&[1, 2]))]);
    nodes(&db, table(vec![ids]), NodeOptions::default()).unwrap();
    let links = || {
        let (a, b) = (ints(&[1, 1, 7, 1, 2]), ints(&[2, 9, 1, 2, 9]));
        table(vec![batch(vec![("a", a), ("b", b)])])
    };
    let with = |missing| EdgeOptions { missing, ..EdgeOptions::new("knows", "a", "b") };
    let fault = edges(&db, links(), with(Missing::Raise)).unwrap_err().to_string();
    assert!(fault.starts_with("3 ends of edges are no nodes: \"9\", \"7\" ("), "{fault}");
    assert_eq!(json(&db, "{ q(func: has(knows)) { count(uid) } }"), r#"{"q":[{"count":0}]}"#);
    let report = edges(&db, links(), with(Missing::Skip)).unwrap();
    assert_eq!((report.triples, report.new_nodes, report.repeated), (2, 0, 1));
    assert_eq!((report.lost.count, report.lost.first), (3, vec!["9".to_owned(), "7".to_owned()]));
    let report = edges(&db, links(), with(Missing::Make)).unwrap();
    // The edge from 1 to 2 came twice, and was there.
    assert_eq!((report.new_nodes, report.repeated, report.lost.count), (2, 2, 0));
}

#[test]
fn two_columns_make_a_point() {
    let db = Database::in_memory();
    let north: ArrayRef = Arc::new(Float64Array::from(vec![Some(47.5), None, Some(91.0)]));
    let rows = |len| {
        let row = batch(vec![
            ("id", ints(&[1, 2, 3])),
            ("lat", north.clone()),
            ("lon", ints(&[8, 9, 9])),
        ]);
        table(vec![row.slice(0, len)])
    };
    let point = PointColumns {
        predicate: "place".to_owned(),
        latitude: "lat".to_owned(),
        longitude: "lon".to_owned(),
    };
    let options = || NodeOptions { points: vec![point.clone()], ..NodeOptions::default() };
    nodes(&db, rows(2), options()).unwrap();
    assert_eq!(
        json(&db, "{ q(func: has(id)) { id lat place } }"),
        r#"{"q":[{"id":1,"lat":47.5,"place":{"type":"Point","coordinates":[8,47.5]}},{"id":2}]}"#
    );
    let fault = nodes(&db, rows(3), options()).unwrap_err().to_string();
    assert!(fault.contains("row 3, column \"lat\"") && fault.contains("91"), "{fault}");
}

#[test]
fn infinities_are_refused() {
    let db = Database::in_memory();
    let scores: ArrayRef = Arc::new(Float64Array::from(vec![1.0, f64::INFINITY, f64::NAN]));
    let rows = batch(vec![("id", ints(&[1, 2, 3])), ("score", scores)]);
    let fault = nodes(&db, table(vec![rows.clone()]), person()).unwrap_err().to_string();
    assert!(
        fault.contains("row 2, column \"score\"") && fault.contains("infinity is no value"),
        "{fault}"
    );
    // As facets, too.
    let weights: ArrayRef = Arc::new(Float64Array::from(vec![0.5, f64::NEG_INFINITY]));
    let columns = vec![("a", ints(&[1, 2])), ("b", ints(&[2, 3])), ("w", weights)];
    let mut existing = EdgeOptions::new("knows", "a", "b");
    existing.facets = vec![("w".to_owned(), "w".to_owned())];
    let fault = edges(&db, table(vec![batch(columns)]), existing).unwrap_err().to_string();
    assert!(
        fault.contains("row 2, column \"w\"") && fault.contains("infinity is no value"),
        "{fault}"
    );
    let mut options = person();
    options.table.skip_errors = true;
    assert_eq!(nodes(&db, table(vec![rows]), options).unwrap().skipped, 1);
    assert_eq!(json(&db, "{ q(func: has(score)) { score } }"), r#"{"q":[{"score":1}]}"#);
}

#[test]
fn a_load_of_passwords_can_be_stopped() {
    let db = Database::in_memory();
    db.alter("secret: password .").unwrap();
    let secrets: Vec<String> = (0..400).map(|row| format!("password {row}")).collect();
    let secrets = texts(&secrets.iter().map(String::as_str).collect::<Vec<_>>());
    let ids = ints(&(0..400).collect::<Vec<_>>());
    let context = RequestContext::new().with_timeout(Duration::from_millis(150));
    let started = Instant::now();
    let rows = table(vec![batch(vec![("id", ids), ("secret", secrets)])]);
    let error = db.load_nodes_with(rows, person(), &context).unwrap_err().to_string();
    assert!(error.contains("timeout"), "{error}");
    // The cancelled load still runs, and holds the writer lock until it stops.
    db.mutate("_:n <name> \"Ada\" .", "").unwrap();
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    assert_eq!(json(&db, "{ q(func: has(secret)) { uid } }"), r#"{"q":[]}"#);
}

#[test]
fn several_tables_at_once() {
    let db = Database::in_memory();
    let rows = |id: &[i64]| batch(vec![("id", ints(id)), ("age", ints(id))]);
    let tables = vec![table(vec![rows(&[1, 2])]), table(vec![rows(&[2, 3])])];
    let report = db.load_nodes_with(tables, person(), &RequestContext::new()).unwrap();
    assert_eq!(report.nodes, 3);
    db.alter("age: int @index(int) @unique .").unwrap();
    let same = |ids: &[i64]| batch(vec![("id", ints(ids)), ("age", ints(&[40, 40]))]);
    let tables = vec![table(vec![rows(&[7])]), table(vec![same(&[8, 9])])];
    let fault =
        db.load_nodes_with(tables, person(), &RequestContext::new()).unwrap_err().to_string();
    let want = "`age` is `@unique`, but row 1 of <table> and row 2 of <table> both have \"40\"";
    assert!(fault.starts_with(want), "{fault}");
    assert_eq!(json(&db, "{ q(func: has(age)) { count(uid) } }"), r#"{"q":[{"count":3}]}"#);
}

const EXPORTED: &str = r#"<1> <name> "A\"b" (w=1.5) .
<1> <name> "Ä"@de (since=2020-01-02) .
<1> <dgraph.type> "Person" .
<1> <dgraph.type> "Agent" .
<2> <dgraph.type> "Person" (sure=true) .
<2> <name> "Bob" (w=2,w2="text") .
<2> <tag> "x" (n=1) .
<2> <tag> "y" .
<2> <tag> "z" (n="one") .
<3> <born> "2006-01-02T15:04:05+07:00" .
<4> <born> "1000-01-02" .
<1> <seen> "2006-01-02T15:04:05.123456789Z" .
<2> <seen> "2006-01-02" .
<1> <key> "secret" .
<3> <any> "5"^^<xs:int> .
<4> <any> "five" .
<1> <any> "true"^^<xs:boolean> .
<2> <any> "2020-01-01"^^<xs:dateTime> .
<1> <many> "7"^^<xs:int> (f=1) .
<1> <many> "seven" .
<1> <size> "2.5" .
<2> <size> "1e300" .
<1> <ok> "true" .
<1> <at> "{'type':'Point','coordinates':[1.5,2.5]}"^^<geo:geojson> .
<1> <vector> "[0.1, 2, 3e-8]" .
<0xffffffffff> <name> "far" .
<1> <knows> <2> (since=2006-01-02T15:04:05+07:00,w=1) .
<1> <knows> <0xffffffffff> (w="text") .
<2> <knows> <1> .
<2> <boss> <0xffffffffff> (source=1, target="b") .
<5> <boss> <1> .
"#;

const EXPORTED_SCHEMA: &str = "name: string @lang @index(term) .\nborn: datetime .\n\
    seen: datetime @index(hour) .\nkey: password .\nany: default .\nmany: [default] .\n\
    size: float .\nok: bool .\nat: geo @index(geo) .\nvector: float32vector .\n\
    tag: [string] .\nknows: [uid] @reverse .\nboss: uid .\ntype Person {\n name\n}";

#[test]
fn a_folder_of_tables_loads_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let db = Database::in_memory();
    db.alter(EXPORTED_SCHEMA).unwrap();
    let source = crate::db::Source::Bytes(EXPORTED.into());
    db.load_with(source, None, Default::default(), &RequestContext::new()).unwrap();
    let report = db.export_as_with(&path("graph.parquet"), &RequestContext::new()).unwrap();
    let again = db.export_as_with(&path("graph.parquet"), &RequestContext::new());
    assert!(again.unwrap_err().to_string().contains("exists"));
    let copy = Database::in_memory();
    let options = TableOptions::default();
    let loaded =
        copy.load_folder_with(&path("graph.parquet"), options, &RequestContext::new()).unwrap();
    assert_eq!((loaded.triples, loaded.nodes), (report.triples, 6));
    let rdf = |db: &Database, name: &str| {
        let count = db.export_as_with(&path(name), &RequestContext::new()).unwrap().triples;
        assert_eq!(count, report.triples);
        std::fs::read_to_string(path(name)).unwrap()
    };
    assert_eq!(rdf(&copy, "copy.rdf"), rdf(&db, "own.rdf"));
    assert_eq!(copy.schema_text().unwrap(), db.schema_text().unwrap());
    let mut names: Vec<String> = std::fs::read_dir(path("graph.parquet"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let want = [
        "edges.boss.parquet",
        "edges.knows.parquet",
        "graph.schema",
        "nodes.Agent.parquet",
        "nodes.Person.parquet",
        "nodes.parquet",
    ];
    assert_eq!(names, want);
}

#[test]
fn a_folder_of_tables_has_the_graphql_schema() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.parquet");
    let text = "type Film { id: ID! title: String! }";
    let db = Database::in_memory();
    db.set_graphql_schema(text).unwrap();
    db.mutate("<0x10> <Film.title> \"M\" .\n<0x10> <dgraph.type> \"Film\" .", "").unwrap();
    let report = db.export_as_with(&path, &RequestContext::new()).unwrap();
    assert_eq!((report.triples, report.graphql_schema), (2, Some(path.join("graph.graphql"))));
    let load = || {
        let copy = Database::in_memory();
        let loaded = copy.load_folder_with(&path, TableOptions::default(), &RequestContext::new());
        loaded.map(|_| copy)
    };
    let copy = load().unwrap();
    assert_eq!(copy.graphql_schema().unwrap().unwrap().schema, text);
    assert_eq!(copy.schema_text().unwrap(), db.schema_text().unwrap());
    let dql = "{ q(func: has(Film.title)) { uid Film.title } }";
    assert_eq!(json(&copy, dql), json(&db, dql));
    fs::write(path.join("graph.graphql"), "type Film {").unwrap();
    assert!(load().is_err());
}

/// A file with a name, a list and a number in two row groups of three and two rows.
fn two_groups(path: &Path) {
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(1), Some(2)]),
        None,
        Some(vec![]),
        Some(vec![Some(3)]),
        Some(vec![None]),
    ]);
    let rows = batch(vec![
        ("name", texts(&["a", "b", "c", "d", "e"])),
        ("numbers", Arc::new(lists)),
        ("age", ints(&[1, 2, 3, 4, 5])),
    ]);
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(3)).build();
    let mut writer =
        ArrowWriter::try_new(File::create(path).unwrap(), rows.schema(), Some(properties)).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
}

/// The same file, whose metadata say that it has so many rows, that its groups have so many, and
/// that their columns have so many values.
fn claiming(path: &Path, rows: i64, groups: [i64; 2], values: [Option<i64>; 2]) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    let metadata =
        ParquetMetaDataReader::new().parse_and_finish(&File::open(path).unwrap()).unwrap();
    let old = metadata.file_metadata();
    let file = FileMetaData::new(
        old.version(),
        rows,
        old.created_by().map(str::to_owned),
        old.key_value_metadata().cloned(),
        old.schema_descr_ptr(),
        old.column_orders().cloned(),
    );
    let group = |(position, group): (usize, &RowGroupMetaData)| {
        let column = |column: &ColumnChunkMetaData| {
            let count = values[position].unwrap_or(column.num_values());
            column.clone().into_builder().set_num_values(count).build().unwrap()
        };
        let columns = group.columns().iter().map(column).collect();
        let builder = group.clone().into_builder().set_num_rows(groups[position]);
        builder.set_column_metadata(columns).build().unwrap()
    };
    let groups = metadata.row_groups().iter().enumerate().map(group).collect();
    let end = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) as usize;
    let mut claiming = bytes[..end - length].to_vec();
    let metadata = ParquetMetaData::new(file, groups);
    ParquetMetaDataWriter::new(&mut claiming, &metadata).finish().unwrap();
    claiming
}

/// What a file says of its rows is not believed: it is refused, and nothing of it is there.
#[test]
fn counts_of_rows_are_claims() {
    const MANY: i64 = 1 << 60;
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("a.parquet"), folder.path().join("b.parquet"));
    two_groups(&path);
    // By an id, as new nodes, and without any column.
    let without = || ["name", "numbers", "age"].map(|name| (name.to_owned(), None));
    let variants = || {
        let id = Some("name".to_owned());
        let new = || NodeOptions { id: None, ..person() };
        let none = NodeOptions { columns: without().into(), ..new() };
        [NodeOptions { id, ..person() }, new(), none]
    };
    for (rows, groups, values, is_right) in [
        (5, [3, 2], [None; 2], true),
        (5, [-3, 8], [None; 2], false),
        (MANY + 2, [MANY, 2], [None; 2], false),
        (MANY, [MANY - 2, 2], [None; 2], false),
        (2 * MANY, [MANY; 2], [Some(MANY); 2], false),
        (1 << 41, [1 << 40; 2], [Some(1 << 40); 2], false),
        (6, [3; 2], [Some(3); 2], false),
        (5, [2, 3], [Some(2), Some(3)], false),
        (4, [2, 2], [Some(2), None], false),
        (7, [5, 2], [Some(5), None], false),
    ] {
        fs::write(&other, claiming(&path, rows, groups, values)).unwrap();
        for (variant, options) in variants().into_iter().enumerate() {
            let db = Database::in_memory();
            let reported = nodes(&db, Table::File(other.clone()), options);
            let case = format!("{rows} {groups:?} {values:?} {variant}");
            match reported {
                Ok(report) => assert!(is_right && report.nodes == 5, "{case}: {report:?}"),
                Err(error) => {
                    assert!(
                        !is_right && error.to_string().contains("b.parquet"),
                        "{case}: {error}"
                    );
                }
            }
            let all = json(&db, "{ q(func: type(Person)) { count(uid) } }");
            assert_eq!(all.contains("5"), is_right, "{case}: {all}");
        }
    }
}

/// Bytes that differ are an error or the same table, and never a panic, an endless load or a part
/// of one.
#[test]
fn damaged_parquet_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    two_groups(&path);
    let bytes = fs::read(&path).unwrap();
    let mut state = 7_u64;
    let mut random = |most: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most
    };
    let (mut refused, rounds) = (0, 300);
    for round in 0..rounds {
        let mut damaged = bytes.clone();
        for _ in 0..=random(3) {
            // Half of the changes are in the metadata, which are at the end.
            let position = if round % 2 == 0 {
                random(bytes.len())
            } else {
                bytes.len() - 1 - random(bytes.len() / 2)
            };
            match random(4) {
                0 => damaged[position] = random(256) as u8,
                1 => damaged[position] ^= 1 << random(8),
                2 => damaged[position] = 0xff,
                _ if round % 8 == 0 => damaged.truncate(position.max(damaged.len() / 2)),
                _ => damaged.swap(position, 4 + random(bytes.len() - 4)),
            }
            damaged.resize(bytes.len(), 0);
        }
        fs::write(&path, &damaged).unwrap();
        let db = Database::in_memory();
        let options = NodeOptions { id: None, ..person() };
        match nodes(&db, Table::File(path.clone()), options) {
            Ok(report) => assert_eq!(report.nodes, 5, "round {round}"),
            Err(error) => {
                let reported = error.to_string();
                assert!(!reported.contains("a fault of hexgraph"), "round {round}: {reported}");
                assert_eq!(
                    json(&db, "{ q(func: type(Person)) { count(uid) } }"),
                    r#"{"q":[{"count":0}]}"#
                );
                refused += 1;
            }
        }
    }
    assert!(rounds / 4 < refused && refused < rounds, "{refused}");
}
