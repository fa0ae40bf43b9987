//! Databases on files that fail, and on disks that lose what was not synced.

mod beside;
mod columns;
mod damage;
mod deleting;
mod durability;
mod folding;
mod failing_files;
mod grammar;
mod keys;
mod little_loads;
mod losses;
mod namespaces;
mod power_loss;
mod simulated;

use super::{OpenOptions, Thresholds};

/// Options whose graphs fold, replay and forget conflicts after a handful of commits.
fn small() -> OpenOptions {
    OpenOptions { thresholds: Thresholds::small(), ..OpenOptions::default() }
}
