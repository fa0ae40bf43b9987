//! Aggregates over nodes whose values were fetched.

use super::leaf::{Mismatch, write_leaf};
use hexgraph_base::answer::write_json_text;
use hexgraph_base::plan::{Algebraic, FieldKind};
use hexgraph_base::types::{Result, Value, ValueRef, write_int};
use hexgraph_graphql::lower::{AggregateOp, AggregateShape, Leaf};
use hexgraph_graphql::request::Field;
use hexgraph_store::exec::{
    BlockResult, ColumnNumbers, FieldData, Level, ManyNodes, RequestContext, Sum, ValueField,
    first_value, nodes_of_extreme,
};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::cmp::Ordering;

/// Writes the object of an aggregate. Numbers that don't fit their type are null; the fields and
/// what is wrong are returned.
///
/// # Errors
///
/// Those of [`RequestContext::check`].
pub(super) fn write_aggregate<'a>(
    type_name: &str,
    shape: &AggregateShape<'a>,
    (level, nodes): (&Level, AggregatedNodes<'_>),
    context: &RequestContext,
    out: &mut Vec<u8>,
) -> Result<Vec<(&'a Field, String)>> {
    let count = nodes.count;
    let fields = Fields { level, nodes, context };
    let mut reported = Vec::new();
    out.push(b'{');
    for (index, key) in shape.keys.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let field = key.field;
        write_json_text(&field.shape.key, out);
        out.push(b':');
        if shape.is_hidden && !matches!(key.op, AggregateOp::TypeName) {
            out.extend_from_slice(b"null");
            continue;
        }
        let value = match key.op {
            AggregateOp::TypeName => {
                write_json_text(type_name, out);
                continue;
            }
            AggregateOp::Count => {
                write_int(count as i64, out);
                continue;
            }
            AggregateOp::Min(at) => fields.extreme(at, Algebraic::Min)?,
            AggregateOp::Max(at) => fields.extreme(at, Algebraic::Max)?,
            AggregateOp::Sum(at) => match fields.sum(at)?.map(Sum::value).transpose() {
                Ok(sum) => sum,
                Err(error) => {
                    out.extend_from_slice(b"null");
                    reported.push((field, error.to_string()));
                    continue;
                }
            },
            AggregateOp::Avg(at) => fields.sum(at)?.and_then(Sum::mean),
        };
        let leaf = leaf_of(field.shape.ty.inner_named_type());
        match value {
            None => out.extend_from_slice(b"null"),
            Some(value) => {
                if let Err(Mismatch(shown)) = write_leaf(value.as_ref(), leaf, out) {
                    out.extend_from_slice(b"null");
                    let (name, ty) = (&field.shape.name, &field.shape.ty);
                    let message =
                        format!("Error coercing value '{shown}' for field '{name}' to type {ty}.");
                    reported.push((field, message));
                }
            }
        }
    }
    out.push(b'}');
    Ok(reported)
}

/// The scalar of an aggregate. A sum of `Int` is any integer, as in Dgraph.
fn leaf_of(scalar: &str) -> Leaf<'static> {
    match scalar {
        "Int" | "Int64" => Leaf::Int64,
        "Float" => Leaf::Float,
        "DateTime" => Leaf::DateTime,
        _ => Leaf::Text,
    }
}

/// The nodes whose values are aggregated.
pub(super) struct AggregatedNodes<'l> {
    count: usize,
    /// Those that are listed, or those of the set, once somebody requests a list.
    list: OnceCell<Cow<'l, [u32]>>,
    /// The nodes as a set for all fields, where they are many.
    many: OnceCell<Option<ManyNodes>>,
}

