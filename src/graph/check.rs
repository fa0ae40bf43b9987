//! What a statement has to fulfil before it is stored.

use crate::formats::literal_value;
use crate::index::check_geometry;
use crate::schema::PredicateDef;
use crate::schema::Schema;
use crate::schema::Tokenizer;
use crate::storage::text_of;
use crate::types::Value;
use crate::types::ValueRef;
use crate::types::ValueType;

/// The longest name of a predicate, in bytes.
const NAME_LEN_MAX: usize = 65_535;

/// The longest text of an index of whole values, in bytes.
const INDEXED_LEN_MAX: usize = 65_000;

/// Checks the name of a predicate that a statement sets or deletes.
///
/// # Errors
///
/// The reason why no statement may have it.
pub fn check_name(name: &str, schema: &Schema) -> Result<(), String> {
    if NAME_LEN_MAX < name.len() {
        return Err("Predicate name length cannot be bigger than 2^16".to_owned());
    }
    if name.is_empty() || name.contains(['~', '@', ' ']) {
        return Err(format!("predicate {name:?}: Has invalid characters"));
    }
    if name == "uid" {
        return Err("Cannot create user-defined predicate with internal name uid".to_owned());
    }
    if name == "dgraph.type" || !has_reserved_prefix(name) {
        return Ok(());
    }
    if schema.predicates.contains_key(name) {
        return Err(format!("Cannot mutate graphql reserved predicate {name}"));
    }
    Err(format!(
        "Can't store predicate `{name}` as it is prefixed with `dgraph.` which is reserved as the \
         namespace for internal types/predicates."
    ))
}

fn has_reserved_prefix(name: &str) -> bool {
    name.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("dgraph."))
}

/// Checks that a value, or an edge, may stand in a predicate.
///
/// # Errors
///
/// The reason why not.
pub fn check_shape(def: &PredicateDef, lang: &str, is_edge: bool) -> Result<(), String> {
    if !lang.is_empty() && !def.lang {
        return Err(missing_lang(&def.name));
    }
    match (def.value_type == ValueType::Uid, is_edge) {
        (true, false) => Err(format!("Input for predicate {:?} of type uid is scalar", def.name)),
        (false, true) => Err(format!("Input for predicate {:?} of type scalar is uid", def.name)),
        _ => Ok(()),
    }
}

/// The reason why a value may not have a language.
pub fn missing_lang(name: &str) -> String {
    format!("Attr: [{name}] should have @lang directive in schema to mutate edge")
}

/// The value of a literal as it is stored in a predicate. Plain text for a password is hashed.
///
/// # Errors
///
/// The reason why it can't be stored.
pub fn stored_value(
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
            return Err(format!(
                "Input for predicate {:?} of type vector is not vector. Did you forget to add \
                 quotes before []?",
                def.name
            ));
        }
        convert_owned(value, wanted)?
    };
    check_indexed(value.as_ref(), def)?;
    Ok(value)
}

/// A value as one of the type of a predicate.
///
/// # Errors
///
/// The reason why it can't be converted.
pub fn convert_owned(value: Value, wanted: ValueType) -> Result<Value, String> {
    let same = value.value_type() == wanted || wanted == ValueType::Default;
    if same { Ok(value) } else { value.as_ref().convert(wanted) }
}

/// Checks that the indexes of its predicate can take a value.
///
/// # Errors
///
/// The reason when they can't.
pub fn check_indexed(value: ValueRef<'_>, def: &PredicateDef) -> Result<(), String> {
    let is_large = text_of(value).is_some_and(|text| INDEXED_LEN_MAX < text.len());
    if is_large && def.indexes.contains(&Tokenizer::Exact) {
        return Err("value in the mutation is too large for the index".to_owned());
    }
    check_geometry(value, def)
}
