//! Checks statements against the schema before they are stored.

use super::refusal::Refusal;
use crate::index::{IndexKind, TokenKey, check_geometry, index_kinds, tokens_of};
use crate::storage::text_of;
use hexgraph_base::formats::{Object, is_name, literal_value};
use hexgraph_base::schema::{Actor, PredicateDef, Schema, Tokenizer};
use hexgraph_base::types::{ConvertError, Geometry, Loss, TimeError, Value, ValueRef, ValueType};

/// The longest name of a predicate, in bytes.
const NAME_LEN_MAX: usize = 65_535;

/// The longest token of an index together with the name of its predicate, in bytes.
const INDEXED_LEN_MAX: usize = 65_000;

/// Checks the name of a predicate that a statement of `actor` sets or deletes.
///
/// # Errors
///
/// [`Refusal`] when no statement may have that name, or none of this actor's.
pub(in crate::graph) fn check_name(
    name: &str,
    schema: &Schema,
    actor: Actor<'_>,
) -> Result<(), Refusal> {
    if NAME_LEN_MAX < name.len() {
        return Err(Refusal::LongName);
    }
    // Others could neither be queried nor exported.
    if name.contains(['~', '@']) || !is_name(name) {
        return Err(Refusal::NoName { name: name.to_owned() });
    }
    if name == "uid" {
        return Err(Refusal::NameUid);
    }
    Ok(actor.check_change(name, schema)?)
}

/// Checks that a predicate allows a value, or an edge.
///
/// # Errors
///
/// [`Refusal::NoLanguages`], [`Refusal::ValueOfEdge`] or [`Refusal::NodeOfType`] if not.
pub(in crate::graph) fn check_shape(
    def: &PredicateDef,
    lang: &str,
    is_edge: bool,
) -> Result<(), Refusal> {
    if !lang.is_empty() && !def.lang {
        return Err(Refusal::NoLanguages { predicate: def.name.clone() });
    }
    let predicate = || def.name.clone();
    match (def.value_type == ValueType::Uid, is_edge) {
        (true, false) => Err(Refusal::ValueOfEdge { predicate: predicate() }),
        (false, true) => {
            Err(Refusal::NodeOfType { predicate: predicate(), value_type: def.value_type })
        }
        _ => Ok(()),
    }
}

/// Returns the value of a literal as it is stored in a predicate. Plain text for a password is
/// hashed.
///
/// # Errors
///
/// [`Refusal`] if it cannot be stored.
pub(in crate::graph) fn stored_value(
    text: &str,
    literal_type: ValueType,
    def: &PredicateDef,
) -> Result<Value, Refusal> {
    let expected = def.value_type;
    let is_text = literal_type.is_text();
    let value = if expected == ValueType::Default {
        literal_value(text, literal_type)?
    } else if is_text {
        Value::parse(text, expected)?
    } else {
        let value = literal_value(text, literal_type)?;
        if expected == ValueType::Vector && literal_type != ValueType::Vector {
            return Err(no_vector(def));
        }
        convert_owned(value, expected)?
    };
    check_indexed(value.as_ref(), def)?;
    Ok(value)
}

/// Returns the value of an object as it is stored in a predicate.
///
/// # Errors
///
/// [`Refusal`] when it can't be stored.
pub(in crate::graph) fn stored(object: &Object<'_>, def: &PredicateDef) -> Result<Value, Refusal> {
    let value = match object {
        Object::Literal { text, value_type } => return stored_value(text, *value_type, def),
        Object::Value(value) => value,
        _ => return Err(Refusal::NoValue { predicate: def.name.clone() }),
    };
    let converted = match (value, def.value_type) {
        (Value::Default(text) | Value::String(text), expected)
            if expected != ValueType::Default =>
        {
            Value::parse(text, expected)?
        }
        (Value::Vector(_), _) => convert_owned(value.clone(), def.value_type)?,
        (_, ValueType::Vector) => return Err(no_vector(def)),
        _ => convert_owned(value.clone(), def.value_type)?,
    };
    check_indexed(converted.as_ref(), def)?;
    Ok(converted)
}

/// As `stored`, of an object that the type of the predicate holds in full.
///
/// # Errors
///
/// [`Refusal`] when it can't be stored; [`Refusal::Lossy`] when a part of it would be lost.
pub fn stored_in_full(object: &Object<'_>, def: &PredicateDef) -> Result<Value, Refusal> {
    let value = stored(object, def)?;
    check_lossless(object, value.as_ref())?;
    Ok(value)
}

