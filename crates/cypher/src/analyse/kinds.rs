//! What the analysis can say about a value before any row is read.

use std::fmt::{self, Display, Formatter};

/// The kind of a value, as far as the text shows it. What a text does not show is `Any`, and is
/// checked when it is evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// The text does not show it.
    Any,
    /// The literal `null`, which is allowed everywhere.
    Null,
    /// A boolean.
    Boolean,
    /// An integer.
    Integer,
    /// A float.
    Float,
    /// A string.
    String,
    /// A date, a time, both, or a duration.
    Temporal,
    /// A point.
    Point,
    /// A map.
    Map,
    /// A node.
    Node,
    /// A relationship.
    Relationship,
    /// A path.
    Path,
    /// A list, and the kind of all its elements.
    List(Box<Kind>),
}

/// How many levels of lists are distinguished.
const LEVELS_MAX: usize = 8;

impl Kind {
    /// A list of elements of one kind. Below some levels the elements are `Any`: `WITH [a] AS a`
    /// nests them deeper with each clause.
    pub(crate) fn list(element: Kind) -> Kind {
        let mut levels = 0;
        let mut inside = &element;
        while let Kind::List(next) = inside {
            levels += 1;
            inside = next;
        }
        let element = if levels < LEVELS_MAX { element } else { Kind::Any };
        Kind::List(Box::new(element))
    }

    /// The kind of a value that is of one of two kinds.
    pub(crate) fn join(self, other: Kind) -> Kind {
        match (self, other) {
            (a, b) if a == b => a,
            (Kind::Null, it) | (it, Kind::Null) => it,
            (Kind::List(a), Kind::List(b)) => Kind::list(a.join(*b)),
            _ => Kind::Any,
        }
    }

    /// The kind of the elements, when this is a list or may be one.
    pub(crate) fn element(&self) -> Kind {
        match self {
            Kind::List(element) => (**element).clone(),
            _ => Kind::Any,
        }
    }

    fn bit(&self) -> u16 {
        match self {
            Kind::Any | Kind::Null => u16::MAX,
            Kind::Boolean => Kinds::BOOLEAN.0,
            Kind::Integer => Kinds::INTEGER.0,
            Kind::Float => Kinds::FLOAT.0,
            Kind::String => Kinds::STRING.0,
            Kind::Temporal => Kinds::TEMPORAL.0,
            Kind::Point => Kinds::POINT.0,
            Kind::Map => Kinds::MAP.0,
            Kind::Node => Kinds::NODE.0,
            Kind::Relationship => Kinds::RELATIONSHIP.0,
            Kind::Path => Kinds::PATH.0,
            Kind::List(_) => Kinds::LIST.0,
        }
    }
}

impl Display for Kind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Any => f.write_str("a value"),
            Kind::Null => f.write_str("null"),
            Kind::List(element) if **element == Kind::Relationship => {
                f.write_str("a list of relationships")
            }
            Kind::List(element) if **element == Kind::Node => f.write_str("a list of nodes"),
            other => Kinds(other.bit()).fmt(f),
        }
    }
}

/// A set of kinds: what an operator or function accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kinds(u16);

impl Kinds {
    pub(crate) const ANY: Kinds = Kinds(u16::MAX);
    pub(crate) const BOOLEAN: Kinds = Kinds(1);
    pub(crate) const INTEGER: Kinds = Kinds(1 << 1);
    pub(crate) const FLOAT: Kinds = Kinds(1 << 2);
    pub(crate) const STRING: Kinds = Kinds(1 << 3);
    pub(crate) const TEMPORAL: Kinds = Kinds(1 << 4);
    pub(crate) const POINT: Kinds = Kinds(1 << 5);
    pub(crate) const MAP: Kinds = Kinds(1 << 6);
    pub(crate) const NODE: Kinds = Kinds(1 << 7);
    pub(crate) const RELATIONSHIP: Kinds = Kinds(1 << 8);
    pub(crate) const PATH: Kinds = Kinds(1 << 9);
    pub(crate) const LIST: Kinds = Kinds(1 << 10);
    pub(crate) const NUMBER: Kinds = Kinds::INTEGER.or(Kinds::FLOAT);
    pub(crate) const ELEMENT: Kinds = Kinds::NODE.or(Kinds::RELATIONSHIP);
    pub(crate) const KEYED: Kinds = Kinds::ELEMENT.or(Kinds::MAP);

    const NAMES: [(Kinds, &'static str); 11] = [
        (Kinds::BOOLEAN, "a boolean"),
        (Kinds::INTEGER, "an integer"),
        (Kinds::FLOAT, "a float"),
        (Kinds::STRING, "a string"),
        (Kinds::TEMPORAL, "a temporal value"),
        (Kinds::POINT, "a point"),
        (Kinds::MAP, "a map"),
        (Kinds::NODE, "a node"),
        (Kinds::RELATIONSHIP, "a relationship"),
        (Kinds::PATH, "a path"),
        (Kinds::LIST, "a list"),
    ];

    /// The kinds of both sets.
    pub(crate) const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// Whether a value of the kind may be in the set.
    pub(crate) fn accepts(self, kind: &Kind) -> bool {
        self.0 & kind.bit() != 0
    }
}

impl Display for Kinds {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> =
            Kinds::NAMES.iter().filter(|(it, _)| it.0 & self.0 != 0).map(|&(_, it)| it).collect();
        match names.split_last() {
            None => Ok(()),
            Some((last, [])) => f.write_str(last),
            Some((last, others)) => write!(f, "{} or {last}", others.join(", ")),
        }
    }
}
