//! The rules of `@auth`, which say who may read and change the nodes of a type.

use serde_json::Value;

/// An operation that a rule of `@auth` permits.
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
    /// All operations, in the order in which the arguments of `@auth` are read.
    pub const ALL: [Operation; 5] = [
        Operation::Password,
        Operation::Query,
        Operation::Add,
        Operation::Update,
        Operation::Delete,
    ];

    /// Returns the name of the operation's argument of `@auth`.
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

/// The rules of a type. An operation without a rule is permitted to everybody.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AuthRules {
    /// Whose queries may check a node's password.
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
    /// Returns the rule of an operation.
    pub fn of(&self, operation: Operation) -> Option<&Rule> {
        match operation {
            Operation::Password => self.password.as_ref(),
            Operation::Query => self.query.as_ref(),
            Operation::Add => self.add.as_ref(),
            Operation::Update => self.update.as_ref(),
            Operation::Delete => self.delete.as_ref(),
        }
    }

    /// Returns the position of the rule of an operation, to be set.
    pub fn of_mut(&mut self, operation: Operation) -> &mut Option<Rule> {
        match operation {
            Operation::Password => &mut self.password,
            Operation::Query => &mut self.query,
            Operation::Add => &mut self.add,
            Operation::Update => &mut self.update,
            Operation::Delete => &mut self.delete,
        }
    }

    /// Returns true if no operation has a rule.
    pub fn is_empty(&self) -> bool {
        Operation::ALL.iter().all(|operation| self.of(*operation).is_none())
    }
}

/// A condition on the caller and the node.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// All of these rules hold.
    And(Vec<Rule>),
    /// One of these rules holds at least.
    Or(Vec<Rule>),
    /// The rule does not hold.
    Not(Box<Rule>),
    /// A claim of the token passes a test. The rule holds for all nodes or for none.
    Claim {
        /// The name of the claim, without `$`.
        claim: String,
        /// The test that the claim has to pass.
        test: RbacTest,
    },
    /// The node is among the answers of a query.
    Traversal {
        /// The type whose nodes the query gives: the type of the rule, or an interface of it.
        type_name: String,
        /// The text of the one query.
        text: String,
        /// The names of the variables that the query declares. Each has the value of the claim of
        /// its name; the rule does not hold when there is no such claim.
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
