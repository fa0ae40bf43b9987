//! The executor's result → the JSON of an answer, in the order of the request.
//!
//! Everything is appended to one buffer. Where a value that must not be null is null, the null
//! travels up: what was written of the objects around it is cut off again.

use super::complete::Completion;
use super::leaf::{Mismatch, write_stored};
use super::nulls::{Faults, NullPropagation, Spoiled, Written, mismatch};
use super::numbers::{AggregatedNodes, write_aggregate};
use super::remote_results::{RemoteResults, Slot};
use crate::db::query::checked::Capacity;
use apollo_compiler::ast::Type;
use hexgraph_base::answer::write_json_text;
use hexgraph_base::plan::FieldKind;
use hexgraph_base::types::{Error, Result, ValueRef, ValueType, stack, write_float};
use hexgraph_graphql::lower::{
    AggregateShape, EntityPosition, Key, Leaf, Lowered, ObjectShape, RootShape, ValueSource,
};
use hexgraph_graphql::model::{Model, TypeDef};
use hexgraph_graphql::request::{Field, GraphqlError, PathStep};
use hexgraph_store::exec::{
    Answer, BlockResult, FieldData, FieldResult, Langs, Level, RequestContext, typed,
};
use hexgraph_store::graph::Version;

/// How many objects are written between two looks at the context.
const OBJECTS_INTERVAL: u32 = 1 << 12;

/// The largest number of errors of other servers that an answer reports. A server that is down
/// causes one for each node.
const REMOTE_FAULTS_MAX: usize = 1_000;

/// A step of the path to what is being written.
#[derive(Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// Writes the value of a root field.
pub(in crate::db::graphql) struct ReplyWriter<'a> {
    pub version: &'a Version,
    pub out: Vec<u8>,
    faults: Faults,
    context: &'a RequestContext,
    path: Vec<Step<'a>>,
    objects: u32,
    capacity: Capacity<'a>,
    /// The distance of the root node that is being written from the vector that was searched for.
    distance: Option<f64>,
    stopped: Option<Error>,
    /// The answers of other servers, with the model that their values are completed by.
    remote_results: Option<(&'a Model, &'a RemoteResults)>,
}

