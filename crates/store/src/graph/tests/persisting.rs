use super::super::stats;
use super::*;
use crate::graph::persist::{open, save, verify};
use crate::graph::version::delta::ValueDelta;
use crate::graph::version::predicate::Predicate;
use crate::graph::version::values::ValueBase;
use crate::storage::{Column, Values};
use hexgraph_base::types::{Error, ValueType};
use std::sync::Arc;

fn version() -> Version {
    let schema = "name: string @index(exact, term, trigram, ngram, fulltext) @lang .\n\
                  tag: [string] @index(exact) .\nfriend: [uid] @reverse .\nat: datetime @index(hour) .\n\
                  v: float32vector @index(hnsw) .\nf: float @index(float) .\nb: bool @index(bool) .\n\
                  big: bigfloat @index(bigfloat) .\ng: geo .\ntype T {\n name\n}\n";
    let text = "<1> <name> \"some words here\" (k=1,t=\"x\") .\n<2> <name@de> \"Wörter\" .\n\
                <1> <tag> \"a\" .\n<1> <tag> \"b\" (k=2020-01-01) .\n<1> <friend> <2> (w=0.5) .\n\
                <1> <at> \"2020-01-01T10:00:00.5+02:00\" .\n<1> <v> \"[1, 2]\" .\n<2> <f> \"-1.5\" .\n\
                <1> <b> \"true\" .\n<1> <any> \"x\" .\n<2> <any> \"5\"^^<xs:int> .\n\
                <1> <g> \"{'type':'Point','coordinates':[1,2]}\" .\n<2> <big> \"1.5\" .\n\
                <0xff00000000000000> <http://a.b/c#d> <1> .\n_:x <name> \"blank\" .\n\
                <1> <1st> \"x\" .\n<1> <ü/é?x=1&y#'> \"x\" .\n<1> <type> \"x\" .\n\
                <1> <a.b-c> \"x\" .\n<1> <.5> <2> .\n<1> <a\\u0041> \"[1]\"^^<xs:[]float32> .\n\
                <1> <a:b> <2> .\n";
    let loaded = load_text(&with_schema(schema), text);
    apply(&loaded, "<3> <name> \"later\" .\n<3> <friend> <1> .", "<1> <tag> \"a\" .").unwrap().0
}

#[test]
fn a_saved_version_opens_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.hxs");
    let version = version();
    save(&version, &path).unwrap();
    verify(&path).unwrap();
    let opened = open(&path).unwrap();
    assert_eq!(contents(&opened), contents(&version));
    assert_eq!(opened.schema, version.schema);
    assert_eq!((opened.commit, opened.uids.next()), (version.commit, version.uids.next()));
    super::model::check_indexes(&opened);
    // It can be changed, saved over itself and opened again.
    let more = "<0xfe00000000000000> <name> \"more\" .\n<1> <friend> <3> .\n<2> <b> \"0\" .";
    let changed = apply(&opened, more, "").unwrap().0;
    save(&changed, &path).unwrap();
    let again = open(&path).unwrap();
    assert_eq!(contents(&again), contents(&changed));
    super::model::check_indexes(&again);
    let counts = |version: &Version| -> Vec<_> {
        stats(version).into_iter().map(|stats| (stats.name, stats.subjects, stats.values)).collect()
    };
    assert_eq!(counts(&again), counts(&changed));
}

#[test]
fn an_empty_version_can_be_saved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.hxs");
    save(&Version::empty(), &path).unwrap();
    assert_eq!(contents(&open(&path).unwrap()), Contents::default());
    assert!(matches!(open(&folder.path().join("none")), Err(Error::Io { .. })));
}

/// Bytes that are written as a text and are none have the checksum that belongs to them.
#[test]
fn invalid_utf8_is_corruption() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.hxs");
    let mut version = version();
    let mut of_name = Predicate::clone(&version.predicates["name"]);
    let PredicateData::Values(langs) = &mut of_name.data else { panic!("it has values") };
    let base = &langs[0].base;
    let bytes = base.column.values.len();
    let values =
        Values::of_texts(ValueType::String, std::iter::repeat_n(1, bytes), vec![0xff; bytes]);
    let column = Column::new(base.column.subjects.clone(), None, values, Vec::new());
    langs[0].base = Arc::new(ValueBase { column, indexes: Vec::new(), vectors: None });
    langs[0].delta = ValueDelta::default();
    version.predicates.insert("name".into(), Arc::new(of_name));
    save(&version, &path).unwrap();
    let fault = verify(&path).unwrap_err().to_string();
    for part in ["a.hxs", "predicate \"name\"", "text 0: invalid utf-8"] {
        assert!(fault.contains(part), "{fault}");
    }
}

/// [`verify`] detects any damage, and opening and reading a damaged file never does harm.
#[test]
fn damage_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.hxs");
    save(&version(), &path).unwrap();
    let good = std::fs::read(&path).unwrap();
    let bad = folder.path().join("b.hxs");
    for at in (0..good.len()).step_by(good.len() / 400) {
        let mut bytes = good.clone();
        bytes[at] ^= 0x55;
        std::fs::write(&bad, &bytes).unwrap();
        match open(&bad).and_then(|version| crate::storage::catch_corrupt(|| contents(&version))) {
            Ok(_) | Err(Error::Corrupt { .. }) => {}
            Err(other) => panic!("{other:?} at {at}"),
        }
        std::fs::write(&bad, &good[..at]).unwrap();
        let fault = open(&bad).err().unwrap();
        assert!(fault.to_string().contains("b.hxs"), "{fault}");
    }
}
