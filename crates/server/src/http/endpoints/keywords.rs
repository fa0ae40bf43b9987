//! `GET /ui/keywords`: the words of DQL, which consoles of Dgraph propose while somebody types.

use crate::http::app::App;
use crate::http::message::reply::Reply;
use crate::http::route::Bare;
use hexgraph::db::keywords;
use serde_json::{Value, json};

/// Answers with the words, each as Dgraph has them.
pub(in crate::http) fn answer(_: &App, _: &Bare<'_>) -> Reply {
    let word = |name: String| json!({ "type": "", "name": name });
    let words: Vec<Value> = keywords().into_iter().map(word).collect();
    Reply::json(json!({ "keywords": words }).to_string())
}
