//! Texts that are short for what they ask, or long for nothing: DQL and GraphQL by every carrier.

use super::door::{QUICK, Yard};
use super::request::{Carrier, RequestedQuery, check_answered, json_of, send};
use serde_json::json;
use std::fmt::Write;
use std::time::{Duration, Instant};

const SCHEMA: &str = "name: string @index(exact, trigram) .\nrank: int @index(int) .\nnext: [uid] @reverse .\npoint: float32vector .";

const GRAPHQL: &str = "type Item @withSubscription { id: ID! name: String @dgraph(pred: \"name\") rank: Int @dgraph(pred: \"rank\") next: [Item] @dgraph(pred: \"next\") }";

const POINT: &str = "{ q(func: eq(name, \"n1\")) { name } }";

/// What has to become of an attack.
#[derive(Clone, Copy)]
enum Want {
    /// It is refused, with one of these words.
    Refused(&'static [&'static str]),
    /// It is answered: it asks for little.
    Answered,
    /// It is answered or refused, in time.
    Either,
}

use Want::{Answered, Either, Refused};

/// A text so many times, each with its number.
fn many(count: usize, each: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    (0..count).for_each(|number| write!(text, "{} ", each(number)).unwrap());
    text
}

fn nested(count: usize, open: &str, inside: &str, close: &str) -> String {
    format!("{}{inside}{}", open.repeat(count), close.repeat(count))
}

fn q(root: &str, body: &str) -> Vec<u8> {
    format!("{{ q({root}) {body} }}").into_bytes()
}

/// Attacks in DQL. A name, the text, what happens to it.
#[rustfmt::skip]
fn dql() -> Vec<(&'static str, Vec<u8>, Want)> {
    let all = "func: has(name)";
    let filter = |inside: &str| q(all, &format!("@filter({inside}) {{ uid }}"));
    let deep = &["more than 200 brackets are open"][..];
    vec![
        ("levels without end", q(all, &nested(100_000, "{ next ", "{ name }", "}")), Refused(deep)),
        ("brackets in a filter", filter(&nested(100_000, "(", "has(name)", ")")), Refused(deep)),
        ("negations", filter(&nested(50_000, "NOT (", "has(name)", ")")), Refused(deep)),
        ("only opening", "{".repeat(200_000).into_bytes(), Refused(&["expected a name"])),
        ("brackets in math", q(all, &format!("{{ r as rank m: math({}) }}", nested(50_000, "(1+", "r", ")"))), Refused(deep)),
        ("100,000 aliases", q("func: uid(1)", &format!("{{ {} }}", many(100_000, |it| format!("a{it}: name")))), Either),
        ("10,000 blocks", format!("{{ {} }}", many(10_000, |it| format!("b{it}(func: uid(1)) {{ name }}"))).into_bytes(), Either),
        ("10,000 variables", format!("query q({}) {{ q(func: uid(1)) {{ name }} }}", many(10_000, |it| format!("$v{it}: int = 1,")).trim_end_matches(", ")).into_bytes(), Either),
        ("variables in a circle", b"{ a as var(func: uid(b)) { name } b as var(func: uid(a)) { name } }".to_vec(), Refused(&["waits for variable"])),
        ("a fragment in itself", b"{ q(func: uid(1)) { ...f } } fragment f { name ...f }".to_vec(), Refused(&["contains itself"])),
        ("fragments that multiply", multiplying_dql(40).into_bytes(), Refused(&["more than 100000 fields"])),
        ("100,000 uids", q(&format!("func: uid({}1)", many(100_000, |it| format!("{it},"))), "{ uid }"), Either),
        ("100,000 values", filter(&format!("eq(rank, [{}1])", many(100_000, |it| format!("{it},")))), Either),
        ("a number beyond all", q(&format!("{all}, first: 99999999999999999999999"), "{ uid }"), Refused(&["is not a 32-bit integer"])),
        ("an offset beyond all", q(&format!("{all}, offset: -9223372036854775809"), "{ uid }"), Refused(&["is not a 32-bit integer"])),
        ("an exponent", filter("ge(rank, 1e400)"), Refused(&["is no int"])),
        ("a depth beyond all", q("func: uid(1)", "@recurse(depth: 18446744073709551616) { next }"), Refused(&["is not an integer"])),
        ("a million paths", b"{ shortest(from: 1, to: 2, numpaths: 1000000000, depth: 100000) { next } }".to_vec(), Either),
        ("a pattern that backtracks", filter("regexp(name, /^(a+)+$/)"), Either),
        ("a pattern that repeats", filter("regexp(name, /((((a{100}){100}){100}){100})/)"), Refused(&["it is too large"])),
        ("a pattern with brackets", filter(&format!("regexp(name, /{}/)", nested(10_000, "(", "a", ")"))), Refused(&["nests too deeply"])),
        ("a distance beyond all", filter("match(name, \"nnn\", 2147483648)"), Either),
        ("a vector beyond all", q(&format!("func: similar_to(point, 1000000000, \"[{}1]\")", "1, ".repeat(10_000)), "{ uid }"), Either),
        ("no UTF-8", b"{ q(func: eq(name, \"\xff\xfe\")) { name } }".to_vec(), Refused(&["not UTF-8", "not utf-8"])),
        ("half a letter", b"{ q(func: eq(name, \"\xc3\")) { name } }".to_vec(), Refused(&["not UTF-8", "not utf-8"])),
        ("zeros", b"{ q(func: eq(name, \"\0\0\")) { na\0me } }".to_vec(), Refused(&["line 1"])),
        ("half a surrogate", b"{ q(func: eq(name, \"\\ud800\")) { name } }".to_vec(), Either),
        ("a text that does not end", [b"{ q(func: eq(name, \"".to_vec(), vec![b'x'; 1 << 20]].concat(), Refused(&["line 1"])),
        ("a comment that does not end", [b"# ".to_vec(), vec![b'x'; 1 << 20]].concat(), Either),
        ("a name of a megabyte", q(all, &format!("{{ {} }}", "n".repeat(1 << 20))), Either),
        ("nothing", Vec::new(), Either),
    ]
}

