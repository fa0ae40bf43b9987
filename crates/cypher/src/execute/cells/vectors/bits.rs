//! [`Bits`]: a bit for each node of a chunk.

/// A bit for each of some nodes. Bits behind the last one are not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    /// The first bits of some words, the lowest bit first.
    ///
    /// ```
    /// use hexgraph_cypher::Bits;
    ///
    /// let bits = Bits::new(vec![0b110], 2);
    /// assert_eq!((bits.get(0), bits.get(1), bits.count()), (false, true, 1));
    /// ```
    pub fn new(mut words: Vec<u64>, len: usize) -> Bits {
        words.resize(len.div_ceil(64), 0);
        if let Some(last) = words.last_mut().filter(|_| !len.is_multiple_of(64)) {
            *last &= u64::MAX >> (64 - len % 64);
        }
        Bits { words, len }
    }

    /// Equal bits.
    pub(in crate::execute::cells) fn all(len: usize, bit: bool) -> Bits {
        let word = if bit { u64::MAX } else { 0 };
        Bits::new(vec![word; len.div_ceil(64)], len)
    }

    /// A bit for each value.
    pub fn of<T>(values: &[T], test: impl Fn(&T) -> bool) -> Bits {
        let word = |values: &[T]| {
            let bits = values.iter().enumerate();
            bits.fold(0, |word, (at, value)| word | u64::from(test(value)) << at)
        };
        Bits { words: values.chunks(64).map(word).collect(), len: values.len() }
    }

    /// A bit for each pair of values at one position.
    pub(in crate::execute::cells) fn of_pairs<T>(
        one: &[T],
        other: &[T],
        test: impl Fn(&T, &T) -> bool,
    ) -> Bits {
        let word = |(one, other): (&[T], &[T])| {
            let bits = one.iter().zip(other).enumerate();
            bits.fold(0, |word, (at, (one, other))| word | u64::from(test(one, other)) << at)
        };
        Bits { words: one.chunks(64).zip(other.chunks(64)).map(word).collect(), len: one.len() }
    }

    /// The number of bits.
    pub(in crate::execute::cells) fn len(&self) -> usize {
        self.len
    }

    /// The bit at a position.
    ///
    /// # Panics
    ///
    /// When there is no such bit.
    #[inline]
    pub fn get(&self, at: usize) -> bool {
        self.words[at / 64] >> (at % 64) & 1 == 1
    }

    pub(in crate::execute::cells) fn set(&mut self, at: usize) {
        self.words[at / 64] |= 1 << (at % 64);
    }

    /// How many are set.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The positions of those that are set, ascending.
    pub(in crate::execute::cells) fn positions(&self) -> Vec<u32> {
        let mut positions = Vec::with_capacity(self.count());
        for (at, word) in self.words.iter().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                positions.push(64 * at as u32 + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
        positions
    }

    /// The bits at some positions.
    pub(in crate::execute::cells) fn gather(&self, positions: &[u32]) -> Bits {
        Bits::of(positions, |at| self.get(*at as usize))
    }

    fn with(self, other: &Bits, word: impl Fn(u64, u64) -> u64) -> Bits {
        let mut words = self.words;
        words.iter_mut().zip(&other.words).for_each(|(one, other)| *one = word(*one, *other));
        Bits { words, len: self.len }
    }

    pub(in crate::execute::cells) fn and(self, other: &Bits) -> Bits {
        self.with(other, |one, other| one & other)
    }

    pub(in crate::execute::cells) fn or(self, other: &Bits) -> Bits {
        self.with(other, |one, other| one | other)
    }

    pub(in crate::execute::cells) fn and_not(self, other: &Bits) -> Bits {
        self.with(other, |one, other| one & !other)
    }

    pub(in crate::execute::cells) fn not(&self) -> Bits {
        Bits::new(self.words.iter().map(|word| !word).collect(), self.len)
    }
}

/// Which of some nodes have a value; `None` for all.
pub(in crate::execute::cells) type Valid = Option<Bits>;

/// The nodes that have both of two values.
pub(in crate::execute::cells) fn both_valid(one: &Valid, other: &Valid) -> Valid {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.clone().and(other)),
        (one, other) => one.clone().or_else(|| other.clone()),
    }
}

