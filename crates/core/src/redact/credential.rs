//! Recognises values that look like a key, token or password.
//!
//! Invariants: a match hides a value, so a wrong match costs a key press; a certificate and a digest are not credentials.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::Value;

use super::shapes::{AWS_ID_CHARS, JWT_START, PEM_BEGIN, PEM_END, has_aws_id_prefix, is_secret_name, token_body};

/// What a value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialKind {
    PrivateKey,
    Jwt,
    AwsKey,
    ServiceAccount,
    Kubeconfig,
    Token,
    Password,
    RandomText,
}

impl CredentialKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PrivateKey => "a private key",
            Self::Jwt => "a JWT",
            Self::AwsKey => "an AWS key",
            Self::ServiceAccount => "a GCP service account key",
            Self::Kubeconfig => "a kubeconfig with credentials",
            Self::Token => "a token",
            Self::Password => "a password",
            Self::RandomText => "a random key",
        }
    }
}

/// The shortest text that is called random: 40 characters of base64 are 30 bytes, as in an AWS secret key.
const RANDOM_CHARS_MIN: usize = 40;
/// An AWS secret key: 30 bytes in base64.
const AWS_SECRET_CHARS: usize = 40;
/// The shortest run without separators in it: names and paths consist of shorter ones.
const RANDOM_RUN_MIN: usize = 20;
/// Bits a character; 40 random characters of base64 have about 4.9, words have about 4.
const RANDOM_BITS_MIN: f64 = 4.3;
/// The shortest token after its prefix.
const TOKEN_CHARS_MIN: usize = 16;

/// Returns what a value under a name looks like: by the name, or by the value.
pub fn credential_under(name: &str, value: &str) -> Option<CredentialKind> {
    let is_line = !value.trim_end().contains('\n');
    if is_line && is_secret_name(name) && is_content(value.trim()) {
        return Some(CredentialKind::Password);
    }
    credential_in(value)
}

/// Returns what a text looks like or contains.
pub fn credential_in(text: &str) -> Option<CredentialKind> {
    known_shape(text).or_else(|| text_credential(text))
}

/// Shapes that are a credential wherever they are.
pub(super) fn known_shape(text: &str) -> Option<CredentialKind> {
    if text.contains("\"private_key\"") && text.contains("service_account") {
        return Some(CredentialKind::ServiceAccount);
    }
    if text.split(PEM_BEGIN).skip(1).any(|block| block.split("-----").next().is_some_and(is_private)) {
        return Some(CredentialKind::PrivateKey);
    }
    let is_token_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_.~".contains(letter);
    let mut words = text.split(|letter| !is_token_letter(letter)).filter(|word| word.len() >= TOKEN_CHARS_MIN);
    words.find_map(|word| {
        if token_body(word).is_some_and(|rest| rest.len() >= TOKEN_CHARS_MIN) {
            Some(CredentialKind::Token)
        } else if is_jwt(word) {
            Some(CredentialKind::Jwt)
        } else if is_aws_key_id(word) {
            Some(CredentialKind::AwsKey)
        } else {
            None
        }
    })
}

/// What only text that people write into a file can be.
fn text_credential(text: &str) -> Option<CredentialKind> {
    if is_kubeconfig(text) {
        return Some(CredentialKind::Kubeconfig);
    }
    let assigned = text.split(['\n', ',', '{', '}', ';', '&']).any(|part| {
        let (name, value) = part.split_once([':', '=']).unwrap_or_default();
        is_secret_name(name)
            && is_content(value.trim_matches(|letter: char| letter.is_whitespace() || "\"'".contains(letter)))
    });
    if assigned || has_password_in_url(text) {
        return Some(CredentialKind::Password);
    }
    let public = without_certificates(text);
    public.iter().flat_map(|part| words(part)).find_map(random)
}

fn is_private(label: &str) -> bool {
    label.contains("PRIVATE KEY")
}

