//! Claims and the identity they become, or who refuses.

#![expect(clippy::too_many_lines, reason = "tables of cases")]

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;

const ISSUER: &str = "https://idp.example.com";

fn now() -> Timestamp {
    "2026-11-16T10:00:00Z".parse().unwrap()
}

fn newest() -> Gates {
    Gates::of([Gate::ExternalOidc, Gate::UidAndExtra, Gate::UpstreamParity])
}

/// A spec with one provider that has these mappings, and perhaps more.
fn spec(mappings: Json, more: Json) -> AuthSpec {
    let mut provider = json!({
        "name": "idp",
        "issuer": {"issuerURL": ISSUER, "audiences": ["app"]},
        "claimMappings": mappings,
    });
    for (name, value) in more.as_object().unwrap() {
        provider[name] = value.clone();
    }
    AuthSpec::from_json(&json!({"type": "OIDC", "oidcProviders": [provider]})).unwrap()
}

fn by_sub() -> Json {
    json!({"username": {"claim": "sub", "prefixPolicy": "NoPrefix"}})
}

fn token(claims: Json) -> Token {
    Token::read(&claims.to_string()).unwrap()
}

fn answer(spec: &AuthSpec, claims: Json) -> Answer {
    login(spec, &newest(), &token(claims), now())
}

fn refused_by(answer: &Answer) -> Option<&'static str> {
    match answer {
        Answer::Refused(refusal) => Some(refusal.by.as_str()),
        Answer::Accepted(_) | Answer::NotVerifiable(_) => None,
    }
}

/// Username, uid, groups and extra, in one text.
fn shown(answer: &Answer) -> String {
    match answer {
        Answer::Accepted(Identity { username, uid, groups, extra, .. }) => {
            format!("{username}|{uid}|{}|{extra:?}", groups.join(","))
        }
        Answer::Refused(refusal) => format!("refused by {}", refusal.by.as_str()),
        Answer::NotVerifiable(_) => "not verifiable".to_owned(),
    }
}

#[test]
fn a_name_from_an_address_needs_somebody_to_ask_whether_it_was_verified() {
    let named = |expression: &str| json!({"username": {"expression": expression}});
    let rule = |expression: &str| json!({"claimValidationRules": [{"type": "CEL", "cel": {"expression": expression, "message": "m"}}]});
    let mut with_extra = named("claims.email");
    with_extra["extra"] = json!([{"key": "example.org/v", "valueExpression": "string(claims.email_verified)"}]);
    let verified = "claims.?email_verified.orValue(true) == true";
    let cases = [
        ("nobody asks", named("claims.email"), json!({}), "refused by email-verified"),
        ("nobody asks, deeper", named("claims.?email.orValue('x')"), json!({}), "refused by email-verified"),
        ("a rule about something else", named("claims.email"), rule("claims.sub == '1'"), "refused by email-verified"),
        ("a rule asks", named("claims.email"), rule(verified), "j@x|1||{}"),
        ("an extra asks", with_extra, json!({}), "j@x|1||{\"example.org/v\": [\"true\"]}"),
        (
            "the name itself asks",
            named("claims.email_verified == true ? claims.email : 'nobody'"),
            json!({}),
            "j@x|1||{}",
        ),
        ("another claim", named("claims.sub"), json!({}), "1|1||{}"),
        ("not selected by name", named("claims['email']"), json!({}), "j@x|1||{}"),
    ];
    for (case, mappings, more, expected) in cases {
        let claims = json!({"sub": "1", "email": "j@x", "email_verified": true});
        assert_eq!(shown(&answer(&spec(mappings, more), claims)), expected, "case: {case}");
    }
}

