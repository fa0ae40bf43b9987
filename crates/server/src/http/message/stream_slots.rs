//! The slots of answers that are written while they are sent: a thread each, and a limit for each
//! client.
//!
//! A client gets a slot while he holds fewer than are free. So he holds half of all at the most,
//! the next one half of the rest, and readers that are slow on purpose leave slots to others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The slots of a server.
pub(in crate::http) struct StreamSlots {
    state: Mutex<State>,
}

struct State {
    free: usize,
    /// How many each client holds, of those that hold any.
    held: HashMap<u64, usize>,
}

/// A slot, until it is dropped.
pub(in crate::http) struct StreamSlot {
    slots: Arc<StreamSlots>,
    client: u64,
}

/// Why there is no slot.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::http) enum NoSlot {
    /// All are in use.
    Full,
    /// The client holds so many, which is its limit now.
    Reservation(usize),
}

impl StreamSlots {
    /// So many free slots.
    pub(in crate::http) fn new(count: usize) -> StreamSlots {
        StreamSlots { state: Mutex::new(State { free: count, held: HashMap::new() }) }
    }

    /// A slot for a client.
    ///
    /// # Errors
    ///
    /// [`NoSlot`] when the client is at its limit, or none is free.
    pub(in crate::http) fn acquire(
        self: &Arc<StreamSlots>,
        client: u64,
    ) -> Result<StreamSlot, NoSlot> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let own = state.held.get(&client).copied().unwrap_or(0);
        if state.free == 0 {
            return Err(NoSlot::Full);
        }
        if state.free <= own {
            return Err(NoSlot::Reservation(own));
        }
        state.free -= 1;
        state.held.insert(client, own + 1);
        Ok(StreamSlot { slots: Arc::clone(self), client })
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        let mut state = self.slots.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.free += 1;
        if let Some(own) = state.held.get_mut(&self.client) {
            *own -= 1;
            if *own == 0 {
                state.held.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_of(slots: &Arc<StreamSlots>, client: u64) -> (Vec<StreamSlot>, NoSlot) {
        let mut held = Vec::new();
        loop {
            match slots.acquire(client) {
                Ok(slot) => held.push(slot),
                Err(why) => return (held, why),
            }
        }
    }

    #[test]
    fn a_client_leaves_slots_to_others() {
        let slots = Arc::new(StreamSlots::new(64));
        let (greedy, why) = all_of(&slots, 1);
        assert_eq!((greedy.len(), why), (32, NoSlot::Reservation(32)));
        let (second, why) = all_of(&slots, 2);
        assert_eq!((second.len(), why), (16, NoSlot::Reservation(16)));
        let others: Vec<StreamSlot> =
            (3..19).map(|client| slots.acquire(client).ok().unwrap()).collect();
        assert_eq!(slots.acquire(20).err(), Some(NoSlot::Full));
        drop((greedy, second, others));
        assert_eq!(all_of(&slots, 1).0.len(), 32);
    }

    #[test]
    fn a_single_slot_is_anybodys() {
        let slots = Arc::new(StreamSlots::new(1));
        let slot = slots.acquire(1);
        assert!(slot.is_ok());
        assert_eq!(slots.acquire(2).err(), Some(NoSlot::Full));
        drop(slot);
        assert!(slots.acquire(2).is_ok());
    }
}
