//! Stems: a word less the endings of its language.

mod rules;
mod porter;
mod romance;
mod german;
mod arabic;
mod hindi;
mod sorani;
mod stemmer;

pub(in crate::text) use stemmer::Stemmer;
