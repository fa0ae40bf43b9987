//! What the smallest build does: it keeps and answers all that needs none of its features, and
//! refuses the rest by a message that names the feature. `cargo test -p hexgraph --test lean` runs
//! it; a build with the features has none of it.
#![cfg(not(any(
    feature = "text",
    feature = "geo",
    feature = "collation",
    feature = "passwords",
    feature = "files"
)))]
#![expect(clippy::unwrap_used, reason = "a test that finds nothing fails")]

use hexgraph::db::{
    Database, LoadOptions, OpenOptions, QueryRequest, RequestContext, Source, SyncPolicy, files_of,
};
use hexgraph::types::Error;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn answer(db: &Database, text: &str) -> String {
    let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
    match db.query_with(&request, &RequestContext::new()).and_then(|answer| answer.to_json()) {
        Ok((json, _)) => json,
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_needs_no_feature_works() {
    let folder = tempfile::tempdir().unwrap();
    let options = || OpenOptions { sync: SyncPolicy::Never, ..OpenOptions::default() };
    let db = Database::open(folder.path(), options()).unwrap();
    db.alter("name: string @index(exact) @lang .\nage: int @index(int) .\nhome: geo .").unwrap();
    let point = r#"{'type':'Point','coordinates':[13.4,52.5]}"#;
    let text = format!(
        "<1> <name> \"Bo\" .\n<2> <name> \"Ada\" .\n<2> <age> \"3\" .\n<2> <home> \"{point}\" ."
    );
    db.mutate(&text, "").unwrap();
    db.close().unwrap();
    let db = Database::open(folder.path(), options()).unwrap();
    assert_eq!(
        answer(&db, "{ q(func: ge(name, \"A\"), orderasc: name) { name } }"),
        r#"{"q":[{"name":"Ada"},{"name":"Bo"}]}"#
    );
    assert_eq!(
        answer(&db, "{ q(func: eq(age, 3)) { home } }"),
        r#"{"q":[{"home":{"type":"Point","coordinates":[13.4,52.5]}}]}"#
    );
}

#[test]
fn what_needs_a_feature_is_refused() {
    let db = Database::in_memory();
    db.alter("name: string @index(exact) @lang .\nhome: geo .").unwrap();
    db.mutate("<1> <name> \"Ada\" .\n<1> <name> \"Ida\"@de .\n<2> <name> \"Bo\"@de .", "").unwrap();
    for (schema, what, feature) in [
        ("name: string @index(term) .", "predicate `name`: index `term`", "text"),
        ("name: string @index(exact, fulltext) .", "predicate `name`: index `fulltext`", "text"),
        ("name: string @index(trigram) .", "predicate `name`: index `trigram`", "text"),
        ("name: string @index(ngram) .", "predicate `name`: index `ngram`", "text"),
        ("home: geo @index(geo) .", "predicate `home`: index `geo`", "geo"),
        ("key: password .", "predicate `key`: type `password`", "passwords"),
    ] {
        let before = db.schema_text().unwrap();
        let error = db.alter(schema).unwrap_err().to_string();
        assert_eq!(error, format!("{what} needs hexgraph built with the feature `{feature}`"));
        assert_eq!(db.schema_text().unwrap(), before);
    }
    let refused = db.mutate("<1> <key> \"secret\"^^<xs:password> .", "").err().unwrap().to_string();
    let expected = "a password needs hexgraph built with the feature `passwords`";
    assert!(refused.contains(expected), "{refused}");
    for (query, what, feature) in [
        (
            "{ q(func: has(name)) @filter(regexp(name, /A/)) { uid } }",
            "a regular expression",
            "text",
        ),
        (
            "{ q(func: has(name), orderasc: name@de) { uid } }",
            "the order of language `de`",
            "collation",
        ),
    ] {
        let error = answer(&db, query);
        let expected = format!("{what} needs hexgraph built with the feature `{feature}`");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn files_that_need_a_feature_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let db = Database::in_memory();
    for (start, what) in [
        (&b"\x1f\x8b\x08\x00"[..], "a file compressed with gzip"),
        (b"\x28\xb5\x2f\xfd", "a file compressed with Zstandard"),
    ] {
        let source = Source::Bytes(start.to_vec().into());
        let load = db.load_with(source, None, LoadOptions::default(), &RequestContext::new());
        let error = load.unwrap_err().to_string();
        let expected = format!("{what} needs hexgraph built with the feature `files`");
        assert!(error.contains(&expected), "{error}");
    }
    let error =
        db.export_with(&folder.path().join("a.rdf.gz"), &RequestContext::new()).unwrap_err();
    assert!(error.to_string().ends_with("the feature `files`"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let error = files_of(&folder.path().join("*.rdf"), |_| true).unwrap_err().to_string();
    assert!(error.ends_with("*.rdf needs hexgraph built with the feature `files`"), "{error}");
}

/// The content of each file of a folder, but of the lock that an opening leaves.
fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named = files.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path));
    let data = named.filter(|(name, _)| name != "LOCK");
    data.map(|(name, path)| (name, fs::read(path).unwrap())).collect()
}

#[test]
fn directories_of_larger_builds_are_refused_and_stay_as_they_are() {
    for format in ["format-1", "format-2"] {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(format);
        let before = content(&fixture.join("db"));
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in &before {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        for read_only in [true, false] {
            let options = OpenOptions { read_only, ..OpenOptions::default() };
            let error = Database::open(folder.path(), options).err().unwrap().to_string();
            let expected =
                "predicate `home`: index `geo` needs hexgraph built with the feature `geo`";
            assert_eq!(error, expected);
        }
        assert_eq!(content(folder.path()), before);
    }
}

/// A log may define what the snapshot before it does not have: that of `text-in-log` is empty, and
/// its log has an index of words.
#[test]
fn a_log_of_a_larger_build_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lean/text-in-log");
    for (name, bytes) in content(&fixture) {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let error = Database::open(folder.path(), OpenOptions::default()).err().unwrap();
    // Nothing is damaged.
    assert!(matches!(error, Error::Schema { .. }));
    let error = error.to_string();
    let position = "log-1.hxl: the record at byte 128: predicate `name`: index `term`";
    assert!(error.contains(position) && error.ends_with("the feature `text`"), "{error}");
    assert_eq!(content(folder.path()), content(&fixture));
}
