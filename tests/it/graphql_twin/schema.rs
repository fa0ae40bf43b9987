//! The schema of a case, and what the specification says that it means.

use super::lit::Lit;
use std::fmt::Write;

/// The values of the one enum.
pub const MOODS: [&str; 3] = ["CALM", "LOUD", "WILD"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    Id,
    Int,
    Int64,
    Float,
    Text,
    Bool,
    Time,
    Mood,
    Point,
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    Scalar(Scalar),
    /// Objects of a kind, by its place.
    Kind(usize),
    /// Objects of a union, by its place.
    Union(usize),
}

impl Of {
    pub fn is_edge(self) -> bool {
        !matches!(self, Of::Scalar(_))
    }
}

/// Whether a field is a list: of what may be null, of what may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Many {
    One,
    Loose,
    Tight,
}

#[derive(Debug, Clone)]
pub struct Field {
    pub name: String,
    pub of: Of,
    pub many: Many,
    pub is_required: bool,
    /// `@id`, and whether it holds for a whole interface.
    pub unique: Option<bool>,
    pub search: Option<Vec<&'static str>>,
    pub default_add: Option<Lit>,
    pub default_update: Option<Lit>,
    /// The name in the store; `name@en` for a language, `~name` for edges read backwards.
    pub predicate: String,
    pub says_predicate: bool,
    /// The field of the target that is the other end.
    pub inverse: Option<String>,
    pub says_inverse: bool,
}

/// A type or an interface.
#[derive(Debug, Clone)]
pub struct Kind {
    pub name: String,
    pub is_interface: bool,
    pub parents: Vec<usize>,
    pub own: Vec<Field>,
    /// The name of the type in the store, where it is not its own.
    pub stored: Option<String>,
}

#[derive(Debug, Clone, Default)]
pub struct Schema {
    pub kinds: Vec<Kind>,
    pub unions: Vec<(String, Vec<usize>)>,
}

impl Scalar {
    pub fn name(self) -> &'static str {
        match self {
            Scalar::Id => "ID",
            Scalar::Int => "Int",
            Scalar::Int64 => "Int64",
            Scalar::Float => "Float",
            Scalar::Text => "String",
            Scalar::Bool => "Boolean",
            Scalar::Time => "DateTime",
            Scalar::Mood => "Mood",
            Scalar::Point => "Point",
        }
    }

    pub fn is_number(self) -> bool {
        matches!(self, Scalar::Int | Scalar::Int64 | Scalar::Float)
    }
}

impl Field {
    pub fn is_list(&self) -> bool {
        self.many != Many::One
    }

    pub fn scalar(&self) -> Option<Scalar> {
        match self.of {
            Of::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    pub fn is_id(&self) -> bool {
        self.of == Of::Scalar(Scalar::Id)
    }

    /// Edges that are read backwards, which no input sets.
    pub fn is_reverse(&self) -> bool {
        self.predicate.starts_with('~')
    }

    /// What it may be sorted by.
    pub fn is_orderable(&self) -> bool {
        let kinds = [Scalar::Int, Scalar::Int64, Scalar::Float, Scalar::Text, Scalar::Time];
        !self.is_list() && self.scalar().is_some_and(|scalar| kinds.contains(&scalar))
    }

    /// What a filter may ask of it.
    pub fn words(&self) -> Option<Vec<&'static str>> {
        let scalar = self.scalar()?;
        let bare = match scalar {
            Scalar::Text => "term",
            Scalar::Mood => "hash",
            _ => "plain",
        };
        let mut words = match &self.search {
            Some(words) if words.is_empty() => vec![bare],
            Some(words) => words.clone(),
            None => vec![],
        };
        // A bare `@search` says all that a text with `@id` may be asked.
        let is_bare = self.search.as_ref().is_some_and(Vec::is_empty);
        if self.unique.is_some() && scalar == Scalar::Text {
            if !is_bare && !words.contains(&"exact") {
                words.push("hash");
            }
        } else if self.unique.is_some() {
            words.push("plain");
        }
        (!words.is_empty()).then_some(words)
    }
}

impl Kind {
    pub fn stored(&self) -> &str {
        self.stored.as_deref().unwrap_or(&self.name)
    }

    /// The name of the list in a payload.
    pub fn list(&self) -> String {
        lower_first(&self.name)
    }
}

/// With a small first letter.
pub fn lower_first(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    first.to_lowercase() + rest
}

impl Schema {
    /// All fields of a kind: of the interface that is named last first, its own at the end.
    pub fn fields(&self, kind: usize) -> Vec<&Field> {
        let kind = &self.kinds[kind];
        let mut all: Vec<&Field> = Vec::new();
        for parent in kind.parents.iter().rev() {
            for field in &self.kinds[*parent].own {
                if !all.iter().any(|existing| existing.name == field.name) {
                    all.push(field);
                }
            }
        }
        all.extend(&kind.own);
        all
    }

    pub fn field(&self, kind: usize, name: &str) -> Option<&Field> {
        self.fields(kind).into_iter().find(|field| field.name == name)
    }

