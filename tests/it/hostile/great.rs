//! Requests that are short and ask for much.

use std::fmt::Write;

/// What the data are made by; GraphQL and DQL see the same.
pub const SCHEMA: &str = "name: string @index(exact, term) .\ncopy: string @index(exact, term) .\ntext: string .\n\
    rank: int @index(int) .\nnext: [uid] @reverse @count .\nsame: [uid] .";

/// The same for GraphQL.
pub const GRAPHQL_SCHEMA: &str = "type Item {\n  id: ID!\n  name: String @dgraph(pred: \"name\")\n  \
    text: String @dgraph(pred: \"text\")\n  next: [Item] @dgraph(pred: \"next\")\n}";

/// A request.
pub struct Great {
    path: &'static str,
    content: &'static str,
    headers: &'static str,
    body: String,
}

impl Great {
    /// As it is sent.
    pub fn bytes(&self) -> Vec<u8> {
        let Great { path, content, headers, body, .. } = self;
        let length = body.len();
        format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Type: {content}\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    }
}

/// A selection within itself so many times.
fn nested(times: usize, innermost: &str) -> String {
    format!("{} {innermost} {}", "next { ".repeat(times), "}".repeat(times))
}

fn dql(body: impl Into<String>) -> Great {
    let (path, content, headers) = ("/query", "application/dql", "");
    Great { path, content, headers, body: body.into() }
}

fn graphql(query: &str) -> Great {
    let body = format!("{{\"query\": \"{query}\"}}");
    Great { path: "/graphql", content: "application/json", ..dql(body) }
}

fn upsert(query: &str, set: &str) -> Great {
    let body = format!("upsert {{ query {{ {query} }} mutation {{ set {{ {set} }} }} }}");
    let path = "/mutate?commitNow=true";
    Great { path, content: "application/rdf", ..dql(body) }
}

/// Long answers in each form, much on the way to short ones, and changes of everything.
pub fn requests() -> Vec<Great> {
    let texts = (0..30).fold(String::new(), |mut texts, number| {
        write!(texts, "t{number}: text ").unwrap();
        texts
    });
    let long = format!("{{ q(func: has(text)) {{ uid {texts} }} }}");
    let everything = "orderdesc: text, orderasc: rank";
    let vars = "{ var(func: has(text)) { n as name t as text r as rank m as math(r * r + 1) }
        q(func: uid(m), orderasc: val(t)) { val(n) val(t) val(m) } }";
    let groups = "{ q(func: has(next)) @groupby(name, text) { count(uid) } \
        p(func: has(next)) { next @groupby(name, rank) { count(uid) } } }";
    let recurse = "{ q(func: has(next)) @recurse(depth: 20, loop: true) { name text next } }";
    let flat = "{ q(func: has(next)) @normalize { a: name next { b: text next { c: text next { d: name } } } } }";
    let cascade =
        format!("{{ q(func: has(next)) @cascade {{ {} }} }}", nested(4, "name text rank"));
    let levels = format!("{{ var(func: has(next)) {{ {} }} q(func: uid(1)) {{ uid }} }}", {
        nested(60, "count(next)")
    });
    let paths = "{ shortest(from: 1, to: 1500, numpaths: 5000, depth: 30) { next } }";
    let filter = "{ q(func: has(text), orderasc: text) \
        @filter(regexp(text, /x.*[0-9]$/) OR regexp(name, /n.*7/)) { name text next @filter(ge(rank, 5)) (orderdesc: text) { text } } }";
    let gzip = "Accept-Encoding: gzip\r\n";
    vec![
        dql(long.clone()),
        Great { headers: gzip, ..dql(long.clone()) },
        Great { path: "/query?respFormat=rdf", ..dql(long) },
        graphql(&format!(
            "{{ queryItem {{ id {texts} next {{ name text next {{ name text next {{ name text }} }} }} }} }}"
        )),
        dql(levels),
        dql(vars),
        dql(groups),
        dql(recurse),
        dql(flat),
        dql(cascade),
        dql(format!(
            "{{ q(func: has(text), {everything}) {{ name next ({everything}) {{ text }} }} }}"
        )),
        dql(filter),
        dql(paths),
        upsert("v as var(func: has(text))", "uid(v) <same> uid(v) ."),
        upsert("v as var(func: has(text)) { t as text }", "uid(v) <copy> val(t) ."),
    ]
}
