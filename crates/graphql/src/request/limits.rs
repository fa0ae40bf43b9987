//! How large a request may be.

/// Bounds of a request's text and of what it requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestLimits {
    /// How deeply selections, values and types may be nested, each counted by itself.
    pub depth: usize,
    /// How many tokens the text may have.
    pub tokens: usize,
    /// How many fields an answer's object may have in all, fragments written out, lists counted
    /// once.
    pub fields: usize,
}

impl Default for RequestLimits {
    /// Far more than a person writes or a tool generates: 200 levels, a million tokens, 100,000
    /// fields.
    fn default() -> RequestLimits {
        RequestLimits { depth: 200, tokens: 1_000_000, fields: 100_000 }
    }
}
