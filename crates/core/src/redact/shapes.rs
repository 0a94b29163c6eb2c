//! The shapes of credentials that masking objects and cleaning a log share.
//!
//! Elsewhere: what counts in an object (`credential`), what is removed from free text (`free_text`).

/// What JSON Web Tokens begin with: `{"` in base64.
pub const JWT_START: &str = "eyJ";
pub const PEM_BEGIN: &str = "-----BEGIN ";
pub const PEM_END: &str = "-----END ";

/// An access key id of AWS: four letters and sixteen more.
pub const AWS_ID_CHARS: usize = 20;
const AWS_ID_PREFIXES: [&str; 6] = ["AKIA", "ASIA", "ABIA", "ACCA", "AROA", "AIDA"];

/// Prefixes that the issuers of tokens made to be recognised.
const TOKEN_PREFIXES: [&str; 16] = [
    "sha256~",
    "k8s-aws-v1.",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "sk_live_",
    "hvs.",
    "ya29.",
    "AIza",
    "GOCSPX-",
    "1//0",
    "AGE-SECRET-KEY-1",
];

/// Ends of names, without separators, under which a value is a credential.
const SECRET_NAMES: [&str; 13] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "token",
    "secret",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "assertion",
    "credential",
    "credentials",
];

/// What follows the prefix of a token.
pub fn token_body(word: &str) -> Option<&str> {
    TOKEN_PREFIXES.iter().find_map(|prefix| word.strip_prefix(prefix))
}

pub fn has_aws_id_prefix(word: &str) -> bool {
    AWS_ID_PREFIXES.iter().any(|prefix| word.starts_with(prefix))
}

/// Whether a name ends like that of a credential: `DB_PASSWORD`, `"clientSecret"`, `aws_secret_access_key`.
pub fn is_secret_name(name: &str) -> bool {
    let last = name.trim().rsplit(char::is_whitespace).next().unwrap_or_default();
    let plain: String =
        last.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect();
    SECRET_NAMES.iter().any(|secret| plain.ends_with(secret))
}
