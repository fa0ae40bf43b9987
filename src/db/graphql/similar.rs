//! `querySimilarT...`: the nearest nodes to a vector, or to a node that the caller may see.

use crate::db::graphql::reply::answer::vector_of;
use crate::db::graphql::root_query::{Begun, RootResolver};
use crate::db::graphql::run::{Outcome, root_path, store_fault};
use hexgraph_graphql::generate::RootKind;
use hexgraph_graphql::lower::{Caller, SimilarTo, lower_reference};
use hexgraph_graphql::request::{Field, GraphqlError};

impl RootResolver<'_> {
    /// The value of a field that requests similar nodes.
    pub(super) fn similar<'f>(&'f self, caller: Caller<'f>, field: &'f Field) -> Begun<'f> {
        let is_by_id =
            field.shape.root.as_ref().is_some_and(|root| root.kind == RootKind::SimilarById);
        if !is_by_id {
            return self.stored(caller, field, SimilarTo::OfRequest);
        }
        match self.reference(caller, field) {
            Ok(Some(vector)) => self.stored(caller, field, SimilarTo::Of(vector)),
            Ok(None) => Begun::Done(Outcome { value: b"[]".to_vec(), ..Outcome::default() }),
            Err(fault) => {
                let fault = GraphqlError { path: root_path(field), ..fault };
                Begun::Done(Outcome::fault(field, fault))
            }
        }
    }

    /// The vector of the node that others should be similar to.
    fn reference(
        &self,
        caller: Caller<'_>,
        field: &Field,
    ) -> Result<Option<Vec<f32>>, GraphqlError> {
        let mut lowered = lower_reference(caller, field)?;
        let answer = self.execute(&mut lowered).map_err(|error| store_fault(field, &error))?;
        let block = answer.block(0);
        let first = block.and_then(|block| Some((block, *block.roots.first()?)));
        let vector = first.and_then(|(block, node)| vector_of(block.level.fields.first()?, node));
        Ok(vector.map(<[f32]>::to_vec))
    }
}
