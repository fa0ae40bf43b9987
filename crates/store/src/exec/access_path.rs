//! The access paths: what `explain` prints next to each step.
//!
//! A step has a path of its kind. It is decided by a function that only looks, at the plan, the
//! schema, the lengths of sets and the estimates of indexes; another function executes it. All
//! paths that are allowed for a step have the same answer.

/// How a step of a query is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccessPath {
    /// What is made of a block.
    Block(BlockPath),
    /// How the nodes of a root function are selected.
    Root(RootPath),
    /// How a set is reduced to the nodes that pass a part of a filter.
    Filter(FilterPath),
    /// How a page without an order is filled.
    Page(PagePath),
    /// How nodes are ordered.
    Order(OrderPath),
    /// How the edge lists of a level are read.
    Edges(EdgesPath),
    /// How nodes are grouped.
    Group(GroupPath),
    /// How all values of a variable are aggregated.
    Total(TotalPath),
    /// Where the graph of an algorithm comes from.
    Graph(GraphPath),
}

/// What is made of a block. The rewrites lead from one of these to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockPath {
    /// Its nodes are listed, and its fields walked level by level.
    Walk,
    /// As [`BlockPath::Walk`], of the first nodes alone: eight times as many while `@cascade`
    /// leaves too few of them for the page.
    WalkBatches,
    /// Its nodes are counted without a list of them.
    Count,
    /// Its variables are references to columns, which are read when they are requested.
    NameColumns,
    /// Its nodes remain a set, whose values are aggregated.
    RetainSet,
    /// The paths over a chain of edges are counted, without a list of levels.
    CountPaths,
    /// Its nodes are listed and grouped.
    GroupList,
    /// Its nodes are grouped as the set that they are.
    GroupSet,
    /// Its variables are the counters of an edge's targets, without groups.
    CountTargets,
    /// It has no nodes: its fields are computed from variables.
    Compute,
    /// Paths between two nodes are searched.
    Paths,
    /// An algorithm runs on a compact graph.
    Algorithm,
}

/// How the nodes of a root function are selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RootPath {
    /// The nodes that the function names, or those of a variable.
    Uids,
    /// All nodes that have the predicate.
    Subjects,
    /// The postings of the type.
    Type,
    /// The postings of one value, or of each of several.
    IndexEquality,
    /// The postings of all values in a range.
    IndexRange,
    /// The postings are counted, without a list of the nodes.
    CountIndex,
    /// The intersection or the union of the postings of tokens.
    Postings,
    /// The nodes with trigrams of a pattern or a text, each of which is tested.
    Trigrams,
    /// Each text is compared, but for those that are too long or too short; one of few distinct
    /// ones once for all nodes.
    Texts,
    /// The nodes in the cells of an area, each of which is tested.
    Cells,
    /// The nearest vectors.
    Vectors,
    /// The numbers of edges, as they are stored.
    Degrees,
    /// The number of edges of each node until the page is full.
    TestDegrees,
    /// The value of each node until the page is full.
    TestValues,
    /// Each value of a variable is compared.
    Variable,
    /// Each node that has the predicate is tested.
    Scan,
    /// Nothing has the predicate.
    Nothing,
}

/// How a set is reduced to the nodes that pass a part of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FilterPath {
    /// The set of an index is intersected.
    Index,
    /// An existing set is intersected.
    Set,
    /// Each node is tested.
    Test,
    /// The nodes in the cells of an area are intersected; then each node is tested.
    Cells,
    /// The set of an index is walked in place of the requested one.
    DrivingSide,
    /// Each node that has a value is tested, in place of the requested ones.
    Subjects,
    /// Batches of nodes are filtered as sets.
    Batches,
    /// The column is counted, without a list of nodes.
    CountColumn,
    /// The targets are selected by an index, and the edges followed back from them.
    WalkBack,
    /// The nodes that an index of trigrams leaves are tested.
    Trigrams,
    /// The targets of all edges are gathered and filtered; then each node is tested for an edge to
    /// those that passed.
    Targets,
    /// All nodes pass, or none.
    Constant,
}

