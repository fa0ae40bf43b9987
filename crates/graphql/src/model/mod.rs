//! The model: a schema that passed all checks, with every directive read into values. All later
//! stages work on it and read no text.

mod type_ref;
mod predicate;
mod custom;
mod auth_rules;
mod authorization;
mod directives;
mod field;
mod definition;
mod schema;

pub use auth_rules::Operation;
pub(crate) use auth_rules::{AuthRules, RbacTest, Rule};
pub use authorization::{Algorithm, Authorization, Keys};
pub use custom::{Custom, HttpMethod};
pub(crate) use custom::{CustomHttp, Mode};
pub(crate) use definition::EnumValue;
pub use definition::{Key, Kind, Secret, TypeDef};
pub(crate) use directives::{
    DefaultValue, Generate, Inverse, LambdaOnMutate, SearchIndex, UniqueId,
};
pub use field::{Argument, Field};
pub use predicate::{Language, Predicate};
pub use schema::Model;
pub use type_ref::Scalar;
pub(crate) use type_ref::TypeRef;
