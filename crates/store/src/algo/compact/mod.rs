//! The compact graph: nodes numbered from 0 on, their edges as compressed sparse rows, out and in.

pub(super) mod numbering;
pub(super) mod rows;
pub(super) mod graph;
pub(super) mod make;
