//! What the twin knows of predicates: enough to print a schema and to refuse what it refuses.

use hexgraph::types::ValueType;
use std::collections::BTreeMap;
use std::fmt::Write;

/// One predicate.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    pub name: String,
    pub value_type: ValueType,
    pub list: bool,
    pub lang: bool,
    pub reverse: bool,
    pub count: bool,
    pub indexes: Vec<&'static str>,
}

/// All predicates, and the fields of the types.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Schema {
    pub predicates: BTreeMap<String, Definition>,
    pub types: BTreeMap<String, Vec<String>>,
}

/// The indexes that know an order.
const SORTABLE: &[&str] = &["int", "float", "exact", "year", "month", "day", "hour"];

impl Definition {
    /// A single-valued predicate without directives.
    pub fn new(name: &str, value_type: ValueType) -> Definition {
        Definition {
            name: name.to_owned(),
            value_type,
            list: false,
            lang: false,
            reverse: false,
            count: false,
            indexes: Vec::new(),
        }
    }

    /// True when it leads to nodes.
    pub fn is_edges(&self) -> bool {
        self.value_type == ValueType::Uid
    }

    /// True when `@index` names this tokenizer.
    pub fn has_index(&self, name: &str) -> bool {
        self.indexes.contains(&name)
    }

    /// True when `lt` and its like may be asked at the root.
    pub fn is_sortable(&self) -> bool {
        self.indexes.iter().any(|index| SORTABLE.contains(index))
    }

    /// True when `eq` may be asked at the root.
    pub fn finds_values(&self) -> bool {
        self.indexes.iter().any(|index| *index != "trigram")
    }

    /// True when values can be sorted and aggregated.
    pub fn is_ordered(&self) -> bool {
        !self.list && self.value_type.is_ordered()
    }

    /// The line of the schema.
    fn line(&self) -> String {
        let name = self.value_type.name();
        let mut text = match self.list {
            true => format!("{}: [{name}]", self.name),
            false => format!("{}: {name}", self.name),
        };
        if !self.indexes.is_empty() {
            write!(text, " @index({})", self.indexes.join(", ")).unwrap();
        }
        for (expected, directive) in
            [(self.lang, " @lang"), (self.reverse, " @reverse"), (self.count, " @count")]
        {
            if expected {
                text.push_str(directive);
            }
        }
        text.push_str(" .");
        text
    }
}

impl Schema {
    /// The text for `Database::alter`.
    pub fn text(&self) -> String {
        let own = self.predicates.values().filter(|def| def.name != "dgraph.type");
        let mut lines: Vec<String> = own.map(Definition::line).collect();
        for (name, fields) in &self.types {
            lines.push(format!("type {name} {{"));
            lines.extend(fields.iter().map(|field| match field.starts_with('~') {
                true => format!("  <{field}>"),
                false => format!("  {field}"),
            }));
            lines.push("}".to_owned());
        }
        lines.join("\n") + "\n"
    }

    /// The predicate of a name.
    pub fn get(&self, name: &str) -> Option<&Definition> {
        self.predicates.get(name)
    }
}
