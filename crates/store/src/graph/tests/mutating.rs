use super::*;
use hexgraph_base::types::Uid;

const SCHEMA: &str = "name: string @index(exact, term) @lang .\nage: int @index(int) .\ntag: [string] @index(exact) .\n\
     friend: [uid] @reverse .\nbest: uid @reverse .\nkey: string @index(hash) @unique .\n\
     secret: password .\nv: float32vector .\ntype Person {\n name\n age\n friend\n}\n";

fn set(version: &Version, text: &str) -> Version {
    apply(version, text, "").unwrap().0
}

fn delete(version: &Version, text: &str) -> Version {
    apply(version, "", text).unwrap().0
}

fn fault(version: &Version, set: &str, delete: &str) -> String {
    apply(version, set, delete).err().unwrap_or_else(|| panic!("{set} {delete}")).to_string()
}

#[test]
fn blank_nodes_get_uids_that_nobody_has() {
    let text = "_:b <friend> _:a .\n<0x10001> <name> \"x\" .\n_:a <name> \"a\" .";
    let (version, report) = apply(&with_schema(SCHEMA), text, "").unwrap();
    assert_eq!(report.uids, [("b".to_owned(), Uid(0x10002)), ("a".to_owned(), Uid(0x10003))]);
    assert_eq!(targets_of(&version, "friend", true, 0x10003), [0x10002]);
    assert_eq!(apply(&version, "_:b <age> \"1\" .", "").unwrap().1.uids[0].1, Uid(0x10004));
}

#[test]
fn a_request_that_has_no_memory_uses_up_no_uids() {
    let version = with_schema(SCHEMA);
    let next = version.uids.next();
    let refuse = |bytes| match bytes {
        0 => Ok(()),
        _ => Err(Error::Limit { message: "there is no memory".to_owned() }),
    };
    let set = Statements::NQuads("_:a <name> \"a\" .");
    let tree = MutationTexts::new(&[set], &[]);
    let statements = vec![tree.statements(&mut 0, &()).unwrap()];
    let stager = Stager { charge: &refuse, ..stager() };
    let refused = stage(&version, statements, &Bindings::default(), stager);
    assert!(matches!(refused, Err(Error::Limit { .. })));
    assert_eq!(version.uids.next(), next);
}

#[test]
fn sets_replace_or_add() {
    let one = set(
        &with_schema(SCHEMA),
        "<1> <name> \"a\" (f=1) .\n<1> <name@de> \"ä\" .\n<1> <tag> \"x\" (f=1) .\n\
         <1> <best> <2> .\n<1> <best> <3> (w=1) .\n<1> <friend> <2> (w=1) .\n<1> <age> \"5.5\"^^<xs:float> .\n",
    );
    assert_eq!(values_of(&one, "name", "", 1), ["a|f=1"]);
    assert_eq!(values_of(&one, "age", "", 1), ["5"]);
    assert_eq!(targets_of(&one, "best", true, 2), [0; 0]);
    let two = set(
        &one,
        "<1> <name> \"b\" .\n<1> <name> \"c\" .\n<1> <tag> \"y\" .\n<1> <tag> \"x\" .\n\
         <1> <best> <2> .\n<1> <friend> <3> .\n<1> <friend> <2> .\n",
    );
    assert_eq!(values_of(&two, "name", "", 1), ["c"]);
    assert_eq!(values_of(&two, "name", "de", 1), ["ä"]);
    assert_eq!(values_of(&two, "tag", "", 1), ["x", "y"]);
    assert_eq!(targets_of(&two, "best", false, 1), [2]);
    assert_eq!(targets_of(&two, "best", true, 3), [0; 0]);
    assert_eq!(targets_of(&two, "friend", false, 1), [2, 3]);
    assert_eq!(contents(&two).edges[&("friend".to_owned(), 1, 2)], []);
    // The version before is as it was.
    assert_eq!(values_of(&one, "name", "", 1), ["a|f=1"]);
}

