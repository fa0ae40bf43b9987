//! Irregularities of DQL that are implemented only for compatibility with Dgraph, one in each file.
//!
//! | file | what it imitates |
//! |---|---|
//! | `go_escapes` | the escapes of Go in strings |
//! | `math_precedence` | operators that group unlike those of any other language |
//! | `repeated_keys` | which fields of one selection may have the same key |

pub(crate) mod go_escapes;
pub(crate) mod math_precedence;
pub(crate) mod repeated_keys;
