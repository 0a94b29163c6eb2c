//! Tokens, certificates and addresses, rule by rule; and that anything at all gets an answer that tells no secret.

use proptest::prelude::*;

use super::super::testing::{Config, certificate, config, days, eks_of, eks_query, jwt};
use super::*;

const DATE: &str = "20230428T000000Z";

fn url(query: &str) -> String {
    format!("https://sts.us-west-2.amazonaws.com/?{query}")
}

#[test]
fn a_token_of_eks_says_when_it_was_signed_by_which_key_and_where() {
    let token = EksToken::parse(&eks_of(&url(&eks_query(DATE)))).unwrap();
    assert_eq!(token.signed, "2023-04-28T00:00:00Z".parse().unwrap());
    assert_eq!(token.until(), "2023-04-28T00:15:00Z".parse().unwrap());
    assert_eq!((&*token.access_key, &*token.region), ("ASIAR2TG44V6AS3ZZE7C", "us-west-2"));
}

#[test]
fn a_token_that_breaks_a_rule_is_malformed_by_that_rule() {
    let query = eks_query(DATE);
    let replaced = |from: &str, to: &str| eks_of(&url(&query.replace(from, to)));
    let at = |place: &str| eks_of(&format!("{place}?{query}"));
    let cases = [
        ("too large", format!("k8s-aws-v1.{}", "A".repeat(4096)), EksFault::TooLong),
        ("version 2", eks_of(&url(&query)).replace("v1.", "v2."), EksFault::Version),
        ("bad base64", "k8s-aws-v1.decodingerror!".to_owned(), EksFault::NotBase64),
        ("no URL", eks_of("nothing"), EksFault::NotUrl),
        ("http", at("http://sts.us-west-2.amazonaws.com/"), EksFault::Scheme),
        ("another host", at("https://google.com/"), EksFault::Host),
        ("a host that only ends so", at("https://sts.us-west-2.amazonaws.com.evil.example/"), EksFault::Host),
        ("a region of another partition", at("https://sts.cn-north-1.amazonaws.com/"), EksFault::Host),
        ("a host before the host", at("https://sts.amazonaws.com@google.com/"), EksFault::Host),
        ("a port", at("https://sts.us-west-2.amazonaws.com:443/"), EksFault::Host),
        ("another path", at("https://sts.us-west-2.amazonaws.com/abc"), EksFault::Path),
        ("no path", at("https://sts.us-west-2.amazonaws.com"), EksFault::Path),
        ("an unknown parameter", eks_of(&url(&format!("{query}&NoInWhiteList=abc"))), EksFault::UnknownParameter),
        ("a parameter twice", eks_of(&url(&format!("{query}&action=get"))), EksFault::DuplicateParameter),
        ("another action", replaced("GetCallerIdentity", "NotGetCallerIdentity"), EksFault::Action),
        ("no action", replaced("Action=GetCallerIdentity&", ""), EksFault::Action),
        ("an unsigned header", replaced("host%3Bx-k8s-aws-id", "host"), EksFault::SignedHeaders),
        ("a header that ends so", replaced("x-k8s-aws-id", "ax-k8s-aws-idd"), EksFault::SignedHeaders),
        ("too long a life", replaced("Expires=60", "Expires=9999999"), EksFault::Expires),
        ("a life that is not a number", replaced("Expires=60", "Expires=xx"), EksFault::Expires),
        ("no life", replaced("&X-Amz-Expires=60", ""), EksFault::Expires),
        ("a date that is none", replaced(DATE, "xxxxxxx"), EksFault::Date),
        ("the 31st of June", replaced(DATE, "20230631T000000Z"), EksFault::Date),
        ("a date in another form", replaced(DATE, "2023-04-28T00:00"), EksFault::Date),
        ("a malformed query", eks_of(&url(&format!("{query}&Version=%zz"))), EksFault::Query),
        ("a semicolon", eks_of(&url(&format!("{query};a=b"))), EksFault::Query),
    ];
    for (case, token, expected) in cases {
        assert_eq!(EksToken::parse(&token), Err(expected), "case: {case}");
        assert_eq!(Token::parse(&token), Token::Malformed(TokenFault::Eks(expected)), "case: {case}");
    }
}