impl<'l> AggregatedNodes<'l> {
    /// Nodes that are listed.
    pub(super) fn of_list(nodes: &'l [u32]) -> AggregatedNodes<'l> {
        let list = OnceCell::from(Cow::Borrowed(nodes));
        AggregatedNodes { count: nodes.len(), list, many: OnceCell::new() }
    }

    /// The nodes of a block, counted, listed or as a set.
    pub(super) fn of_block(block: &'l BlockResult) -> AggregatedNodes<'l> {
        let Some(set) = ManyNodes::of_block(block) else {
            let count = block.count.unwrap_or(block.roots.len());
            return AggregatedNodes { count, ..AggregatedNodes::of_list(&block.roots) };
        };
        AggregatedNodes {
            count: block.unlisted,
            list: OnceCell::new(),
            many: OnceCell::from(Some(set)),
        }
    }

    fn list(&self) -> &[u32] {
        let listed = || self.many.get().and_then(Option::as_ref).map(ManyNodes::list);
        self.list.get_or_init(|| Cow::Owned(listed().unwrap_or_default()))
    }

    fn many(&self) -> Option<&ManyNodes> {
        self.many.get_or_init(|| ManyNodes::of(self.list())).as_ref()
    }
}

/// Nodes, and the fields that were fetched of them, identified by their indexes.
struct Fields<'l, 'n> {
    level: &'l Level,
    nodes: AggregatedNodes<'n>,
    context: &'l RequestContext,
}

impl Fields<'_, '_> {
    /// The values of a field, and the languages that they are read in.
    fn result(&self, at: usize) -> Option<(&ValueField, &[String])> {
        let result = self.level.fields.get(at)?;
        match (&result.data, &result.field.kind) {
            (FieldData::Values(values), FieldKind::Predicate { langs, .. }) => {
                Some((values, langs))
            }
            _ => None,
        }
    }

    /// The numbers of a field as a column, where they are one and the nodes are many.
    fn column(&self, at: usize) -> Option<ColumnNumbers> {
        let (values, langs) = self.result(at)?;
        let many = self.nodes.many().filter(|_| langs.is_empty())?;
        ColumnNumbers::new(&values.predicate, many)
    }

    /// The values that some of the nodes have in a field. Nodes without a value are left out.
    fn values(&self, at: usize, nodes: &[u32]) -> impl Iterator<Item = Value> {
        self.result(at).into_iter().flat_map(move |(values, langs)| {
            nodes.iter().filter_map(move |&node| first_value(&values.predicate, langs, node))
        })
    }

    /// The least value of a field, or for `Algebraic::Max` the greatest.
    fn extreme(&self, at: usize, op: Algebraic) -> Result<Option<Value>> {
        if let Some(column) = self.column(at) {
            return column.extreme(op, self.context);
        }
        let expected = if op == Algebraic::Max { Ordering::Greater } else { Ordering::Less };
        let better =
            |best: &Value, other: &Value| compare(other.as_ref(), best.as_ref()) == expected;
        // Of many texts and times only those are looked at that may come first.
        let leading = match (self.result(at), self.nodes.many()) {
            (Some((values, [])), Some(many)) => {
                nodes_of_extreme(&values.predicate, many, op, self.context)?
            }
            _ => None,
        };
        let all = self.values(at, leading.as_deref().unwrap_or_else(|| self.nodes.list()));
        Ok(all.reduce(|best, other| if better(&best, &other) { other } else { best }))
    }

    /// The sum of the numbers of a field.
    fn sum(&self, at: usize) -> Result<Option<Sum>> {
        if let Some(column) = self.column(at) {
            return column.sum(self.context);
        }
        let is_number = |value: &Value| matches!(value, Value::Int(_) | Value::Float(_));
        let numbers: Vec<Value> = self.values(at, self.nodes.list()).filter(is_number).collect();
        Ok(Sum::over(numbers.iter().map(Value::as_ref)))
    }
}

/// Compares two values: texts by their bytes, all others by their value.
fn compare(one: ValueRef<'_>, other: ValueRef<'_>) -> Ordering {
    match (one, other) {
        (
            ValueRef::String(one) | ValueRef::Default(one),
            ValueRef::String(other) | ValueRef::Default(other),
        ) => one.cmp(other),
        _ => one.compare(other).unwrap_or(Ordering::Equal),
    }
}

#[cfg(test)]
mod tests {
    use crate::db::graphql::{Headers, Request};
    use crate::db::{Database, RequestContext};
    use fastrand::Rng;
    use serde_json::{Value as Json, json};

    const NODES: usize = 700;

    fn requested(db: &Database, text: &str) -> Json {
        let response = db.graphql_with(
            &Request::new(text.to_owned()),
            &Headers::new(),
            &RequestContext::new(),
        );
        assert!(response.errors.is_empty(), "{text}: {:?}", response.errors);
        serde_json::from_slice::<Json>(&response.to_json("")).unwrap()["data"].clone()
    }

    /// Of many nodes the numbers are read as columns, of few one by one: both equal the aggregates
    /// of the listed values, also after changes.
    #[test]
    fn aggregates_are_those_of_the_values() {
        let db = Database::in_memory();
        db.set_graphql_schema(
            "type P { id: ID! n: Int64 @search f: Float t: String @search(by: [exact]) s: String d: DateTime }",
        )
        .unwrap();
        let mut rng = Rng::with_seed(3);
        let mut lines = String::new();
        let line = |uid: usize, rng: &mut Rng, lines: &mut String| {
            let has = [rng.u8(..9) != 0, rng.u8(..9) != 0];
            let (n, f) = (rng.i64(-1000..1_000_000), rng.f64() * 1e3);
            lines.push_str(&format!(
                "<{uid:#x}> <dgraph.type> \"P\" .\n<{uid:#x}> <P.t> \"{}\" .\n",
                uid % 9
            ));
            if has[0] {
                lines.push_str(&format!("<{uid:#x}> <P.n> \"{n}\" .\n"));
            }
            if has[1] {
                let (year, s) = (rng.u32(1900..2050), rng.u32(..));
                lines.push_str(&format!("<{uid:#x}> <P.f> \"{f}\" .\n"));
                lines.push_str(&format!("<{uid:#x}> <P.d> \"{year}-02-0{}\" .\n", s % 9 + 1));
                lines.push_str(&format!("<{uid:#x}> <P.s> \"{} of many {s}\" .\n", s % 3));
            }
        };
        (1..=NODES).for_each(|uid| line(uid, &mut rng, &mut lines));
        let commit = |set: &str, delete: &str| drop(db.mutate(set, delete).unwrap());
        commit(&lines, "");
        db.compact().unwrap();
        for round in 0..3 {
            for filter in ["", "(filter: { t: { eq: \"3\" } })"] {
                let query = format!(
                    "{{ queryP{filter} {{ n f s d }} aggregateP{filter} {{ count nMin nMax nSum nAvg fMin fMax fSum fAvg sMin sMax dMin dMax }} }}"
                );
                let data = requested(&db, &query);
                let nodes = data["queryP"].as_array().unwrap();
                assert!(NODES / 20 < nodes.len(), "{filter}");
                let reported = &data["aggregateP"];
                assert_eq!(reported["count"], json!(nodes.len()));
                let ints: Vec<i64> = nodes.iter().filter_map(|node| node["n"].as_i64()).collect();
                let floats: Vec<f64> = nodes.iter().filter_map(|node| node["f"].as_f64()).collect();
                assert!(ints.len() < nodes.len() && floats.len() < nodes.len());
                let sum: i64 = ints.iter().sum();
                assert_eq!(reported["nSum"], json!(sum), "{round} {filter}");
                assert_eq!(reported["nMin"], json!(ints.iter().min()));
                assert_eq!(reported["nMax"], json!(ints.iter().max()));
                for name in ["s", "d"] {
                    let all = || nodes.iter().filter_map(|node| node[name].as_str());
                    assert_eq!(reported[format!("{name}Min")].as_str(), all().min(), "{round}");
                    assert_eq!(reported[format!("{name}Max")].as_str(), all().max(), "{round}");
                }
                // The reader of JSON may be wrong in the last bit.
                let is_near = |name: &str, expected: f64| {
                    let result = reported[name].as_f64().unwrap();
                    assert!(
                        ((result - expected) / expected).abs() < 1e-12,
                        "{name}: {result}, {expected}"
                    );
                };
                is_near("nAvg", sum as f64 / ints.len() as f64);
                let sum: f64 = floats.iter().sum();
                is_near("fSum", sum);
                is_near("fAvg", sum / floats.len() as f64);
                is_near("fMin", floats.iter().copied().fold(f64::INFINITY, f64::min));
                is_near("fMax", floats.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            }
            let (mut set, mut delete) = (String::new(), String::new());
            for _ in 0..40 {
                let uid = rng.usize(1..NODES + 20);
                match rng.bool() {
                    true => line(uid, &mut rng, &mut set),
                    false => {
                        delete.push_str(&format!("<{uid:#x}> <P.n> * .\n<{uid:#x}> <P.f> * .\n"))
                    }
                }
            }
            commit(&set, "");
            commit("", &delete);
        }
    }
}
