//! Who may ask what.

pub(super) mod keys;
pub(super) mod origins;
pub(super) mod security;
pub(super) mod switches;