#[test]
fn claims_that_would_be_fetched_make_it_not_verifiable_and_only_where_they_count() {
    let sources = json!({"externalClaimsSources": [{
        "url": {"hostname": "claims.example", "pathExpression": "'/x'"},
        "mappings": [{"name": "groups", "expression": "response.groups"}],
    }]});
    let spec = spec(by_sub(), sources);
    let with = |gates: &Gates, claims: Json| shown(&login(&spec, gates, &token(claims), now()));
    let sourcing = Gates::of([Gate::ExternalOidc, Gate::UidAndExtra, Gate::UpstreamParity, Gate::ExternalClaims]);
    assert_eq!(with(&sourcing, json!({"sub": "jane"})), "not verifiable");
    assert_eq!(with(&sourcing, json!({"sub": "jane", "aud": "x"})), "refused by audience", "that comes before");
    assert_eq!(with(&newest(), json!({"sub": "jane"})), "jane|jane||{}", "without the gate nobody fetches");
}

#[test]
fn names_and_groups_come_out_as_kube_apiserver_makes_them() {
    let email = |policy: &str| json!({"username": {"claim": "email", "prefixPolicy": policy}});
    let named = |expression: &str| json!({"username": {"expression": expression}});
    let grouped = |groups: Json| json!({"username": {"claim": "sub", "prefixPolicy": "NoPrefix"}, "groups": groups});
    let with_extra = |expression: &str| {
        let mut mappings = by_sub();
        mappings["extra"] = json!([{"key": "example.org/x", "valueExpression": expression}]);
        mappings
    };
    let jane = || json!({"sub": "jane"});
    let cases = [
        (
            "the issuer is the default prefix",
            json!({"username": {"claim": "sub"}}),
            jane(),
            "https://idp.example.com#jane|jane||{}",
        ),
        ("no prefix", by_sub(), jane(), "jane|jane||{}"),
        (
            "a prefix",
            json!({"username": {"claim": "sub", "prefixPolicy": "Prefix", "prefix": {"prefixString": "p:"}}}),
            jane(),
            "p:jane|jane||{}",
        ),
        ("e-mail has no default prefix", email(""), json!({"sub": "1", "email": "j@x"}), "j@x|1||{}"),
        (
            "e-mail that is verified",
            email(""),
            json!({"sub": "1", "email": "j@x", "email_verified": true}),
            "j@x|1||{}",
        ),
        (
            "e-mail that is not",
            email(""),
            json!({"sub": "1", "email": "j@x", "email_verified": false}),
            "refused by email-verified",
        ),
        (
            "e-mail that says so in a text",
            email("NoPrefix"),
            json!({"sub": "1", "email": "j@x", "email_verified": "true"}),
            "refused by email-verified",
        ),
        ("a name that is not there", by_sub(), json!({}), "refused by username"),
        (
            "a name that is a number",
            json!({"username": {"claim": "n"}}),
            json!({"sub": "1", "n": 5}),
            "refused by username",
        ),
        (
            "a name that is null",
            json!({"username": {"claim": "n", "prefixPolicy": "Prefix", "prefix": {"prefixString": "p:"}}}),
            json!({"sub": "1", "n": null}),
            "p:|1||{}",
        ),
        ("a name by expression", named("'u:' + claims.sub"), jane(), "u:jane|jane||{}"),
        ("an empty name by expression", named("''"), jane(), "refused by username"),
        ("a number by expression", named("1"), jane(), "refused by username"),
        ("no name by expression", named("claims.missing"), jane(), "refused by username"),
        ("an expression that does not compile", named("claims.a.map(x)"), jane(), "refused by username"),
        (
            "groups",
            grouped(json!({"claim": "g", "prefix": "g:"})),
            json!({"sub": "j", "g": ["a", "b"]}),
            "j|j|g:a,g:b|{}",
        ),
        ("one group", grouped(json!({"claim": "g"})), json!({"sub": "j", "g": "a"}), "j|j|a|{}"),
        ("no groups", grouped(json!({"claim": "g"})), json!({"sub": "j"}), "j|j||{}"),
        ("null groups", grouped(json!({"claim": "g", "prefix": "g:"})), json!({"sub": "j", "g": null}), "j|j||{}"),
        (
            "a null among groups",
            grouped(json!({"claim": "g", "prefix": "g:"})),
            json!({"sub": "j", "g": ["a", null]}),
            "j|j|g:a,g:|{}",
        ),
        ("groups that are numbers", grouped(json!({"claim": "g"})), json!({"sub": "j", "g": [1]}), "refused by groups"),
        (
            "groups that are an object",
            grouped(json!({"claim": "g"})),
            json!({"sub": "j", "g": {}}),
            "refused by groups",
        ),
        (
            "groups by expression",
            grouped(json!({"expression": "claims.a.g.map(x, 'g:' + x)"})),
            json!({"sub": "j", "a": {"g": ["a", "b"]}}),
            "j|j|g:a,g:b|{}",
        ),
        (
            "a list from the token",
            grouped(json!({"expression": "claims.g"})),
            json!({"sub": "j", "g": ["a", "", "b"]}),
            "j|j|a,b|{}",
        ),
        ("null by expression", grouped(json!({"expression": "claims.g"})), json!({"sub": "j", "g": null}), "j|j||{}"),
        (
            "split groups can't be read",
            grouped(json!({"expression": "claims.g.split(',')"})),
            json!({"sub": "j", "g": "a,b"}),
            "refused by groups",
        ),
        (
            "split groups that were mended",
            grouped(json!({"expression": "claims.g.split(',').map(x, x)"})),
            json!({"sub": "j", "g": "a,b"}),
            "j|j|a,b|{}",
        ),
        (
            "split groups with one added",
            grouped(json!({"expression": "claims.g.split(',') + ['c']"})),
            json!({"sub": "j", "g": "a,b"}),
            "j|j|a,b,c|{}",
        ),
        (
            "an optional in the list",
            grouped(json!({"expression": "[claims.?g]"})),
            json!({"sub": "j", "g": "a"}),
            "j|j|a|{}",
        ),
        (
            "a mixed list",
            grouped(json!({"expression": "claims.g"})),
            json!({"sub": "j", "g": ["a", 1]}),
            "refused by groups",
        ),
        (
            "groups that are kept elsewhere",
            grouped(json!({"claim": "g"})),
            json!({"sub": "j", "_claim_names": {"g": "s"}, "_claim_sources": {"s": {"endpoint": "https://x"}}}),
            "not verifiable",
        ),
        (
            "groups that nobody keeps",
            grouped(json!({"claim": "g"})),
            json!({"sub": "j", "_claim_names": {"g": "s"}}),
            "refused by groups",
        ),
        (
            "uid from a claim",
            json!({"username": {"claim": "sub", "prefixPolicy": "NoPrefix"}, "uid": {"claim": "oid"}}),
            json!({"sub": "j", "oid": "42"}),
            "j|42||{}",
        ),
        (
            "uid that is not there",
            json!({"username": {"claim": "sub", "prefixPolicy": "NoPrefix"}, "uid": {"claim": "oid"}}),
            jane(),
            "refused by uid",
        ),
        (
            "no sub and no uid",
            json!({"username": {"claim": "n", "prefixPolicy": "NoPrefix"}}),
            json!({"n": "j"}),
            "refused by uid",
        ),
        (
            "an empty uid by expression",
            json!({"username": {"claim": "sub", "prefixPolicy": "NoPrefix"}, "uid": {"expression": "''"}}),
            jane(),
            "jane|||{}",
        ),
        (
            "sub that is a number",
            json!({"username": {"claim": "n", "prefixPolicy": "NoPrefix"}}),
            json!({"n": "j", "sub": 1}),
            "refused by uid",
        ),
        (
            "the token's id",
            by_sub(),
            json!({"sub": "j", "jti": "abc"}),
            "j|j||{\"authentication.kubernetes.io/credential-id\": [\"JTI=abc\"]}",
        ),
        ("an empty token id", by_sub(), json!({"sub": "j", "jti": ""}), "j|j||{}"),
        ("extra", with_extra("claims.x"), json!({"sub": "j", "x": "y"}), "j|j||{\"example.org/x\": [\"y\"]}"),
        ("empty extra is left out", with_extra("claims.?x.orValue('')"), jane(), "jane|jane||{}"),
        ("extra without its claim", with_extra("claims.x"), jane(), "refused by extra"),
        ("extra that is a number", with_extra("claims.x"), json!({"sub": "j", "x": 1}), "refused by extra"),
    ];
    for (case, mappings, claims, expected) in cases {
        assert_eq!(shown(&answer(&spec(mappings, json!({})), claims)), expected, "case: {case}");
    }
}

