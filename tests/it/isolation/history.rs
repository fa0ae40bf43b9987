//! What all clients did and saw, and whether snapshot isolation allows it.
//!
//! Every commit appends to a register, moves an amount, or both, and counts on in the counter of
//! its client. So each commit makes a state that never was before, and what somebody reads names
//! the commit up to which he reads. Commits stand in the order of their numbers.

use std::collections::{BTreeMap, HashMap};

pub const REGISTERS: usize = 6;
pub const ACCOUNTS: usize = 5;
pub const CLIENTS: usize = 8;
pub const TOTAL: i64 = 100 * ACCOUNTS as i64;

/// The data at one moment, as somebody read it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// What was appended to each register.
    pub registers: Vec<Vec<u64>>,
    pub balances: Vec<i64>,
    /// How often each client committed.
    pub counts: Vec<u64>,
}

/// A change: what is appended, and what is added to accounts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Change {
    pub appended: BTreeMap<usize, Vec<u64>>,
    pub moved: BTreeMap<usize, i64>,
}

/// Something that a client did.
#[derive(Debug)]
pub struct Event {
    pub client: String,
    /// The number of the newest commit that was acknowledged to anybody before it began.
    pub floor: u64,
    /// What it saw; nothing for a change that is computed in the database.
    pub read: Option<Reading>,
    /// The moment after it had seen that.
    pub read_at: u64,
    /// The number of the commit that it read, where the client was told.
    pub read_commit: Option<u64>,
    pub change: Change,
    /// The counter of the client, by its place.
    pub counted: Option<usize>,
    /// The moment when it asked for the commit, and the number; `None` when it did not happen.
    pub commit: Option<(u64, u64)>,
}

impl Reading {
    /// What there is before all commits.
    pub fn first() -> Reading {
        Reading {
            registers: vec![Vec::new(); REGISTERS],
            balances: vec![100; ACCOUNTS],
            counts: vec![0; CLIENTS],
        }
    }

    pub fn apply(&mut self, change: &Change) {
        for (register, appended) in &change.appended {
            self.registers[*register].extend(appended);
        }
        for (account, amount) in &change.moved {
            self.balances[*account] += amount;
        }
    }
}

/// Checks a history, at whose end everything was `last`.
pub fn check(history: &[Event], last: &Reading) {
    let mut commits: Vec<(u64, u64, &Event)> = history
        .iter()
        .filter_map(|event| event.commit.map(|(requested, number)| (number, requested, event)))
        .collect();
    commits.sort_by_key(|(number, ..)| *number);
    assert!(commits.windows(2).all(|pair| pair[0].0 < pair[1].0), "two commits have one number");
    let mut state = Reading::first();
    // By counters, the number of commits that there were.
    let mut positions = HashMap::from([(state.counts.clone(), 0)]);
    let mut states = vec![state.clone()];
    let mut numbers = vec![0];
    // The latest moment when one of the commits up to there was asked for.
    let mut requested = vec![0];
    for (number, moment, event) in &commits {
        state.apply(&event.change);
        state.counts[event.counted.expect("commits are counted")] += 1;
        positions.insert(state.counts.clone(), states.len());
        states.push(state.clone());
        numbers.push(*number);
        requested.push(*requested.last().unwrap().max(moment));
    }
    // No lost update, and nothing of what was aborted.
    assert_eq!(*last, state, "the end is not what the commits make");
    let mut newest: BTreeMap<&str, usize> = BTreeMap::new();
    for event in history {
        let Some(read) = &event.read else { continue };
        let client = &event.client;
        assert_eq!(read.balances.iter().sum::<i64>(), TOTAL, "{client} saw half a transfer");
        let position = *positions.get(&read.counts).unwrap_or_else(|| {
            panic!("{client} saw what never was: counters {:?}", read.counts);
        });
        // No dirty read, no read skew: all of the first commits, and nothing else.
        assert_eq!(*read, states[position], "{client} saw half of commit {}", numbers[position]);
        assert!(requested[position] < event.read_at, "{client} saw what nobody had committed yet");
        // What was acknowledged to anybody before is seen by everybody.
        assert!(
            event.floor <= numbers[position],
            "{client} saw {}, older than {}",
            numbers[position],
            event.floor
        );
        if let Some(commit) = event.read_commit {
            let is_newest = numbers.get(position + 1).is_none_or(|next| commit < *next);
            assert!(numbers[position] <= commit && is_newest, "{client} was told a wrong number");
        }
        // Nobody goes back in time.
        let before = newest.entry(client).or_default();
        assert!(*before <= position, "{client} saw commit {} again", numbers[position]);
        *before = position;
        if let Some((_, number)) = event.commit {
            check_winner(event, number, position, &commits);
        }
    }
}

/// Nobody else wrote the same meanwhile: no lost update.
fn check_winner(event: &Event, number: u64, position: usize, commits: &[(u64, u64, &Event)]) {
    for (other, _, between) in commits[position..].iter().take_while(|(other, ..)| *other < number)
    {
        let Change { appended, moved } = &event.change;
        let is_same = appended.keys().any(|it| between.change.appended.contains_key(it))
            || moved.keys().any(|it| between.change.moved.contains_key(it));
        assert!(!is_same, "{}: commit {number} overwrites {other}", event.client);
    }
}

#[test]
fn the_checker_sees_what_is_wrong() {
    let event = |commit: Option<(u64, u64)>, register: usize, id: u64, read: &Reading| Event {
        client: "one".to_owned(),
        floor: 0,
        read: Some(read.clone()),
        read_at: 100,
        read_commit: None,
        change: Change { appended: [(register, vec![id])].into(), moved: BTreeMap::new() },
        counted: Some(0),
        commit,
    };
    let first = Reading::first();
    let after = |changes: &[(usize, u64)]| {
        let mut state = Reading::first();
        for (register, id) in changes {
            state.registers[*register].push(*id);
            state.counts[0] += 1;
        }
        state
    };
    let fails = |history: Vec<Event>, last: Reading| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&history, &last))).is_err()
    };
    let (one, both) = (after(&[(0, 1)]), after(&[(0, 1), (0, 2)]));
    let good = || event(Some((1, 10)), 0, 1, &first);
    assert!(!fails(vec![good(), event(Some((2, 20)), 0, 2, &one)], both.clone()));
    // Write skew is allowed.
    let skewed = event(Some((2, 20)), 1, 2, &first);
    assert!(!fails(vec![good(), skewed], after(&[(0, 1), (1, 2)])));
    // A lost update, seen by who overwrites, and at the end.
    assert!(fails(vec![good(), event(Some((2, 20)), 0, 2, &first)], both.clone()));
    assert!(fails(vec![good(), event(Some((2, 20)), 0, 2, &one)], one.clone()));
    // A dirty read: the commit comes later, or not at all.
    assert!(fails(vec![good(), event(None, 0, 2, &both)], one.clone()));
    assert!(fails(
        vec![event(Some((200, 10)), 0, 1, &first), event(None, 0, 2, &one)],
        one.clone()
    ));
    // Half of a commit.
    let mut half = first.clone();
    half.counts[0] = 1;
    assert!(fails(vec![good(), event(None, 0, 2, &half)], one.clone()));
    // Too old, and back in time.
    let late = Event { floor: 10, ..event(None, 0, 2, &first) };
    assert!(fails(vec![good(), late], one.clone()));
    let again = [event(None, 0, 2, &one), event(None, 0, 2, &first)];
    assert!(fails([good()].into_iter().chain(again).collect(), one));
}
