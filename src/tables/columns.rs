//! Stored values as columns of Arrow.

use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Float32Builder, Float64Builder, Int64Builder, ListBuilder,
    StringBuilder, TimestampMicrosecondBuilder, TimestampNanosecondBuilder,
};
use arrow_array::{ArrayRef, ListArray, RecordBatch, UInt64Array};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use hexgraph_base::schema::PredicateDef;
use hexgraph_base::types::{DateTime, Error, Result, Uid, ValueRef, ValueType};
use hexgraph_store::graph::{LangValues, NodeIds, Predicate};
use hexgraph_store::storage::{Edges, FacetColumn, Values, text_of};
use roaring::RoaringBitmap;
use std::collections::HashMap;
use std::sync::Arc;

/// What the schema of a file says under this key: the predicate of the edges.
pub(super) const PREDICATE_KEY: &str = "hexgraph.predicate";

/// The column of the uids of nodes.
pub(super) const UID_COLUMN: &str = "uid";

/// The columns of the endpoints of edges.
pub(super) const END_COLUMNS: [&str; 2] = ["source", "target"];

const ZONE: &str = "UTC";

/// Seconds that are fewer than 2^63 microseconds, or nanoseconds.
const MICROS_MAX: i64 = 9_000_000_000_000;
const NANOS_MAX: i64 = 9_000_000_000;

/// The layout of a table of nodes: its columns and where their values come from.
pub(super) struct NodeColumns<'a> {
    schema: SchemaRef,
    columns: Vec<NodeColumn<'a>>,
}

struct NodeColumn<'a> {
    values: &'a LangValues,
    is_list: bool,
    /// The values of this type are those of the column.
    value_type: ValueType,
    /// The column has a facet of theirs, by its key and type.
    facet: Option<(&'a str, ValueType)>,
    form: Form,
}

/// The form in which a column holds its values.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Int,
    Float,
    Bool,
    Text,
    Micros,
    Nanos,
    Vector,
}

impl<'a> NodeColumns<'a> {
    /// The columns that some nodes have values in.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] for values that have no column.
    pub(super) fn new(
        nodes: &RoaringBitmap,
        predicates: &[(&str, &'a Predicate)],
    ) -> Result<NodeColumns<'a>> {
        let mut fields = vec![Field::new(UID_COLUMN, DataType::UInt64, false)];
        let mut columns = Vec::new();
        for (name, predicate) in predicates {
            for values in predicate.langs() {
                if values.subjects().to_bitmap().is_disjoint(nodes) {
                    continue;
                }
                let base = match &*values.lang {
                    "" => (*name).to_owned(),
                    lang => format!("{name}@{lang}"),
                };
                for value_type in types_of(&values.base.column.values) {
                    let name = typed_name(&base, &predicate.def, value_type)?;
                    let form = form_of(value_type, &values.base.column.values);
                    let is_list = predicate.def.list;
                    let own = NodeColumn { values, is_list, value_type, facet: None, form };
                    fields.push(own.field(&name));
                    columns.push(own);
                    for (facet, key, facet_type, form) in facets_of(&values.base.column.facets) {
                        let facet = Some((&*facet.key, facet_type));
                        let own = NodeColumn { values, is_list, value_type, facet, form };
                        fields.push(own.field(&format!("{name}|{key}")));
                        columns.push(own);
                    }
                }
            }
        }
        Ok(NodeColumns { schema: Arc::new(Schema::new(fields)), columns })
    }

    /// The schema of the columns.
    pub(super) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The columns of some nodes, and the number of their values.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] when they don't fit a batch.
    pub(super) fn batch(&self, nodes: &[u32], ids: &NodeIds) -> Result<(RecordBatch, u64)> {
        let mut arrays: Vec<ArrayRef> = vec![uids(nodes, ids)];
        let mut count = 0;
        for column in &self.columns {
            let (array, result) = column.array(nodes);
            count += if column.facet.is_none() { result } else { 0 };
            arrays.push(array);
        }
        Ok((batch(&self.schema, arrays)?, count))
    }
}

impl NodeColumn<'_> {
    fn field(&self, name: &str) -> Field {
        let data_type = match self.is_list {
            true => DataType::List(Arc::new(Field::new("item", self.form.data_type(), true))),
            false => self.form.data_type(),
        };
        Field::new(name, data_type, true)
    }

    /// Builds one column for some nodes, and counts its cells that are not null.
    fn array(&self, nodes: &[u32]) -> (ArrayRef, u64) {
        let mut cells = Builder::new(self.form);
        let (mut offsets, mut present, mut count) = (vec![0], Vec::new(), 0);
        for &node in nodes {
            let list = self.values.values(node);
            let before = cells.len();
            for position in 0..list.len() {
                let value = list.get(position);
                if value.value_type() != self.value_type {
                    continue;
                }
                let cell = match self.facet {
                    None => Some(value),
                    Some((key, expected)) => {
                        let result = list
                            .facets(position)
                            .into_iter()
                            .find(|(other, value)| *other == key && value.value_type() == expected);
                        result.map(|(_, value)| value)
                    }
                };
                count += u64::from(cell.is_some());
                cells.push(cell);
            }
            let is_present = before < cells.len();
            if !self.is_list && !is_present {
                cells.push(None);
            }
            present.push(is_present);
            offsets.push(cells.len() as i32);
        }
        let items = cells.finish();
        if !self.is_list {
            return (items, count);
        }
        let item = Arc::new(Field::new("item", self.form.data_type(), true));
        let offsets = OffsetBuffer::new(offsets.into());
        (Arc::new(ListArray::new(item, offsets, items, Some(NullBuffer::from(present)))), count)
    }
}

