//! What is as it is because Dgraph and its clients have it so: notations of Go, in which texts are
//! read and answers are written. Nothing here is a decision of this design, and nothing here knows
//! of the rest.
//!
//! | file | what it imitates |
//! |---|---|
//! | `go_numbers` | how `strconv.FormatFloat` and `encoding/json` write numbers |
//! | `go_floats` | the notations of floats that `strconv.ParseFloat` reads |
//! | `go_integers` | the prefixes of `strconv.ParseInt` with base 0 |
//! | `go_layouts` | the layouts of times that `time.Parse` reads |
//! | `go_regex` | the syntax of `regexp`, translated for the crate that runs patterns |
//! | `go_regex_error` | the words in which `regexp` refuses a pattern |
//! | `go_quotes` | how `strconv.Quote` writes texts in messages |

pub mod go_integers;
pub(crate) mod go_floats;
pub(crate) mod go_layouts;
pub(crate) mod go_numbers;
pub(crate) mod go_quotes;
#[cfg(feature = "text")]
pub(crate) mod go_regex;
pub mod go_regex_error;
