//! Writes what an algorithm found as the objects of its block: the uid and the number of each node, or the two uids of each pair.

use super::answer_writer::AnswerWriter;
use crate::algo::Output;
use crate::exec::control::tree::AlgorithmResult;
use hexgraph_base::answer::Key;
use hexgraph_base::types::{Sink, ValueRef};

/// The keys of the two nodes of a pair.
const UID: &str = "uid";
const TO: &str = "to";

/// The keys of the objects, in their order. The number stands under the name of the algorithm.
pub(crate) fn keys(block: &str, output: &Output) -> Vec<Key> {
    let names: &[&str] = match output {
        Output::Floats(_) | Output::Ints(_) => &[UID, block],
        Output::Float(_) => &[block],
        Output::Nodes(_) => &[UID],
        Output::Pairs(_) => &[UID, TO, block],
    };
    names.iter().map(|name| Key::Always((*name).to_owned())).collect()
}

/// Writes the objects. A node without a number has none.
pub(super) fn write_rows(writer: &mut AnswerWriter<'_, '_>, block: &str, result: &AlgorithmResult) {
    let (nodes, ids) = (result.graph.nodes(), &writer.version.nodes);
    let most = writer.objects_max;
    let sink = &mut *writer.sink;
    let uid_of = |sink: &mut dyn Sink, key: &str, number: u32| {
        sink.key(key);
        sink.uid(ids.uid(nodes[number as usize]));
    };
    match &result.found.output {
        Output::Floats(numbers) => {
            let present = (0..).zip(numbers).filter(|(_, number)| !number.is_nan());
            for (node, number) in present.take(most) {
                sink.begin_object();
                uid_of(sink, UID, node);
                sink.key(block);
                sink.value(ValueRef::Float(*number));
                sink.end_object();
            }
        }
        Output::Ints(numbers) => {
            let present = (0..).zip(numbers).filter(|(_, number)| !Output::is_missing(**number));
            for (node, number) in present.take(most) {
                sink.begin_object();
                uid_of(sink, UID, node);
                sink.key(block);
                sink.int(*number);
                sink.end_object();
            }
        }
        Output::Float(number) => {
            sink.begin_object();
            sink.key(block);
            sink.value(ValueRef::Float(*number));
            sink.end_object();
        }
        Output::Nodes(found) => {
            for node in found.iter().take(most) {
                sink.begin_object();
                uid_of(sink, UID, *node);
                sink.end_object();
            }
        }
        Output::Pairs(pairs) => {
            for (from, to, number) in pairs.iter().take(most) {
                sink.begin_object();
                uid_of(sink, UID, *from);
                uid_of(sink, TO, *to);
                sink.key(block);
                sink.value(ValueRef::Float(*number));
                sink.end_object();
            }
        }
    }
}
