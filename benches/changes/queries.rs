//! The kinds of access by name. In a text `#` stands for a number of two digits, 40 to 99, that changes from call to call.

use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{Database, QueryRequest, RequestContext};
use std::hint::black_box;

/// How a question is asked.
pub enum Question {
    /// A query in DQL.
    Dql(&'static str),
    /// A request in GraphQL.
    Graphql(&'static str),
    /// The plan of a query, which is executed.
    Explain(&'static str),
    /// Another call.
    Call(fn(&Database)),
}

use Question::{Call, Dql, Explain, Graphql};

impl Question {
    /// Asks with a number.
    pub fn ask(&self, db: &Database, number: u64) {
        let filled = |text: &str| text.replace('#', &(40 + number % 60).to_string());
        match self {
            Dql(text) => drop(black_box(hexgraph_benches::ask(db, &filled(text)))),
            Graphql(text) => {
                let request = Request::new(filled(text));
                let response = db.graphql_with(&request, &Headers::new(), &RequestContext::new());
                assert!(response.errors.is_empty(), "{text}: {:?}", response.errors);
                drop(black_box(response.to_json("")));
            }
            Explain(text) => {
                let request = QueryRequest { text: filled(text), ..QueryRequest::default() };
                drop(black_box(
                    db.explain_with(&request, &RequestContext::new()).expect("a valid query"),
                ));
            }
            Call(call) => call(db),
        }
    }
}

/// All questions by name, in the order of the table.
pub const QUESTIONS: &[(&str, Question)] = &[
    // Orders.
    ("top 10 by index", Dql("{ q(func: has(score), orderasc: score, first: 10) { uid score } }")),
    ("top 10 backwards", Dql("{ q(func: has(score), orderdesc: score, first: 10) { uid score } }")),
    (
        "top 10 from a bound",
        Dql("{ q(func: ge(score, 5#00), orderasc: score, first: 10) { uid score } }"),
    ),
    (
        "top 10 below a bound",
        Dql("{ q(func: le(score, 5#00), orderdesc: score, first: 10) { uid score } }"),
    ),
    ("top 10 by a text", Dql("{ q(func: has(city), orderasc: city, first: 10) { uid city } }")),
    (
        "top 10 of a filter",
        Dql(
            "{ q(func: has(score), orderasc: score, first: 10) @filter(eq(city, \"c#\")) { uid score } }",
        ),
    ),
    (
        "top 10 by offset",
        Dql("{ q(func: has(score), orderasc: score, first: 10, offset: 1#) { uid score } }"),
    ),
    ("top 10 without index", Dql("{ q(func: has(age), orderasc: age, first: 10) { uid } }")),
    (
        "top 10 of floats",
        Dql("{ q(func: has(height), orderdesc: height, first: 10) { uid height } }"),
    ),
    ("top 10 by date", Dql("{ q(func: has(born), orderdesc: born, first: 10) { uid born } }")),
    ("top 10 of some", Dql("{ q(func: has(nick), orderasc: nick, first: 10) { uid nick } }")),
    (
        "two keys",
        Dql("{ q(func: has(score), orderasc: score, orderdesc: age, first: 10) { uid } }"),
    ),
    (
        "two keys, many equal",
        Dql("{ q(func: has(city), orderasc: city, orderdesc: score, first: 10) { uid } }"),
    ),
    (
        "two keys without index",
        Dql("{ q(func: has(age), orderdesc: age, orderasc: height, first: 10) { uid } }"),
    ),
    (
        "order by count",
        Dql(
            "{ var(func: has(friend)) { n as count(friend) } q(func: uid(n), orderdesc: val(n), first: 10) { uid val(n) } }",
        ),
    ),
    (
        "order by math",
        Dql(
            "{ var(func: has(score)) { s as score a as age m as math(s * 2 + a) } q(func: uid(m), orderdesc: val(m), first: 10) { uid val(m) } }",
        ),
    ),
    // Groups and totals.
    ("groups counted", Dql("{ q(func: has(score)) @groupby(city) { count(uid) } }")),
    ("groups averaged", Dql("{ q(func: has(score)) @groupby(city) { avg(score) } }")),
    (
        "groups, least and most",
        Dql("{ q(func: has(score)) @groupby(city) { min(height) max(score) } }"),
    ),
    ("groups of some", Dql("{ q(func: has(score)) @groupby(nick) { count(uid) } }")),
    ("groups of some averaged", Dql("{ q(func: has(score)) @groupby(nick) { avg(age) } }")),
    ("groups by two keys", Dql("{ q(func: has(score)) @groupby(city, age) { count(uid) } }")),
    ("groups of a filter", Dql("{ q(func: eq(city, \"c#\")) @groupby(age) { count(uid) } }")),
    (
        "groups of edges",
        Dql("{ q(func: has(friend), first: 50000) @groupby(friend) { count(uid) } }"),
    ),
    ("sum of all", Dql("{ var(func: has(score)) { s as score } q() { sum(val(s)) } }")),
    ("sum of floats", Dql("{ var(func: has(height)) { s as height } q() { sum(val(s)) } }")),
    ("average of all", Dql("{ var(func: has(age)) { s as age } q() { avg(val(s)) } }")),
    ("average of some", Dql("{ var(func: has(nick)) { s as age } q() { avg(val(s)) } }")),
    (
        "average of a filter",
        Dql("{ var(func: eq(city, \"c#\")) { s as score } q() { avg(val(s)) } }"),
    ),
    // What a node has, and how many of it.
    ("has, counted", Dql("{ q(func: has(nick)) { count(uid) } }")),
    ("has, a page", Dql("{ q(func: has(nick), first: 20, after: 0x7a1#) { uid nick } }")),
    (
        "has not, a page",
        Dql("{ q(func: has(score), first: 20, after: 0x7a1#) @filter(not has(nick)) { uid } }"),
    ),
    ("has both, counted", Dql("{ q(func: has(nick)) @filter(has(age)) { count(uid) } }")),
    ("has not, counted", Dql("{ q(func: has(score)) @filter(not has(nick)) { count(uid) } }")),
    ("has edges, counted", Dql("{ q(func: has(friend)) { count(uid) } }")),
    ("has incoming, a page", Dql("{ q(func: has(~friend), first: 20, after: 0x7a1#) { uid } }")),
    ("counts of a node", Dql("{ q(func: uid(4#)) { count(friend) count(~friend) count(knows) } }")),
    ("count at least 2", Dql("{ q(func: ge(count(friend), 2), first: 10) { uid } }")),
    ("count exactly, counted", Dql("{ q(func: eq(count(friend), 3)) { count(uid) } }")),
    ("count of incoming", Dql("{ q(func: ge(count(~friend), 6), first: 10) { uid } }")),
    (
        "filter by count",
        Dql("{ q(func: eq(city, \"c#\")) @filter(ge(count(friend), 3)) { count(uid) } }"),
    ),
    // Indexes.
    ("equality counted", Dql("{ q(func: eq(city, \"c#\")) { count(uid) } }")),
    ("equality, a page", Dql("{ q(func: eq(city, \"c#\"), first: 20) { uid name age } }")),
    ("equality by hash", Dql("{ q(func: eq(likes, \"l1#\")) { count(uid) } }")),
    ("equality of several", Dql("{ q(func: eq(city, [\"c1\", \"c#\", \"c7\"])) { count(uid) } }")),
    ("two equalities", Dql("{ q(func: eq(city, \"c#\")) @filter(eq(likes, \"l1#\")) { uid } }")),
    (
        "filtered page by after",
        Dql("{ q(func: has(score), first: 20, after: 0x7a120) @filter(eq(city, \"c#\")) { uid } }"),
    ),
    (
        "either, a page by after",
        Dql(
            "{ q(func: has(score), first: 20, after: 0x7a120) @filter(eq(city, \"c#\") or eq(likes, \"l7\")) { uid } }",
        ),
    ),
    (
        "not equal, a page",
        Dql(
            "{ q(func: has(score), first: 20, after: 0x7a120) @filter(not eq(city, \"c#\")) { uid } }",
        ),
    ),
    ("one node filtered", Dql("{ q(func: uid(#)) @filter(eq(city, \"c7\")) { uid } }")),
    ("range counted", Dql("{ q(func: between(score, 5000, 51#)) { count(uid) } }")),
    ("a long range counted", Dql("{ q(func: between(score, 5000, 5#000)) { count(uid) } }")),
    (
        "range, a page by after",
        Dql("{ q(func: between(score, 5000, 5#000), first: 20, after: 0x7a120) { uid score } }"),
    ),
    (
        "range of dates",
        Dql("{ q(func: between(born, \"1955-01-01\", \"19#-01-01\")) { count(uid) } }"),
    ),
    ("range by a scan", Dql("{ q(func: has(score)) @filter(ge(age, 75)) { count(uid) } }")),
    (
        "range by a scan of floats",
        Dql("{ q(func: has(score)) @filter(ge(height, 1.9#)) { count(uid) } }"),
    ),
    (
        "page by a scan",
        Dql("{ q(func: has(score), first: 20, after: 0x7a1#) @filter(eq(age, 7)) { uid } }"),
    ),
    ("a term counted", Dql("{ q(func: anyofterms(name, \"n#\")) { count(uid) } }")),
    ("two terms", Dql("{ q(func: allofterms(name, \"n1# m#\")) { uid name } }")),
    ("a regular expression", Dql("{ q(func: regexp(code, /#f0e/)) { uid code } }")),
    ("full text", Dql("{ q(func: alloftext(about, \"word# word1#\")) { uid about } }")),
    ("full text counted", Dql("{ q(func: anyoftext(about, \"word#\")) { count(uid) } }")),
    ("near a place", Dql("{ q(func: near(place, [#.5, 20.5], 50000)) { uid } }")),
    (
        "within an area",
        Dql(
            "{ q(func: within(place, [[[#.0, 20.0], [#.5, 20.0], [#.5, 20.5], [#.0, 20.5], [#.0, 20.0]]])) { uid } }",
        ),
    ),
    ("a list's value", Dql("{ q(func: eq(tags, \"t1#\"), first: 20) { uid tags } }")),
    ("a language", Dql("{ q(func: eq(label@en, \"e1#\"), first: 20) { label@en label@de } }")),
    ("a language of others", Dql("{ q(func: eq(label@de, \"d1#\"), first: 20) { label@en:de } }")),
    ("nearest vectors", Dql("{ q(func: similar_to(emb, 10, \"[#, 1#, 3#, 5#]\")) { uid } }")),
    // Pages.
    ("count of a type", Dql("{ q(func: type(Person)) { count(uid) } }")),
    ("page of a type", Dql("{ q(func: type(Person), first: 100) { uid } }")),
    (
        "page of a type by after",
        Dql("{ q(func: type(Person), first: 20, after: 0x7a1#) { uid name } }"),
    ),
    (
        "filtered by a type",
        Dql("{ q(func: eq(city, \"c#\"), first: 20) @filter(type(Person)) { uid } }"),
    ),
    ("page by after", Dql("{ q(func: has(score), first: 20, after: 0x7a1#) { uid } }")),
    ("page by offset", Dql("{ q(func: has(score), first: 20, offset: 5000#) { uid } }")),
    (
        "a thousand rows",
        Dql("{ q(func: has(score), first: 1000, after: 0x7a1#) { uid score age city name } }"),
    ),
    (
        "cascade",
        Dql("{ q(func: has(score), first: 20, after: 0x7a1#) @cascade { nick friend { nick } } }"),
    ),
    ("all of a node", Dql("{ q(func: uid(4#)) { expand(_all_) } }")),
    // Edges.
    ("two hops", Dql("{ q(func: uid(#)) { friend { friend { uid } } } }")),
    ("backwards", Dql("{ q(func: uid(4#)) { ~friend { ~friend { uid } } } }")),
    (
        "hops of a thousand",
        Dql("{ q(func: has(friend), first: 1000, after: 0x7a1#) { friend { score } } }"),
    ),
    (
        "backwards of a thousand",
        Dql("{ q(func: has(~friend), first: 1000, after: 0x7a1#) { ~friend { score } } }"),
    ),
    (
        "edges filtered",
        Dql(
            "{ q(func: has(friend), first: 1000, after: 0x7a1#) { friend @filter(ge(age, 40)) { uid } } }",
        ),
    ),
    (
        "edges ordered",
        Dql(
            "{ q(func: has(friend), first: 1000, after: 0x7a1#) { friend(orderdesc: score, first: 1) { uid } } }",
        ),
    ),
    (
        "far end of an edge",
        Dql(
            "{ q(func: has(score), first: 20, after: 0x7a1#) @filter(uid_in(friend, 0x7a1#)) { uid } }",
        ),
    ),
    ("facets read", Dql("{ q(func: uid(4#0)) { knows @facets { uid } } }")),
    (
        "facets filtered",
        Dql(
            "{ q(func: has(knows), first: 1000, after: 0x7a1#) { knows @facets(gt(weight, 0.5)) { uid } } }",
        ),
    ),
    (
        "facets ordered",
        Dql(
            "{ q(func: has(knows), first: 1000, after: 0x7a1#) { knows @facets(orderasc: weight) { uid } } }",
        ),
    ),
    ("recurse", Dql("{ q(func: uid(4#)) @recurse(depth: 4) { uid friend } }")),
    (
        "shortest path",
        Dql("{ path as shortest(from: 0x1#, to: 0x7a1#) { friend } q(func: uid(path)) { uid } }"),
    ),
    (
        "hub: page by after",
        Dql("{ q(func: uid(2000000)) { e(first: 10, after: 0x7a1#) { uid } } }"),
    ),
    (
        "hub: page by offset",
        Dql("{ q(func: uid(2000000)) { e(first: 10, offset: 5000#) { uid } } }"),
    ),
    (
        "hub: filtered page",
        Dql(
            "{ q(func: uid(2000000)) { e(first: 10, after: 0x7a1#) @filter(eq(city, \"c#\")) { uid } } }",
        ),
    ),
    (
        "hub: ordered page",
        Dql("{ q(func: uid(2000000)) { e(first: 10, orderasc: score) { uid } } }"),
    ),
    ("hub: counted", Dql("{ q(func: uid(2000000)) { count(e) } }")),
    (
        "hub: counted, filtered",
        Dql("{ q(func: uid(2000000)) { e @filter(eq(city, \"c#\")) { count(uid) } } }"),
    ),
    ("hub: one edge", Dql("{ q(func: uid(2000000)) @filter(uid_in(e, 0x7a1#)) { uid } }")),
    // GraphQL.
    ("GraphQL: page", Graphql("{ queryPerson(first: 10, offset: 5#) { id name } }")),
    ("GraphQL: one", Graphql("{ getPerson(id: \"0x4#\") { name age friend { name } } }")),
    (
        "GraphQL: filter",
        Graphql(
            "{ queryPerson(filter: {city: {eq: \"c#\"}}, first: 10) { id name friend { name } } }",
        ),
    ),
    (
        "GraphQL: term",
        Graphql("{ queryPerson(filter: {name: {anyofterms: \"n#\"}}, first: 10) { id } }"),
    ),
    (
        "GraphQL: order",
        Graphql("{ queryPerson(order: {asc: score}, first: 10, offset: #) { id score } }"),
    ),
    (
        "GraphQL: filter, order",
        Graphql(
            "{ queryPerson(filter: {score: {ge: 5#00}}, order: {asc: score}, first: 10) { id score } }",
        ),
    ),
    ("GraphQL: count", Graphql("{ aggregatePerson { count } }")),
    (
        "GraphQL: filtered count",
        Graphql("{ aggregatePerson(filter: {city: {eq: \"c#\"}}) { count scoreAvg } }"),
    ),
    ("GraphQL: average", Graphql("{ aggregatePerson { ageAvg scoreMax } }")),
    // Calls.
    ("stats()", Call(|db| drop(black_box(db.stats().expect("it is open"))))),
    ("schema_text()", Call(|db| drop(black_box(db.schema_text().expect("it is open"))))),
    ("schema {}", Dql("schema {}")),
    (
        "explain",
        Explain("{ q(func: eq(city, \"c#\"), first: 20) @filter(has(nick)) { uid name age } }"),
    ),
];
