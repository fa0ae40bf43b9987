//! Root fields of queries: introspection, and what is read from a version.

use crate::answer::write_json_text;
use crate::db::graphql::run::Outcome;
use crate::db::graphql::run::Run;
use crate::db::graphql::run::root_path;
use crate::graphql::generate::RootKind;
use crate::graphql::request::Fault;
use crate::graphql::request::Field;
use crate::graphql::request::introspect;

/// Answers root fields on one version.
pub(super) struct Reader<'a> {
    run: &'a Run<'a>,
}

impl<'a> Reader<'a> {
    /// For the version of a request.
    pub fn new(run: &'a Run<'a>) -> Reader<'a> {
        Reader { run }
    }

    /// Whether a field may take so long that handing it to another thread pays.
    pub fn may_be_long(&self, field: &Field) -> bool {
        let kind = field.shape.root.as_ref().map(|root| root.kind);
        !matches!(kind, None | Some(RootKind::Get | RootKind::CheckPassword | RootKind::Service))
    }

    /// The value of a root field.
    pub fn answer(&self, field: &Field) -> Outcome {
        let Some(root) = &field.shape.root else { return self.about_schema(field) };
        let message = format!("query {} is not supported yet", root.type_name);
        Outcome::fault(field, Fault { path: root_path(field), ..Fault::new(message) })
    }

    fn about_schema(&self, field: &Field) -> Outcome {
        if field.shape.name == "__typename" {
            let mut value = Vec::new();
            write_json_text("Query", &mut value);
            return Outcome { value, ..Outcome::default() };
        }
        let mut value = String::new();
        match introspect(&self.run.loaded.api, field, &mut value) {
            Ok(()) => Outcome { value: value.into_bytes(), ..Outcome::default() },
            Err(fault) => Outcome::fault(field, fault),
        }
    }
}
