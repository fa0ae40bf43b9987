//! Mutations, upserts, transactions, and changes of the schema.

pub(super) mod open_txn;
pub(super) mod transactions;
pub(super) mod txn;
pub(super) mod upsert;
mod reading;
pub(super) mod mutate;
pub(super) mod detach;
pub(super) mod alter;
pub(super) mod load;
pub(super) mod input;
pub(super) mod quads;
