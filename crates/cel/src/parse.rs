//! Words become an expression.
//!
//! Invariants:
//! - what upstream's parser refuses is refused, its limit on nesting included, so no input can exhaust the stack;
//! - each word is looked at a fixed number of times.
//!
//! Why our own: the published parser overflows the stack at about a hundred brackets, and this crate has no threads to run
//! it on. See `docs/decisions/0012-own-cel.md`.

use super::CelError;
use super::ast::{Entry, Expr, Item, Literal, Logic};
use super::lex::{Kind, Token, lex};
use super::macros;

/// Upstream's limit, both on brackets within brackets and on operators and selections within each other.
const DEPTH_MAX: usize = 250;

/// Names that can't be variables or functions.
pub(super) const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// How many brackets within each other are followed here: a debug build takes 8 kB of a thread's 2 MB for each.
const BRACKETS_MAX: usize = 120;

/// Parses an expression.
///
/// # Errors
/// What is wrong first, or that it is nested deeper than is followed here.
pub fn parse(text: &str) -> Result<Expr, CelError> {
    let tokens = lex(text).map_err(CelError::Wrong)?;
    match brackets(&tokens) {
        // Each bracket holds an expression, and the outermost is around them all.
        DEPTH_MAX.. => return Err(CelError::Wrong(too_deep())),
        depth if depth > BRACKETS_MAX => {
            return Err(CelError::NotVerifiable(format!("it has more than {BRACKETS_MAX} brackets within each other")));
        }
        _ => {}
    }
    let mut parser = Parser { tokens, at: 0, nested: 0 };
    let node = parser.expr().map_err(CelError::Wrong)?;
    match parser.peek() {
        Kind::End => Ok(node.expr),
        other => {
            let at = parser.tokens[parser.at].at;
            Err(CelError::Wrong(format!("{} at {at} is one too many", shown(other))))
        }
    }
}

