//! Why a statement can't be stored.

use crate::index::GeoIndexError;
use hexgraph_base::formats::Subject;
use hexgraph_base::schema::RightsError;
use hexgraph_base::types::{ConvertError, GeometryError, Loss, Uid, ValueType, shown};

/// Characters that a name cannot contain: `~` and `@` mean something in queries, and the others end
/// a name in `<>`.
const REFUSED: &str = r#"~ @ < > { } | ^ ` " \"#;

/// Why a statement can't be stored. The messages say what to write instead, where something can.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// The name of the predicate is too long for a key.
    #[error("the name of a predicate has more than 65535 bytes")]
    LongName,
    /// The name of the predicate has no letter, or one that means something else in queries and
    /// N-Quads.
    #[error(
        "`{name}` is no name of a predicate: it has a letter or digit, no blank, and none of {REFUSED}"
    )]
    NoName {
        /// The name.
        name: String,
    },
    /// `uid` is the number of the node, so no predicate has that name.
    #[error("`uid` can't be the name of a predicate")]
    NameUid,
    /// The predicate belongs to the engine.
    #[error(transparent)]
    Rights(#[from] RightsError),
    /// The value has a language, and the predicate has none.
    #[error(
        "`{predicate}` has no languages (leave the language out, or add `@lang` to its schema)"
    )]
    NoLanguages {
        /// The predicate.
        predicate: String,
    },
    /// The object is a value, but the predicate has nodes.
    #[error(
        "`{predicate}` is an edge, and this is a value (write `<0x1>`, in JSON `{{\"uid\": \"0x1\"}}`)"
    )]
    ValueOfEdge {
        /// The predicate.
        predicate: String,
    },
    /// The object is a node, and the schema gives the predicate values.
    #[error(
        "`{predicate}` is of type {}, and this is a node (write a value in quotes)",
        value_type.name()
    )]
    NodeOfType {
        /// The predicate.
        predicate: String,
        /// The type of its values.
        value_type: ValueType,
    },
    /// The object is a node, or a star, where a value is to be converted.
    #[error("`{predicate}` has values, and this is a node")]
    NoValue {
        /// The predicate.
        predicate: String,
    },
    /// The value is a number, and the predicate is a vector.
    #[error("`{predicate}` is a vector, which is written as a text: `\"[0.1, 0.2]\"`")]
    NoVector {
        /// The predicate.
        predicate: String,
    },
    /// The value can't be converted to the type of the predicate.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// The type of the predicate does not hold the value in full.
    #[error("{0} (alter the predicate to {needed}, or load it into another one)", needed = .0.needed().name())]
    Lossy(Loss),
    /// The value is infinite: no answer shows such a float, and others are lost in its sums.
    #[error("infinity is no value that can be stored (leave it out)")]
    Infinite,
    /// A number of a vector is infinite or NaN, which neither JSON nor an export can say.
    #[error("a vector has finite numbers, and {number} is none (leave the vector out)")]
    VectorNumber {
        /// The number.
        number: String,
    },
    /// The value is a point that is not on the globe.
    #[error(transparent)]
    Position(#[from] GeometryError),
    /// The text or a word of it is too long for a key of an index.
    #[error("the text is longer than the 65000 bytes that an index takes")]
    LongText,
    /// The geo index of the predicate cannot index the geometry.
    #[error(transparent)]
    GeoIndex(#[from] GeoIndexError),
    /// A facet can't be stored.
    #[error("facet `{key}`: {reason}")]
    Facet {
        /// The name of the facet.
        key: String,
        /// What is wrong with its value.
        reason: Box<Refusal>,
    },
    /// A part of a statement to be set is a star.
    #[error("`*` can only be deleted, not set")]
    StarInSet,
    /// A file names a variable, and no query comes with a file.
    #[error("variable `{name}` is used without a query that defines it")]
    Variable {
        /// The variable.
        name: String,
    },
    /// An external id has an escape without a meaning.
    #[error("{reason}")]
    NodeName {
        /// What is wrong.
        reason: String,
    },
    /// Another thread has ended the load already, so nothing more is computed for it.
    #[error("the load has ended")]
    LoadEnded,
}

impl Refusal {
    /// Whether it says what is wrong with a value or a facet, and not which predicate has it.
    pub(in crate::graph) fn is_about_value(&self) -> bool {
        matches!(
            self,
            Refusal::Convert(_)
                | Refusal::Lossy(_)
                | Refusal::Infinite
                | Refusal::VectorNumber { .. }
                | Refusal::Position(_)
                | Refusal::LongText
                | Refusal::GeoIndex(_)
                | Refusal::Facet { .. }
        )
    }
}

/// The context of a refused value, as a hint: "`age` of 0x1 is of type int". A predicate unknown to
/// the schema has no type.
pub(in crate::graph) fn about_value(
    predicate: &str,
    value_type: Option<ValueType>,
    subject: Subject<'_>,
) -> String {
    let node = match subject {
        Subject::Uid(uid) => Uid(uid).to_string(),
        Subject::Blank(label) => format!("_:{label}"),
        Subject::Name(name) => format!("<{name}>"),
        Subject::Var(name) => format!("uid({name})"),
        Subject::New(_) | Subject::Star => "a new node".to_owned(),
    };
    let name = shown(predicate);
    match value_type {
        Some(value_type) => format!("{name} of {node} is of type {}", value_type.name()),
        None => format!("{name} of {node}"),
    }
}
