//! `querySimilarT...`: the nearest nodes among those that the caller may see.
//!
//! The index knows nothing of rules. So where some restrict the type, it is asked for more and more of the nearest nodes,
//! until enough of them may be seen: a node that is hidden takes no place, and nobody can tell by the places that are
//! left how near it is. What the request's own filter refuses does take places, as in the reference.

use crate::db::graphql::answer::vector_of;
use crate::db::graphql::query::Begun;
use crate::db::graphql::query::Reader;
use crate::db::graphql::query::store_fault;
use crate::db::graphql::run::Outcome;
use crate::db::graphql::run::root_path;
use crate::exec::Answer;
use crate::graphql::generate::RootKind;
use crate::graphql::lower::Caller;
use crate::graphql::lower::RootShape;
use crate::graphql::lower::SimilarTo;
use crate::graphql::lower::given_vector;
use crate::graphql::lower::lower_nearest;
use crate::graphql::lower::lower_reference;
use crate::graphql::request::Fault;
use crate::graphql::request::Field;
use crate::graphql::request::Value;

/// By how much more nodes are asked for when too few of them may be seen.
const GROWTH: usize = 4;

/// The most that an index can be asked for.
const COUNT_MAX: usize = i32::MAX as usize;

impl Reader<'_> {
    /// The value of a field that asks for similar nodes.
    pub fn similar<'f>(&'f self, caller: Caller<'f>, field: &'f Field) -> Begun<'f> {
        let is_by_id =
            field.shape.root.as_ref().is_some_and(|root| root.kind == RootKind::SimilarById);
        let vector = match is_by_id {
            true => self.reference(caller, field),
            false => Ok(Some(given_vector(field))),
        };
        let found = vector.and_then(|vector| {
            let Some(vector) = vector else { return Ok(None) };
            let permitted = self.permitted(caller, field, &vector)?;
            Ok(Some((vector, permitted)))
        });
        match found {
            Ok(Some((vector, Some(uids)))) => {
                self.stored(caller, field, SimilarTo::Among(vector, uids))
            }
            Ok(Some((vector, None))) => self.stored(caller, field, SimilarTo::Of(vector)),
            Ok(None) => Begun::Done(Outcome { value: b"[]".to_vec(), ..Outcome::default() }),
            Err(fault) => {
                let fault = Fault { path: root_path(field), ..fault };
                Begun::Done(Outcome::fault(field, fault))
            }
        }
    }

    /// The uids of the nearest nodes that the caller may see, ascending; `None` where rules don't matter.
    fn permitted(
        &self,
        caller: Caller<'_>,
        field: &Field,
        vector: &[f32],
    ) -> Result<Option<Vec<u64>>, Fault> {
        // Nonsense is left to those who know the words for it.
        let wanted = field.arguments.given("topK").and_then(Value::as_int);
        let wanted = wanted.and_then(|wanted| usize::try_from(wanted).ok());
        let has_options =
            ["ef", "distance_threshold"].iter().any(|name| field.arguments.given(name).is_some());
        let wanted = match wanted {
            // The index takes it for one.
            Some(0) if !has_options => 1,
            None | Some(0) => return Ok(None),
            Some(wanted) => wanted,
        };
        let (mut count, mut before) = (wanted.min(COUNT_MAX), None);
        loop {
            let Some(mut lowered) = lower_nearest(caller, field, vector, count)? else {
                return Ok(None);
            };
            let answer = self.execute(&mut lowered).map_err(|error| store_fault(field, &error))?;
            let found = |block| answer.block(block).map_or(0, |block| block.roots.len());
            let (all, left) = (found(0), found(1));
            if wanted <= left || all < count || before == Some(all) {
                return Ok(Some(nearest(&answer, &lowered.shape, wanted)));
            }
            before = Some(all);
            count = count.saturating_mul(GROWTH).min(COUNT_MAX);
        }
    }

    /// The vector of the node that others should be similar to.
    fn reference(&self, caller: Caller<'_>, field: &Field) -> Result<Option<Vec<f32>>, Fault> {
        let mut lowered = lower_reference(caller, field)?;
        let answer = self.execute(&mut lowered).map_err(|error| store_fault(field, &error))?;
        let block = answer.block(0);
        let first = block.and_then(|block| Some((block, *block.roots.first()?)));
        let vector = first.and_then(|(block, node)| vector_of(block.level.fields.first()?, node));
        Ok(vector.map(<[f32]>::to_vec))
    }
}

/// The nearest nodes of the second block.
fn nearest(answer: &Answer, shape: &RootShape<'_>, count: usize) -> Vec<u64> {
    let (Some(block), RootShape::Similar { place, vector, metric, .. }) = (answer.block(1), shape)
    else {
        return Vec::new();
    };
    let distance = |node: u32| {
        let other = vector_of(&block.level.fields[*place], node)?;
        Some((metric.distance(vector, other)?, node))
    };
    let mut near: Vec<(f64, u32)> = block.roots.iter().filter_map(|node| distance(*node)).collect();
    near.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    near.truncate(count);
    let uid = |(_, node): &(f64, u32)| answer.version().nodes.uid(*node).0;
    let mut uids: Vec<u64> = near.iter().map(uid).collect();
    uids.sort_unstable();
    uids
}
