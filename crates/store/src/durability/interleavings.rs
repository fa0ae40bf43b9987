//! Commits, snapshots and syncs under a scheduler that tries out thousands of interleavings.
//!
//! The store, its snapshots and [`Syncs`] are those of the product; the disk is a number. Each
//! schedule is chosen at random with the seed that is printed on failure. `make interleavings`.

#![cfg(feature = "shuttle")]

use super::syncs::Syncs;
use crate::graph::{Claim, Journal, Store, Thresholds, Version};
use crate::storage::OutputFile;
use hexgraph_base::schema::TypeDef;
use hexgraph_base::types::{Error, Result};
use shuttle::thread;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

const SCHEDULES: usize = 3_000;

/// What is written, and how much of it is on the disk. Its locks are no points of scheduling.
#[derive(Default)]
struct SimulatedDisk {
    written: AtomicU64,
    durable: AtomicU64,
    syncs: AtomicU64,
    /// The sync of this number, counted from one, fails; zero for none.
    failing: u64,
    /// The commits in the order of the log: the position of each.
    positions: Mutex<Vec<(u64, u64)>>,
}

impl OutputFile for SimulatedDisk {
    fn write_at(&self, bytes: &[u8], _: u64) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let written = self.written.load(Ordering::SeqCst);
        thread::yield_now();
        if self.syncs.fetch_add(1, Ordering::SeqCst) + 1 == self.failing {
            return Err(io::Error::other("the disk is gone"));
        }
        self.durable.fetch_max(written, Ordering::SeqCst);
        Ok(())
    }
}

impl SimulatedDisk {
    /// Whether the commit is on the disk, and all before it.
    fn has(&self, commit: u64) -> bool {
        let positions = self.positions.lock().unwrap();
        let position =
            positions.iter().find(|(noted, _)| *noted == commit).map_or(0, |(_, at)| *at);
        position <= self.durable.load(Ordering::SeqCst)
    }
}

struct SimulatedJournal {
    disk: Arc<SimulatedDisk>,
    syncs: Arc<Syncs>,
}

impl Journal for SimulatedJournal {
    fn append(&self, commit: u64, _: &[u8]) -> Result<u64> {
        let mut state = self.syncs.state();
        if let Some(failure) = &state.failure {
            return Err(Error::io("appending", io::Error::other(failure.clone())));
        }
        let position = self.disk.written.fetch_add(1, Ordering::SeqCst) + 1;
        self.disk.positions.lock().unwrap().push((commit, position));
        state.end = position;
        state.file = Some(Arc::clone(&self.disk) as Arc<dyn OutputFile>);
        Ok(position)
    }

    fn is_ready(&self) -> bool {
        false
    }

    fn wait(&self, position: u64) -> Result<u64> {
        self.syncs.wait(position)
    }
}

fn store_on(disk: &Arc<SimulatedDisk>) -> Arc<Store> {
    let journal = SimulatedJournal { disk: Arc::clone(disk), syncs: Arc::default() };
    let mut version = Version::empty();
    version.thresholds = Thresholds::small();
    Arc::new(Store::with_version(version, Some(Box::new(journal))))
}

/// The number that a version holds: how many types were added to it.
fn counted(version: &Version) -> usize {
    version.schema.types.len()
}

fn with_one_more(version: &Version) -> Version {
    let mut next = version.clone();
    let mut schema = (*next.schema).clone();
    let name = format!("T{}", schema.types.len());
    schema.types.insert(name.clone(), TypeDef { name, fields: Vec::new(), declared: None });
    next.schema = Arc::new(schema);
    next
}

