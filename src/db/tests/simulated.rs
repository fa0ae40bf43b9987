//! Files that note what is done to them, can fail, and can be seen as a disk shows them after the
//! power went.

use hexgraph_store::durability::{Disk, Files, OutputFile};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::{fs, io};

/// What survives of a write completely or not at all.
const SECTOR_LEN: usize = 512;

/// One thing that was done.
#[derive(Debug, Clone)]
pub(super) enum Op {
    /// A file came to be under a name; files are numbered.
    Create(String, usize),
    Write(usize, u64, Vec<u8>),
    SetLen(usize, u64),
    Sync(usize),
    Rename(String, String),
    Remove(String),
    SyncDirectory,
    /// A commit was acknowledged.
    Ack(u64),
}

/// When and how an operation fails.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fault {
    /// The number of the operation, counted from 0.
    pub at: usize,
    /// Whether all that follow fail too.
    pub lasts: bool,
}

/// Files in a folder that record their operations.
#[derive(Clone, Default)]
pub(super) struct SimulatedFiles {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    ops: Vec<Op>,
    /// What there was at the beginning, which is on the disk.
    start: Vec<(String, usize, Vec<u8>)>,
    names: BTreeMap<String, usize>,
    files: usize,
    count: usize,
    fault: Option<Fault>,
    failed: bool,
}

struct SimulatedFile {
    file: Box<dyn OutputFile>,
    number: usize,
    state: Arc<Mutex<State>>,
}

impl SimulatedFiles {
    /// Files over what is in a folder, which counts as durable.
    pub(super) fn over(folder: &Path) -> SimulatedFiles {
        let files = SimulatedFiles::default();
        let mut state = files.lock();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let number = state.files;
            state.files += 1;
            state.names.insert(name_of(&path), number);
            state.start.push((name_of(&path), number, fs::read(&path).unwrap()));
        }
        drop(state);
        files
    }

    /// Has an operation fail.
    pub(super) fn fail(&self, fault: Fault) {
        self.lock().fault = Some(fault);
    }

    /// The process dies after so many more operations: none that it tries from then on is done.
    pub(super) fn die_after(&self, more: usize) {
        let mut state = self.lock();
        state.fault = Some(Fault { at: state.count + more, lasts: true });
    }

    /// Another process comes, whose operations are done.
    pub(super) fn revive(&self) {
        self.lock().fault = None;
    }

    /// Whether one has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.lock().failed
    }

    /// Notes that a commit was acknowledged.
    pub(super) fn ack(&self, commit: u64) {
        self.lock().ops.push(Op::Ack(commit));
    }

    /// What was done.
    pub(super) fn ops(&self) -> Vec<Op> {
        self.lock().ops.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Writes to `folder` what a disk may show when the power went after the first `count`
    /// operations: what was synced, and of the rest what `random` leaves, in no order.
    pub(super) fn lose_power(&self, count: usize, random: &mut fastrand::Rng, folder: &Path) {
        let state = self.lock();
        let mut disk = SimulatedDisk::of(&state.start);
        state.ops[..count].iter().for_each(|op| disk.execute(op));
        for (name, content) in disk.after_power_loss(random) {
            fs::write(folder.join(name), content).unwrap();
        }
    }
}

impl State {
    /// Notes an operation, unless it is to fail.
    fn admit(&mut self, op: impl FnOnce(&mut State) -> Op) -> io::Result<()> {
        self.count_one()?;
        let op = op(self);
        self.ops.push(op);
        Ok(())
    }

    fn count_one(&mut self) -> io::Result<()> {
        let at = self.count;
        self.count += 1;
        let fails = |fault: Fault| at == fault.at || fault.lasts && fault.at < at;
        if self.fault.is_some_and(fails) {
            self.failed = true;
            return Err(io::Error::from_raw_os_error(28));
        }
        Ok(())
    }
}

impl Files for SimulatedFiles {
    fn create(&self, path: &Path) -> io::Result<Box<dyn OutputFile>> {
        let mut state = self.lock();
        let mut number = 0;
        state.admit(|state| {
            number = state.files;
            state.files += 1;
            state.names.insert(name_of(path), number);
            Op::Create(name_of(path), number)
        })?;
        let file = Disk.create(path)?;
        Ok(Box::new(SimulatedFile { file, number, state: Arc::clone(&self.state) }))
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        let mut state = self.lock();
        let number = state.names[&name_of(path)];
        state.admit(|_| Op::SetLen(number, len))?;
        fs::File::options().write(true).open(path)?.set_len(len)?;
        state.admit(|_| Op::Sync(number))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.lock();
        state.admit(|state| {
            let number = state.names.remove(&name_of(from)).unwrap();
            state.names.insert(name_of(to), number);
            Op::Rename(name_of(from), name_of(to))
        })?;
        Disk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.lock().admit(|state| {
            state.names.remove(&name_of(path));
            Op::Remove(name_of(path))
        })?;
        Disk.remove(path)
    }

    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        self.lock().admit(|_| Op::SyncDirectory)
    }
}

