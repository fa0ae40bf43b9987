//! What requests take: a program with an allocator that counts, which sends one request at a time
//! to a server in this process.
//!
//! While a request is answered, the bytes that are live beyond those before it are at most twice
//! the highest reservation, and 32 MiB. A row that allocates first and reserves later passes, and
//! one that does not reserve fails: its request is so large that what it becomes is beyond the 32
//! MiB. `cargo test -p hexgraph-server --test memory -- --nocapture` prints a line a row.
//!
//! Each file is a table: rows that share a [`site::Site`]. A row has a name, a part of the answer,
//! and a function that makes the request before it is measured.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]
#![expect(
    unreachable_pub,
    reason = "nothing is offered by a program: `pub` is for the module above"
)]

mod answers;
mod counting;
mod mutations;
mod questions;
mod schemas;
mod site;
mod sockets;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

/// What no reservation covers is seen: a row of that kind fails.
#[test]
#[should_panic(expected = "bytes live, 0 reserved")]
fn memory_without_a_reservation_is_a_fault() {
    let taken = |_: &site::Site| {
        let taken = std::hint::black_box(vec![1_u8; 64 << 20]);
        taken.len().to_string()
    };
    let row = site::row("unreserved", "67108864", move |_| Box::new(taken));
    site::Site::new().measure(vec![row]);
}