#[test]
fn gates_decide_what_counts() {
    let mappings = json!({
        "username": {"claim": "sub", "prefixPolicy": "NoPrefix", "expression": "'by-expression'"},
        "groups": {"claim": "g", "expression": "'by-expression'"},
        "uid": {"claim": "missing"},
        "extra": [{"key": "example.org/x", "valueExpression": "claims.missing"}],
    });
    let more = json!({"userValidationRules": [{"expression": "false", "message": "never"}]});
    let spec = spec(mappings, more);
    let old = login(&spec, &Gates::default(), &token(json!({"sub": "j", "g": "a"})), now());
    assert_eq!(shown(&old), "j||a|{}");
    assert_eq!(refused_by(&answer(&spec, json!({"sub": "j", "g": "a"}))), Some("uid"));
}

#[test]
fn issuer_audience_and_time_come_first() {
    let spec_of = |issuer: &str, audiences: Json| {
        let provider = json!({
            "issuer": {"issuerURL": issuer, "audiences": audiences},
            "claimMappings": {"username": {"claim": "missing"}},
        });
        AuthSpec::from_json(&json!({"type": "OIDC", "oidcProviders": [provider]})).unwrap()
    };
    let seconds = now().as_second();
    let one = || spec_of(ISSUER, json!(["app"]));
    let two = || spec_of(ISSUER, json!(["app", "other"]));
    // A token that passes the first check is refused because the name is missing.
    let passed = "username";
    let cases = [
        ("nothing given", one(), json!({}), passed),
        ("another issuer", one(), json!({"iss": "https://other"}), "issuer"),
        ("a slash too many", one(), json!({"iss": "https://idp.example.com/"}), "issuer"),
        ("an issuer that is not text", one(), json!({"iss": 1}), "issuer"),
        (
            "google without its scheme",
            spec_of("https://accounts.google.com", json!(["app"])),
            json!({"iss": "accounts.google.com"}),
            passed,
        ),
        ("another audience", one(), json!({"aud": "x"}), "audience"),
        ("one of several audiences", one(), json!({"aud": ["x", "app"]}), passed),
        ("the second of ours", two(), json!({"aud": "other"}), passed),
        ("none of ours", two(), json!({"aud": ["x"]}), "audience"),
        ("no audience at all", one(), json!({"aud": []}), "audience"),
        ("an audience that is a number", one(), json!({"aud": 1}), "audience"),
        ("expired", one(), json!({"exp": seconds - 1}), "expired"),
        ("expiring now", one(), json!({"exp": seconds}), passed),
        ("an end that is a text", one(), json!({"exp": "soon"}), "expired"),
        ("an end in a text", one(), json!({"exp": (seconds + 60).to_string()}), passed),
        ("an end with a fraction", one(), json!({"exp": 1e10}), passed),
        ("an end that is null", one(), json!({"exp": null}), "expired"),
        ("not yet, within a minute", one(), json!({"nbf": seconds + 60}), passed),
        ("not yet", one(), json!({"nbf": seconds + 61}), "expired"),
        ("a beginning that is null", one(), json!({"nbf": null}), passed),
        ("made at no time", one(), json!({"iat": "yesterday"}), "expired"),
        ("one audience is looked at before the time", one(), json!({"aud": "x", "exp": 1}), "audience"),
        ("several are looked at after it", two(), json!({"aud": "x", "exp": 1}), "expired"),
        ("no providers", AuthSpec::from_json(&json!({"type": "OIDC"})).unwrap(), json!({}), "issuer"),
    ];
    for (case, spec, claims, expected) in cases {
        assert_eq!(refused_by(&answer(&spec, claims)), Some(expected), "case: {case}");
    }
}

