//! Databases on files that fail, and on disks that lose what was not synced.

mod damage;
mod durability;
mod failing_files;
mod power_loss;
mod simulated;
