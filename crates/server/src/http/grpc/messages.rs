//! The messages of `api.proto`, as the build makes them of it.

#![allow(
    clippy::enum_variant_names,
    dead_code,
    unreachable_pub,
    reason = "they are generated, those of methods that there are not among them"
)]

include!(concat!(env!("OUT_DIR"), "/api.rs"));