#[test]
fn what_was_not_given_is_assumed_and_listed() {
    let accepted = |claims: Json| match answer(&spec(by_sub(), json!({})), claims) {
        Answer::Accepted(identity) => identity.assumed,
        other @ (Answer::Refused(_) | Answer::NotVerifiable(_)) => panic!("{other:?}"),
    };
    assert_eq!(accepted(json!({"sub": "j"})), ["iss", "aud", "exp"]);
    assert_eq!(
        accepted(json!({"sub": "j", "iss": ISSUER, "aud": "app", "exp": 4_000_000_000_u64})),
        Vec::<&str>::new()
    );
    // An expression sees what was assumed.
    let by_issuer = spec(json!({"username": {"expression": "claims.iss + claims.aud"}}), json!({}));
    assert_eq!(shown(&answer(&by_issuer, json!({"sub": "j"}))), "https://idp.example.comapp|j||{}");
}

#[test]
fn rules_refuse_with_their_message() {
    let required = |claim: &str, value: &str| json!({"type": "RequiredClaim", "requiredClaim": {"claim": claim, "requiredValue": value}});
    let cel =
        |expression: &str, message: &str| json!({"type": "CEL", "cel": {"expression": expression, "message": message}});
    let user =
        |expression: &str| json!({"userValidationRules": [{"expression": expression, "message": "not this user"}]});
    let rules = |rules: Json| json!({"claimValidationRules": rules});
    let refused = |by: RefusedBy, rule: &str, message: &str| {
        Answer::Refused(Refusal { by, rule: rule.to_owned(), message: message.to_owned() })
    };
    use RefusedBy::{ClaimRule, UserRule};
    let cases = [
        ("a required claim", rules(json!([required("hd", "x")])), json!({"hd": "x"}), None),
        (
            "another value",
            rules(json!([required("hd", "x")])),
            json!({"hd": "y"}),
            Some(refused(ClaimRule, "hd = x", "required claim hd has another value")),
        ),
        (
            "no such claim",
            rules(json!([required("hd", "x")])),
            json!({}),
            Some(refused(ClaimRule, "hd = x", "required claim hd is not in the token")),
        ),
        (
            "a claim that is a number",
            rules(json!([required("hd", "1")])),
            json!({"hd": 1}),
            Some(refused(ClaimRule, "hd = 1", "required claim hd is not text")),
        ),
        ("a rule that holds", rules(json!([cel("claims.n > 1", "too few")])), json!({"n": 2}), None),
        (
            "a rule that does not",
            rules(json!([cel("claims.n > 1", "too few")])),
            json!({"n": 1}),
            Some(refused(ClaimRule, "claims.n > 1", "too few")),
        ),
        (
            "a rule without a value",
            rules(json!([cel("claims.n > 1", "too few"), cel("false", "never")])),
            json!({}),
            Some(refused(ClaimRule, "claims.n > 1", "the expression has no value for this token: no such key: n")),
        ),
        ("a user rule that holds", user("!user.username.startsWith('system:')"), json!({}), None),
        (
            "a user rule that does not",
            user("user.username == 'other'"),
            json!({}),
            Some(refused(UserRule, "user.username == 'other'", "not this user")),
        ),
        (
            "a user rule on groups and extra",
            user("user.groups == ['a'] && user.extra == {} && user.uid == 'j'"),
            json!({}),
            None,
        ),
        (
            "claims come before users",
            json!({"claimValidationRules": [cel("false", "claims first")], "userValidationRules": [{"expression": "false", "message": "m"}]}),
            json!({}),
            Some(refused(ClaimRule, "false", "claims first")),
        ),
    ];
    for (case, more, claims, expected) in cases {
        let mut mappings = by_sub();
        mappings["groups"] = json!({"claim": "g"});
        let mut claims = claims;
        claims["sub"] = json!("j");
        claims["g"] = json!("a");
        let found = answer(&spec(mappings, more), claims);
        match expected {
            None => assert!(matches!(found, Answer::Accepted(_)), "case: {case}: {found:?}"),
            Some(expected) => assert_eq!(found, expected, "case: {case}"),
        }
    }
}