impl OutputFile for SimulatedFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let mut state = self.state.lock().unwrap();
        // A disk that fills up takes the first half of what it is given.
        let admitted = state.count_one();
        let admitted_bytes = match &admitted {
            Ok(()) => bytes,
            Err(_) => &bytes[..bytes.len() / 2],
        };
        state.ops.push(Op::Write(self.number, offset, admitted_bytes.to_vec()));
        let written = self.file.write_at(admitted_bytes, offset);
        admitted.and(written)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.state.lock().unwrap().admit(|_| Op::SetLen(self.number, len))?;
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.state.lock().unwrap().admit(|_| Op::Sync(self.number))
    }
}

/// What is on a disk, and what only the system has.
#[derive(Default)]
struct SimulatedDisk {
    names: BTreeMap<String, usize>,
    files: BTreeMap<usize, Content>,
    /// Changes of names that are not synced.
    names_pending: Vec<Op>,
}

#[derive(Default, Clone)]
struct Content {
    synced: Vec<u8>,
    pending: Vec<Op>,
}

impl SimulatedDisk {
    fn of(start: &[(String, usize, Vec<u8>)]) -> SimulatedDisk {
        let mut disk = SimulatedDisk::default();
        for (name, number, content) in start {
            disk.names.insert(name.clone(), *number);
            let content = Content { synced: content.clone(), pending: Vec::new() };
            disk.files.insert(*number, content);
        }
        disk
    }

    fn execute(&mut self, op: &Op) {
        match op {
            Op::Create(_, number) => {
                self.files.insert(*number, Content::default());
                self.names_pending.push(op.clone());
            }
            Op::Rename(..) | Op::Remove(_) => self.names_pending.push(op.clone()),
            Op::Write(number, ..) | Op::SetLen(number, _) => {
                self.file(*number).pending.push(op.clone());
            }
            Op::Sync(number) => {
                let content = self.file(*number);
                for op in std::mem::take(&mut content.pending) {
                    apply(&mut content.synced, &op, &mut |_| true);
                }
            }
            Op::SyncDirectory => {
                for op in std::mem::take(&mut self.names_pending) {
                    self.rename(&op);
                }
            }
            Op::Ack(_) => {}
        }
    }

    fn file(&mut self, number: usize) -> &mut Content {
        self.files.entry(number).or_default()
    }

    fn rename(&mut self, op: &Op) {
        match op {
            Op::Create(name, number) => drop(self.names.insert(name.clone(), *number)),
            Op::Rename(from, to) => {
                if let Some(number) = self.names.remove(from) {
                    self.names.insert(to.clone(), number);
                }
            }
            Op::Remove(name) => drop(self.names.remove(name)),
            _ => {}
        }
    }

    fn after_power_loss(mut self, random: &mut fastrand::Rng) -> Vec<(String, Vec<u8>)> {
        let fraction = random.f64();
        for op in std::mem::take(&mut self.names_pending) {
            if random.f64() < fraction {
                self.rename(&op);
            }
        }
        let mut shown = Vec::new();
        for (name, number) in self.names {
            let Content { mut synced, mut pending } = self.files[&number].clone();
            let fraction = random.f64();
            random.shuffle(&mut pending);
            for op in &pending {
                apply(&mut synced, op, &mut |_| random.f64() < fraction);
            }
            shown.push((name, synced));
        }
        shown
    }
}

/// Replays the operations on a file, for the sectors that `retains` selects.
fn apply(content: &mut Vec<u8>, op: &Op, retains: &mut dyn FnMut(usize) -> bool) {
    match op {
        Op::Write(_, offset, bytes) => {
            let mut at = *offset as usize;
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let capacity = SECTOR_LEN - at % SECTOR_LEN;
                let (sector, later) = rest.split_at(capacity.min(rest.len()));
                if retains(at) {
                    content.resize(content.len().max(at + sector.len()), 0);
                    content[at..at + sector.len()].copy_from_slice(sector);
                }
                at += sector.len();
                rest = later;
            }
        }
        Op::SetLen(_, len) if retains(0) => content.resize(*len as usize, 0),
        _ => {}
    }
}

fn name_of(path: &Path) -> String {
    PathBuf::from(path).file_name().unwrap().to_str().unwrap().to_owned()
}
