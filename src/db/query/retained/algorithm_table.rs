//! The result of an algorithm, as a table.

use hexgraph_base::answer::Texts;
use hexgraph_store::algo::{Output, Report};

/// The table of an algorithm's result.
#[derive(Debug, Clone, PartialEq)]
pub struct AlgorithmTable {
    /// The name of the algorithm.
    pub name: String,
    /// The number of the path of each row, for algorithms that return paths.
    pub path: Option<Vec<u64>>,
    /// The node of each row, or the first one of each pair; empty where one number is for the
    /// entire graph.
    pub uids: Vec<u64>,
    /// The second node of each pair.
    pub to: Option<Vec<u64>>,
    /// What the nodes are called elsewhere: their values of `xid`, where that predicate has texts.
    /// `None` where no node has one.
    pub xids: Option<Texts>,
    /// How it was computed: the rounds, and whether they converged.
    pub report: Report,
    /// The numbers, in the order of the rows.
    pub numbers: AlgorithmNumbers,
}

impl AlgorithmTable {
    /// The number of rows.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// db.mutate("<1> <knows> <2> .", "")?;
    /// let answer = db.query("{ degree() { knows } }")?;
    /// assert_eq!(answer.into_algorithm(&RequestContext::new())?.rows(), 2);
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn rows(&self) -> usize {
        match &self.numbers {
            AlgorithmNumbers::Floats(numbers) => numbers.len(),
            AlgorithmNumbers::Ints(numbers) => numbers.len(),
            AlgorithmNumbers::Vectors(..) | AlgorithmNumbers::Nothing => self.uids.len(),
        }
    }

    /// What the node of a row is called elsewhere.
    ///
    /// ```
    /// use hexgraph::db::{Database, RequestContext};
    ///
    /// let db = Database::in_memory();
    /// db.alter("xid: string .")?;
    /// db.mutate("<1> <knows> <2> .\n<1> <xid> \"ada\" .\n<2> <xid> \"bob\" .", "")?;
    /// let answer = db.query("{ degree() { knows } }")?;
    /// let table = answer.into_algorithm(&RequestContext::new())?;
    /// assert_eq!(table.xid(0), Some("ada"));
    /// # Ok::<(), hexgraph::types::Error>(())
    /// ```
    pub fn xid(&self, row: usize) -> Option<&str> {
        let xids = self.xids.as_ref()?;
        let is_there = xids.valid.get(row).copied().unwrap_or(true);
        let text = is_there.then(|| &xids.bytes[xids.offsets.range(row)])?;
        std::str::from_utf8(text).ok()
    }
}

impl AlgorithmNumbers {
    /// True for the integer of a node that has none.
    ///
    /// ```
    /// use hexgraph::db::AlgorithmNumbers;
    ///
    /// assert!(!AlgorithmNumbers::is_missing(3));
    /// ```
    pub fn is_missing(number: i64) -> bool {
        Output::is_missing(number)
    }
}

/// The numbers of an algorithm's result.
#[derive(Debug, Clone, PartialEq)]
pub enum AlgorithmNumbers {
    /// Floats; NaN for a node without one.
    Floats(Vec<f64>),
    /// Integers; [`AlgorithmNumbers::is_missing`] detects the one that represents none.
    Ints(Vec<i64>),
    /// Vectors: their length, and the numbers of all, one vector after the other.
    Vectors(usize, Vec<f32>),
    /// The nodes are the result.
    Nothing,
}
