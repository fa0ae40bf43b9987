//! Operations whose translation into DQL is recorded: executed by GraphQL and by that DQL, over
//! data of our own, they find and leave the same.

mod record;
mod pools;
mod world;
mod shape;
mod answers;
mod queries;
mod graph;
mod scene;
mod mutations;
mod rules;
mod payloads;
mod errors;
