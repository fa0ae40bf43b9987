//! Replaces the variables of a mutation by the nodes and values of its query.
//!
//! A statement with `uid(v)` becomes one statement for each node of `v`, with `uid(v)` on both
//! sides one for each pair. `val(x)` becomes the value that `x` has at the statement's subject;
//! without one there is no statement.

use super::bounds::{Charge, STATEMENTS_MAX, too_many};
use super::statements::{Mutation, target};
use hexgraph_base::formats::{NQuad, Object, Subject};
use hexgraph_base::types::{Error, Result, Uid, Value};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The variables of a request, by name.
#[derive(Debug, Default)]
pub struct Bindings {
    variables: FxHashMap<String, Binding>,
}

/// The content of a variable.
#[derive(Debug, Clone, PartialEq)]
pub enum Binding {
    /// Nodes, ascending, each once.
    Uids(Vec<Uid>),
    /// A value for each of some nodes, in ascending order of the nodes.
    Values(Vec<(Uid, Value)>),
    /// One value for all nodes.
    Constant(Value),
}

impl Bindings {
    /// Says what a variable holds.
    pub fn bind(&mut self, name: impl Into<String>, binding: Binding) {
        self.variables.insert(name.into(), binding);
    }

    /// Removes a variable and returns its content.
    pub fn remove(&mut self, name: &str) -> Option<Binding> {
        self.variables.remove(name)
    }

    /// The nodes that a variable holds, if it holds nodes.
    pub fn get_uids(&self, name: &str) -> Option<&[Uid]> {
        match self.variables.get(name) {
            Some(Binding::Uids(uids)) => Some(uids),
            _ => None,
        }
    }

    fn get(&self, name: &str) -> Result<&Binding> {
        self.variables.get(name).ok_or_else(|| {
            Error::query(format!("variable `{name}` is used without a query that defines it"))
        })
    }

    /// The nodes of `uid(name)`.
    fn uids(&self, name: &str) -> Result<Vec<Uid>> {
        let uids = match self.get(name)? {
            Binding::Uids(uids) => uids.clone(),
            Binding::Values(values) => values.iter().map(|(uid, _)| *uid).collect(),
            Binding::Constant(_) => Vec::new(),
        };
        if STATEMENTS_MAX < uids.len() {
            let message = format!(
                "variable `{name}` holds {} nodes, and a mutation takes at most {STATEMENTS_MAX}: \
                 add `first: {STATEMENTS_MAX}` to its block",
                uids.len()
            );
            return Err(Error::Limit { message });
        }
        Ok(uids)
    }