#[test]
fn reserved_names_are_let_through_and_pointed_at() {
    let mut mappings = by_sub();
    mappings["groups"] = json!({"claim": "g"});
    let Answer::Accepted(identity) =
        answer(&spec(mappings, json!({})), json!({"sub": "system:admin", "g": ["a", "system:masters"]}))
    else {
        panic!("nothing refuses them")
    };
    let expected = [Reserved::Username("system:admin".into()), Reserved::Group("system:masters".into())];
    assert_eq!(identity.reserved, expected);
}

#[test]
fn a_token_is_read_in_both_forms_and_refused_clearly() {
    // {"alg":"RS256"}, {"alg":"none"}, {"alg":"HS256"}, {}, {"sub":"j"}, [1]
    let (rs, none, hs, nothing, payload, list) =
        ("eyJhbGciOiJSUzI1NiJ9", "eyJhbGciOiJub25lIn0", "eyJhbGciOiJIUzI1NiJ9", "e30", "eyJzdWIiOiJqIn0", "WzFd");
    let claims = |text: &str| Token::read(text).map(|token| Json::Object(token.claims).to_string());
    let good = Ok(r#"{"sub":"j"}"#.to_owned());
    let cases = [
        ("claims", r#" {"sub":"j"} "#.to_owned(), good.clone()),
        ("a JWT", format!("{rs}.{payload}.c2ln\n"), good),
        ("nothing", " ".to_owned(), Err(BadToken::Empty)),
        ("a list", "[1]".to_owned(), Err(BadToken::NoObject)),
        ("a text", "\"x\"".to_owned(), Err(BadToken::NoObject)),
        ("a number", "5".to_owned(), Err(BadToken::NoObject)),
        ("broken JSON", "{\"sub\":".to_owned(), Err(BadToken::NoJson { line: 1, column: 7 })),
        ("two parts", format!("{rs}.{payload}"), Err(BadToken::NoJwt)),
        ("four parts", format!("{rs}.{payload}.a.b"), Err(BadToken::NoJwt)),
        ("a header that is no base64", format!("!.{payload}.a"), Err(BadToken::Base64(token::Part::Header))),
        ("padding", format!("{rs}.eyJzdWIiOiJqIn0=.a"), Err(BadToken::Base64(token::Part::Payload))),
        ("a payload that is a list", format!("{rs}.{list}.a"), Err(BadToken::PartNoObject(token::Part::Payload))),
        ("an unsigned token", format!("{none}.{payload}."), Err(BadToken::Algorithm("none".into()))),
        ("a shared secret", format!("{hs}.{payload}.a"), Err(BadToken::Algorithm("HS256".into()))),
        ("no algorithm", format!("{nothing}.{payload}.a"), Err(BadToken::NoAlgorithm)),
        ("too long", "a".repeat(TOKEN_MAX + 1), Err(BadToken::TooLong)),
        ("deep", "[".repeat(5000), Err(BadToken::NoJson { line: 1, column: 128 })),
    ];
    for (case, text, expected) in cases {
        assert_eq!(claims(&text), expected, "case: {case}");
    }
}

#[test]
fn nothing_of_a_token_is_in_its_debug_but_names() {
    assert_eq!(format!("{:?}", token(json!({"sub": "secret-name"}))), r#"{"sub"}"#);
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        "[a-z:,@.]{0,8}".prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
            prop::collection::btree_map("[a-c]", inner, 0..3).prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_claims_have_an_answer(
        claims in prop::collection::btree_map(
            prop::sample::select(&["sub", "email", "email_verified", "g", "a", "aud", "exp", "nbf", "jti", "_claim_names"][..]),
            any_json(),
            0..8,
        )
    ) {
        let mappings = json!({
            "username": {"expression": "claims.?email.orValue('x') + string(claims.sub)"},
            "groups": {"expression": "claims.a.g.map(x, string(x))"},
            "extra": [{"key": "example.org/x", "valueExpression": "claims.?jti.orValue('')"}],
        });
        let more = json!({"claimValidationRules": [{"type": "CEL", "cel": {"expression": "claims.?email_verified.orValue(true) == true", "message": "m"}}]});
        let claims: Json = Json::Object(claims.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
        let _ = answer(&spec(mappings, more), claims.clone());
        let _ = answer(&spec(json!({"username": {"claim": "email"}, "groups": {"claim": "g"}}), json!({})), claims);
    }

    #[test]
    fn any_text_is_a_token_or_an_error(text in "\\PC{0,60}") {
        let _ = Token::read(&text);
    }
}