impl<'a> ReplyWriter<'a> {
    /// Creates a writer for the values of a version. The answer may have at most `bytes_max` bytes.
    pub(in crate::db::graphql) fn new(
        version: &'a Version,
        context: &'a RequestContext,
        bytes_max: u64,
    ) -> ReplyWriter<'a> {
        ReplyWriter {
            version,
            out: Vec::with_capacity(256),
            faults: Faults::default(),
            context,
            path: Vec::with_capacity(16),
            objects: 0,
            capacity: Capacity::new(context, bytes_max),
            distance: None,
            stopped: None,
            remote_results: None,
        }
    }

    /// Adds the answers of other servers.
    pub(in crate::db::graphql) fn with(
        self,
        model: &'a Model,
        result: &'a RemoteResults,
    ) -> ReplyWriter<'a> {
        ReplyWriter { remote_results: Some((model, result)), ..self }
    }

    /// Writes the result of a plan for a root field.
    ///
    /// # Errors
    ///
    /// When the context says stop, or the answer is too long.
    pub(in crate::db::graphql) fn root(
        &mut self,
        field: &'a Field,
        lowered: &'a Lowered<'a>,
        answer: &'a Answer,
    ) -> Result<Written> {
        self.path.push(Step::Key(field.shape.key.as_str()));
        let written = self.root_value(field, &lowered.shape, answer);
        self.path.pop();
        match self.stopped.take() {
            Some(error) => Err(error),
            None => Ok(written),
        }
    }

    fn root_value(
        &mut self,
        field: &'a Field,
        shape: &'a RootShape<'a>,
        answer: &'a Answer,
    ) -> Written {
        match shape {
            RootShape::One(object) => {
                let result =
                    answer.block(0).and_then(|block| first_position(block).map(|at| (block, at)));
                match result {
                    Some((block, position)) => self.nullable(&field.shape.ty, |writer| {
                        // Types of one interface may each have a node of an ID that is theirs
                        // alone.
                        match positions(block).nth(1) {
                            None => writer.object(&block.level, position, object),
                            Some(_) => writer.spoil(field, mismatch("A list", "just one item")),
                        }
                    }),
                    None => self.null(),
                }
            }
            RootShape::Checked(check, object) => {
                let result =
                    answer.block(0).and_then(|block| first_position(block).map(|at| (block, at)));
                match result.filter(|(block, at)| agrees(&block.level.fields[*check], *at)) {
                    Some((block, position)) => self.nullable(&field.shape.ty, |writer| {
                        writer.object(&block.level, position, object)
                    }),
                    None => self.null(),
                }
            }
            RootShape::List(object) => match answer.block(0) {
                Some(block) => {
                    let ty = &field.shape.ty;
                    self.nullable(ty, |writer| writer.list(ty, &block.roots, &block.level, object))
                }
                None => self.empty_list(),
            },
            RootShape::Aggregate(shape) => match answer.block(0) {
                Some(block) if !shape.is_hidden => {
                    self.aggregate(field, shape, &block.level, AggregatedNodes::of_block(block))
                }
                _ => self.null(),
            },
            RootShape::Entities(positions, objects) => {
                self.entities(field, answer, positions, objects)
            }
            RootShape::Similar { position, vector, metric, object } => {
                let Some(block) = answer.block(0) else { return self.empty_list() };
                let mut near: Vec<(f64, u32)> = Vec::with_capacity(block.roots.len());
                for &node in block.roots.iter() {
                    let other = vector_of(&block.level.fields[*position], node);
                    let distance = other.and_then(|other| metric.distance(vector, other));
                    near.extend(distance.map(|distance| (distance, node)));
                }
                // Of equal distances the lesser node comes first, so that the order is the same
                // each time.
                near.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
                self.similar(field, &near, &block.level, object)
            }
        }
    }

    fn entities(
        &mut self,
        field: &'a Field,
        answer: &'a Answer,
        positions: &[EntityPosition],
        objects: &'a [ObjectShape<'a>],
    ) -> Written {
        self.out.push(b'[');
        for (index, &EntityPosition { block, shape }) in positions.iter().enumerate() {
            let result =
                answer.block(block).and_then(|block| first_position(block).map(|at| (block, at)));
            self.item(field.shape.ty.item_type(), index, |writer| match result {
                Some((block, position)) => writer.object(&block.level, position, &objects[shape]),
                None => writer.null(),
            })?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn similar(
        &mut self,
        field: &'a Field,
        near: &[(f64, u32)],
        level: &'a Level,
        object: &'a ObjectShape<'a>,
    ) -> Written {
        self.out.push(b'[');
        for (index, (distance, node)) in near.iter().enumerate() {
            let Some(position) = level.position(*node) else { continue };
            self.distance = Some(*distance);
            self.item(field.shape.ty.item_type(), index, |writer| {
                writer.object(level, position, object)
            })?;
        }
        self.out.push(b']');
        Ok(())
    }

    /// Writes nodes as a list. A null among elements that must not be null spoils it.
    fn list(
        &mut self,
        ty: &Type,
        nodes: &[u32],
        level: &'a Level,
        object: &'a ObjectShape<'a>,
    ) -> Written {
        self.out.push(b'[');
        let (mut guess, mut index) = (0, 0);
        // Lists are mostly in the order of the level, so each node is looked for after the one
        // before.
        for &node in nodes {
            let Some(position) = level.position_near(node, guess) else { continue };
            guess = position + 1;
            if !level.is_alive(position) {
                continue;
            }
            self.item(ty.item_type(), index, |writer| writer.object(level, position, object))?;
            index += 1;
        }
        self.out.push(b']');
        Ok(())
    }

    /// Writes an element of a list.
    fn item(
        &mut self,
        ty: &Type,
        index: usize,
        write: impl FnOnce(&mut ReplyWriter<'a>) -> Written,
    ) -> Written {
        if index > 0 {
            self.out.push(b',');
        }
        self.path.push(Step::Index(index));
        let written = self.nullable(ty, write);
        self.path.pop();
        written
    }

    fn object(&mut self, level: &'a Level, position: usize, shape: &'a ObjectShape<'a>) -> Written {
        stack::require();
        self.look_at_control()?;
        let (def, keys) = variant_at(level, position, shape);
        self.out.push(b'{');
        for (index, key) in keys.iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            let name = key.field.shape.key.as_str();
            self.key(name);
            self.path.push(Step::Key(name));
            let written = self.member(level, position, def, key);
            // The path is cut before the error goes on: the code that converts it to a null
            // continues with a shorter path.
            self.path.pop();
            written?;
        }
        self.out.push(b'}');
        Ok(())
    }

    fn member(
        &mut self,
        level: &'a Level,
        position: usize,
        def: Option<&'a TypeDef>,
        key: &'a Key<'a>,
    ) -> Written {
        let field = key.field;
        match &*key.source {
            ValueSource::Name(name) => self.text(name),
            ValueSource::TypeName => match def {
                Some(def) => self.text(&def.name),
                None => self.absent(field),
            },
            ValueSource::Null => self.absent(field),
            ValueSource::ResolvedRemotely(_) => {
                self.remote(field, Slot::of_node(key, level, position))
            }
            ValueSource::Uid => {
                self.out.extend_from_slice(b"\"");
                let uid = self.version.nodes.uid(level.nodes[position]);
                self.out.extend_from_slice(uid.to_string().as_bytes());
                self.out.push(b'"');
                Ok(())
            }
            ValueSource::Leaf(at, leaf) => {
                self.leaves(field, &level.fields[*at], level.nodes[position], *leaf)
            }
            ValueSource::Geo(at) => self.geometry(field, &level.fields[*at], level.nodes[position]),
            ValueSource::Edges(at, object) => {
                self.edges(field, &level.fields[*at], position, object)
            }
            ValueSource::Aggregate(at, shape) => match &level.fields[*at].data {
                FieldData::Edges(edges) => {
                    let targets = edges.targets_of(position);
                    self.aggregate(field, shape, &edges.level, AggregatedNodes::of_list(targets))
                }
                _ => self.aggregate(field, shape, &NO_LEVEL, AggregatedNodes::of_list(&[])),
            },
            // The path has three steps for a member of a root node: the root field, the index, and
            // the key.
            ValueSource::Distance => match self.distance.filter(|_| self.path.len() == 3) {
                Some(distance) => {
                    write_float(distance, &mut self.out);
                    Ok(())
                }
                None => self.null(),
            },
        }
    }

    /// Writes the value that another server answered for a field.
    fn remote(&mut self, field: &'a Field, slot: Slot) -> Written {
        let Some((model, result)) = self.remote_results else { return self.absent(field) };
        let (path, out) = (self.steps(), std::mem::take(&mut self.out));
        let completed = Completion::at(model, result, path, out, self.capacity).remote(field, slot);
        (self.out, self.capacity) = (completed.value, completed.capacity);
        let rest = REMOTE_FAULTS_MAX.saturating_sub(self.faults.len());
        completed.errors.into_iter().take(rest).for_each(|fault| self.faults.push(fault));
        self.stopped = self.stopped.take().or(completed.stopped);
        if completed.spoils { Err(Spoiled) } else { Ok(()) }
    }

    fn edges(
        &mut self,
        field: &'a Field,
        result: &'a FieldResult,
        position: usize,
        object: &'a ObjectShape<'a>,
    ) -> Written {
        let FieldData::Edges(edges) = &result.data else { return self.absent(field) };
        let targets = edges.targets_of(position);
        let ty = &field.shape.ty;
        if ty.is_list() {
            return self.nullable(ty, |writer| writer.list(ty, targets, &edges.level, object));
        }
        let mut positions = targets.iter().filter_map(|target| edges.level.position(*target));
        match positions.find(|position| edges.level.is_alive(*position)) {
            Some(position) => {
                self.nullable(ty, |writer| writer.object(&edges.level, position, object))
            }
            None => self.absent(field),
        }
    }

    fn leaves(
        &mut self,
        field: &'a Field,
        result: &'a FieldResult,
        node: u32,
        leaf: Leaf<'a>,
    ) -> Written {
        let (FieldData::Values(values), FieldKind::Predicate { langs, .. }) =
            (&result.data, &result.field.kind)
        else {
            return self.absent(field);
        };
        let Some((_, list)) = values.predicate.values_in(Langs::First(langs), node) else {
            return self.absent(field);
        };
        let (ty, stored) = (&field.shape.ty, values.predicate.def.value_type);
        if !ty.is_list() {
            return self.nullable(ty, |writer| writer.leaf(field, list.get(0), (stored, leaf)));
        }
        self.nullable(ty, |writer| {
            writer.out.push(b'[');
            if let (1, ValueRef::Vector(numbers)) = (list.len(), list.get(0)) {
                writer.vector(numbers);
            } else {
                for (index, value) in list.iter().enumerate() {
                    let of =
                        |writer: &mut ReplyWriter<'a>| writer.leaf(field, value, (stored, leaf));
                    writer.item(ty.item_type(), index, of)?;
                }
            }
            writer.out.push(b']');
            Ok(())
        })
    }

    fn vector(&mut self, numbers: &[f32]) {
        for (index, number) in numbers.iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            hexgraph_base::types::write_float32(*number, &mut self.out);
        }
    }

    fn leaf(
        &mut self,
        field: &'a Field,
        value: ValueRef<'_>,
        (stored, leaf): (ValueType, Leaf<'a>),
    ) -> Written {
        match write_stored(value, stored, leaf, &mut self.out) {
            Ok(()) => Ok(()),
            Err(Mismatch(shown)) => {
                let (name, ty) = (&field.shape.name, field.shape.ty.inner_named_type());
                self.spoil(
                    field,
                    format!("Error coercing value '{shown}' for field '{name}' to type {ty}."),
                )
            }
        }
    }

    fn geometry(&mut self, field: &'a Field, result: &'a FieldResult, node: u32) -> Written {
        let FieldData::Values(values) = &result.data else { return self.absent(field) };
        let Some((_, list)) = values.predicate.values_in(Langs::First(&[]), node) else {
            return self.absent(field);
        };
        let Ok(value) = typed(list.get(0), values.predicate.def.value_type) else {
            return self.absent(field);
        };
        let ValueRef::Geo(text) = value.as_ref() else { return self.absent(field) };
        match super::geometry::write_geometry(text, field, &mut self.out) {
            Some(()) => Ok(()),
            None => self.absent(field),
        }
    }

    fn aggregate(
        &mut self,
        field: &'a Field,
        shape: &'a AggregateShape<'a>,
        level: &Level,
        nodes: AggregatedNodes<'_>,
    ) -> Written {
        let name = field.shape.ty.inner_named_type();
        let of = (level, nodes);
        let reported = match write_aggregate(name, shape, of, self.context, &mut self.out) {
            Ok(reported) => reported,
            Err(stopped) => {
                self.stopped = self.stopped.take().or(Some(stopped));
                return Err(Spoiled);
            }
        };
        for (key, message) in reported {
            let mut path = self.steps();
            path.push(PathStep::Key(key.shape.key.as_str().into()));
            self.report_fault(GraphqlError {
                path,
                ..GraphqlError::at(key.shape.location, message)
            });
        }
        Ok(())
    }

    fn key(&mut self, name: &str) {
        // Names are letters, digits and `_`.
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    fn text(&mut self, text: &str) -> Written {
        write_json_text(text, &mut self.out);
        Ok(())
    }

    /// Writes a missing value: an empty list or null, or an error where the type of the field
    /// forbids null.
    fn absent(&mut self, field: &'a Field) -> Written {
        let ty = &field.shape.ty;
        if ty.is_list() { self.empty_list() } else { self.missing(ty, field) }
    }

    fn look_at_control(&mut self) -> Written {
        self.objects = self.objects.wrapping_add(1);
        // Discarded objects add no bytes.
        let looks = self.objects.is_multiple_of(OBJECTS_INTERVAL);
        let stopped = if looks { self.context.check().err() } else { None };
        self.stopped = self.stopped.take().or(stopped);
        if self.goes_on() { Ok(()) } else { Err(Spoiled) }
    }

    /// The faults that were reported.
    pub(in crate::db::graphql) fn into_faults(self) -> Vec<GraphqlError> {
        self.faults.into_list()
    }
}

impl NullPropagation for ReplyWriter<'_> {
    #[inline]
    fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    fn faults(&mut self) -> &mut Faults {
        &mut self.faults
    }

    fn goes_on(&mut self) -> bool {
        let length = self.out.len() + self.faults.bytes();
        self.stopped = self.stopped.take().or_else(|| self.capacity.look(length).err());
        self.stopped.is_none()
    }

    fn steps(&self) -> Vec<PathStep> {
        let step = |step: &Step<'_>| match step {
            Step::Key(key) => PathStep::Key((*key).into()),
            Step::Index(index) => PathStep::Index(*index),
        };
        self.path.iter().map(step).collect()
    }
}

