//! Checks that fields with the same response key can be merged (GraphQL specification, *Field
//! Selection Merging*).
//!
//! All fields of a selection set are gathered, fragments included, and grouped by key. In a group
//! each field is compared with the first of its parent type and with the first of an abstract
//! parent: objects of different types never answer both, so those need only look alike. Then the
//! selections below a group are gathered to one set, and so on. Sets that were looked at are
//! remembered, so fields with many references cost once; what is left is bounded by a budget.

use apollo_compiler::ast::{FieldDefinition, Type};
use apollo_compiler::schema::ExtendedType;
use hexgraph_base::types::stack;
use std::collections::{HashMap, HashSet};

use crate::generate::Api;
use crate::request::Position;
use crate::request::grammar::document::{
    ArgumentNode, Document, FieldId, OperationNode, SelectionNode,
};
use crate::request::rules::{field_of, is_composite, root_type};

/// The most fields that are gathered for one document.
const STEPS_MAX: usize = 1_000_000;

/// The state of the check of one document.
pub(super) struct Merge<'a, 't> {
    api: &'a Api,
    document: &'a Document<'t>,
    /// The sets that were checked: whether only the types of values were compared, and the fields,
    /// ascending.
    seen: HashSet<(bool, Vec<FieldId>)>,
    /// How many fields were gathered so far, over all operations.
    steps: usize,
    conflicts: Vec<Conflict>,
    /// The most conflicts that are reported of one operation.
    most: usize,
}

/// Two fields that can't be merged: the position of the second one, and the message.
pub(super) type Conflict = (Position, String);

/// A field with the type that it is selected on.
#[derive(Clone, Copy)]
struct Placed<'a> {
    id: FieldId,
    parent: Option<&'a ExtendedType>,
    definition: Option<&'a FieldDefinition>,
}

/// The keys of the merged fields above a set, and the position of the second field of the topmost
/// pair.
#[derive(Clone, Default)]
struct Above<'t> {
    keys: Vec<&'t str>,
    at: Option<Position>,
}

impl<'a, 't> Merge<'a, 't> {
    /// Creates the state for a document.
    pub(super) fn new(api: &'a Api, document: &'a Document<'t>) -> Merge<'a, 't> {
        Merge { api, document, seen: HashSet::new(), steps: 0, conflicts: Vec::new(), most: 0 }
    }

    /// Checks an operation. Returns the first `most` conflicts that differ from each other.
    pub(super) fn check(&mut self, operation: &'a OperationNode<'t>, most: usize) -> Vec<Conflict> {
        self.most = most;
        let root = root_type(self.api, operation.kind);
        let mut fields = Vec::new();
        self.gather(root, &operation.selections, &mut HashSet::new(), &mut fields);
        self.check_set(&fields, false, &Above::default());
        if self.steps > STEPS_MAX {
            let message = "the request's fields overlap too often";
            self.note(operation.at, message.to_owned());
        }
        std::mem::take(&mut self.conflicts)
    }

    fn note(&mut self, at: Position, message: String) {
        let conflict = (at, message);
        if self.conflicts.len() < self.most && !self.conflicts.contains(&conflict) {
            self.conflicts.push(conflict);
        }
    }

