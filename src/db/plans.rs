//! The plans of the requests that came lately, by their text.
//!
//! Two generations of persistent maps behind one pointer: a look-up takes no lock, and an entry
//! that is not used while half of the room fills up with others is forgotten.

use crate::dql;
use crate::dql::Document;
use crate::plan::Query;
use crate::types::Result;
use arc_swap::ArcSwap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most requests that are kept.
const ENTRIES_MAX: usize = 1_000;

/// The longest text that is kept, in bytes: a longer one takes long to run anyway.
const TEXT_MAX: usize = 16 * 1024;

/// The values of a request's variables, by name with its `$`.
pub type Variables = BTreeMap<String, String>;

/// A bounded cache of plans.
#[derive(Default)]
pub struct Plans {
    generations: ArcSwap<Generations>,
}

type Entries = imbl::HashMap<Arc<str>, Entry>;

#[derive(Clone, Default)]
struct Generations {
    young: Entries,
    old: Entries,
}

#[derive(Clone)]
enum Entry {
    /// What the text says; values of its variables are bound for each request.
    Parsed(Arc<Document>),
    /// The plan of a text that was asked without variables.
    Planned(Arc<Query>),
}

impl Plans {
    /// The plan of a text. A repeated text is not parsed again; without variables it is not
    /// planned again either.
    ///
    /// # Errors
    ///
    /// What is wrong with the text or the variables.
    pub fn plan(&self, text: &str, variables: &Variables) -> Result<Arc<Query>> {
        match self.find(text) {
            Some(Entry::Planned(plan)) if variables.is_empty() => Ok(plan),
            Some(Entry::Parsed(document)) if !variables.is_empty() => {
                Ok(Arc::new(document.plan(variables)?))
            }
            _ => self.plan_anew(text, variables),
        }
    }

    fn plan_anew(&self, text: &str, variables: &Variables) -> Result<Arc<Query>> {
        let document = dql::parse(text)?;
        let plan = Arc::new(document.plan(variables)?);
        if text.len() <= TEXT_MAX {
            let entry = match variables.is_empty() {
                true => Entry::Planned(Arc::clone(&plan)),
                false => Entry::Parsed(Arc::new(document)),
            };
            self.keep(Arc::from(text), &entry);
        }
        Ok(plan)
    }

    fn find(&self, text: &str) -> Option<Entry> {
        let generations = self.generations.load();
        if let Some(entry) = generations.young.get(text) {
            return Some(entry.clone());
        }
        let (text, entry) = generations.old.get_key_value(text)?;
        self.keep(Arc::clone(text), entry);
        Some(entry.clone())
    }

    fn keep(&self, text: Arc<str>, entry: &Entry) {
        self.generations.rcu(|generations| {
            let mut next = Generations::clone(generations);
            if ENTRIES_MAX / 2 <= next.young.len() {
                next.old = std::mem::take(&mut next.young);
            }
            next.young.insert(Arc::clone(&text), entry.clone());
            next
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{ q(func: has(name)) { name } }";

    #[test]
    fn a_repeated_text_has_the_same_plan() {
        let plans = Plans::default();
        let first = plans.plan(TEXT, &Variables::new()).unwrap();
        assert!(Arc::ptr_eq(&first, &plans.plan(TEXT, &Variables::new()).unwrap()));
    }

    #[test]
    fn the_number_of_entries_is_bounded_and_used_ones_stay() {
        let plans = Plans::default();
        let first = plans.plan(TEXT, &Variables::new()).unwrap();
        for number in 0..2 * ENTRIES_MAX {
            let text = format!("{{ q{number}(func: has(name)) {{ name }} }}");
            plans.plan(&text, &Variables::new()).unwrap();
            if number % 100 == 0 {
                assert!(Arc::ptr_eq(&first, &plans.plan(TEXT, &Variables::new()).unwrap()));
            }
        }
        let generations = plans.generations.load();
        assert!(generations.young.len() + generations.old.len() <= ENTRIES_MAX);
    }

    #[test]
    fn other_values_of_variables_make_other_plans() {
        let plans = Plans::default();
        let text = "query q($n: int) { q(func: has(name), first: $n) { name } }";
        let plan = |n: &str| {
            let variables = Variables::from([("$n".to_owned(), n.to_owned())]);
            plans.plan(text, &variables).unwrap()
        };
        assert_eq!(plan("3").blocks[0].page.first, 3);
        assert_eq!(plan("4").blocks[0].page.first, 4);
        assert!(plans.plan("{ nonsense", &Variables::new()).is_err());
    }
}
