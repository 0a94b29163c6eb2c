//! CEL expressions on claims and users, as kube-apiserver evaluates them (CEL with its extensions).
//!
//! Invariants:
//! - an expression that compiles here compiles there, and the other way round; what cannot be decided is reported as such;
//! - time and memory are bounded for every text: parsing goes each word once and nests at most as deep as upstream
//!   allows, evaluation has a budget, patterns are matched in time that grows with the text alone.
//!
//! ```text
//!   text ─ lex ─► words ─ parse (macros) ─► Expr ─ check (types, declare) ─► Type
//!                                             └─── eval (functions, texts, lists, convert) ─► Value
//! ```
//!
//! Why our own and no published interpreter: `docs/decisions/0012-own-cel.md`.

#![expect(clippy::wildcard_enum_match_arm, reason = "an operation of CEL accepts a few types and rejects every other")]

mod ast;
mod check;
mod convert;
mod declare;
mod eval;
mod functions;
mod lex;
mod lists;
mod literals;
mod macros;
mod parse;
mod pattern;
mod texts;
mod types;
pub mod url;
mod value;

use ast::Expr;
pub use eval::Fault;
use types::Type;
pub use value::{Held, List, Value};

/// What an expression is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The variable `claims`: text to anything.
    Claims,
    /// The variable `user`: username, uid, groups, extra.
    User,
}

/// Why an expression can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CelError {
    /// It does not compile.
    Wrong(String),
    /// Whether it compiles cannot be decided here.
    NotVerifiable(String),
}

/// The CRD's limit. It bounds how deep an expression can nest, and with that how much stack it takes.
pub const CHARS_MAX: usize = 1024;

/// An expression that compiles.
#[derive(Debug, Clone)]
pub struct Program {
    source: String,
    scope: Scope,
    root: Expr,
    result: Type,
}

/// Whether a value can be what a mapping needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    Maybe,
    Never,
}

impl Program {
    /// Compiles an expression.
    ///
    /// # Errors
    /// It does not compile, or that cannot be decided.
    pub fn compile(source: &str, scope: Scope) -> Result<Self, CelError> {
        if source.chars().nth(CHARS_MAX).is_some() {
            return Err(CelError::NotVerifiable(format!("it has more than {CHARS_MAX} characters")));
        }
        let root = parse::parse(source)?;
        let result = check::check(&root, scope)?;
        Ok(Self { source: source.to_owned(), scope, root, result })
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// The type it gives, as people write it.
    pub fn result(&self) -> String {
        self.result.to_string()
    }

    /// Whether it is a bool before anything is known.
    pub fn is_bool(&self) -> bool {
        self.result == Type::Bool
    }

    /// Whether it selects `claims.<field>`.
    pub fn selects(&self, field: &str) -> bool {
        self.root.selects(field)
    }

    /// Whether it can give a text.
    pub fn text(&self) -> Text {
        match self.result {
            Type::String | Type::Dyn | Type::Any => Text::Maybe,
            _ => Text::Never,
        }
    }

    /// Whether it can give a text, a list of texts, or nothing.
    pub fn texts(&self) -> Text {
        match &self.result {
            Type::List(_) if held_as_strings(&self.root) => Text::Never,
            Type::List(of) => match of.as_ref() {
                Type::String | Type::Dyn | Type::Any | Type::Optional(_) => Text::Maybe,
                _ => Text::Never,
            },
            Type::String | Type::Dyn | Type::Any | Type::Null => Text::Maybe,
            _ => Text::Never,
        }
    }

    /// What it gives for a value of its variable.
    ///
    /// # Errors
    /// It gives nothing there, or what it gives cannot be decided.
    pub fn evaluate(&self, variable: &Value) -> Result<Value, Fault> {
        let name = match self.scope {
            Scope::Claims => "claims",
            Scope::User => "user",
        };
        eval::evaluate(&self.root, name, variable)
    }
}

/// Whether the list is one a string function made, whichever way is taken: upstream can't read those in mappings.
fn held_as_strings(expr: &Expr) -> bool {
    match expr {
        Expr::Call { function, target: Some(_), .. } => matches!(function.as_str(), "split" | "findAll"),
        Expr::Call { function, target: None, args } if function == "_?_:_" => args[1..].iter().all(held_as_strings),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
