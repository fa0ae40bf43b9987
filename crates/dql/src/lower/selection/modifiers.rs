//! Lowers directives and everything else that may follow a field or a block.

use super::paging::Paging;
use crate::lower::arguments::number;
use crate::lower::arguments::other_languages::argument_for;
use crate::lower::request::Lowering;
use crate::syntax::ast::{self, Argument, Directive, Suffix, Value};
use hexgraph_base::plan::{Cascade, Facets, Filter, GroupBy, GroupKey, Recurse};
use hexgraph_base::types::{Result, did_you_mean};

/// The argument of `@cascade(...)` that represents all fields.
const ALL_FIELDS: &str = "__all__";

/// The arguments and directives of a field or a block.
#[derive(Default)]
pub(in crate::lower) struct Modifiers {
    /// `@filter`; `Some(None)` when its brackets are empty.
    pub filter: Option<Option<Filter>>,
    /// `@cascade`.
    pub cascade: Option<Cascade>,
    /// `@normalize`.
    pub normalize: bool,
    /// `@ignorereflex`.
    pub ignore_reflex: bool,
    /// `@recurse`.
    pub recurse: Option<Recurse>,
    /// `@groupby`.
    pub group_by: Option<GroupBy>,
    /// `@facets` or `@facets(list)`.
    pub facets: Option<Facets>,
    /// `@facets(filter)`; `Some(None)` when its brackets are empty.
    pub facet_filter: Option<Option<Filter>>,
    /// The languages; empty for none.
    pub langs: Vec<String>,
    /// Page and order.
    pub paging: Paging,
    /// True when a selection follows.
    pub has_body: bool,
}

impl Modifiers {
    /// True when nothing is said.
    pub(in crate::lower) fn is_plain(&self) -> bool {
        let is_alone = self.cascade.is_none() && self.recurse.is_none() && self.group_by.is_none();
        is_alone && self.filter.is_none() && !self.normalize && !self.ignore_reflex
    }
}

impl<'a> Lowering<'a> {
    /// Adds a part after a field. Of a selection only its presence is recorded; its items are
    /// lowered elsewhere.
    pub(super) fn suffix(&mut self, suffix: &'a Suffix, modifiers: &mut Modifiers) -> Result<()> {
        match suffix {
            Suffix::Langs(langs) if modifiers.langs.is_empty() => {
                modifiers.langs = self.langs(langs)?;
            }
            Suffix::Langs(langs) => {
                let message = format!("unexpected `@{}`", self.text(langs));
                let hint = "the languages of a field are one list: `@en:fr`";
                return Err(self.error_with(langs.start, message, hint));
            }
            Suffix::Arguments(arguments) => {
                for argument in arguments {
                    if !self.paging(argument, &mut modifiers.paging)? {
                        let key = self.text(&argument.key);
                        let message = format!("`{key}` is no argument of a field");
                        let existing = ["first", "offset", "after", "orderasc", "orderdesc"];
                        let near = did_you_mean(key, existing.into_iter());
                        let hint = match argument_for(key) {
                            Some(written) => written.to_owned(),
                            None if near.is_empty() => {
                                "expected first, offset, after, orderasc or orderdesc".to_owned()
                            }
                            None => near,
                        };
                        return Err(self.error_with(argument.key.start, message, hint));
                    }
                }
            }
            Suffix::Body(_) => modifiers.has_body = true,
            Suffix::Directive(at, directive) => self.directive(*at, directive, false, modifiers)?,
        }
        Ok(())
    }

    /// Returns the languages of a field in order of preference.
    pub(in crate::lower) fn langs(
        &self,
        langs: &'a crate::syntax::token::Text,
    ) -> Result<Vec<String>> {
        let list: Vec<String> = self.text(langs).split(':').map(str::to_owned).collect();
        if list.len() > 1 && list.iter().any(|lang| lang == "*") {
            return Err(self.error(langs.start, "`*` means all languages and must be alone"));
        }
        Ok(list)
    }

    /// Adds a directive of a block (`is_root`) or of a field.
    pub(super) fn directive(
        &mut self,
        at: u32,
        directive: &'a Directive,
        is_root: bool,
        modifiers: &mut Modifiers,
    ) -> Result<()> {
        match directive {
            Directive::Filter(condition) => {
                if modifiers.filter.is_some() {
                    let hint = "join the conditions with `and` or `or`";
                    return Err(self.error_with(at, "a second `@filter`", hint));
                }
                let filter = condition.as_ref().map(|condition| self.filter(condition));
                modifiers.filter = Some(filter.transpose()?);
            }
            Directive::Cascade(None) => modifiers.cascade = Some(Cascade::All),
            Directive::Cascade(Some(names)) => {
                let names: Vec<_> = names.iter().map(|name| self.text(name).to_owned()).collect();
                let is_all = names.iter().any(|name| name == ALL_FIELDS);
                let cascade = if is_all { Cascade::All } else { Cascade::Fields(names) };
                modifiers.cascade = Some(cascade);
            }
            Directive::Normalize => modifiers.normalize = true,
            Directive::IgnoreReflex => modifiers.ignore_reflex = true,
            Directive::Recurse(arguments) => {
                modifiers.recurse = Some(self.recurse(at, arguments)?);
            }
            Directive::GroupBy(keys) => {
                if modifiers.group_by.is_some() {
                    let hint = "list all keys in one";
                    return Err(self.error_with(at, "a second `@groupby`", hint));
                }
                modifiers.group_by = Some(GroupBy { keys: self.group_keys(keys)? });
            }
            Directive::Facets | Directive::FacetList(_) | Directive::FacetFilter(_) if is_root => {
                let hint = "put it behind a field";
                return Err(self.error_with(
                    at,
                    "`@facets` belongs to an edge, not to a block",
                    hint,
                ));
            }
            Directive::Facets => {
                let facets = Facets { all: true, items: Vec::new(), order: Vec::new() };
                self.set_facets(at, facets, modifiers)?;
            }
            Directive::FacetList(items) => {
                let facets = self.facet_list(items)?;
                self.set_facets(at, facets, modifiers)?;
            }
            Directive::FacetFilter(condition) => {
                if modifiers.facet_filter.is_some() {
                    let hint = "join the conditions with `and` or `or`";
                    return Err(self.error_with(at, "a second filter of facets", hint));
                }
                let filter = condition.as_ref().map(|condition| self.facet_filter(condition));
                modifiers.facet_filter = Some(filter.transpose()?);
            }
        }
        Ok(())
    }

