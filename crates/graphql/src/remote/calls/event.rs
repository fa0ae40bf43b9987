//! `@lambdaOnMutate`: the event that the lambda server is sent after the commit of a mutation.

use serde_json::{Value, json};

use crate::model::{HttpMethod, TypeDef};
use crate::remote::calls::call::Sender;
use crate::remote::message::exchange::Outgoing;
use crate::remote::message::headers;
use crate::remote::message::interpolation::json_of;
use crate::request::Arguments;

/// The name of the function that lambda servers call for events.
const RESOLVER: &str = "$webhook";

/// What a mutation did to its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It added them.
    Add,
    /// It changed them.
    Update,
    /// It deleted them.
    Delete,
}

impl Change {
    /// Returns the name in the event, which is a key of it too.
    fn name(self) -> &'static str {
        match self {
            Change::Add => "add",
            Change::Update => "update",
            Change::Delete => "delete",
        }
    }

    /// Returns true if the type requests events of this change.
    fn is_reported(self, def: &TypeDef) -> bool {
        match self {
            Change::Add => def.lambda_on_mutate.add,
            Change::Update => def.lambda_on_mutate.update,
            Change::Delete => def.lambda_on_mutate.delete,
        }
    }
}

/// Makes the request that informs the lambda server of a mutation: the nodes `uids` of a type, the
/// arguments of its field, and the number of its commit. Returns `None` when the type does not
/// request such events, or there is no lambda server.
pub fn event(
    sender: &Sender<'_>,
    type_name: &str,
    change: Change,
    arguments: &Arguments,
    uids: &[String],
    commit: u64,
) -> Option<Outgoing> {
    // Most types request no events, and then nothing is made.
    let def = sender.model.get(type_name).filter(|def| change.is_reported(def))?;
    let url = sender.lambda_url.filter(|url| !url.is_empty())?;
    let input = arguments.given("input");
    let given = |value: Option<&_>| value.map_or(Value::Null, json_of);
    let details = match change {
        Change::Add => json!({ "rootUIDs": uids, "input": given(input) }),
        Change::Update => json!({
            "rootUIDs": uids,
            "setPatch": given(input.and_then(|input| input.get("set"))),
            "removePatch": given(input.and_then(|input| input.get("remove"))),
        }),
        Change::Delete => json!({ "rootUIDs": uids }),
    };
    let mut event = json!({
        "__typename": def.name,
        "operation": change.name(),
        "commitTs": commit,
    });
    event[change.name()] = details;
    let mut body = json!({ "resolver": RESOLVER, "event": event });
    if let Some(header) = sender.auth_header() {
        body["authHeader"] = header;
    }
    Some(Outgoing {
        method: HttpMethod::Post,
        url: url.to_owned(),
        headers: headers::of_lambda(sender.came).0,
        body: Some(body.to_string().into_bytes()),
        timeout: sender.timeout,
        bytes_max: sender.bytes_max,
    })
}
