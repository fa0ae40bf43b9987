//! The paths of a `shortest` block: by fewest edges, by least weight, and several in ascending
//! weight.

mod ordered;
mod back;
mod path_edges;
mod breadth;
mod front;
mod lightest;
mod root_paths;
mod ties;
mod deviation;
mod several;
mod shortest;