fn padded(url: &str) -> String {
    format!("k8s-aws-v1.{}", base64::Engine::encode(&base64::engine::general_purpose::URL_SAFE, url))
}

#[test]
fn what_does_not_matter_does_not_matter() {
    let query = eks_query(DATE);
    let cases = [
        ("names in another case", eks_of(&url(&query.replace("X-Amz-Date", "x-amz-date").replace("Action", "ACTION")))),
        ("padded", padded(&url(&query))),
        ("padded, one character more", padded(&url(&query.replace("CANARYsignature", "CANARYsignature0")))),
        (
            "no credential",
            eks_of(&url(&query
                .replace("X-Amz-Credential=ASIAR2TG44V6AS3ZZE7C%2F20261116%2Fus-west-2%2Fsts%2Faws4_request&", ""))),
        ),
        ("expires in none", eks_of(&url(&query.replace("Expires=60", "Expires=0")))),
        ("expires in 900", eks_of(&url(&query.replace("Expires=60", "Expires=900")))),
    ];
    for (case, token) in cases {
        assert!(EksToken::parse(&token).is_ok(), "case: {case}: {:?}", EksToken::parse(&token));
    }
}

#[test]
fn kinds_of_tokens_are_distinguished() {
    let claims = serde_json::json!({ "iss": "i", "sub": "s", "exp": 1_800_000_000, "iat": 1.5 });
    let read = Jwt {
        issuer: "i".into(),
        subject: "s".into(),
        issued: Some("1970-01-01T00:00:01Z".parse().unwrap()),
        from: None,
        until: Some("2027-01-15T08:00:00Z".parse().unwrap()),
    };
    assert_eq!(Token::parse(&jwt(claims)), Token::Jwt(read));
    let opaque = ["abc", "a.b.c", "k8s-aws-v1", "k8s-aws-vx.y", "a.b"];
    for token in opaque {
        assert_eq!(Token::parse(token), Token::Opaque, "{token}");
    }
    let malformed = [
        ("bearer x", TokenFault::Bearer),
        ("x y", TokenFault::NotAWord),
        ("ü", TokenFault::NotAWord),
        ("eyJhbGciOiJSUzI1NiJ9.bm8gSlNPTg.c2ln", TokenFault::Jwt(JwtFault)),
    ];
    for (token, fault) in malformed {
        assert_eq!(Token::parse(token), Token::Malformed(fault), "{token}");
    }
}

#[test]
fn servers_have_one_spelling() {
    let cases = [
        ("https://Host.Example", "https://host.example:443"),
        ("host.example", "https://host.example:443"),
        ("http://host", "http://host:80"),
        ("https://host:6443/", "https://host:6443"),
        ("https://host./a/b/", "https://host:443/a/b"),
        ("https://[FD00::1]", "https://[fd00::1]:443"),
        ("https://u:p@host?x=y#z", "https://host:443"),
        ("  https://host  ", "https://host:443"),
    ];
    for (text, expected) in cases {
        assert_eq!(Server::parse(text).unwrap().as_str(), expected, "{text}");
    }
    for text in ["", "https://", "ftp://host", "https://:443", "https://host:port", "https://[::1", "https://a b"] {
        assert_eq!(Server::parse(text), None, "{text}");
    }
    assert_eq!(Server::of_endpoint("fd00::1", Some(6443)).unwrap().as_str(), "https://[fd00::1]:6443");
    assert_eq!(Server::of_endpoint("https://X.example", Some(0)).unwrap().as_str(), "https://x.example:443");
    assert_eq!(Server::of_endpoint("https://x.example:1", Some(2)).unwrap().as_str(), "https://x.example:1");
}

