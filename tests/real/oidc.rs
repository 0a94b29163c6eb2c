//! kube-apiserver as the judge of what the check says about external OIDC.
//!
//! What is called valid starts it, what is called kas-would-refuse does not; and with a provider of our own, which signs
//! tokens, the server makes the same users of them that `trueup oidc login` does.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use rcgen::SigningKey as _;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use trueup_checks::external_oidc::{
    Answer, AuthSpec, CaBundle, Checked, Gate, Gates, Identity, Inputs, Presence, Provenance, References, SpecVerdict,
    Token, check, login,
};

use crate::support::http::Request;
use crate::support::real::RealServer;

/// How long the server may take to fetch the provider's keys.
const READY_WAIT_MAX: Duration = Duration::from_secs(60);

/// An OIDC provider on this machine: discovery, keys, and tokens that it signs. Any path is an issuer of its own.
pub struct Issuer {
    pub base: String,
    pub ca: String,
    key: Arc<rcgen::KeyPair>,
    /// How many requests it has answered.
    pub asked: Arc<AtomicUsize>,
}

impl Issuer {
    pub async fn start() -> Self {
        let identity = rcgen::KeyPair::generate().unwrap();
        let certificate =
            rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap().self_signed(&identity).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(identity.serialize_der()));
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("https://{}", listener.local_addr().unwrap());
        let key = Arc::new(rcgen::KeyPair::generate().unwrap());
        let asked = Arc::new(AtomicUsize::new(0));
        let serving = Serving { base: base.clone(), key: key.clone(), asked: asked.clone() };
        tokio::spawn(serve(listener, TlsAcceptor::from(Arc::new(config)), serving));
        Self { base, ca: certificate.pem(), key, asked }
    }

    /// A token with these claims, for the issuer at this path.
    pub fn token(&self, path: &str, claims: &Value) -> String {
        let mut claims = claims.clone();
        for (name, value) in [("iss", json!(format!("{}{path}", self.base))), ("aud", json!("app"))] {
            if claims.get(name).is_none() {
                claims[name] = value;
            }
        }
        if claims.get("exp").is_none() {
            claims["exp"] = json!(Timestamp::now().as_second() + 3600);
        }
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&json!({"alg": "ES256", "kid": "k"})), part(&claims));
        let signature = raw_signature(&self.key.sign(signed.as_bytes()).unwrap());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

/// What answering needs.
#[derive(Clone)]
struct Serving {
    base: String,
    key: Arc<rcgen::KeyPair>,
    asked: Arc<AtomicUsize>,
}

/// Answers one request a connection.
async fn serve(listener: TcpListener, tls: TlsAcceptor, serving: Serving) {
    while let Ok((stream, _)) = listener.accept().await {
        let (tls, Serving { base, key, asked }) = (tls.clone(), serving.clone());
        tokio::spawn(async move {
            let Ok(mut stream) = tls.accept(stream).await else { return };
            let mut request = Vec::new();
            let mut chunk = [0; 1024];
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                match stream.read(&mut chunk).await {
                    Ok(0) | Err(_) => return,
                    Ok(count) => request.extend_from_slice(&chunk[..count]),
                }
            }
            asked.fetch_add(1, Ordering::SeqCst);
            let text = String::from_utf8_lossy(&request);
            let path = text.split(' ').nth(1).unwrap_or_default();
            let body = match path.strip_suffix("/.well-known/openid-configuration") {
                Some(issuer) => json!({"issuer": format!("{base}{issuer}"), "jwks_uri": format!("{base}/keys")}),
                None => {
                    let point = key.public_key_raw();
                    let number = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
                    json!({"keys": [{"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "k",
                        "x": number(&point[1..33]), "y": number(&point[33..65])}]})
                }
            }
            .to_string();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length";
            let _ = stream.write_all(format!("{head}: {}\r\n\r\n{body}", body.len()).as_bytes()).await;
            let _ = stream.shutdown().await;
        });
    }
}

/// The two numbers of a DER signature, 32 bytes each, as tokens hold them.
fn raw_signature(der: &[u8]) -> Vec<u8> {
    let mut raw = Vec::new();
    let mut rest = &der[2..];
    for _ in 0..2 {
        let length = usize::from(rest[1]);
        let number = &rest[2..2 + length];
        let number = &number[number.len().saturating_sub(32)..];
        raw.extend(std::iter::repeat_n(0, 32 - number.len()));
        raw.extend_from_slice(number);
        rest = &rest[2 + length..];
    }
    raw
}

