//! The kinds of access by name, as `benches/gate/questions/changes.toml` has them. In a text `#`
//! stands for a number of two digits, 40 to 99, that changes from call to call.

use hexgraph::db::graphql::{Headers, Request};
use hexgraph::db::{Database, QueryRequest, RequestContext};
use std::hint::black_box;
use std::sync::LazyLock;

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
                    db.profile_with(&request, &RequestContext::new()).expect("a valid query"),
                ));
            }
            Call(call) => call(db),
        }
    }
}

/// All questions by name, in the order of the table.
pub static QUESTIONS: LazyLock<Vec<(&'static str, Question)>> = LazyLock::new(|| {
    let texts = hexgraph_benches::questions(include_str!("../gate/questions/changes.toml"));
    let question = |(name, language, text): (&'static str, &str, &'static str)| {
        let question = match language {
            "dql" => Dql(text),
            "graphql" => Graphql(text),
            "explain" => Explain(text),
            other => panic!("{name}: no question is asked by `{other}`"),
        };
        (name, question)
    };
    let calls: [(&str, Question); 2] = [
        ("stats()", Call(|db| drop(black_box(db.stats().expect("it is open"))))),
        ("schema_text()", Call(|db| drop(black_box(db.schema_text().expect("it is open"))))),
    ];
    texts.into_iter().map(question).chain(calls).collect()
});
