//! Lowers one field with its arguments, directives and selection.

use super::aggregate::empty_block_holds;
use super::fields::FieldContext;
use super::modifiers::Modifiers;
use crate::lower::request::Lowering;
use crate::syntax::ast::{Counted, Directive, FieldItem, Head, Suffix, Value};
use crate::syntax::token::{FieldFunction, Text};
use hexgraph_base::plan::{Aggregate, Call, Expand, Field, FieldKind, Filter, Holistic};
use hexgraph_base::types::{Result, nearest};
use std::slice;
use std::sync::Arc;

impl<'a> Lowering<'a> {
    pub(in crate::lower) fn field(
        &mut self,
        item: &'a FieldItem,
        context: FieldContext,
    ) -> Result<Field> {
        if context.in_empty_block {
            self.check_empty_block(item)?;
        }
        match &item.head {
            Head::Predicate(name) => self.predicate(item, name, context),
            Head::Count(counted) => self.counted(item, counted, context),
            Head::Math(sequence) => {
                if context.in_group {
                    return Err(self.not_in_group(item.at, "math"));
                }
                if item.prefix.var.is_none() && item.prefix.alias.is_none() {
                    let hint = "write `name: math(...)` or `x as math(...)`";
                    return Err(self.error_with(item.at, "`math` without a name", hint));
                }
                let Some(sequence) = sequence else {
                    let hint = "write `math(x + 1)`";
                    return Err(self.error_with(item.at, "`math()` without an expression", hint));
                };
                let expression = self.math(sequence)?;
                self.plain(item, FieldKind::Math(expression), String::new())
            }
            Head::Call(function, arguments) => self.function(item, *function, arguments, context),
        }
    }

    fn check_empty_block(&self, item: &'a FieldItem) -> Result<()> {
        let result = match &item.head {
            Head::Math(_) | Head::Call(FieldFunction::Aggregate(_), _) => return Ok(()),
            Head::Count(counted) if matches!(**counted, Counted::Distinct(_)) => return Ok(()),
            Head::Predicate(name) => self.text(name),
            Head::Count(_) => "count",
            Head::Call(..) => "a function",
        };
        let message = format!("found `{result}` in a block without a function");
        Err(self.error_with(item.at, message, empty_block_holds()))
    }

    fn not_in_group(&self, at: u32, result: &str) -> hexgraph_base::types::Error {
        let message = format!("found `{result}` below `@groupby`");
        let hint = format!("expected count(uid), or {} of a predicate", Aggregate::names());
        self.error_with(at, message, hint)
    }

    fn predicate(
        &mut self,
        item: &'a FieldItem,
        name: &'a Text,
        context: FieldContext,
    ) -> Result<Field> {
        let text = self.text(name);
        if context.in_group {
            return Err(self.not_in_group(item.at, text));
        }
        let mut modifiers = self.modifiers(item.at, item.suffixes.iter())?;
        if text == "uid" {
            // Languages of `uid` choose nothing, but they are in the key of the answer.
            let key = with_langs(text, &modifiers.langs);
            return self.complete(item, FieldKind::Uid, key, modifiers, context);
        }
        let text = self.predicate_name(name)?;
        let langs = std::mem::take(&mut modifiers.langs);
        if modifiers.has_body && !langs.is_empty() {
            let message = format!("`{text}` has languages, so it can't have a selection");
            let lang = langs.join(":");
            // A directive that is misspelt and has no brackets is read as a language, and comes
            // here.
            let existing = ["filter", "facets", "cascade", "normalize", "groupby"];
            let hint = match nearest(&lang, existing.into_iter()) {
                Some(existing) => format!("did you mean `@{existing}`?"),
                None if matches!(&*lang, "recurse" | "ignorereflex") => {
                    format!("`@{lang}` stands behind a block")
                }
                None => format!("remove `{{ ... }}`, or `@{lang}`"),
            };
            return Err(self.error_with(item.at, message, hint));
        }
        let key = with_langs(text, &langs);
        let (name, reverse) = without_tilde(text);
        let kind = FieldKind::Predicate { name: name.to_owned(), reverse, langs };
        self.complete(item, kind, key, modifiers, context)
    }

