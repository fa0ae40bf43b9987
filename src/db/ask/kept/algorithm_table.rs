//! What an algorithm found, as a table.

/// The table of what an algorithm found.
#[derive(Debug, Clone, PartialEq)]
pub struct AlgorithmTable {
    /// The name of the algorithm.
    pub name: String,
    /// The number of the way of each row, where ways were found.
    pub path: Option<Vec<u64>>,
    /// The node of each row, or the first one of each pair; empty where one number is for the whole graph.
    pub uids: Vec<u64>,
    /// The second node of each pair.
    pub to: Option<Vec<u64>>,
    /// What the nodes are called elsewhere: their values of `xid`, where that predicate has texts. `None` where no node has one.
    pub xids: Option<Vec<Option<String>>>,
    /// The numbers, in the order of the rows.
    pub numbers: AlgorithmNumbers,
}

impl AlgorithmTable {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        match &self.numbers {
            AlgorithmNumbers::Floats(numbers) => numbers.len(),
            AlgorithmNumbers::Ints(numbers) => numbers.len(),
            AlgorithmNumbers::Vectors(..) | AlgorithmNumbers::Nothing => self.uids.len(),
        }
    }
}

/// The numbers that an algorithm found.
#[derive(Debug, Clone, PartialEq)]
pub enum AlgorithmNumbers {
    /// Floats; `None` for a node without one.
    Floats(Vec<Option<f64>>),
    /// Whole numbers; `None` for a node without one.
    Ints(Vec<Option<i64>>),
    /// Vectors: their length, and the numbers of all, one vector behind the other.
    Vectors(usize, Vec<f32>),
    /// The nodes are the result.
    Nothing,
}
