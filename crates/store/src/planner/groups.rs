//! Plans groups: of the nodes of a block, and of the targets of edges.

use super::blocks::Planner;
use super::roots::PlannedRoot;
use super::steps::{ABANDONED, StepPaths};
use crate::exec::{GroupKind, GroupPath, Members};
use hexgraph_base::plan::{Field, GroupBy};
use std::sync::Arc;

/// What the keys of the members decide, once they are read.
const BY_KEYS: &str = "by the number of distinct keys";

impl<'a> Planner<'a> {
    /// The groups of the targets of each node, in all fields that request them. Returns how those
    /// are made again whose results are variables.
    pub(super) fn groups_of_edges(&mut self) -> StepPaths {
        let mut variables = StepPaths::default();
        for field in self.grouped.split_off(0) {
            let Some(group_by) = &field.group_by else { continue };
            let step = self.steps.open("group", &field.key, Some(field.at));
            self.steps.expect(step, None, false);
            let choices = self.list_groups(group_by, &field.fields);
            if field.fields.iter().any(|field| field.var.is_some()) {
                variables = variables.and(choices.clone());
            }
            self.steps.close(step, choices);
        }
        variables
    }

    /// How the nodes of a list are grouped.
    pub(super) fn list_groups(&self, group_by: &GroupBy, body: &[Arc<Field>]) -> StepPaths {
        paths_of(self.context.group_kind(group_by, body, Members::List(&[])))
    }

    /// How the nodes of a set are grouped.
    pub(super) fn set_groups(
        &self,
        group_by: &GroupBy,
        body: &[Arc<Field>],
        root: &PlannedRoot,
    ) -> StepPaths {
        let by_list = self.list_groups(group_by, body);
        match &root.set {
            Some(set) => {
                match self.context.group_kind(group_by, body, Members::Set(set)) {
                    // Few are listed, and their strategy is chosen for the list.
                    GroupKind::Lists => by_list,
                    GroupKind::Codes => {
                        paths_of(GroupKind::Codes).or(GroupPath::PostingSums, BY_KEYS)
                    }
                    kind => paths_of(kind),
                }
            }
            None => by_list
                .or(GroupPath::Postings, "if all that have the key are grouped")
                .or(GroupPath::PostingSums, "if all that have the key are grouped"),
        }
    }
}

fn paths_of(kind: GroupKind) -> StepPaths {
    match kind {
        GroupKind::Postings => StepPaths::one(GroupPath::Postings).or(GroupPath::Lists, ABANDONED),
        GroupKind::Targets => {
            let sparse = "if the targets lie far apart";
            StepPaths::one(GroupPath::TargetArray).or(GroupPath::TargetTable, sparse)
        }
        GroupKind::Codes => StepPaths::one(GroupPath::CodeCells)
            .or(GroupPath::CodeArray, BY_KEYS)
            .or(GroupPath::CodeTable, BY_KEYS)
            .or(GroupPath::Lists, "if the members are few or the keys have no codes"),
        GroupKind::Lists => StepPaths::one(GroupPath::Lists),
    }
}
