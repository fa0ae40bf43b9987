//! Cells and columns that can't be stored: what is told of them, and what becomes of the others.

use super::*;
use arrow_array::Array;
use arrow_schema::{DataType, Field, Schema};

/// A table of ids from 1 and a column `a`.
fn with_ids(column: ArrayRef) -> Table {
    let ids = ints(&(1..=column.len() as i64).collect::<Vec<_>>());
    table(vec![batch(vec![("id", ids), ("a", column)])])
}

fn fault(db: &Database, rows: Table) -> String {
    nodes(db, rows, NodeOptions::default()).unwrap_err().to_string()
}

/// The rest of the file was one cell.
#[test]
fn a_quote_that_is_not_closed_is_an_error() {
    let db = Database::in_memory();
    let rows = (0..2000).map(|row| format!("{row},\"x\"\"\n{row}\"\n")).collect::<String>();
    for (text, line) in [
        ("id,a\nx,\"abc\ny,2\n".to_owned(), 2),
        ("id,a,b\nx,\"abc,1\ny,2,3\n".to_owned(), 2),
        (format!("id,a\n{rows}z,\"open\n5,6\n"), 4002),
    ] {
        let (_folder, path) = file("a.csv", text.as_bytes());
        let told = fault(&db, Table::File(path.clone()));
        let want = format!("{}:{line}:1: a quote opens here that is never closed", path.display());
        assert!(told.starts_with(&want), "{told}");
    }
    let (_folder, path) = file("a.csv", format!("id,a\n{rows}").as_bytes());
    assert_eq!(nodes(&db, Table::File(path), person()).unwrap().nodes, 2000);
}

/// Each column that was new looked at the whole schema: 16,000 of them took half a minute.
#[test]
fn many_columns_may_be_new() {
    let names: Vec<String> = (0..16_000).map(|place| format!("p{place}")).collect();
    let column = ints(&[1, 2]);
    let mut columns = vec![("id", column.clone())];
    columns.extend(names.iter().map(|name| (name.as_str(), column.clone())));
    let db = Database::in_memory();
    let started = Instant::now();
    let report = nodes(&db, table(vec![batch(columns)]), person()).unwrap();
    assert_eq!((report.nodes, report.triples), (2, 2 * 16_001 + 2));
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

/// The language of schemas refuses such lists, so no export of them could be read again.
#[test]
fn lists_of_truth_values_are_refused() {
    let mut lists =
        arrow_array::builder::ListBuilder::new(arrow_array::builder::BooleanBuilder::new());
    lists.append_value([Some(true), Some(false)]);
    let db = Database::in_memory();
    let told = fault(&db, with_ids(Arc::new(lists.finish())));
    assert!(told.contains("column \"a\": a list can't hold values of type bool"), "{told}");
    assert!(db.alter("a: [bool] .").unwrap_err().to_string().contains("can't hold"));
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
    for (names, told) in [(["id", "a", "a"], "\"a\""), (["id", "b", "id"], "\"id\"")] {
        let fault = fault(&db, rows(names));
        assert!(fault.contains(&format!("<table> has several columns {told}")), "{fault}");
    }
    let told = edges(&db, rows(["from", "to", "to"]), EdgeOptions::new("e", "from", "to"));
    assert!(told.unwrap_err().to_string().contains("several columns \"to\""));
    let columns = [("a".to_owned(), None)].into();
    let options = NodeOptions { columns, ..NodeOptions::default() };
    assert_eq!(nodes(&db, rows(["id", "a", "a"]), options).unwrap().triples, 1);
    let (_folder, path) = file("a.csv", b"id,a,a\n1,2,3\n");
    let told = fault(&db, Table::File(path));
    assert!(told.contains("a.csv has several columns \"a\""), "{told}");
}

#[test]
fn a_column_of_uids_is_said_by_its_name() {
    let db = Database::in_memory();
    let rows = || table(vec![batch(vec![("uid", ints(&[5])), ("id", ints(&[1]))])]);
    let options = NodeOptions { ids: Some(IdSpace::Uid), ..NodeOptions::default() };
    let told = nodes(&db, rows(), options).unwrap_err().to_string();
    assert!(told.contains("if it names the nodes say id=\"uid\";"), "{told}");
    assert!(fault(&db, rows()).contains("say id=\"uid\", uid=True;"));
    let none = RecordBatch::new_empty(Arc::new(Schema::empty()));
    let told = fault(&db, table(vec![none]));
    assert_eq!(told, "<table> has no column \"id\": it has no columns");
}