/// The layout of a table of the edges of one predicate.
///
/// # Errors
///
/// [`Error::Query`] for facets that have no column.
pub(super) fn edge_schema(name: &str, edges: &Edges) -> Result<SchemaRef> {
    let mut fields = END_COLUMNS.map(|end| Field::new(end, DataType::UInt64, false)).to_vec();
    for (_, key, _, form) in facets_of(&edges.facets) {
        let is_end = END_COLUMNS.contains(&&*key);
        let name = if is_end { format!("|{key}") } else { key };
        fields.push(Field::new(name, form.data_type(), true));
    }
    let metadata = HashMap::from([(PREDICATE_KEY.to_owned(), name.to_owned())]);
    Ok(Arc::new(Schema::new_with_metadata(fields, metadata)))
}

/// Some edges: those from position `start` on, whose sources are given.
///
/// # Errors
///
/// As [`NodeColumns::batch`].
pub(super) fn edge_batch(
    schema: &SchemaRef,
    edges: &Edges,
    (sources, start): (&[u32], usize),
    ids: &NodeIds,
) -> Result<RecordBatch> {
    let positions = start..start + sources.len();
    let targets = edges.targets.slice(positions.clone());
    let mut arrays = vec![uids(sources, ids), uids(targets, ids)];
    for (facet, _, _, form) in facets_of(&edges.facets) {
        let mut cells = Builder::new(form);
        positions.clone().for_each(|position| cells.push(facet.get(position)));
        arrays.push(cells.finish());
    }
    batch(schema, arrays)
}

fn batch(schema: &SchemaRef, arrays: Vec<ArrayRef>) -> Result<RecordBatch> {
    let batch = RecordBatch::try_new(Arc::clone(schema), arrays);
    batch.map_err(|error| Error::query(format!("the export: {error}")))
}

fn uids(nodes: &[u32], ids: &NodeIds) -> ArrayRef {
    let uid = |&node: &u32| {
        let Uid(uid) = ids.uid(node);
        uid
    };
    Arc::new(nodes.iter().map(uid).collect::<UInt64Array>())
}

/// Returns the types that occur among some values.
fn types_of(values: &Values) -> Vec<ValueType> {
    if let Some(only) = values.value_type() {
        return vec![only];
    }
    let mut types: Vec<ValueType> = Vec::new();
    for at in 0..values.len() {
        let value_type = values.get(at).value_type();
        if !types.contains(&value_type) {
            types.push(value_type);
        }
    }
    types
}

/// The name of a column of the values of a type: it says the type where the schema does not, and of
/// passwords that they are what is retained of them.
fn typed_name(base: &str, def: &PredicateDef, value_type: ValueType) -> Result<String> {
    if value_type == ValueType::Binary {
        let what = format!("predicate {base} holds bytes, which no column here has");
        return Err(Error::query(format!("{what}: export .rdf")));
    }
    let is_plain = value_type == def.value_type && value_type != ValueType::Password;
    Ok(if is_plain { base.to_owned() } else { format!("{base}^^{}", value_type.name()) })
}

/// The facets, with the names of their columns, their types, and how they stand there.
fn facets_of(
    facets: &[FacetColumn],
) -> impl Iterator<Item = (&FacetColumn, String, ValueType, Form)> {
    facets.iter().enumerate().map(|(position, facet)| {
        let value_type = facet.values.value_type().unwrap_or(ValueType::String);
        let form = form_of(value_type, &facet.values);
        let is_repeated = facets[..position].iter().any(|other| other.key == facet.key);
        let is_text = form == Form::Text && value_type != ValueType::String;
        let name = match is_repeated || is_text {
            true => format!("{}^^{}", facet.key, value_type.name()),
            false => facet.key.clone(),
        };
        (facet, name, value_type, form)
    })
}

fn form_of(value_type: ValueType, values: &Values) -> Form {
    match value_type {
        ValueType::Int => Form::Int,
        ValueType::Float => Form::Float,
        ValueType::Bool => Form::Bool,
        ValueType::Vector => Form::Vector,
        ValueType::DateTime => form_of_times(values),
        _ => Form::Text,
    }
}

