//! The headers of requests to other servers.

use crate::model::{CustomHttp, Model};

/// Headers that say how a message is framed: passed on, they would contradict the message that is sent.
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

/// Where the headers of the request that came are looked up.
pub type HeaderOf<'a> = &'a (dyn Fn(&str) -> Option<String> + 'a);

/// The headers of a custom field: those passed on from the request that came, then the secrets.
pub(in crate::remote) fn of_field(model: &Model, http: &CustomHttp, came: HeaderOf<'_>) -> Headers {
    let mut headers = Headers::json();
    for (name, from) in &http.forward_headers {
        if let Some(value) = came(from) {
            headers.set(name, value);
        }
    }
    headers.add_secrets(model, &http.secret_headers);
    headers
}

/// The headers of a request for the schema of another server.
pub(in crate::remote) fn of_introspection(model: &Model, http: &CustomHttp) -> Headers {
    let mut headers = Headers::json();
    headers.add_secrets(model, &http.introspection_headers);
    headers
}

/// Headers, each name once.
pub(in crate::remote) struct Headers(pub(in crate::remote) Vec<(String, String)>);

impl Headers {
    /// What is sent and wanted is JSON.
    pub(in crate::remote) fn json() -> Headers {
        let pair = |name: &str| (name.to_owned(), "application/json".to_owned());
        Headers(vec![pair("Content-Type"), pair("Accept")])
    }

    fn add_secrets(&mut self, model: &Model, pairs: &[(String, String)]) {
        for (name, secret) in pairs {
            if let Some((_, value)) = model.secrets.iter().find(|(known, _)| known == secret) {
                self.set(name, value.clone());
            }
        }
    }

    fn set(&mut self, name: &str, value: String) {
        if FRAMING.iter().any(|framing| framing.eq_ignore_ascii_case(name)) {
            return;
        }
        match self.0.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some(known) => known.1 = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }
}
