//! `GET /ui/keywords`: the words of DQL, which consoles of Dgraph propose while somebody types.

use crate::http::app::App;
use crate::http::message::reply::Reply;
use axum::http::HeaderMap;
use serde_json::{Value, json};

/// The functions, directives and arguments of DQL, and what definitions are made of.
const KEYWORDS: &str = "allofterms alloftext anyofterms anyoftext between contains eq ge gt has intersects le len lt match near \
    ngram not or and regexp similar_to type uid uid_in within avg count max min sum val math cond since expand checkpwd _all_ func \
    first offset after orderasc orderdesc as var query fragment upsert mutation set delete schema shortest numpaths from to depth \
    @cascade @facets @filter @groupby @if @ignorereflex @normalize @recurse @count @index @lang @reverse @unique @upsert \
    bool datetime default float float32vector geo int password string";

/// Answers with the words, each as Dgraph has them.
pub(in crate::http) fn answer(_: &App, _: (&HeaderMap, Option<&str>)) -> Reply {
    let word = |name: &str| json!({ "type": "", "name": name });
    let words: Vec<Value> = KEYWORDS.split_whitespace().map(word).collect();
    Reply::json(json!({ "keywords": words }).to_string())
}