/// What a mutation does in effect: values set, edges set, values deleted, edges deleted.
fn effect(version: &Version, set: &str, delete: &str) -> [u64; 4] {
    let texts = [(Statements::NQuads(set), Statements::NQuads(delete))];
    let (changes, _) = staged(version, &texts, &Bindings::default()).unwrap();
    let (_, effect) = changes.apply_keyed(version, &mut Vec::new(), &|| Ok(())).unwrap();
    [effect.values_set, effect.edges_set, effect.values_deleted, effect.edges_deleted]
}

#[test]
fn what_is_done_in_effect_is_counted() {
    let text = "<1> <name> \"a\" .\n<1> <name@de> \"ä\" .\n<1> <tag> \"x\" .\n<1> <tag> \"y\" .\n\
                <1> <friend> <2> (w=1) .\n<1> <friend> <3> .\n<1> <best> <2> .\n";
    assert_eq!(effect(&with_schema(SCHEMA), text, ""), [4, 3, 0, 0]);
    let changed = set(&with_schema(SCHEMA), text);
    let clean = crate::graph::settle_all(&changed);
    for version in [&changed, &clean] {
        let is = |set: &str, delete: &str| effect(version, set, delete);
        assert_eq!(is("<1> <name> \"a\" .\n<1> <tag> \"y\" .\n<1> <friend> <3> .", ""), [0; 4]);
        assert_eq!(is("<1> <name> \"b\" .\n<1> <tag> \"z\" .\n<1> <best> <3> .", ""), [2, 1, 0, 0]);
        assert_eq!(is("<1> <friend> <2> (w=2) .\n<1> <name> \"a\" (f=1) .", ""), [1, 1, 0, 0]);
        assert_eq!(is("", "<1> <name> * .\n<1> <friend> * .\n<1> <best> * ."), [0, 0, 2, 3]);
        assert_eq!(
            is("", "<1> <tag> \"x\" .\n<1> <tag> \"q\" .\n<1> <friend> <9> ."),
            [0, 0, 1, 0]
        );
        assert_eq!(is("", "<1> <name@de> * .\n<1> <friend> <2> .\n<2> <friend> * ."), [0, 0, 1, 1]);
        // Deletes come first: what is deleted and set again counts twice.
        assert_eq!(is("<1> <best> <2> .", "<1> <best> <2> ."), [0, 1, 0, 1]);
    }
}

#[test]
fn deletes() {
    let all = set(
        &with_schema(SCHEMA),
        "<1> <name> \"a\" .\n<1> <name@de> \"ä\" .\n<1> <name@fr> \"à\" .\n<1> <age> \"5\" .\n\
         <1> <tag> \"x\" .\n<1> <tag> \"y\" .\n<1> <friend> <2> .\n<1> <friend> <3> .\n\
         <1> <best> <2> .\n<1> <dgraph.type> \"Person\" .\n<2> <friend> <1> .\n",
    );
    let is = |text: &str| delete(&all, text);
    assert_eq!(values_of(&is("<1> <name> \"b\" ."), "name", "", 1), ["a"]);
    assert_eq!(values_of(&is("<1> <name> \"a\" ."), "name", "", 1), [""; 0]);
    assert_eq!(values_of(&is("<1> <name> \"a\" ."), "name", "de", 1), ["ä"]);
    assert_eq!(values_of(&is("<1> <name@de> * ."), "name", "", 1), ["a"]);
    assert_eq!(values_of(&is("<1> <name@de> * ."), "name", "de", 1), [""; 0]);
    assert_eq!(values_of(&is("<1> <name> * ."), "name", "fr", 1), [""; 0]);
    assert_eq!(values_of(&is("<1> <tag> \"x\" ."), "tag", "", 1), ["y"]);
    assert_eq!(values_of(&is("<1> <age> \"5\"^^<xs:float> ."), "age", "", 1), [""; 0]);
    assert_eq!(targets_of(&is("<1> <friend> <2> ."), "friend", false, 1), [3]);
    assert_eq!(targets_of(&is("<1> <friend> <2> ."), "friend", true, 2), [0; 0]);
    assert_eq!(targets_of(&is("<1> <best> * ."), "best", true, 2), [0; 0]);
    assert_eq!(targets_of(&is("<1> <best> <3> ."), "best", true, 2), [1]);
    // Those of the node's types go, the others and the edges that come in stay.
    let none = is("<1> * * .");
    assert_eq!(values_of(&none, "name", "de", 1), [""; 0]);
    assert_eq!(values_of(&none, "dgraph.type", "", 1), [""; 0]);
    assert_eq!(values_of(&none, "tag", "", 1), ["x", "y"]);
    assert_eq!(targets_of(&none, "friend", false, 2), [1]);
    assert_eq!(targets_of(&none, "best", false, 1), [2]);
    // Deletes come before sets; what is not there can be deleted.
    let both =
        apply(&all, "<1> <tag> \"z\" .", "<1> <tag> * .\n<9> <nope> * .\n<0xff00000000> <age> * .");
    assert_eq!(values_of(&both.unwrap().0, "tag", "", 1), ["z"]);
}

