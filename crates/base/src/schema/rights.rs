//! Decides who may change the data of a predicate. Reading is not checked here, and changes of
//! definitions are checked by [`Schema::check_change`].
//!
//! All changes of data call these functions: mutations, upserts and transactions, loads of files
//! and tables, and GraphQL's mutations.

use super::definition::is_reserved;
use crate::schema::Schema;

/// The originator of a change of data.
#[derive(Clone, Copy)]
pub enum Actor<'a> {
    /// The engine itself, which stores its own settings as data.
    Engine,
    /// A user of the database: a program, a request, a file that is loaded.
    Client,
    /// A user who may change only some predicates: those for which the function says so. Other
    /// predicates that the user names were refused before; they are left out of the deletion of all
    /// that a node has.
    User(&'a dyn Fn(&str) -> bool),
}

/// Why an actor may not change the data of a predicate. The messages are those of Dgraph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RightsError {
    /// The predicate holds settings of the engine itself.
    #[error("Cannot mutate graphql reserved predicate {name}")]
    Reserved {
        /// The predicate.
        name: String,
    },
    /// The name is one that a later version of the engine may use, and nothing has declared it.
    #[error(
        "Can't store predicate `{name}` as it is prefixed with `dgraph.` which is reserved as the namespace for dgraph's internal types/predicates."
    )]
    ReservedPrefix {
        /// The predicate.
        name: String,
    },
}

/// The predicate that holds the types of a node. The engine declares it, and every user may change
/// its data.
pub const NODE_TYPE: &str = "dgraph.type";

impl Actor<'_> {
    /// Checks whether data of a predicate may be set and deleted by anybody.
    ///
    /// Only names that begin with `dgraph.`, ignoring case, are refused. Of those the
    /// names that the schema has belong to the engine, except for those of access control, and the
    /// others are retained free. A statement on a refused name is an error, while the deletion of
    /// all that a node has leaves out the predicates that its actor may not change.
    ///
    /// # Errors
    ///
    /// [`RightsError`] when not.
    pub fn check_change(self, name: &str, schema: &Schema) -> Result<(), RightsError> {
        if matches!(self, Actor::Engine) || name == NODE_TYPE || !is_reserved(name) {
            return Ok(());
        }
        match schema.predicates.contains_key(name) {
            // The predicates of access control are declared where it was in use. Without it they
            // are ordinary data.
            true if is_access_control(name) => Ok(()),
            true => Err(RightsError::Reserved { name: name.to_owned() }),
            false => Err(RightsError::ReservedPrefix { name: name.to_owned() }),
        }
    }

    /// Returns true if data of a predicate may be set and deleted by this actor.
    pub fn may_change(self, name: &str, schema: &Schema) -> bool {
        let may = match self {
            Actor::User(may) => may(name),
            Actor::Engine | Actor::Client => true,
        };
        may && self.check_change(name, schema).is_ok()
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
            let message = format!("Cannot mutate graphql reserved predicate {name}");
            assert_eq!(refused.to_string(), message);
            assert!(Actor::Engine.may_change(name, &schema));
        }
        for name in ["dgraph.name", "DGRAPH.Graphql.Schema", "dgraph.xid", "dgraph."] {
            let refused = Actor::Client.check_change(name, &schema).unwrap_err();
            let start = format!("Can't store predicate `{name}`");
            assert!(refused.to_string().starts_with(&start), "{refused}");
        }
        let xid = PredicateDef::new("dgraph.xid", ValueType::String);
        schema.predicates.insert(xid.name.clone(), xid);
        assert_eq!(Actor::Client.check_change("dgraph.xid", &schema), Ok(()));
    }
}
