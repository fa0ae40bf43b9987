//! Lowers selections: lists of fields and fragments.

use crate::compat::repeated_keys::first_duplicate;
use crate::lower::request::Lowering;
use crate::syntax::ast::Item;
use crate::syntax::token::Text;
use hexgraph_base::plan::{Field, FieldKind};
use hexgraph_base::types::{Error, Position, Result, nearest, stack};
use std::sync::Arc;

/// The greatest depth of nested selections, those in fragments included; each `...name` is a level
/// of its own. The lexer allows no more than 200 open brackets, so only fragments within fragments
/// get here.
const DEPTH_MAX: usize = 250;

/// The greatest number of fields of a request after fragments are expanded. Fragments that use
/// others twice grow exponentially, so the length of the text does not bound it.
const FIELDS_MAX: usize = 100_000;

/// The surroundings of a field, as far as special rules hold there.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::lower) struct FieldContext {
    /// The field is directly in the selection of a `@groupby`.
    pub in_group: bool,
    /// The field is directly in a block without a function, which holds only aggregates of
    /// variables and `math`.
    pub in_empty_block: bool,
    /// The field is in a `shortest` block, at any depth.
    pub in_shortest: bool,
}

impl<'a> Lowering<'a> {
    /// Lowers a selection. Fragments are expanded; a repeated key is an error.
    pub(in crate::lower) fn selection(
        &mut self,
        items: &'a [Item],
        context: FieldContext,
    ) -> Result<Vec<Arc<Field>>> {
        let mut fields = Vec::with_capacity(items.len());
        self.extend(&mut fields, items, context)?;
        self.check_selection(&fields, context)?;
        Ok(fields)
    }

    /// Appends the fields of some items. Fragments are expanded. Repeated keys are not looked for,
    /// since a field may have several selections, which are joined and then checked as one.
    ///
    /// # Errors
    ///
    /// `Syntax` for errors of an item or nested too deeply, `Limit` for too many fields. An error
    /// aborts the lowering of the request, so `depth` and `expanding` are not put back.
    pub(in crate::lower) fn extend(
        &mut self,
        fields: &mut Vec<Arc<Field>>,
        items: &'a [Item],
        context: FieldContext,
    ) -> Result<()> {
        stack::check()?;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let message = format!("selections are nested deeper than {DEPTH_MAX} levels");
            // A level has no position in the text, so the error stands at its start.
            return Err(Error::syntax(Position { line: 1, column: 0 }, message));
        }
        for item in items {
            match item {
                Item::Spread(name) => self.spread(fields, name, context)?,
                Item::Field(field) => {
                    self.field_count += 1;
                    if self.field_count > FIELDS_MAX {
                        let message = format!("the request has more than {FIELDS_MAX} fields");
                        return Err(Error::Limit { message });
                    }
                    fields.push(Arc::new(self.field(field, context)?));
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn spread(
        &mut self,
        fields: &mut Vec<Arc<Field>>,
        name: &'a Text,
        context: FieldContext,
    ) -> Result<()> {
        let text = self.text(name);
        let Some(&fragment) = self.fragments.get(text) else {
            let hint = match nearest(text, self.fragments.keys().copied()) {
                Some(existing) => format!("did you mean `{existing}`?"),
                None => format!("define it: `fragment {text} {{ ... }}`"),
            };
            return Err(self.error_with(name.start, format!("fragment `{text}` is missing"), hint));
        };
        if self.expanding.contains(&text) {
            let message = format!("fragment `{text}` contains itself");
            return Err(self.error_with(name.start, message, "remove this `...`"));
        }
        self.expanding.push(text);
        self.extend(fields, &fragment.items, context)?;
        self.expanding.pop();
        Ok(())
    }

    /// Checks the rules that concern all fields of a selection together.
    pub(super) fn check_selection(
        &self,
        fields: &[Arc<Field>],
        context: FieldContext,
    ) -> Result<()> {
        if let Some(field) = first_duplicate(fields) {
            let message = format!("`{}` stands twice in one selection", field.key);
            let hint = "give one of them an alias";
            return Err(Error::syntax(field.at, message).with_hint(hint));
        }
        if context.in_group {
            let mut counts = fields.iter().filter(|field| field.kind == FieldKind::CountUid);
            if let Some(second) = counts.nth(1) {
                return Err(Error::syntax(second.at, "a second `count(uid)` in one `@groupby`")
                    .with_hint("remove one of them"));
            }
        }
        Ok(())
    }
}
