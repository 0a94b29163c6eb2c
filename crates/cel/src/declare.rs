//! What expressions may call and name, with types.
//!
//! Invariants: the table is everything kube-apiserver declares, so a function that is not in it does not compile. That a
//! function is here does not mean it can be evaluated here (`functions`).

use std::collections::HashMap;
use std::sync::LazyLock;

use super::types::{Bindings, Type};

/// One way to call a function.
#[derive(Debug)]
pub struct Signature {
    pub member: bool,
    args: Vec<Type>,
    gives: Type,
    /// How many letters stand for any type.
    free: usize,
}

impl Signature {
    /// Whether it is for addresses, quantities and the like, of which there are no values here.
    pub fn takes_object(&self) -> bool {
        matches!(self.args.first(), Some(Type::Object(_) | Type::Duration | Type::Timestamp))
    }

    /// Arguments and result, with new free types for the letters.
    pub fn instantiate(&self, bindings: &mut Bindings) -> (Vec<Type>, Type) {
        let fresh: Vec<Type> = (0..self.free).map(|_| bindings.fresh()).collect();
        let args = self.args.iter().map(|arg| filled(arg, &fresh)).collect();
        (args, filled(&self.gives, &fresh))
    }
}

/// Every way to call a function, or nothing when there is no such function.
pub fn signatures(function: &str) -> Option<&'static [Signature]> {
    TABLE.get(function).map(Vec::as_slice)
}

/// The type a name stands for, as in `type(claims.x) == string`.
pub fn type_named(name: &str) -> Option<Type> {
    let named = match name {
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "null_type" => Type::Null,
        "optional_type" => Type::optional(Type::Dyn),
        "type" => Type::Of(Box::new(Type::Dyn)),
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "google.protobuf.Duration" => Type::Duration,
        "google.protobuf.Timestamp" => Type::Timestamp,
        _ => Type::Object(object(name).filter(|object| !object.contains("authorization"))?),
    };
    Some(Type::Of(Box::new(named)))
}

static TABLE: LazyLock<HashMap<&'static str, Vec<Signature>>> = LazyLock::new(|| {
    let mut table: HashMap<&'static str, Vec<Signature>> = HashMap::new();
    let lines = include_str!("signatures.txt").lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let (name, rest) = line.split_once(' ').expect("a signature has a name");
        let names: &[&'static str] = match name {
            "{<}" => &["_<_", "_<=_", "_>_", "_>=_"],
            _ => &[""],
        };
        for one in names {
            let name = if one.is_empty() { name } else { one };
            let key = name.strip_prefix('.').unwrap_or(name);
            table.entry(key).or_default().extend(variants(rest).map(|rest| signature(name, &rest)));
        }
    }
    table
});

const ORDERED: [&str; 8] = ["int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"];
const ADDED_UP: [&str; 4] = ["int", "uint", "double", "duration"];

/// A line with each type in the place of its sort.
fn variants(line: &str) -> impl Iterator<Item = String> {
    let (mark, types): (&str, &[&str]) = match (line.contains("{C}"), line.contains("{S}")) {
        (true, _) => ("{C}", &ORDERED),
        (_, true) => ("{S}", &ADDED_UP),
        (false, false) => ("{}", &[""]),
    };
    types.iter().map(move |of| line.replace(mark, of))
}

fn signature(name: &str, line: &str) -> Signature {
    let mut reader = Reader { rest: line, letters: Vec::new() };
    let args = reader.list();
    let gives = reader.one();
    Signature { member: name.starts_with('.'), args, gives, free: reader.letters.len() }
}

/// Reads types of the table. What is wrong there is a bug of ours, and every test would find it.
struct Reader<'l> {
    rest: &'l str,
    letters: Vec<&'l str>,
}

impl<'l> Reader<'l> {
    fn list(&mut self) -> Vec<Type> {
        let mut types = Vec::new();
        self.rest = self.rest.trim_start().strip_prefix('(').expect("arguments stand in brackets");
        loop {
            self.rest = self.rest.trim_start_matches([',', ' ']);
            if let Some(rest) = self.rest.strip_prefix(')') {
                self.rest = rest;
                return types;
            }
            types.push(self.one());
        }
    }

    fn one(&mut self) -> Type {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(['(', ')', ',']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        let mut inner = if self.rest.starts_with('(') { self.list() } else { Vec::new() }.into_iter();
        let mut next = || inner.next().expect("a type that holds others names them");
        match word {
            "list" => Type::list(next()),
            "optional" => Type::optional(next()),
            "type" => Type::Of(Box::new(next())),
            "map" => {
                let key = next();
                Type::map(key, next())
            }
            "dyn" => Type::Dyn,
            "bool" => Type::Bool,
            "int" => Type::Int,
            "uint" => Type::Uint,
            "double" => Type::Double,
            "string" => Type::String,
            "bytes" => Type::Bytes,
            "duration" => Type::Duration,
            "timestamp" => Type::Timestamp,
            letter if letter.len() == 1 => {
                let known = self.letters.iter().position(|known| *known == letter);
                Type::Free(known.unwrap_or_else(|| {
                    self.letters.push(letter);
                    self.letters.len() - 1
                }))
            }
            name => Type::Object(object(name).expect("objects of the table are listed")),
        }
    }
}

fn object(name: &str) -> Option<&'static str> {
    const OBJECTS: [&str; 11] = [
        "net.CIDR",
        "net.IP",
        "kubernetes.NamedFormat",
        "kubernetes.Quantity",
        "kubernetes.Semver",
        "kubernetes.URL",
        "kubernetes.authorization.Authorizer",
        "kubernetes.authorization.Decision",
        "kubernetes.authorization.GroupCheck",
        "kubernetes.authorization.PathCheck",
        "kubernetes.authorization.ResourceCheck",
    ];
    OBJECTS.into_iter().find(|object| *object == name)
}

fn filled(of: &Type, fresh: &[Type]) -> Type {
    match of {
        Type::Free(letter) => fresh[*letter].clone(),
        Type::List(of) => Type::list(filled(of, fresh)),
        Type::Optional(of) => Type::optional(filled(of, fresh)),
        Type::Of(of) => Type::Of(Box::new(filled(of, fresh))),
        Type::Map(key, value) => Type::map(filled(key, fresh), filled(value, fresh)),
        other => other.clone(),
    }
}
