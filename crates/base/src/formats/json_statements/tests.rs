use super::*;
use proptest::prelude::*;
use serde_json::Value as Any;
use std::collections::BTreeMap;
use std::path::PathBuf;

fn node_text(subject: Subject<'_>) -> String {
    match subject {
        Subject::Uid(number) => number.to_string(),
        Subject::Blank(label) => format!("_:{label}"),
        Subject::Name(name) => format!("<{name}>"),
        Subject::New(number) => format!("_:{number}"),
        Subject::Var(name) => format!("uid({name})"),
        Subject::Star => "*".to_owned(),
    }
}

fn object_text(object: &Object<'_>) -> String {
    match object {
        Object::Uid(number) => number.to_string(),
        Object::Blank(label) => format!("_:{label}"),
        Object::Name(name) => format!("<{name}>"),
        Object::New(number) => format!("_:{number}"),
        Object::Var(name) => format!("uid({name})"),
        Object::Val(name) => format!("val({name})"),
        Object::Star => "*".to_owned(),
        Object::Literal { text, .. } => format!("{text:?}"),
        Object::Value(value) => format!("{value:?}"),
    }
}

fn line_of(quad: &NQuad<'_>) -> String {
    let predicate = match quad.predicate {
        Predicate::Name(name) => name,
        Predicate::Star => "*",
    };
    let mut line = format!("{} {predicate}", node_text(quad.subject));
    if !quad.lang.is_empty() {
        line.push_str(&format!("@{}", quad.lang));
    }
    line.push_str(&format!(" {}", object_text(&quad.object)));
    for (key, value) in &quad.facets {
        line.push_str(&format!(" {key}={value:?}"));
    }
    if quad.in_list == Some(true) {
        line.push_str(" []");
    }
    line
}

fn read(text: &str, change: MutationKind) -> Result<Vec<String>> {
    let json = JsonText::new(text);
    let quads = json.statements(change, &mut 0)?;
    Ok(quads.iter().map(line_of).collect())
}

