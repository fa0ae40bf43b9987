//! Mutations, changes of the schema, loads, transactions, upserts.

pub(super) mod mutate;
pub(super) mod alter;
pub(super) mod detach;
pub(super) mod load;
pub(super) mod input;
pub(super) mod quads;
pub(super) mod txn;
pub(super) mod open_txn;
pub(super) mod transactions;
pub(super) mod upsert;
mod commit_work;
mod reading;
