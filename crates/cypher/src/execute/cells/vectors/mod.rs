//! Values of many nodes: cells, typed vectors of them, and what operators compute of these.

pub(super) mod bits;
pub(super) mod cell;
pub(super) mod vector;
pub(super) mod set;
pub(super) mod arithmetic;
pub(super) mod compare;
