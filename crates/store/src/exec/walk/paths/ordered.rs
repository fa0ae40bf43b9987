//! Types that heaps and trees hold by an order of their own.

/// Has a type compared by its [`Ord`] wherever it is compared.
macro_rules! compared_by_ord {
    ($name:ty) => {
        impl PartialEq for $name {
            fn eq(&self, other: &$name) -> bool {
                std::cmp::Ord::cmp(self, other).is_eq()
            }
        }

        impl Eq for $name {}

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &$name) -> Option<std::cmp::Ordering> {
                Some(std::cmp::Ord::cmp(self, other))
            }
        }
    };
}

pub(super) use compared_by_ord;
