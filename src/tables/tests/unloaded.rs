//! What a load leaves out is in its report, and options for columns that are not there are errors.

use super::{batch, edges, file, ints, json, nodes, person, table, texts};
use crate::db::{Database, RequestContext};
use crate::tables::{EdgeOptions, GraphOptions, Table, TableOptions};
use arrow_array::{ArrayRef, NullArray, RecordBatch};
use hexgraph_base::types::ValueType;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// Edges with two more columns, one without a value, and `more` columns.
fn routes(more: usize) -> RecordBatch {
    let none: ArrayRef = Arc::new(NullArray::new(1));
    let names: Vec<String> = (0..more).map(|at| format!("c{at}")).collect();
    let mut columns =
        vec![("since", ints(&[2019])), ("from", ints(&[1])), ("none", none), ("to", ints(&[2]))];
    columns.extend(names.iter().map(|name| (name.as_str(), texts(&["x"]))));
    batch(columns)
}

#[test]
fn columns_of_edges_that_no_facet_names_are_reported() {
    let load = |more, facets: &[&str]| {
        let pair = |name: &&str| ((*name).to_owned(), (*name).to_owned());
        let facets = facets.iter().map(pair).collect();
        let options = EdgeOptions { facets, ..EdgeOptions::new("knows", "from", "to") };
        edges(&Database::in_memory(), table(vec![routes(more)]), options).unwrap().notes
    };
    assert_eq!(load(0, &[]), ["the column since is not loaded: name it in `facets=`"]);
    assert_eq!(load(1, &[]), ["the columns since, c0 are not loaded: name them in `facets=`"]);
    assert_eq!(load(1, &["since", "c0"]), [""; 0]);
    let most = "the columns since, c0, c1, c2, c3, c4, c5, c6, c7, c8 and 2 more are not loaded: name them in `facets=`";
    assert_eq!(load(11, &[]), [most]);
}

/// Writes files into a new folder.
fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let write = |(name, text): &(&str, &str)| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    };
    let paths = files.iter().map(write).collect();
    (folder, paths)
}

#[test]
fn many_files_have_one_note() {
    let (_folder, paths) =
        folder(&[("a.csv", "from,to,w\n1,2,3\n"), ("b.csv", "w,from,to\n3,2,1\n")]);
    let tables: Vec<Table> = paths.into_iter().map(Table::File).collect();
    let options = EdgeOptions::new("knows", "from", "to");
    let report = Database::in_memory().load_edges(tables, options).unwrap();
    let note = "the column w is not loaded: name it in `facets=`";
    assert_eq!(report.notes.iter().filter(|it| *it == note).count(), 1, "{:?}", report.notes);
}

