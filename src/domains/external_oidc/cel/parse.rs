//! Words become an expression.
//!
//! Always true:
//! - what upstream's parser refuses is refused, its limit on nesting included, so no input can exhaust the stack;
//! - each word is looked at a fixed number of times.
//!
//! Why our own: the published parser overflows the stack at about a hundred brackets, and this room has no threads to run
//! it on. See `docs/decisions/0012-own-cel.md`.

use super::ast::{Entry, Expr, Item, Literal, Logic};
use super::lex::{Kind, Token, lex};
use super::macros;

/// Upstream's limit on the depth of each grammar rule.
const DEPTH_MAX: usize = 250;

/// Names that can't be variables or functions.
const RESERVED: [&str; 17] = [
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

/// Parses an expression.
///
/// # Errors
/// A sentence on what is wrong first.
pub fn parse(text: &str) -> Result<Expr, String> {
    let mut parser = Parser { tokens: lex(text)?, at: 0, depths: Depths::default() };
    let expr = parser.expr()?;
    match parser.peek() {
        Kind::End => Ok(expr),
        other => Err(format!("{} at {} is one too many", shown(other), parser.tokens[parser.at].at)),
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depths: Depths,
}

/// How deep each rule that can nest is in itself. A chain of operators counts like nesting, as upstream counts it.
#[derive(Default)]
struct Depths {
    expr: usize,
    relation: usize,
    calc: usize,
    member: usize,
}

fn deeper(depth: &mut usize) -> Result<(), String> {
    *depth += 1;
    if *depth > DEPTH_MAX { Err(format!("it is nested more than {DEPTH_MAX} deep")) } else { Ok(()) }
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

    fn expr(&mut self) -> Result<Expr, String> {
        deeper(&mut self.depths.expr)?;
        let mut expr = self.either()?;
        if self.take("?") {
            let then = self.either()?;
            self.want(":")?;
            let otherwise = self.expr()?;
            expr = Expr::call("_?_:_", vec![expr, then, otherwise]);
        }
        self.depths.expr -= 1;
        Ok(expr)
    }

    /// `a || b || c`, whose operands are `a && b && c`.
    fn either(&mut self) -> Result<Expr, String> {
        let mut any = Vec::new();
        loop {
            let mut all = vec![self.relation(0)?];
            while self.take("&&") {
                all.push(self.relation(0)?);
            }
            any.push(logic(Logic::And, all));
            if !self.take("||") {
                return Ok(logic(Logic::Or, any));
            }
        }
    }

    fn relation(&mut self, strength: u8) -> Result<Expr, String> {
        deeper(&mut self.depths.relation)?;
        let mut entered = 1;
        let mut left = self.calc(0)?;
        while strength == 0 {
            let Some(function) = relation(self.peek()) else { break };
            self.at += 1;
            deeper(&mut self.depths.relation)?;
            entered += 1;
            let right = self.relation(1)?;
            left = Expr::call(function, vec![left, right]);
        }
        self.depths.relation -= entered;
        Ok(left)
    }

    fn calc(&mut self, strength: u8) -> Result<Expr, String> {
        deeper(&mut self.depths.calc)?;
        let mut entered = 1;
        let mut left = self.unary()?;
        while let Some((function, binds)) = arithmetic(self.peek()).filter(|(_, binds)| *binds > strength) {
            self.at += 1;
            deeper(&mut self.depths.calc)?;
            entered += 1;
            let right = self.calc(binds)?;
            left = Expr::call(function, vec![left, right]);
        }
        self.depths.calc -= entered;
        Ok(left)
    }

    /// Signs before a member: an even number of them is none.
    fn unary(&mut self) -> Result<Expr, String> {
        let (sign, function) = if self.is("!") { ("!", "!_") } else { ("-", "-_") };
        let mut count = 0;
        while self.is(sign) && !(sign == "-" && self.number_follows()) {
            self.at += 1;
            count += 1;
        }
        let member = self.member()?;
        Ok(if count % 2 == 1 { Expr::call(function, vec![member]) } else { member })
    }

    /// `-1` is a number, not the negative of one.
    fn number_follows(&self) -> bool {
        matches!(
            self.tokens.get(self.at + 1).map(|token| &token.kind),
            Some(Kind::Int(_) | Kind::IntMin | Kind::Double(_))
        )
    }

    fn member(&mut self) -> Result<Expr, String> {
        deeper(&mut self.depths.member)?;
        let mut entered = 1;
        let mut member = self.primary()?;
        while self.is(".") || self.is("[") {
            deeper(&mut self.depths.member)?;
            entered += 1;
            member = if self.take("[") { self.index(member)? } else { self.selection(member)? };
        }
        self.depths.member -= entered;
        Ok(member)
    }

    fn index(&mut self, member: Expr) -> Result<Expr, String> {
        let function = if self.take("?") { "_[?_]" } else { "_[_]" };
        let index = self.expr()?;
        self.want("]")?;
        Ok(Expr::call(function, vec![member, index]))
    }

    fn selection(&mut self, member: Expr) -> Result<Expr, String> {
        self.want(".")?;
        let optional = self.take("?");
        let Kind::Ident(name) = self.advance() else {
            return Err("a field's name is wanted after the dot".to_owned());
        };
        if optional {
            return Ok(Expr::OptSelect { operand: Box::new(member), field: name });
        }
        if !self.take("(") {
            return Ok(Expr::Select { operand: Box::new(member), field: name, test: false });
        }
        let args = self.args()?;
        macros::member_call(name, member, args)
    }

    fn args(&mut self) -> Result<Vec<Expr>, String> {
        let mut args = Vec::new();
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

    fn primary(&mut self) -> Result<Expr, String> {
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
        let minus = !dotted && self.take("-");
        let at = self.tokens[self.at].at;
        let literal = match (self.advance(), minus) {
            (Kind::Ident(name), false) => return self.name(name),
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
        if dotted {
            return Err(format!("a name is wanted after the dot before {at}"));
        }
        Ok(Expr::Literal(literal))
    }

    /// A variable, a function, or the beginning of a message.
    fn name(&mut self, name: String) -> Result<Expr, String> {
        if let Some(message) = self.message(&name) {
            self.skip_message()?;
            return Ok(Expr::Message(message));
        }
        if RESERVED.contains(&name.as_str()) {
            return Err(format!("{name} is a reserved word"));
        }
        if !self.take("(") {
            return Ok(Expr::Ident(name));
        }
        let args = self.args()?;
        macros::global_call(name, args)
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

    fn list(&mut self) -> Result<Expr, String> {
        let mut items = Vec::new();
        // The grammar allows a comma behind nothing.
        if self.take(",") {
            self.want("]")?;
            return Ok(Expr::List(items));
        }
        while !self.take("]") {
            let optional = self.take("?");
            items.push(Item { value: self.expr()?, optional });
            if !self.is("]") {
                self.want(",")?;
            }
        }
        Ok(Expr::List(items))
    }

    fn map(&mut self) -> Result<Expr, String> {
        let mut entries = Vec::new();
        if self.take(",") {
            self.want("}")?;
            return Ok(Expr::Map(entries));
        }
        while !self.take("}") {
            let optional = self.take("?");
            let key = self.expr()?;
            self.want(":")?;
            entries.push(Entry { key, value: self.expr()?, optional });
            if !self.is("}") {
                self.want(",")?;
            }
        }
        Ok(Expr::Map(entries))
    }
}

fn logic(op: Logic, mut operands: Vec<Expr>) -> Expr {
    match operands.len() {
        1 => operands.remove(0),
        _ => Expr::Logic { op, operands },
    }
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