fn is_jwt(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    // A signed token has three parts, an encrypted one five.
    matches!(parts.len(), 3 | 5) && parts[0].starts_with(JWT_START) && has_algorithm(parts[0])
}

fn has_algorithm(part: &str) -> bool {
    let header = URL_SAFE_NO_PAD.decode(part).ok();
    header
        .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
        .is_some_and(|header| header.get("alg").is_some())
}

fn is_aws_key_id(word: &str) -> bool {
    let is_key = |word: &str| {
        word.len() == AWS_ID_CHARS
            && has_aws_id_prefix(word)
            && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    word.split(['-', '_', '.', '~']).any(is_key)
}

fn is_kubeconfig(text: &str) -> bool {
    let has = |field: &str| text.contains(&format!("{field}:")) || text.contains(&format!("\"{field}\""));
    let credentials = ["client-key-data", "token", "password", "auth-provider"];
    has("clusters") && has("users") && credentials.into_iter().any(has)
}

/// Whether a value is content, and not a reference, a path or a placeholder.
fn is_content(value: &str) -> bool {
    let is_word = ["", "true", "false", "null", "none", "nil", "[]", "[", "yes", "no"];
    let is_reference = ["$", "<", "/", "./", "~/"].iter().any(|start| value.starts_with(start));
    !is_reference && !is_word.contains(&value.to_ascii_lowercase().as_str())
}

/// `scheme://user:password@host`
fn has_password_in_url(text: &str) -> bool {
    text.split("://").skip(1).any(|rest| {
        let authority = rest.split(|letter: char| letter.is_whitespace() || "/?#\"'".contains(letter)).next();
        let user = authority.and_then(|authority| authority.rsplit_once('@')).map(|(user, _)| user);
        user.and_then(|user| user.split_once(':')).is_some_and(|(_, password)| is_content(password))
    })
}

/// The parts of a text outside PEM blocks. Private keys were found before.
fn without_certificates(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, block)) = rest.split_once(PEM_BEGIN) {
        parts.push(before);
        let end = block.find(PEM_END).map_or(block.len(), |at| at + PEM_END.len());
        rest = &block[end..];
    }
    parts.push(rest);
    parts
}

/// Runs of base64, long enough to be a key.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "+/=_-".contains(letter);
    text.split(move |letter| !is_letter(letter)).filter(|word| word.len() >= RANDOM_CHARS_MIN)
}

/// What a run of base64 is: what its text says, or random.
fn random(word: &str) -> Option<CredentialKind> {
    let bare = word.trim_matches('=');
    let bytes =
        STANDARD.decode(word).or_else(|_| STANDARD_NO_PAD.decode(bare)).or_else(|_| URL_SAFE_NO_PAD.decode(bare));
    if let Some(text) = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok()) {
        // Text in base64 is judged as text; it is not random, whatever it looks like.
        return known_shape(&text).or_else(|| is_kubeconfig(&text).then_some(CredentialKind::Kubeconfig));
    }
    let has = |is: fn(&u8) -> bool| bare.as_bytes().iter().any(is);
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit);
    if !is_mixed || bits_per_letter(bare) < RANDOM_BITS_MIN {
        return None;
    }
    if bare.len() == AWS_SECRET_CHARS && !bare.contains(['-', '_']) {
        return Some(CredentialKind::AwsKey);
    }
    let longest = bare.split(['-', '_', '/', '=']).map(str::len).max().unwrap_or(0);
    (longest >= RANDOM_RUN_MIN).then_some(CredentialKind::RandomText)
}

