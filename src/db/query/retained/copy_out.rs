//! Writes a short answer down.

use super::copied::{Copied, Lines};
use crate::db::query::answer::QueryAnswer;
use hexgraph_base::answer::Tape;
use hexgraph_base::types::Error;
use hexgraph_store::exec::RequestContext;

/// The fewest bytes that the object of a root has as JSON, about: an answer with many more roots is
/// not tried.
const ROOT_BYTES: u64 = 8;

/// # As a copy
impl QueryAnswer {
    /// Writes the answer down where it has no more than about `bytes_max` bytes, as JSON and as
    /// N-Quads: the copy retains nothing else, and no version. `None` for a longer one, one that
    /// can't be written, one that is a copy, and where there is no memory for it. Costs as much as
    /// writing so many bytes twice, at most.
    ///
    /// ```
    /// let db = hexgraph::db::Database::in_memory();
    /// db.mutate("<1> <name> \"Ada\" .", "")?;
    /// let answer = db.query("{ q(func: has(name)) { name } }")?;
    /// let copy = answer.copied_out(64 << 10).expect("it is short");
    /// assert_eq!(copy.to_json()?.0, answer.to_json()?.0);
    /// assert_eq!(copy.memory().version, 0, "a copy holds no version");
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn copied_out(&self, bytes_max: u64) -> Option<QueryAnswer> {
        self.with_copy(self.copy(bytes_max)?)
    }

    fn copy(&self, bytes_max: u64) -> Option<Copied> {
        let context = RequestContext::new();
        let answer = self.held_answer()?;
        let roots = answer.root_counts().map(|(_, count)| count as u64).sum::<u64>();
        if bytes_max / ROOT_BYTES < roots {
            return None;
        }
        let mut tape = self.write_within(Tape::new(), bytes_max, &context).ok()?;
        tape.shrink();
        let lines = match self.lines_within(bytes_max, &context) {
            Ok(mut lines) => {
                lines.shrink_to_fit();
                Lines::Written(lines)
            }
            // The query says that there is no such form; it is reported when somebody requests it.
            Err(Error::Query { message, at, hint }) => Lines::Refused { message, at, hint },
            Err(_) => return None,
        };
        let algorithm = match answer.algorithm() {
            Some(_) => Some(self.algorithm(&context).ok()?),
            None => None,
        };
        Some(Copied::new(answer, tape, lines, algorithm))
    }
}
