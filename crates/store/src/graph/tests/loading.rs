use super::super::stats;
use super::*;
use hexgraph_base::types::{Error, Position};
use std::fs::File;
use std::path::PathBuf;

const SCHEMA: &str = "name: string @index(exact, term) @lang .\nage: int @index(int) .\n\
                      tag: [string] @index(exact) .\nfriend: [uid] @reverse .\nbest: uid @reverse .\n";

#[test]
fn merges_with_what_is_stored() {
    let one = load_text(
        &with_schema(SCHEMA),
        "<1> <name> \"a\" (k=1) .\n<1> <name> \"b\" .\n<2> <age> \"7\" .\n<1> <tag> \"z\" (f=true) .\n\
         <1> <tag> \"y\" .\n<2> <friend> <1> (w=1) .\n<1> <best> <2> .\n<1> <best> <3> .\n\
         <1> <name@de> \"ä\" .\n# comment\n\n",
    );
    let two = load_text(
        &one,
        "<2> <name> \"c\" .\n<2> <age> \"8\" .\n<1> <tag> \"x\" .\n<1> <tag> \"z\" .\n\
         <2> <friend> <3> .\n<2> <friend> <1> (w=2) .\n<3> <best> <2> .\n",
    );
    assert_eq!(values_of(&one, "name", "", 1), ["b"]);
    assert_eq!(values_of(&two, "name", "", 1), ["b"]);
    assert_eq!(values_of(&two, "name", "", 2), ["c"]);
    assert_eq!(values_of(&two, "name", "de", 1), ["ä"]);
    assert_eq!(values_of(&two, "age", "", 2), ["8"]);
    assert_eq!(values_of(&one, "tag", "", 1), ["y", "z|f=true"]);
    assert_eq!(values_of(&two, "tag", "", 1), ["x", "y", "z"]);
    assert_eq!(targets_of(&two, "friend", false, 2), [1, 3]);
    assert_eq!(targets_of(&two, "best", false, 1), [3]);
    assert_eq!(targets_of(&two, "best", true, 2), [3]);
    assert_eq!(contents(&two).edges[&("friend".to_owned(), 2, 1)][0].1, Value::Int(2));
    assert_eq!((one.node_count(), two.node_count()), (3, 3));
}

#[test]
fn labels_get_uids_in_order_and_high_uids_a_position() {
    let text = "_:b <friend> _:a .\n<0x20000> <friend> _:b .\n\
                <0xffffffff00000000> <friend> <0x80000000> .\n_:a <name> \"a\" .\n";
    let (version, report) =
        try_load_text(&with_schema(SCHEMA), text, &LoadOptions::default()).unwrap();
    assert_eq!((report.triples, report.nodes), (4, 5));
    assert_eq!(targets_of(&version, "friend", false, 0x20001), [0x20002]);
    assert_eq!(targets_of(&version, "friend", true, 0x20001), [0x20000]);
    assert_eq!(targets_of(&version, "friend", false, 0xffff_ffff_0000_0000), [0x8000_0000]);
    let more = load_text(&version, "<0x90000000> <friend> _:a .\n<0x90000000> <age> \"3\" .\n");
    assert_eq!(targets_of(&more, "friend", false, 0x9000_0000), [0x20003]);
    assert_eq!(targets_of(&more, "friend", false, 0xffff_ffff_0000_0000), [0x8000_0000]);
    assert_eq!(targets_of(&more, "friend", true, 0x8000_0000), [0xffff_ffff_0000_0000]);
    assert_eq!(more.node_count(), 7);
}

#[test]
fn unknown_predicates_get_a_definition() {
    let text = "<1> <d> \"x\" .\n<2> <d> \"5\"^^<xs:int> .\n<1> <l> \"x\" .\n<1> <l> \"y\" .\n\
                <1> <i> \"5\"^^<xs:int> .\n<2> <i> \"6.5\"^^<xs:float> .\n<3> <i> \"7\" .\n\
                <1> <e> <2> .\n";
    let version = load_text(&empty(), text);
    let schema = version.schema.to_text();
    for line in ["d: default .", "l: [default] .", "i: float .", "e: [uid] ."] {
        assert!(schema.contains(line), "{line} in {schema}");
    }
    let floats = |node| values_of(&version, "i", "", node)[0].parse::<f64>().unwrap();
    assert_eq!([floats(1), floats(2), floats(3)], [5.0, 6.5, 7.0]);
    assert_eq!(contents(&version).values[&("d".into(), "".into(), 2)][0].0, Value::Int(5));
    assert_eq!(values_of(&version, "l", "", 1), ["x", "y"]);
}

