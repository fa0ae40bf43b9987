//! The compact graph: nodes numbered from 0 on, their edges as compressed sparse rows, out and in.

pub(super) mod numbering;
pub(super) mod weights;
mod overlay;
pub(super) mod rows;
mod scaled;
mod transpose;
pub(super) mod graph;
mod pages;
mod source;
pub(super) mod make;
pub(super) mod patch;
pub(super) mod arrays;