    fn counted(
        &mut self,
        item: &'a FieldItem,
        counted: &'a Counted,
        context: FieldContext,
    ) -> Result<Field> {
        let (name, inner) = match counted {
            Counted::Predicate(name, inner) => (name, inner),
            Counted::Nothing => {
                let hint = "write `count(uid)`";
                return Err(self.error_with(item.at, "`count()` without a predicate", hint));
            }
            Counted::Call => {
                let hint = "expected a predicate or `uid`; different values are counted by `count(distinct val(x))`";
                return Err(self.error_with(item.at, "a variable can't be counted", hint));
            }
            Counted::Distinct(value) => {
                let op = Aggregate::Holistic(Holistic::CountDistinct);
                return self.aggregate(item, op, slice::from_ref(value), context);
            }
        };
        let text = self.text(name);
        if context.in_group && text != "uid" {
            let message = format!("found `count({text})` below `@groupby`");
            if text.eq_ignore_ascii_case("distinct") {
                let hint = "write `count(distinct name)`: the different values that a group has of a predicate";
                return Err(self.error_with(item.at, message, hint));
            }
            let hint = format!(
                "`count(uid)` counts the nodes of a group; edges are counted from the nodes that make the groups: \
                 `~located_in {{ n as count({text}) }} sum(val(n))`"
            );
            return Err(self.error_with(item.at, message, hint));
        }
        // Modifiers may occur inside of the brackets, as in `count(friend @filter(...))`, and
        // after them.
        let mut modifiers = self.modifiers(item.at, inner.iter().chain(&item.suffixes))?;
        if modifiers.has_body {
            let hint = "remove `{ ... }`";
            return Err(self.error_with(item.at, "what is counted can't have a selection", hint));
        }
        if text.eq_ignore_ascii_case("uid") {
            let key = "count".to_owned();
            return self.complete(item, FieldKind::CountUid, key, modifiers, context);
        }
        let langs = std::mem::take(&mut modifiers.langs);
        let (name, reverse) = without_tilde(self.predicate_name(name)?);
        let kind = FieldKind::Count { name: name.to_owned(), reverse, langs };
        self.complete(item, kind, format!("count({text})"), modifiers, context)
    }

    fn modifiers(
        &mut self,
        at: u32,
        suffixes: impl Iterator<Item = &'a Suffix>,
    ) -> Result<Modifiers> {
        let mut modifiers = Modifiers::default();
        for suffix in suffixes {
            self.suffix(suffix, &mut modifiers)?;
        }
        let orders_facets = modifiers.facets.as_ref().is_some_and(|list| !list.order.is_empty());
        if orders_facets && !modifiers.paging.order.is_empty() {
            let message = "an order by facets and another one by a predicate";
            return Err(self.error_with(at, message, "remove one of them"));
        }
        Ok(modifiers)
    }

    fn function(
        &mut self,
        item: &'a FieldItem,
        function: FieldFunction,
        arguments: &'a [Value],
        context: FieldContext,
    ) -> Result<Field> {
        match function {
            FieldFunction::Val => self.val(item, arguments, context),
            FieldFunction::Uid => {
                let hint = "use it at the root: `func: uid(x)`";
                Err(self.error_with(item.at, "`uid(...)` can't be a field", hint))
            }
            FieldFunction::Expand => self.expand(item, arguments, context),
            FieldFunction::Aggregate(op) => self.aggregate(item, op, arguments, context),
            FieldFunction::CheckPassword => self.check_password(item, arguments, context),
        }
    }

