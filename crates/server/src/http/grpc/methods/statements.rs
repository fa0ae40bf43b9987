//! Statements that come as messages, as the text that mutations are read from.

use super::replies::status;
use crate::http::grpc::messages::facet::ValType;
use crate::http::grpc::messages::value::Val;
use crate::http::grpc::messages::{Facet, NQuad};
use crate::http::grpc::status::{Code, Status};
use hexgraph::db::{QuadObject, QuadParts, QuadText};
use hexgraph_base::types::{BigFloat, DateTime, Geometry, Uid, Value};

/// What represents all in messages.
const STAR: &str = "_STAR_ALL";

/// Returns the statements as N-Quads, one a line. Costs their length.
///
/// # Errors
///
/// [`Code::InvalidArgument`] with the number of the statement, for values that their bytes do not
/// hold; as [`QuadText::push`].
pub(super) fn text_of(quads: &[NQuad]) -> Result<String, Status> {
    let mut text = QuadText::default();
    for (index, quad) in quads.iter().enumerate() {
        push(quad, &mut text).map_err(|why| match why {
            Wrong::Report(status) => status,
            Wrong::Value(what) => {
                let message = format!("statement {}: {what}", index + 1);
                Status::new(Code::InvalidArgument, message)
            }
        })?;
    }
    Ok(text.into_text())
}

/// Why a message is no statement.
enum Wrong {
    Report(Status),
    Value(String),
}

/// What is on the other side of a statement.
enum Other {
    Node(String),
    Value(Value),
    Star,
}

fn push(quad: &NQuad, text: &mut QuadText) -> Result<(), Wrong> {
    let other = other(quad)?;
    let object = match &other {
        Other::Node(name) => QuadObject::Node(name),
        Other::Value(value) => QuadObject::Value(value.as_ref()),
        Other::Star => QuadObject::Star,
    };
    let facets = quad.facets.iter().map(facet_value).collect::<Result<Vec<Value>, Wrong>>()?;
    let facets = quad.facets.iter().zip(&facets);
    let facets: Vec<_> =
        facets.map(|(facet, value)| (facet.key.as_str(), value.as_ref())).collect();
    let star = |name| if name == STAR { "*" } else { name };
    let parts = QuadParts {
        subject: star(&quad.subject),
        predicate: star(&quad.predicate),
        object,
        lang: &quad.lang,
        facets: &facets,
    };
    text.push(&parts).map_err(|error| Wrong::Report(status(error)))
}

fn other(quad: &NQuad) -> Result<Other, Wrong> {
    let value = quad.object_value.as_ref().and_then(|value| value.val.as_ref());
    match (value, quad.object_id.as_str()) {
        (_, STAR) => Ok(Other::Star),
        (None, "") => Err(Wrong::Value("it has neither object_id nor object_value".to_owned())),
        (None, node) => Ok(Other::Node(node.to_owned())),
        (Some(Val::DefaultVal(text)), _) if text == STAR => Ok(Other::Star),
        (Some(Val::UidVal(uid)), _) => Ok(Other::Node(Uid(*uid).to_string())),
        (Some(value), _) => stored(value).map(Other::Value).map_err(Wrong::Value),
    }
}

/// The value of a message.
fn stored(value: &Val) -> Result<Value, String> {
    let text = |bytes: &[u8], what: &str| {
        str::from_utf8(bytes).map(str::to_owned).map_err(|error| format!("{what}: {error}"))
    };
    Ok(match value {
        Val::DefaultVal(text) => Value::Default(text.clone()),
        Val::BytesVal(bytes) => Value::Default(text(bytes, "bytes_val is no text")?),
        Val::IntVal(number) => Value::Int(*number),
        Val::BoolVal(truth) => Value::Bool(*truth),
        Val::StrVal(text) => Value::String(text.clone()),
        Val::DoubleVal(number) => Value::Float(*number),
        Val::GeoVal(bytes) => {
            let position = Geometry::from_wkb(bytes);
            Value::Geo(position.map_err(|error| format!("geo_val: {error}"))?.to_text())
        }
        Val::DateVal(bytes) | Val::DatetimeVal(bytes) => {
            let time = DateTime::from_binary(bytes);
            Value::DateTime(time.map_err(|error| format!("datetime_val: {error}"))?)
        }
        Val::PasswordVal(hash) => {
            Value::hashed_password(hash).map_err(|error| format!("password_val: {error}"))?
        }
        Val::UidVal(uid) => Value::Default(Uid(*uid).to_string()),
        Val::BigfloatVal(bytes) => {
            let digits = text(bytes, "bigfloat_val is no text")?;
            let number = BigFloat::parse(&digits);
            Value::BigFloat(number.map_err(|error| format!("bigfloat_val: {error}"))?)
        }
        Val::Vfloat32Val(bytes) => {
            let (floats, rest) = bytes.as_chunks::<4>();
            if !rest.is_empty() {
                let count = bytes.len();
                return Err(format!("vfloat32_val has {count} bytes, no multiple of 4"));
            }
            Value::Vector(floats.iter().map(|float| f32::from_le_bytes(*float)).collect())
        }
    })
}

/// The value of a facet: in binary by its type, or else a text.
fn facet_value(facet: &Facet) -> Result<Value, Wrong> {
    let bytes = &facet.value[..];
    let number = <[u8; 8]>::try_from(bytes).ok();
    let binary = match ValType::try_from(facet.val_type) {
        Ok(ValType::String) => None,
        Ok(ValType::Int) => number.map(|it| Value::Int(i64::from_le_bytes(it))),
        Ok(ValType::Float) => number.map(|it| Value::Float(f64::from_le_bytes(it))),
        Ok(ValType::Bool) => match bytes {
            [0] => Some(Value::Bool(false)),
            [1] => Some(Value::Bool(true)),
            _ => None,
        },
        Ok(ValType::Datetime) => DateTime::from_binary(bytes).ok().map(Value::DateTime),
        Err(_) => {
            let (key, kind) = (&facet.key, facet.val_type);
            return Err(Wrong::Value(format!("the type of facet `{key}` is {kind}, of 0 to 4")));
        }
    };
    if let Some(value) = binary {
        return Ok(value);
    }
    let key = &facet.key;
    let text = str::from_utf8(bytes)
        .map_err(|error| Wrong::Value(format!("the value of facet `{key}` is no text: {error}")))?;
    let expected = match facet.val_type() {
        ValType::String => return Ok(Value::String(text.to_owned())),
        ValType::Int => hexgraph_base::types::ValueType::Int,
        ValType::Float => hexgraph_base::types::ValueType::Float,
        ValType::Bool => hexgraph_base::types::ValueType::Bool,
        ValType::Datetime => hexgraph_base::types::ValueType::DateTime,
    };
    Value::parse(text, expected)
        .map_err(|error| Wrong::Value(format!("the value of facet `{key}`: {error}")))
}