/// How many brackets are open at most.
fn brackets(tokens: &[Token]) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for token in tokens {
        match token.kind {
            Kind::Sign("(" | "[" | "{") => open += 1,
            Kind::Sign(")" | "]" | "}") => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    /// How many expressions are around.
    nested: usize,
}

/// An expression, and how many operators and selections are within each other in it.
struct Node {
    expr: Expr,
    depth: usize,
}

impl Node {
    fn leaf(expr: Expr) -> Self {
        Self { expr, depth: 0 }
    }

    /// Something that upstream counts, around something as deep as this.
    fn around(expr: Expr, depth: usize) -> Result<Self, String> {
        let depth = depth + 1;
        if depth > DEPTH_MAX { Err(too_deep()) } else { Ok(Self { expr, depth }) }
    }

    fn call(function: &str, left: Self, right: Self) -> Result<Self, String> {
        let depth = left.depth.max(right.depth);
        Self::around(Expr::call(function, vec![left.expr, right.expr]), depth)
    }
}

fn too_deep() -> String {
    format!("it is nested more than {DEPTH_MAX} deep")
}

/// Expressions between commas, and the depth of the deepest.
#[derive(Default)]
struct Row {
    exprs: Vec<Expr>,
    depth: usize,
}

impl Row {
    fn push(&mut self, node: Node) {
        self.depth = self.depth.max(node.depth);
        self.exprs.push(node.expr);
    }
}

impl Parser {
    fn peek(&self) -> &Kind {
        &self.tokens[self.at].kind
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Kind::Sign(found) if *found == sign)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }

    fn want(&mut self, sign: &str) -> Result<(), String> {
        if self.take(sign) {
            return Ok(());
        }
        Err(format!("{} at {} stands where {sign} is wanted", shown(self.peek()), self.tokens[self.at].at))
    }

    fn advance(&mut self) -> Kind {
        let kind = self.tokens[self.at].kind.clone();
        if kind != Kind::End {
            self.at += 1;
        }
        kind
    }

    fn expr(&mut self) -> Result<Node, String> {
        self.nested += 1;
        if self.nested > DEPTH_MAX {
            return Err(too_deep());
        }
        let mut node = self.either()?;
        if self.take("?") {
            let then = self.either()?;
            self.want(":")?;
            let otherwise = self.expr()?;
            let depth = node.depth.max(then.depth).max(otherwise.depth);
            node = Node::around(Expr::call("_?_:_", vec![node.expr, then.expr, otherwise.expr]), depth)?;
        }
        self.nested -= 1;
        Ok(node)
    }

    /// `a || b || c`, whose operands are `a && b && c`.
    fn either(&mut self) -> Result<Node, String> {
        let mut any = Row::default();
        loop {
            let mut all = Row::default();
            all.push(self.relation()?);
            while self.take("&&") {
                all.push(self.relation()?);
            }
            any.push(logic(Logic::And, all));
            if !self.take("||") {
                return Ok(logic(Logic::Or, any));
            }
        }
    }

    fn relation(&mut self) -> Result<Node, String> {
        let mut left = self.calc(0)?;
        while let Some(function) = relation(self.peek()) {
            self.at += 1;
            let right = self.calc(0)?;
            left = Node::call(function, left, right)?;
        }
        Ok(left)
    }

    fn calc(&mut self, strength: u8) -> Result<Node, String> {
        let mut left = self.unary()?;
        while let Some((function, binds)) = arithmetic(self.peek()).filter(|(_, binds)| *binds > strength) {
            self.at += 1;
            let right = self.calc(binds)?;
            left = Node::call(function, left, right)?;
        }
        Ok(left)
    }

    /// Signs before a member, of which an even number is none, and what follows it.
    fn unary(&mut self) -> Result<Node, String> {
        let (sign, function) = if self.is("!") { ("!", "!_") } else { ("-", "-_") };
        let mut count = 0;
        while self.is(sign) && !(sign == "-" && self.number_follows()) {
            self.at += 1;
            count += 1;
        }
        let mut node = self.primary()?;
        loop {
            if self.take("[") {
                node = self.index(node)?;
            } else if self.take(".") {
                node = self.selection(node)?;
            } else {
                break;
            }
        }
        if count % 2 == 1 {
            node.expr = Expr::call(function, vec![node.expr]);
        }
        Ok(node)
    }

    /// `-1` is a number, not the negative of one.
    fn number_follows(&self) -> bool {
        let next = self.tokens.get(self.at + 1).map(|token| &token.kind);
        matches!(next, Some(Kind::Int(_) | Kind::IntMin | Kind::Double(_)))
    }

    fn index(&mut self, member: Node) -> Result<Node, String> {
        let function = if self.take("?") { "_[?_]" } else { "_[_]" };
        let index = self.expr()?;
        self.want("]")?;
        Node::call(function, member, index)
    }

    fn selection(&mut self, member: Node) -> Result<Node, String> {
        let optional = self.take("?");
        let Kind::Ident(name) = self.advance() else {
            return Err("a field's name is wanted after the dot".to_owned());
        };
        let operand = Box::new(member.expr);
        if optional {
            return Node::around(Expr::OptSelect { operand, field: name }, member.depth);
        }
        if !self.take("(") {
            return Node::around(Expr::Select { operand, field: name, test: false }, member.depth);
        }
        let args = self.args()?;
        Node::around(macros::member_call(name, *operand, args.exprs)?, member.depth.max(args.depth))
    }

    fn args(&mut self) -> Result<Row, String> {
        let mut args = Row::default();
        if self.take(")") {
            return Ok(args);
        }
        loop {
            args.push(self.expr()?);
            if self.take(")") {
                return Ok(args);
            }
            self.want(",")?;
        }
    }

    fn primary(&mut self) -> Result<Node, String> {
        if self.take("(") {
            let inner = self.expr()?;
            self.want(")")?;
            return Ok(inner);
        }
        if self.take("[") {
            return self.list();
        }
        if self.take("{") {
            return self.map();
        }
        let dotted = self.take(".");
        match self.leaf(dotted)? {
            Leaf::Name(name) => self.name(name),
            Leaf::Literal(literal) => Ok(Node::leaf(Expr::Literal(literal))),
        }
    }

    /// A word that stands for itself; after a dot only a name does.
    fn leaf(&mut self, dotted: bool) -> Result<Leaf, String> {
        let minus = !dotted && self.take("-");
        let at = self.tokens[self.at].at;
        let literal = match (self.advance(), minus) {
            (Kind::Ident(name), false) => return Ok(Leaf::Name(name)),
            (Kind::Int(value), false) => Literal::Int(value),
            (Kind::Int(value), true) => Literal::Int(-value),
            (Kind::IntMin, true) => Literal::Int(i64::MIN),
            (Kind::Double(value), false) => Literal::Double(value),
            (Kind::Double(value), true) => Literal::Double(-value),
            (Kind::Uint(value), false) => Literal::Uint(value),
            (Kind::String(value), false) => Literal::String(value),
            (Kind::Bytes(value), false) => Literal::Bytes(value),
            (Kind::True, false) => Literal::Bool(true),
            (Kind::False, false) => Literal::Bool(false),
            (Kind::Null, false) => Literal::Null,
            (other, _) => return Err(format!("{} at {at} is not wanted there", shown(&other))),
        };
        if dotted { Err(format!("a name is wanted after the dot before {at}")) } else { Ok(Leaf::Literal(literal)) }
    }

    /// A variable, a function, or the beginning of a message.
    fn name(&mut self, name: String) -> Result<Node, String> {
        if let Some(message) = self.message(&name) {
            self.skip_message()?;
            return Ok(Node::leaf(Expr::Message(message)));
        }
        if RESERVED.contains(&name.as_str()) {
            return Err(format!("{name} is a reserved word"));
        }
        if !self.take("(") {
            return Ok(Node::leaf(Expr::Ident(name)));
        }
        let args = self.args()?;
        Ok(Node { expr: macros::global_call(name, args.exprs)?, depth: args.depth })
    }

    /// The name of a message that is made here: names with dots between, and an opening brace.
    fn message(&mut self, first: &str) -> Option<String> {
        let mut name = first.to_owned();
        let mut at = self.at;
        loop {
            match (&self.tokens[at].kind, self.tokens.get(at + 1).map(|token| &token.kind)) {
                (Kind::Sign("{"), _) => {
                    self.at = at + 1;
                    return Some(name);
                }
                (Kind::Sign("."), Some(Kind::Ident(next))) => {
                    name = format!("{name}.{next}");
                    at += 2;
                }
                _ => return None,
            }
        }
    }

    fn skip_message(&mut self) -> Result<(), String> {
        while !self.take("}") {
            self.take("?");
            let Kind::Ident(_) = self.advance() else { return Err("a field's name is wanted".to_owned()) };
            self.want(":")?;
            self.expr()?;
            if !self.is("}") {
                self.want(",")?;
            }
        }
        Ok(())
    }

    fn list(&mut self) -> Result<Node, String> {
        let (mut items, mut depth) = (Vec::new(), 0);
        // The grammar allows a comma behind nothing.
        if self.take(",") {
            self.want("]")?;
            return Ok(Node::leaf(Expr::List(items)));
        }
        while !self.take("]") {
            let optional = self.take("?");
            let node = self.expr()?;
            depth = depth.max(node.depth);
            items.push(Item { value: node.expr, optional });
            if !self.is("]") {
                self.want(",")?;
            }
        }
        Ok(Node { expr: Expr::List(items), depth })
    }

    fn map(&mut self) -> Result<Node, String> {
        let (mut entries, mut depth) = (Vec::new(), 0);
        if self.take(",") {
            self.want("}")?;
            return Ok(Node::leaf(Expr::Map(entries)));
        }
        while !self.take("}") {
            let optional = self.take("?");
            let key = self.expr()?;
            self.want(":")?;
            let value = self.expr()?;
            depth = depth.max(key.depth).max(value.depth);
            entries.push(Entry { key: key.expr, value: value.expr, optional });
            if !self.is("}") {
                self.want(",")?;
            }
        }
        Ok(Node { expr: Expr::Map(entries), depth })
    }
}

