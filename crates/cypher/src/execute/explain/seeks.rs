//! The lines of look-ups in indexes.

use super::outline::Outline;
use crate::execute::plan::{IndexSeek, SeekTest, SlotIndex, UidSeek};
use crate::execute::seeks::Candidacy;
use hexgraph_base::types::Result;
use hexgraph_scalar::{Comparison, TextTest};

/// An operator, what it works on, and about how many nodes it has.
type SeekLine = (&'static str, String, Option<u64>);

impl Outline<'_, '_> {
    /// The index that is chosen of some seeks, or would be for values of rows; `None` where all
    /// nodes are scanned.
    pub(super) fn index_seek(
        &self,
        slot: SlotIndex,
        seeks: &[IndexSeek],
        scanned: Option<u64>,
    ) -> Result<Option<SeekLine>> {
        let Some(first) = seeks.first() else { return Ok(None) };
        if seeks.iter().any(|it| !it.is_constant()) {
            // The first one has the fewest nodes on average.
            let access = self.execution.expected(first)?.map(|it| it.access.operator());
            return Ok(access.map(|operator| (operator, self.seek(slot, first), None)));
        }
        Ok(match self.execution.cheapest(seeks, scanned, &mut Vec::new())? {
            Candidacy::Nothing => Some(("IndexSeek", self.seek(slot, first), Some(0))),
            Candidacy::Index { seek, estimate, .. } => {
                Some((estimate.access.operator(), self.seek(slot, seek), Some(estimate.nodes)))
            }
            Candidacy::Scan => None,
        })
    }

    fn seek(&self, slot: SlotIndex, seek: &IndexSeek) -> String {
        let property = format!("{}.{}", self.slot(slot), seek.property);
        match &seek.test {
            SeekTest::Equal(it) => format!("{property} = {}", self.expression(it)),
            SeekTest::In(it) => format!("{property} IN {}", self.expression(it)),
            SeekTest::Range(bounds) => {
                let bound = |(comparison, it): &(Comparison, _)| {
                    format!("{property} {} {}", symbol(*comparison), self.expression(it))
                };
                bounds.iter().map(bound).collect::<Vec<_>>().join(" AND ")
            }
            SeekTest::Text(test, it) => {
                let operator = match test {
                    TextTest::StartsWith => "STARTS WITH",
                    TextTest::EndsWith => "ENDS WITH",
                    TextTest::Contains => "CONTAINS",
                };
                format!("{property} {operator} {}", self.expression(it))
            }
            SeekTest::Matches(it) => format!("{property} =~ {}", self.expression(it)),
            SeekTest::Near { center, metres } => {
                let (center, metres) = (self.expression(center), self.expression(metres));
                format!("point.distance({property}, {center}) <= {metres}")
            }
        }
    }

    /// `id(n) IN [1, 2]`.
    pub(super) fn uid_seek(&self, slot: SlotIndex, seek: &UidSeek) -> String {
        let function = if seek.is_text { "elementId" } else { "id" };
        let operator = if seek.is_list { "IN" } else { "=" };
        format!("{function}({}) {operator} {}", self.slot(slot), self.expression(&seek.value))
    }
}

fn symbol(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    }
}