fn newest() -> Gates {
    Gates::of([Gate::ExternalOidc, Gate::UidAndExtra, Gate::UpstreamParity])
}

/// A spec with one provider, which has this CA in the ConfigMap `ca`.
fn spec_of(issuer: &str, more: &Value) -> AuthSpec {
    let mut provider = json!({
        "name": "idp",
        "issuer": {"issuerURL": issuer, "audiences": ["app"], "issuerCertificateAuthority": {"name": "ca"}},
        "claimMappings": {"username": {"claim": "sub"}},
    });
    for (name, value) in more.as_object().unwrap() {
        provider[name] = value.clone();
    }
    AuthSpec::from_json(&json!({"type": "OIDC", "oidcProviders": [provider]})).unwrap()
}

fn checked(spec: &AuthSpec, ca: &str) -> Checked {
    let lookup = |_: &str| CaBundle::Text(ca);
    check(&Inputs {
        authentication: spec,
        provenance: Provenance::Stored,
        unknown_fields: &[],
        references: References::OpenshiftConfig,
        clients: &[],
        gates: &newest(),
        ca: &lookup,
        secret: &|_| Presence::Absent,
        service_account_issuers: Some(&[]),
        present: None,
        now: Timestamp::now(),
    })
}

fn config_file(folder: &tempfile::TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("auth-config.json");
    std::fs::write(&path, text).unwrap();
    path
}

/// Starts a server with this file; nothing when no server was built, an error when it does not start.
pub fn start_with(text: &str) -> Option<Result<RealServer, String>> {
    let folder = tempfile::tempdir().unwrap();
    let flag = format!("--authentication-config={}", config_file(&folder, text).display());
    RealServer::start_with(&[&flag]).map(|started| started.map_err(|error| format!("{error:#}")))
}

fn mappings(value: Value) -> Value {
    json!({"claimMappings": value})
}

fn named(expression: &str) -> Value {
    mappings(json!({"username": {"expression": expression}}))
}

fn extra(key: &str) -> Value {
    mappings(json!({"username": {"claim": "sub"}, "extra": [{"key": key, "valueExpression": "claims.x"}]}))
}

fn cel(expression: &str) -> Value {
    json!({"type": "CEL", "cel": {"expression": expression, "message": "m"}})
}

fn required(claim: &str) -> Value {
    json!({"type": "RequiredClaim", "requiredClaim": {"claim": claim, "requiredValue": "v"}})
}

#[tokio::test]
async fn a_valid_verdict_starts_the_server() {
    let issuer = Issuer::start().await;
    let rules = |rules: Value| json!({"claimValidationRules": rules});
    let users = |expression: &str| json!({"userValidationRules": [{"expression": expression, "message": "m"}]});
    let cases = [
        json!({}),
        mappings(json!({"username": {"claim": "email"}, "groups": {"claim": "g", "prefix": "<&>"}})),
        mappings(
            json!({"username": {"claim": "sub", "prefixPolicy": "NoPrefix"}, "uid": {"expression": "claims.oid"}}),
        ),
        named("claims.?email_verified.orValue(true) == true ? claims.email : claims.sub"),
        named("claims['email']"),
        named("claims.a.b.filter(r, r.startsWith('x')).join('-')"),
        named("claims.roles.split(',')[0].lowerAscii()"),
        named("'%s/%d'.format([claims.a.b, 5])"),
        mappings(json!({"username": {"claim": "sub"}, "groups": {"expression": "claims.roles.split(',')"}})),
        mappings(json!({"username": {"claim": "sub"}, "groups": {"expression": "claims.?groups.orValue([])"}})),
        extra("example.org/team"),
        extra("example.org/a,b:c@".trim_end_matches('@')),
        rules(json!([required("a"), required("b"), cel("claims.n > 1"), cel("claims.exp - claims.iat <= 3600.0")])),
        rules(json!([cel("claims.x.matches('^[a-z]{2,5}$')"), cel("has(claims.a.b) && claims.a.b.all(x, x != '')")])),
        users("!user.username.startsWith('system:') && user.groups.all(g, g != 'x')"),
        users("user.extra.all(k, v, v.size() > 0) && user.?uid.orValue('') != ''"),
    ];
    assert!(cases.len() >= 15);
    // The server judges each entry separately, so one start judges them all.
    let specs: Vec<AuthSpec> =
        cases.iter().enumerate().map(|(at, more)| spec_of(&format!("{}/i{at}", issuer.base), more)).collect();
    let Some(started) = start_with(&together(&specs, &issuer.ca)) else { return };
    if let Err(said) = started {
        panic!("all were called valid, and the server says: {said}");
    }
}

