//! A kubeconfig or token without what lets anybody in, that is judged like the original.
//!
//! Kept: names, servers, certificates (which are public), the kind, times, issuer and subject of a token, and whether the
//! key fits its certificate. Left out: tokens, signatures, keys, passwords, the arguments and variables of plugins.
//!
//! Elsewhere: reading a kubeconfig (`trueup_checks::kubeconfig::content`).

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::placeholder::Placeholders;
use trueup_checks::kubeconfig::content::{Certificate, CertificateFault, Jwt, Token, TokenFault};
use trueup_core::kubeconfig::{self, Cluster, File, User};

/// What the tokens of EKS begin with.
const EKS: &str = "k8s-aws-v1.";
/// The parameters of a signed request that are secret, in lower case.
const SIGNED: [&str; 2] = ["x-amz-signature", "x-amz-security-token"];
/// An Ed25519 key of zeros in PKCS 8: it fits no certificate.
const OTHER_KEY: [u8; 48] = {
    let mut der = [0; 48];
    let start = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
    let mut place = 0;
    while place < start.len() {
        der[place] = start[place];
        place += 1;
    }
    der
};

/// Text that is wiped when it is dropped.
#[derive(Default)]
struct Hidden(Zeroizing<String>);

impl<'de> Deserialize<'de> for Hidden {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(Zeroizing::new(text)))
    }
}

/// The kubeconfig in these bytes, redacted; nothing where they are none. One in base64 stays in base64.
pub fn redacted(bytes: &[u8], placeholders: &mut Placeholders) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    if let Some(inner) = unpacked(text) {
        return redacted_text(&inner, bytes, placeholders).map(|text| STANDARD.encode(text));
    }
    redacted_text(text, bytes, placeholders)
}

fn redacted_text(text: &str, bytes: &[u8], placeholders: &mut Placeholders) -> Option<String> {
    let text = text.trim_start_matches('\u{feff}');
    let file: File<Hidden> = kubeconfig::parse(text).ok().filter(|_| !text.trim().is_empty())?;
    if file.clusters.is_none() && file.users.is_none() && file.contexts.is_none() {
        return None;
    }
    let clusters: Vec<Value> = file
        .clusters()
        .map(|one| json!({ "name": one.name, "cluster": cluster(&one.cluster.0, placeholders) }))
        .collect();
    let users: Vec<Value> =
        file.users().map(|one| json!({ "name": one.name, "user": user(&one.user.0, placeholders) })).collect();
    let contexts = file.contexts().map(|one| {
        let kubeconfig::Context { cluster, user, namespace } = &one.context.0;
        json!({ "name": one.name, "context": { "cluster": cluster, "user": user, "namespace": namespace } })
    });
    let contexts: Vec<Value> = contexts.collect();
    // Two files that differ in what is left out differ here as well.
    let whole = placeholders.short(bytes);
    let redacted = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": file.current_context, "clusters": clusters,
        "contexts": contexts, "users": users, "trueup-gathered": whole,
    });
    Some(redacted.to_string())
}

/// Text in base64 once more than it should be.
fn unpacked(text: &str) -> Option<Zeroizing<String>> {
    let folded: Zeroizing<String> = Zeroizing::new(text.split_ascii_whitespace().collect());
    if folded.is_empty() {
        return None;
    }
    let bytes = STANDARD.decode(folded.as_bytes()).ok()?;
    String::from_utf8(bytes).ok().map(Zeroizing::new)
}

fn cluster(cluster: &Cluster<Hidden>, placeholders: &mut Placeholders) -> Value {
    let mut fields = Map::new();
    let server = cluster.server.as_deref().map(|server| match server.contains(['@', '?']) {
        true => format!("https://{}", placeholders.short(server.as_bytes())),
        false => server.to_owned(),
    });
    put(&mut fields, "server", server);
    put(&mut fields, "tls-server-name", cluster.tls_server_name.clone());
    put(&mut fields, "insecure-skip-tls-verify", cluster.insecure_skip_tls_verify);
    put(&mut fields, "certificate-authority", cluster.certificate_authority.clone());
    let authority = cluster.certificate_authority_data.as_ref();
    put(&mut fields, "certificate-authority-data", authority.map(|data| public(data, placeholders)));
    let proxy = cluster.proxy_url.as_ref();
    let proxy = proxy.map(|url| if url.0.is_empty() { String::new() } else { placeholders.short(url.0.as_bytes()) });
    put(&mut fields, "proxy-url", proxy);
    Value::Object(fields)
}

