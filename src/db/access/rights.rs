//! What the members of a set of groups may do with each predicate.

use super::definitions::PREDICATES;
use super::key_role::KeyRole;
use hexgraph_base::schema::SchemaReport;
use hexgraph_store::graph::View;
use rustc_hash::FxHashMap;
use std::sync::{Arc, LazyLock};

/// The name in a rule that represents all predicates.
const ALL: &str = "dgraph.all";

/// The text of the GraphQL schema, with the secrets and keys in it: it is for administrators alone,
/// unless a rule names it.
const GRAPHQL_SCHEMA: &str = "dgraph.graphql.schema";

/// The predicates of the rules of a group, each with the sum of what is allowed.
pub(super) type Permissions = Vec<(Box<str>, u8)>;

/// What can be done with a predicate. The numbers are those of rules, which hold sums of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::db) enum Right {
    /// Define it, and drop it.
    Alter = 1,
    /// Set and delete its values and edges.
    Write = 2,
    /// See it.
    Read = 4,
}

/// The rights of the members of some groups.
pub(in crate::db) struct Rights {
    is_guardian: bool,
    /// Whether the predicates of access control and [`GRAPHQL_SCHEMA`] are among all.
    has_reserved: bool,
    /// What may be done with all predicates.
    all: u8,
    by_name: FxHashMap<Box<str>, u8>,
    /// What may be read; `None` for everything.
    view: Option<Arc<View>>,
}

impl Rights {
    /// The rights of guardians, who may do everything.
    pub(super) fn of_guardians() -> Rights {
        let by_name = FxHashMap::default();
        Rights { is_guardian: true, has_reserved: true, all: 7, by_name, view: None }
    }

    /// The rights of those with a role below that of an administrator, where users have none of
    /// their own, and of a guardian whose key gives no more: all but what is for administrators
    /// alone. The role itself is requested elsewhere.
    pub(super) fn of_clients() -> Arc<Rights> {
        static RIGHTS: LazyLock<Arc<Rights>> = LazyLock::new(|| {
            let view = View::all_but(PREDICATES.into_iter().chain([GRAPHQL_SCHEMA]));
            let (by_name, view) = (FxHashMap::default(), Some(Arc::new(view)));
            Arc::new(Rights { is_guardian: true, has_reserved: false, all: 7, by_name, view })
        });
        Arc::clone(&RIGHTS)
    }