    /// The values of `val(name)`, by node.
    fn values(&self, name: &str) -> Result<NodeValues<'_>> {
        Ok(match self.get(name)? {
            Binding::Constant(value) => NodeValues::Constant(value),
            Binding::Values(values) => NodeValues::Sorted(values, 0),
            Binding::Uids(_) => NodeValues::Sorted(&[], 0),
        })
    }

    /// The statements of a mutation without variables. A `uid(v)` of a set becomes a new node if
    /// `v` is empty. `capacity` limits the number of statements; `charge` gets their memory before
    /// they are made.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for an unbound variable, [`Error::Limit`] for too many statements; those of
    /// `charge`.
    pub fn resolve<'a>(
        &self,
        mutation: Mutation<'a>,
        capacity: &mut usize,
        charge: Charge<'_>,
    ) -> Result<Mutation<'a>> {
        let Mutation { sets, deletes } = mutation;
        let deletes = self.resolve_quads(deletes, false, capacity, charge)?;
        Ok(Mutation { sets: self.resolve_quads(sets, true, capacity, charge)?, deletes })
    }

    fn resolve_quads<'a>(
        &self,
        quads: Vec<NQuad<'a>>,
        is_set: bool,
        capacity: &mut usize,
        charge: Charge<'_>,
    ) -> Result<Vec<NQuad<'a>>> {
        let resolved = match quads.iter().any(has_variable) {
            false => quads,
            true => {
                let mut resolved = Vec::with_capacity(quads.len());
                for quad in quads {
                    match has_variable(&quad) {
                        true => self.expand(&quad, is_set, (*capacity, charge), &mut resolved)?,
                        false => resolved.push(quad),
                    }
                }
                resolved
            }
        };
        match capacity.checked_sub(resolved.len()) {
            Some(rest) => *capacity = rest,
            None => return Err(too_many(STATEMENTS_MAX - *capacity + resolved.len())),
        }
        Ok(resolved)
    }

    /// Adds the expansion of a statement with variables.
    fn expand<'a>(
        &self,
        quad: &NQuad<'a>,
        is_set: bool,
        (capacity, charge): (usize, Charge<'_>),
        out: &mut Vec<NQuad<'a>>,
    ) -> Result<()> {
        let subjects = self.nodes(quad.subject, is_set)?;
        let each = statement_bytes(quad);
        if let Object::Val(name) = quad.object {
            if capacity < out.len() {
                return Err(too_many(STATEMENTS_MAX - capacity + out.len()));
            }
            let mut values = self.values(name)?;
            let count = values.most().min(subjects.len());
            charge(count * each)?;
            out.reserve(count);
            for subject in subjects {
                if let Some(value) = values.of(subject) {
                    charge(value.heap_size())?;
                    let object = Object::Value(value.clone());
                    out.push(NQuad { subject, object, ..quad.clone() });
                }
            }
            return Ok(());
        }
        let objects = match target(&quad.object) {
            Some(node) => self.nodes(node, is_set)?.into_iter().map(Object::from).collect(),
            None => vec![quad.object.clone()],
        };
        let count = out.len() + subjects.len().saturating_mul(objects.len());
        if capacity < count {
            return Err(too_many(STATEMENTS_MAX - capacity + count));
        }
        // The vector may be copied to get the memory for them.
        charge(2 * (count - out.len()) * each)?;
        out.reserve(count - out.len());
        for subject in subjects {
            let each = objects.iter().cloned();
            out.extend(each.map(|object| NQuad { subject, object, ..quad.clone() }));
        }
        Ok(())
    }

    /// The nodes of a subject. An empty variable gives a new node for a set and none for a delete.
    fn nodes<'a>(&self, subject: Subject<'a>, is_set: bool) -> Result<Vec<Subject<'a>>> {
        let Subject::Var(name) = subject else { return Ok(vec![subject]) };
        let uids = self.uids(name)?;
        if uids.is_empty() && is_set {
            return Ok(vec![subject]);
        }
        Ok(uids.into_iter().map(|uid| Subject::Uid(uid.0)).collect())
    }
}