fn user(user: &User<Hidden>, placeholders: &mut Placeholders) -> Value {
    let mut fields = Map::new();
    put(&mut fields, "token", user.token.as_ref().map(|token| self::token(&token.0, placeholders)));
    put(&mut fields, "tokenFile", user.token_file.clone());
    put(&mut fields, "client-certificate", user.client_certificate.clone());
    put(&mut fields, "client-key", user.client_key.clone());
    let chain = user.client_certificate_data.as_ref();
    put(&mut fields, "client-certificate-data", chain.map(|chain| public(chain, placeholders)));
    let key = user.client_key_data.as_ref();
    put(&mut fields, "client-key-data", key.map(|key| self::key(chain, key, placeholders)));
    put(&mut fields, "username", user.username.clone());
    put(&mut fields, "password", user.password.as_ref().map(|text| placeholders.of(text.0.as_bytes())));
    put(&mut fields, "auth-provider", user.auth_provider.as_ref().map(|one| json!({ "name": one.0.name })));
    put(&mut fields, "exec", user.exec.as_ref().map(|exec| json!({ "command": exec.0.command })));
    Value::Object(fields)
}

fn put(fields: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    fields.extend(value.map(|value| (name.to_owned(), value.into())));
}

/// Base64 of certificates as it is; a placeholder of anything else.
fn public(data: &Hidden, placeholders: &mut Placeholders) -> String {
    let is_public = STANDARD.decode(data.0.trim()).is_ok_and(|bytes| is_certificates(&bytes));
    if is_public { data.0.to_string() } else { STANDARD.encode(placeholders.of(data.0.as_bytes())) }
}

/// Whether bytes are PEM certificates and nothing else.
pub fn is_certificates(bytes: &[u8]) -> bool {
    const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
    const END: &str = "-----END CERTIFICATE-----";
    let Ok(mut rest) = std::str::from_utf8(bytes).map(str::trim) else { return false };
    if rest.is_empty() {
        return false;
    }
    while let Some(block) = rest.strip_prefix(BEGIN) {
        let Some((content, after)) = block.split_once(END) else { return false };
        let is_base64 = |letter: char| letter.is_ascii_alphanumeric() || "+/= \r\n\t".contains(letter);
        if !content.chars().all(is_base64) {
            return false;
        }
        rest = after.trim_start();
    }
    rest.is_empty()
}

/// A key that fits the certificate as little or as much as the real one: of the latter only that it is one can be said.
fn key(chain: Option<&Hidden>, key: &Hidden, placeholders: &mut Placeholders) -> String {
    let decoded = |text: &Hidden| STANDARD.decode(text.0.trim()).map(Zeroizing::new).unwrap_or_default();
    let read = chain.map(|chain| Certificate::read(&decoded(chain), &decoded(key)));
    let stand_in = placeholders.of(key.0.as_bytes());
    let text = match read {
        Some(Err(CertificateFault::KeyNotPem)) => stand_in,
        Some(Err(CertificateFault::OtherKey)) => pem(&OTHER_KEY),
        Some(Ok(_) | Err(CertificateFault::NotPem | CertificateFault::NoKey | CertificateFault::NoCertificate))
        | None => pem(stand_in.as_bytes()),
    };
    if key.0.is_empty() { String::new() } else { STANDARD.encode(text) }
}

fn pem(der: &[u8]) -> String {
    let label = "PRIVATE KEY";
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
}

