//! Questions: what the texts of DQL and GraphQL, their variables and the messages of gRPC become.

use super::site::{Attack, Row, Site, call, post, row};
use hexgraph_server::http::ServeOptions;

const JSON: &str = "Content-Type: application/json";
const DQL: &str = "Content-Type: application/dql";
const ANSWERED: &str = "\"data\":{";

const SCHEMA: &str = "name: string @index(exact, term) .\nage: int @index(int) .\nloc: geo @index(geo) .\nfriend: [uid] .";
const GRAPHQL: &str = "type User { name: String! @id age: Int @search friend: [User] }";

const KIB: usize = 1 << 10;

fn site() -> Site {
    Site::with(ServeOptions::default(), |database| {
        database.alter(SCHEMA).unwrap();
        database.set_graphql_schema(GRAPHQL).unwrap();
        database.mutate("<1> <name> \"x\" .\n<1> <age> \"1\" .", "").unwrap();
    })
}

/// So many bytes of an item, with commas between.
fn repeated(item: &str, bytes: usize) -> String {
    vec![item; bytes / (item.len() + 1)].join(",")
}

/// Items with a number each.
fn numbered(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect()
}

fn query(text: &str) -> Attack {
    post("/query", &[DQL], text)
}

fn graphql(text: &str) -> Attack {
    post("/graphql", &[JSON], format!("{{\"query\":\"{text}\"}}"))
}

/// A field of a message that holds bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    let mut length = bytes.len();
    while 127 < length {
        out.push(length as u8 | 128);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend(bytes);
    out
}

fn fields(each: &str, bytes: usize) -> String {
    format!("{{ q(func: uid(1)) {{ {} }} }}", each.repeat(bytes / each.len()))
}

#[test]
fn dql() {
    let rows: Vec<Row> = vec![
        row("one field again and again", "more than 100000 fields", |_| {
            query(&fields("a ", 256 * KIB))
        }),
        row("fields", ANSWERED, |_| {
            let names = numbered(30_000, |at| format!("a{at} "));
            query(&format!("{{ q(func: uid(1)) {{ {names} }} }}"))
        }),
        row("aliases", ANSWERED, |_| {
            let names = numbered(30_000, |at| format!("a{at}:name "));
            query(&format!("{{ q(func: uid(1)) {{ {names} }} }}"))
        }),
        row("blocks", ANSWERED, |_| {
            query(&format!(
                "{{ {} }}",
                numbered(8_000, |at| format!("q{at}(func: uid(1)) {{ name }} "))
            ))
        }),
        row("uids", ANSWERED, |_| {
            query(&format!("{{ q(func: uid({})) {{ name }} }}", repeated("1", 512 * KIB)))
        }),
        row("values", ANSWERED, |_| {
            query(&format!("{{ q(func: eq(age, [{}])) {{ name }} }}", repeated("1", 512 * KIB)))
        }),
        row("a filter", ANSWERED, |_| {
            let filter = vec!["eq(age,1)"; 16_000].join(" or ");
            query(&format!("{{ q(func: uid(1)) @filter({filter}) {{ name }} }}"))
        }),
        row("not not", ANSWERED, |_| {
            let filter = format!("{}eq(age,1){}", "not(".repeat(100), ")".repeat(100));
            let filter = vec![filter; 400].join(" or ");
            query(&format!("{{ q(func: uid(1)) @filter({filter}) {{ name }} }}"))
        }),
        row("math", ANSWERED, |_| {
            let sum = vec!["a"; 100].join("+");
            let sums = numbered(600, |at| format!("s{at}: math({sum}) "));
            query(&format!("{{ q(func: uid(1)) {{ a as age {sums} }} }}"))
        }),
        row("terms", ANSWERED, |_| {
            let terms = numbered(40_000, |at| format!("t{at} "));
            query(&format!("{{ q(func: anyofterms(name, \"{terms}\")) {{ name }} }}"))
        }),
        row("a polygon", "", |_| {
            let ring = repeated("[0,0]", 512 * KIB);
            query(&format!("{{ q(func: within(loc, [[{ring}]])) {{ name }} }}"))
        }),
        row("a query at /mutate", ANSWERED, |_| {
            let names = numbered(30_000, |at| format!("a{at} "));
            let text = format!("{{ q(func: uid(1)) {{ {names} }} }}");
            post("/mutate?commitNow=true", &["Content-Type: application/rdf"], text)
        }),
        row("a condition", "", |_| {
            let condition = vec!["eq(len(v),1)"; 10_000].join(" or ");
            let body = format!(
                r#"{{"query":"{{ v as var(func: uid(1)) }}","cond":"@if({condition})","set":[{{"uid":"uid(v)","name":"y"}}]}}"#
            );
            post("/mutate?commitNow=true", &[JSON], body)
        }),
    ];
    site().measure(rows);
}

