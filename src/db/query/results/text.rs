//! Answers as texts: JSON, N-Quads, and what any sink makes of them.

use crate::db::guard::guarded;
use crate::db::query::answer::QueryAnswer;
use crate::db::query::checked::CheckedSink;
use hexgraph_base::answer::{ChunkSink, JsonSink};
use hexgraph_base::types::{FragmentSink, Result, Sink};
use hexgraph_store::exec::RequestContext;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// # As text
impl QueryAnswer {
    /// Writes the object with the blocks, until `context` stops it. Returns the sink.
    ///
    /// ```
    /// use hexgraph::{answer::JsonSink, db::{Database, RequestContext}};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let answer = db.query("{ q(func: has(name)) { name } }")?;
    /// let sink = answer.write(JsonSink::new(), &RequestContext::new())?;
    /// assert_eq!(sink.into_string(), r#"{"q":[{"name":"Ada"}]}"#);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Database::query`](crate::db::Database::query): values are read when they are written.
    pub fn write<S: Sink>(&self, sink: S, context: &RequestContext) -> Result<S> {
        self.write_head(usize::MAX, sink, context)
    }

    /// As [`QueryAnswer::write`], but no more than the first `objects_max` objects of each list:
    /// costs as much as is written.
    ///
    /// ```
    /// use hexgraph::{answer::JsonSink, db::{Database, RequestContext}};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .\n<2> <name> \"Bob\" .", "")?;
    /// let answer = db.query("{ q(func: has(name)) { name } }")?;
    /// let sink = answer.write_head(1, JsonSink::new(), &RequestContext::new())?;
    /// assert_eq!(sink.into_string(), r#"{"q":[{"name":"Ada"}]}"#);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`].
    pub fn write_head<S: Sink>(
        &self,
        objects_max: usize,
        sink: S,
        context: &RequestContext,
    ) -> Result<S> {
        self.prepare(context);
        guarded(|| {
            let mut sink = CheckedSink::new(sink, context, self.exec_options().result);
            self.write_to(objects_max, &mut sink)?;
            Ok(sink.into_inner())
        })
    }

    /// As [`QueryAnswer::write`], for a sink that takes chunks: other threads help to write a large
    /// answer.
    ///
    /// ```
    /// use hexgraph::{answer::JsonSink, db::{Database, RequestContext}};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let answer = db.query("{ q(func: has(name)) { name } }")?;
    /// let sink = answer.write_shared(JsonSink::new(), &RequestContext::new())?;
    /// assert_eq!(sink.into_string(), answer.to_json()?.0);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`].
    pub fn write_shared<S: FragmentSink>(&self, sink: S, context: &RequestContext) -> Result<S> {
        self.prepare(context);
        guarded(|| {
            let mut sink = CheckedSink::new(sink, context, self.exec_options().result);
            self.write_fragments(context, &mut sink)?;
            Ok(sink.into_inner())
        })
    }

    /// The object with the blocks as JSON text, and the time of writing it.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let (json, time) = db.query("{ q(func: has(name)) { name } }")?.to_json()?;
    /// assert_eq!(json, r#"{"q":[{"name":"Ada"}]}"#);
    /// assert!(time.as_secs() < 10);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`].
    pub fn to_json(&self) -> Result<(String, Duration)> {
        self.to_json_with(&RequestContext::new())
    }

    /// As [`QueryAnswer::to_json`], until `context` stops it.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let answer = db.query("{ q(func: has(name)) { name } }")?;
    /// let context = RequestContext::new();
    /// context.canceller().cancel();
    /// assert!(answer.to_json_with(&context).is_err());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`].
    pub fn to_json_with(&self, context: &RequestContext) -> Result<(String, Duration)> {
        let started = Instant::now();
        let json = self.write_shared(JsonSink::new(), context)?.into_bytes();
        let json = String::from_utf8(json).expect("the sink writes UTF-8 from texts");
        Ok((json, started.elapsed()))
    }

