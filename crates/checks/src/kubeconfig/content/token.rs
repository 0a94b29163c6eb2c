//! What sort of bearer token it is.

use super::eks::{EksFault, EksToken};
use super::jwt::{Jwt, JwtFault};

/// A token, as far as its text shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    Eks(EksToken),
    Jwt(Jwt),
    /// Only the API server knows.
    Opaque,
    /// It can't work as it stands.
    Malformed(TokenFault),
}

/// Why a token can't work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenFault {
    #[error("the token looks like one of EKS, but {0}")]
    Eks(#[from] EksFault),
    #[error("the token looks like a JWT, but {0}")]
    Jwt(#[from] JwtFault),
    #[error("the token begins with \"Bearer\", which belongs to the header and not to the token")]
    Bearer,
    #[error("the token holds a blank, a line end or another character no header can carry")]
    NotAWord,
}

impl Token {
    /// Looks at a token as it would go into a header.
    pub fn parse(token: &str) -> Self {
        if EksToken::is_claimed(token) {
            return EksToken::parse(token).map_or_else(|fault| Self::Malformed(fault.into()), Self::Eks);
        }
        let begins = token.get(..7).is_some_and(|begin| begin.eq_ignore_ascii_case("bearer "));
        if begins {
            return Self::Malformed(TokenFault::Bearer);
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Self::Malformed(TokenFault::NotAWord);
        }
        match Jwt::parse(token) {
            None => Self::Opaque,
            Some(Ok(jwt)) => Self::Jwt(jwt),
            Some(Err(fault)) => Self::Malformed(fault.into()),
        }
    }
}
