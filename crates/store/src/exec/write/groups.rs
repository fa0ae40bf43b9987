//! Writes groups, and says what their keys and results are called.

use super::answer_writer::AnswerWriter;
use crate::exec::control::group_cells::GroupColumns;
use crate::exec::control::tree::{Group, GroupValue, RootGroups};
use hexgraph_base::plan::{Field, FieldKind, GroupBy};
use std::ops::Range;
use std::sync::Arc;

/// Groups in either form.
#[derive(Clone, Copy)]
pub(super) enum GroupList<'g> {
    Rows(&'g [Group]),
    Columns(&'g GroupColumns),
}

impl<'g> GroupList<'g> {
    pub(super) fn of(groups: &'g RootGroups) -> GroupList<'g> {
        match groups {
            RootGroups::Rows(groups) => GroupList::Rows(groups),
            RootGroups::Columns(groups) => GroupList::Columns(groups),
        }
    }

    fn len(self) -> usize {
        match self {
            GroupList::Rows(groups) => groups.len(),
            GroupList::Columns(groups) => groups.len(),
        }
    }
}

impl AnswerWriter<'_, '_> {
    /// Writes the object that has the groups, in a list of their own.
    pub(super) fn groups(
        &mut self,
        groups: GroupList<'_>,
        group_by: &GroupBy,
        body: &[Arc<Field>],
    ) {
        let labels = group_labels(group_by, body);
        self.sink.begin_object();
        self.sink.key("@groupby");
        self.sink.begin_array();
        self.group_objects(groups, 0..groups.len().min(self.objects_max), &labels);
        self.sink.end_array();
        self.sink.end_object();
    }

    /// Writes groups under the labels of their keys and results.
    pub(super) fn group_objects(
        &mut self,
        groups: GroupList<'_>,
        range: Range<usize>,
        labels: &[String],
    ) {
        let groups = match groups {
            GroupList::Rows(groups) => &groups[range],
            GroupList::Columns(groups) => {
                // All at once to a sink that stores columns; others take batches of rows.
                let are_all = range.len() == groups.len() && !self.sink.takes_rows();
                let objects = are_all.then(|| groups.objects(labels));
                if !objects.flatten().is_some_and(|objects| self.sink.objects(&objects)) {
                    groups.write(range, labels, self.sink);
                }
                return;
            }
        };
        for group in groups {
            self.sink.begin_object();
            for (label, value) in labels.iter().zip(&group.keys) {
                self.sink.key(label);
                match value {
                    GroupValue::Node(node) => self.sink.uid(self.version.nodes.uid(*node)),
                    GroupValue::Value(value) => self.sink.value(value.as_ref()),
                }
            }
            for (label, value) in labels[group.keys.len()..].iter().zip(&group.results) {
                if let Some(value) = value {
                    self.sink.key(label);
                    self.sink.value(value.as_ref());
                }
            }
            self.sink.end_object();
        }
    }
}

/// The names under which the keys and the results of a group are shown, in the order of the text.
/// Languages are part of a name only where names would be the same without them.
pub(super) fn group_labels(group_by: &GroupBy, body: &[Arc<Field>]) -> Vec<String> {
    let keys = group_by.keys.iter().map(|key| match &key.alias {
        Some(alias) => (alias.clone(), alias.clone()),
        None => (key.predicate.clone(), with_langs(&key.predicate, &key.langs)),
    });
    let names: Vec<(String, String)> =
        keys.chain(body.iter().map(|field| result_label(field))).collect();
    let label = |(short, long): &(String, String)| {
        let same = names.iter().filter(|(other, _)| other == short).count();
        if same == 1 { short.clone() } else { long.clone() }
    };
    names.iter().map(label).collect()
}

/// The name of a result of a group, without and with its languages.
fn result_label(field: &Field) -> (String, String) {
    if let Some(alias) = &field.alias {
        return (alias.clone(), alias.clone());
    }
    match &field.kind {
        FieldKind::CountUid => ("count".to_owned(), "count".to_owned()),
        FieldKind::AggregatePredicate { op, name, langs } => {
            (op.call(name), op.call(&with_langs(name, langs)))
        }
        FieldKind::Predicate { .. }
        | FieldKind::Uid
        | FieldKind::Count { .. }
        | FieldKind::Val(_)
        | FieldKind::AggregateVar(..)
        | FieldKind::Math(_)
        | FieldKind::Expand(_)
        | FieldKind::CheckPassword { .. } => (field.key.clone(), field.key.clone()),
    }
}

fn with_langs(name: &str, langs: &[String]) -> String {
    if langs.is_empty() { name.to_owned() } else { format!("{name}@{}", langs.join(":")) }
}
