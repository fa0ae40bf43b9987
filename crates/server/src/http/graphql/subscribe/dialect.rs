//! The messages of the two protocols over WebSocket.
//!
//! | | `graphql-transport-ws` | `graphql-ws`, the older one |
//! |---|---|---|
//! | a subscription begins | `subscribe` | `start` |
//! | the client stops it | `complete` | `stop`, answered by `complete` |
//! | an answer | `next` | `data` |
//! | nothing can be answered | `error` with a list | `error` with a message, then `complete` |
//! | a wrong message | the connection is closed with a code | `error` or `connection_error` |
//! | first message | `connection_init` must be | `connection_init` may be |

use crate::http::graphql::body::{self, BodyError};
use hexgraph::db::graphql::{GraphqlError, Headers, Request, errors_to_json};
use hexgraph_base::types::bounded;
use serde_json::{Map, Value, json};

/// The protocol that a connection uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `graphql-transport-ws`.
    Modern,
    /// `graphql-ws`, as `subscriptions-transport-ws` has it.
    Legacy,
}

/// A message of a client.
#[derive(Debug, Clone)]
pub(super) enum Said {
    /// The client opens the connection. Entries of the payload that are text count as headers.
    Init(Headers),
    /// The client pings the server; the text is the answer.
    Ping(String),
    /// The client answers that it is alive.
    Pong,
    /// The client requests an operation to be executed.
    Start(String, Request),
    /// The client stops an operation.
    Stop(String),
    /// The client requests the connection to be closed.
    Terminate,
    /// The message is wrong. The text is the answer, and the connection stays open.
    Wrong(String),
    /// The message is wrong. The connection is closed with this code and reason.
    Fatal(u16, String),
}

