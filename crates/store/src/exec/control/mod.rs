//! What a request may use, when it has to stop, and what every step of it shares.

pub(super) mod limits;
pub(super) mod options;
pub(super) mod stop;
pub(super) mod trace;
pub(super) mod passwords;
pub(super) mod tree;
pub(super) mod context;
pub(super) mod steps;
