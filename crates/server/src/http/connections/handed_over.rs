//! A connection that was handed over to another protocol: its bytes are reserved until a message is
//! complete. While its protocol says that it is idle, a new connection may replace it, like an idle
//! HTTP connection.

use super::allowance::{Allowance, CONNECTION_LEN};
use super::phase::Line;
use hexgraph_base::budget::{Budget, Held};
use hexgraph_base::types::Result;
use std::sync::Arc;

/// The state of a connection, for the protocol that it is handed over to.
#[derive(Clone)]
pub(crate) struct HandedOver(Arc<Line>);

impl HandedOver {
    /// The connection of a line.
    pub(super) fn new(line: Arc<Line>) -> HandedOver {
        HandedOver(line)
    }

    /// Has what comes from now on be reserved, at most `most` bytes until [`HandedOver::received`].
    /// What is returned holds what the connection takes itself.
    ///
    /// # Errors
    ///
    /// `Limit` when there is no memory for the connection.
    pub(crate) fn begin(&self, budget: &Budget, most: u64) -> Result<Held> {
        let reservation = Arc::new(budget.reservation());
        let own = Held::reserve(&reservation, CONNECTION_LEN)?;
        self.0.allow(Allowance::new(budget.clone(), most));
        Ok(own)
    }

    /// Notes that an entire message was consumed, and sets the limit of the next ones.
    pub(crate) fn received(&self, most: u64) {
        self.0.consume(most);
    }

    /// Notes whether the connection is idle from now on, and may be closed for a new one.
    pub(crate) fn set_idle(&self, is_idle: bool) {
        self.0.set_idle(is_idle);
    }

    /// Waits until the connection has to be closed for a new one.
    pub(crate) async fn leave(&self) {
        self.0.leave.notified().await;
    }
}