/// The rendered files of valid specs as one file.
fn together(specs: &[AuthSpec], ca: &str) -> String {
    let mut jwt = Vec::new();
    for spec in specs {
        let checked = checked(spec, ca);
        assert_eq!(checked.verdict, SpecVerdict::Valid, "{spec:?}: {checked:?}");
        let file: Value = serde_json::from_str(&checked.rendered.unwrap()).unwrap();
        jwt.extend(file["jwt"].as_array().unwrap().clone());
    }
    json!({"kind": "AuthenticationConfiguration", "apiVersion": "apiserver.config.k8s.io/v1beta1", "jwt": jwt})
        .to_string()
}

#[tokio::test]
async fn a_kas_would_refuse_verdict_does_not_start_the_server() {
    let twice = |rule: Value| json!({"claimValidationRules": [rule, rule]});
    let issuer = "https://idp.example.com";
    let keys = ["Team", "my team", "a\"b", "aé", "a#b", "a?b", "a@b", "a|b", "[x]", "a^b", "a\\b", "A/b"];
    let mut cases: Vec<(String, Value)> =
        keys.iter().map(|key| (issuer.to_owned(), extra(&format!("example.org/{key}")))).collect();
    cases.push((issuer.to_owned(), twice(required("hd"))));
    cases.push((issuer.to_owned(), twice(cel("claims.a == 'b'"))));
    for url in ["https://x/?;", "https://x/?&", "https://x/?%zz", "https://kubernetes.default.svc"] {
        cases.push((url.to_owned(), json!({})));
    }
    assert!(cases.len() >= 15);
    let ca = rcgen::CertificateParams::new(vec!["x".to_owned()])
        .unwrap()
        .self_signed(&rcgen::KeyPair::generate().unwrap())
        .unwrap()
        .pem();
    for (url, more) in cases {
        let checked = checked(&spec_of(&url, &more), &ca);
        assert_eq!(checked.verdict, SpecVerdict::KasWouldRefuse, "{url} {more}: {checked:?}");
        let Some(started) = start_with(&checked.rendered.unwrap()) else { return };
        let said = started.err().unwrap_or_else(|| panic!("{url} {more} was to be refused, and the server started"));
        assert!(said.contains("jwt[0]") || said.contains("issuer"), "{url} {more}: refused for another reason: {said}");
    }
}

/// Specs, each with the claims that are tried on it.
fn logins() -> Vec<(Value, Vec<Value>)> {
    let plain = json!({"username": {"claim": "sub", "prefixPolicy": "NoPrefix"}});
    let with = |name: &str, value: Value| {
        let mut mappings = plain.clone();
        mappings[name] = value;
        json!({ "claimMappings": mappings })
    };
    let jane = json!({"sub": "jane"});
    vec![
        (
            json!({}),
            vec![
                jane.clone(),
                json!({}),
                json!({"sub": 5}),
                json!({"sub": "j", "jti": "abc"}),
                json!({"sub": "j", "aud": "x"}),
                json!({"sub": "j", "exp": 1000}),
            ],
        ),
        (
            mappings(json!({"username": {"claim": "email"}})),
            vec![
                json!({"sub": "1", "email": "j@x"}),
                json!({"sub": "1", "email": "j@x", "email_verified": true}),
                json!({"sub": "1", "email": "j@x", "email_verified": false}),
                json!({"sub": "1", "email": "j@x", "email_verified": "true"}),
            ],
        ),
        (
            with("groups", json!({"claim": "g", "prefix": "g:"})),
            vec![
                json!({"sub": "j", "g": ["a", "b"]}),
                json!({"sub": "j", "g": "a"}),
                json!({"sub": "j", "g": null}),
                json!({"sub": "j", "g": [1]}),
                json!({"sub": "j"}),
            ],
        ),
        (
            with("groups", json!({"expression": "claims.g.split(',')"})),
            vec![json!({"sub": "j", "g": "a,b"}), json!({"sub": "j", "g": ""})],
        ),
        (
            with("groups", json!({"expression": "claims.g.split(',').map(x, 'x:' + x)"})),
            vec![json!({"sub": "j", "g": "a,b"}), json!({"sub": "j"}), json!({"sub": "j", "g": 1})],
        ),
        (
            with(
                "groups",
                json!({"expression": "claims.a.roles.filter(r, r.matches('^[a-z]+$')).map(r, r.upperAscii())"}),
            ),
            vec![
                json!({"sub": "j", "a": {"roles": ["x", "y1", "z"]}}),
                json!({"sub": "j", "a": {}}),
                json!({"sub": "j", "a": {"roles": []}}),
            ],
        ),
        (
            with(
                "extra",
                json!([{"key": "example.org/t", "valueExpression": "claims.?team.orValue('')"}, {"key": "example.org/n", "valueExpression": "string(claims.n)"}]),
            ),
            vec![
                json!({"sub": "j", "team": "t", "n": 1_700_000_000}),
                json!({"sub": "j", "n": 1.5}),
                json!({"sub": "j", "n": "x"}),
                json!({"sub": "j"}),
            ],
        ),
        (
            json!({"claimMappings": {"username": {"expression": "claims.?email.orValue(claims.sub) + '!'"}, "uid": {"expression": "claims['oid']"}},
                "claimValidationRules": [cel("claims.?email_verified.orValue(true) == true"), required("hd")]}),
            vec![
                json!({"sub": "j", "oid": "4", "hd": "v"}),
                json!({"sub": "j", "oid": "4", "hd": "v", "email": "e"}),
                json!({"sub": "j", "oid": "4", "hd": "w"}),
                json!({"sub": "j", "oid": "4"}),
                json!({"sub": "j", "hd": "v"}),
                json!({"sub": "j", "oid": "4", "hd": "v", "email_verified": false}),
            ],
        ),
        (
            json!({"claimMappings": plain, "userValidationRules": [{"expression": "!user.username.startsWith('system:')", "message": "m"}]}),
            vec![jane, json!({"sub": "system:admin"})],
        ),
        (
            json!({"claimMappings": plain, "claimValidationRules": [cel("'email' in claims || true"), cel("claims.n == 3 && claims.n > 2.5")]}),
            vec![json!({"sub": "j", "n": 3}), json!({"sub": "j", "n": "3"}), json!({"sub": "j", "n": 2})],
        ),
    ]
}

