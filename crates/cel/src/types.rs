//! Types, and which may stand for which.
//!
//! Invariants: the rules are upstream's, so that "compiles here" means "compiles there". The surprising one: a claim has
//! type `any`, which may stand for everything but can't be looped over.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    Dyn,
    Any,
    /// What follows from something that was already wrong.
    Error,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    List(Box<Type>),
    Map(Box<Type>, Box<Type>),
    Optional(Box<Type>),
    /// The type of a type.
    Of(Box<Type>),
    /// An object known by its name: `kubernetes.UserInfo`, `kubernetes.URL`.
    Object(&'static str),
    /// Something that is not decided yet.
    Free(usize),
}

/// The user that rules are about.
pub const USER: &str = "kubernetes.UserInfo";

impl Type {
    pub fn list(of: Self) -> Self {
        Self::List(Box::new(of))
    }

    pub fn map(key: Self, value: Self) -> Self {
        Self::Map(Box::new(key), Box::new(value))
    }

    pub fn optional(of: Self) -> Self {
        Self::Optional(Box::new(of))
    }

    pub fn is_dynamic(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any)
    }

    fn is_wild(&self) -> bool {
        self.is_dynamic() || *self == Self::Error
    }

    /// Types that null may stand for.
    fn takes_null(&self) -> bool {
        matches!(self, Self::Null | Self::Optional(_) | Self::Object(_) | Self::Any | Self::Duration | Self::Timestamp)
    }

    fn inner(&self) -> Vec<&Self> {
        match self {
            Self::List(of) | Self::Optional(of) | Self::Of(of) => vec![of],
            Self::Map(key, value) => vec![key, value],
            Self::Dyn
            | Self::Any
            | Self::Error
            | Self::Null
            | Self::Bool
            | Self::Int
            | Self::Uint
            | Self::Double
            | Self::String
            | Self::Bytes
            | Self::Duration
            | Self::Timestamp
            | Self::Object(_)
            | Self::Free(_) => Vec::new(),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dyn | Self::Free(_) => f.write_str("dyn"),
            Self::Any => f.write_str("any"),
            Self::Error => f.write_str("error"),
            Self::Null => f.write_str("null_type"),
            Self::Bool => f.write_str("bool"),
            Self::Int => f.write_str("int"),
            Self::Uint => f.write_str("uint"),
            Self::Double => f.write_str("double"),
            Self::String => f.write_str("string"),
            Self::Bytes => f.write_str("bytes"),
            Self::Duration => f.write_str("google.protobuf.Duration"),
            Self::Timestamp => f.write_str("google.protobuf.Timestamp"),
            Self::List(of) => write!(f, "list({of})"),
            Self::Map(key, value) => write!(f, "map({key}, {value})"),
            Self::Optional(of) => write!(f, "optional_type({of})"),
            Self::Of(of) => write!(f, "type({of})"),
            Self::Object(name) => f.write_str(name),
        }
    }
}

/// What free types turned out to be.
#[derive(Debug, Clone, Default)]
pub struct Bindings(Vec<Option<Type>>);

impl Bindings {
    pub fn fresh(&mut self) -> Type {
        self.0.push(None);
        Type::Free(self.0.len() - 1)
    }

    fn find(&self, free: usize) -> Option<&Type> {
        self.0.get(free)?.as_ref()
    }

    /// Whether one type may stand for the other; what had to be decided for that is kept only if so.
    pub fn assign(&mut self, from: &Type, to: &Type) -> bool {
        self.assign_all(std::slice::from_ref(from), std::slice::from_ref(to))
    }

    /// [`Self::assign`] for each pair, all or nothing.
    pub fn assign_all(&mut self, from: &[Type], to: &[Type]) -> bool {
        let before = self.0.clone();
        let fits = from.len() == to.len() && from.iter().zip(to).all(|(from, to)| self.fits(from, to));
        if !fits {
            self.0 = before;
        }
        fits
    }

