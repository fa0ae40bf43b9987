//! Which index lists the candidates of a node, by how many it has.

use super::index_test::{IndexAccess, IndexEstimate, IndexTest};
use crate::execute::plan::{Expression, IndexSeek, NodeAccess, SeekTest, UidSeek};
use crate::execute::run::{Execution, Reservation, Row};
use hexgraph_base::types::{Error, Result};
use hexgraph_scalar::{TextTest, Value};
use std::mem;

/// All nodes are read if an index has more than one of so many of them: then most of them are
/// tested anyway, and an index has to sort them first.
const SCANNED_PER_INDEXED: u64 = 2;

/// How the candidates of a node are listed for a row.
pub(in crate::execute) enum Candidacy<'s> {
    /// There are none.
    Nothing,
    /// An index has them, perhaps with others.
    Index { seek: &'s IndexSeek, test: IndexTest, estimate: IndexEstimate },
    /// Each node is tested.
    Scan,
}

/// What a seek is for a row.
enum RowTest {
    /// No node passes.
    Nothing,
    Test(IndexTest),
    /// The condition decides for each node, perhaps by an error.
    Unknown,
}

impl Execution<'_> {
    /// The access with the fewest candidates: one of some seeks, or a scan of so many nodes. `None`
    /// for all nodes, which are more than any index has.
    pub(in crate::execute) fn cheapest<'s>(
        &self,
        seeks: &'s [IndexSeek],
        scanned: Option<u64>,
        row: &mut Row,
    ) -> Result<Candidacy<'s>> {
        let mut best: Option<(&IndexSeek, IndexTest, IndexEstimate)> = None;
        for seek in seeks {
            let test = match self.row_test(seek, row)? {
                RowTest::Nothing => return Ok(Candidacy::Nothing),
                RowTest::Test(test) => test,
                RowTest::Unknown => continue,
            };
            let Some(estimate) = self.graph.estimate(&seek.property, &test)? else { continue };
            if best.as_ref().is_none_or(|(.., least)| estimate.nodes < least.nodes) {
                best = Some((seek, test, estimate));
            }
        }
        let pays =
            |nodes: u64| scanned.is_none_or(|all| nodes.saturating_mul(SCANNED_PER_INDEXED) <= all);
        Ok(match best.filter(|(.., estimate)| pays(estimate.nodes)) {
            Some((seek, test, estimate)) => Candidacy::Index { seek, test, estimate },
            None => Candidacy::Scan,
        })
    }

    /// The nodes that an index has, or those of uids, perhaps with others; `None` where all have to
    /// be scanned, which are so many.
    pub(in crate::execute) fn sought(
        &self,
        access: &NodeAccess,
        scanned: &dyn Fn() -> Result<Option<u64>>,
        row: &mut Row,
    ) -> Result<Option<Vec<u64>>> {
        match access {
            NodeAccess::All | NodeAccess::Label(_) => Ok(None),
            NodeAccess::Index { seeks, .. } => {
                // Most values of an index have few nodes, and a look-up costs as much as an
                // estimate.
                if let [seek @ IndexSeek { test: SeekTest::Equal(_), .. }] = &seeks[..] {
                    return match self.row_test(seek, row)? {
                        RowTest::Nothing => Ok(Some(Vec::new())),
                        RowTest::Test(test) => self.graph.find(&seek.property, &test),
                        RowTest::Unknown => Ok(None),
                    };
                }
                match self.cheapest(seeks, scanned()?, row)? {
                    Candidacy::Nothing => Ok(Some(Vec::new())),
                    Candidacy::Index { seek, test, .. } => self.graph.find(&seek.property, &test),
                    Candidacy::Scan => Ok(None),
                }
            }
            NodeAccess::Uids(seek) => self.existing(seek, row),
        }
    }

    /// How many nodes [`Execution::sought`] has, about.
    pub(in crate::execute) fn sought_len(
        &self,
        access: &NodeAccess,
        scanned: &dyn Fn() -> Result<Option<u64>>,
        row: &mut Row,
    ) -> Result<Option<usize>> {
        match access {
            NodeAccess::All | NodeAccess::Label(_) => Ok(None),
            NodeAccess::Index { seeks, .. } => Ok(match self.cheapest(seeks, scanned()?, row)? {
                Candidacy::Nothing => Some(0),
                Candidacy::Index { estimate, .. } => Some(estimate.nodes as usize),
                Candidacy::Scan => None,
            }),
            NodeAccess::Uids(seek) => Ok(self.existing(seek, row)?.map(|nodes| nodes.len())),
        }
    }

    /// The nodes of uids that exist.
    fn existing(&self, seek: &UidSeek, row: &mut Row) -> Result<Option<Vec<u64>>> {
        let value = self.value(&seek.value, row)?;
        let Some(mut nodes) = seek.uids(&value) else { return Ok(None) };
        let mut result = Ok(());
        nodes.retain(|node| match self.graph.has_node(*node) {
            Ok(is_there) => is_there,
            Err(error) => {
                result = Err(error);
                false
            }
        });
        result.map(|()| Some(nodes))
    }

    /// The test of a seek for a row. What fails there fails again where the condition is tested.
    fn row_test(&self, seek: &IndexSeek, row: &mut Row) -> Result<RowTest> {
        match self.row_test_of(&seek.test, row) {
            Err(Error::Query { .. }) => Ok(RowTest::Unknown),
            result => result,
        }
    }

    fn row_test_of(&self, test: &SeekTest, row: &mut Row) -> Result<RowTest> {
        let mut value = |it: &Expression| self.value(it, row);
        Ok(match test {
            SeekTest::Equal(it) => match value(it)? {
                Value::Null => RowTest::Nothing,
                value => RowTest::Test(IndexTest::AnyOf(vec![value])),
            },
            SeekTest::In(it) => match value(it)? {
                Value::Null => RowTest::Nothing,
                Value::List(items) => {
                    let items = items.iter().filter(|it| !it.is_null()).cloned();
                    RowTest::Test(IndexTest::AnyOf(items.collect()))
                }
                _ => RowTest::Unknown,
            },
            SeekTest::Range(bounds) => {
                let mut result = Vec::with_capacity(bounds.len());
                for (comparison, it) in bounds {
                    match value(it)? {
                        Value::Null => return Ok(RowTest::Nothing),
                        value => result.push((*comparison, value)),
                    }
                }
                RowTest::Test(IndexTest::Range(result))
            }
            SeekTest::Text(test, it) => match value(it)? {
                Value::String(text) => RowTest::Test(IndexTest::Text(*test, text)),
                // A test by anything else is null.
                _ => RowTest::Nothing,
            },
            SeekTest::Matches(it) => match value(it)? {
                Value::String(pattern) => RowTest::Test(IndexTest::Matches(pattern)),
                _ => RowTest::Nothing,
            },
            SeekTest::Near { center, metres } => match (value(center)?, value(metres)?) {
                (Value::Null, _) | (_, Value::Null) => RowTest::Nothing,
                (Value::Point(center), Value::Int(metres)) => {
                    RowTest::Test(IndexTest::Near(center, metres as f64))
                }
                (Value::Point(center), Value::Float(metres)) => {
                    RowTest::Test(IndexTest::Near(center, metres))
                }
                _ => RowTest::Unknown,
            },
        })
    }

    /// About how many nodes a seek has whose values are of rows; `None` without an index.
    pub(in crate::execute) fn expected(&self, seek: &IndexSeek) -> Result<Option<IndexEstimate>> {
        /// The expected length of a list that a row has.
        const LIST_LEN: u64 = 16;
        let (accesses, factor): (&[IndexAccess], u64) = match &seek.test {
            SeekTest::Equal(_) => (&[IndexAccess::Values], 1),
            SeekTest::In(_) => (&[IndexAccess::Values], LIST_LEN),
            SeekTest::Range(_) => (&[IndexAccess::Range], 1),
            SeekTest::Text(TextTest::StartsWith, _) => {
                (&[IndexAccess::Range, IndexAccess::Trigrams], 1)
            }
            SeekTest::Text(TextTest::EndsWith | TextTest::Contains, _) | SeekTest::Matches(_) => {
                (&[IndexAccess::Trigrams], 1)
            }
            SeekTest::Near { .. } => (&[IndexAccess::Cells], 1),
        };
        for access in accesses {
            if let Some(nodes) = self.graph.nodes_per_test(&seek.property, *access)? {
                let nodes = nodes.saturating_mul(factor);
                return Ok(Some(IndexEstimate { access: *access, nodes }));
            }
        }
        Ok(None)
    }

    /// The bytes of a list of nodes, which it reserves while it exists.
    pub(in crate::execute) fn reserve_nodes(&self, nodes: &[u64]) -> Result<Reservation<'_>> {
        let mut reserved = self.reservation();
        reserved.grow(mem::size_of_val(nodes))?;
        Ok(reserved)
    }
}