enum Leaf {
    Name(String),
    Literal(Literal),
}

fn logic(op: Logic, mut row: Row) -> Node {
    let expr = match row.exprs.len() {
        1 => row.exprs.remove(0),
        _ => Expr::Logic { op, operands: row.exprs },
    };
    Node { expr, depth: row.depth }
}

fn relation(kind: &Kind) -> Option<&'static str> {
    match kind {
        Kind::In => Some("@in"),
        Kind::Sign("<") => Some("_<_"),
        Kind::Sign("<=") => Some("_<=_"),
        Kind::Sign(">") => Some("_>_"),
        Kind::Sign(">=") => Some("_>=_"),
        Kind::Sign("==") => Some("_==_"),
        Kind::Sign("!=") => Some("_!=_"),
        _ => None,
    }
}

/// The function of an operator, and how tightly it binds.
fn arithmetic(kind: &Kind) -> Option<(&'static str, u8)> {
    match kind {
        Kind::Sign("+") => Some(("_+_", 1)),
        Kind::Sign("-") => Some(("_-_", 1)),
        Kind::Sign("*") => Some(("_*_", 2)),
        Kind::Sign("/") => Some(("_/_", 2)),
        Kind::Sign("%") => Some(("_%_", 2)),
        _ => None,
    }
}

fn shown(kind: &Kind) -> String {
    match kind {
        Kind::Ident(name) => format!("{name:?}"),
        Kind::Int(value) => value.to_string(),
        Kind::IntMin => "a number that is too large".to_owned(),
        Kind::Uint(value) => format!("{value}u"),
        Kind::Double(value) => value.to_string(),
        Kind::String(_) => "a string".to_owned(),
        Kind::Bytes(_) => "bytes".to_owned(),
        Kind::True => "true".to_owned(),
        Kind::False => "false".to_owned(),
        Kind::Null => "null".to_owned(),
        Kind::In => "in".to_owned(),
        Kind::Sign(sign) => (*sign).to_owned(),
        Kind::End => "the end".to_owned(),
    }
}