impl Dialect {
    /// Both names, the better one first.
    pub(super) const NAMES: [&'static str; 2] = ["graphql-transport-ws", "graphql-ws"];

    /// Returns the protocol of a name.
    pub(super) fn of_name(name: &str) -> Option<Dialect> {
        match name {
            "graphql-transport-ws" => Some(Dialect::Modern),
            "graphql-ws" => Some(Dialect::Legacy),
            _ => None,
        }
    }

    /// Parses a message of a client.
    pub(super) fn read(self, text: &str) -> Said {
        let message: Map<String, Value> = match serde_json::from_str(text) {
            Ok(Value::Object(message)) => message,
            Ok(_) => return self.wrong("the message is not an object"),
            Err(error) => return self.wrong(&format!("the message is not JSON: {error}")),
        };
        let kind = message.get("type").and_then(Value::as_str).unwrap_or_default();
        let id = message.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        let payload = message.get("payload");
        match (self, kind) {
            (_, "connection_init") => self.init(payload),
            (Dialect::Modern, "ping" | "pong")
                if payload.is_some_and(|payload| !(payload.is_object() || payload.is_null())) =>
            {
                self.wrong(&format!("invalid payload for type: {kind}"))
            }
            (Dialect::Modern, "ping") => Said::Ping(pong(payload)),
            (Dialect::Modern, "pong") => Said::Pong,
            (Dialect::Modern, "subscribe") | (Dialect::Legacy, "start") => self.start(id, payload),
            (Dialect::Modern, "complete") => match id {
                Some(id) => Said::Stop(id.to_owned()),
                None => self.wrong("missing ID for complete operation"),
            },
            (Dialect::Legacy, "stop") => Said::Stop(id.unwrap_or_default().to_owned()),
            (Dialect::Legacy, "ka") => Said::Ping(json!({ "type": "ka" }).to_string()),
            (Dialect::Legacy, "connection_terminate") => Said::Terminate,
            _ => self.wrong_about(id, &format!("unknown operation message of type: {kind}")),
        }
    }

    fn init(self, payload: Option<&Value>) -> Said {
        let mut headers = Headers::new();
        match payload {
            None | Some(Value::Null) => {}
            Some(Value::Object(entries)) => {
                for (name, value) in entries {
                    if let Some(value) = value.as_str() {
                        headers.add(name, value);
                    }
                }
            }
            Some(_) => return self.refused("invalid payload for type: connection_init"),
        }
        Said::Init(headers)
    }

    fn start(self, id: Option<&str>, payload: Option<&Value>) -> Said {
        let Some(id) = id else { return self.refused("missing ID for start operation") };
        let request = match payload {
            Some(Value::Object(members))
                if self == Dialect::Modern
                    && !members.get("query").is_some_and(Value::is_string)
                    && !members.contains_key("extensions") =>
            {
                Err(BodyError::NoQuery)
            }
            Some(Value::Object(members)) => body::of_members(members.clone()),
            Some(Value::Null) if self == Dialect::Legacy => Ok(Request::default()),
            _ => Err(BodyError::NoObject),
        };
        match request {
            Ok(request) => Said::Start(id.to_owned(), request),
            Err(error) => match self {
                Dialect::Modern => self.wrong(&error.to_string()),
                Dialect::Legacy => {
                    let message = "invalid payload for type: start";
                    Said::Wrong(legacy_error("connection_error", Some(id), message))
                }
            },
        }
    }

    /// Returns the answer to a message of a kind that the protocol does not have.
    fn wrong(self, message: &str) -> Said {
        self.wrong_about(None, message)
    }

    fn wrong_about(self, id: Option<&str>, message: &str) -> Said {
        match self {
            Dialect::Modern => Said::Fatal(4400, reason(message)),
            Dialect::Legacy => Said::Wrong(legacy_error("error", id, message)),
        }
    }

    /// Returns the answer to a message whose content is wrong.
    fn refused(self, message: &str) -> Said {
        match self {
            Dialect::Modern => self.wrong(message),
            Dialect::Legacy => Said::Wrong(legacy_error("connection_error", None, message)),
        }
    }

    /// Returns the answer to an operation whose id belongs to a running one.
    pub(super) fn in_use(self, id: &str) -> Said {
        match self {
            Dialect::Modern => {
                Said::Fatal(4409, reason(&format!("Subscriber for {id} already exists")))
            }
            Dialect::Legacy => self.refused("duplicate message ID for start operation"),
        }
    }

    /// Returns the message that the server accepts operations.
    pub(super) fn acknowledge(self) -> String {
        json!({ "type": "connection_ack" }).to_string()
    }

    /// Returns the message of an answer, which is given as JSON text.
    pub(super) fn next(self, id: &str, payload: &[u8]) -> String {
        let kind = match self {
            Dialect::Modern => "next",
            Dialect::Legacy => "data",
        };
        let (id, payload) = (json!(id), String::from_utf8_lossy(payload));
        format!("{{\"id\":{id},\"payload\":{payload},\"type\":\"{kind}\"}}")
    }

    /// Returns the messages that end an operation with errors.
    pub(super) fn failed(self, id: &str, faults: &[GraphqlError]) -> Vec<String> {
        match self {
            Dialect::Modern => {
                let faults = errors_to_json(faults);
                let (id, faults) = (json!(id), String::from_utf8_lossy(&faults));
                vec![format!("{{\"id\":{id},\"payload\":{faults},\"type\":\"error\"}}")]
            }
            Dialect::Legacy => {
                let error = legacy_error("error", Some(id), &one_text(faults));
                vec![error, self.complete(id)]
            }
        }
    }

    /// Returns the message that an operation is complete.
    pub(super) fn complete(self, id: &str) -> String {
        match id {
            "" => json!({ "type": "complete" }),
            id => json!({ "id": id, "type": "complete" }),
        }
        .to_string()
    }
}

/// Returns an error message of the older protocol. `id` names the operation, if available.
fn legacy_error(kind: &str, id: Option<&str>, message: &str) -> String {
    let payload = json!({ "message": bounded(message) });
    match id {
        Some(id) => json!({ "id": id, "payload": payload, "type": kind }),
        None => json!({ "payload": payload, "type": kind }),
    }
    .to_string()
}

fn pong(payload: Option<&Value>) -> String {
    match payload {
        Some(payload) => json!({ "type": "pong", "payload": payload }),
        None => json!({ "type": "pong" }),
    }
    .to_string()
}

/// Faults as Dgraph prints a list of them: those of a request a line each.
fn one_text(faults: &[GraphqlError]) -> String {
    let line = |fault: &GraphqlError| match fault.positions.is_empty() && fault.path.is_empty() {
        true => fault.message.clone(),
        false => format!("{fault}\n"),
    };
    faults.iter().map(line).collect()
}

/// Cuts a reason to the 123 bytes of text that a close frame can hold.
pub(super) fn reason(message: &str) -> String {
    let mut end = message.len().min(123);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    message[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_is_not_sent_back() {
        let text = json!({ "type": "x".repeat(1 << 20) }).to_string();
        let Said::Wrong(answer) = Dialect::Legacy.read(&text) else { panic!("it is wrong") };
        assert!(answer.len() < 16 << 10, "{} bytes", answer.len());
        let Said::Fatal(4400, reason) = Dialect::Modern.read(&text) else { panic!("it is wrong") };
        assert_eq!(reason.len(), 123);
    }
}
