//! Values of options that are not on the command line: variables of the environment, and a file.

mod options;
mod setting;
mod settings_file;
mod layered;
mod in_force;
#[cfg(test)]
mod tests;

pub(super) use in_force::in_force;
pub(super) use layered::LayeredSettings;
