//! From a tree to a plan: names become slots of a row, parameters become values, and the steps of
//! each match get an order.

mod resolver;
mod name_checks;
mod order;
mod patterns;
mod expressions;
mod calls;
mod subqueries;
mod distinct;
mod projection;
mod ranges;
mod procedures;
mod joined;
mod clauses;

pub(super) use resolver::Resolver;
