//! Fields that other servers answer.

pub(super) mod gather;
pub(super) mod send;
pub(super) mod waves;
pub(super) mod custom;
