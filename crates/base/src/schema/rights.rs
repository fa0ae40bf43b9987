//! Decides who may change the data of a predicate.
//!
//! All changes of data call these functions: mutations, upserts and transactions, loads of files and tables, and GraphQL's mutations.

use super::definition::is_reserved;
use crate::schema::Schema;

/// The originator of a change of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// The engine itself, which stores its own settings as data.
    Engine,
    /// A user of the database: a program, a request, a file that is loaded.
    Client,
}

/// The predicate that holds the types of a node. The engine declares it, and every user may change its data.
pub const NODE_TYPE: &str = "dgraph.type";

impl Actor {
    /// Checks whether data of a predicate may be set and deleted. Rights of single users would be checked here.
    ///
    /// # Errors
    ///
    /// The reason why not, worded as in Dgraph.
    pub fn check_change(self, name: &str, schema: &Schema) -> Result<(), String> {
        if self == Actor::Engine || name == NODE_TYPE || !is_reserved(name) {
            return Ok(());
        }
        match schema.predicates.contains_key(name) {
            // The predicates of access control are declared where it was in use. Without it they are ordinary data.
            true if is_access_control(name) => Ok(()),
            true => Err(format!("Cannot mutate graphql reserved predicate {name}")),
            false => Err(format!(
                "Can't store predicate `{name}` as it is prefixed with `dgraph.` which is reserved as the namespace for dgraph's internal types/predicates."
            )),
        }
    }

    /// Returns true if data of a predicate may be set and deleted.
    pub fn may_change(self, name: &str, schema: &Schema) -> bool {
        self.check_change(name, schema).is_ok()
    }
}

/// Returns true for the predicates that hold the users, groups and rules of access control.
fn is_access_control(name: &str) -> bool {
    const NAMES: [&str; 4] =
        ["dgraph.user.group", "dgraph.xid", "dgraph.password", "dgraph.acl.rule"];
    NAMES.contains(&name) || name.starts_with("dgraph.rule.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::PredicateDef;
    use crate::types::ValueType;

    #[test]
    fn the_engine_alone_changes_its_own() {
        let mut schema = Schema::new();
        for name in ["name", "dgraphcore_355", "dgraph.type", "dgraph"] {
            assert_eq!(Actor::Client.check_change(name, &schema), Ok(()), "{name}");
        }
        let own: Vec<String> = schema.predicates.keys().cloned().collect();
        for name in own.iter().filter(|name| *name != NODE_TYPE) {
            let refused = Actor::Client.check_change(name, &schema).unwrap_err();
            assert_eq!(refused, format!("Cannot mutate graphql reserved predicate {name}"));
            assert!(Actor::Engine.may_change(name, &schema));
        }
        for name in ["dgraph.name", "DGRAPH.Graphql.Schema", "dgraph.xid", "dgraph."] {
            let refused = Actor::Client.check_change(name, &schema).unwrap_err();
            assert!(refused.starts_with(&format!("Can't store predicate `{name}`")), "{refused}");
        }
        let xid = PredicateDef::new("dgraph.xid", ValueType::String);
        schema.predicates.insert(xid.name.clone(), xid);
        assert_eq!(Actor::Client.check_change("dgraph.xid", &schema), Ok(()));
    }
}
