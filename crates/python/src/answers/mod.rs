//! What comes back from a request.

mod cached;
pub(super) mod result;
pub(super) mod pages;
pub(super) mod each;
pub(super) mod explanation;
pub(super) mod subscription;
pub(super) mod keys;
