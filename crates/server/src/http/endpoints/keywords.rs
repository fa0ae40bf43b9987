//! `GET /ui/keywords`: the words of DQL, which consoles of Dgraph propose while somebody types.

use crate::http::app::App;
use crate::http::message::reply::Reply;
use crate::http::route::Bare;
use hexgraph::db::{KeywordKind, keyword_table};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Answers with the words, each once with the first of its kinds: `condition`, `aggregate`,
/// `math`, `field`, `argument`, `directive`, `type` or `word`. Dgraph has the same keys, with an
/// empty `type`.
pub(in crate::http) fn answer(_: &App, _: &Bare<'_>) -> Reply {
    let mut kinds = BTreeMap::new();
    for word in keyword_table() {
        kinds.entry(word.name).or_insert(word.kind);
    }
    let word = |(name, kind): (String, KeywordKind)| json!({ "type": kind.name(), "name": name });
    let words: Vec<Value> = kinds.into_iter().map(word).collect();
    Reply::json(json!({ "keywords": words }).to_string())
}
