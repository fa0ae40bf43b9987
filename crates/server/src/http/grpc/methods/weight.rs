//! How much memory the message of a call takes once it is decoded.
//!
//! An empty statement is two bytes of a message and 168 in memory, so what a message holds is
//! counted before it is decoded, and reserved from the budget.

use crate::http::grpc::messages::{Facet, Mutation, NQuad};
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

/// A field that holds messages: its number, the bytes that each takes, and their own fields.
struct Nested {
    field: u32,
    bytes: usize,
    inside: &'static [Nested],
}

/// A list may have twice the needed capacity, and is copied while it grows.
const GROWTH: usize = 3;

const FACET: &[Nested] = &[Nested { field: 4, bytes: size_of::<String>(), inside: &[] }];
const QUAD: &[Nested] = &[Nested { field: 7, bytes: size_of::<Facet>(), inside: FACET }];
const MUTATION: &[Nested] = &[
    Nested { field: 5, bytes: size_of::<NQuad>(), inside: QUAD },
    Nested { field: 6, bytes: size_of::<NQuad>(), inside: QUAD },
];
/// A variable is an entry of a map, with its two texts.
const VARIABLE: usize = 2 * size_of::<String>() + 16;
const REQUEST: &[Nested] = &[
    Nested { field: 5, bytes: VARIABLE, inside: &[] },
    Nested { field: 12, bytes: size_of::<Mutation>(), inside: MUTATION },
];

const RUN_DQL: &[Nested] = &[Nested { field: 2, bytes: VARIABLE, inside: &[] }];
/// Conflict keys and predicates.
const TXN_CONTEXT: &[Nested] = &[
    Nested { field: 4, bytes: size_of::<String>(), inside: &[] },
    Nested { field: 5, bytes: size_of::<String>(), inside: &[] },
];

/// The bytes of a decoded message in addition to its own. Reads the heads of its fields: costs
/// their number. Messages of the other calls have no lists, or are short.
pub(in crate::http::grpc) fn message_weight(path: &str, message: &[u8]) -> u64 {
    let nested = match path {
        "/api.Dgraph/Query" => REQUEST,
        "/api.Dgraph/RunDQL" => RUN_DQL,
        "/api.Dgraph/CommitOrAbort" => TXN_CONTEXT,
        _ => return 0,
    };
    weight(message, nested) as u64
}

/// The count stops at invalid data, like decoding.
fn weight(message: &[u8], nested: &[Nested]) -> usize {
    let (mut rest, mut sum) = (message, 0_usize);
    while !rest.is_empty() {
        let Ok((field, wire)) = decode_key(&mut rest) else { break };
        let existing = nested.iter().find(|existing| existing.field == field);
        if wire != WireType::LengthDelimited {
            if skip_field(wire, field, &mut rest, DecodeContext::default()).is_err() {
                break;
            }
            continue;
        }
        let Ok(length) = decode_varint(&mut rest) else { break };
        let Some((inside, after)) =
            usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length))
        else {
            break;
        };
        if let Some(existing) = existing {
            let own = GROWTH * existing.bytes;
            sum = sum.saturating_add(own).saturating_add(weight(inside, existing.inside));
        }
        rest = after;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::grpc::messages::{Facet, Request, RunDqlRequest, TxnContext};
    use prost::Message;

    const QUERY: &str = "/api.Dgraph/Query";

    #[test]
    fn all_that_is_nested_is_counted() {
        let facet = Facet { tokens: vec!["t".to_owned()], ..Facet::default() };
        let quad = NQuad { facets: vec![facet.clone(), facet], ..NQuad::default() };
        let mutation =
            Mutation { set: vec![quad.clone(); 5], del: vec![quad], ..Mutation::default() };
        let vars = [("$a".to_owned(), "1".to_owned())].into();
        let request = Request {
            query: "{ q }".to_owned(),
            vars,
            mutations: vec![mutation; 3],
            commit_now: true,
            ..Request::default()
        };
        let quads = 18 * (size_of::<NQuad>() + 2 * (size_of::<Facet>() + size_of::<String>()));
        let want = GROWTH * (VARIABLE + 3 * size_of::<Mutation>() + quads);
        let bytes = request.encode_to_vec();
        assert_eq!(message_weight(QUERY, &bytes), want as u64);
        // Truncated messages are counted up to their end.
        for end in 0..bytes.len() {
            assert!(message_weight(QUERY, &bytes[..end]) <= want as u64);
        }
    }

    #[test]
    fn two_bytes_are_no_more_than_two() {
        // A million empty statements in one mutation.
        let quads = [0x2a, 0].repeat(1_000_000);
        let mut bytes = vec![0x62];
        prost::encoding::encode_varint(quads.len() as u64, &mut bytes);
        bytes.extend(quads);
        assert!(100_000_000 < message_weight(QUERY, &bytes));
    }

    #[test]
    fn every_call_that_has_a_list_is_weighed() {
        let vars = [("$a".to_owned(), "1".to_owned())].into();
        let requested = RunDqlRequest { vars, ..RunDqlRequest::default() };
        let (keys, preds) = (vec!["k".to_owned(); 3], vec!["p".to_owned(); 2]);
        let ended = TxnContext { start_ts: 1, keys, preds, ..TxnContext::default() };
        for (path, bytes, want) in [
            ("/api.Dgraph/RunDQL", requested.encode_to_vec(), VARIABLE),
            ("/api.Dgraph/CommitOrAbort", ended.encode_to_vec(), 5 * size_of::<String>()),
        ] {
            assert_eq!(message_weight(path, &bytes), (GROWTH * want) as u64, "{path}");
        }
    }
}
