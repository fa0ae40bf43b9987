//! What was recorded of Dgraph, for the tests that read it: nothing, and a word about it,
//! where it is not there.

use crate::sdl::Settings;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// The folder of GraphQL records.
pub(super) fn folder() -> Option<PathBuf> {
    let shared = std::env::var_os("HEXGRAPH_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        PathBuf::from,
    );
    let folder = shared.join("conformance/graphql");
    if !folder.is_dir() {
        println!("skipped: {} is not there", folder.display());
        return None;
    }
    Some(folder)
}

/// The lines of a file of records.
pub(super) fn records(name: &str) -> Vec<Value> {
    let Some(folder) = folder() else { return Vec::new() };
    let text = fs::read_to_string(folder.join(name)).expect("the records are text");
    text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

/// The settings of the recorded server: one with a lambda server.
pub(super) fn settings() -> Settings {
    let lambda_url = Some("http://localhost:8086/graphql-worker".to_owned());
    Settings { lambda_url, ..Settings::default() }
}