    fn definition(&self, name: &str) -> Option<&'a ExtendedType> {
        self.api.schema.types.get(name)
    }

    /// Gathers the fields of a selection set, those of its fragments included.
    fn gather(
        &mut self,
        parent: Option<&'a ExtendedType>,
        selections: &'a [SelectionNode<'t>],
        visited: &mut HashSet<&'t str>,
        fields: &mut Vec<Placed<'a>>,
    ) {
        stack::require();
        self.steps += selections.len();
        if self.steps > STEPS_MAX {
            return;
        }
        for selection in selections {
            match selection {
                SelectionNode::Field(id) => {
                    let name = self.document.field(*id).name;
                    let definition = parent.and_then(|parent| field_of(self.api, parent, name));
                    fields.push(Placed { id: *id, parent, definition });
                }
                SelectionNode::Inline(inline) => {
                    let inside = inline.condition.map_or(parent, |name| self.definition(name));
                    self.gather(inside, &inline.selections, visited, fields);
                }
                SelectionNode::Spread(spread) => {
                    let document = self.document;
                    if visited.insert(spread.name)
                        && let Some((_, fragment)) = document.fragment(spread.name)
                    {
                        let inside = self.definition(fragment.condition);
                        self.gather(inside, &fragment.selections, visited, fields);
                    }
                }
            }
        }
    }

    /// Checks the fields of one set; `alike` where objects can't be of both types, so that values
    /// need only look alike.
    fn check_set(&mut self, fields: &[Placed<'a>], alike: bool, above: &Above<'t>) {
        stack::require();
        let mut ids: Vec<FieldId> = fields.iter().map(|field| field.id).collect();
        // The same fields in another order have the same conflicts.
        ids.sort_unstable();
        // The position of a field in the text decides its parent type, so the ids determine the
        // types as well.
        ids.dedup();
        if self.steps > STEPS_MAX || !self.seen.insert((alike, ids)) {
            return;
        }
        for group in self.groups(fields) {
            self.check_group(&group, alike, above);
        }
    }

    /// Groups fields by their keys, in the order of the text.
    fn groups(&self, fields: &[Placed<'a>]) -> Vec<Vec<Placed<'a>>> {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut groups: Vec<Vec<Placed<'a>>> = Vec::new();
        for field in fields {
            let key = self.document.field(field.id).key;
            let number = *numbers.entry(key).or_insert(groups.len());
            if number == groups.len() {
                groups.push(Vec::new());
            }
            groups[number].push(*field);
        }
        groups
    }

    /// Checks the fields of one key. The first conflict of a key is reported.
    fn check_group(&mut self, group: &[Placed<'a>], alike: bool, above: &Above<'t>) {
        let key = self.document.field(group[0].id).key;
        let clusters = clusters(group);
        // Where objects can't be of both types, other arguments and fields are no conflict.
        let checked: &[Vec<Placed<'a>>] = if alike { &[] } else { &clusters };
        for cluster in checked {
            for field in &cluster[1..] {
                if let Some(reason) = self.fields_conflict(cluster[0].id, field.id) {
                    return self.conflict(key, field.id, above, &reason);
                }
            }
        }
        // Looking alike is transitive, so each needs to be compared with one only.
        for field in &group[1..] {
            if field.id != group[0].id
                && let Some(reason) = self.looks_conflict(group[0], *field)
            {
                return self.conflict(key, field.id, above, &reason);
            }
        }
        for cluster in checked {
            self.check_below(cluster, false, key, above);
        }
        if alike || clusters.len() > 1 {
            self.check_below(group, true, key, above);
        }
    }

    /// Checks the selections below fields that become one.
    fn check_below(&mut self, group: &[Placed<'a>], alike: bool, key: &'t str, above: &Above<'t>) {
        let (mut below, mut visited) = (Vec::new(), HashSet::new());
        let mut seen = HashSet::new();
        for field in group.iter().filter(|field| seen.insert(field.id)) {
            let target = field
                .definition
                .and_then(|existing| self.definition(existing.ty.inner_named_type()));
            let document = self.document;
            self.gather(target, &document.field(field.id).selections, &mut visited, &mut below);
        }
        if below.is_empty() {
            return;
        }
        // The topmost pair of merged fields is where Dgraph points.
        let mut inner = Above::default();
        if let Some(second) = group.iter().find(|field| field.id != group[0].id) {
            inner = above.clone();
            inner.keys.push(key);
            inner.at = inner.at.or(Some(self.document.field(second.id).at));
        }
        self.check_set(&below, alike, &inner);
    }

    /// Returns why the values of two fields can't stand under one key; `None` when they can.
    fn looks_conflict(&self, left: Placed<'a>, right: Placed<'a>) -> Option<String> {
        let (left, right) = (&left.definition?.ty, &right.definition?.ty);
        self.types_conflict(left, right)
            .then(|| format!("they return conflicting types {left} and {right}"))
    }

    /// Returns true if values of the types have different shapes for a client: they differ in
    /// lists, nulls or leaf types.
    fn types_conflict(&self, left: &Type, right: &Type) -> bool {
        stack::require();
        if left.is_non_null() != right.is_non_null() || left.is_list() != right.is_list() {
            return true;
        }
        if left.is_list() {
            return self.types_conflict(left.item_type(), right.item_type());
        }
        let leaf = |ty: &Type| {
            let definition = self.definition(ty.inner_named_type());
            definition.is_some_and(|definition| !is_composite(definition))
        };
        let (left_leaf, right_leaf) = (leaf(left), leaf(right));
        (left_leaf || right_leaf) && left.inner_named_type() != right.inner_named_type()
    }

    /// Returns why two fields of one object are not the same; `None` when they are.
    fn fields_conflict(&self, left: FieldId, right: FieldId) -> Option<String> {
        let (left, right) = (self.document.field(left), self.document.field(right));
        if left.name != right.name {
            return Some(format!("{} and {} are different fields", left.name, right.name));
        }
        let same = same_arguments(&left.arguments, &right.arguments);
        (!same).then(|| "they have differing arguments".to_owned())
    }

    /// Adds a conflict, whose message names all keys above it.
    fn conflict(&mut self, key: &str, second: FieldId, above: &Above<'t>, reason: &str) {
        let mut message = String::new();
        let keys = above.keys.iter().copied().chain([key]);
        for (depth, key) in keys.enumerate() {
            let word = if depth == 0 { "Fields" } else { "subfields" };
            message += &format!("{word} \"{key}\" conflict because ");
        }
        message += reason;
        message += ". Use different aliases on the fields to fetch both if this was intentional.";
        let at = above.at.unwrap_or(self.document.field(second).at);
        self.note(at, message);
    }
}

/// The fields that one object can answer together: for each object type its own and those of
/// abstract parents.
fn clusters<'a>(group: &[Placed<'a>]) -> Vec<Vec<Placed<'a>>> {
    let object = |field: &Placed<'a>| {
        field.parent.filter(|parent| parent.is_object()).map(|parent| parent.name().clone())
    };
    let mut parents = Vec::new();
    for parent in group.iter().filter_map(object) {
        if !parents.contains(&parent) {
            parents.push(parent);
        }
    }
    // With one object type, or abstract parents alone, one object may answer all.
    if parents.len() < 2 {
        return vec![group.to_vec()];
    }
    let of = |parent| {
        let fits = group.iter().filter(|field| object(field).is_none_or(|other| other == parent));
        fits.copied().collect()
    };
    parents.into_iter().map(of).collect()
}

fn same_arguments(left: &[ArgumentNode<'_>], right: &[ArgumentNode<'_>]) -> bool {
    // Equal in order is the usual case; names are unique, so looking each up is enough else.
    left == right
        || (left.len() == right.len()
            && left.len() <= 64
            // More than 64 in another order count as different: that bounds the comparison of all
            // with all.
            && left.iter().all(|argument| right.contains(argument)))
}