/// Whether the node at a position has a value.
#[inline]
pub(in crate::execute::cells) fn is_valid(valid: &Valid, at: usize) -> bool {
    valid.as_ref().is_none_or(|it| it.get(at))
}

/// Conditions of some nodes: true, false or null.
#[derive(Debug, Clone)]
pub struct Truths {
    /// Those that are true.
    holds: Bits,
    /// Those that are not null.
    valid: Valid,
}

impl Truths {
    /// The truths of nodes with a value: those that hold are true, the others false.
    pub fn new(holds: Bits, valid: Option<Bits>) -> Truths {
        match valid {
            Some(valid) => Truths { holds: holds.and(&valid), valid: Some(valid) },
            None => Truths { holds, valid: None },
        }
    }

    /// Equal truths.
    pub(in crate::execute::cells) fn all(len: usize, truth: Option<bool>) -> Truths {
        let valid = truth.is_none().then(|| Bits::all(len, false));
        Truths { holds: Bits::all(len, truth == Some(true)), valid }
    }

    /// The truth of each position.
    pub(in crate::execute::cells) fn each(
        len: usize,
        truth: impl Fn(usize) -> Option<bool>,
    ) -> Truths {
        let (mut holds, mut valid) = (Bits::all(len, false), Bits::all(len, false));
        for at in 0..len {
            if let Some(truth) = truth(at) {
                valid.set(at);
                if truth {
                    holds.set(at);
                }
            }
        }
        Truths { holds, valid: Some(valid) }
    }

    pub(in crate::execute::cells) fn len(&self) -> usize {
        self.holds.len()
    }

    #[inline]
    pub(in crate::execute::cells) fn get(&self, at: usize) -> Option<bool> {
        is_valid(&self.valid, at).then(|| self.holds.get(at))
    }

    /// Those that are true.
    pub(in crate::execute::cells) fn holding(&self) -> &Bits {
        &self.holds
    }

    /// Those that are false.
    pub(in crate::execute::cells) fn failing(&self) -> Bits {
        match &self.valid {
            Some(valid) => valid.clone().and_not(&self.holds),
            None => self.holds.not(),
        }
    }

    pub(in crate::execute::cells) fn valid(&self) -> &Valid {
        &self.valid
    }

    pub(in crate::execute::cells) fn not(&self) -> Truths {
        Truths { holds: self.failing(), valid: self.valid.clone() }
    }

    pub(in crate::execute::cells) fn and(&self, other: &Truths) -> Truths {
        let holds = self.holds.clone().and(&other.holds);
        if self.valid.is_none() && other.valid.is_none() {
            return Truths { holds, valid: None };
        }
        let valid = self.failing().or(&other.failing()).or(&holds);
        Truths { holds, valid: Some(valid) }
    }

    pub(in crate::execute::cells) fn or(&self, other: &Truths) -> Truths {
        self.not().and(&other.not()).not()
    }

    /// Null where it is false.
    pub(in crate::execute::cells) fn or_null(self) -> Truths {
        Truths { valid: Some(self.holds.clone()), holds: self.holds }
    }

    pub(in crate::execute::cells) fn gather(&self, positions: &[u32]) -> Truths {
        let valid = self.valid.as_ref().map(|it| it.gather(positions));
        Truths { holds: self.holds.gather(positions), valid }
    }

    /// Truths of more nodes: these are at some positions, all others are `other`.
    pub(in crate::execute::cells) fn spread(
        &self,
        positions: &[u32],
        len: usize,
        other: bool,
    ) -> Truths {
        let (mut holds, mut nulls) = (Bits::all(len, false), Bits::all(len, false));
        let mut given = Bits::all(len, false);
        for (at, position) in positions.iter().enumerate() {
            given.set(*position as usize);
            match self.get(at) {
                Some(true) => holds.set(*position as usize),
                Some(false) => {}
                None => nulls.set(*position as usize),
            }
        }
        let holds = if other { holds.or(&given.not()) } else { holds };
        Truths { holds, valid: Some(nulls.not()) }
    }
}