/// How a page without an order is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PagePath {
    /// A seek to its first node.
    Seek,
    /// The root is walked, and batches are filtered.
    WalkRoot,
    /// A walk over the root was begun, and another one over the nodes of the filter follows: too
    /// few passed.
    GivesUp,
    /// The smallest set of the filter is walked, and the root tested.
    WalkFilter,
}

/// How nodes are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OrderPath {
    /// They stay in their order: none has a value.
    AsIs,
    /// The index of the key is walked from the bound of the root function on, until the page is
    /// full.
    WalkRange,
    /// The index of the key is walked in the range of the filter, until the page is full; each node
    /// is tested as by the next one.
    WalkFilterRange,
    /// The index of the key is walked until the page is full; each node is tested for membership in
    /// the set, and by the filter.
    WalkIndex,
    /// A walk over the index was begun, and another path follows: the filter lets too few nodes
    /// through, or follows edges.
    GivesUp,
    /// One pass over the column retains the first ones.
    Scan,
    /// The index of the first key is walked to the page's end; the nodes up to there are sorted.
    WalkIndexAndSort,
    /// One pass over the column of the first key selects the nodes up to the page's end, which are
    /// sorted.
    ScanAndSort,
    /// One pass over the column of the first key retains the first ones; the filter tests those
    /// that may be among them.
    ScanAndFilter,
    /// The keys of all nodes are read and sorted.
    Sort,
}

/// How the edge lists of a level are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EdgesPath {
    /// Each list as it is.
    Copy,
    /// A page of each list by a seek.
    Seek,
    /// Each list is walked, or a set of the filter, until its page is full.
    WalkEach,
    /// Each list is ordered by itself.
    OrderEach,
    /// Each list is filtered as a set, and counted.
    CountEach,
    /// The distinct targets of all lists are filtered and ordered together.
    Together,
    /// The distinct targets alone, and no lists.
    Gather,
}

/// How nodes are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupPath {
    /// The postings of the key's index are counted.
    Postings,
    /// The same, and the numbers of the nodes of each posting are added up.
    PostingSums,
    /// A counter for each target of an edge, in an array.
    TargetArray,
    /// The same in a hash table.
    TargetTable,
    /// The keys of batches of members are read as codes, and each combination of codes has
    /// counters.
    CodeCells,
    /// The same with an array that leads from the codes to the group.
    CodeArray,
    /// The same with a hash table.
    CodeTable,
    /// The members of each group are listed: from the postings of the key's index, or by a table of
    /// keys.
    Lists,
}

/// How all values of a variable are aggregated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TotalPath {
    /// In one pass over the column that the variable references.
    Column,
    /// From the values as they are listed.
    Values,
}

/// Where the compact graph of an algorithm comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GraphPath {
    /// It is made of the columns.
    Made,
    /// It was made for an earlier request, and nothing in it has changed.
    Cached,
    /// It was made for an earlier request, and what commits changed since was patched.
    Patched,
}

impl AccessPath {
    /// The operator that `explain` names.
    pub fn operator(self) -> &'static str {
        self.names().0
    }

    /// How the operator works, where it has several strategies; else empty.
    pub fn strategy(self) -> &'static str {
        self.names().1
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            AccessPath::Block(path) => path.names(),
            AccessPath::Root(path) => path.names(),
            AccessPath::Filter(path) => path.names(),
            AccessPath::Page(path) => path.names(),
            AccessPath::Order(path) => path.names(),
            AccessPath::Edges(path) => path.names(),
            AccessPath::Group(path) => path.names(),
            AccessPath::Total(path) => path.names(),
            AccessPath::Graph(path) => path.names(),
        }
    }
}

/// Writes the list of all paths, and for each kind the names and the conversion into
/// [`AccessPath`].
macro_rules! names {
    ($($kind:ident in $path:ident: $($variant:ident = $operator:literal $strategy:literal),+;)+) => {
        impl AccessPath {
            /// All access paths.
            pub const ALL: &[AccessPath] = &[$($(AccessPath::$kind($path::$variant),)+)+];
        }

        $(
        impl $path {
            fn names(self) -> (&'static str, &'static str) {
                match self {
                    $($path::$variant => ($operator, $strategy),)+
                }
            }
        }

        impl From<$path> for AccessPath {
            fn from(path: $path) -> AccessPath {
                AccessPath::$kind(path)
            }
        }
        )+
    };
}

