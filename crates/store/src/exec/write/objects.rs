//! Nested objects, one after the other: no call for each level, since an answer may be deeper than
//! a stack.
//!
//! Lists that are open stand on a stack of their own, each with the object in it that is open. A
//! field of edges opens the next one.
//!
//! ```text
//!   {"q":[{"name":"A","knows":[{"name":"B", …
//!         list, object 0 of the roots, 2 fields begun
//!                              list, object 0 of the targets, 1 field done
//! ```

use super::answer_writer::{AnswerWriter, Edge, counts_of};
use super::columns::rows::Rows;
use super::fields::{is_shown, may_repeat, same_edges};
use super::groups::GroupList;
use super::normalize::write_flat;
use crate::exec::control::tree::{EdgeField, FieldData, FieldResult, Level};
use hexgraph_base::plan::Field;
use hexgraph_base::types::Result;
use std::borrow::Cow;

/// A list of nodes of a level, some of them written.
pub(super) struct List<'a> {
    level: &'a Level,
    nodes: Cow<'a, [u32]>,
    /// How many of the nodes are done.
    done: usize,
    /// The position in the level that the next one probably has.
    near: usize,
    /// The number of objects that were written.
    written: usize,
    /// The most objects that are written.
    most: usize,
    normalize: bool,
    /// The edge to the nodes, if its facets are requested.
    edge: Option<Edge<'a>>,
    rows: Option<Rows<'a>>,
    object: Option<Object>,
    end: End<'a>,
}

/// The object of a list that is open.
struct Object {
    position: usize,
    /// How many of the fields are done.
    fields: usize,
}

/// What happens to a list when all is written.
enum End<'a> {
    /// It is the caller's.
    Open,
    /// It has one object, which stands by itself.
    Single,
    /// It is part of the array of these fields, which begin with its own.
    Fields { fields: &'a [FieldResult], position: usize, node: u32 },
}

impl<'a> List<'a> {
    /// The nodes of a level, each as an object or as flat ones.
    pub(super) fn new(level: &'a Level, nodes: &'a [u32], normalize: bool) -> List<'a> {
        List {
            level,
            nodes: Cow::Borrowed(nodes),
            done: 0,
            near: 0,
            written: 0,
            most: usize::MAX,
            normalize,
            edge: None,
            rows: None,
            object: None,
            end: End::Open,
        }
    }

    /// The same, whose first node is probably at a position of the level.
    pub(super) fn near(self, near: usize) -> List<'a> {
        List { near, ..self }
    }
}

