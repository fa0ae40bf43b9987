//! The headers of requests to other servers.

use crate::model::{CustomHttp, Model};

/// The headers that frame a message, in lower case. They are not passed on: they would contradict
/// the message that is sent.
const FRAMING: [&str; 9] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Returns the value of a header of the client's request, by its name.
pub type HeaderOf<'a> = &'a (dyn Fn(&str) -> Option<String> + 'a);

/// The headers of the W3C's Trace Context. The second continues the first, and means nothing alone.
const TRACE: [&str; 2] = ["traceparent", "tracestate"];

/// Makes the headers of a custom field's request: those of the client's request that are passed on,
/// then the secrets, which win.
pub(in crate::remote) fn of_field(model: &Model, http: &CustomHttp, came: HeaderOf<'_>) -> Headers {
    let mut headers = of_lambda(came);
    for (name, from) in &http.forward_headers {
        if let Some(value) = came(from) {
            headers.set(name, value);
        }
    }
    // Set last, so that a client can't put a header of its own instead of a secret.
    headers.add_secrets(model, &http.secret_headers);
    headers
}

/// Makes the headers of a request to the lambda server: the trace that the client's request belongs
/// to goes with it.
pub(in crate::remote) fn of_lambda(came: HeaderOf<'_>) -> Headers {
    let mut headers = Headers::json();
    // What no line of HTTP may have can come from a program that has the database inside.
    let is_line = |value: &String| value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    for name in TRACE {
        let Some(value) = came(name).filter(is_line) else { break };
        headers.set(name, value);
    }
    headers
}

/// Makes the headers of a request for the schema of another server.
pub(in crate::remote) fn of_introspection(model: &Model, http: &CustomHttp) -> Headers {
    let mut headers = Headers::json();
    headers.add_secrets(model, &http.introspection_headers);
    headers
}

/// Headers as pairs of name and value, each name once whatever its case.
pub(in crate::remote) struct Headers(pub(in crate::remote) Vec<(String, String)>);

impl Headers {
    /// Makes the headers that say that the body is JSON, and that the answer should be.
    pub(in crate::remote) fn json() -> Headers {
        let pair = |name: &str| (name.to_owned(), "application/json".to_owned());
        Headers(vec![pair("Content-Type"), pair("Accept")])
    }

    /// Adds the values of secrets. A secret that the schema lacks is left out.
    fn add_secrets(&mut self, model: &Model, pairs: &[(String, String)]) {
        for (name, secret) in pairs {
            if let Some((_, value)) = model.secrets.iter().find(|(existing, _)| existing == secret)
            {
                self.set(name, value.clone());
            }
        }
    }

    /// Sets a header, instead of one of the same name.
    fn set(&mut self, name: &str, value: String) {
        if FRAMING.iter().any(|framing| framing.eq_ignore_ascii_case(name)) {
            return;
        }
        match self.0.iter_mut().find(|(existing, _)| existing.eq_ignore_ascii_case(name)) {
            Some(existing) => existing.1 = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }
}