fn form_of_times(values: &Values) -> Form {
    let times = || {
        (0..values.len()).filter_map(|at| match values.get(at) {
            ValueRef::DateTime(time) => Some(time),
            _ => None,
        })
    };
    let within = |most: i64| times().all(|time| (-most..most).contains(&time.seconds));
    if matches!(values, Values::Days(_) | Values::SmallTime(_)) {
        return Form::Micros;
    }
    if times().any(|time| time.offset_minutes != 0) {
        return Form::Text;
    }
    match times().all(|time| time.nanos % 1000 == 0) {
        true if within(MICROS_MAX) => Form::Micros,
        false if within(NANOS_MAX) => Form::Nanos,
        _ => Form::Text,
    }
}

impl Form {
    fn data_type(self) -> DataType {
        match self {
            Form::Int => DataType::Int64,
            Form::Float => DataType::Float64,
            Form::Bool => DataType::Boolean,
            Form::Text => DataType::Utf8,
            Form::Micros => DataType::Timestamp(TimeUnit::Microsecond, Some(ZONE.into())),
            Form::Nanos => DataType::Timestamp(TimeUnit::Nanosecond, Some(ZONE.into())),
            Form::Vector => DataType::List(Arc::new(Field::new("item", DataType::Float32, true))),
        }
    }
}

/// The builder of a column, cell by cell.
enum Builder {
    Int(Int64Builder),
    Float(Float64Builder),
    Bool(BooleanBuilder),
    Text(StringBuilder),
    Micros(TimestampMicrosecondBuilder),
    Nanos(TimestampNanosecondBuilder),
    Vector(ListBuilder<Float32Builder>),
}

impl Builder {
    fn new(form: Form) -> Builder {
        match form {
            Form::Int => Builder::Int(Int64Builder::new()),
            Form::Float => Builder::Float(Float64Builder::new()),
            Form::Bool => Builder::Bool(BooleanBuilder::new()),
            Form::Text => Builder::Text(StringBuilder::new()),
            Form::Micros => Builder::Micros(TimestampMicrosecondBuilder::new().with_timezone(ZONE)),
            Form::Nanos => Builder::Nanos(TimestampNanosecondBuilder::new().with_timezone(ZONE)),
            Form::Vector => Builder::Vector(ListBuilder::new(Float32Builder::new())),
        }
    }

    fn len(&self) -> usize {
        match self {
            Builder::Int(cells) => cells.len(),
            Builder::Float(cells) => cells.len(),
            Builder::Bool(cells) => cells.len(),
            Builder::Text(cells) => cells.len(),
            Builder::Micros(cells) => cells.len(),
            Builder::Nanos(cells) => cells.len(),
            Builder::Vector(cells) => cells.len(),
        }
    }

    fn push(&mut self, value: Option<ValueRef<'_>>) {
        match (self, value) {
            (Builder::Int(cells), Some(ValueRef::Int(number))) => cells.append_value(number),
            (Builder::Float(cells), Some(ValueRef::Float(number))) => cells.append_value(number),
            (Builder::Bool(cells), Some(ValueRef::Bool(truth))) => cells.append_value(truth),
            (Builder::Micros(cells), Some(ValueRef::DateTime(time))) => {
                cells.append_value(time.seconds * 1_000_000 + i64::from(time.nanos / 1000));
            }
            (Builder::Nanos(cells), Some(ValueRef::DateTime(time))) => {
                cells.append_value(time.seconds * 1_000_000_000 + i64::from(time.nanos));
            }
            (Builder::Vector(cells), Some(ValueRef::Vector(numbers))) => {
                cells.values().append_slice(numbers);
                cells.append(true);
            }
            (Builder::Text(cells), Some(ValueRef::DateTime(time))) => {
                cells.append_value(time_text(time));
            }
            (Builder::Text(cells), value) => cells.append_option(value.and_then(text_of)),
            (Builder::Int(cells), _) => cells.append_null(),
            (Builder::Float(cells), _) => cells.append_null(),
            (Builder::Bool(cells), _) => cells.append_null(),
            (Builder::Micros(cells), _) => cells.append_null(),
            (Builder::Nanos(cells), _) => cells.append_null(),
            (Builder::Vector(cells), _) => cells.append_null(),
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Builder::Int(mut cells) => Arc::new(cells.finish()),
            Builder::Float(mut cells) => Arc::new(cells.finish()),
            Builder::Bool(mut cells) => Arc::new(cells.finish()),
            Builder::Text(mut cells) => Arc::new(cells.finish()),
            Builder::Micros(mut cells) => Arc::new(cells.finish()),
            Builder::Nanos(mut cells) => Arc::new(cells.finish()),
            Builder::Vector(mut cells) => Arc::new(cells.finish()),
        }
    }
}

fn time_text(time: DateTime) -> String {
    let mut text = Vec::new();
    time.write(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}