#[test]
fn lines_of_json_are_nodes() {
    let text = "{\"uid\": \"_:a\", \"name\": \"Ada\", \"age\": 36, \"friend\": [{\"name\": \"Bob\"}]}\n\
                {\"name\": \"Eve\", \"friend\": {\"uid\": \"_:a\"}, \"friend|since\": 1840}\n\
                [{\"uid\": \"0x5\", \"name\": \"One\"}, {\"uid\": \"0x6\", \"name\": \"Two\"}]\n\
                _:a <name> \"Ada L.\" .\n";
    let version = load_text(&with_schema("name: string @index(exact) .\nage: float ."), text);
    assert_eq!(values_of(&version, "name", "", 0x10001), ["Ada L."]);
    assert_eq!(values_of(&version, "age", "", 0x10001).len(), 1);
    assert_eq!(values_of(&version, "name", "", 0x10002), ["Bob"]);
    assert_eq!(targets_of(&version, "friend", false, 0x10003), [0x10001]);
    assert_eq!(values_of(&version, "name", "", 6), ["Two"]);
    let error =
        try_load_text(&version, "{\"name\": \"a\"}\n{\"name\": }\n", &LoadOptions::default());
    assert!(error.err().unwrap().to_string().starts_with("test.rdf:2:"), "the line is named");
}

#[test]
fn the_first_bad_line_is_named_and_nothing_is_stored() {
    #[rustfmt::skip]
    let cases = [
        ("<1> <age> \"x\" .",              "`x` is no int"),
        ("<1> <age@en> \"1\" .",           "has no languages"),
        ("<1> <friend> \"x\" .",           "is an edge, and this is a value"),
        ("<1> <age> <2> .",                "of type int, and this is a node"),
        ("<1> <new@en> \"x\" .",           "has no languages"),
        ("<1> <score> \"-Inf\"^^<xs:float> .", "infinity is no value"),
        ("<1> <e> <2> (w=inf) .",          "facet `w`: infinity is no value"),
        ("<1> <age> \"1\" (w=-Infinity) .", "facet `w`: infinity is no value"),
        ("<1> <new> \"{'type':'Point','coordinates':[2,95]}\"^^<geo:geojson> .", "the latitude 95 of [2, 95]"),
        ("{\"at\": {\"type\": \"Point\", \"coordinates\": [-180.5, 1]}}", "the longitude -180.5 of [-180.5, 1]"),
        ("<1> <dgraph.foo> \"x\" .",       "Can't store predicate `dgraph.foo` as it is prefixed with `dgraph.`"),
        ("<1> <dgraph.graphql.xid> \"x\" .", "Cannot mutate graphql reserved predicate dgraph.graphql.xid"),
        ("<1> <age> * .",                  "`*` can only be deleted"),
        ("uid(v) <age> \"1\" .",           "without a query"),
        ("<1> <e> <2> .\n<1> <e> \"x\" .", "is an edge elsewhere"),
        ("<1> age \"1\" .",                ""),
        ("<1> <age> \"1\"",                ""),
    ];
    let empty = with_schema(SCHEMA);
    for (lines, part) in cases {
        let line = 2 + lines.lines().count() as u64;
        let text = format!("<1> <name> \"a\" .\n<2> <name> \"b\" .\n{lines}\n<bad\n");
        let fault = try_load_text(&empty, &text, &LoadOptions::default()).err().unwrap();
        assert!(fault.to_string().contains(part), "{fault} for {lines}");
        match fault {
            Error::Load { file, line: result, .. } => {
                assert_eq!((file.as_str(), result), ("test.rdf", line), "{lines}");
            }
            other => panic!("{other:?}"),
        }
        let options = LoadOptions { skip_errors: true, ..LoadOptions::default() };
        let (version, report) = try_load_text(&empty, &text, &options).unwrap();
        assert_eq!(report.skipped, 2, "{lines}");
        assert_eq!(report.skipped_lines[0].line, line);
        assert_eq!(report.triples, line - 1, "{lines}");
        assert_eq!(values_of(&version, "name", "", 2), ["b"]);
    }
}

