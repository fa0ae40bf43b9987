//! Requests as they come in.
