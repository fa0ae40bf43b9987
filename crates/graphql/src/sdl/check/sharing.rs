//! Checks predicates that several fields use by `@dgraph(pred:)`: the fields must agree on what is
//! stored.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::sdl::source::draft::{Draft, dgraph_type, predicate_text, secret_of};
use crate::sdl::source::raw::{RawField, RawKind, RawType};
use crate::syntax::{GraphqlError, Position};

/// A field, or a password, that uses a predicate.
struct User {
    type_name: String,
    field: String,
    /// The name of the type of the values, in brackets for a list. Whether null is allowed does not
    /// matter to the store.
    ty: String,
    /// Where the fault of the field points.
    position: Option<Position>,
    /// The field has `@id`.
    unique: bool,
    /// A password uses the predicate.
    secret: bool,
}

/// The predicates that were seen so far.
struct Sharing<'a> {
    draft: &'a Draft<'a>,
    /// The first user of each predicate.
    users: HashMap<String, User>,
    /// The predicates that each interface declares, by the name of the interface.
    of_interfaces: HashMap<&'a str, HashSet<String>>,
}

/// Checks all interfaces first, then the types that may implement them, both in the order of the
/// text, in which the faults come. O(fields), and the pairs of interfaces of each type. The
/// messages are those of Dgraph.
pub(in crate::sdl) fn check(draft: &Draft<'_>, faults: &mut Vec<GraphqlError>) {
    let mut sharing = Sharing { draft, users: HashMap::new(), of_interfaces: HashMap::new() };
    for kind in [RawKind::Interface, RawKind::Object] {
        for def in draft.types().iter().filter(|def| def.kind == kind) {
            sharing.check(def, faults);
        }
    }
}

impl<'a> Sharing<'a> {
    fn check(&mut self, def: &'a RawType, faults: &mut Vec<GraphqlError>) {
        if def.kind == RawKind::Object {
            self.interfaces(def, faults);
        }
        let prefix = dgraph_type(def);
        for field in def.fields.iter().filter(|field| !field.is_id()) {
            // A field of an interface is checked with the interface.
            if self.draft.parent_interface(field).is_some() {
                continue;
            }
            // Edges that are read backwards, `~p` or `<~p>`, store nothing of their own.
            let predicate = predicate_text(field, &prefix);
            if def.kind == RawKind::Interface {
                self.of_interfaces.entry(&def.name).or_default().insert(predicate.clone());
            }
            if !predicate.starts_with('~') && !predicate.starts_with("<~") {
                self.field(def, field, predicate, faults);
            }
        }
        self.secret(def, faults);
    }

    /// Refuses two interfaces of one type that declare the same predicate.
    fn interfaces(&self, def: &RawType, faults: &mut Vec<GraphqlError>) {
        let mut shared: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (index, first) in def.interfaces.iter().enumerate() {
            let Some(predicates) = self.of_interfaces.get(first.as_str()) else { continue };
            for second in &def.interfaces[index + 1..] {
                let others = self.of_interfaces.get(second.as_str());
                for predicate in others.into_iter().flatten() {
                    if predicates.contains(predicate) {
                        let names = shared.entry(predicate).or_insert_with(|| vec![first.as_str()]);
                        names.push(second);
                    }
                }
            }
        }
        faults.extend(shared.into_iter().map(|(predicate, names)| {
            let message = format!(
                "Type {}; implements interfaces [{}], all of which have fields with @dgraph \
                 predicate: {predicate}. These fields must use different Dgraph predicates.",
                def.name,
                names.join(" ")
            );
            GraphqlError::at(def.position, message)
        }));
    }

    /// Checks that a field agrees with the first user of its predicate.
    fn field(
        &mut self,
        def: &RawType,
        field: &RawField,
        predicate: String,
        faults: &mut Vec<GraphqlError>,
    ) {
        let name = field.ty.name();
        let user = User {
            type_name: def.name.clone(),
            field: field.name.clone(),
            ty: if field.ty.is_list() { format!("[{name}]") } else { name.to_owned() },
            position: field.position,
            unique: field.has("id"),
            secret: false,
        };
        let Some(first) = self.users.get(&predicate) else {
            self.users.insert(predicate, user);
            return;
        };
        // The first user stays the one to compare with, so that each conflict is reported once.
        if first.secret {
            faults.push(secret_conflict(first, &user));
        } else if first.ty != user.ty {
            faults.push(user.fault(format!(
                "has type {}, which is different to type {}; field {}, which has the same @dgraph \
                 directive but type {}. These fields must have either the same GraphQL types, or \
                 use different Dgraph predicates.",
                user.ty, first.type_name, first.field, first.ty
            )));
        }
        if first.unique != user.unique {
            let (with, without) = if first.unique { (first, &user) } else { (&user, first) };
            faults.push(without.fault(format!(
                "doesn't have @id directive, which conflicts with type {}; field {}, which has the \
                 same @dgraph directive along with @id directive. Both these fields must either use \
                 @id directive, or use different Dgraph predicates.",
                with.type_name, with.field
            )));
        }
        faults.extend(own_interface(def, first, &user));
    }

    /// Checks that the predicate of a password is used by nothing but passwords. Only a password
    /// with `pred:` is checked, and one that an interface declares is checked with the interface.
    fn secret(&mut self, def: &RawType, faults: &mut Vec<GraphqlError>) {
        let Some((field, Some(predicate))) = secret_of(def) else { return };
        if self.draft.password_interface(def, &field).is_some() {
            return;
        }
        let user = User {
            type_name: def.name.clone(),
            field,
            ty: "String".to_owned(),
            position: def.directive("secret").and_then(|secret| secret.position),
            unique: false,
            secret: true,
        };
        let Some(first) = self.users.get(&predicate) else {
            self.users.insert(predicate, user);
            return;
        };
        if !first.secret {
            faults.push(secret_conflict(&user, first));
        }
        faults.extend(own_interface(def, first, &user));
    }
}

/// Refuses a type that has a predicate in common with an interface that it implements.
fn own_interface(def: &RawType, first: &User, user: &User) -> Option<GraphqlError> {
    let is_own = def.kind == RawKind::Object && def.interfaces.contains(&first.type_name);
    is_own.then(|| {
        user.fault(format!(
            "has the @dgraph directive, which conflicts with interface {}; field {}, that this type \
             implements. These fields must use different Dgraph predicates.",
            first.type_name, first.field
        ))
    })
}

fn secret_conflict(secret: &User, user: &User) -> GraphqlError {
    user.fault(format!(
        "has the @dgraph predicate, but that conflicts with type {} @secret directive on the same \
         predicate. @secret predicates are stored encrypted and so the same predicate can't be used \
         as a {}.",
        secret.type_name, user.ty
    ))
}

impl User {
    fn fault(&self, what: String) -> GraphqlError {
        let message = format!("Type {}; Field {}: {what}", self.type_name, self.field);
        GraphqlError::at(self.position, message)
    }
}
