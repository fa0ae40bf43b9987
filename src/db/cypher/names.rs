//! The names of a query and the predicates that they mean.
//!
//! A property or relationship type may be written without the name of the type that owns it:
//! `title` is the field `Film.title` of a node with the label `Film`. For a node, the fields of its
//! types count first, then the predicate of exactly that name. A name that is a full one, such as
//! `Film.title`, means this predicate alone.

use arc_swap::ArcSwapOption;
use hexgraph_base::schema::{PredicateDef, Schema, is_reserved};
use hexgraph_base::types::ValueType;
use hexgraph_store::graph::{LangValues, Predicate, Version};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, OnceLock};

/// Whether queries see a predicate: those of the engine have a meaning of their own, and a password
/// is never read.
pub(super) fn is_visible(predicate: &Predicate) -> bool {
    !is_reserved(&predicate.def.name) && predicate.def.value_type != ValueType::Password
}

/// Whether queries may read values of a predicate of a schema.
pub(super) fn is_property(name: &str, def: &PredicateDef) -> bool {
    !is_reserved(name) && !matches!(def.value_type, ValueType::Uid | ValueType::Password)
}

/// The part of a name after its last point.
pub(super) fn short_name(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, short)| short)
}

/// The parts of a predicate that have the values in a language; the empty one for untagged values.
pub(super) fn parts_in<'p>(predicate: &'p Predicate, lang: &str) -> &'p [LangValues] {
    match lang {
        "" => predicate.untagged(),
        lang => predicate.values(lang).map(std::slice::from_ref).unwrap_or_default(),
    }
}

/// A property that a query names.
#[derive(Clone)]
pub(super) struct NamedProperty {
    /// The language after `@`; empty without one.
    pub lang: Box<str>,
    /// The predicate of exactly this name.
    pub exact: Option<Arc<Predicate>>,
    /// The types that have fields of this short name, and these fields.
    pub owned: Owned,
}

/// Types with some of their fields.
pub(super) type Owned = Vec<(Arc<str>, Vec<Arc<Predicate>>)>;

/// The names of one schema.
#[derive(Default)]
pub(super) struct PropertyNames {
    /// For a short name, the types with such fields, and the names of these fields.
    fields: FxHashMap<Box<str>, Vec<(Arc<str>, Vec<Box<str>>)>>,
    /// The full and the short names of all properties that the schema declares, with values or
    /// without. Made for the first name that no value has.
    declared: OnceLock<FxHashSet<Box<str>>>,
}

/// The names of the schema that was read last. A request of the same schema reads no fields.
#[derive(Default)]
pub(in crate::db) struct CachedNames(ArcSwapOption<(Arc<Schema>, Arc<PropertyNames>)>);

impl CachedNames {
    /// Returns the names of a schema. O(fields of all types) when the schema is another one.
    pub(super) fn of(&self, schema: &Arc<Schema>) -> Arc<PropertyNames> {
        if let Some(cached) = &*self.0.load()
            && Arc::ptr_eq(&cached.0, schema)
        {
            return Arc::clone(&cached.1);
        }
        let names = Arc::new(PropertyNames::of(schema));
        self.0.store(Some(Arc::new((Arc::clone(schema), Arc::clone(&names)))));
        names
    }
}

impl PropertyNames {
    /// Reads the types of a schema. O(fields of all types).
    pub(super) fn of(schema: &Schema) -> PropertyNames {
        let mut fields = FxHashMap::<Box<str>, Vec<(Arc<str>, Vec<Box<str>>)>>::default();
        let mut types: Vec<_> = schema.types.iter().collect();
        types.sort_unstable_by_key(|(name, _)| *name);
        for (type_name, def) in types {
            let type_name: Arc<str> = type_name.as_str().into();
            for field in &def.fields {
                let owners = fields.entry(short_name(field).into()).or_default();
                let is_of = |(name, _): &(Arc<str>, _)| *name == type_name;
                let index = owners.iter().position(is_of).unwrap_or_else(|| {
                    owners.push((Arc::clone(&type_name), Vec::new()));
                    owners.len() - 1
                });
                owners[index].1.push(field.as_str().into());
            }
        }
        // Where each field is the predicate of that name, owners decide nothing.
        fields.retain(|short, owners| {
            owners.iter().any(|(_, names)| names.iter().any(|it| it != short))
        });
        PropertyNames { fields, declared: OnceLock::new() }
    }

    /// Whether a schema, whose names these are, declares a property, though no node may have it.
    /// O(predicates) for the first call.
    pub(super) fn is_declared(&self, schema: &Schema, name: &str) -> bool {
        let declared = self.declared.get_or_init(|| {
            let values = schema.predicates.iter().filter(|(name, def)| is_property(name, def));
            values.flat_map(|(name, _)| [&**name, short_name(name)]).map(Box::from).collect()
        });
        declared.contains(name.rsplit_once('@').map_or(name, |(name, _)| name))
    }

    /// The types with visible fields of a short name, and these fields. Empty where each is the
    /// predicate of that name.
    pub(super) fn owned(&self, version: &Version, short: &str) -> Owned {
        let Some(owners) = self.fields.get(short) else { return Owned::new() };
        let visible = |name: &str| {
            let predicate = version.predicate(name)?;
            (is_visible(predicate) && !predicate.is_edges()).then(|| Arc::clone(predicate))
        };
        let of_type = |(owner, names): &(Arc<str>, Vec<Box<str>>)| {
            let predicates: Vec<_> = names.iter().filter_map(|it| visible(it)).collect();
            (!predicates.is_empty()).then(|| (Arc::clone(owner), predicates))
        };
        let owned: Owned = owners.iter().filter_map(of_type).collect();
        let mut predicates = owned.iter().flat_map(|(_, predicates)| predicates);
        if predicates.any(|it| it.def.name != *short) { owned } else { Owned::new() }
    }

    /// Resolves the name of a property. PropertyNames that nobody has are resolved to nothing.
    pub(super) fn property(&self, version: &Version, name: &str) -> NamedProperty {
        let is_there = |name: &str| version.predicate(name).is_some_and(|it| is_visible(it));
        let (name, lang) = match name.rsplit_once('@') {
            Some((name, lang)) if !is_there(&format!("{name}@{lang}")) => (name, lang),
            _ => (name, ""),
        };
        let exact = version.predicate(name).filter(|it| is_visible(it) && !it.is_edges());
        let owned = self.owned(version, name);
        NamedProperty { lang: lang.into(), exact: exact.cloned(), owned }
    }
}

/// Whether a field is the only one of its short name among the fields of these types. `owned` are
/// the fields of the short name.
pub(super) fn is_unambiguous(owned: &Owned, field: &str, types: &[Arc<str>]) -> bool {
    let mut fields = owned.iter().filter(|(name, _)| types.contains(name));
    let is_field = |predicate: &Arc<Predicate>| predicate.def.name == field;
    let mut is_owned = false;
    let only = fields.all(|(_, predicates)| {
        is_owned |= predicates.iter().any(is_field);
        predicates.iter().all(is_field)
    });
    only && is_owned
}