#[test]
fn authorities_are_a_set_however_they_are_written() {
    let (one, other) = (certificate("one", days(-1), days(1)).pem, certificate("other", days(-1), days(2)).pem);
    let set = |text: &str| Authorities::parse(text.as_bytes()).unwrap();
    let packed = |text: &str| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, text);
    let both = set(&format!("{one}{other}"));
    for text in
        [format!("{other}\r\n{one}"), packed(&format!("{one}{other}{one}")), packed(&packed(&format!("{other}{one}")))]
    {
        assert_eq!(both.overlap(&set(&text)), Overlap::Same);
    }
    assert_eq!(both.overlap(&set(&one)), Overlap::Partly);
    assert_eq!(set(&other).overlap(&set(&one)), Overlap::Disjoint);
    assert_eq!(both.first_ends, Some(days(1)));
    for text in ["", "x", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        assert_eq!(Authorities::parse(text.as_bytes()), None, "{text}");
    }
}

/// Made once with `openssl req -x509 -newkey rsa:2048`; it opens nothing.
const RSA: (&str, &str, &str) = (include_str!("rsa.crt"), include_str!("rsa-pkcs1.txt"), include_str!("rsa-pkcs8.txt"));

#[test]
fn rsa_keys_are_matched_in_both_forms() {
    let (certificate, pkcs1, pkcs8) = RSA;
    for key in [pkcs1, pkcs8] {
        let read = Certificate::read(certificate.as_bytes(), key.as_bytes()).unwrap();
        assert_eq!((read.pairing, &*read.user), (KeyPairing::Matches, "system:admin"));
    }
    let other = super::super::testing::certificate("x", days(-1), days(1));
    assert_eq!(Certificate::read(other.pem.as_bytes(), pkcs1.as_bytes()), Err(CertificateFault::OtherKey));
    assert_eq!(Certificate::read(b"x", pkcs1.as_bytes()), Err(CertificateFault::NotPem));
    assert_eq!(Certificate::read(certificate.as_bytes(), b"x"), Err(CertificateFault::KeyNotPem));
}

fn said(bytes: &[u8]) -> String {
    match Document::read(bytes).and_then(|document| document.content()) {
        Ok(content) => format!("{content:?}"),
        Err(why) => format!("{why} {why:?}"),
    }
}

const CANARY: &str = "CANARY";

/// A good kubeconfig with some of its bytes changed.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let Config(value) = config().user(serde_json::json!({ "token": "CANARY", "password": "CANARY" }));
    let text = value.to_string().into_bytes();
    let length = text.len();
    prop::collection::vec((0..length, any::<u8>()), 0..8).prop_map(move |changes| {
        let mut text = text.clone();
        for (at, byte) in changes {
            text[at] = byte;
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_get_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        said(&bytes);
        if let Ok(text) = std::str::from_utf8(&bytes) {
            Token::parse(text);
            Server::parse(text);
        }
        Authorities::parse(&bytes);
    }

    #[test]
    fn a_damaged_kubeconfig_gets_an_answer_that_tells_no_secret(bytes in damaged()) {
        prop_assert!(!said(&bytes).contains(CANARY), "{}", said(&bytes));
    }

    #[test]
    fn a_damaged_token_gets_an_answer_that_tells_no_secret(at in 0..600usize, byte in 0x20u8..0x7f) {
        let mut url = url(&eks_query(DATE)).into_bytes();
        let at = at % url.len();
        url[at] = byte;
        let token = eks_of(&String::from_utf8(url).unwrap());
        let said = format!("{:?}", Token::parse(&token));
        prop_assert!(!said.contains(CANARY), "{said}");
        let mut cut = eks_of(&self::url(&eks_query(DATE)));
        cut.truncate(at);
        Token::parse(&cut);
    }

    #[test]
    fn yaml_of_any_shape_gets_an_answer(text in "[a-z: \\-\\[\\]{}&*!|>'\"\n\t#%@`0-9]{0,120}") {
        said(format!("clusters: {text}\nusers: CANARY").as_bytes());
        said(text.as_bytes());
    }
}
