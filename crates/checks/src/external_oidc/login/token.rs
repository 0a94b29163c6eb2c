//! A token or its claims, as people have them: JSON, or three parts with dots between.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value as Json};

/// What a token says. Its signature is not looked at.
#[derive(Clone, PartialEq)]
pub struct Token {
    pub claims: Map<String, Json>,
}

impl fmt::Debug for Token {
    /// Claims are about a person: only their names are shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.claims.keys()).finish()
    }
}

/// Why a text is not a token. No variant holds any of the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadToken {
    #[error("it is longer than {TEXT_MAX} bytes")]
    TooLong,
    #[error("it is empty")]
    Empty,
    #[error("it is JSON, and claims have to be a JSON object")]
    NoObject,
    #[error("it is not JSON (line {line}, column {column})")]
    NoJson { line: usize, column: usize },
    #[error("it is neither JSON nor a JWT, which has three parts with dots between")]
    NoJwt,
    #[error("the {0} of the JWT is no base64url")]
    Base64(Part),
    #[error("the {0} of the JWT is not a JSON object")]
    PartNoObject(Part),
    #[error("the JWT names no algorithm (`alg`)")]
    NoAlgorithm,
    #[error(
        "the JWT is signed with {0:?}; kube-apiserver takes RS, PS and ES with 256, 384 or 512, and nothing unsigned"
    )]
    Algorithm(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Header,
    Payload,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "header",
            Self::Payload => "payload",
        })
    }
}

/// No real token is this long: an API server takes a megabyte of headers at most.
pub const TEXT_MAX: usize = 1 << 20;

/// What kube-apiserver takes.
const ALGORITHMS: [&str; 9] = ["RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512"];

impl Token {
    /// Reads claims as JSON, or a JWT.
    ///
    /// # Errors
    /// The text is neither, or kube-apiserver would not look at it twice.
    pub fn read(text: &str) -> Result<Self, BadToken> {
        if text.len() > TEXT_MAX {
            return Err(BadToken::TooLong);
        }
        let text = text.trim();
        match text.chars().next() {
            None => Err(BadToken::Empty),
            Some('{' | '[' | '"') => Self::from_json(text),
            Some(_) => Self::from_jwt(text),
        }
    }

    fn from_json(text: &str) -> Result<Self, BadToken> {
        match serde_json::from_str(text) {
            Ok(Json::Object(claims)) => Ok(Self { claims }),
            Ok(_) => Err(BadToken::NoObject),
            Err(error) => Err(BadToken::NoJson { line: error.line(), column: error.column() }),
        }
    }

    fn from_jwt(text: &str) -> Result<Self, BadToken> {
        let parts: Vec<&str> = text.split('.').collect();
        let [header, payload, _signature] = parts.as_slice() else {
            let json = serde_json::from_str::<Json>(text);
            return Err(if json.is_ok() { BadToken::NoObject } else { BadToken::NoJwt });
        };
        let header = object(Part::Header, header)?;
        match header.get("alg") {
            Some(Json::String(algorithm)) if ALGORITHMS.contains(&algorithm.as_str()) => {}
            Some(Json::String(algorithm)) => return Err(BadToken::Algorithm(algorithm.chars().take(16).collect())),
            _ => return Err(BadToken::NoAlgorithm),
        }
        Ok(Self { claims: object(Part::Payload, payload)? })
    }
}

fn object(part: Part, encoded: &str) -> Result<Map<String, Json>, BadToken> {
    let bytes = URL_SAFE_NO_PAD.decode(encoded).map_err(|_| BadToken::Base64(part))?;
    match serde_json::from_slice(&bytes) {
        Ok(Json::Object(fields)) => Ok(fields),
        Ok(_) | Err(_) => Err(BadToken::PartNoObject(part)),
    }
}
