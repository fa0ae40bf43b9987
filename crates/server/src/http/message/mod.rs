//! Requests as they come in, and what is sent back.

pub(super) mod request_error;
pub(super) mod coding;
pub(super) mod incoming;
pub(super) mod reply;
pub(super) mod stream_slots;
pub(super) mod streamed_answer;
pub(super) mod json_lines;
