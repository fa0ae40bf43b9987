//! Root fields of queries: introspection, and what is read from a version.

use crate::answer::write_json_text;
use crate::db::graphql::answer::Writer;
use crate::db::graphql::custom::custom;
use crate::db::graphql::run::Outcome;
use crate::db::graphql::run::Run;
use crate::db::graphql::run::root_path;
use crate::exec;
use crate::exec::Answer;
use crate::graph::Version;
use crate::graphql::generate::RootKind;
use crate::graphql::lower::Caller;
use crate::graphql::lower::Lowered;
use crate::graphql::lower::SimilarTo;
use crate::graphql::lower::lower;
use crate::graphql::request::Fault;
use crate::graphql::request::Field;
use crate::graphql::request::introspect;
use crate::types::Error;
use crate::types::Result;
use std::sync::Arc;

/// Answers root fields on one version.
pub(super) struct Reader<'a> {
    run: &'a Run<'a>,
    version: Arc<Version>,
}

impl<'a> Reader<'a> {
    /// For the version of a request.
    pub fn new(run: &'a Run<'a>) -> Reader<'a> {
        Reader::at(run, Arc::clone(&run.version))
    }

    /// For another version than that of the request.
    pub fn at(run: &'a Run<'a>, version: Arc<Version>) -> Reader<'a> {
        Reader { run, version }
    }

    /// Whether a field may take so long that handing it to another thread pays.
    pub fn may_be_long(&self, field: &Field) -> bool {
        let kind = field.shape.root.as_ref().map(|root| root.kind);
        !matches!(kind, None | Some(RootKind::Get | RootKind::CheckPassword | RootKind::Service))
    }

    /// The value of a root field.
    pub fn answer(&self, field: &Field) -> Outcome {
        let Some(root) = &field.shape.root else { return self.about_schema(field) };
        let caller = match self.run.caller(field) {
            Ok(caller) => caller,
            Err(fault) => return Outcome::fault(field, fault),
        };
        match root.kind {
            RootKind::Service => self.service(field),
            RootKind::Custom => custom(self.run, field),
            RootKind::SimilarById | RootKind::SimilarByEmbedding => self.similar(caller, field),
            _ => self.stored(caller, field, SimilarTo::Given),
        }
    }

    /// A field that is answered from the store.
    pub(super) fn stored(&self, caller: Caller<'_>, field: &Field, to: SimilarTo) -> Outcome {
        match lower(caller, field, to) {
            Ok(lowered) => self.carry_out(field, lowered),
            Err(fault) => Outcome::fault(field, Fault { path: root_path(field), ..fault }),
        }
    }

    /// Carries a plan out and writes what it found.
    pub fn carry_out(&self, field: &Field, mut lowered: Lowered<'_>) -> Outcome {
        let done = self.execute(&mut lowered).and_then(|answer| {
            let bytes_max = self.run.database.limits().result;
            let mut writer = Writer::new(answer.version(), self.run.control, bytes_max);
            let written = writer.root(field, &lowered, &answer)?;
            let touched = answer.touched().values().sum();
            Ok(Outcome {
                spoils: written.is_err(),
                value: writer.out,
                errors: writer.faults,
                touched,
                ..Outcome::default()
            })
        });
        done.unwrap_or_else(|error| Outcome::fault(field, store_fault(field, &error)))
    }

    pub(super) fn execute(&self, lowered: &mut Lowered<'_>) -> Result<Answer> {
        let query = Arc::new(std::mem::take(&mut lowered.query));
        let (database, control) = (self.run.database, self.run.control);
        let (version, options) = (Arc::clone(&self.version), database.options(false));
        database.compute(control, || exec::execute(version, query, options, control))
    }

    fn service(&self, field: &Field) -> Outcome {
        let mut value = vec![b'{'];
        for (index, asked) in field.selection.only().unwrap_or(&[]).iter().enumerate() {
            if index > 0 {
                value.push(b',');
            }
            write_json_text(&asked.shape.key, &mut value);
            value.push(b':');
            let sdl = self.run.loaded.api.service_sdl.as_deref().unwrap_or_default();
            let text = if asked.shape.name == "sdl" { sdl } else { "_Service" };
            write_json_text(text, &mut value);
        }
        value.push(b'}');
        Outcome { value, ..Outcome::default() }
    }

    fn about_schema(&self, field: &Field) -> Outcome {
        let mut value = String::new();
        match introspect(&self.run.loaded.api, field, &mut value) {
            Ok(()) => Outcome { value: value.into_bytes(), ..Outcome::default() },
            Err(fault) => Outcome::fault(field, fault),
        }
    }
}

/// A field that the store could not answer. Places are those of statements that nobody has written.
pub(super) fn store_fault(field: &Field, error: &Error) -> Fault {
    let reason = match error {
        Error::Query { message, hint, .. } | Error::Schema { message, hint, .. } => {
            if hint.is_empty() { message.clone() } else { format!("{message} ({hint})") }
        }
        other => other.to_string(),
    };
    let message = format!("Dgraph query failed because Dgraph execution failed because {reason}");
    Fault { path: root_path(field), ..Fault::at(field.shape.location, message) }
}
