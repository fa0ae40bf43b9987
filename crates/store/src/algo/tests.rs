//! Algorithms against plain definitions, on random graphs with all special cases: loops, parallel
//! edges of two predicates, weights of 0 and missing ones, nodes without edges, unconnected parts,
//! and uncompacted changes.

mod case;
mod kernels;
mod groups;
mod graphs;
mod patches;
mod parts;
mod paths;
mod limits;
mod graphalytics;
mod memory;
