//! Fields that other servers answer.

pub(super) mod gather;
pub(super) mod send;
pub(super) mod reach;
pub(super) mod custom;
