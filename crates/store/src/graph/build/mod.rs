//! From data in order of arrival to the stored form of a predicate.

pub(super) mod node_lists;
pub(super) mod parts;
pub(super) mod edge_order;
pub(super) mod stored_form;
pub(super) mod lean;
pub(super) mod renumber;
pub(super) mod compact;
