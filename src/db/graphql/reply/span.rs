//! The times of root fields.

use hexgraph_base::answer::write_json_text;
use hexgraph_base::types::write_int;
use hexgraph_graphql::request::{Field, FieldShape, OperationKind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A root field that was executed, and when.
#[derive(Debug, Clone)]
pub struct Span {
    shape: Arc<FieldShape>,
    kind: OperationKind,
    started: Instant,
    elapsed: Duration,
}

/// Two spans are equal when they belong to the same field; times are not compared.
impl PartialEq for Span {
    fn eq(&self, other: &Span) -> bool {
        self.shape.key == other.shape.key && self.kind == other.kind
    }
}

impl Span {
    /// Creates the span of a field that has just been completed.
    pub(in crate::db::graphql) fn new(
        field: &Field,
        kind: OperationKind,
        started: Instant,
    ) -> Span {
        let elapsed = started.elapsed();
        Span { shape: Arc::clone(&field.shape), kind, started, elapsed }
    }

    /// Writes the span in the form of Apollo's tracing extension. Offsets count from `since`.
    ///
    /// ```
    /// use hexgraph::db::Database;
    /// use std::time::Instant;
    ///
    /// let db = Database::in_memory();
    /// db.set_graphql_schema("type Person { name: String! }")?;
    /// let started = Instant::now();
    /// let response = db.graphql("{ queryPerson { name } }");
    /// let mut json = Vec::new();
    /// response.spans[0].write(started, &mut json);
    /// assert!(json.starts_with(br#"{"path":["queryPerson"]"#));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn write(&self, since: Instant, out: &mut Vec<u8>) {
        let (parent, label) = match self.kind {
            OperationKind::Query => ("Query", "query"),
            OperationKind::Mutation => ("Mutation", "mutation"),
            OperationKind::Subscription => ("Subscription", "query"),
        };
        out.extend_from_slice(b"{\"path\":[");
        write_json_text(&self.shape.key, out);
        out.extend_from_slice(b"],\"parentType\":\"");
        out.extend_from_slice(parent.as_bytes());
        out.extend_from_slice(b"\",\"fieldName\":");
        write_json_text(&self.shape.name, out);
        out.extend_from_slice(b",\"returnType\":");
        write_json_text(&self.shape.ty.to_string(), out);
        self.write_times(since, out);
        out.extend_from_slice(b",\"dgraph\":[{\"label\":\"");
        out.extend_from_slice(label.as_bytes());
        out.push(b'"');
        self.write_times(since, out);
        out.extend_from_slice(b"}]}");
    }

    fn write_times(&self, since: Instant, out: &mut Vec<u8>) {
        let nanos = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        out.extend_from_slice(b",\"startOffset\":");
        write_int(nanos(self.started.saturating_duration_since(since)), out);
        out.extend_from_slice(b",\"duration\":");
        write_int(nanos(self.elapsed), out);
    }
}