/// A token of the same kind with the same claims, which no server accepts.
pub fn token(token: &str, placeholders: &mut Placeholders) -> String {
    if token.is_empty() {
        return String::new();
    }
    let stand_in = placeholders.of(token.as_bytes());
    match Token::parse(token) {
        Token::Opaque => stand_in,
        Token::Eks(_) => eks(token, placeholders).unwrap_or(stand_in),
        Token::Jwt(claims) => jwt(&claims, &placeholders.short(token.as_bytes())),
        Token::Malformed(TokenFault::Bearer) => format!("Bearer {stand_in}"),
        Token::Malformed(TokenFault::NotAWord) => format!("{stand_in} "),
        Token::Malformed(TokenFault::Eks(_)) => format!("{EKS}{stand_in}"),
        Token::Malformed(TokenFault::Jwt(_)) => format!("{}.{}.", packed(&json!({ "alg": "none" })), "redacted"),
    }
}

fn eks(token: &str, placeholders: &mut Placeholders) -> Option<String> {
    let bytes = Zeroizing::new(URL_SAFE_NO_PAD.decode(token.strip_prefix(EKS)?.trim_end_matches('=')).ok()?);
    let (place, query) = std::str::from_utf8(&bytes).ok()?.split_once('?')?;
    let parameters = query.split('&').map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match SIGNED.contains(&name.to_ascii_lowercase().as_str()) {
            true => format!("{name}={}", placeholders.short(value.as_bytes())),
            false => pair.to_owned(),
        }
    });
    let parameters: Vec<String> = parameters.collect();
    Some(format!("{EKS}{}", URL_SAFE_NO_PAD.encode(format!("{place}?{}", parameters.join("&")))))
}

fn jwt(claims: &Jwt, id: &str) -> String {
    let Jwt { issuer, subject, issued, from, until } = claims;
    let mut said = json!({ "iss": issuer, "sub": subject, "jti": id });
    for (name, time) in [("iat", issued), ("nbf", from), ("exp", until)] {
        let seconds = time.map(Timestamp::as_second);
        said.as_object_mut().expect("it was made as an object").extend(seconds.map(|at| (name.to_owned(), at.into())));
    }
    format!("{}.{}.redacted", packed(&json!({ "alg": "none" })), packed(&said))
}