/// The values of a variable.
enum NodeValues<'b> {
    /// The same value at each node.
    Constant(&'b Value),
    /// Values in ascending order of the nodes, and the index of the one that is probably next.
    Sorted(&'b [(Uid, Value)], usize),
}

impl<'b> NodeValues<'b> {
    /// The number of nodes that have a value, at most.
    fn most(&self) -> usize {
        match self {
            NodeValues::Constant(_) => usize::MAX,
            NodeValues::Sorted(values, _) => values.len(),
        }
    }

    /// The value at a node; new nodes have none of their own. O(1) if the nodes come in the order
    /// of the values.
    fn of(&mut self, node: Subject<'_>) -> Option<&'b Value> {
        let (values, next, uid) = match (self, node) {
            (NodeValues::Constant(value), _) => return Some(value),
            (NodeValues::Sorted(values, next), Subject::Uid(uid)) => (values, next, Uid(uid)),
            _ => return None,
        };
        if values.get(*next).is_none_or(|(other, _)| *other != uid) {
            *next = values.binary_search_by_key(&uid, |(other, _)| *other).ok()?;
        }
        let (_, value) = &values[*next];
        *next += 1;
        Some(value)
    }
}

/// The bytes of a copy of a statement.
fn statement_bytes(quad: &NQuad<'_>) -> usize {
    let own = match &quad.object {
        Object::Value(value) => value.heap_size(),
        Object::Literal { text: Cow::Owned(text), .. } => text.len(),
        _ => 0,
    };
    let facets =
        quad.facets.iter().map(|(_, value)| size_of::<(&str, Value)>() + value.heap_size());
    size_of::<NQuad<'_>>() + own + facets.sum::<usize>()
}

fn has_variable(quad: &NQuad<'_>) -> bool {
    matches!(quad.subject, Subject::Var(_))
        || matches!(quad.object, Object::Var(_) | Object::Val(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hexgraph_base::formats::parse_text;

    fn bindings() -> Bindings {
        let mut bindings = Bindings::default();
        bindings.bind("none", Binding::Uids(Vec::new()));
        bindings.bind("two", Binding::Uids(vec![Uid(1), Uid(2)]));
        bindings
            .bind("age", Binding::Values(vec![(Uid(2), Value::Int(7)), (Uid(3), Value::Int(8))]));
        bindings.bind("sum", Binding::Constant(Value::Int(15)));
        bindings
    }

    fn resolved(set: &str, delete: &str) -> Result<(Vec<String>, Vec<String>)> {
        let mutation = Mutation { sets: parse_text(set)?, deletes: parse_text(delete)? };
        let Mutation { sets, deletes } =
            bindings().resolve(mutation, &mut { STATEMENTS_MAX }, &|_| Ok(()))?;
        let shown = |quads: &[NQuad<'_>]| {
            quads.iter().map(|quad| format!("{:?} {:?}", quad.subject, quad.object)).collect()
        };
        Ok((shown(&sets), shown(&deletes)))
    }

    #[test]
    fn variables_become_nodes_and_values() {
        #[rustfmt::skip]
        let cases: [(&str, &[&str], &[&str]); 8] = [
            ("uid(two) <p> \"x\" .", &["Uid(1) Literal", "Uid(2) Literal"], &["Uid(1) Literal", "Uid(2) Literal"]),
            ("uid(two) <p> uid(age) .", &["Uid(1) Uid(2)", "Uid(1) Uid(3)", "Uid(2) Uid(2)", "Uid(2) Uid(3)"],
                &["Uid(1) Uid(2)", "Uid(1) Uid(3)", "Uid(2) Uid(2)", "Uid(2) Uid(3)"]),
            ("uid(none) <p> uid(two) .", &["Var(\"none\") Uid(1)", "Var(\"none\") Uid(2)"], &[]),
            ("<9> <p> uid(none) .", &["Uid(9) Var(\"none\")"], &[]),
            ("uid(age) <p> val(age) .", &["Uid(2) Value(Int(7))", "Uid(3) Value(Int(8))"],
                &["Uid(2) Value(Int(7))", "Uid(3) Value(Int(8))"]),
            ("uid(two) <p> val(age) .", &["Uid(2) Value(Int(7))"], &["Uid(2) Value(Int(7))"]),
            ("uid(none) <p> val(sum) .", &["Var(\"none\") Value(Int(15))"], &[]),
            ("<9> <p> val(two) .", &[], &[]),
        ];
        for (line, sets, deletes) in cases {
            let (set, delete) = resolved(line, line).unwrap();
            let agree = |have: &[String], want: &[&str]| {
                have.len() == want.len()
                    && have.iter().zip(want).all(|(have, want)| have.starts_with(want))
            };
            assert!(agree(&set, sets) && agree(&delete, deletes), "{line}: {set:?} {delete:?}");
        }
        let error = resolved("<1> <p> val(missing) .", "").unwrap_err().to_string();
        assert_eq!(error, "variable `missing` is used without a query that defines it");
    }

    #[test]
    fn products_are_bounded() {
        let mut bindings = Bindings::default();
        bindings.bind("v", Binding::Uids((1..2_000).map(Uid).collect()));
        let sets = parse_text("uid(v) <p> uid(v) .").unwrap();
        let mutation = Mutation { sets, deletes: Vec::new() };
        let free: Charge<'_> = &|_| Ok(());
        let error = bindings.resolve(mutation, &mut { STATEMENTS_MAX }, free).unwrap_err();
        assert!(
            matches!(&error, Error::Limit { message }
            if message.contains("3996001 statements")),
            "{error}"
        );
    }

    #[test]
    fn products_are_charged_before_they_are_made() {
        let mut bindings = Bindings::default();
        bindings.bind("v", Binding::Uids((1..=900).map(Uid).collect()));
        let charged = std::cell::Cell::new(0);
        let refuse = |bytes: usize| {
            charged.set(charged.get() + bytes);
            Err(Error::Limit { message: "no".to_owned() })
        };
        let sets = parse_text("uid(v) <p> uid(v) .").unwrap();
        let mutation = Mutation { sets, deletes: Vec::new() };
        let error = bindings.resolve(mutation, &mut { STATEMENTS_MAX }, &refuse).unwrap_err();
        assert!(matches!(&error, Error::Limit { message } if message == "no"), "{error}");
        assert!(810_000 * size_of::<NQuad<'_>>() <= charged.get(), "{}", charged.get());
    }
}