#[test]
fn types_of_edges_name_columns_and_convert_facets() {
    let load = |column: &str, of, key: &str| {
        let db = Database::in_memory();
        let mut options = EdgeOptions::new("knows", "from", "to");
        options.table.types.insert(column.to_owned(), of);
        options.facets = vec![("since".to_owned(), key.to_owned())];
        edges(&db, table(vec![routes(0)]), options)?;
        Ok::<String, crate::types::Error>(json(
            &db,
            "{ q(func: has(knows)) { knows @facets { uid } } }",
        ))
    };
    let fault = load("sinse", ValueType::Int, "since").unwrap_err().to_string();
    let want = "<table> has no column \"sinse\"; it has \"since\", \"from\", \"none\", \"to\"";
    assert!(fault.starts_with(want), "{fault}");
    let facet = |of, key| {
        let all = load("since", of, key).unwrap();
        all.split_once(r#""knows|since":"#).unwrap().1.trim_end_matches("}]}]}").to_owned()
    };
    assert_eq!(facet(ValueType::Int, "since"), "2019");
    assert_eq!(facet(ValueType::String, "since"), r#""2019""#);
    assert_eq!(facet(ValueType::Int, "since^^string"), r#""2019""#);
    let fault = load("since", ValueType::Bool, "since").unwrap_err().to_string();
    assert!(fault.contains("row 1, column \"since\": \"2019\""), "{fault}");
}

#[test]
fn a_column_of_a_file_comes_before_a_partition_and_the_report_says_so() {
    let (_folder, paths) = folder(&[("year=2024/a.csv", "id,year\na,2023\n")]);
    let db = Database::in_memory();
    let report = nodes(&db, Table::File(paths[0].clone()), person()).unwrap();
    let note = "column \"year\" is in the file and in its path: the cells of the file are loaded";
    assert!(report.notes.iter().any(|it| it == note), "{:?}", report.notes);
    assert_eq!(json(&db, "{ q(func: has(year)) { year } }"), r#"{"q":[{"year":2023}]}"#);
    for column in ["year", "id"] {
        let mut options = person();
        options.table.file_column = Some(column.to_owned());
        let fault = nodes(&db, Table::File(paths[0].clone()), options).unwrap_err().to_string();
        let want = format!("has a column {column:?}, which is no path of a file");
        assert!(fault.contains(&want), "{fault}");
    }
}

#[test]
fn partitions_that_differ_in_case_are_warned_of() {
    let clash = |files: &[(&str, &str)]| {
        let (_folder, paths) = folder(files);
        let tables: Vec<Table> = paths.into_iter().map(Table::File).collect();
        Database::in_memory().load_nodes(tables, person()).unwrap().warnings
    };
    let want =
        "the columns \"Year\" and \"year\" differ only in case, and folders have these names";
    for files in [
        &[("Year=1/a.csv", "id,x\na,1\n"), ("year=2/b.csv", "id,x\nb,1\n")][..],
        &[("Year=1/year=2/a.csv", "id,x\na,1\n")],
        &[("Year=1/a.csv", "id,year\na,1\n")],
    ] {
        let warnings = clash(files);
        assert!(warnings.len() == 1 && warnings[0].starts_with(want), "{files:?}: {warnings:?}");
    }
    assert_eq!(
        clash(&[("year=1/a.csv", "id,x,X\na,1,2\n"), ("year=2/b.csv", "id,x\nb,1\n")]),
        [""; 0]
    );
}

#[test]
fn parts_of_graphml_that_are_not_stored_are_reported() {
    let text = "<graphml><key id='k' attr.name='K' attr.type='int'/><graph>\
                <node id='a' label='A'><desc>d</desc><data key='k'>1</data><data key='k'>2</data></node>\
                <edge source='a' target='a' directed='true' xml:lang='en'><locator/></edge>\
                </graph></graphml>";
    let (_folder, path) = file("a.graphml", text.as_bytes());
    let db = Database::in_memory();
    let report = db.load_graph(&path, GraphOptions::default()).unwrap();
    let want = "not stored: <desc>, <locator>, `directed` of <edge>, `label` of <node>, all values of `K` but the last of an element";
    assert_eq!(report.warnings, [want]);
    assert_eq!(json(&db, "{ q(func: has(K)) { K } }"), r#"{"q":[{"K":2}]}"#);
}

#[test]
fn types_of_a_graph_name_attributes_of_nodes_or_edges() {
    let text = "<graphml><key id='k' for='node'/><key id='l' for='edge'/><graph>\
                <node id='a'><data key='k'>1</data></node>\
                <edge source='a' target='a'><data key='l'>2</data></edge></graph></graphml>";
    let (_folder, path) = file("a.graphml", text.as_bytes());
    let load = |columns: &[&str]| {
        let db = Database::in_memory();
        let types = columns.iter().map(|name| ((*name).to_owned(), ValueType::Int)).collect();
        let table = TableOptions { types, ..TableOptions::default() };
        let options = GraphOptions { table, ..GraphOptions::default() };
        db.load_graph_with(&path, options, &RequestContext::new())?;
        Ok::<String, crate::types::Error>(json(
            &db,
            "{ q(func: has(k)) { k edge @facets(l) { k } } }",
        ))
    };
    let want = r#"{"q":[{"k":1,"edge":[{"k":1,"edge|l":2}]}]}"#;
    assert_eq!(load(&["k", "l"]).unwrap(), want);
    let fault = load(&["k", "m"]).unwrap_err().to_string();
    assert!(fault.contains("nodes and edges have no attribute \"m\""), "{fault}");
}

#[test]
fn options_that_have_no_effect_are_reported() {
    let options = || {
        let mut options = person();
        options.table.separator = Some(b';');
        options.table.text.header = Some(true);
        options
    };
    let rows = || table(vec![batch(vec![("id", ints(&[1]))])]);
    let db = Database::in_memory();
    let want = "header=, separator= have no effect, it is not delimited text";
    let report = nodes(&db, rows(), options()).unwrap();
    assert_eq!(report.notes, [format!("the table: {want}")]);
    let (_folder, path) = file("a.json", br#"{"id": 2}"#);
    let report = nodes(&db, Table::File(path.clone()), options()).unwrap();
    let note = format!("{}: separator= has no effect, it is not delimited text", path.display());
    assert!(report.notes.contains(&note), "{:?}", report.notes);
    let mut with_path = person();
    with_path.table.file_column = Some("path".to_owned());
    let fault = nodes(&db, rows(), with_path).unwrap_err().to_string();
    assert!(fault.contains("filename= adds the paths of files"), "{fault}");
}

#[test]
fn sniffed_types_name_columns() {
    let (_folder, path) = file("a.csv", b"id,x\n1,2\n");
    let types = [("y".to_owned(), ValueType::Int)].into();
    let options = TableOptions { types, ..TableOptions::default() };
    let fault = crate::tables::sniff(&path, &options, 1, &RequestContext::new()).unwrap_err();
    assert!(fault.to_string().contains("has no column \"y\"; it has \"id\", \"x\""), "{fault}");
}
