//! The checked schema: what the deployer declared, with every directive read into values.

mod type_ref;
mod predicate;
mod custom;
mod auth;
mod authorization;
mod directives;
mod field;
mod definition;
mod schema;

pub use auth::{AuthRules, Operation, RbacTest, Rule};
pub use authorization::{Algorithm, Authorization, Keys};
pub use custom::{Custom, CustomHttp, HttpMethod, Mode};
pub use definition::{EnumValue, InputField, Key, Kind, Secret, TypeDef};
pub use directives::{DefaultValue, Generate, Inverse, LambdaOnMutate, SearchIndex, UniqueId};
pub use field::{Argument, Field};
pub use predicate::{Language, Predicate};
pub use schema::Model;
pub use type_ref::{Scalar, TypeRef};
