//! Users with rights: the caller, what that user may see and change, and what a server needs for
//! that.
//!
//! Users, groups and rules are nodes of the graph, in predicates of their own, so they are in logs,
//! snapshots and backups as all data is; exports leave them out. A [`Database`](super::Database)
//! handle may belong to a caller. Then all that is read through it is read from versions that have
//! only what the groups of the caller may read, and all that is changed through it is checked
//! before; no other layer has to check. A handle without a caller, as a program has it that opens
//! the database itself, may do everything.

mod access_list;
mod caller;
mod check;
mod definitions;
mod first_user;
mod key_role;
mod keys;
mod login;
mod people;
mod read;
mod rights;
mod rules;
mod throttle;
mod tokens;

pub(in crate::db) use access_list::AccessList;
pub use access_list::AccessOptions;
pub(in crate::db) use caller::Caller;
pub(in crate::db) use check::Identified;
pub use key_role::KeyRole;
pub use keys::{ApiKey, KEY_PREFIX, KeySecret, NewKey, random_hex};
pub use login::{LoginRequest, Tokens};
pub(in crate::db) use people::{NewGroup, NewUser, People};
pub use tokens::SigningMethod;

/// The first user, who is there before there are others.
pub const FIRST_USER: &str = "groot";

/// The password of the first user, unless another one is set before the first start.
pub const DEFAULT_PASSWORD: &str = "password";

/// The group whose members may do everything.
pub const GUARDIANS: &str = "guardians";