#[test]
fn graphql_documents() {
    let rows: Vec<Row> = vec![
        row("aliases", "\"data\"", |_| {
            graphql(&format!("{{{}}}", numbered(20_000, |at| format!("a{at}:__typename "))))
        }),
        row("one field again and again", "\"errors\"", |_| {
            graphql(&format!("{{queryUser{{{}}}}}", "a ".repeat(250_000)))
        }),
        row("root fields", "\"data\"", |_| {
            graphql(&format!("{{{}}}", numbered(2_000, |at| format!("a{at}:queryUser{{name}}"))))
        }),
        row("fragments", "is never used", |_| {
            graphql(&format!(
                "{{queryUser{{name}}}}{}",
                numbered(10_000, |at| format!("fragment f{at} on User{{name}}"))
            ))
        }),
        row("a filter", "\"data\"", |_| {
            let values = repeated("{name:{eq:\\\"x\\\"}}", 256 * KIB);
            graphql(&format!("{{queryUser(filter:{{or:[{values}]}}){{name}}}}"))
        }),
        row("variables", "\"data\"", |_| {
            let values = repeated(r#"{"name":{"eq":"x"}}"#, 256 * KIB);
            post(
                "/graphql",
                &[JSON],
                format!(
                    r#"{{"query":"query q($f:[UserFilter]){{queryUser(filter:{{or:$f}}){{name}}}}","variables":{{"f":[{values}]}}}}"#
                ),
            )
        }),
        row("a mutation", "numUids", |_| {
            let values = numbered(3_000, |at| format!("{{name:\\\"n{at}\\\"}},"));
            graphql(&format!("mutation{{addUser(input:[{values}]){{numUids}}}}"))
        }),
        row("a mutation with variables", "numUids", |_| {
            let values = numbered(3_000, |at| format!("{{\"name\":\"m{at}\"}},"));
            let values = values.trim_end_matches(',');
            post(
                "/graphql",
                &[JSON],
                format!(
                    r#"{{"query":"mutation m($i:[AddUserInput!]!){{addUser(input:$i){{numUids}}}}","variables":{{"i":[{values}]}}}}"#
                ),
            )
        }),
        row("a document at /admin", "\"data\"", |_| {
            post(
                "/admin",
                &[JSON],
                format!(
                    "{{\"query\":\"{{{}}}\"}}",
                    numbered(20_000, |at| format!("a{at}:__typename "))
                ),
            )
        }),
    ];
    site().measure(rows);
}

/// A request with one mutation, whose field of that number holds this text; it commits at once.
fn mutation(number: u8, text: &[u8]) -> Vec<u8> {
    [field(12, &field(number, text)), vec![13 << 3, 1]].concat()
}

#[test]
fn grpc_messages() {
    const QUERY: &str = "/api.Dgraph/Query";
    const TOO_MANY: &str = "statements";
    const NO_MEMORY: &str = "there is no memory for";
    let rows: Vec<Row> = vec![
        row("a query", "200 OK", |_| {
            let names = numbered(30_000, |at| format!("a{at} "));
            let text = format!("{{ q(func: uid(1)) {{ {names} }} }}");
            call(QUERY, &field(4, text.as_bytes()))
        }),
        row("variables", "200 OK", |_| {
            let variables = (0..200_000).flat_map(|at| {
                let (name, value) = (format!("$a{at}"), at.to_string());
                field(5, &[field(1, name.as_bytes()), field(2, value.as_bytes())].concat())
            });
            let text = b"query q($a0: string) { q(func: eq(name, $a0)) { uid } }";
            call(QUERY, &[field(4, text), variables.collect()].concat())
        }),
        row("JSON that nests", TOO_MANY, |_| {
            let text = format!("[{}]", repeated(r#"{"a":{"b":{"c":{}}}}"#, 40 << 20));
            call(QUERY, &mutation(1, text.as_bytes()))
        }),
        row("a list of numbers", NO_MEMORY, |_| {
            let text = format!(r#"{{"a":[{}]}}"#, repeated("1", 40 << 20));
            call(QUERY, &mutation(1, text.as_bytes()))
        }),
        row("JSON that is stored", "200 OK", |_| {
            let text = numbered(50_000, |at| format!(r#"{{"name":"n{at}"}},"#));
            call(QUERY, &mutation(1, format!("[{}]", text.trim_end_matches(',')).as_bytes()))
        }),
        row("JSON that deletes", TOO_MANY, |_| {
            let text = format!("[{}]", repeated(r#"{"uid":"0x1"}"#, 40 << 20));
            call(QUERY, &mutation(2, text.as_bytes()))
        }),
        row("triples", TOO_MANY, |_| {
            call(QUERY, &mutation(3, "<1> <name> \"x\" .\n".repeat(2 << 20).as_bytes()))
        }),
        row("empty statements", NO_MEMORY, |_| {
            call(QUERY, &[field(12, &field(5, b"").repeat(8 << 20)), vec![13 << 3, 1]].concat())
        }),
        row("empty mutations", "200 OK", |_| {
            call(QUERY, &[field(12, b"").repeat(8 << 20), vec![13 << 3, 1]].concat())
        }),
        row("a schema", "200 OK", |_| {
            let text = numbered(100_000, |at| format!("p{at}: string .\n"));
            call("/api.Dgraph/Alter", &field(1, text.as_bytes()))
        }),
    ];
    site().measure(rows);
}
