//! What stands in place of users and rights in a build without the feature `access`: every handle may do everything.

use crate::db::database::Database;
use crate::db::operation::Drop;
#[cfg(feature = "graphql")]
use hexgraph_base::types::AccessError;
use hexgraph_base::types::Result;
use hexgraph_store::graph::{Mutation, Version};
use std::sync::Arc;
#[cfg(feature = "graphql")]
use std::time::SystemTime;

impl Database {
    pub(in crate::db) fn seen(&self, version: Arc<Version>) -> Result<Arc<Version>> {
        Ok(version)
    }

    #[cfg(feature = "graphql")]
    pub(in crate::db) fn seen_or_nothing(
        &self,
        version: Arc<Version>,
    ) -> Result<(Arc<Version>, Option<AccessError>)> {
        Ok((version, None))
    }

    #[cfg(feature = "graphql")]
    pub(in crate::db) fn check_administrator(&self) -> Result<()> {
        Ok(())
    }

    #[cfg(feature = "graphql")]
    pub(in crate::db) fn user(&self) -> Option<&str> {
        None
    }

    #[cfg(feature = "graphql")]
    pub(in crate::db) fn caller_expires(&self) -> Option<SystemTime> {
        None
    }

    pub(in crate::db) fn check_known(&self) -> Result<()> {
        Ok(())
    }

    pub(in crate::db) fn check_writes(&self, _: &[Mutation<'_>]) -> Result<()> {
        Ok(())
    }

    pub(in crate::db) fn writable(&self) -> Result<impl Fn(&str) -> bool + use<>> {
        Ok(|_: &str| true)
    }

    pub(in crate::db) fn check_alter(&self, _: &str) -> Result<()> {
        Ok(())
    }

    pub(in crate::db) fn check_drop(&self, _: &Drop) -> Result<()> {
        Ok(())
    }

    pub(in crate::db) fn restore_access(&self) -> Result<()> {
        Ok(())
    }
}