    /// The rights that the rules of some groups give together to a member with a role.
    pub(super) fn of_groups<'a>(
        groups: impl Iterator<Item = &'a Permissions>,
        role: KeyRole,
    ) -> Rights {
        let is_barred = |name: &str| {
            PREDICATES.contains(&name) || role < KeyRole::Admin && name == GRAPHQL_SCHEMA
        };
        let mut by_name = FxHashMap::<Box<str>, u8>::default();
        for (name, permission) in groups.flatten() {
            // Who administers is guardians' business alone, whatever a rule says.
            if !is_barred(name) {
                *by_name.entry(name.clone()).or_default() |= permission;
            }
        }
        let all = by_name.remove(ALL).unwrap_or_default();
        let read = Right::Read as u8;
        let view = match all & read {
            0 => {
                let readable = by_name.iter().filter(|(_, permission)| *permission & read != 0);
                View::only(readable.map(|(name, _)| name.clone()))
            }
            _ => {
                let is_named = by_name.get(GRAPHQL_SCHEMA).is_some_and(|own| own & read != 0);
                View::all_but(PREDICATES.into_iter().chain((!is_named).then_some(GRAPHQL_SCHEMA)))
            }
        };
        let view = Some(Arc::new(view));
        Rights { is_guardian: false, has_reserved: false, all, by_name, view }
    }

    /// Whether they are those of guardians, or of somebody where there are no users.
    pub(in crate::db) fn is_guardian(&self) -> bool {
        self.is_guardian
    }

    /// What may be read; `None` for everything.
    pub(in crate::db) fn view(&self) -> Option<&Arc<View>> {
        self.view.as_ref()
    }

    /// Whether something may be done with a predicate, be it there or not.
    pub(in crate::db) fn has(&self, right: Right, name: &str) -> bool {
        let is_reserved = PREDICATES.contains(&name) || name == GRAPHQL_SCHEMA;
        let general = if is_reserved && !self.has_reserved { 0 } else { self.all };
        let own = self.by_name.get(name).copied().unwrap_or_default();
        (general | own) & right as u8 != 0
    }

    /// Whether something may be done with any predicate.
    pub(in crate::db) fn has_any(&self, right: Right) -> bool {
        let all = self.by_name.values().fold(self.all, |all, own| all | own);
        all & right as u8 != 0
    }

    /// Takes out of a report the values of predicates that may not be read.
    pub(in crate::db) fn hide_values(&self, report: &mut SchemaReport) {
        for item in report.unread.iter_mut().filter(|item| !self.has(Right::Read, &item.of)) {
            item.what = "some values can't be read as its new type".to_owned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rights(groups: &[&[(&str, u8)]]) -> Rights {
        let own = |group: &&[(&str, u8)]| -> Permissions {
            group.iter().map(|(name, permission)| ((*name).into(), *permission)).collect()
        };
        let groups: Vec<Permissions> = groups.iter().map(own).collect();
        Rights::of_groups(groups.iter(), KeyRole::Admin)
    }

    /// The rights to some predicates as the letters that `ls` has for them.
    fn shown(rights: &Rights, name: &str) -> String {
        let letters = [(Right::Read, 'r'), (Right::Write, 'w'), (Right::Alter, 'x')];
        let has = |(right, letter)| if rights.has(right, name) { letter } else { '-' };
        letters.into_iter().map(has).collect()
    }

    #[test]
    fn groups_add_up() {
        let both = rights(&[&[("name", 4), ("age", 2)], &[("name", 2), ("city", 7)]]);
        let all = ["name", "age", "city", "other"].map(|name| shown(&both, name));
        assert_eq!(all, ["rw-", "-w-", "rwx", "---"]);
        let view = both.view().unwrap();
        assert_eq!(
            ["name", "age", "city", "other"].map(|name| view.shows(name)),
            [true, false, true, false]
        );
        assert_eq!(shown(&rights(&[]), "name"), "---");
    }

    #[test]
    fn all_predicates_are_not_those_of_access_control() {
        let all = rights(&[&[("dgraph.all", 5), ("name", 2), ("dgraph.xid", 7)]]);
        assert_eq!(
            ["name", "other", "dgraph.xid"].map(|name| shown(&all, name)),
            ["rwx", "r-x", "---"]
        );
        let view = all.view().unwrap();
        assert_eq!(
            ["name", "dgraph.type", "dgraph.password"].map(|name| view.shows(name)),
            [true, true, false]
        );
        // The text of the GraphQL schema has secrets in it.
        let named = rights(&[&[("dgraph.all", 4), (GRAPHQL_SCHEMA, 4)]]);
        for (rights, letters) in [(&all, "---"), (&named, "r--")] {
            assert_eq!(shown(rights, GRAPHQL_SCHEMA), letters);
            assert_eq!(rights.view().unwrap().shows(GRAPHQL_SCHEMA), letters == "r--");
        }
        let guardian = Rights::of_guardians();
        assert_eq!(
            (shown(&guardian, "dgraph.xid").as_str(), guardian.view().is_none()),
            ("rwx", true)
        );
    }
    #[test]
    fn clients_have_all_but_what_is_for_administrators() {
        let clients = Rights::of_clients();
        let rules: Permissions = vec![("name".into(), 6), (GRAPHQL_SCHEMA.into(), 4)];
        let member = Rights::of_groups([&rules].into_iter(), KeyRole::Client);
        for (name, by_role, by_rule) in [
            ("name", "rwx", "rw-"),
            ("dgraph.type", "rwx", "---"),
            ("dgraph.graphql.p_query", "rwx", "---"),
            (GRAPHQL_SCHEMA, "---", "---"),
            ("dgraph.acl.rule", "---", "---"),
        ] {
            assert_eq!(
                (shown(&clients, name), shown(&member, name)),
                (by_role.into(), by_rule.into())
            );
            for (rights, letters) in [(&*clients, by_role), (&member, by_rule)] {
                assert_eq!(rights.view().unwrap().shows(name), letters.starts_with('r'), "{name}");
            }
        }
    }
}
