//! What is as it is because the clients of Dgraph know it so: notations of Go, and the words of its
//! faults.

pub(super) mod go_values;
pub(super) mod go_json;