    pub fn kind(&self, name: &str) -> Option<usize> {
        self.kinds.iter().position(|kind| kind.name == name)
    }

    pub fn id_field(&self, kind: usize) -> Option<&Field> {
        self.fields(kind).into_iter().find(|field| field.is_id())
    }

    pub fn unique_fields(&self, kind: usize) -> Vec<&Field> {
        self.fields(kind).into_iter().filter(|field| field.unique.is_some()).collect()
    }

    /// Whether an object of a concrete type is of a kind.
    pub fn is_a(&self, concrete: usize, kind: usize) -> bool {
        concrete == kind || self.kinds[concrete].parents.contains(&kind)
    }

    /// The interface that a type has a field from.
    pub fn origin(&self, kind: usize, name: &str) -> Option<usize> {
        let has = |parent: &&usize| self.kinds[**parent].own.iter().any(|own| own.name == name);
        self.kinds[kind].parents.iter().rev().find(has).copied()
    }

    pub fn objects(&self) -> impl Iterator<Item = usize> {
        (0..self.kinds.len()).filter(|kind| !self.kinds[*kind].is_interface)
    }

    /// The types that objects of a field may have.
    pub fn concrete(&self, of: Of) -> Vec<usize> {
        match of {
            Of::Scalar(_) => Vec::new(),
            Of::Kind(kind) => self.objects().filter(|object| self.is_a(*object, kind)).collect(),
            Of::Union(union) => self.unions[union].1.clone(),
        }
    }

    /// Whether inputs can say something of a field.
    pub fn is_settable(&self, field: &Field) -> bool {
        let is_nameless = match field.of {
            Of::Kind(kind) => {
                self.kinds[kind].is_interface
                    && self.id_field(kind).is_none()
                    && self.unique_fields(kind).is_empty()
            }
            _ => false,
        };
        !field.is_id() && !field.is_reverse() && !is_nameless
    }

    /// The other end of a field that leads to a kind.
    pub fn inverse_of(&self, field: &Field) -> Option<&Field> {
        let (Of::Kind(kind), Some(name)) = (field.of, &field.inverse) else { return None };
        self.field(kind, name)
    }

    /// The name of what a field holds.
    pub fn name_of(&self, of: Of) -> &str {
        match of {
            Of::Scalar(scalar) => scalar.name(),
            Of::Kind(kind) => &self.kinds[kind].name,
            Of::Union(union) => &self.unions[union].0,
        }
    }

    /// The schema as text.
    pub fn text(&self) -> String {
        let mut text = format!("enum Mood {{ {} }}\n", MOODS.join(" "));
        for kind in &self.kinds {
            let word = if kind.is_interface { "interface" } else { "type" };
            let _ = write!(text, "{word} {}", kind.name);
            let parents: Vec<&str> =
                kind.parents.iter().map(|parent| &*self.kinds[*parent].name).collect();
            if !parents.is_empty() {
                let _ = write!(text, " implements {}", parents.join(" & "));
            }
            if let Some(stored) = &kind.stored {
                let _ = write!(text, " @dgraph(type: \"{stored}\")");
            }
            text += " {\n";
            for field in &kind.own {
                self.write_field(&mut text, field);
            }
            text += "}\n";
        }
        for (name, members) in &self.unions {
            let members: Vec<&str> = members.iter().map(|kind| &*self.kinds[*kind].name).collect();
            let _ = writeln!(text, "union {name} = {}", members.join(" | "));
        }
        text
    }

    fn write_field(&self, text: &mut String, field: &Field) {
        let name = self.name_of(field.of);
        let ty = match field.many {
            Many::One => name.to_owned(),
            Many::Loose => format!("[{name}]"),
            Many::Tight => format!("[{name}!]"),
        };
        let mark = if field.is_required { "!" } else { "" };
        let _ = write!(text, "  {}: {ty}{mark}", field.name);
        match field.unique {
            Some(true) => text.push_str(" @id(interface: true)"),
            Some(false) => text.push_str(" @id"),
            None => {}
        }
        match &field.search {
            Some(words) if words.is_empty() => text.push_str(" @search"),
            Some(words) => {
                let _ = write!(text, " @search(by: [{}])", words.join(", "));
            }
            None => {}
        }
        if let (true, Some(inverse)) = (field.says_inverse, &field.inverse) {
            let _ = write!(text, " @hasInverse(field: {inverse})");
        }
        if field.says_predicate {
            let _ = write!(text, " @dgraph(pred: \"{}\")", field.predicate);
        }
        let mut parts = Vec::new();
        for (word, value) in [("add", &field.default_add), ("update", &field.default_update)] {
            if let Some(value) = value {
                parts.push(format!("{word}: {{value: \"{}\"}}", default_text(value)));
            }
        }
        if !parts.is_empty() {
            let _ = write!(text, " @default({})", parts.join(", "));
        }
        text.push('\n');
    }
}

/// A value as `@default` says it.
fn default_text(value: &Lit) -> String {
    match value {
        Lit::Plain(serde_json::Value::String(text)) => text.clone(),
        other => other.to_string(),
    }
}
