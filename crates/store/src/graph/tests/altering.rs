use super::super::{define, drop_all, drop_attr, report, resolve};
use super::*;
use crate::graph::change::altering::alter::{drop_data, drop_type};
use crate::index::{IndexKind, TokenKey};
use hexgraph_base::types::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

const DATA: &str = "<1> <name> \"Ann Lee\" .\n<2> <name> \"Bob\" .\n<1> <age> \"30\" .\n\
                    <2> <age> \"x\" .\n<1> <friend> <2> .\n";

fn nodes(version: &Version, name: &str, kind: IndexKind, token: &TokenKey) -> Option<Vec<u32>> {
    let values = version.predicate(name).unwrap().values("").unwrap();
    values.index(kind).map(|index| index.nodes(token).to_vec())
}

fn text(token: &str) -> TokenKey {
    TokenKey::Text(token.into())
}

#[test]
fn indexes_and_reverse_edges_come_and_go() {
    let version = load_text(&with_schema("name: string .\nage: string .\nfriend: [uid] .\n"), DATA);
    let version = apply(&version, "<3> <name> \"Lee\" .\n<3> <friend> <2> .", "").unwrap().0;
    assert_eq!(nodes(&version, "name", IndexKind::Term, &text("lee")), None);
    assert!(version.predicate("friend").unwrap().direction(true).is_none());
    let indexed =
        alter(&version, "name: string @index(term, hash) .\nfriend: [uid] @reverse .").unwrap();
    assert_eq!(nodes(&indexed, "name", IndexKind::Term, &text("lee")), Some(vec![1, 3]));
    assert_eq!(nodes(&indexed, "name", IndexKind::Ordered, &text("Bob")), Some(vec![2]));
    assert_eq!(targets_of(&indexed, "friend", true, 2), [1, 3]);
    let fewer = alter(&indexed, "name: string @index(exact) .\nfriend: [uid] .").unwrap();
    assert_eq!(nodes(&fewer, "name", IndexKind::Term, &text("lee")), None);
    assert_eq!(nodes(&fewer, "name", IndexKind::Ordered, &text("Bob")), Some(vec![2]));
    assert!(fewer.predicate("friend").unwrap().direction(true).is_none());
}

#[test]
fn values_retain_their_type_and_are_indexed_by_the_new_one() {
    let version = load_text(&with_schema("age: string @index(exact) .\n"), DATA);
    let ints = alter(&version, "age: int @index(int) .").unwrap();
    assert_eq!(nodes(&ints, "age", IndexKind::Ordered, &TokenKey::Int(30)), Some(vec![1]));
    assert_eq!(
        contents(&ints).values[&("age".into(), "".into(), 1)][0].0,
        Value::String("30".into())
    );
    let mixed = apply(&ints, "<3> <age> \"30\" .", "").unwrap().0;
    assert_eq!(nodes(&mixed, "age", IndexKind::Ordered, &TokenKey::Int(30)), Some(vec![1, 3]));
    let gone = apply(&mixed, "", "<1> <age> \"30\" .").unwrap().0;
    assert_eq!(nodes(&gone, "age", IndexKind::Ordered, &TokenKey::Int(30)), Some(vec![3]));
    let list = alter(&mixed, "age: [int] @index(int) .").unwrap();
    let list = apply(&list, "<1> <age> \"31\" .", "").unwrap().0;
    assert_eq!(values_of(&list, "age", "", 1), ["31", "30"]);
    assert_eq!(nodes(&list, "age", IndexKind::Ordered, &TokenKey::Int(31)), Some(vec![1]));
}