    fn val(
        &mut self,
        item: &'a FieldItem,
        arguments: &'a [Value],
        context: FieldContext,
    ) -> Result<Field> {
        if context.in_group {
            return Err(self.not_in_group(item.at, "val"));
        }
        if item.prefix.var.is_some() {
            let message = "`val(x)` can't be bound to another variable";
            return Err(self.error_with(item.at, message, "use the variable `x` itself"));
        }
        let [Value::Word(name, None)] = arguments else {
            return Err(self.error_with(item.at, "`val` takes one variable", "write `val(x)`"));
        };
        let var = self.read(name);
        let key = format!("val({})", self.text(name));
        self.plain(item, FieldKind::Val(var), key)
    }

    fn check_password(
        &mut self,
        item: &'a FieldItem,
        arguments: &'a [Value],
        context: FieldContext,
    ) -> Result<Field> {
        if context.in_group {
            return Err(self.not_in_group(item.at, "checkpwd"));
        }
        let [Value::Word(name, None), password @ (Value::Quoted(_) | Value::Variable(_))] =
            arguments
        else {
            let hint = "write `checkpwd(predicate, \"text\")`";
            return Err(self.error_with(item.at, "wrong arguments of `checkpwd`", hint));
        };
        let password = self.scalar(item.at, password)?.to_owned();
        let name = self.predicate_name(name)?;
        if name == "uid" {
            return Err(self.uid_is_no_predicate(item.at));
        }
        let key = format!("checkpwd({name})");
        self.plain(item, FieldKind::CheckPassword { name: name.to_owned(), password }, key)
    }

    fn expand(
        &mut self,
        item: &'a FieldItem,
        arguments: &'a [Value],
        context: FieldContext,
    ) -> Result<Field> {
        if context.in_group {
            return Err(self.not_in_group(item.at, "expand"));
        }
        if context.in_shortest {
            let hint = "name the predicates of the path";
            return Err(self.error_with(
                item.at,
                "`expand` is not allowed in a `shortest` block",
                hint,
            ));
        }
        if item.prefix.var.is_some() || item.prefix.alias.is_some() {
            let message = "`expand` has neither an alias nor a variable";
            return Err(self.error_with(item.at, message, "name the fields instead"));
        }
        let expand = self.expansion(item, arguments)?;
        let modifiers = self.modifiers(item.at, item.suffixes.iter())?;
        // Without a filter, or with empty brackets, nothing is filtered, which is allowed too.
        let filters_types = match modifiers.filter.as_ref().and_then(Option::as_ref) {
            Some(Filter::Function(function)) => matches!(function.call, Call::Type(_)),
            _ => true,
        };
        let allows_directive = |suffix: &Suffix| match suffix {
            Suffix::Langs(_) => false,
            Suffix::Directive(_, directive) => {
                matches!(directive, Directive::Filter(_))
            }
            Suffix::Arguments(_) | Suffix::Body(_) => true,
        };
        if !filters_types || !item.suffixes.iter().all(allows_directive) {
            let message = "`expand` takes only a filter of types";
            let is_facets = |suffix: &Suffix| match suffix {
                Suffix::Directive(_, directive) => matches!(
                    directive,
                    Directive::Facets | Directive::FacetList(_) | Directive::FacetFilter(_)
                ),
                _ => false,
            };
            let hint = match item.suffixes.iter().any(is_facets) {
                true => {
                    "it shows all facets by itself: leave out `@facets`, or name the predicate whose facets are filtered"
                }
                false => "write `@filter(type(Name))`",
            };
            return Err(self.error_with(item.at, message, hint));
        }
        self.complete(item, FieldKind::Expand(expand), "expand".to_owned(), modifiers, context)
    }