/// The concrete type of the node at a position of a level, and its selection.
pub(in crate::db::graphql) fn variant_at<'a>(
    level: &'a Level,
    position: usize,
    shape: &'a ObjectShape<'a>,
) -> (Option<&'a TypeDef>, &'a [Key<'a>]) {
    let Some(types) = shape.type_position else {
        return match shape.variants.first() {
            Some(variant) => (variant.types.first().copied(), &variant.keys),
            None => (None, &shape.absent),
        };
    };
    match &level.fields[types].data {
        FieldData::Values(types) => {
            let list =
                types.predicate.values("").map(|values| values.values(level.nodes[position]));
            let list = list.iter().flat_map(|list| list.iter());
            shape.of(list.filter_map(text_of_value))
        }
        _ => shape.of(std::iter::empty()),
    }
}

/// An empty level, for edges that no node has.
static NO_LEVEL: std::sync::LazyLock<Level> = std::sync::LazyLock::new(Level::default);

fn text_of_value(value: ValueRef<'_>) -> Option<&str> {
    match value {
        ValueRef::String(text) | ValueRef::Default(text) => Some(text),
        _ => None,
    }
}

fn first_position(block: &BlockResult) -> Option<usize> {
    positions(block).next()
}

/// The positions of the nodes of a block after `@cascade`.
fn positions(block: &BlockResult) -> impl Iterator<Item = usize> {
    let positions = block.roots.iter().filter_map(|node| block.level.position(*node));
    positions.filter(|position| block.level.is_alive(*position))
}

fn agrees(result: &FieldResult, position: usize) -> bool {
    matches!(&result.data, FieldData::Passwords(answers) if answers[position])
}

/// Returns the vector of a node.
pub(in crate::db::graphql) fn vector_of(result: &FieldResult, node: u32) -> Option<&[f32]> {
    let FieldData::Values(values) = &result.data else { return None };
    match values.predicate.values("")?.first(node)? {
        ValueRef::Vector(numbers) => Some(numbers),
        _ => None,
    }
}