fn lines(text: &str, change: MutationKind) -> Vec<String> {
    read(text, change).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Each row: the JSON of a set, its statements.
#[test]
fn sets() {
    #[rustfmt::skip]
    let cases: &[(&str, &[&str])] = &[
        ("{}", &[]),
        ("[]", &[]),
        (r#"{"uid": "0x1f", "name": "Ada"}"#, &[r#"31 name "Ada""#]),
        (r#"{"name": "Ada", "uid": 7}"#, &[r#"7 name "Ada""#]),
        (r#"{"uid": "_:a", "n": 1}"#, &["_:a n Int(1)"]),
        (r#"[{"a": 1}, {"uid": "", "a": 2}, {"uid": 0, "a": 3}, {"uid": null, "a": 4}]"#,
            &["_:1 a Int(1)", "_:2 a Int(2)", "_:3 a Int(3)", "_:4 a Int(4)"]),
        (r#"{"uid": 1, "a": 1.0, "b": true, "c": null, "d": "2020-01-01", "e": {}, "namespace": "0x0"}"#,
            &["1 a Float(1.0)", "1 b Bool(true)", r#"1 d "2020-01-01""#]),
        (r#"{"uid": 1, "name@en": "x", "@y": "z", "name@": "w"}"#,
            &[r#"1 name@en "x""#, r#"1 @y "z""#, r#"1 name@ "w""#]),
        (r#"{"uid": 1, "friend": {"uid": 2, "name": "b"}}"#, &["1 friend 2", r#"2 name "b""#]),
        (r#"{"uid": 1, "friend": [{"uid": "0x2"}, {"n": 1}]}"#,
            &["1 friend 2 []", "1 friend _:1 []", "_:1 n Int(1)"]),
        (r#"{"uid": 1, "nick": ["a", 2, 2.5]}"#,
            &[r#"1 nick "a" []"#, "1 nick Int(2) []", "1 nick Float(2.5) []"]),
        (r#"{"uid": 1, "nick": []}"#, &[]),
        (r#"{"uid": 1, "loc": {"type": "Point", "coordinates": [1.5, 2]}}"#,
            &[r#"1 loc Geo("{\"type\":\"Point\",\"coordinates\":[1.5,2]}")"#]),
        (r#"{"uid": 1, "v": "[1.5, 2]", "w": "[]", "x": "[a]"}"#,
            &["1 v Vector([1.5, 2.0])", r#"1 w "[]""#, r#"1 x "[a]""#]),
        (r#"{"uid": "uid( v )", "friend": " uid (w) ", "age": "val(x)", "value": "values"}"#,
            &["uid(v) friend uid(w)", "uid(v) age val(x)", r#"uid(v) value "values""#]),
    ];
    for (text, want) in cases {
        assert_eq!(lines(text, MutationKind::Set), *want, "{text}");
    }
}

#[test]
fn facets() {
    #[rustfmt::skip]
    let cases: &[(&str, &[&str])] = &[
        (r#"{"uid": 1, "a|k": "x", "a|j": 1.5, "a": "v", "a|t": "2006-01-02", "a|n": null, "b|k": 1}"#,
            &[r#"1 a "v" j=Float(1.5) k=String("x") t=DateTime(DateTime { seconds: 1136160000, nanoseconds: 0, offset: 0 })"#]),
        (r#"{"uid": 1, "a@en": "v", "a@en|k": true, "a|k": 1}"#, &[r#"1 a@en "v" k=Bool(true)"#]),
        (r#"{"uid": 1, "f": [{"uid": 2, "f|w": 1, "g|w": 2, "f": {"uid": 3, "f|w": 4}}, {"uid": 4}]}"#,
            &["1 f 2 w=Int(1) []", "2 f 3 w=Int(4)", "1 f 4 []"]),
        (r#"{"uid": 1, "a": ["x", "y"], "a|k": {"1": 5, "7": 6, "-1": 7}, "a|j": {"0": false, "1": "z"}, "a|n": null}"#,
            &[r#"1 a "x" j=Bool(false) []"#, r#"1 a "y" j=String("z") k=Int(5) []"#]),
        (r#"{"uid": 1, "a|k|l": 1, "a": 2}"#, &["1 a Int(2) k|l=Int(1)"]),
        (r#"{"uid": 1, "a": 2, "a|k": {"@value": "2020-01-02", "@type": "xs:string"}}"#,
            &[r#"1 a Int(2) k=String("2020-01-02")"#]),
        (r#"{"uid": 1, "a": {"@value": "uid(v)", "@type": "xs:string"}, "a|k": 1}"#, &[r#"1 a "uid(v)" k=Int(1)"#]),
        (r#"{"uid": 1, "a": [{"@value": "[1, 2]", "@type": "xs:string"}], "a|k": {"0": 1}}"#,
            &[r#"1 a "[1, 2]" k=Int(1) []"#]),
        (r#"{"uid": 1, "a": ["x"], "a|k": {"0": {"@type": "xs:string", "@value": "2020"}}}"#,
            &[r#"1 a "x" k=String("2020") []"#]),
        (r#"{"uid": 1, "friend": "uid(v)", "friend|w": 1}"#, &["1 friend uid(v) w=Int(1)"]),
    ];
    for (text, want) in cases {
        let written: Vec<String> = lines(text, MutationKind::Set);
        if !text.contains("2006") {
            assert_eq!(written, *want, "{text}");
        } else {
            assert!(written[0].starts_with(&want[0][..40]), "{written:?}");
        }
    }
}

#[test]
fn deletes() {
    #[rustfmt::skip]
    let cases: &[(&str, &[&str])] = &[
        (r#"{"uid": 1}"#, &["1 * *"]),
        (r#"{"uid": "uid(v)"}"#, &["uid(v) * *"]),
        (r#"{"uid": 1, "name": null, "name@es": null}"#, &["1 name *", "1 name@es *"]),
        (r#"{"uid": 1, "a": "", "b": false, "c": 0.0, "d": 0, "e": true}"#,
            &["1 a *", "1 b *", "1 c *", "1 d Int(0)", "1 e Bool(true)"]),
        (r#"{"uid": 1, "friend": [{"uid": 2}], "best": {"uid": 3, "name": null}}"#,
            &["1 friend 2 []", "1 best 3", "3 name *"]),
        (r#"{"uid": 1, "missing|facet": null}"#, &[]),
        ("[]", &[]),
    ];
    for (text, want) in cases {
        assert_eq!(lines(text, MutationKind::Delete), *want, "{text}");
    }
}

/// Each row: the change, the JSON, a part of the message with its position.
#[test]
fn faults_are_placed() {
    use MutationKind::{Delete, Set};
    #[rustfmt::skip]
    let cases = [
        (Set, "", "line 1 column 1: the JSON ends too early"),
        (Set, "\"text\"", "line 1 column 1: a mutation in JSON is an object"),
        (Set, "[{},\n 1]", "a mutation in JSON is an object"),
        (Set, "{\"a\": 1}\n x", "line 2 column 2: unexpected `x`"),
        (Set, "{\"a\":\n 27670116110564327426}", "line 2 column 2: the integer 27670116110564327426 has more than 64 bits"),
        (Set, "{\"a\": [[1]]}", "line 1 column 7: the list of `a` holds something else"),
        (Set, "{\"a\": [true]}", "something else"),
        (Set, "{\"a\": [null]}", "something else"),
        (Set, "{\"uid\": \"abc\"}", "line 1 column 9: `abc` is no uid"),
        (Set, "{\"uid\": \"-100\"}", "is no uid"),
        (Set, "{\"uid\": -1}", "is no uid"),
        (Set, "{\"uid\": 1.5}", "names no node"),
        (Set, "{\"uid\": true}", "names no node"),
        (Set, "{\"uid\": \"_:\"}", "no name"),
        (Set, "{\"uid\": \"0xa14222b693e4ba34123\"}", "is no uid"),
        (Set, "{\"a\": \"val(x\"}", "the brackets of `val(x` are not closed"),
        (Set, "{\"uid\": \"uid()\"}", "brackets"),
        (Set, "{\"a\": \"x\", \"a|k\": {}}", "line 1 column 19: facet `a|k` is no string, number or bool"),
        (Set, "{\"a\": \"x\", \"a|k\": {\"@value\": \"y\", \"@type\": \"xs:int\"}}", "facet `a|k` is no string, number or bool"),
        (Set, "{\"a\": \"x\", \"a|k\": {\"@value\": 5, \"@type\": \"xs:string\"}}", "facet `a|k` is no string, number or bool"),
        (Set, "{\"a\": [1], \"a|k\": 1}", "facet `a|k` of a list is no object"),
        (Set, "{\"a\": [1], \"a|k\": {\"x\": 1}}", "`x` in facet `a|k` is no position"),
        (Set, "{\"a\": [1], \"a|k\": {\"0\": []}}", "facet `a|k` at position 0 is no string"),
        (Set, "{\"a\": 1, \"a|\": 1}", "is no name of a facet"),
        (Set, "{\"a\": 1, \"a|b c\": 1}", "is no name of a facet"),
        (Delete, "{}", "an object to be deleted has no"),
        (Delete, "{\"uid\": 1, \"f\": {\"n\": null}}", "line 1 column 17: an object to be deleted"),
    ];
    for (change, text, part) in cases {
        let error = read(text, change).expect_err(text).to_string();
        assert!(error.contains(part), "{text}\n{error}");
    }
}

#[test]
fn deep_objects_are_read_or_refused() {
    let nested = |depth: usize| format!("{}1{}", "{\"f\":".repeat(depth), "}".repeat(depth));
    assert_eq!(lines(&nested(250), MutationKind::Set).len(), 250);
    assert!(read(&nested(251), MutationKind::Set).unwrap_err().to_string().contains("nest deeper"));
}

fn recorded_cases() -> Option<Vec<Any>> {
    let folder = std::env::var_os("HEXGRAPH_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let path = folder.join("conformance/dql/json_mutation.jsonl");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is missing", path.display());
        return None;
    };
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A statement as subject, predicate, object, and the rest.
type Parts = [String; 4];

fn our_parts(quad: &NQuad<'_>) -> Parts {
    let Predicate::Name(name) = quad.predicate else { panic!("no case deletes all") };
    let object = match &quad.object {
        Object::Literal { text, value_type } => format!("{} {text}", value_type.name()),
        Object::Value(value) => match value {
            Value::Geo(_) => {
                let Ok(Value::Binary(wkb)) = value.as_ref().convert(ValueType::Binary) else {
                    panic!("a geometry has bytes");
                };
                format!("geo {}", hex(&wkb))
            }
            Value::Vector(numbers) => {
                let bytes: Vec<u8> = numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
                format!("float32vector {}", hex(&bytes))
            }
            Value::Float(number) => format!("float {number:?}"),
            Value::Int(number) => format!("int {number}"),
            Value::Bool(truth) => format!("bool {truth}"),
            other => panic!("no JSON has it: {other:?}"),
        },
        Object::Star => "default _STAR_ALL".to_owned(),
        node => object_text(node),
    };
    let facets: Vec<String> = quad
        .facets
        .iter()
        .map(|(key, value)| {
            let (kind, bytes) = match value {
                Value::String(text) => ("STRING", text.clone().into_bytes()),
                Value::Int(number) => ("INT", number.to_le_bytes().to_vec()),
                Value::Float(number) => ("FLOAT", number.to_le_bytes().to_vec()),
                Value::Bool(truth) => ("BOOL", vec![u8::from(*truth)]),
                Value::DateTime(time) => ("DATETIME", time.to_binary()),
                other => panic!("no facet has this type: {other:?}"),
            };
            format!("{key} {kind} {}", hex(&bytes))
        })
        .collect();
    [node_text(quad.subject), name.to_owned(), object, format!("{} {facets:?}", quad.lang)]
}

fn recorded_parts(quad: &Any) -> Parts {
    let text = |key: &str| quad[key].as_str().unwrap_or_default().to_owned();
    let value = &quad["object_value"];
    let object = match (&value["hex"], &value["value"], value["type"].as_str()) {
        (_, _, None) => text("object_id"),
        (Any::String(hex), _, Some(kind)) => format!("{kind} {hex}"),
        (_, Any::String(number), Some("float")) => {
            format!("float {:?}", number.parse::<f64>().unwrap())
        }
        (_, Any::String(text), Some(kind)) => format!("{kind} {text}"),
        (_, other, Some(kind)) => format!("{kind} {other}"),
    };
    let mut facets: Vec<String> = quad["facets"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|facet| {
            let part = |key: &str| facet[key].as_str().unwrap().to_owned();
            format!("{} {} {}", part("key"), part("type"), part("value_hex"))
        })
        .collect();
    facets.sort_unstable();
    [text("subject"), text("predicate"), object, format!("{} {facets:?}", text("lang"))]
}

/// Calls new nodes by what is said of them, and orders the statements.
fn comparable(mut quads: Vec<Parts>) -> Vec<Parts> {
    let is_new = |text: &str| {
        text.strip_prefix("_:").is_some_and(|label| {
            label.starts_with("dg.") || label.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let mut existing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for [subject, predicate, object, _] in &quads {
        if !is_new(object) {
            existing.entry(subject.clone()).or_default().push(format!("{predicate}={object}"));
        }
    }
    for [subject, _, object, _] in &mut quads {
        for node in [subject, object] {
            if is_new(node) {
                let mut facts = existing.get(node).cloned().unwrap_or_default();
                facts.sort_unstable();
                *node = format!("_:{facts:?}");
            }
        }
    }
    quads.sort_unstable();
    quads
}

/// Dgraph has two JSON parsers, and a server on a common machine uses simdjson. The other
/// one differs where it does not matter here: in an integer that is too large.
#[test]
fn recorded_statements_agree() {
    let Some(cases) = recorded_cases() else { return };
    let mut wrong = Vec::new();
    for case in cases {
        let change = if case["op"] == "set" { MutationKind::Set } else { MutationKind::Delete };
        let text = case["input"].as_str().unwrap();
        let json = JsonText::new(text);
        let ours = json.statements(change, &mut 0);
        let ours = ours.map(|quads| comparable(quads.iter().map(our_parts).collect()));
        let same = match &ours {
            Ok(quads) => {
                let recorded = case["nquads"].as_array().into_iter().flatten();
                case["ok"] == true && *quads == comparable(recorded.map(recorded_parts).collect())
            }
            Err(_) => case["ok"] == false,
        };
        if !same {
            wrong.push(format!("{}: {text}\n  {ours:?}\n  {}", case["id"], case["nquads"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Any JSON of the kinds that matter, as text.
fn json() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "uid",
        "name",
        "name@en",
        "name|f",
        "friend",
        "friend|w",
        "type",
        "coordinates",
        "|",
        "a|",
    ]);
    let leaf = prop::sample::select(vec![
        "null",
        "true",
        "false",
        "0",
        "0.0",
        "-7",
        "1e3",
        "\"\"",
        "\"x\"",
        "\"_:a\"",
        "\"0x1\"",
        "\"uid(v)\"",
        "\"val(\"",
        "\"[1]\"",
        "\"2020\"",
        "{}",
        "[]",
        "99999999999999999999",
        "\"\\u00e9\\ud83d\"",
        "\"Point\"",
        "[1,2]",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|members| {
                let members: Vec<String> =
                    members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_read_or_refused(text in json(), deletes in any::<bool>()) {
        let change = if deletes { MutationKind::Delete } else { MutationKind::Set };
        let mut new_nodes = 0;
        if let Ok(quads) = JsonText::new(&text).statements(change, &mut new_nodes) {
            let sorted = |quad: &NQuad<'_>| quad.facets.is_sorted_by(|a, b| a.0 < b.0);
            prop_assert!(quads.iter().all(sorted));
            prop_assert!(!deletes || new_nodes == 0);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*") {
        let _ = read(&text, MutationKind::Set);
        let _ = read(&format!("{{{text}}}"), MutationKind::Delete);
    }

    /// Each notation of a text is read back as the same text.
    #[test]
    fn texts_come_back(text in any::<String>()) {
        let json = serde_json::json!({ "uid": 1, "p": format!("a{text}") }).to_string();
        let json = JsonText::new(&json);
        let quads = json.statements(MutationKind::Set, &mut 0).unwrap();
        let Object::Literal { text: got, .. } = &quads[0].object else { unreachable!() };
        prop_assert_eq!(&got[1..], text);
    }
}
