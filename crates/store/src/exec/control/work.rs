//! What a request gives to the algorithms that it runs: its threads, its memory, and when to stop.

use super::stop::Control;
use crate::algo::Work;
use hexgraph_base::types::Result;
use hexgraph_base::types::pool::Pool;

impl Work for Control {
    fn check(&self) -> Result<()> {
        Control::check(self)
    }

    fn charge(&self, bytes: usize) -> Result<()> {
        Control::charge(self, bytes)
    }

    fn uncharge(&self, bytes: usize) {
        Control::uncharge(self, bytes);
    }

    fn pool(&self) -> Option<&Pool> {
        self.sharing_pool()
    }
}