names! {
    Block in BlockPath:
        Walk = "Project" "",
        WalkBatches = "Project" "in batches",
        Count = "Aggregate" "cardinality",
        NameColumns = "Variable" "column reference",
        RetainSet = "Aggregate" "over the set",
        CountPaths = "Aggregate" "path counts",
        GroupList = "HashAggregate" "over a list",
        GroupSet = "HashAggregate" "over a set",
        CountTargets = "HashAggregate" "target counts",
        Compute = "Project" "from variables",
        Paths = "ShortestPath" "",
        Algorithm = "Algorithm" "";
    Root in RootPath:
        Uids = "UidSeek" "",
        Subjects = "HasScan" "",
        Type = "TypeScan" "",
        IndexEquality = "IndexSeek" "",
        IndexRange = "IndexRangeScan" "",
        CountIndex = "IndexRangeScan" "count only",
        Postings = "TermSeek" "",
        Trigrams = "TrigramSeek" "recheck",
        Texts = "HasScan" "edit distance",
        Cells = "GeoSeek" "recheck",
        Vectors = "VectorSearch" "",
        Degrees = "DegreeSeek" "",
        TestDegrees = "DegreeSeek" "until the page is full",
        TestValues = "HasScan" "filter, until the page is full",
        Variable = "Variable" "filter",
        Scan = "HasScan" "filter",
        Nothing = "HasScan" "no data";
    Filter in FilterPath:
        Index = "Filter" "index",
        Set = "Filter" "set",
        Test = "Filter" "per node",
        Cells = "Filter" "geo index, recheck",
        DrivingSide = "Filter" "driving side",
        Subjects = "Filter" "per value",
        Batches = "Filter" "in batches",
        CountColumn = "Filter" "column count",
        WalkBack = "SemiJoin" "from the targets",
        Trigrams = "Filter" "trigram index, recheck",
        Targets = "SemiJoin" "filter the targets, then probe",
        Constant = "Filter" "constant";
    Page in PagePath:
        Seek = "Limit" "seek",
        WalkRoot = "Limit" "scan the root, probe the filter",
        GivesUp = "Limit" "abandoned: too few pass",
        WalkFilter = "Limit" "scan the index of the filter, probe the root";
    Order in OrderPath:
        AsIs = "Sort" "no values",
        WalkRange = "IndexOrder" "range of the root",
        WalkFilterRange = "IndexOrder" "range of the filter",
        WalkIndex = "IndexOrder" "",
        GivesUp = "IndexOrder" "abandoned",
        Scan = "TopK" "column scan",
        WalkIndexAndSort = "TopK" "index order of the first key",
        ScanAndSort = "TopK" "column scan of the first key",
        ScanAndFilter = "TopK" "column scan, filter candidates",
        Sort = "Sort" "";
    Edges in EdgesPath:
        Copy = "Expand" "",
        Seek = "Expand" "seek in each list",
        WalkEach = "Expand" "scan each list",
        OrderEach = "Expand" "sort each list",
        CountEach = "Expand" "count each list",
        Together = "Expand" "distinct targets, then lists",
        Gather = "Expand" "distinct targets";
    Group in GroupPath:
        Postings = "HashAggregate" "posting counts",
        PostingSums = "HashAggregate" "posting sums",
        TargetArray = "HashAggregate" "array by target",
        TargetTable = "HashAggregate" "hash table by target",
        CodeCells = "HashAggregate" "counters by code",
        CodeArray = "HashAggregate" "array by code",
        CodeTable = "HashAggregate" "hash table by code",
        Lists = "HashAggregate" "lists of members";
    Total in TotalPath:
        Column = "Aggregate" "column scan",
        Values = "Aggregate" "values";
    Graph in GraphPath:
        Made = "Algorithm" "compact graph, built",
        Cached = "Algorithm" "compact graph, cached",
        Patched = "Algorithm" "compact graph, updated";
}
