//! Mutations: computed, guarded by rules, carried out, told.

pub(super) mod touched;
pub(super) mod links;
pub(super) mod guard;
pub(super) mod stage;
pub(super) mod mutate;
pub(super) mod hooks;