    fn expansion(&mut self, item: &'a FieldItem, arguments: &'a [Value]) -> Result<Expand> {
        if let [Value::Call(call)] = arguments
            && self.text(&call.name).eq_ignore_ascii_case("val")
        {
            return Ok(Expand::Var(self.only_variable(call)?));
        }
        let mut types = Vec::with_capacity(arguments.len());
        for argument in arguments {
            match argument {
                Value::Word(name, None) => match self.text(name) {
                    // Among other names `_all_` is the name of a type.
                    "_all_" if arguments.len() == 1 => return Ok(Expand::All),
                    old @ ("_forward_" | "_reverse_") => {
                        let message = format!("`expand({old})` is no longer supported");
                        let hint = "write `expand(_all_)`, or the names of types";
                        return Err(self.error_with(name.start, message, hint));
                    }
                    name => types.push(name.to_owned()),
                },
                _ => return Err(self.wrong_expand(item.at)),
            }
        }
        if types.is_empty() { Err(self.wrong_expand(item.at)) } else { Ok(Expand::Types(types)) }
    }

    fn wrong_expand(&self, at: u32) -> hexgraph_base::types::Error {
        let hint = "expected `_all_`, names of types or `val(x)`";
        self.error_with(at, "wrong arguments of `expand`", hint)
    }

    /// Lowers a field that may have neither arguments nor directives nor a selection.
    pub(super) fn plain(
        &mut self,
        item: &'a FieldItem,
        kind: FieldKind,
        key: String,
    ) -> Result<Field> {
        if !item.suffixes.is_empty() {
            let message = "nothing may follow a function of variables";
            return Err(self.error_with(item.at, message, "remove what stands behind `)`"));
        }
        // There is no selection below such a field, so the rules of its position don't matter.
        self.complete(item, kind, key, Modifiers::default(), FieldContext::default())
    }

    fn complete(
        &mut self,
        item: &'a FieldItem,
        kind: FieldKind,
        key: String,
        modifiers: Modifiers,
        context: FieldContext,
    ) -> Result<Field> {
        let alias = item.prefix.alias.as_ref().map(|alias| self.text(alias).to_owned());
        let var = item.prefix.var.as_ref().map(|var| self.define(var));
        let key = match (&alias, &item.prefix.var) {
            (Some(alias), _) => alias.clone(),
            // Only `math` comes without a key of its own, and it has an alias or a variable.
            (None, Some(var)) if key.is_empty() => format!("val({})", self.text(var)),
            _ => key,
        };
        // The rules of an empty block end with its own fields; that of a `shortest` block holds for
        // all below it.
        let context = FieldContext {
            in_group: modifiers.group_by.is_some(),
            in_empty_block: false,
            in_shortest: context.in_shortest,
        };
        let fields = self.bodies(&item.suffixes, context)?;
        Ok(Field {
            kind,
            at: self.source.position(item.at),
            alias,
            key,
            var,
            filter: modifiers.filter.flatten(),
            order: modifiers.paging.order,
            page: modifiers.paging.page,
            facets: modifiers.facets,
            facet_filter: modifiers.facet_filter.flatten(),
            cascade: modifiers.cascade,
            normalize: modifiers.normalize,
            group_by: modifiers.group_by,
            fields,
            has_body: modifiers.has_body,
        })
    }

    /// Lowers the selections after a field; several are joined.
    fn bodies(&mut self, suffixes: &'a [Suffix], context: FieldContext) -> Result<Vec<Arc<Field>>> {
        let mut fields = Vec::new();
        for suffix in suffixes {
            if let Suffix::Body(items) = suffix {
                fields.reserve(items.len());
                self.extend(&mut fields, items, context)?;
            }
        }
        self.check_selection(&fields, context)?;
        Ok(fields)
    }
}

/// Returns the key of a predicate with languages, such as `name@en:fr`.
fn with_langs(name: &str, langs: &[String]) -> String {
    if langs.is_empty() { name.to_owned() } else { format!("{name}@{}", langs.join(":")) }
}

/// Splits off a leading `~`. Returns the name, and true when it had one.
fn without_tilde(name: &str) -> (&str, bool) {
    match name.strip_prefix('~') {
        Some(name) => (name, true),
        None => (name, false),
    }
}