impl<'a> AnswerWriter<'a, '_> {
    /// Writes the objects of a list, and all that is in them.
    pub(super) fn lists(&mut self, first: List<'a>) -> Result<()> {
        let mut open = Vec::new();
        self.open_list(first, &mut open);
        while let Some(list) = open.last_mut() {
            let next = if list.object.is_some() {
                self.go_on(list)?
            } else if self.begin_next(list)? {
                None
            } else if let Some(done) = open.pop() {
                self.end_list(&done)?
            } else {
                None
            };
            if let Some(next) = next {
                self.open_list(next, &mut open);
            }
        }
        Ok(())
    }

    fn open_list(&mut self, mut list: List<'a>, open: &mut Vec<List<'a>>) {
        if !matches!(list.end, End::Single) {
            list.most = self.objects_max;
        }
        if list.edge.is_none() && !list.normalize {
            list.rows = Rows::of(self, list.level, list.nodes.len());
        }
        // Whoever has gone is written as nothing, and is no column.
        if let Some(alive) = list.level.alive.as_ref().filter(|_| list.rows.is_some()) {
            let level = list.level;
            let is_alive =
                |node: &u32| level.position(*node).is_some_and(|position| alive[position]);
            list.nodes = list.nodes.iter().copied().filter(is_alive).collect();
        }
        if open.len() == open.capacity() {
            self.hold_more(size_of::<List<'_>>() * (open.len() + 1));
        }
        open.push(list);
    }

    /// Writes what comes next in a list as columns or flat, and begins the next object. Returns
    /// false where none is left.
    fn begin_next(&mut self, list: &mut List<'a>) -> Result<bool> {
        let level = list.level;
        while list.done < list.nodes.len() && list.written < list.most {
            if let Some(rows) = &mut list.rows {
                let done = rows.write(self, &list.nodes[list.done..], list.near);
                list.done += done;
                list.near += done;
                list.written += done;
            }
            let Some(&node) = list.nodes.get(list.done) else { break };
            list.done += 1;
            // Nodes mostly come in the order of their level, so the next position is the first
            // guess.
            let Some(position) = level.position_near(node, list.near) else { continue };
            list.near = position + 1;
            if list.normalize {
                write_flat(self, level, position, list.edge.as_ref())?;
                list.written += 1;
            } else if self.begin_object(level, position) {
                list.object = Some(Object { position, fields: 0 });
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Begins the object of a node. Returns false where it is left out.
    fn begin_object(&mut self, level: &'a Level, position: usize) -> bool {
        let node = level.nodes[position];
        if !level.is_alive(position) || self.path.as_ref().is_some_and(|path| path.contains(&node))
        {
            return false;
        }
        // Stored for `@ignorereflex` alone, which leaves out nodes that are already above.
        if let Some(path) = &mut self.path {
            path.push(node);
        }
        self.sink.begin_object();
        true
    }

    /// Writes the fields of the open object up to one that opens a list, or closes the object.
    fn go_on(&mut self, list: &mut List<'a>) -> Result<Option<List<'a>>> {
        let Some(Object { position, fields: done }) = &mut list.object else { return Ok(None) };
        let (level, position) = (list.level, *position);
        let node = level.nodes[position];
        while let rest @ [result, others @ ..] = &level.fields[*done..] {
            let same = same_edges(result, others);
            *done += 1 + same;
            let opened = match &result.data {
                _ if may_repeat(&result.field) => {
                    self.repeated(level, position, rest)?;
                    None
                }
                FieldData::Edges(_) if 0 < same => {
                    self.sink.key(&result.field.key);
                    self.sink.begin_array();
                    self.next_of(&rest[..=same], position, node)?
                }
                FieldData::Edges(edges) => self.edges(&rest[..1], edges, position, node)?,
                _ => {
                    self.field(level, position, result)?;
                    None
                }
            };
            if opened.is_some() {
                return Ok(opened);
            }
        }
        list.object = None;
        list.written += usize::from(self.end_object(level, node, list.edge.as_ref()));
        Ok(None)
    }

    /// Closes the object of a node, with the facets of the edge that led to it after the fields.
    /// Gives whether there was anything to write.
    fn end_object(&mut self, level: &'a Level, node: u32, edge: Option<&Edge<'_>>) -> bool {
        if let Some(path) = &mut self.path {
            path.pop();
        }
        if self.sink.is_empty() {
            self.sink.discard_object();
            return false;
        }
        if let Some(edge) = edge {
            self.edge_facets(edge, node);
        }
        let has_uid = level.fields.iter().any(|result| result.field.key == "uid");
        if self.options.debug && !has_uid {
            self.sink.key("uid");
            self.sink.uid(self.version.nodes.uid(node));
        }
        self.sink.end_object();
        true
    }

    /// Writes the groups that a field of edges has of a node, or opens the list of its targets. The
    /// field stands by itself.
    fn edges(
        &mut self,
        fields: &'a [FieldResult],
        edges: &'a EdgeField,
        position: usize,
        node: u32,
    ) -> Result<Option<List<'a>>> {
        let field = &*fields[0].field;
        if let (Some(groups), Some(group_by)) = (&edges.groups, &field.group_by) {
            let groups = &groups[position];
            if !groups.is_empty() {
                self.sink.key(&field.key);
                self.sink.begin_array();
                self.groups(GroupList::Rows(groups), group_by, &field.fields);
                self.sink.end_array();
            }
            return Ok(None);
        }
        let targets = edges.targets_of(position);
        if targets.is_empty() || edges.level.fields.is_empty() && !self.options.debug {
            return Ok(None);
        }
        self.sink.key(&field.key);
        let is_single =
            edges.is_single() && !field.normalize && counts_of(&edges.level).next().is_none();
        let (targets, end) = match is_single {
            true => (&targets[..1], End::Single),
            false => {
                self.sink.begin_array();
                (targets, End::Fields { fields, position, node })
            }
        };
        Ok(Some(List { end, ..self.targets(field, edges, targets, node) }))
    }

    /// The list of some targets of a node's edges.
    fn targets(
        &self,
        field: &'a Field,
        edges: &'a EdgeField,
        targets: &'a [u32],
        node: u32,
    ) -> List<'a> {
        let edge = Edge::of(field, edges, node);
        List { edge, ..List::new(&edges.level, targets, field.normalize) }
    }

    /// Goes on with an array of neighbouring fields with one key, such as `friend @groupby(age)`
    /// and `friend`: writes the groups of the next ones, and opens the list of one that has no
    /// groups, or closes the array.
    fn next_of(
        &mut self,
        mut fields: &'a [FieldResult],
        position: usize,
        node: u32,
    ) -> Result<Option<List<'a>>> {
        while let Some((FieldResult { field, data }, others)) = fields.split_first() {
            if let FieldData::Edges(edges) = data {
                match (&edges.groups, &field.group_by) {
                    (Some(groups), Some(group_by)) if !groups[position].is_empty() => {
                        self.groups(GroupList::Rows(&groups[position]), group_by, &field.fields);
                    }
                    (Some(_), _) => {}
                    _ => {
                        let list = self.targets(field, edges, edges.targets_of(position), node);
                        return Ok(Some(List {
                            end: End::Fields { fields, position, node },
                            ..list
                        }));
                    }
                }
            }
            fields = others;
        }
        self.end_edges();
        Ok(None)
    }

    /// Writes what follows the objects of a list, and goes on with the array that it is a part of.
    fn end_list(&mut self, list: &List<'a>) -> Result<Option<List<'a>>> {
        match list.end {
            End::Open => Ok(None),
            End::Single => {
                if list.written == 0 {
                    // The key waits for a value that does not come: an array is opened to be taken
                    // back with its key.
                    self.sink.begin_array();
                    self.sink.discard_array();
                }
                Ok(None)
            }
            End::Fields { fields, position, node } => {
                let FieldResult { field, data } = &fields[0];
                if let FieldData::Edges(edges) = data {
                    let shown = |count: &&Field| is_shown(count, field.normalize);
                    for count in counts_of(&edges.level).filter(shown) {
                        self.count_object(count, edges.targets_of(position).len());
                    }
                }
                self.next_of(&fields[1..], position, node)
            }
        }
    }
}
