//! The checks of what the schema means, one type after the other: all faults are told.

use super::dgraph;
use super::federation;
use super::fields;
use super::inverse;
use super::search;
use super::sharing;
use super::types;
use crate::sdl::custom::directive as custom;
use crate::sdl::source::draft::Draft;
use crate::sdl::source::raw::{RawDirective, RawField, RawType};
use crate::syntax::Fault;

/// A field that is looked at.
#[derive(Clone, Copy)]
pub(in crate::sdl) struct Subject<'a> {
    pub(in crate::sdl) draft: &'a Draft<'a>,
    pub(in crate::sdl) def: &'a RawType,
    pub(in crate::sdl) field: &'a RawField,
}

impl Subject<'_> {
    /// A fault at the directive, told of the type and the field.
    pub(in crate::sdl) fn fault_at(
        &self,
        directive: &RawDirective,
        what: impl AsRef<str>,
    ) -> Fault {
        let message =
            format!("Type {}; Field {}: {}", self.def.name, self.field.name, what.as_ref());
        Fault::at(directive.place, message)
    }

    /// A fault at the field, told of the type and the field.
    pub(in crate::sdl) fn fault(&self, what: impl AsRef<str>) -> Fault {
        let message =
            format!("Type {}; Field {}: {}", self.def.name, self.field.name, what.as_ref());
        Fault::at(self.field.place, message)
    }
}

/// Checks everything, and writes the `@hasInverse` of each link at both of its ends.
pub(in crate::sdl) fn check(draft: &mut Draft<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for index in 0..draft.types().len() {
        types::check(draft, &draft.types()[index], &mut faults);
        for field in 0..draft.types()[index].fields.len() {
            let mut links = Vec::new();
            check_field(draft, index, field, &mut links, &mut faults);
            for link in links {
                inverse::write(draft, &link);
            }
        }
    }
    sharing::check(draft, &mut faults);
    faults
}

fn check_field(
    draft: &Draft<'_>,
    index: usize,
    field: usize,
    links: &mut Vec<inverse::Link>,
    faults: &mut Vec<Fault>,
) {
    let def = &draft.types()[index];
    let subject = Subject { draft, def, field: &def.fields[field] };
    fields::check(&subject, faults);
    for directive in &subject.field.directives {
        let told = match directive.name() {
            "hasInverse" => match inverse::check(&subject, directive) {
                Ok(link) => {
                    links.extend(link);
                    None
                }
                Err(fault) => Some(fault),
            },
            "search" => search::check(&subject, directive)
                .err()
                .map(|what| subject.fault_at(directive, what)),
            "embedding" => fields::embedding(&subject),
            "dgraph" => dgraph::check(&subject, directive).err(),
            "id" => fields::unique(&subject, directive),
            "default" => fields::default(&subject, directive)
                .err()
                .map(|what| subject.fault_at(directive, what)),
            "custom" => {
                custom::check(&subject, directive, faults);
                None
            }
            "lambda" => {
                custom::check_lambda(&subject, directive, faults);
                None
            }
            "external" => federation::external(&subject, directive),
            "requires" => federation::requires(&subject, directive),
            "provides" => federation::provides(&subject, directive),
            "remoteResponse" => fields::remote_response(&subject, directive),
            _ => None,
        };
        faults.extend(told);
    }
}
