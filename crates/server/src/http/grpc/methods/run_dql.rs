//! `RunDQL`: one text in DQL, whatever it requests.

use super::mutations;
use super::parameters::{check_best_effort, check_writable, variables, wants_debug, wants_rdf};
use super::query::ask;
use super::told::{check_open, status};
use crate::http::app::App;
use crate::http::endpoints::mutate;
use crate::http::endpoints::mutate::Change;
use crate::http::grpc::call::{CallAnswer, decode};
use crate::http::grpc::messages::RunDqlRequest;
use crate::http::grpc::status::{Code, Status};
use crate::http::message::incoming::Incoming;
use hexgraph::db::{QueryRequest, RequestContext};
use hexgraph_base::types::Error;

/// Answers a query, or executes a mutation or an upsert in a commit of its own.
pub(in crate::http) fn answer(
    app: &App,
    incoming: &Incoming,
    control: &RequestContext,
) -> Result<CallAnswer, Status> {
    check_open(app)?;
    let request: RunDqlRequest = decode(incoming)?;
    check_best_effort(request.best_effort && !request.read_only)?;
    let rdf = wants_rdf(request.resp_format)?;
    let database = app.database_for(incoming);
    let text = request.dql_query;
    if !changes(&text) {
        let debug = wants_debug(incoming.headers());
        let asked = QueryRequest { text, variables: variables(request.vars), debug };
        return ask((app, &database), asked, (0, rdf), control).map_err(told);
    }
    check_writable(request.read_only)?;
    let change = Change { body: mutate::Body::Text(&text), commits_now: true, start: 0 };
    let done = mutate::run(&database, &change, incoming.client(), control);
    let done = done.map_err(|error| match error {
        Error::Syntax { .. } => told(status(error)),
        _ => status(error),
    })?;
    mutations::answer(&database, done, rdf, control)
}

/// As the reference says of texts that it can't read.
fn told(status: Status) -> Status {
    match status.code {
        Code::Unknown => {
            let message = format!("error parsing DQL query: {}", status.message);
            Status { message, ..status }
        }
        _ => status,
    }
}

/// Whether a text is a mutation or an upsert, by its first words: `upsert {`, `{ set {` or `{
/// delete {`.
fn changes(text: &str) -> bool {
    let text = skip_blank(text);
    if let Some(rest) = word(text, "upsert") {
        return rest.starts_with('{');
    }
    let Some(text) = text.strip_prefix('{').map(skip_blank) else { return false };
    let rest = ["set", "delete"].iter().find_map(|name| word(text, name));
    rest.is_some_and(|rest| rest.starts_with('{'))
}

/// What comes behind a word and blanks; `None` when the text begins otherwise.
fn word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.strip_prefix(word).map(skip_blank)
}

/// The text without the blanks and comments that it begins with.
fn skip_blank(text: &str) -> &str {
    let mut text = text.trim_start();
    while text.starts_with('#') {
        text = text.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_something() {
        for (text, want) in [
            ("{ set { _:a <n> \"x\" . } }", true),
            (" # all\n{\n # more\n delete{ <1> * * . } }", true),
            ("upsert { query { v as var(func: has(n)) } mutation { } }", true),
            ("{ set(func: has(n)) { n } }", false),
            ("{ upsert(func: has(n)) { n } }", false),
            ("query q($a: int) { q(func: eq(n, $a)) { n } }", false),
            ("{ q(func: has(n)) { n } }", false),
            ("schema {}", false),
            ("# {set {", false),
            ("", false),
        ] {
            assert_eq!(changes(text), want, "{text}");
        }
    }
}
