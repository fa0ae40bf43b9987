//! The procedures that list the names in the graph.

/// A list of names in the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameList {
    /// The labels that a node has: `db.labels`.
    Labels,
    /// The types of the relationships: `db.relationshipTypes`.
    RelationshipTypes,
    /// The keys of the properties of nodes: `db.propertyKeys`.
    PropertyKeys,
}

impl NameList {
    /// Each list.
    pub(crate) const ALL: [NameList; 3] =
        [NameList::Labels, NameList::RelationshipTypes, NameList::PropertyKeys];

    /// The name that `CALL` has.
    pub(crate) fn name(self) -> &'static str {
        match self {
            NameList::Labels => "db.labels",
            NameList::RelationshipTypes => "db.relationshipTypes",
            NameList::PropertyKeys => "db.propertyKeys",
        }
    }

    /// The only column.
    pub(crate) fn column(self) -> &'static str {
        match self {
            NameList::Labels => "label",
            NameList::RelationshipTypes => "relationshipType",
            NameList::PropertyKeys => "propertyKey",
        }
    }
}
