//! Dates, times and durations: their texts and maps, their components, and arithmetic with them.

mod ranges;
mod zones;
mod parse;
mod parse_duration;
mod fields;
mod construct;
mod components;
mod durations;
mod shift;
mod truncate;
mod between;

pub(crate) use between::{Between, between};
pub(crate) use components::component;
pub use components::{instant_component, instant_value};
pub(crate) use construct::{Target, construct, convert_now, from_epoch};
pub(crate) use durations::{add_durations, divide, duration_of_map, multiply};
pub(crate) use parse_duration::parse_duration;
pub(crate) use shift::{Sign, shift};
pub(crate) use truncate::truncate;
