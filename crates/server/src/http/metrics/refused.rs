//! [`Refused`]: which limit or rule a request was refused by.

use crate::http::admission::OVERLOADED;
use crate::http::guard::switches::DRAINING;
use hexgraph::db::Limits;
use hexgraph_base::types::Error;

/// Which limit or rule a request was refused by. Responses carry it to the counter of refusals;
/// clients do not see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) struct Refused(pub &'static str);

impl Refused {
    /// Admission: too many requests wait already.
    pub(in crate::http) const ADMISSION: Refused = Refused("admission");
    /// The limit `body`, or the longest body of the route.
    pub(in crate::http) const BODY: Refused = Refused("body");
    /// The server is draining.
    const DRAINING: Refused = Refused("draining");
    /// A key that is missing, invalid, or gives too few rights.
    pub(in crate::http) const KEY: Refused = Refused("key");
    /// Memory: of the request, or of all requests together.
    pub(in crate::http) const MEMORY: Refused = Refused("memory");
    /// A page of another origin, or a name of the server that is not allowed.
    pub(in crate::http) const ORIGIN: Refused = Refused("origin");
    /// A user who is not logged in, or has no right.
    const RIGHTS: Refused = Refused("rights");
    /// A limit without a name here: the request was cancelled, or a bound that is not a setting.
    const OTHER: Refused = Refused("other");

    /// The reason for an error of the engine; `None` where it is not a refusal.
    pub(in crate::http) fn of(error: &Error) -> Option<Refused> {
        match error {
            Error::Limit { message } => Some(Refused::of_text(message).unwrap_or(Refused::OTHER)),
            Error::Access(_) => Some(Refused::RIGHTS),
            Error::Query { message, .. } if message == DRAINING => Some(Refused::DRAINING),
            _ => None,
        }
    }

    /// The limit that a message names; `None` where it names none.
    pub(in crate::http) fn of_text(message: &str) -> Option<Refused> {
        if message == OVERLOADED {
            return Some(Refused::ADMISSION);
        }
        // Messages of limits end with what can be done, so the last name is that of the limit.
        let named =
            LEADS.iter().filter_map(|lead| Some(message.rfind(lead)? + lead.len())).max()?;
        let (name, _) = message[named..].split_once('`')?;
        Limits::NAMES.iter().find(|limit| **limit == name).map(|limit| Refused(limit))
    }
}

/// What stands before the name of a limit in a message.
const LEADS: [&str; 4] = ["raise the limit `", "raise `", "raise the setting `", "by the limit `"];

#[cfg(test)]
mod tests {
    use super::*;
    use hexgraph::db::{Database, OpenOptions, QueryRequest, RequestContext};
    use std::time::Duration;

    /// The reason for which the engine refuses `text` under these limits.
    fn refusal_by(limits: Limits, text: &str) -> Option<Refused> {
        // The mutation has time.
        let options =
            OpenOptions { limits: Limits { timeout: None, ..limits }, ..OpenOptions::default() };
        let database = Database::in_memory_with(options);
        database.mutate("_:a <e> _:b .\n_:b <e> _:c .\n_:a <n> \"x\" .", "").unwrap();
        let request = QueryRequest { text: text.to_owned(), ..QueryRequest::default() };
        let context = RequestContext::new();
        context.set_limits(limits);
        let done = database.query_with(&request, &context);
        let done = done.and_then(|answer| answer.to_json_with(&context));
        done.err().and_then(|error| Refused::of(&error))
    }

    #[test]
    fn each_limit_is_counted_by_its_name() {
        let limits = Limits::default();
        let text = "{ q(func: has(e)) @recurse(depth: 3) { uid e } }";
        let all = "{ q(func: has(e)) { uid n e { uid } } }";
        let cases = [
            ("text", Limits { text: 4, ..limits }, all),
            ("result", Limits { result: 4, ..limits }, all),
            ("edges", Limits { edges: 1, ..limits }, text),
            ("timeout", Limits { timeout: Some(Duration::from_nanos(1)), ..limits }, all),
        ];
        for (name, limits, text) in cases {
            assert_eq!(refusal_by(limits, text), Some(Refused(name)), "{name}");
        }
        assert_eq!(refusal_by(limits, all), None);
    }

    #[test]
    fn what_names_no_limit_is_another_refusal() {
        let of = |message: &str| Refused::of(&Error::Limit { message: message.to_owned() });
        assert_eq!(of("the request was cancelled"), Some(Refused::OTHER));
        assert_eq!(of(OVERLOADED), Some(Refused::ADMISSION));
        assert_eq!(
            of("x `memory`: request less, or raise the limit `levels`"),
            Some(Refused("levels"))
        );
        assert_eq!(of("raise the limit `name`"), Some(Refused::OTHER), "not a label from a text");
        assert_eq!(Refused::of(&Error::Conflict), None);
    }
}