    /// As [`QueryAnswer::to_json_with`], where it has no more than about so many bytes; `None` for
    /// a longer one, which [`QueryAnswer::write_chunks`] writes in chunks.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada Lovelace, Countess\" .", "")?;
    /// let answer = db.query("{ q(func: has(name)) { name } }")?;
    /// assert!(answer.to_short_json(1 << 20, &RequestContext::new())?.is_some());
    /// assert!(answer.to_short_json(8, &RequestContext::new())?.is_none());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`].
    pub fn to_short_json(
        &self,
        bytes_max: u64,
        context: &RequestContext,
    ) -> Result<Option<(String, Duration)>> {
        let started = Instant::now();
        let most = bytes_max.min(self.exec_options().result);
        let is_long = OnceLock::new();
        self.prepare(context);
        let before = context.reservation().map_or(0, |reservation| reservation.used());
        let written = guarded(|| {
            let mut sink = CheckedSink::new(JsonSink::new(), context, most);
            sink.report_when_too_long(&is_long);
            self.write_fragments(context, &mut sink)?;
            Ok(sink.into_inner())
        });
        match written {
            Ok(json) => Ok(Some((json.into_string(), started.elapsed()))),
            // Only the length stopped it, and the limit `result` is farther off: the caller writes
            // it again in chunks, so the reservation of this attempt is released.
            Err(_) if is_long.get().is_some() && most < self.exec_options().result => {
                if let Some(reservation) = context.reservation() {
                    reservation.retain_only(before);
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes the object with the blocks as JSON text in chunks of about so many bytes.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .\n<2> <name> \"Bob\" .", "")?;
    /// let answer = db.query("{ q(func: has(name)) { name } }")?;
    /// let mut json = Vec::new();
    /// answer.write_chunks(16, &RequestContext::new(), |chunk| {
    ///     json.extend(chunk);
    ///     Ok(())
    /// })?;
    /// assert_eq!(json, answer.to_json()?.0.as_bytes());
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`], and those of `send`.
    pub fn write_chunks(
        &self,
        chunk_len: usize,
        context: &RequestContext,
        send: impl FnMut(Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        self.prepare(context);
        guarded(|| {
            // Chunks leave memory when they are sent, so only the length is bounded.
            let sink = ChunkSink::new(chunk_len, send);
            let mut sink = CheckedSink::new(sink, context, self.exec_options().result).passing_on();
            // On this thread alone: chunks that wait for a slow reader are not computed in advance.
            self.write_to(usize::MAX, &mut sink)?;
            sink.into_inner().finish()
        })
    }

    /// The facts of the result as lines of N-Quads, and the time of writing them.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let (triples, _) = db.query("{ q(func: has(name)) { name } }")?.to_rdf()?;
    /// assert_eq!(triples, "<0x1> <name> \"Ada\" .\n");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::write`]; `Query` for what N-Quads can't write: groups, `count(uid)`,
    /// `@normalize`, `@ignorereflex`, `checkpwd` and facets.
    pub fn to_rdf(&self) -> Result<(String, Duration)> {
        self.to_rdf_with(&RequestContext::new())
    }

    /// As [`QueryAnswer::to_rdf`], until `context` stops it.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <knows> <2> .\n<2> <name> \"Bob\" .", "")?;
    /// let answer = db.query("{ q(func: has(knows)) { knows { name } } }")?;
    /// let (triples, _) = answer.to_rdf_with(&RequestContext::new())?;
    /// assert!(triples.contains("<0x1> <knows> <0x2> ."));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`QueryAnswer::to_rdf`].
    pub fn to_rdf_with(&self, context: &RequestContext) -> Result<(String, Duration)> {
        self.prepare(context);
        guarded(|| {
            let started = Instant::now();
            let lines = self.lines_within(self.exec_options().result, context)?;
            let lines = String::from_utf8(lines).expect("facts are written from texts");
            Ok((lines, started.elapsed()))
        })
    }
}