/// Adds one to the number, as a transaction that read it before. True when nobody was first.
fn increment(store: &Store, disk: &SimulatedDisk) -> Result<bool> {
    let snapshot = store.snapshot();
    assert!(disk.has(snapshot.version().commit), "a snapshot has what is not durable");
    let read = counted(snapshot.version());
    thread::yield_now();
    let claim = Claim { snapshot: snapshot.version().commit, keys: &[7], names: &[] };
    let written = store.write(Some(claim), |head, commit| {
        assert_eq!(counted(head), read, "somebody else wrote, and no key conflicts");
        commit.keys.push(7);
        Ok((with_one_more(head), ()))
    });
    match written {
        Ok((commit, ())) => {
            assert!(disk.has(commit), "commit {commit} was acknowledged before it was durable");
            let newest = store.version();
            assert!(commit <= newest.commit, "what was acknowledged can't be read");
            assert!(snapshot.number() < commit, "the numbers are in another order");
            Ok(true)
        }
        Err(Error::Conflict) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Adds one to the number, whoever else writes.
fn add_one(store: &Store, disk: &SimulatedDisk) -> Result<()> {
    let written = store.write(None, |head, commit| {
        commit.keys.push(7);
        Ok((with_one_more(head), ()))
    });
    let (commit, ()) = written?;
    assert!(disk.has(commit), "commit {commit} was acknowledged before it was durable");
    assert!(commit <= store.version().commit, "what was acknowledged can't be read");
    Ok(())
}

/// Reads again and again: versions go on, never back, and are durable.
fn read_along(store: &Store, disk: &SimulatedDisk) {
    let mut last = 0;
    for _ in 0..4 {
        let version = store.version();
        assert!(last <= version.commit, "{last} came before {}", version.commit);
        assert!(disk.has(version.commit), "a reader sees what is not durable");
        last = version.commit;
        thread::yield_now();
    }
}

#[test]
fn transactions_count_to_the_number_of_those_that_succeeded() {
    let run = || {
        let disk = Arc::new(SimulatedDisk::default());
        let store = store_on(&disk);
        let before = counted(&store.version());
        let spawn = |work: fn(&Store, &SimulatedDisk) -> usize| {
            let (store, disk) = (Arc::clone(&store), Arc::clone(&disk));
            thread::spawn(move || work(&store, &disk))
        };
        let transactions = |store: &Store, disk: &SimulatedDisk| {
            (0..2).filter(|_| increment(store, disk).unwrap()).count()
        };
        let others = |store: &Store, disk: &SimulatedDisk| {
            (0..2).for_each(|_| add_one(store, disk).unwrap());
            2
        };
        let reader = |store: &Store, disk: &SimulatedDisk| {
            read_along(store, disk);
            0
        };
        let threads = [
            transactions as fn(&Store, &SimulatedDisk) -> usize,
            transactions,
            others,
            others,
            reader,
        ]
        .map(spawn);
        let counts = threads.map(|thread| thread.join().unwrap());
        assert_eq!(counted(&store.version()), before + counts.iter().sum::<usize>());
    };
    shuttle::check_random(run, SCHEDULES);
    shuttle::check_pct(run, SCHEDULES, 3);
}

#[test]
fn after_a_failed_sync_nothing_is_acknowledged() {
    let run = || {
        let disk = Arc::new(SimulatedDisk { failing: 2, ..SimulatedDisk::default() });
        let store = store_on(&disk);
        let writers: Vec<_> = (0..3)
            .map(|_| {
                let (store, disk) = (Arc::clone(&store), Arc::clone(&disk));
                thread::spawn(move || {
                    for _ in 0..2 {
                        // A failure is reported, or the commit is durable: `add_one` asserts it.
                        if add_one(&store, &disk).is_err() {
                            let later = store.write(None, |head, _| Ok((with_one_more(head), ())));
                            let message = later.unwrap_err().to_string();
                            assert!(message.contains("the disk is gone"), "{message}");
                        }
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        assert!(disk.has(store.version().commit), "a reader sees what is not durable");
    };
    shuttle::check_random(run, SCHEDULES);
}

#[test]
fn one_sync_serves_all_who_came_before_it() {
    let run = || {
        let disk = Arc::new(SimulatedDisk::default());
        let journal = SimulatedJournal { disk: Arc::clone(&disk), syncs: Arc::default() };
        let journal = Arc::new(journal);
        let writers: Vec<_> = (1..=3)
            .map(|commit| {
                let (journal, disk) = (Arc::clone(&journal), Arc::clone(&disk));
                thread::spawn(move || {
                    let position = journal.append(commit, &[]).unwrap();
                    let durable = journal.wait(position).unwrap();
                    assert!(position <= durable && durable <= disk.durable.load(Ordering::SeqCst));
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        assert!(
            disk.syncs.load(Ordering::SeqCst) <= 3,
            "each waits for one sync of his own at most"
        );
    };
    shuttle::check_random(run, SCHEDULES);
}
