//! Algorithms against plain definitions, on random graphs that have what graphs can have: loops,
//! parallel edges of two predicates, weights of 0 and missing ones, nodes without edges, parts that
//! nothing joins, and changes that are not folded into the columns.

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
