//! Statements that come as messages: every kind of value and facet, and what is none.

use super::client::{Site, failed, text};
use super::messages::facet::ValType;
use super::messages::value::Val;
use super::messages::{Facet, Mutation, NQuad, Request, Response, Value};
use bytes::Bytes;
use tonic::{Code, Status};

fn quad(subject: &str, predicate: &str, value: Val) -> NQuad {
    NQuad {
        subject: subject.to_owned(),
        predicate: predicate.to_owned(),
        object_value: Some(Value { val: Some(value) }),
        ..NQuad::default()
    }
}

fn edge(subject: &str, predicate: &str, object: &str) -> NQuad {
    NQuad {
        subject: subject.to_owned(),
        predicate: predicate.to_owned(),
        object_id: object.to_owned(),
        ..NQuad::default()
    }
}

fn facet(key: &str, value: &[u8], kind: ValType) -> Facet {
    Facet {
        key: key.to_owned(),
        value: Bytes::copy_from_slice(value),
        val_type: kind.into(),
        ..Facet::default()
    }
}

fn set(site: &Site, set: Vec<NQuad>) -> Result<Response, Status> {
    let mutations = vec![Mutation { set, ..Mutation::default() }];
    site.client.ask(Request { mutations, commit_now: true, ..Request::default() })
}

/// A time as Go writes it: a version, seconds since the year 1, nanoseconds, and minutes east of
/// Greenwich or -1.
fn time(seconds_since_1970: i64) -> Bytes {
    let seconds = seconds_since_1970 + 62_135_596_800;
    let parts =
        [&[1_u8][..], &seconds.to_be_bytes(), &0_u32.to_be_bytes(), &(-1_i16).to_be_bytes()];
    Bytes::from(parts.concat())
}