/// Shannon entropy of the letters of a text.
fn bits_per_letter(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let total = text.len() as f64;
    let bits = |count: &u32| -(f64::from(*count) / total) * (f64::from(*count) / total).log2();
    counts.iter().filter(|count| **count > 0).map(bits).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const JWT: &str = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl";
    const RANDOM: &str = "q7Hx2Lw9ZbT4mVfK0sYdR8nGpC3uJ6eA5iOxQ1kMa";

    #[test]
    fn keys_tokens_and_passwords_are_recognised() {
        let pem = "-----BEGIN EC PRIVATE KEY-----\nMHcC\n-----END EC PRIVATE KEY-----\n";
        let in_base64 = STANDARD.encode(pem);
        let lines = format!("region = eu\naws_secret_access_key = {RANDOM}\n");
        let cases = [
            ("PEM", "tls.pem", pem, CredentialKind::PrivateKey),
            ("PEM in base64", "key", &in_base64, CredentialKind::PrivateKey),
            ("OpenSSH", "id", "-----BEGIN OPENSSH PRIVATE KEY-----", CredentialKind::PrivateKey),
            ("JWT in a sentence", "note", &format!("use {JWT}, please"), CredentialKind::Jwt),
            ("AWS key id", "x", "id=AKIAIOSFODNN7EXAMPLE", CredentialKind::AwsKey),
            ("AWS secret key", "credentials.ini", &lines, CredentialKind::Password),
            (
                "GCP",
                "sa.json",
                r#"{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\n"}"#,
                CredentialKind::ServiceAccount,
            ),
            (
                "kubeconfig",
                "config",
                "clusters: []\nusers:\n- user:\n    client-key-data: x\n",
                CredentialKind::Kubeconfig,
            ),
            ("OpenShift token", "x", "sha256~0123456789abcdefABCDEF", CredentialKind::Token),
            ("password line", "app.properties", "db.user=x\ndb.password=hunter2\n", CredentialKind::Password),
            ("YAML", "app.yaml", "db:\n  password: \"hunter2\"\n", CredentialKind::Password),
            ("JSON on one line", "app.json", r#"{"user":"x","apiKey":"y1"}"#, CredentialKind::Password),
            ("the key itself", "DB_PASSWORD", "hunter2", CredentialKind::Password),
            ("a URL", "dsn", "postgres://app:hunter2@db:5432/x", CredentialKind::Password),
            ("random text", "x", RANDOM, CredentialKind::RandomText),
            ("AWS secret key alone", "x", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", CredentialKind::AwsKey),
        ];
        for (case, name, value, expected) in cases {
            assert_eq!(credential_under(name, value), Some(expected), "case: {case}");
            let logged = super::super::without_credentials(value);
            // A service account is recognised by the names of its keys, which stay.
            let left = known_shape(&logged).filter(|kind| *kind != CredentialKind::ServiceAccount);
            assert_eq!(left, None, "case: {case}: in the log as {logged}");
        }
    }

    #[test]
    fn certificates_digests_names_and_references_are_shown() {
        let certificate = format!("-----BEGIN CERTIFICATE-----\n{RANDOM}\n{RANDOM}\n-----END CERTIFICATE-----\n");
        let in_base64 = STANDARD.encode(&certificate);
        let cases = [
            ("a certificate", "ca-bundle.crt", certificate.as_str()),
            ("a certificate in base64", "caBundle", &in_base64),
            (
                "a digest",
                "image",
                "quay.io/a/b@sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
            ),
            ("a path", "file", "/etc/kubernetes/static-pod-resources/configmaps/Auth-Config-1/auth-config.json"),
            ("a reference", "app.yaml", "password: ${DB_PASSWORD}\ntoken: /var/run/token\nsecret: <none>\n"),
            ("a switch", "app.yaml", "useToken: true\npassword: \"\"\n"),
            ("a name of a Secret", "app.yaml", "secretName: db-credentials-1\n"),
            ("a URL", "issuer", "https://idp.example:8443/realms/x?a@b"),
            ("a sentence", "note", "the password is asked for at the first login"),
            ("three words", "x", "eyJa.b.c"),
        ];
        for (case, name, value) in cases {
            assert_eq!(credential_under(name, value), None, "case: {case}");
        }
    }
}
