//! Lowers `@facets(...)`: lists of facets, and filters on them.

use crate::lower::request::Lowering;
use crate::lower::selection::paging::ORDER_KEYS_MAX;
use crate::syntax::ast::{self, Condition};
use hexgraph_base::plan::{
    Argument, Call, FacetItem, FacetKey, Facets, Filter, Function, Operand, TermIndex,
};
use hexgraph_base::types::{Result, stack};

impl<'a> Lowering<'a> {
    /// Lowers a list of facets. The result is sorted by name and has each facet once.
    pub(in crate::lower) fn facet_list(&mut self, list: &'a [ast::FacetItem]) -> Result<Facets> {
        let mut items: Vec<FacetItem> = Vec::with_capacity(list.len());
        let mut order: Vec<FacetKey> = Vec::new();
        for item in list {
            let facet = self.text(&item.name);
            let alias = item.alias.as_ref().map(|alias| self.text(alias));
            if let Some(direction @ ("orderasc" | "orderdesc")) = alias {
                if order.len() >= ORDER_KEYS_MAX {
                    let message = format!("an order of more than {ORDER_KEYS_MAX} facets");
                    return Err(self.error(item.name.start, message));
                }
                if order.iter().any(|key| key.facet == facet) {
                    let message = format!("facet `{facet}` is ordered by twice");
                    return Err(self.error_with(item.name.start, message, "remove one of them"));
                }
                let descending = direction == "orderdesc";
                order.push(FacetKey { facet: facet.to_owned(), descending });
            }
            let alias = alias.filter(|alias| !matches!(*alias, "orderasc" | "orderdesc"));
            let var = item.var.as_ref().map(|var| self.define(var));
            let item = FacetItem { facet: facet.to_owned(), alias: alias.map(str::to_owned), var };
            items.push(item);
        }
        // The sort is stable: of a facet that is listed twice the last alias stays.
        items.sort_by(|a, b| a.facet.cmp(&b.facet));
        self.check_facet_variables(list, &items)?;
        items.dedup_by(|next, retained| {
            let is_same = next.facet == retained.facet;
            if is_same {
                let var = retained.var.or(next.var);
                *retained = FacetItem { var, ..next.clone() };
            }
            is_same
        });
        Ok(Facets { all: false, items, order })
    }

    fn check_facet_variables(&self, list: &'a [ast::FacetItem], items: &[FacetItem]) -> Result<()> {
        let mut bound = items.iter().filter(|item| item.var.is_some());
        let mut last = bound.next();
        for item in bound {
            if last.is_some_and(|last| last.facet == item.facet) {
                let at = list[0].name.start;
                let message = format!("facet `{}` is bound to two variables", item.facet);
                return Err(self.error_with(at, message, "use one variable"));
            }
            last = Some(item);
        }
        Ok(())
    }

    /// Lowers a filter on facets. The names that its functions use for predicates are names of
    /// facets.
    pub(in crate::lower) fn facet_filter(&mut self, condition: &'a Condition) -> Result<Filter> {
        stack::check()?;
        Ok(match condition {
            Condition::And(list) => Filter::And(self.facet_filters(list)?),
            Condition::Or(list) => Filter::Or(self.facet_filters(list)?),
            Condition::Not(inner) => Filter::Not(Box::new(self.facet_filter(inner)?)),
            Condition::Call(call) => {
                let function = self.filter_call(call)?;
                self.check_facet_function(call, &function)?;
                Filter::Function(Box::new(function))
            }
        })
    }

    fn facet_filters(&mut self, list: &'a [Condition]) -> Result<Vec<Filter>> {
        list.iter().map(|condition| self.facet_filter(condition)).collect()
    }

    fn check_facet_function(&self, call: &'a ast::Call, function: &Function) -> Result<()> {
        let fits = match &function.call {
            Call::Compare { left: Operand::Predicate(_), arguments, .. } => {
                matches!(arguments[..], [Argument::Text(_)])
            }
            Call::Terms { index, .. } => *index == TermIndex::Term,
            _ => false,
        };
        if fits {
            return Ok(());
        }
        let name = self.text(&call.name);
        let hint = "expected eq, le, lt, ge, gt with one value, allofterms or anyofterms";
        let message = format!("this form of `{name}` can't filter facets");
        Err(self.error_with(call.name.start, message, hint))
    }
}
