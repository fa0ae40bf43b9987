//! Writes the result of an algorithm as the objects of its block: the uid and the number of each
//! node, the two uids of each pair, or the number of a path and the uid of each node of it.

use super::answer_writer::AnswerWriter;
use crate::algo::{Output, Paths};
use crate::exec::control::tree::AlgorithmResult;
use crate::graph::NodeIds;
use hexgraph_base::answer::Key;
use hexgraph_base::types::{Sink, ValueRef};

/// The keys of the two nodes of a pair.
const UID: &str = "uid";
const TO: &str = "to";

/// The key of the number of a path.
const PATH: &str = "path";

/// The keys of the objects, in their order. The number stands under the name of the algorithm.
pub(crate) fn keys(block: &str, output: &Output) -> Vec<Key> {
    let names: &[&str] = match output {
        Output::Floats(_) | Output::Ints(_) | Output::Some(_) | Output::Vectors(_) => &[UID, block],
        Output::Float(_) => &[block],
        Output::Nodes(_) => &[UID],
        Output::Pairs(_) => &[UID, TO, block],
        Output::Paths(_) => &[PATH, UID, block],
    };
    names.iter().map(|name| Key::Always((*name).to_owned())).collect()
}

/// Writes the objects. A node without a number has none.
pub(super) fn write_rows(writer: &mut AnswerWriter<'_, '_>, block: &str, result: &AlgorithmResult) {
    let (nodes, ids) = (result.graph.nodes(), &writer.version.nodes);
    let most = writer.objects_max;
    let mut rows = Rows { sink: &mut *writer.sink, nodes, ids, block };
    match &result.result.output {
        Output::Floats(numbers) => {
            let present = (0..).zip(numbers).filter(|(_, number)| !number.is_nan());
            present
                .take(most)
                .for_each(|(node, number)| rows.value(node, ValueRef::Float(*number)));
        }
        Output::Ints(numbers) => {
            let present = (0..).zip(numbers).filter(|(_, number)| !Output::is_missing(**number));
            for (node, number) in present.take(most) {
                rows.object(|rows| {
                    rows.uid(UID, node);
                    rows.sink.key(block);
                    rows.sink.int(*number);
                });
            }
        }
        Output::Float(number) => rows.object(|rows| rows.float(*number)),
        Output::Nodes(hit) => {
            hit.iter().take(most).for_each(|node| rows.object(|rows| rows.uid(UID, *node)));
        }
        Output::Pairs(pairs) => {
            for (from, to, number) in pairs.iter().take(most) {
                rows.object(|rows| {
                    rows.uid(UID, *from);
                    rows.uid(TO, *to);
                    rows.float(*number);
                });
            }
        }
        Output::Some(numbers) => {
            let some = numbers.iter().take(most);
            some.for_each(|(node, number)| rows.value(*node, ValueRef::Float(*number)));
        }
        Output::Paths(paths) => rows.paths(paths, most),
        Output::Vectors(vectors) => {
            let all = (0..).zip(vectors.values.chunks_exact(vectors.dimensions));
            all.take(most).for_each(|(node, vector)| rows.value(node, ValueRef::Vector(vector)));
        }
    }
}

/// The objects while they are written.
struct Rows<'w> {
    sink: &'w mut dyn Sink,
    /// The node ids by the numbers of nodes.
    nodes: &'w [u32],
    ids: &'w NodeIds,
    /// The name of the algorithm.
    block: &'w str,
}

impl Rows<'_> {
    fn object(&mut self, write: impl FnOnce(&mut Self)) {
        self.sink.begin_object();
        write(self);
        self.sink.end_object();
    }

    fn uid(&mut self, key: &str, number: u32) {
        self.sink.key(key);
        self.sink.uid(self.ids.uid(self.nodes[number as usize]));
    }

    fn float(&mut self, number: f64) {
        self.sink.key(self.block);
        self.sink.value(ValueRef::Float(number));
    }

    /// The object of a node with a value.
    fn value(&mut self, node: u32, value: ValueRef<'_>) {
        self.object(|rows| {
            rows.uid(UID, node);
            rows.sink.key(rows.block);
            rows.sink.value(value);
        });
    }

    fn paths(&mut self, paths: &Paths, most: usize) {
        for (step, (way, node, position)) in paths.steps().enumerate().take(most) {
            self.object(|rows| {
                rows.sink.key(PATH);
                rows.sink.int(way as i64);
                rows.uid(UID, node);
                rows.sink.key(rows.block);
                match &paths.distances {
                    Some(distances) => rows.sink.value(ValueRef::Float(distances[step])),
                    None => rows.sink.int(position as i64),
                }
            });
        }
    }
}