/// In any layout the line and the column of a fault are those of the file. The sign `§` marks it.
#[test]
fn a_fault_of_json_has_its_position() {
    let version = with_schema("age: int .");
    #[rustfmt::skip]
    let cases = [
        // A value in a line, in lines of its own, in an array, after another one, and over several
        // lines.
        "{\"n\": 1, \"age\": §\"x\"}",
        "{\"n\": 1}\n  {\"n\": 2, \"age\": §\"x\"}",
        "[{\"n\": 1}, {\"n\": 2, \"age\": §\"x\"}]",
        "{\"n\": 1} {\"n\": 2, \"age\": §\"x\"}",
        "{\"n\": 1} {\n \"age\": §\"x\"}",
        "[\n  {\n    \"n\": 1\n  },\n  {\n    \"n\": 2,\n    \"age\": §\"x\"\n  }\n]\n",
        // What is no JSON, or no node, and values that do not fit the ones before.
        "[\n  {\"n\": 1},\n  {\"n\": nul§}\n]",
        "{\"n\": 1}\n{\"n\": nul§}",
        "{\"n\":\n 1} {\"n\":\n  nul§}",
        "[{\"n\": 1},\n §7]",
        "[{\"uid\": \"_:a\", \"n\": 1},\n {\"uid\": \"_:b\",\n  \"n\": §{\"uid\": \"_:a\"}}]",
        "[{\"uid\": \"_:a\", \"n\": {\"uid\": \"_:b\"}}, {\"uid\": \"_:b\", \"n\": §1}]",
    ];
    for case in cases {
        let (before, behind) = case.split_once('§').unwrap();
        let at = Position::of(before, before.len());
        let text = format!("{before}{behind}");
        let fault = try_load_text(&version, &text, &LoadOptions::default()).err().unwrap();
        let want = format!("test.rdf:{}:{}: ", at.line, at.column + 1);
        assert!(fault.to_string().starts_with(&want), "{case}: {fault}");
    }
}

#[test]
fn progress_can_stop_a_load() {
    let stop = |_| Err(Error::query("stopped"));
    let options = LoadOptions { progress: Some(&stop), ..LoadOptions::default() };
    let fault = try_load_text(&empty(), "<1> <a> \"x\" .", &options).err().unwrap();
    assert_eq!(fault.to_string(), "stopped");
}

/// The folder with data that is not part of the project.
fn shared() -> PathBuf {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    std::env::var_os("HEXGRAPH_SHARED").map_or_else(|| PathBuf::from(default), PathBuf::from)
}

#[test]
fn the_film_data_loads() {
    let folder = shared().join("data");
    let Ok(file) = File::open(folder.join("film.rdf.gz")) else {
        println!("skipped: no film data in {}", folder.display());
        return;
    };
    let schema = with_schema(&std::fs::read_to_string(folder.join("film.schema")).unwrap());
    let sources = vec![LoadSource { name: "film.rdf.gz".to_owned(), reader: Box::new(file) }];
    let (version, report) = load(&schema, sources, &LoadOptions::default()).unwrap();
    println!("{:.0} N-Quads a second", report.triples as f64 / report.elapsed.as_secs_f64());
    assert_eq!((report.triples, report.nodes, version.node_count()), (843_399, 96_072, 96_072));
    let stats = stats(&version);
    let of = |name: &str| stats.iter().find(|stats| &*stats.name == name).unwrap();
    // The file has two of the values twice, so they are fewer than its lines.
    assert_eq!((of("seq").subjects, of("seq").values), (96_072, 96_072));
    assert_eq!(of("directed_by").values, 50_484);
    assert!(0 < of("directed_by").facet_bytes && 0 < of("directed_by").reverse_bytes);
    assert!(0 < of("name").index_bytes);
}

#[test]
fn brackets_of_json_make_a_list() {
    let text = "{\"uid\": \"0x1\", \"one\": [\"a\"], \"two\": \"b\", \"n\": [7]}";
    let version = load_text(&empty(), text);
    let is_list = |name: &str| version.schema.predicates[name].list;
    assert_eq!([is_list("one"), is_list("two"), is_list("n")], [true, false, true]);
}