#[test]
fn new_predicates() {
    let version = set(
        &with_schema(SCHEMA),
        "<1> <d> \"x\" .\n_:a <d> \"x\" .\n<1> <l> \"x\" .\n<1> <l> \"y\" .\n<1> <i> \"5\"^^<xs:int> .\n\
         <1> <e> <2> .\n_:a <m> \"x\" .\n_:b <m> \"y\" .\n_:a <m> \"z\" .\n",
    );
    let schema = version.schema.to_text();
    for line in ["d: default .", "l: [default] .", "i: int .", "e: [uid] .", "m: [default] ."] {
        assert!(schema.contains(line), "{line} in {schema}");
    }
    // Deletes never create schema.
    let version = delete(&version, "<1> <never> \"x\" .");
    assert!(!version.schema.predicates.contains_key("never"));
}

/// What else is refused is in `tests/golden/errors/statements`.
#[test]
fn variables_need_a_query() {
    let version = with_schema(SCHEMA);
    for text in ["uid(v) <name> \"x\" .", "<1> <name> val(v) ."] {
        let message = fault(&version, text, "");
        assert!(message.contains("variable `v` is used without a query"), "{message}");
    }
}

#[test]
fn passwords_are_hashed() {
    let one = set(&with_schema(SCHEMA), "<1> <secret> \"123456\" .");
    let hash = values_of(&one, "secret", "", 1).remove(0);
    assert_eq!(Value::verify_password(&hash, "123456"), Ok(true));
    assert_eq!(values_of(&delete(&one, "<1> <secret> \"1234567\" ."), "secret", "", 1), [&*hash]);
    assert_eq!(values_of(&delete(&one, "<1> <secret> \"123456\" ."), "secret", "", 1), [""; 0]);
    // By its hash; in JSON; and one that an earlier part of the request sets.
    let by_hash = format!("<1> <secret> \"{hash}\" .");
    assert_eq!(values_of(&delete(&one, &by_hash), "secret", "", 1), [""; 0]);
    let (none, json) =
        (Statements::NQuads(""), Statements::Json(r#"{"uid": "1", "secret": "123456"}"#));
    let (version, report) = mutate(&one, &[(none, json)], &Bindings::default()).unwrap();
    assert_eq!(values_of(&version, "secret", "", 1), [""; 0]);
    assert!(report.reads.contains("secret"), "{report:?}");
    let set = Statements::NQuads("<1> <secret> \"abcdef\" .");
    for (text, left) in [("abcdef", 0), ("123456", 1)] {
        let line = format!("<1> <secret> \"{text}\" .");
        let parts = [(set, none), (none, Statements::NQuads(&line))];
        let (version, _) = mutate(&one, &parts, &Bindings::default()).unwrap();
        assert_eq!(values_of(&version, "secret", "", 1).len(), left, "{text}");
    }
    // What is logged is the hash, and never the text.
    let delete = MutationTexts::new(&[], &[Statements::NQuads("<1> <secret> \"123456\" .")]);
    let delete = delete.statements(&mut 0, &()).unwrap();
    let (changes, _) = stage(&one, vec![delete], &Bindings::default(), stager()).unwrap();
    let mut record = Vec::new();
    crate::graph::encode_changes(&[changes], &mut record);
    let holds = |text: &str| record.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(holds(&hash) && !holds("123456"));
}

#[test]
fn many_changes_are_compacted() {
    let text: String = (1..6000).map(|n| format!("<{n}> <age> \"{}\" .\n", n % 100)).collect();
    let version = set(&with_schema(SCHEMA), &text);
    let predicate = version.predicate("age").unwrap();
    assert!(predicate.langs()[0].is_clean());
    assert_eq!(predicate.subjects().len(), 5999);
    let next = set(&version, "<7> <age> \"1\" .");
    assert!(!next.predicate("age").unwrap().langs()[0].is_clean());
}

#[test]
fn mutations_of_a_request_come_one_after_the_other() {
    use Statements::{Json, NQuads};
    let version = set(&with_schema(SCHEMA), "<1> <tag> \"a\" .\n<1> <dgraph.type> \"Person\" .");
    let mut bindings = Bindings::default();
    bindings.bind("v", Binding::Uids(vec![Uid(1), Uid(2)]));
    bindings.bind("w", Binding::Uids(Vec::new()));
    bindings.bind("x", Binding::Constant(Value::Int(7)));
    let mutations = [
        (NQuads("uid(v) <tag> \"b\" .\n_:n <friend> uid(w) ."), NQuads("<1> <tag> \"a\" .")),
        (Json(r#"[{"uid": "_:n", "age": "val(x)"}, {"best": {"name": "new"}}]"#), NQuads("")),
        (NQuads("<1> <name> \"late\" ."), Json(r#"[{"uid": 1, "tag": ["b"]}, {"uid": "uid(w)"}]"#)),
    ];
    let (version, report) = mutate(&version, &mutations, &bindings).unwrap();
    let names: Vec<&str> = report.uids.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["n", "uid(w)", "dg.1.1", "dg.1.2"]);
    assert_eq!(values_of(&version, "tag", "", 1), [""; 0]);
    assert_eq!(values_of(&version, "tag", "", 2), ["b"]);
    assert_eq!(values_of(&version, "name", "", 1), ["late"]);
    let [new, other, outer, inner] = [0, 1, 2, 3].map(|position| report.uids[position].1.0);
    assert_eq!(values_of(&version, "age", "", new), ["7"]);
    assert_eq!(targets_of(&version, "friend", false, new), [other]);
    assert_eq!(targets_of(&version, "best", false, outer), [inner]);
    let error = mutate(&version, &[(NQuads(""), NQuads("_:n <tag> * ."))], &bindings);
    assert!(error.err().unwrap().to_string().contains("`_:n` is a new node"));
}

#[test]
fn long_words_are_too_large_for_an_index() {
    let schema = "w: string @index(term) .\nt: string @index(trigram) .\nplain: string .\n";
    let version = with_schema(schema);
    let long = "x".repeat(70_000);
    let words = "x ".repeat(35_000);
    let line = |name: &str, text: &str| format!("<1> <{name}> \"{text}\" .");
    assert!(fault(&version, &line("w", &long), "").contains("65000 bytes that an index takes"));
    for (name, text) in [("w", &words), ("t", &long), ("plain", &long)] {
        set(&version, &line(name, text));
    }
}

/// Copying the list for each value would make each of the requests last minutes.
#[test]
fn many_values_of_a_list_change_at_once() {
    let lines = |step: usize| -> String {
        (0..30_000).step_by(step).map(|it| format!("<1> <tag> \"t{it:05}\" .\n")).collect()
    };
    let all = set(&with_schema(SCHEMA), &lines(1));
    assert_eq!(effect(&all, &lines(1), ""), [0; 4]);
    assert_eq!(effect(&all, "", &lines(2)), [0, 0, 15_000, 0]);
    let left = values_of(&delete(&all, &lines(2)), "tag", "", 1);
    assert_eq!(left.len(), 15_000);
    assert_eq!((&*left[0], &*left[14_999]), ("t00001", "t29999"));
}

#[test]
fn values_are_deleted_as_queries_show_them() {
    let schema = "f: [float] .\nd: [datetime] .\nname: string .\n";
    let text = "<1> <f> \"0\" .\n<1> <f> \"-0\" .\n<1> <f> \"2.5\" .\n<1> <f> \"7\" .\n\
                <1> <d> \"2020-01-01T00:00:00Z\" .\n<1> <d> \"2020-01-01T01:00:00+01:00\" .\n";
    let one_by_one = [
        "<1> <f> \"-0\" .",
        "<1> <f> \"2.5\"^^<xs:float> .",
        "<1> <f> \"9\" .",
        "<1> <d> \"2020-01-01\" .",
    ];
    let all = set(&with_schema(schema), text);
    let together = delete(&all, &one_by_one.join("\n"));
    let steps = one_by_one.iter().fold(all.clone(), |version, line| delete(&version, line));
    for name in ["f", "d"] {
        let left = values_of(&together, name, "", 1);
        assert_eq!(left, values_of(&steps, name, "", 1));
        assert!(!left.is_empty() && left.len() < values_of(&all, name, "", 1).len(), "{left:?}");
    }
}

#[test]
fn whoever_stops_waiting_changes_nothing() {
    let lines = |sets: &str| -> String {
        (0..20_000).map(|it| format!("<{}> <{sets}> \"{it}\" .\n", it + 1)).collect()
    };
    let version = set(&with_schema(SCHEMA), &lines("tag"));
    let texts = [(Statements::NQuads(""), Statements::NQuads(&lines("tag")))];
    let (changes, _) = staged(&version, &texts, &Bindings::default()).unwrap();
    let requested = std::cell::Cell::new(0);
    let apply = |most: usize| {
        requested.set(0);
        let check = || {
            requested.set(requested.get() + 1);
            let stopped = || Error::Limit { message: "stopped".to_owned() };
            if requested.get() <= most { Ok(()) } else { Err(stopped()) }
        };
        changes.clone().apply_keyed(&version, &mut Vec::new(), &check).map(drop)
    };
    apply(usize::MAX).unwrap();
    let looks = requested.get();
    // While it deletes, and after all.
    assert!(5 <= looks, "{looks}");
    (0..looks).for_each(|most| assert!(apply(most).is_err(), "{most} of {looks}"));
}

/// JSON could bring any text, which no query and no export could name.
#[test]
fn names_that_no_text_can_have() {
    let version = with_schema(SCHEMA);
    for name in
        ["", " ", "a b", "a\"b", "a<b", "a>b", "a{b", "a}b", "a^b", "a\nb", "a\\\\b", "*", "😀"]
    {
        let json = format!("{{\"{}\": 1}}", name.replace('\n', "\\n").replace('"', "\\\""));
        let set = [(Statements::Json(&json), Statements::NQuads(""))];
        let fault = mutate(&version, &set, &Bindings::default()).err();
        let text = fault.unwrap_or_else(|| panic!("{json}")).to_string();
        assert!(text.contains("is no name of a predicate"), "{text}");
    }
    for name in ["größe", "a.b-c/d", "名前", "a😀"] {
        let json = format!("{{\"{name}\": 1}}");
        let set = [(Statements::Json(&json), Statements::NQuads(""))];
        mutate(&version, &set, &Bindings::default()).unwrap();
    }
}
