//! An expression after parsing: macros are gone, loops are [`Expr::Loop`].

/// A node. Depth is bounded by the parser.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    Literal(Literal),
    /// A name, without a leading dot.
    Ident(String),
    Select {
        operand: Box<Expr>,
        field: String,
        /// `has(a.b)`.
        test: bool,
    },
    /// `a.?b`.
    OptSelect {
        operand: Box<Expr>,
        field: String,
    },
    Call {
        function: String,
        target: Option<Box<Expr>>,
        args: Vec<Expr>,
    },
    /// `&&` and `||` with all their operands, so that long chains are not deep.
    Logic {
        op: Logic,
        operands: Vec<Expr>,
    },
    List(Vec<Item>),
    Map(Vec<Entry>),
    /// A message made by name, as in `google.protobuf.Duration{}`.
    Message(String),
    Loop(Box<Loop>),
    OptMap(Box<OptMap>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logic {
    And,
    Or,
}

/// An element of a list; an optional one is left out when it has no value.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub value: Expr,
    pub optional: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub key: Expr,
    pub value: Expr,
    pub optional: bool,
}

/// What a macro becomes: a value that is carried over the elements of a range.
#[derive(Debug, Clone, PartialEq)]
pub struct Loop {
    pub range: Expr,
    pub variable: String,
    /// With a second variable, the first is the index or key.
    pub second: Option<String>,
    pub carried: String,
    pub start: Expr,
    pub condition: Expr,
    pub step: Expr,
    pub result: Expr,
}

/// `target.optMap(variable, body)`; flat, where the body gives an optional itself.
#[derive(Debug, Clone, PartialEq)]
pub struct OptMap {
    pub target: Expr,
    pub variable: String,
    pub body: Expr,
    pub flat: bool,
}

impl Expr {
    pub fn call(function: &str, args: Vec<Self>) -> Self {
        Self::Call { function: function.to_owned(), target: None, args }
    }

    pub fn ident(name: &str) -> Self {
        Self::Ident(name.to_owned())
    }

    pub fn literal(literal: Literal) -> Self {
        Self::Literal(literal)
    }

    /// `a.b.c` for names and selections on names.
    pub fn qualified_name(&self) -> Option<String> {
        match self {
            Self::Ident(name) => Some(name.clone()),
            Self::Select { operand, field, test: false } => Some(format!("{}.{field}", operand.qualified_name()?)),
            _ => None,
        }
    }

    /// Whether `claims.<field>` is selected anywhere, in any of its spellings but the index.
    pub fn selects(&self, field: &str) -> bool {
        let is_claims = |expr: &Self| matches!(expr, Self::Ident(name) if name == "claims");
        match self {
            Self::Literal(_) | Self::Ident(_) | Self::Message(_) => false,
            Self::Select { operand, field: selected, test: _ } | Self::OptSelect { operand, field: selected } => {
                (is_claims(operand) && selected == field) || operand.selects(field)
            }
            Self::Call { function: _, target, args } => {
                args.iter().chain(target.as_deref()).any(|arg| arg.selects(field))
            }
            Self::Logic { op: _, operands } => operands.iter().any(|operand| operand.selects(field)),
            Self::List(items) => items.iter().any(|item| item.value.selects(field)),
            Self::Map(entries) => entries.iter().any(|entry| entry.key.selects(field) || entry.value.selects(field)),
            Self::Loop(each) => {
                let Loop { range, variable: _, second: _, carried: _, start, condition, step, result } = each.as_ref();
                [range, start, condition, step, result].into_iter().any(|part| part.selects(field))
            }
            Self::OptMap(map) => map.target.selects(field) || map.body.selects(field),
        }
    }
}
