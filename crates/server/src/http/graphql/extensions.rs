//! What stands next to the data of an answer.

use crate::http::app::App;
use hexgraph::db::graphql::Response;
use hexgraph_base::types::DateTime;
use std::io::Write;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The counts of reads, and the time since `since`, in the form of Apollo's tracing. Nothing where
/// it is switched off.
pub(super) fn extensions(app: &App, response: &Response, since: Instant) -> String {
    if !app.unguarded.graphql_options().extensions {
        return String::new();
    }
    let elapsed = since.elapsed();
    let ended = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (from, to) = (moment(ended.saturating_sub(elapsed)), moment(ended));
    let mut out = Vec::with_capacity(256 + 256 * response.spans.len());
    out.push(b'{');
    let wrote = match response.touched {
        0 => Ok(()),
        touched => write!(out, "\"touched_uids\":{touched},"),
    };
    let nanos = elapsed.as_nanos();
    wrote
        .and_then(|()| {
            write!(
                out,
                "\"tracing\":{{\"version\":1,\"startTime\":\"{from}\",\"endTime\":\"{to}\",\"duration\":{nanos}"
            )
        })
        .expect("a vector takes what is written to it");
    if !response.spans.is_empty() {
        out.extend_from_slice(b",\"execution\":{\"resolvers\":[");
        for (at, span) in response.spans.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            span.write(since, &mut out);
        }
        out.extend_from_slice(b"]}");
    }
    out.extend_from_slice(b"}}");
    String::from_utf8_lossy(&out).into_owned()
}

fn moment(since: Duration) -> String {
    let seconds = i64::try_from(since.as_secs()).unwrap_or(0);
    let mut out = Vec::with_capacity(32);
    DateTime::from_unix(seconds, i64::from(since.subsec_nanos())).write(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}