/// Checks that an object is stored in full, as loads require: a mutation stores what Dgraph would,
/// and counts such values.
///
/// # Errors
///
/// [`Refusal::Lossy`].
pub(in crate::graph) fn check_lossless(
    object: &Object<'_>,
    stored: ValueRef<'_>,
) -> Result<(), Refusal> {
    loss_of(object, stored).map_or(Ok(()), |loss| Err(Refusal::Lossy(loss)))
}

/// Compares an object with the value that is stored for it.
pub(in crate::graph) fn loss_of(object: &Object<'_>, stored: ValueRef<'_>) -> Option<Loss> {
    match object {
        Object::Literal { text, value_type } => {
            if value_type.is_text() || *value_type == stored.value_type() {
                return Loss::of(ValueRef::String(text), stored);
            }
            Loss::of(literal_value(text, *value_type).ok()?.as_ref(), stored)
        }
        Object::Value(value) => Loss::of(value.as_ref(), stored),
        _ => None,
    }
}

fn no_vector(def: &PredicateDef) -> Refusal {
    Refusal::NoVector { predicate: def.name.clone() }
}

/// Returns a value as one of the type of a predicate. One that has the type is not copied.
///
/// # Errors
///
/// [`Refusal::Convert`].
pub(in crate::graph) fn convert_owned(value: Value, expected: ValueType) -> Result<Value, Refusal> {
    let same = value.value_type() == expected || expected == ValueType::Default;
    if same { Ok(value) } else { Ok(value.as_ref().convert(expected)?) }
}

/// Returns a value as one of another type, which holds it in full.
///
/// # Errors
///
/// [`Refusal::Convert`] and [`Refusal::Lossy`].
pub(in crate::graph) fn convert_in_full(
    value: ValueRef<'_>,
    to: ValueType,
) -> Result<Value, Refusal> {
    let converted = value.convert(to)?;
    Loss::of(value, converted.as_ref()).map_or(Ok(converted), |loss| Err(Refusal::Lossy(loss)))
}

/// Checks that a value is storable in some predicate or facet. Not storable are an infinite float,
/// which no answer shows and which spoils sums and means, and a vector with such a number or a NaN.
/// Neither is a point outside of the globe, or a time without a textual form, as its export could
/// not be read again.
///
/// # Errors
///
/// [`Refusal::Infinite`], [`Refusal::VectorNumber`], [`Refusal::Position`] or [`Refusal::Convert`]
/// for such a value.
pub fn check_storable(value: ValueRef<'_>) -> Result<(), Refusal> {
    match value {
        ValueRef::Float(number) if number.is_infinite() => Err(Refusal::Infinite),
        ValueRef::Vector(numbers) => match numbers.iter().find(|number| !number.is_finite()) {
            Some(number) => Err(Refusal::VectorNumber { number: number.to_string() }),
            None => Ok(()),
        },
        ValueRef::Geo(text) => match Geometry::parse_json(text) {
            Ok(geometry) => Ok(geometry.check_positions()?),
            Err(_) => Ok(()),
        },
        ValueRef::DateTime(time) if !time.is_writable() => {
            Err(ConvertError::Time(TimeError::Year).into())
        }
        _ => Ok(()),
    }
}

/// Checks the facets of a statement.
///
/// # Errors
///
/// [`Refusal::Facet`] for the first that can't be stored.
pub(in crate::graph) fn check_facets(facets: &[(&str, Value)]) -> Result<(), Refusal> {
    facets.iter().try_for_each(|(key, value)| {
        check_storable(value.as_ref())
            .map_err(|reason| Refusal::Facet { key: (*key).to_owned(), reason: Box::new(reason) })
    })
}

/// Checks that a value can be stored and indexed.
///
/// # Errors
///
/// [`Refusal`] if not.
pub fn check_indexed(value: ValueRef<'_>, def: &PredicateDef) -> Result<(), Refusal> {
    check_storable(value)?;
    if is_too_large(value, def) {
        return Err(Refusal::LongText);
    }
    Ok(check_geometry(value, def)?)
}

/// Returns true if a text, or a word of it, is too long for a key of an index.
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
    // The keys of these two indexes are words of the text, and a word may be as long as the text.
    let words = [IndexKind::Term, IndexKind::FullText];
    let mut tokens = Vec::new();
    for kind in index_kinds(def).into_iter().filter(|kind| words.contains(kind)) {
        tokens_of(kind, value, def.value_type, "", &mut tokens);
    }
    let is_long = |token: &TokenKey| matches!(token, TokenKey::Text(text) if most < text.len());
    tokens.iter().any(is_long)
}
