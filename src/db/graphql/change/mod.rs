//! Mutations: computed, guarded by rules, executed, reported.

pub(super) mod touched;
pub(super) mod links;
pub(super) mod rule_guard;
pub(super) mod stage;
pub(super) mod root_mutation;
pub(super) mod hooks;
