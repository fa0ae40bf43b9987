//! GraphQL: the schema language, and what is made from it.

pub mod syntax;
pub mod model;
pub mod sdl;
