//! Who may do what: the rules of `@auth`.

use serde_json::Value;

/// What a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Operation {
    Password,
    Query,
    Add,
    Update,
    Delete,
}

impl Operation {
    /// All of them, in the order in which rules are read.
    pub const ALL: [Operation; 5] = [
        Operation::Password,
        Operation::Query,
        Operation::Add,
        Operation::Update,
        Operation::Delete,
    ];

    /// The name of the argument of `@auth`.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Password => "password",
            Operation::Query => "query",
            Operation::Add => "add",
            Operation::Update => "update",
            Operation::Delete => "delete",
        }
    }
}

/// The rules of a type; none means that everybody may.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AuthRules {
    /// Who may check passwords.
    pub password: Option<Rule>,
    /// Whose queries see a node.
    pub query: Option<Rule>,
    /// Who may add a node.
    pub add: Option<Rule>,
    /// Who may change a node.
    pub update: Option<Rule>,
    /// Who may delete a node.
    pub delete: Option<Rule>,
}

impl AuthRules {
    /// The rule of an operation.
    pub fn of(&self, operation: Operation) -> Option<&Rule> {
        match operation {
            Operation::Password => self.password.as_ref(),
            Operation::Query => self.query.as_ref(),
            Operation::Add => self.add.as_ref(),
            Operation::Update => self.update.as_ref(),
            Operation::Delete => self.delete.as_ref(),
        }
    }

    /// Where the rule of an operation is kept.
    pub fn of_mut(&mut self, operation: Operation) -> &mut Option<Rule> {
        match operation {
            Operation::Password => &mut self.password,
            Operation::Query => &mut self.query,
            Operation::Add => &mut self.add,
            Operation::Update => &mut self.update,
            Operation::Delete => &mut self.delete,
        }
    }

    /// True when no operation has a rule.
    pub fn is_empty(&self) -> bool {
        Operation::ALL.iter().all(|operation| self.of(*operation).is_none())
    }
}

/// A condition on the caller and the node.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// All hold.
    And(Vec<Rule>),
    /// One holds.
    Or(Vec<Rule>),
    /// It does not hold.
    Not(Box<Rule>),
    /// A claim of the token passes a test. No node is looked at.
    Claim {
        /// The name of the claim, without `$`.
        claim: String,
        /// The test.
        test: RbacTest,
    },
    /// The node is among the answers of a query.
    Traversal {
        /// The type whose nodes the query gives: the type of the rule, or an interface of it.
        type_name: String,
        /// The text of the one query.
        text: String,
        /// Names of the variables that it declares, each filled from a claim of that name. The
        /// rule does not hold when one is missing.
        variables: Vec<String>,
    },
}

/// A test of a claim. Values are compared by type: `5` is not `"5"`. Of an array claim one element
/// has to pass.
#[derive(Debug, Clone, PartialEq)]
pub enum RbacTest {
    /// The claim is this value.
    Eq(Value),
    /// The claim is one of these values.
    In(Vec<Value>),
    /// The claim is text that this regular expression matches somewhere.
    Regexp(String),
}
