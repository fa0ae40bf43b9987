//! What a statement has to fulfil before it is stored.

use crate::index::{IndexKind, TokenKey, check_geometry, index_kinds, tokens_of};
use crate::storage::text_of;
use hexgraph_base::formats::{Object, literal_value};
use hexgraph_base::schema::{Actor, PredicateDef, Schema, Tokenizer};
use hexgraph_base::types::{Geometry, Value, ValueRef, ValueType};

/// The longest name of a predicate, in bytes.
const NAME_LEN_MAX: usize = 65_535;

/// The longest token of an index together with the name of its predicate, in bytes.
const INDEXED_LEN_MAX: usize = 65_000;

/// Checks the name of a predicate that a statement sets or deletes, for whoever makes it.
///
/// # Errors
///
/// The reason why no statement may have it, or none of this one's.
pub(in crate::graph) fn check_name(
    name: &str,
    schema: &Schema,
    actor: Actor,
) -> Result<(), String> {
    if NAME_LEN_MAX < name.len() {
        return Err("the name of a predicate has more than 65535 bytes".to_owned());
    }
    if name.is_empty() || name.contains(['~', '@', ' ']) {
        return Err(format!(
            "`{name}` is no name of a predicate: it is not empty and has no `~`, `@` or blank"
        ));
    }
    if name == "uid" {
        return Err("`uid` can't be the name of a predicate".to_owned());
    }
    actor.check_change(name, schema)
}

/// Checks that a value, or an edge, may stand in a predicate.
///
/// # Errors
///
/// The reason why not.
pub(in crate::graph) fn check_shape(
    def: &PredicateDef,
    lang: &str,
    is_edge: bool,
) -> Result<(), String> {
    if !lang.is_empty() && !def.lang {
        return Err(missing_lang(&def.name));
    }
    match (def.value_type == ValueType::Uid, is_edge) {
        (true, false) => Err(format!(
            "`{}` leads to nodes, and this is a value (write `<0x1>`, in JSON `{{\"uid\": \"0x1\"}}`)",
            def.name
        )),
        (false, true) => {
            let found = def.value_type.name();
            Err(format!(
                "`{}` is of type {found}, and this is a node (write a value in quotes)",
                def.name
            ))
        }
        _ => Ok(()),
    }
}

/// The reason why a value may not have a language.
pub(in crate::graph) fn missing_lang(name: &str) -> String {
    format!("`{name}` has no languages (leave the language out, or add `@lang` to its schema)")
}

/// The value of a literal as it is stored in a predicate. Plain text for a password is hashed.
///
/// # Errors
///
/// The reason why it can't be stored.
pub(in crate::graph) fn stored_value(
    text: &str,
    literal_type: ValueType,
    def: &PredicateDef,
) -> Result<Value, String> {
    let wanted = def.value_type;
    let is_text = matches!(literal_type, ValueType::Default | ValueType::String);
    let value = if wanted == ValueType::Default {
        literal_value(text, literal_type)?
    } else if is_text {
        Value::parse(text, wanted)?
    } else {
        let value = literal_value(text, literal_type)?;
        if wanted == ValueType::Vector && literal_type != ValueType::Vector {
            return Err(no_vector(def));
        }
        convert_owned(value, wanted)?
    };
    check_indexed(value.as_ref(), def)?;
    Ok(value)
}

/// The value of an object as it is stored in a predicate.
///
/// # Errors
///
/// The reason why it can't be stored.
pub fn stored(object: &Object<'_>, def: &PredicateDef) -> Result<Value, String> {
    let value = match object {
        Object::Literal { text, value_type } => return stored_value(text, *value_type, def),
        Object::Value(value) => value,
        _ => return Err(format!("`{}` has values, and this is a node", def.name)),
    };
    let converted = match (value, def.value_type) {
        (Value::Default(text) | Value::String(text), wanted) if wanted != ValueType::Default => {
            Value::parse(text, wanted)?
        }
        (Value::Vector(_), _) => convert_owned(value.clone(), def.value_type)?,
        (_, ValueType::Vector) => return Err(no_vector(def)),
        _ => convert_owned(value.clone(), def.value_type)?,
    };
    check_indexed(converted.as_ref(), def)?;
    Ok(converted)
}

fn no_vector(def: &PredicateDef) -> String {
    format!("`{}` is a vector, which is written as a text: `\"[0.1, 0.2]\"`", def.name)
}

/// A value as one of the type of a predicate.
///
/// # Errors
///
/// The reason why it can't be converted.
pub(in crate::graph) fn convert_owned(value: Value, wanted: ValueType) -> Result<Value, String> {
    let same = value.value_type() == wanted || wanted == ValueType::Default;
    if same { Ok(value) } else { value.as_ref().convert(wanted) }
}

/// Checks a value, or a facet, for what no predicate takes: infinities, since no answer shows them, and the greatest value and
/// the mean of others are lost in them; and places that are not on the globe.
///
/// # Errors
///
/// The reason, for such a value.
pub fn check_storable(value: ValueRef<'_>) -> Result<(), String> {
    match value {
        ValueRef::Float(number) if number.is_infinite() => {
            Err("infinity is no value that can be stored (leave it out)".to_owned())
        }
        ValueRef::Geo(text) => {
            Geometry::parse_json(text).map_or(Ok(()), |geometry| geometry.check_places())
        }
        _ => Ok(()),
    }
}

/// Checks the facets of a statement.
///
/// # Errors
///
/// The reason, with the name of the facet.
pub(in crate::graph) fn check_facets(facets: &[(&str, Value)]) -> Result<(), String> {
    facets.iter().try_for_each(|(key, value)| {
        check_storable(value.as_ref()).map_err(|reason| format!("facet `{key}`: {reason}"))
    })
}

/// Checks that a value can be stored and that the indexes of its predicate can take it.
///
/// # Errors
///
/// The reason when they can't.
pub fn check_indexed(value: ValueRef<'_>, def: &PredicateDef) -> Result<(), String> {
    check_storable(value)?;
    if is_too_large(value, def) {
        return Err("the text is longer than the 65000 bytes that an index takes".to_owned());
    }
    check_geometry(value, def)
}

/// True when a text, or a word of it, is too long for a key of an index.
fn is_too_large(value: ValueRef<'_>, def: &PredicateDef) -> bool {
    let Some(text) = text_of(value) else { return false };
    // A key of an index holds the name of its predicate too.
    let most = INDEXED_LEN_MAX.saturating_sub(def.name.len());
    if text.len() <= most || def.indexes.is_empty() {
        return false;
    }
    if def.indexes.contains(&Tokenizer::Exact) {
        return true;
    }
    let words = [IndexKind::Term, IndexKind::FullText];
    let mut tokens = Vec::new();
    for kind in index_kinds(def).into_iter().filter(|kind| words.contains(kind)) {
        tokens_of(kind, value, def.value_type, "", &mut tokens);
    }
    let is_long = |token: &TokenKey| matches!(token, TokenKey::Text(text) if most < text.len());
    tokens.iter().any(is_long)
}