    fn set_facets(&self, at: u32, facets: Facets, modifiers: &mut Modifiers) -> Result<()> {
        if modifiers.facets.replace(facets).is_some() {
            return Err(self.error_with(at, "a second `@facets`", "list all facets in one"));
        }
        Ok(())
    }

    /// The keys of groups, each under a name of its own.
    fn group_keys(&self, written: &'a [ast::GroupKey]) -> Result<Vec<GroupKey>> {
        let mut keys = Vec::with_capacity(written.len());
        for key in written {
            let at = key.name.start;
            let key = self.group_key(key)?;
            let same = |other: &GroupKey| match (&other.alias, &key.alias) {
                (None, None) => other.predicate == key.predicate && other.langs == key.langs,
                (one, two) => {
                    one.as_ref().unwrap_or(&other.predicate)
                        == two.as_ref().unwrap_or(&key.predicate)
                }
            };
            if keys.iter().any(same) {
                let name = key.alias.as_ref().unwrap_or(&key.predicate);
                let message = format!("two keys of `@groupby` are called `{name}`");
                return Err(self.error_with(at, message, "give one of them an alias"));
            }
            keys.push(key);
        }
        Ok(keys)
    }

    fn group_key(&self, key: &'a ast::GroupKey) -> Result<GroupKey> {
        let alias = key.alias.as_ref().map(|alias| self.text(alias));
        if let Some(word @ ("first" | "offset" | "after" | "orderasc" | "orderdesc")) = alias {
            let message = format!("`{word}` can't be the alias of a key of `@groupby`");
            let hint = match word {
                "orderasc" | "orderdesc" => {
                    "groups come by their size, the smallest first: order them in what the answer is read with, as in \
                     `rows()[-5:]` of Python"
                }
                _ => {
                    "an argument stands behind the field: `friend (first: 10) @groupby(...)`, and is about nodes, not groups"
                }
            };
            return Err(self.error_with(key.name.start, message, hint));
        }
        let langs = key.langs.as_ref().map(|langs| self.langs(langs)).transpose()?;
        Ok(GroupKey {
            alias: alias.map(str::to_owned),
            predicate: self.text(&key.name).to_owned(),
            langs: langs.unwrap_or_default(),
        })
    }

    fn recurse(&self, at: u32, arguments: &'a [Argument]) -> Result<Recurse> {
        let mut recurse = Recurse { depth: 0, allow_loop: false };
        for Argument { key, value } in arguments {
            let text = self.recurse_value(key.start, value)?;
            match self.text(key).to_ascii_lowercase().as_str() {
                "depth" => {
                    let message = || format!("depth `{text}` is not an integer from 0 on");
                    let depth = number::uint(text);
                    let hint = "write `@recurse(depth: 3)`";
                    recurse.depth =
                        depth.ok_or_else(|| self.error_with(key.start, message(), hint))?;
                }
                "loop" => {
                    let message = || format!("loop `{text}` is neither true nor false");
                    let allowed = number::boolean(text);
                    let hint = "write `@recurse(depth: 3, loop: true)`";
                    recurse.allow_loop =
                        allowed.ok_or_else(|| self.error_with(key.start, message(), hint))?;
                }
                other => {
                    let message = format!("`{other}` is no argument of `@recurse`");
                    return Err(self.error_with(key.start, message, "expected depth or loop"));
                }
            }
        }
        if recurse.allow_loop && recurse.depth == 0 {
            let message = "`@recurse` with `loop: true` needs a depth above 0";
            return Err(self.error_with(at, message, "write `@recurse(depth: 3, loop: true)`"));
        }
        Ok(recurse)
    }

    /// Returns the value of an argument of `@recurse`. Unlike elsewhere, a `$variable` need not be
    /// declared.
    fn recurse_value(&self, at: u32, value: &'a Value) -> Result<&'a str> {
        let Value::Variable(variable) = value else { return self.scalar(at, value) };
        let name = self.text(variable);
        let value = self.values.declared_or_given(name);
        value.ok_or_else(|| {
            let hint = format!("declare it: `query name({name}: int = 3) {{ ... }}`");
            self.error_with(variable.start, format!("variable {name} has no value"), hint)
        })
    }
}