#[test]
fn values_that_another_type_cannot_represent_are_reported() {
    let version = load_text(&with_schema("age: string .\n"), DATA);
    let reported = |version: &Version, text: &str| {
        let report = report(version, &resolve(version, text).unwrap());
        report.unread.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let want = "age: 1 of 2 values can't be read as int: `x` of 0x2; asking for them is an error until they are set anew, or `age` is string again";
    assert_eq!(reported(&version, "age: int ."), [want]);
    // The values stay texts, however often their type changes.
    let ints = alter(&version, "age: int .").unwrap();
    assert!(
        reported(&ints, "age: bool .")[0]
            .contains("2 of 2 values can't be read as bool: `30` of 0x1, `x` of 0x2;")
    );
    assert!(reported(&ints, "age: bool .")[0].ends_with("`age` is string again"));
    for fits in ["age: string @index(exact) .", "age: default .", "age: [string] ."] {
        assert_eq!(reported(&version, fits), [""; 0], "{fits}");
    }
    let many: String = (1..9).map(|node| format!("<{node}> <age> \"x\" .\n")).collect();
    let many = load_text(&with_schema("age: string .\n"), &many);
    assert!(
        reported(&many, "age: int .")[0].contains(
            "8 of 8 values can't be read as int: `x` of 0x1, `x` of 0x2, `x` of 0x3, ...;"
        )
    );
}

#[test]
fn what_is_not_allowed_changes_nothing() {
    let version = load_text(&with_schema("age: [string] .\nfriend: [uid] .\n"), DATA);
    for (text, why) in [
        ("age: uid .", "`age` can't become uid, it is [string]: it has data"),
        ("age: string .", "`age` can't become string, it is [string]: a list does not fit"),
        ("friend: string .", "`friend` can't become string, it is [uid]: it has data"),
        ("age: password .", "`age` can't become password, it is [string]: passwords are hashes"),
        ("a: nope .", "line 1 column 4: unknown type `nope`"),
    ] {
        let error = alter(&version, text).err().unwrap().to_string();
        assert!(error.starts_with(why), "{text}: {error}");
    }
    let empty = drop_data(&version);
    alter(&empty, "age: [uid] .").unwrap();
}

#[test]
fn drops() {
    let version = load_text(&with_schema("type T {\n name\n}\nname: string .\n"), DATA);
    let next_uid = version.uids.next();
    let none = drop_attr(&version, "name").unwrap();
    assert!(none.predicate("name").is_none() && !none.schema.predicates.contains_key("name"));
    drop_attr(&version, "nope").unwrap();
    let error = drop_attr(&version, "dgraph.type").err().unwrap();
    assert!(
        matches!(&error, Error::Schema { message, .. } if message.contains("is pre-defined")),
        "{error}"
    );
    assert!(!drop_type(&version, "T").unwrap().schema.types.contains_key("T"));
    let data = drop_data(&version);
    assert_eq!((data.node_count(), &data.schema), (0, &version.schema));
    assert_eq!(data.uids.next(), next_uid);
    version.uids.skip_to(1 << 40);
    let all = drop_all(&version);
    assert_eq!((all.node_count(), all.uids.next()), (0, Version::empty().uids.next()));
    assert_eq!(version.uids.next(), 1 << 40);
    assert_eq!(*all.schema, hexgraph_base::schema::Schema::new());
}

#[test]
fn the_building_of_one_index_can_be_stopped() {
    const COUNT: usize = 3000;
    let mut data = String::new();
    for n in 1..=COUNT {
        let (x, y) = (n % 180, n % 90);
        data += &format!("<{n}> <name> \"word {n}\" .\n<{n}> <number> \"{n}\" .\n");
        data += &format!("<{n}> <at> \"{{'type':'Point','coordinates':[{x},{y}]}}\" .\n");
        if n <= 300 {
            data += &format!("<{n}> <v> \"[{x}.5, {y}.25, {n}]\" .\n");
        }
    }
    let plain = "name: string .\nnumber: string .\nat: geo .\nv: float32vector .\n";
    let version = load_text(&with_schema(plain), &data);
    for (text, least) in [
        ("name: string @index(term) .", COUNT / 1024),
        ("name: string @index(fulltext) .", COUNT / 1024),
        ("name: string @index(trigram) .", COUNT / 1024),
        ("name: string @index(ngram) .", COUNT / 1024),
        ("number: int @index(int) .", COUNT / 1024),
        ("at: geo @index(geo) .", COUNT),
        ("v: float32vector @index(hnsw(metric: \"euclidean\")) .", 300),
    ] {
        let definitions = resolve(&version, text).unwrap();
        let requested = AtomicUsize::new(0);
        let build = |most: usize| {
            requested.store(0, Ordering::Relaxed);
            let check = || match requested.fetch_add(1, Ordering::Relaxed) < most {
                true => Ok(()),
                false => Err(Error::query("stopped")),
            };
            define(&version, &definitions, &check).map(drop)
        };
        build(usize::MAX).unwrap();
        let all = requested.load(Ordering::Relaxed);
        assert!(least < all, "{all} checks for {text}");
        // It stops at any check: all further work only checks.
        for most in [0, 1, all / 2, all - 1] {
            let error = build(most).unwrap_err().to_string();
            assert_eq!(error, "stopped", "{most} for {text}");
            let more = requested.load(Ordering::Relaxed) - most;
            assert!(more <= COUNT, "{more} for {text}");
        }
    }
}