/// Each fragment has the next one twice.
fn multiplying_dql(count: usize) -> String {
    let fragments = many(count, |it| {
        format!("fragment f{it} {{ a{it}: name next {{ ...f{0} }} ~next {{ ...f{0} }} }}", it + 1)
    });
    format!("{{ q(func: uid(1)) {{ ...f0 }} }} {fragments} fragment f{count} {{ uid }}")
}

fn multiplying_graphql(count: usize) -> String {
    let fragments = many(count, |it| {
        format!("fragment f{it} on Item {{ a: next {{ ...f{0} }} b: next {{ ...f{0} }} }}", it + 1)
    });
    format!("{{ queryItem {{ ...f0 }} }} {fragments} fragment f{count} on Item {{ id }}")
}

/// Attacks in GraphQL, each as the JSON that it comes in.
#[rustfmt::skip]
fn graphql() -> Vec<(&'static str, Vec<u8>, Want)> {
    let text = |text: &str| json_of(text).into_bytes();
    let items = |body: &str| text(&format!("{{ queryItem {body} }}"));
    let variables = |of: &str| {
        format!("{{\"query\":\"query q($f: ItemFilter) {{ queryItem(filter: $f) {{ id }} }}\",\"variables\":{of}}}").into_bytes()
    };
    let deep = &["nested deeper than 200 levels", "recursion limit"][..];
    vec![
        ("levels without end", items(&nested(100_000, "{ next ", "{ id }", "}")), Refused(deep)),
        ("only opening", text(&"{".repeat(200_000)), Refused(&["Expected Name"])),
        ("a list in a list", text(&format!("{{ queryItem(filter: {}) {{ id }} }}", nested(50_000, "[", "", "]"))), Refused(deep)),
        ("an object in an object", text(&format!("{{ queryItem(filter: {}) {{ id }} }}", nested(50_000, "{not: ", "{}", "}"))), Refused(deep)),
        ("a type in a type", text(&format!("query q($v: {}) {{ queryItem {{ id }} }}", nested(50_000, "[", "Int", "]"))), Refused(deep)),
        ("JSON in JSON", variables(&nested(50_000, "{\"f\":", "1", "}")), Refused(&["recursion limit"])),
        ("100,000 aliases", items(&format!("{{ {} }}", many(100_000, |it| format!("a{it}: name")))), Refused(&["more than 100000 fields"])),
        ("2,000 root fields", text(&format!("{{ {} }}", many(2_000, |it| format!("a{it}: queryItem {{ id }}")))), Either),
        ("10,000 operations", text(&many(10_000, |it| format!("query q{it} {{ queryItem {{ id }} }}"))), Refused(&["more than 1 operation"])),
        ("10,000 variables", text(&format!("query q({}) {{ queryItem {{ id }} }}", many(10_000, |it| format!("$v{it}: Int")))), Refused(&["is never used"])),
        ("10,000 directives", items(&format!("{{ id {} }}", "@include(if: true) ".repeat(10_000))), Refused(&["can only be used once"])),
        ("10,000 unknown directives", items(&format!("{{ id {} }}", "@x ".repeat(10_000))), Refused(&["Unknown directive"])),
        ("fragments that multiply", text(&multiplying_graphql(60)), Refused(&["more than 100000 fields"])),
        ("fragments in a circle", text("{ queryItem { ...a } } fragment a on Item { ...b } fragment b on Item { ...a }"), Refused(&["Cannot spread fragment"])),
        ("10,000 fragments", text(&format!("{{ queryItem {{ ...f0 }} }} {} fragment f10000 on Item {{ id }}", many(10_000, |it| format!("fragment f{it} on Item {{ ...f{} }}", it + 1)))), Refused(deep)),
        ("the same field with other arguments", items(&format!("{{ {} }}", many(2_000, |it| format!("next(first: {it}) {{ id }}")))), Refused(&["conflict"])),
        ("introspection of introspection", text(&format!("{{ __schema {{ types {{ fields {{ type {} }} }} }} }}", nested(200, "{ fields { type ", "{ name }", "} }"))), Refused(deep)),
        ("a number beyond all", text("{ queryItem(first: 99999999999999999999999) { id } }"), Refused(&["Out of range value"])),
        ("a number of a megabyte", text(&format!("{{ queryItem(first: {}) {{ id }} }}", "9".repeat(1 << 20))), Refused(&["Out of range value"])),
        ("a block text that does not end", text(&format!("{{ getItem(id: \"\"\"{}", "x".repeat(1 << 20))), Refused(&["Unterminated string"])),
        ("zeros", text("{ queryItem { na\0me } }"), Refused(&["invalid character"])),
        ("half a surrogate", b"{\"query\":\"{ queryItem { id } } # \\ud800\"}".to_vec(), Either),
        ("a hash without a text", br#"{"query":"","extensions":{"persistedQuery":{"version":1,"sha256Hash":"00"}}}"#.to_vec(), Refused(&["PersistedQueryNotFound"])),
        ("10,000 members", format!("{{\"query\":\"{{ queryItem {{ id }} }}\",{}\"z\":1}}", many(10_000, |it| format!("\"m{it}\":[1],"))).into_bytes(), Answered),
    ]
}

/// Sends each attack by each carrier at each listener, and looks at the server after it.
fn walk(
    yard: &mut Yard,
    carriers: &[Carrier],
    name: &str,
    requested: &RequestedQuery<'_>,
    want: Want,
) -> String {
    let mut faults = String::new();
    for carrier in carriers {
        for listener in carrier.listeners() {
            let started = Instant::now();
            let reported = send(yard, (*carrier, listener), requested);
            let took = started.elapsed();
            let is_as_wanted = match want {
                Either => true,
                Answered => !reported.is_refused,
                Refused(words) => {
                    reported.is_refused && words.iter().any(|word| reported.text.contains(word))
                }
            };
            let is_quick = took < QUICK;
            let is_short = reported.text.len() < 64 << 10 || !reported.is_refused;
            if !is_as_wanted || !is_quick || !is_short {
                let reported: String = format!("{reported:?}").chars().take(400).collect();
                writeln!(faults, "{name} {carrier:?} {listener:?} {took:?}: {reported}").unwrap();
            }
        }
    }
    yard.is_well();
    faults
}

#[test]
fn texts_are_refused_or_answered_in_time() {
    let _turn = crate::hostile::turn();
    let mut yard = Yard::new(&["--limit", "timeout=5s"]);
    yard.fill(SCHEMA, GRAPHQL, &facts());
    let fine = (
        RequestedQuery::dql(POINT),
        RequestedQuery::graphql(json!({ "query": "{ queryItem(first: 1) { name } }" }).to_string()),
    );
    check_answered(&yard, (&fine.0, &fine.1), "n1");
    let watches = yard.watch(POINT);
    let mut faults = String::new();
    for (name, text, want) in dql() {
        let requested = RequestedQuery::dql(text);
        faults += &walk(&mut yard, &Carrier::OF_DQL, &format!("DQL: {name}"), &requested, want);
    }
    for (name, body, want) in graphql() {
        let requested = RequestedQuery::graphql(body);
        faults +=
            &walk(&mut yard, &Carrier::OF_GRAPHQL, &format!("GraphQL: {name}"), &requested, want);
    }
    assert!(faults.is_empty(), "{faults}");
    for seen in watches.map(|watch| watch.stop()) {
        seen.check("texts", Duration::from_secs(2));
    }
    check_answered(&yard, (&fine.0, &fine.1), "n1");
}

fn facts() -> String {
    let one = |node: usize| {
        let next = 1 + node % 500;
        format!(
            "<{node}> <name> \"n{node}\" .\n<{node}> <rank> \"{node}\" .\n<{node}> <next> <{next}> .\n<{node}> <next> <{}> .\n",
            1 + node * 7 % 500
        )
    };
    (1..=500).map(one).collect::<String>()
        + "<1> <dgraph.type> \"Item\" .\n<2> <dgraph.type> \"Item\" .\n<3> <name> \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\" .\n"
}
