//! Builds the stored form of a predicate from data in order of arrival.

pub(super) mod value_order;
pub(super) mod node_lists;
pub(super) mod parts;
pub(super) mod edge_order;
pub(super) mod facet_columns;
pub(super) mod replaced_rows;
pub(super) mod stored_form;
pub(super) mod lean;
pub(super) mod renumber;
pub(super) mod without;
pub(super) mod compact;
pub(super) mod compaction;