fn packed(part: &Value) -> String {
    URL_SAFE_NO_PAD.encode(part.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_checks::kubeconfig::content::{Content, Credential, Current, Document};
    use trueup_core::decode::Digester;

    fn placeholders() -> Placeholders {
        Placeholders::new(Digester::new(&[7; 32]))
    }

    /// A kubeconfig whose user has these fields.
    fn file(fields: &str) -> String {
        format!(
            "current-context: c\nclusters: [ {{ name: k, cluster: {{ server: \"https://api.example:6443\" }} }} ]\n\
             contexts: [ {{ name: c, context: {{ cluster: k, user: u }} }} ]\nusers: [ {{ name: u, user: {{ {fields} }} }} ]\n"
        )
    }

    fn jwt_of(claims: &Value) -> String {
        format!("{}.{}.c2lnbmF0dXJl", packed(&json!({ "alg": "RS256", "kid": "k" })), packed(claims))
    }

    fn eks_of(signature: &str) -> String {
        let url = format!(
            "https://sts.eu-west-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256\
             &X-Amz-Credential=ASIAEXAMPLE%2F20261116%2Feu-west-1%2Fsts%2Faws4_request&X-Amz-Date=20261116T100000Z\
             &X-Amz-Expires=60&X-Amz-Security-Token={signature}token&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Signature={signature}"
        );
        format!("{EKS}{}", URL_SAFE_NO_PAD.encode(url))
    }

    fn content(text: &str) -> Content {
        Document::read(text.as_bytes()).and_then(|document| document.content()).expect("it is a kubeconfig")
    }

    #[test]
    fn a_redacted_kubeconfig_says_the_same_and_holds_no_secret() {
        let canary = "s3cretc4nary";
        let with_jwt = jwt_of(&json!({ "iss": "https://idp", "sub": "u", "exp": 1_794_000_000, "secret": canary }));
        let cases = [
            ("opaque token", format!("token: {canary}")),
            ("JWT", format!("token: {with_jwt}")),
            ("EKS token", format!("token: {}", eks_of(canary))),
            ("token with Bearer", format!("token: \"Bearer {canary}\"")),
            ("password", format!("username: admin, password: {canary}")),
            (
                "plugin",
                format!("exec: {{ command: aws, args: [ {canary} ], env: [ {{ name: A, value: {canary} }} ] }}"),
            ),
            ("file", "tokenFile: /var/run/token".to_owned()),
            ("none", String::new()),
        ];
        for (case, fields) in cases {
            let original = file(&fields);
            for text in [original.clone(), STANDARD.encode(&original)] {
                let redacted = redacted(text.as_bytes(), &mut placeholders()).expect("it is a kubeconfig");
                assert_eq!(content(&redacted), content(&text), "case: {case}");
                for hidden in [canary.to_owned(), STANDARD.encode(canary), URL_SAFE_NO_PAD.encode(canary)] {
                    assert!(!redacted.contains(&hidden), "case: {case}: {redacted}");
                }
                let plain = unpacked(&redacted).map_or(redacted.clone(), |text| text.to_string());
                assert!(!plain.contains(canary) && !plain.contains(&with_jwt), "case: {case}: {plain}");
            }
        }
    }

    #[test]
    fn equal_kubeconfigs_stay_equal_and_different_ones_different() {
        let mut placeholders = placeholders();
        let mut redact = |token: &str| redacted(file(&format!("token: {token}")).as_bytes(), &mut placeholders);
        let (one, same, other) = (redact("one"), redact("one"), redact("two"));
        assert!(one.is_some() && one == same && one != other);
        let (one, other) = (jwt_of(&json!({ "sub": "u", "jti": "1" })), jwt_of(&json!({ "sub": "u", "jti": "2" })));
        assert_ne!(token(&one, &mut placeholders), token(&other, &mut placeholders));
        assert_ne!(token(&eks_of("a"), &mut placeholders), token(&eks_of("b"), &mut placeholders));
    }

    #[test]
    fn a_bare_token_stays_the_token_of_its_kubeconfig() {
        let mut placeholders = placeholders();
        let redacted_file = redacted(file("token: abc").as_bytes(), &mut placeholders).unwrap_or_default();
        let bare = token("abc", &mut placeholders);
        assert!(Document::read(redacted_file.as_bytes()).is_ok_and(|document| document.uses_token(bare.as_bytes())));
    }

    #[test]
    fn malformed_tokens_stay_malformed() {
        let broken_jwt = format!("{}.bm90IGpzb24.x", packed(&json!({ "alg": "none" })));
        for text in ["k8s-aws-v1.!", "k8s-aws-v1.aHR0cHM6Ly9leGFtcGxl", "two words", "Bearer x", &broken_jwt] {
            let shown = Token::parse(&token(text, &mut placeholders()));
            assert!(matches!(shown, Token::Malformed(_)), "{text}: {shown:?}");
        }
    }

    #[test]
    fn only_certificates_are_public() {
        let certificate = "-----BEGIN CERTIFICATE-----\nMIIB+/=\n-----END CERTIFICATE-----\n";
        let key = "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n";
        let cases = [
            (certificate.to_owned(), true),
            (format!("{certificate}{certificate}"), true),
            (format!("{certificate}{key}"), false),
            (format!("{key}{certificate}"), false),
            (format!("# password\n{certificate}"), false),
            ("-----BEGIN CERTIFICATE-----\npass: word\n-----END CERTIFICATE-----".to_owned(), false),
            (String::new(), false),
        ];
        for (text, expected) in cases {
            assert_eq!(is_certificates(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_kubeconfig_is_left_to_the_placeholder() {
        for text in ["", "hello", "a: b", "apiVersion: v1\nkind: Config\n"] {
            assert_eq!(redacted(text.as_bytes(), &mut placeholders()), None, "{text}");
        }
        let current = content(&redacted(file("token: x").as_bytes(), &mut placeholders()).unwrap_or_default()).current;
        let Current::Pair(pair) = current else { panic!("it leads to a server") };
        assert_eq!(pair.credential, Credential::Token(Token::Opaque));
    }
}
