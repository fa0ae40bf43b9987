//! What is selected of an object of a concrete type, with fragments written out and fields of one
//! key put together.

use super::request::{Part, RequestedQuery, holds};
use super::schema::{Of, Schema};

/// The fields of one key, which ask for the same thing; what they select counts together.
#[derive(Debug, Clone)]
pub struct Group<'a> {
    pub fields: Vec<&'a RequestedQuery>,
}

impl<'a> Group<'a> {
    /// The first of them: key, name, arguments are those of all.
    pub fn first(&self) -> &'a RequestedQuery {
        self.fields[0]
    }

    pub fn below(&self) -> impl Iterator<Item = &'a Part> + Clone + use<'a> {
        self.fields.clone().into_iter().flat_map(|field| &field.below)
    }
}

/// The fields that parts select of an object; of one without a type when `kind` is `None`.
pub fn groups<'a>(
    schema: &Schema,
    kind: Option<usize>,
    parts: impl Iterator<Item = &'a Part>,
) -> Vec<Group<'a>> {
    let mut groups = Vec::new();
    gather(schema, kind, parts.collect(), &mut groups);
    groups
}

/// What parts select of an object that has no type, since it was deleted: the fields of all
/// fragments, each key once, with the type that the text asks them of.
pub fn of_any<'a>(
    schema: &Schema,
    on: Of,
    parts: impl Iterator<Item = &'a Part>,
) -> Vec<(Of, &'a RequestedQuery)> {
    let mut fields: Vec<(Of, &RequestedQuery)> = Vec::new();
    for part in parts {
        let below = match part {
            Part::Field(field) if field.is_requested() => vec![(on, field)],
            Part::Fragment(fragment) if holds(&fragment.conditions) => {
                let kind = fragment.on.as_ref().and_then(|name| schema.kind(name));
                of_any(schema, kind.map_or(on, Of::Kind), fragment.parts.iter())
            }
            _ => Vec::new(),
        };
        for (on, field) in below {
            if fields.iter().all(|(_, existing)| existing.key() != field.key()) {
                fields.push((on, field));
            }
        }
    }
    fields
}

fn gather<'a>(
    schema: &Schema,
    kind: Option<usize>,
    parts: Vec<&'a Part>,
    groups: &mut Vec<Group<'a>>,
) {
    for part in parts {
        match part {
            Part::Field(field) if field.is_requested() => {
                let same = |group: &&mut Group<'_>| group.first().key() == field.key();
                match groups.iter_mut().find(same) {
                    Some(group) => group.fields.push(field),
                    None => groups.push(Group { fields: vec![field] }),
                }
            }
            Part::Fragment(fragment) if holds(&fragment.conditions) => {
                let fits = fragment.on.as_ref().is_none_or(|name| {
                    let on = schema.kind(name);
                    kind.zip(on).is_some_and(|(kind, on)| schema.is_a(kind, on))
                });
                if fits {
                    gather(schema, kind, fragment.parts.iter().collect(), groups);
                }
            }
            _ => {}
        }
    }
}
