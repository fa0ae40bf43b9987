//! Databases on files that fail, and on disks that lose what was not synced.

mod concurrent;
mod cypher_algorithms;
mod columns;
mod damage;
mod deleting;
mod durability;
mod compaction;
mod failing_files;
mod grammar;
mod keys;
mod small_loads;
mod losses;
mod namespaces;
mod power_loss;
mod simulated;

use super::{OpenOptions, Thresholds};

/// Options whose graphs compact, replay and forget conflicts after a handful of commits.
fn small() -> OpenOptions {
    OpenOptions { thresholds: Thresholds::small(), ..OpenOptions::default() }
}
