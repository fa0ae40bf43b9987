//! The trace that a request belongs to, by the header `traceparent` of the W3C (Trace Context).

use axum::http::{HeaderMap, HeaderValue};
use hexgraph::db::graphql::Headers;

/// The position of a request in a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trace {
    /// The trace, 32 hexadecimal digits.
    pub trace_id: String,
    /// The caller's span, 16 digits; `None` where the trace begins here.
    pub parent_id: Option<String>,
    /// Whether the caller records the trace, among others; 2 digits.
    flags: u8,
}

impl Trace {
    /// A trace that begins here and is recorded.
    pub(super) fn new(trace_id: String) -> Trace {
        Trace { trace_id, parent_id: None, flags: 1 }
    }

    /// Whether the caller has the trace recorded.
    pub(super) fn is_recorded(&self) -> bool {
        self.flags & 1 == 1
    }

    /// Reads the header. `None` without one, with several, and for one that is not valid: the
    /// recommendation has it ignored.
    pub(super) fn of(headers: &HeaderMap) -> Option<Trace> {
        let mut values = headers.get_all("traceparent").iter();
        let (value, None) = (values.next()?.to_str().ok()?, values.next()) else { return None };
        Trace::read(value)
    }

    fn read(value: &str) -> Option<Trace> {
        let mut fields = value.splitn(5, '-');
        let mut field = |len: usize| fields.next().filter(|field| is_hex(field, len));
        let (version, trace_id) = (field(2)?, field(32)?);
        let (parent_id, flags) = (field(16)?, field(2)?);
        let rest = fields.next();
        let is_zero = |id: &str| id.bytes().all(|digit| digit == b'0');
        // A later version may have more fields; this one has none.
        let is_wrong = version == "ff" || (version == "00" && rest.is_some());
        if is_wrong || is_zero(trace_id) || is_zero(parent_id) {
            return None;
        }
        Some(Trace {
            trace_id: trace_id.to_owned(),
            parent_id: Some(parent_id.to_owned()),
            // Only the bit `sampled` is defined.
            flags: u8::from_str_radix(flags, 16).ok()? & 1,
        })
    }

    /// Reads the headers and has them name a span of this server as the parent of what follows, so
    /// that the requests of custom fields continue the trace. Without a trace that is valid they
    /// have no state, and continue the one that `begin` gives, or none.
    pub(super) fn continue_in(
        headers: &mut HeaderMap,
        span_id: &str,
        begin: impl FnOnce() -> Option<Trace>,
    ) -> Option<Trace> {
        let trace = Trace::of(headers);
        headers.remove("traceparent");
        if trace.is_none() {
            headers.remove("tracestate");
        }
        let trace = trace.or_else(begin)?;
        let value = HeaderValue::from_str(&trace.header(span_id)).expect("hexadecimal digits");
        headers.insert("traceparent", value);
        // Several are one list, in their order.
        let states: Vec<&[u8]> =
            headers.get_all("tracestate").iter().map(HeaderValue::as_bytes).collect();
        if 1 < states.len()
            && let Ok(state) = HeaderValue::from_bytes(&states.join(&b','))
        {
            headers.insert("tracestate", state);
        }
        Some(trace)
    }

    /// As [`Trace::continue_in`], for an operation over a connection.
    pub(super) fn continue_operation(
        headers: &mut Headers,
        span_id: &str,
        begin: impl FnOnce() -> Option<Trace>,
    ) -> Option<Trace> {
        let trace = Trace::drop_invalid(headers).or_else(begin)?;
        headers.remove("traceparent");
        headers.add("traceparent", trace.header(span_id));
        Some(trace)
    }

    /// Reads the headers of a connection, and removes a trace that is not valid from them.
    pub(super) fn drop_invalid(headers: &mut Headers) -> Option<Trace> {
        let trace = headers.get("traceparent").and_then(Trace::read);
        if trace.is_none() {
            headers.remove("traceparent");
            headers.remove("tracestate");
        }
        trace
    }

    /// The value of the headers `traceparent` and `traceresponse` for a span of this server.
    pub(super) fn header(&self, span_id: &str) -> String {
        format!("00-{}-{span_id}-{:02x}", self.trace_id, self.flags)
    }
}

fn is_hex(text: &str, len: usize) -> bool {
    text.len() == len && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    fn read(values: &[&str]) -> Option<Trace> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append("traceparent", HeaderValue::from_str(value).unwrap());
        }
        Trace::of(&headers)
    }

    #[test]
    fn the_header_is_read_as_recommended() {
        let parent = format!("00-{TRACE}-00f067aa0ba902b7-01");
        let trace = read(&[&parent]).unwrap();
        assert_eq!(trace.parent_id.as_deref(), Some("00f067aa0ba902b7"));
        assert_eq!(trace.header("0123456789abcdef"), format!("00-{TRACE}-0123456789abcdef-01"));
        assert!(read(&[&format!("01-{TRACE}-00f067aa0ba902b7-01-more")]).is_some());
        for wrong in [
            String::new(),
            format!("ff-{TRACE}-00f067aa0ba902b7-01"),
            format!("00-{TRACE}-00f067aa0ba902b7-01-more"),
            format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32)),
            format!("00-{TRACE}-{}-01", "0".repeat(16)),
            format!("00-{}-00f067aa0ba902b7-01", TRACE.to_uppercase()),
            format!("00-{TRACE}-00f067aa0ba902b7-1"),
            format!("00-{TRACE}-00f067aa0ba902b7"),
            format!("00{TRACE}00f067aa0ba902b701"),
        ] {
            assert_eq!(read(&[&wrong]), None, "{wrong}");
        }
        assert_eq!(read(&[&parent, &parent]), None);
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn the_trace_continues_in_a_span_of_the_server() {
        let headers = |parent: &str| {
            let mut headers = HeaderMap::new();
            for (name, value) in
                [("traceparent", parent), ("tracestate", "a=1,b=2"), ("tracestate", "c=3")]
            {
                headers.append(name, HeaderValue::from_str(value).unwrap());
            }
            let trace = Trace::continue_in(&mut headers, "0123456789abcdef", || None);
            let text = |name| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
            (trace.is_some(), text("traceparent"), text("tracestate"))
        };
        let want = format!("00-{TRACE}-0123456789abcdef-01");
        assert_eq!(
            headers(&format!("00-{TRACE}-00f067aa0ba902b7-01")),
            (true, Some(want), Some("a=1,b=2,c=3".to_owned()))
        );
        assert_eq!(headers("00-none"), (false, None, None));
    }
}