#[test]
fn values_of_all_kinds() {
    let site = Site::new();
    let schema = "born: datetime .\nlives: geo .\nrich: bigfloat .\nface: float32vector .\nreal: float .\ntrue: bool .";
    site.database.alter(schema).unwrap();
    // A point, the lowest byte first.
    let point =
        [&[1_u8][..], &1_u32.to_le_bytes(), &1.5_f64.to_le_bytes(), &(-2.0_f64).to_le_bytes()]
            .concat();
    let floats = [1.0_f32, -0.5].map(f32::to_le_bytes).concat();
    let quads = vec![
        quad("_:a", "name", Val::DefaultVal("a \"quoted\"\n<text> .".to_owned())),
        quad("_:a", "nick", Val::StrVal("né".to_owned())),
        quad("_:a", "age", Val::IntVal(-7)),
        quad("_:a", "real", Val::DoubleVal(0.25)),
        quad("_:a", "true", Val::BoolVal(true)),
        quad("_:a", "born", Val::DatetimeVal(time(0))),
        quad("_:a", "lives", Val::GeoVal(Bytes::from(point))),
        quad("_:a", "rich", Val::BigfloatVal(Bytes::from_static(b"12345678901234567890.5"))),
        quad("_:a", "face", Val::Vfloat32Val(Bytes::from(floats))),
        quad("_:a", "note", Val::BytesVal(Bytes::from_static(b"bytes"))),
        quad("_:a", "knows", Val::UidVal(0x77)),
        edge("_:a", "knows", "_:b"),
        edge("_:b", "dgraph.type", "0x1"),
    ];
    // The last one is no edge: a statement that can't be stored says so, and nothing is.
    failed(set(&site, quads.clone()), Code::Unknown, "dgraph.type");
    let quads = quads[..quads.len() - 1].to_vec();
    let uids = set(&site, quads).unwrap().uids;
    let (a, b) = (&uids["a"], &uids["b"]);
    let reported = site.client.json(&format!("{{ q(func: uid({a})) {{ name nick age real true born lives rich face note knows {{ uid }} }} }}"));
    let mut existing = [b.as_str(), "0x77"].map(|uid| (uid.len(), uid));
    existing.sort_unstable();
    let knows = existing.map(|(_, uid)| format!(r#"{{"uid":"{uid}"}}"#)).join(",");
    let want = format!(
        r#"{{"q":[{{"name":"a \"quoted\"\n<text> .","nick":"né","age":-7,"real":0.25,"true":true,"born":"1970-01-01T00:00:00Z","lives":{{"type":"Point","coordinates":[1.5,-2]}},"rich":12345678901234567890.5,"face":[1.0,-0.5],"note":"bytes","knows":[{knows}]}}]}}"#
    );
    let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(parsed(&reported), parsed(&want), "{reported}");
}

#[test]
fn languages_facets_and_stars() {
    let site = Site::new();
    let facets = vec![
        facet("text", b"5", ValType::String),
        facet("int", &5_i64.to_le_bytes(), ValType::Int),
        facet("float", &1.0_f64.to_le_bytes(), ValType::Float),
        facet("bool", &[1], ValType::Bool),
        facet("time", &time(86_400), ValType::Datetime),
        // Not in binary, so they are texts.
        facet("int2", b"-12", ValType::Int),
        facet("float2", b"0.5", ValType::Float),
        facet("bool2", b"false", ValType::Bool),
        facet("time2", b"2006-01-02", ValType::Datetime),
    ];
    let german =
        NQuad { lang: "de".to_owned(), ..quad("_:a", "name", Val::StrVal("Anna".to_owned())) };
    let quads = vec![
        quad("_:a", "name", Val::StrVal("Ann".to_owned())),
        german,
        NQuad { facets, ..edge("_:a", "knows", "_:b") },
    ];
    let uids = set(&site, quads).unwrap().uids;
    let a = uids["a"].clone();
    let ask = || {
        site.client
            .json(&format!("{{ q(func: uid({a})) {{ name name@de knows @facets {{ uid }} }} }}"))
    };
    let reported: serde_json::Value = serde_json::from_str(&ask()).unwrap();
    let result = &reported["q"][0];
    assert_eq!((&result["name"], &result["name@de"]), (&"Ann".into(), &"Anna".into()));
    let facets = &result["knows"][0];
    for (key, want) in [
        ("text", serde_json::json!("5")),
        ("int", 5.into()),
        ("float", serde_json::json!(1.0)),
        ("bool", true.into()),
        ("time", "1970-01-02T00:00:00Z".into()),
        ("int2", (-12).into()),
        ("float2", serde_json::json!(0.5)),
        ("bool2", false.into()),
        ("time2", "2006-01-02T00:00:00Z".into()),
    ] {
        let reported = &facets[format!("knows|{key}")];
        let is_equal =
            *reported == want || reported.as_f64().is_some() && reported.as_f64() == want.as_f64();
        assert!(is_equal, "{key}: {reported} and not {want}");
    }
    let star = || Val::DefaultVal("_STAR_ALL".to_owned());
    let delete = |del: NQuad| {
        let mutations = vec![Mutation { del: vec![del], ..Mutation::default() }];
        site.client.ask(Request { mutations, commit_now: true, ..Request::default() }).unwrap();
    };
    delete(NQuad { lang: "de".to_owned(), ..quad(&a, "name", star()) });
    assert!(ask().contains("Ann") && !ask().contains("Anna"));
    delete(quad(&a, "knows", star()));
    assert_eq!(ask(), r#"{"q":[{"name":"Ann"}]}"#);
    site.client.set(&format!("<{a}> <dgraph.type> \"T\" ."));
    site.database.alter("type T {\n  name\n}").unwrap();
    delete(quad(&a, "_STAR_ALL", star()));
    assert_eq!(ask(), r#"{"q":[]}"#);
}

#[test]
fn variables_of_the_query_are_nodes_and_values() {
    let site = Site::new();
    site.client.set("_:a <nick> \"x\" .\n_:a <age> \"5\" .");
    let query = "{ q(func: eq(nick, \"x\")) { v as uid n as age } }".to_owned();
    let set = vec![edge("uid(v)", "real", "val(n)"), edge("uid(v)", "knows", "_:new")];
    let mutations =
        vec![Mutation { set, cond: "@if(eq(len(v), 1))".to_owned(), ..Mutation::default() }];
    let done = site
        .client
        .ask(Request { query, mutations, commit_now: true, ..Request::default() })
        .unwrap();
    assert!(text(&done.json).contains(r#""age":5"#));
    assert_eq!(
        site.client.json("{ q(func: has(real)) { real knows { count(uid) } } }"),
        r#"{"q":[{"real":5,"knows":[{"count":1}]}]}"#
    );
}

#[test]
fn what_is_no_statement() {
    let site = Site::new();
    let good = || quad("_:a", "name", Val::StrVal("x".to_owned()));
    let with = |facet: Facet| NQuad { facets: vec![facet], ..edge("_:a", "knows", "_:b") };
    for (bad, code, why) in [
        (
            NQuad::default(),
            Code::InvalidArgument,
            "statement 2: it has neither object_id nor object_value",
        ),
        (edge("", "knows", "0x1"), Code::Unknown, "line 2 column 1"),
        (edge("0x0", "knows", "0x1"), Code::Unknown, "uids start at 1"),
        (edge("0x1", "", "0x1"), Code::Unknown, "is no name"),
        (
            edge("0x1> <p> * .\n<0x2", "knows", "0x1"),
            Code::Unknown,
            "statement 2: `>` is not allowed in the subject",
        ),
        (
            quad("_:a", "born", Val::DatetimeVal(Bytes::from_static(b"soon"))),
            Code::InvalidArgument,
            "statement 2: datetime_val: ",
        ),
        (
            quad("_:a", "lives", Val::GeoVal(Bytes::from_static(b"\x01\x01"))),
            Code::InvalidArgument,
            "statement 2: geo_val: ",
        ),
        (
            quad("_:a", "face", Val::Vfloat32Val(Bytes::from_static(b"abc"))),
            Code::InvalidArgument,
            "3 bytes, no multiple of 4",
        ),
        (
            quad("_:a", "rich", Val::BigfloatVal(Bytes::from_static(b"\xff"))),
            Code::InvalidArgument,
            "bigfloat_val is no text",
        ),
        (quad("_:a", "age", Val::StrVal("old".to_owned())), Code::Unknown, "old"),
        (quad("_:a", "real", Val::DoubleVal(f64::NAN)), Code::Unknown, "NaN"),
        (
            with(facet("k", b"soon", ValType::Datetime)),
            Code::InvalidArgument,
            "the value of facet `k`",
        ),
        (with(facet("k", b"\xff", ValType::String)), Code::InvalidArgument, "facet `k` is no text"),
        (
            with(Facet { val_type: 9, ..facet("k", b"", ValType::String) }),
            Code::InvalidArgument,
            "the type of facet `k` is 9",
        ),
        (
            with(facet("a=1) . ", b"x", ValType::String)),
            Code::Unknown,
            "`=` is not allowed in the facet",
        ),
    ] {
        failed(set(&site, vec![good(), bad]), code, why);
    }
    assert_eq!(site.client.json("{ q(func: has(name)) { name } }"), r#"{"q":[]}"#);
}
