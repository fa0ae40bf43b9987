//! Root fields of mutations.

use crate::db::graphql::run::Outcome;
use crate::db::graphql::run::Run;
use crate::db::graphql::run::root_path;
use crate::graphql::request::Fault;
use crate::graphql::request::Field;

/// Carries one out in a commit of its own, then answers what is asked of its payload.
pub(super) fn mutate(_run: &Run<'_>, field: &Field) -> Outcome {
    let message = format!("mutation {} is not supported yet", field.shape.name);
    let fault = Fault { path: root_path(field), ..Fault::at(field.shape.location, message) };
    Outcome::fault(field, fault)
}