#[tokio::test]
async fn the_server_maps_tokens_to_the_same_users() {
    let issuer = Issuer::start().await;
    let table = logins();
    let specs: Vec<AuthSpec> =
        table.iter().enumerate().map(|(at, (more, _))| spec_of(&format!("{}/i{at}", issuer.base), more)).collect();
    let Some(server) = start_with(&together(&specs, &issuer.ca)) else { return };
    let server = server.expect("the rendered files together start it");
    let review = Request::post(
        "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}),
    );
    let mut pairs = 0;
    for (at, ((more, tokens), spec)) in table.iter().zip(&specs).enumerate() {
        for claims in tokens {
            let token = issuer.token(&format!("/i{at}"), claims);
            let ours = login(spec, &newest(), &Token::read(&token).unwrap(), Timestamp::now());
            let connection = server.connect_with(&token);
            let asked = async {
                loop {
                    let answer = connection.send(&review).await.unwrap();
                    // Until the keys were fetched every token is refused: only a yes can be waited for.
                    if answer.status == 201 || !matches!(ours, Answer::Accepted(_)) {
                        return answer;
                    }
                    tokio::task::yield_now().await;
                }
            };
            let answer = tokio::time::timeout(READY_WAIT_MAX, asked).await;
            let answer =
                answer.unwrap_or_else(|_| panic!("{claims} on {more}: the server refuses, and we say {ours:?}"));
            let theirs = (answer.status == 201).then(|| identity(&answer.body["status"]["userInfo"]));
            assert_eq!(accepted(&ours), theirs, "{claims} on {more}: {ours:?}");
            pairs += 1;
        }
    }
    assert!(pairs >= 25, "{pairs} pairs");
}

/// Username, uid, groups and extra.
type Who = (String, String, Vec<String>, Value);

fn accepted(answer: &Answer) -> Option<Who> {
    match answer {
        Answer::Accepted(Identity { username, uid, groups, extra, .. }) => {
            Some((username.clone(), uid.clone(), groups.clone(), json!(extra)))
        }
        Answer::Refused(_) => None,
        Answer::NotVerifiable(why) => panic!("every login of the table is verifiable: {why}"),
    }
}

fn identity(user: &Value) -> Who {
    let text = |name: &str| user[name].as_str().unwrap_or_default().to_owned();
    let groups = user["groups"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let groups = groups.filter(|group| *group != "system:authenticated").map(str::to_owned).collect();
    let extra = if user["extra"].is_null() { json!({}) } else { user["extra"].clone() };
    (text("username"), text("uid"), groups, extra)
}
