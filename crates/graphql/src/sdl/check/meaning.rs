//! Checks what the schema means, type by type and field by field, and returns all faults.

use super::declared_fields;
use super::dgraph;
use super::federation;
use super::inverse;
use super::search;
use super::sharing;
use super::subject::Subject;
use super::types;
use crate::sdl::custom::directive as custom;
use crate::sdl::source::draft::Draft;
use crate::syntax::GraphqlError;

/// Checks all types and fields, and adds the `@hasInverse` of each link at the end that lacks it.
pub(in crate::sdl) fn check(draft: &mut Draft<'_>) -> Vec<GraphqlError> {
    let mut faults = Vec::new();
    for index in 0..draft.types().len() {
        types::check(draft, &draft.types()[index], &mut faults);
        for field in 0..draft.types()[index].fields.len() {
            // The draft can't be changed while the field is looked at.
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

/// Checks a field and its directives, in the order in which they are written.
fn check_field(
    draft: &Draft<'_>,
    index: usize,
    field: usize,
    links: &mut Vec<inverse::MissingInverse>,
    faults: &mut Vec<GraphqlError>,
) {
    let def = &draft.types()[index];
    let subject = Subject { draft, def, field: &def.fields[field] };
    declared_fields::check(&subject, faults);
    for directive in &subject.field.directives {
        let reported = match directive.name() {
            "hasInverse" => match inverse::check(&subject, directive) {
                Ok(link) => {
                    links.extend(link);
                    None
                }
                Err(fault) => Some(fault),
            },
            "search" => search::check(&subject, directive).err(),
            "embedding" => declared_fields::embedding(&subject),
            "dgraph" => dgraph::check(&subject, directive).err(),
            "id" => declared_fields::unique(&subject, directive),
            "default" => declared_fields::default(&subject, directive).err(),
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
            "remoteResponse" => declared_fields::remote_response(&subject, directive),
            _ => None,
        };
        faults.extend(reported);
    }
}
