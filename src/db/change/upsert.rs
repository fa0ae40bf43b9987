//! Changes that follow from what was read: upserts, and what else takes long to prepare.
//!
//! They are prepared on the newest version while others write. Under the writer lock it compares:
//! where the predicates that were read are those of the newest version still, the preparation holds
//! for it, and is executed there. Else all is done again; the third attempt, or a fast one, runs
//! under the lock, where no other writer can come first. So a long query blocks writers only if
//! they repeatedly change what it reads. Two upserts that create the same node never create two:
//! for one of them the predicate has changed.

use crate::db::database::Database;
use hexgraph_base::plan::Reads;
use hexgraph_base::types::{Error, Result};
use hexgraph_store::exec::RequestContext;
use hexgraph_store::graph::{Commit, Version};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often a change is prepared without the writer lock before it is prepared under it.
const TRIES_OUTSIDE: u32 = 2;
/// A preparation below this time is repeated under the writer lock at once.
const QUICK: Duration = Duration::from_millis(1);
/// An upper bound on attempts. More than three happen only when a password has to be hashed, which
/// is never done under the lock, and another one was changed each time.
const ROUNDS_MAX: u32 = 100;

/// A change that was prepared on one version, with what it depends on.
pub(in crate::db) struct Prepared<S> {
    /// The prepared change.
    pub staged: S,
    /// The predicates that were read to prepare it: while they are unchanged the change holds.
    pub reads: Reads,
}

impl Database {
    /// Publishes what `finish` makes of a change that `prepare` prepares, perhaps several times.
    /// The former gets the version that it was prepared on, or a later one for which it holds, and
    /// says no when it does not fit its schema. Returns the number of the commit too.
    ///
    /// # Errors
    ///
    /// Those of both, [`Error::Limit`] when `context` stops it. Nothing is changed then.
    pub(in crate::db) fn change_prepared<S, T>(
        &self,
        context: &RequestContext,
        mut prepare: impl FnMut(&Arc<Version>) -> Result<Prepared<S>>,
        fits: impl Fn(&S, &Version) -> bool,
        finish: impl FnOnce(S, &Arc<Version>, &mut Commit) -> Result<(Version, T)>,
    ) -> Result<(u64, T)> {
        context.begin_change();
        let open = self.open_state()?;
        open.check_writable()?;
        let mut finish = Some(finish);
        for round in 1..=ROUNDS_MAX {
            let started = Instant::now();
            let before = open.store.head();
            let prepared = prepare(&before)?;
            let is_last = TRIES_OUTSIDE <= round || started.elapsed() < QUICK;
            let mut goes_on = false;
            let done = self.change(None, |head, commit| {
                context.check()?;
                let holds = holds(&prepared, &before, head) && fits(&prepared.staged, head);
                let staged = match (holds, is_last) {
                    (true, _) => Some(prepared.staged),
                    (false, true) => {
                        // Its memory goes back first: both together could be more than the request
                        // may have.
                        drop(prepared);
                        context.begin_again();
                        context.in_turn(|| prepare(head))?.map(|it| it.staged)
                    }
                    (false, false) => None,
                };
                let Some(staged) = staged else {
                    goes_on = true;
                    return Err(overtaken());
                };
                let finish = finish.take().expect("a change that goes on was not finished");
                finish(staged, head, commit)
            });
            // Done, or failed for a reason of its own: only an overtaken attempt is made again.
            if !goes_on {
                return done;
            }
            context.begin_again();
        }
        Err(overtaken())
    }
}

fn overtaken() -> Error {
    Error::Limit {
        message: "others change what the request reads again and again: try again".to_owned(),
    }
}

/// Whether what was prepared on a version holds for a later one.
fn holds<S>(prepared: &Prepared<S>, before: &Arc<Version>, head: &Arc<Version>) -> bool {
    if Arc::ptr_eq(before, head) {
        return true;
    }
    // Everything was dropped in between: its uids are handed out anew, those of the preparation,
    // too.
    if !Arc::ptr_eq(&before.uids, &head.uids) {
        return false;
    }
    let is_same_schema = Arc::ptr_eq(&before.schema, &head.schema);
    match prepared.reads.names() {
        // It may have read anything: only a version without any change between will do.
        None => is_same_schema && before.has_same_predicates(head),
        Some(names) => {
            (is_same_schema || before.schema.types == head.schema.types)
                && names.iter().all(|name| before.has_same(head, name))
        }
    }
}
