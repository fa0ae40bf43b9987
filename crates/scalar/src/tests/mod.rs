//! Properties of all values, and what several modules do together.

mod samples;
mod rows;
