//! Where each part of an answer is in the executor's result: positions of blocks in the plan,
//! positions of fields in the selection that they are in.

use crate::lower::metric::Metric;
use crate::model;
use crate::model::TypeDef;
use crate::request::Field;
use hexgraph_base::plan::{FieldKind, Query};
use std::sync::Arc;

/// A plan, and what its answer looks like.
#[derive(Debug)]
pub struct Lowered<'a> {
    /// What to do.
    pub query: Query,
    /// How to write what was read.
    pub shape: RootShape<'a>,
}

/// The value of a root field.
#[derive(Debug)]
pub enum RootShape<'a> {
    /// The first node of the first block, or null.
    One(ObjectShape<'a>),
    /// The first node of the first block if its field at this position, a password, agrees; else
    /// null.
    Checked(usize, ObjectShape<'a>),
    /// The nodes of the first block.
    List(ObjectShape<'a>),
    /// Numbers about the nodes of the first block.
    Aggregate(AggregateShape<'a>),
    /// The first node of a block at each of these positions, or null; and the objects, by their
    /// numbers.
    Entities(Vec<EntityPosition>, Vec<ObjectShape<'a>>),
    /// The nodes of the first block by the distance of their vectors, which the field at this
    /// position has.
    Similar {
        /// The position of the vectors.
        position: usize,
        /// What they are compared with.
        vector: Vec<f32>,
        /// What distance means.
        metric: Metric,
        /// The nodes.
        object: ObjectShape<'a>,
    },
}

/// An element of `_entities`.
#[derive(Debug, Clone, Copy)]
pub struct EntityPosition {
    /// The block that finds the node.
    pub block: usize,
    /// The number of its object.
    pub shape: usize,
}

/// An object, by the types that it can have.
#[derive(Debug, Default)]
pub struct ObjectShape<'a> {
    /// The field of the stored types, where it matters which one a node has.
    pub type_position: Option<usize>,
    /// The selections of the concrete types. Without `type_position` the first holds for all.
    pub variants: Vec<Variant<'a>>,
    /// The selection of a node whose type is none of those: the fields that all have.
    pub unknown: Vec<Key<'a>>,
    /// The selection of a node that has no type, since it was deleted: everything, each key once.
    pub absent: Vec<Key<'a>>,
    /// True if another server resolves a field of the object, or of an object below it.
    pub has_remote_fields: bool,
}

/// The selection of objects of some types.
#[derive(Debug)]
pub struct Variant<'a> {
    /// The types.
    pub types: Vec<&'a TypeDef>,
    /// The members of the object.
    pub keys: Vec<Key<'a>>,
}

/// One member of an object.
#[derive(Debug)]
pub struct Key<'a> {
    /// What the request says of it.
    pub field: &'a Field,
    /// Where its value is. Types with the same selection have one copy.
    pub source: Arc<ValueSource<'a>>,
}

/// Where a value is.
#[derive(Debug)]
pub enum ValueSource<'a> {
    /// The name of the object's type.
    TypeName,
    /// This name of a type: the object has none of its own.
    Name(&'a str),
    /// Nowhere: always null.
    Null,
    /// At another server.
    ResolvedRemotely(Box<ResolvedRemotely<'a>>),
    /// The node's uid.
    Uid,
    /// Values at a position.
    Leaf(usize, Leaf<'a>),
    /// Geometries at a position.
    Geo(usize),
    /// Edges at a position.
    Edges(usize, ObjectShape<'a>),
    /// Numbers about the edges at a position.
    Aggregate(usize, AggregateShape<'a>),
    /// The distance of the object's vector, in a search for similar ones.
    Distance,
}

/// A field that another server answers.
#[derive(Debug)]
pub struct ResolvedRemotely<'a> {
    /// The type that has the field: the interface where the field was selected on it.
    pub def: &'a TypeDef,
    /// The field.
    pub field: &'a model::Field,
    /// What the server is reported of an object: fields, and where their values are.
    pub needs: Vec<(&'a model::Field, ValueSource<'a>)>,
}

/// How a value is written.
#[derive(Debug, Clone, Copy)]
pub enum Leaf<'a> {
    /// Text.
    Text,
    /// An integer of 32 bits.
    Int,
    /// An integer of 64 bits.
    Int64,
    /// A number.
    Float,
    /// A truth value.
    Boolean,
    /// A point in time.
    DateTime,
    /// The name of a value of the enum.
    Enum(&'a TypeDef),
}

/// Numbers about a set of nodes.
#[derive(Debug, Default)]
pub struct AggregateShape<'a> {
    /// The members of the object.
    pub keys: Vec<AggregateKey<'a>>,
    /// The caller may see none of the nodes: the numbers are null, even that of the nodes.
    pub is_hidden: bool,
}

/// One number.
#[derive(Debug)]
pub struct AggregateKey<'a> {
    /// What the request says of it.
    pub field: &'a Field,
    /// What is computed.
    pub op: AggregateOp,
}

/// What is computed of a set of nodes.
#[derive(Debug, Clone, Copy)]
pub enum AggregateOp {
    /// The name of the object's type.
    TypeName,
    /// The number of nodes.
    Count,
    /// The least value at a position.
    Min(usize),
    /// The greatest value at a position.
    Max(usize),
    /// The sum of the values at a position.
    Sum(usize),
    /// The mean of the values at a position.
    Avg(usize),
}

/// The kinds of geometries in a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dimension {
    /// `Point`.
    Point,
    /// `Polygon`.
    Polygon,
    /// `MultiPolygon`.
    MultiPolygon,
}

impl Dimension {
    /// The kind of a type's name.
    pub(super) fn from_name(name: &str) -> Option<Dimension> {
        Some(match name {
            "Point" => Dimension::Point,
            "Polygon" => Dimension::Polygon,
            "MultiPolygon" => Dimension::MultiPolygon,
            _ => return None,
        })
    }
}

impl Lowered<'_> {
    /// The password that is compared with that of a node; `None` where none is.
    pub fn password(&self) -> Option<&str> {
        let RootShape::Checked(position, _) = &self.shape else { return None };
        match &self.query.blocks.first()?.fields.get(*position)?.kind {
            FieldKind::CheckPassword { password, .. } => Some(password),
            _ => None,
        }
    }
}

impl RootShape<'_> {
    /// True when other servers answer a field of it.
    pub fn has_remote_fields(&self) -> bool {
        match self {
            RootShape::One(object) | RootShape::Checked(_, object) => object.has_remote_fields,
            RootShape::List(object) => object.has_remote_fields,
            RootShape::Entities(_, objects) => {
                objects.iter().any(|object| object.has_remote_fields)
            }
            RootShape::Similar { object, .. } => object.has_remote_fields,
            RootShape::Aggregate(_) => false,
        }
    }
}

impl<'a> ObjectShape<'a> {
    /// The selection of an object whose stored types these are, and the name of its concrete type.
    pub fn of<'t>(
        &self,
        stored: impl Iterator<Item = &'t str>,
    ) -> (Option<&'a TypeDef>, &[Key<'a>]) {
        let mut is_typed = false;
        for name in stored {
            is_typed = true;
            let result = self.variants.iter().find_map(|variant| {
                let def = variant.types.iter().find(|def| def.dgraph_type == name)?;
                Some((*def, variant))
            });
            if let Some((def, variant)) = result {
                return (Some(def), &variant.keys);
            }
        }
        (None, if is_typed { &self.unknown } else { &self.absent })
    }
}
