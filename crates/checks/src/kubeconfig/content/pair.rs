//! What a context joins: where the server is, who vouches for it, and what one is let in by.

use jiff::Timestamp;

use super::authority::Authorities;
use super::certificate::Certificate;
use super::server::Server;
use super::token::Token;

/// A cluster and a user, as a context joins them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub server: Server,
    /// What makes another address than the server's own the one that counts.
    pub way_round: Option<EndpointOverride>,
    pub trust: Trust,
    pub credential: Credential,
    /// Fields that would run a command, log in elsewhere or read a file, in the order of this list.
    pub foreign: Box<[ForeignField]>,
}

impl Pair {
    /// Passes on the server and each authority: by these a cluster that it leads to is found.
    pub fn index(&self, each: &mut dyn FnMut(&str)) {
        each(self.server.as_str());
        if let Trust::Authorities(held) = &self.trust {
            held.index(each);
        }
    }
}

/// Why the server may be reached elsewhere on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointOverride {
    /// `tls-server-name`
    ServerName,
    /// `proxy-url`
    Proxy,
}

/// How the server proves who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    Authorities(Authorities),
    /// No authority is written down: the system's count.
    System,
    /// `insecure-skip-tls-verify`
    Unverified,
    /// `certificate-authority`: a file.
    File,
}

trueup_core::named_enum! {
    /// A field that must not be obeyed in a kubeconfig from a cluster.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ForeignField {
        Exec = "exec",
        AuthProvider = "auth-provider",
        TokenFile = "tokenFile",
        ClientCertificate = "client-certificate",
        ClientKey = "client-key",
        CertificateAuthority = "certificate-authority",
    }
}

/// What one is let in by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    Token(Token),
    Certificate(Certificate),
    Exec,
    AuthProvider,
    /// A token or a certificate in a file.
    File,
    Basic,
    Nothing,
}

/// The times a credential says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    pub issued: Option<Timestamp>,
    pub from: Option<Timestamp>,
    pub until: Option<Timestamp>,
}

impl Credential {
    /// For people.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Token(Token::Eks(_)) => "EKS token",
            Self::Token(Token::Jwt(_)) => "JWT",
            Self::Token(Token::Opaque) => "opaque token",
            Self::Token(Token::Malformed(_)) => "malformed token",
            Self::Certificate(_) => "client cert",
            Self::Exec => "exec plugin",
            Self::AuthProvider => "auth provider",
            Self::File => "file",
            Self::Basic => "basic",
            Self::Nothing => "none",
        }
    }

    /// How its end is spoken of: a token of EKS may die earlier, with the session that signed it.
    pub fn until_message(&self) -> &'static str {
        match self {
            Self::Token(Token::Eks(_)) => "until at most",
            Self::Token(Token::Jwt(_) | Token::Opaque | Token::Malformed(_))
            | Self::Certificate(_)
            | Self::Exec
            | Self::AuthProvider
            | Self::File
            | Self::Basic
            | Self::Nothing => "until",
        }
    }

    pub fn span(&self) -> Span {
        match self {
            Self::Token(Token::Eks(token)) => {
                Span { issued: Some(token.signed), from: Some(token.signed), until: Some(token.until()) }
            }
            Self::Token(Token::Jwt(token)) => {
                Span { issued: token.issued.or(token.from), from: token.from.or(token.issued), until: token.until }
            }
            Self::Certificate(certificate) => {
                Span { issued: Some(certificate.issued), from: Some(certificate.from), until: Some(certificate.until) }
            }
            Self::Token(Token::Opaque | Token::Malformed(_))
            | Self::Exec
            | Self::AuthProvider
            | Self::File
            | Self::Basic
            | Self::Nothing => Span::default(),
        }
    }
}