    fn fits(&mut self, from: &Type, to: &Type) -> bool {
        if let Type::Free(free) = to {
            match self.bind(from, *free) {
                Bound::Yes => return true,
                Bound::No => return false,
                Bound::Circular => {}
            }
        }
        if let Type::Free(free) = from {
            return self.bind(to, *free) == Bound::Yes;
        }
        if from.is_wild() || to.is_wild() {
            return true;
        }
        match (from, to) {
            (Type::Null, other) | (other, Type::Null) => other.takes_null(),
            (Type::Of(_), Type::Of(_)) => true,
            (Type::List(from), Type::List(to)) | (Type::Optional(from), Type::Optional(to)) => self.fits(from, to),
            (Type::Map(from_key, from_value), Type::Map(to_key, to_value)) => {
                self.fits(from_key, to_key) && self.fits(from_value, to_value)
            }
            (from, to) => from == to,
        }
    }

    /// Tries a type for a free one.
    fn bind(&mut self, candidate: &Type, free: usize) -> Bound {
        if *candidate == Type::Free(free) {
            return Bound::Yes;
        }
        if let Some(bound) = self.find(free).cloned() {
            if *candidate == bound {
                return Bound::Yes;
            }
            if !self.fits(candidate, &bound) {
                return Bound::No;
            }
            let general = most_general(candidate, &bound);
            if !self.occurs(free, &general) {
                self.0[free] = Some(general);
            }
            return Bound::Yes;
        }
        if self.occurs(free, candidate) {
            return Bound::Circular;
        }
        self.0[free] = Some(candidate.clone());
        Bound::Yes
    }

    fn occurs(&self, free: usize, within: &Type) -> bool {
        match within {
            Type::Free(other) if *other == free => true,
            Type::Free(other) => self.find(*other).is_some_and(|bound| self.occurs(free, bound)),
            other => other.inner().into_iter().any(|part| self.occurs(free, part)),
        }
    }

    /// The type with everything that is decided put in.
    pub fn resolve(&self, of: &Type) -> Type {
        match of {
            Type::Free(free) => match self.find(*free) {
                Some(bound) => self.resolve(bound),
                None => of.clone(),
            },
            Type::List(of) => Type::list(self.resolve(of)),
            Type::Optional(of) => Type::optional(self.resolve(of)),
            Type::Of(of) => Type::Of(Box::new(self.resolve(of))),
            Type::Map(key, value) => Type::map(self.resolve(key), self.resolve(value)),
            other => other.clone(),
        }
    }

    /// As [`Self::resolve`], with dyn for what stayed free.
    pub fn settle(&self, of: &Type) -> Type {
        match self.resolve(of) {
            Type::Free(_) => Type::Dyn,
            Type::List(of) => Type::list(self.settle(&of)),
            Type::Optional(of) => Type::optional(self.settle(&of)),
            Type::Of(of) => Type::Of(Box::new(self.settle(&of))),
            Type::Map(key, value) => Type::map(self.settle(&key), self.settle(&value)),
            other => other,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    Yes,
    /// It is bound to something else already.
    No,
    /// It would be a part of itself.
    Circular,
}

/// The more general of two types that fit.
pub fn most_general(one: &Type, other: &Type) -> Type {
    if less_specific(one, other) { one.clone() } else { other.clone() }
}

fn less_specific(one: &Type, other: &Type) -> bool {
    if one.is_dynamic() || matches!(one, Type::Free(_)) {
        return true;
    }
    if other.is_dynamic() || matches!(other, Type::Free(_)) {
        return false;
    }
    match (one, other) {
        (Type::List(one), Type::List(other)) | (Type::Optional(one), Type::Optional(other)) => {
            less_specific(one, other)
        }
        (Type::Map(key, value), Type::Map(other_key, other_value)) => {
            less_specific(key, other_key) && less_specific(value, other_value)
        }
        (Type::Of(_), Type::Of(_)) => true,
        (one, other) => one == other,
    }
}
