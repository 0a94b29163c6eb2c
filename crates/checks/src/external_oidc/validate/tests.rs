//! Every code with the path it points at, and who refuses.

#![expect(clippy::too_many_lines, reason = "tables of cases")]

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::check::{CaBundle, Checked, Inputs, Presence, Provenance, References, Verdict, check};
use super::super::fields::unknown_fields;
use super::super::gates::{Gate, Gates};
use super::super::problem::{Code, Refuser, WarningCode};
use super::super::spec::{AuthSpec, ClientStatus, Component, TrustedIssuer};

const CERTIFICATE: &str = include_str!("../../../../net/src/fixtures/ec.crt");
const ISSUER: &str = "https://idp.example.com";

/// A cluster whose Authentication is valid and dull.
pub struct Given {
    spec: Value,
    gates: Gates,
    ca: Vec<(&'static str, CaBundle<'static>)>,
    secrets: Vec<(&'static str, Presence)>,
    issuers: Option<Vec<TrustedIssuer>>,
    present: Option<&'static str>,
    clients: Vec<ClientStatus>,
    provenance: Provenance,
    references: References<'static>,
}

pub fn given() -> Given {
    let provider = json!({
        "name": "idp",
        "issuer": {"issuerURL": ISSUER, "audiences": ["app"]},
        "claimMappings": {"username": {"claim": "sub"}},
    });
    Given {
        spec: json!({"type": "OIDC", "oidcProviders": [provider]}),
        gates: Gates::of([Gate::ExternalOidc, Gate::UidAndExtra, Gate::UpstreamParity]),
        ca: Vec::new(),
        secrets: Vec::new(),
        issuers: Some(Vec::new()),
        present: None,
        clients: Vec::new(),
        provenance: Provenance::Stored,
        references: References::OpenshiftConfig,
    }
}

impl Given {
    /// Sets a field of the provider, `issuer/audiences/0`, or removes it with null.
    fn set(mut self, path: &str, value: Value) -> Self {
        let mut at = &mut self.spec["oidcProviders"][0];
        for part in path.split('/') {
            at = match part.parse::<usize>() {
                Ok(index) => &mut at[index],
                Err(_) => &mut at[part],
            };
        }
        *at = value;
        self
    }

    fn spec(mut self, name: &str, value: Value) -> Self {
        self.spec[name] = value;
        self
    }

    fn gates(mut self, gates: impl IntoIterator<Item = Gate>) -> Self {
        self.gates = Gates::of(gates);
        self
    }

    fn ca(mut self, name: &'static str, bundle: CaBundle<'static>) -> Self {
        self.ca.push((name, bundle));
        self.set("issuer/issuerCertificateAuthority", json!({"name": name}))
    }

    fn issuers(mut self, issuers: Option<Vec<(&str, Option<&str>)>>) -> Self {
        let issuer = |(name, expires): (&str, Option<&str>)| TrustedIssuer {
            name: name.to_owned(),
            expires: expires.map(|time| time.parse().unwrap()),
        };
        self.issuers = issuers.map(|issuers| issuers.into_iter().map(issuer).collect());
        self
    }

    fn check(&self) -> Checked {
        let spec = AuthSpec::from_json(&self.spec).unwrap();
        let ca = |name: &str| {
            let found = self.ca.iter().find(|(known, _)| *known == name);
            found.map_or(CaBundle::Absent, |(_, bundle)| *bundle)
        };
        let secret = |name: &str| {
            let found = self.secrets.iter().find(|(known, _)| *known == name);
            found.map_or(Presence::Absent, |(_, presence)| *presence)
        };
        check(&Inputs {
            authentication: &spec,
            provenance: self.provenance,
            unknown_fields: &unknown_fields(&self.spec),
            references: self.references,
            clients: &self.clients,
            gates: &self.gates,
            ca: &ca,
            secret: &secret,
            service_account_issuers: self.issuers.as_deref(),
            present: self.present,
            now: "2026-11-16T10:00:00Z".parse().unwrap(),
        })
    }
}

/// What a case comes to: its verdict, and each problem's code, path behind the provider, and refuser.
type Outcome = (Verdict, Vec<(Code, String, Refuser)>);

fn outcome(checked: &Checked) -> Outcome {
    let problems = checked.problems.iter();
    let short = |path: &str| path.strip_prefix("spec.oidcProviders[0].").unwrap_or(path).to_owned();
    (checked.verdict, problems.map(|problem| (problem.code, short(&problem.path), problem.refuser)).collect())
}

fn long(length: usize) -> Value {
    json!("a".repeat(length))
}

fn rules(rules: Value) -> Given {
    given().set("claimValidationRules", rules)
}

fn cel(expression: &str) -> Value {
    json!({"type": "CEL", "cel": {"expression": expression, "message": "m"}})
}

fn required(claim: &str) -> Value {
    json!({"type": "RequiredClaim", "requiredClaim": {"claim": claim, "requiredValue": "v"}})
}

fn extra(key: &str) -> Given {
    given().set("claimMappings/extra", json!([{"key": key, "valueExpression": "claims.x"}]))
}

/// One problem each, and nothing beside it.
fn single_problems() -> Vec<(&'static str, Given, Code, &'static str, Refuser)> {
    use Code::*;
    use Refuser::{KubeApiserver, Operator, Schema};
    let url = "issuer.issuerURL";
    let discovery = "issuer.discoveryURL";
    let username = "claimMappings.username";
    let expression = "claimMappings.username.expression";
    let key = "claimMappings.extra[0].key";
    let discover = |text: &str| given().set("issuer/discoveryURL", json!(text));
    let named = |text: &str| given().set("claimMappings/username", json!({"expression": text}));
    let prefixed = |policy: &str, prefix: Value| {
        given().set("claimMappings/username", json!({"claim": "sub", "prefixPolicy": policy, "prefix": prefix}))
    };
    let users = |rules: Value| given().set("userValidationRules", rules);
    vec![
        ("no issuer", given().set("issuer/issuerURL", json!(null)), IssuerUrlInvalid, url, Schema),
        ("http", given().set("issuer/issuerURL", json!("http://x")), IssuerUrlInvalid, url, Schema),
        ("no URL", given().set("issuer/issuerURL", json!("idp.example.com")), IssuerUrlInvalid, url, Schema),
        ("a bad escape", given().set("issuer/issuerURL", json!("https://%zz")), IssuerUrlInvalid, url, Schema),
        ("a query", given().set("issuer/issuerURL", json!("https://x/?a=b")), IssuerUrlInvalid, url, Schema),
        (
            "an unreadable query",
            given().set("issuer/issuerURL", json!("https://x/?;")),
            IssuerUrlInvalid,
            url,
            KubeApiserver,
        ),
        ("a fragment", given().set("issuer/issuerURL", json!("https://x/#a")), IssuerUrlInvalid, url, Schema),
        ("a user", given().set("issuer/issuerURL", json!("https://u@x/")), IssuerUrlInvalid, url, Schema),
        (
            "a long issuer",
            given().set("issuer/issuerURL", json!(format!("https://{}", "a".repeat(505)))),
            TooLong,
            url,
            Schema,
        ),
        (
            "the service account issuer of the spec",
            given().spec("serviceAccountIssuer", json!(ISSUER)),
            IssuerIsServiceAccountIssuer,
            url,
            Operator,
        ),
        (
            "a service account issuer that is still trusted",
            given().issuers(Some(vec![("https://new", None), (ISSUER, Some("2026-11-16T10:00:01Z"))])),
            IssuerIsServiceAccountIssuer,
            url,
            KubeApiserver,
        ),
        (
            "the default service account issuer",
            given().set("issuer/issuerURL", json!("https://kubernetes.default.svc")),
            IssuerIsServiceAccountIssuer,
            url,
            KubeApiserver,
        ),
        ("no audience", given().set("issuer/audiences", json!([])), AudiencesEmpty, "issuer.audiences", Schema),
        (
            "an empty audience",
            given().set("issuer/audiences", json!(["a", ""])),
            AudiencesEmpty,
            "issuer.audiences[1]",
            Schema,
        ),
        (
            "an audience twice",
            given().set("issuer/audiences", json!(["a", "b", "a"])),
            AudienceDuplicate,
            "issuer.audiences[2]",
            Schema,
        ),
        (
            "eleven audiences",
            given().set("issuer/audiences", (0..11).map(|n| json!(n.to_string())).collect()),
            TooMany,
            "issuer.audiences",
            Schema,
        ),
        ("discovery over http", discover("http://d/x"), DiscoveryUrlInvalid, discovery, Schema),
        ("empty discovery", discover(""), DiscoveryUrlInvalid, discovery, Schema),
        ("discovery without host", discover("https:///x"), DiscoveryUrlInvalid, discovery, Operator),
        ("discovery with a user", discover("https://user@d/x"), DiscoveryUrlInvalid, discovery, Operator),
        ("discovery with a query", discover("https://d/x?a=b"), DiscoveryUrlInvalid, discovery, Schema),
        ("discovery with an empty fragment", discover("https://d/x#"), DiscoveryUrlInvalid, discovery, Schema),
        ("long discovery", discover(&format!("https://d/{}", "a".repeat(2040))), TooLong, discovery, Schema),
        ("discovery at the issuer", discover("https://idp.example.com//"), DiscoveryUrlEqualsIssuer, discovery, Schema),
        (
            "no CA",
            given().ca("ca", CaBundle::Absent),
            CaConfigmapMissing,
            "issuer.issuerCertificateAuthority.name",
            Operator,
        ),
        (
            "a CA without its key",
            given().ca("ca", CaBundle::KeyMissing),
            CaKeyMissing,
            "issuer.issuerCertificateAuthority.name",
            Operator,
        ),
        (
            "a CA that is none",
            given().ca("ca", CaBundle::Text("  ")),
            CaInvalid,
            "issuer.issuerCertificateAuthority.name",
            Operator,
        ),
        ("no username", given().set("claimMappings/username", json!({})), UsernameClaimOrExpression, username, Schema),
        (
            "two usernames",
            given().set("claimMappings/username", json!({"claim": "a", "expression": "claims.b"})),
            UsernameClaimOrExpression,
            username,
            Schema,
        ),
        (
            "a username expression before its gate",
            named("claims.sub").gates([Gate::ExternalOidc, Gate::UidAndExtra]),
            UsernameClaimOrExpression,
            username,
            Operator,
        ),
        (
            "no prefix for the policy",
            prefixed("Prefix", json!(null)),
            UsernamePrefixMissing,
            "claimMappings.username.prefix.prefixString",
            Schema,
        ),
        (
            "an empty prefix",
            prefixed("Prefix", json!({"prefixString": ""})),
            UsernamePrefixMissing,
            "claimMappings.username.prefix.prefixString",
            Schema,
        ),
        (
            "a prefix without its policy",
            prefixed("NoPrefix", json!({"prefixString": "x"})),
            UsernamePrefixWithoutPolicy,
            "claimMappings.username.prefix.prefixString",
            Schema,
        ),
        (
            "a prefix with an expression",
            given().set(
                "claimMappings/username",
                json!({"expression": "claims.sub", "prefixPolicy": "Prefix", "prefix": {"prefixString": "x"}}),
            ),
            UsernamePrefixWithExpression,
            "claimMappings.username.prefixPolicy",
            Schema,
        ),
        (
            "an unknown policy",
            prefixed("Never", json!(null)),
            UsernamePrefixPolicyUnknown,
            "claimMappings.username.prefixPolicy",
            Schema,
        ),
        (
            "a long claim",
            given().set("claimMappings/username/claim", long(257)),
            TooLong,
            "claimMappings.username.claim",
            Schema,
        ),
        ("a long expression", named(&format!("claims.{}", "a".repeat(1020))), TooLong, expression, Schema),
        (
            "groups twice",
            given().set("claimMappings/groups", json!({"claim": "g", "expression": "claims.h"})),
            GroupsClaimAndExpression,
            "claimMappings.groups",
            Schema,
        ),
        (
            "a groups prefix with an expression",
            given().set("claimMappings/groups", json!({"prefix": "g", "expression": "claims.h"})),
            GroupsPrefixWithExpression,
            "claimMappings.groups.prefix",
            Schema,
        ),
        (
            "an empty uid",
            given().set("claimMappings/uid", json!({})),
            UidClaimOrExpression,
            "claimMappings.uid",
            Schema,
        ),
        (
            "two uids",
            given().set("claimMappings/uid", json!({"claim": "a", "expression": "claims.b"})),
            UidClaimOrExpression,
            "claimMappings.uid",
            Schema,
        ),
        ("no extra key", extra(""), ExtraKeyMissing, key, Schema),
        ("an extra key without path", extra("team"), ExtraKeyInvalid, key, Schema),
        ("an extra key with nothing behind", extra("example.org/"), ExtraKeyInvalid, key, Schema),
        ("a reserved extra key", extra("x.openshift.io/a"), ExtraKeyInvalid, key, Schema),
        ("a domain in upper case", extra("Example.org/a"), ExtraKeyInvalid, key, Schema),
        ("a path in upper case", extra("example.org/Team"), ExtraKeyInvalid, key, KubeApiserver),
        ("a blank in the path", extra("example.org/my team"), ExtraKeyInvalid, key, KubeApiserver),
        ("a long extra key", extra(&format!("example.org/{}", "a".repeat(500))), TooLong, key, Schema),
        (
            "an extra key twice",
            given().set(
                "claimMappings/extra",
                json!([
                    {"key": "example.org/a", "valueExpression": "claims.x"},
                    {"key": "example.org/a", "valueExpression": "claims.y"},
                ]),
            ),
            ExtraKeyDuplicate,
            "claimMappings.extra[1].key",
            Schema,
        ),
        (
            "no extra expression",
            given().set("claimMappings/extra", json!([{"key": "example.org/a"}])),
            ExtraExpressionMissing,
            "claimMappings.extra[0].valueExpression",
            Schema,
        ),
        (
            "thirty-three extras",
            given().set(
                "claimMappings/extra",
                (0..33).map(|n| json!({"key": format!("example.org/{n}"), "valueExpression": "claims.x"})).collect(),
            ),
            TooMany,
            "claimMappings.extra",
            Schema,
        ),
        (
            "a rule without body",
            rules(json!([{"type": "RequiredClaim"}])),
            ClaimRuleBodyMissing,
            "claimValidationRules[0].requiredClaim",
            Schema,
        ),
        (
            "an expression rule without body",
            rules(json!([{"type": "CEL"}])),
            ClaimRuleBodyMissing,
            "claimValidationRules[0].cel",
            Schema,
        ),
        (
            "a rule without value",
            rules(json!([{"type": "RequiredClaim", "requiredClaim": {"claim": "a"}}])),
            ClaimRuleBodyMissing,
            "claimValidationRules[0].requiredClaim.requiredValue",
            Schema,
        ),
        ("a rule of no type", rules(json!([{}])), ClaimRuleTypeUnknown, "claimValidationRules[0].type", Schema),
        (
            "a required claim twice",
            rules(json!([required("a"), required("a")])),
            ClaimRuleDuplicate,
            "claimValidationRules[1].requiredClaim.claim",
            KubeApiserver,
        ),
        (
            "an expression twice",
            rules(json!([cel("true"), cel("true")])),
            ClaimRuleDuplicate,
            "claimValidationRules[1].cel.expression",
            KubeApiserver,
        ),
        (
            "a rule without message",
            rules(json!([{"type": "CEL", "cel": {"expression": "true"}}])),
            MessageMissing,
            "claimValidationRules[0].cel.message",
            Schema,
        ),
        (
            "a long message",
            rules(json!([{"type": "CEL", "cel": {"expression": "true", "message": "a".repeat(257)}}])),
            TooLong,
            "claimValidationRules[0].cel.message",
            Schema,
        ),
        (
            "a rule that is no bool",
            rules(json!([cel("claims.email_verified")])),
            CelNotBool,
            "claimValidationRules[0].cel.expression",
            Operator,
        ),
        (
            "a rule that does not compile",
            rules(json!([cel("claim.x == 1")])),
            CelCompile,
            "claimValidationRules[0].cel.expression",
            Operator,
        ),
        ("a name that does not compile", named("claims.roles.filter(r, true)"), CelCompile, expression, Operator),
        (
            "an empty groups expression",
            given().set("claimMappings/groups", json!({"expression": ""})),
            CelCompile,
            "claimMappings.groups.expression",
            Schema,
        ),
        (
            "a user rule without expression",
            users(json!([{"message": "m"}])),
            UserRuleExpressionMissing,
            "userValidationRules[0].expression",
            Schema,
        ),
        ("no user rules in the list", users(json!([])), UserRuleExpressionMissing, "userValidationRules", Schema),
        (
            "a user rule twice",
            users(json!([{"expression": "true", "message": "m"}, {"expression": "true", "message": "n"}])),
            UserRuleDuplicate,
            "userValidationRules[1].expression",
            Schema,
        ),
        (
            "a user field that is none",
            users(json!([{"expression": "user.name == 'a'", "message": "m"}])),
            CelCompile,
            "userValidationRules[0].expression",
            Operator,
        ),
        (
            "sixty-five user rules",
            users((0..65).map(|n| json!({"expression": format!("{n} == {n}"), "message": "m"})).collect()),
            TooMany,
            "userValidationRules",
            Schema,
        ),
        (
            "e-mail without a look at its verification",
            named("claims.email"),
            EmailVerifiedMissing,
            expression,
            Operator,
        ),
        (
            "a long component",
            given().set(
                "oidcClients",
                json!([{"componentName": "a".repeat(257), "componentNamespace": "n", "clientID": "c"}]),
            ),
            TooLong,
            "oidcClients[0].componentName",
            Schema,
        ),
    ]
}

#[test]
fn each_problem_has_its_code_its_path_and_its_refuser() {
    for (case, given, code, path, refuser) in single_problems() {
        let verdict = match refuser {
            Refuser::Schema | Refuser::Operator => Verdict::Invalid,
            Refuser::KubeApiserver => Verdict::KasWouldRefuse,
            Refuser::Nobody => Verdict::Lockout,
        };
        let checked = given.check();
        assert_eq!(outcome(&checked), (verdict, vec![(code, path.to_owned(), refuser)]), "case: {case}");
        assert_eq!(checked.rendered.is_some(), verdict == Verdict::KasWouldRefuse, "case: {case}");
        assert!(checked.problems.iter().all(|problem| !problem.why.is_empty() && !problem.remedy().is_empty()));
    }
}

#[test]
fn no_code_goes_without_a_case() {
    let covered: BTreeSet<Code> = single_problems().into_iter().map(|(_, _, code, _, _)| code).collect();
    // The first two are about providers, not about one of them; the others have tests of their own: fields of files, and
    // blocks of HostedClusters.
    let others = BTreeSet::from([Code::NoProviders, Code::ProviderCount, Code::UnknownField, Code::TypeEmpty]);
    let missing: Vec<&str> = Code::ALL
        .iter()
        .filter(|code| !covered.contains(code) && !others.contains(code))
        .map(|code| code.as_str())
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn what_upstream_takes_is_valid() {
    let email = json!({"expression": "claims.email_verified == true ? claims.email : claims.sub"});
    let indexed = json!({"expression": "claims['email']"});
    let cases = [
        ("the least", given()),
        ("a bundle", given().ca("ca", CaBundle::Text(CERTIFICATE))),
        ("a port nobody has", given().set("issuer/issuerURL", json!("https://x:99999/"))),
        ("an empty query and fragment", given().set("issuer/issuerURL", json!("https://x/?#"))),
        (
            "an expired service account issuer",
            given().issuers(Some(vec![(ISSUER, Some("2026-11-16T10:00:00Z")), ("https://new", None)])),
        ),
        (
            "the default issuer where another is named",
            given()
                .set("issuer/issuerURL", json!("https://kubernetes.default.svc"))
                .spec("serviceAccountIssuer", json!("https://sa")),
        ),
        ("e-mail that is looked at", given().set("claimMappings/username", email)),
        ("e-mail by index, which upstream does not see", given().set("claimMappings/username", indexed)),
        (
            "e-mail, and a rule that looks",
            given()
                .set("claimMappings/username", json!({"expression": "claims.?email.orValue('x')"}))
                .set("claimValidationRules", json!([cel("claims.?email_verified.orValue(true) == true")])),
        ),
        ("extra with a comma", extra("example.org/a,b")),
        ("a claim of 256 letters", given().set("claimMappings/username/claim", long(256))),
        ("256 letters that are not ASCII", given().set("claimMappings/username/claim", json!("ä".repeat(256)))),
        ("rules on different claims", rules(json!([required("a"), required("b"), cel("true"), cel("false")]))),
        (
            "what no gate lets in",
            given().gates([]).set("claimMappings/uid", json!({})).set("userValidationRules", json!([])),
        ),
        ("a CEL rule before its gate", rules(json!([cel("true")])).gates([Gate::ExternalOidc])),
    ];
    for (case, given) in cases {
        let checked = given.check();
        assert_eq!(outcome(&checked), (Verdict::Valid, vec![]), "case: {case}");
        assert!(checked.rendered.is_some(), "case: {case}");
    }
}

#[test]
fn providers_are_counted() {
    let none = given().spec("oidcProviders", json!([])).check();
    assert_eq!(
        outcome(&none),
        (Verdict::Lockout, vec![(Code::NoProviders, "spec.oidcProviders".into(), Refuser::Nobody)])
    );
    assert!(none.rendered.is_some(), "the operator writes it all the same");
    let provider = given().spec["oidcProviders"][0].clone();
    let two = given().spec("oidcProviders", json!([provider, provider])).check();
    assert_eq!(
        outcome(&two),
        (Verdict::Invalid, vec![(Code::ProviderCount, "spec.oidcProviders".into(), Refuser::Schema)])
    );
}

#[test]
fn another_type_is_not_judged() {
    for kind in ["", "IntegratedOAuth", "None"] {
        let checked = given().spec("type", json!(kind)).set("issuer/issuerURL", json!("http://x")).check();
        assert_eq!((checked.verdict, checked.problems.len(), checked.rendered), (Verdict::Valid, 0, None), "{kind}");
    }
}

#[test]
fn all_problems_are_found_at_once() {
    let checked = given()
        .set("issuer/issuerURL", json!("http://x"))
        .set("issuer/audiences", json!([]))
        .set("claimMappings/username", json!({"claim": "sub", "prefixPolicy": "Prefix"}))
        .set("claimValidationRules", json!([required("a"), required("a"), {"type": "X"}]))
        .check();
    let codes: Vec<&str> = checked.problems.iter().map(|problem| problem.code.as_str()).collect();
    let expected = [
        "issuer-url-invalid",
        "audiences-empty",
        "username-prefix-missing",
        "claim-rule-duplicate",
        "claim-rule-type-unknown",
    ];
    assert_eq!((checked.verdict, codes.as_slice()), (Verdict::Invalid, &expected[..]));
}

#[test]
fn what_is_not_known_is_unknown_unless_something_else_decides() {
    let no_issuers = || given().issuers(None);
    let no_bundle = || given().ca("ca", CaBundle::Unknown);
    let duplicate = |given: Given| given.set("claimValidationRules", json!([required("a"), required("a")]));
    let cases = [
        ("the trusted issuers are not known", no_issuers(), Verdict::Unknown, true),
        ("the bundle is not known", no_bundle(), Verdict::Unknown, false),
        ("kube-apiserver refuses anyway", duplicate(no_issuers()), Verdict::KasWouldRefuse, true),
        ("the operator might refuse first", duplicate(no_bundle()), Verdict::Unknown, false),
        ("the schema refuses anyway", no_bundle().set("issuer/audiences", json!([])), Verdict::Invalid, false),
        ("nobody can log in anyway", no_issuers().spec("oidcProviders", json!([])), Verdict::Lockout, true),
        (
            "an expression beyond this program",
            given().set("claimMappings/username", json!({"expression": "google.protobuf.StringValue{value: 'x'}"})),
            Verdict::Unknown,
            false,
        ),
        (
            "a file with a client secret in it",
            given().gates(Gate::ALL).set(
                "externalClaimsSources",
                json!([{"authentication": {"type": "ClientCredential"}, "url": {}, "mappings": []}]),
            ),
            Verdict::Unknown,
            false,
        ),
    ];
    for (case, given, verdict, written) in cases {
        let checked = given.check();
        assert_eq!((checked.verdict, checked.rendered.is_some()), (verdict, written), "case: {case}: {checked:?}");
        assert_eq!(checked.unknowns.is_empty(), verdict == Verdict::Lockout, "case: {case}");
    }
}

#[test]
fn expressions_of_claims_sources_are_said_to_be_unverified_and_change_no_verdict() {
    let source = json!([{"url": {"hostname": "claims.example", "pathExpression": "'/x'"},
        "mappings": [{"name": "groups", "expression": "response.groups"}], "predicates": [{"expression": "true"}]}]);
    let sourced =
        |gates: &[Gate]| given().gates(gates.iter().copied()).set("externalClaimsSources", source.clone()).check();
    let checked = sourced(&Gate::ALL);
    assert_eq!((checked.verdict, checked.rendered.is_some()), (Verdict::Valid, true), "{checked:?}");
    let [said] = checked.unknowns.as_slice() else { panic!("{checked:?}") };
    assert!(said.contains("externalClaimsSources[0]") && said.contains("not verifiable here"), "{said}");
    let off = sourced(&[Gate::ExternalOidc, Gate::UidAndExtra, Gate::UpstreamParity]);
    assert_eq!(off.unknowns, Vec::<String>::new(), "without the gate they count for nothing");
}

#[test]
fn warnings_stand_beside_any_verdict() {
    let client = |name: &str, secret: Value| json!([{"componentNamespace": "openshift-console", "componentName": name, "clientID": "c", "clientSecret": secret}]);
    let present = r#"{"jwt":[{"claimMappings":{"username":{"claim":"sub","prefix":""}}}]}"#;
    let same = r#"{"jwt":[{"claimMappings":{"username":{"claim":"sub","prefix":"https://idp.example.com#"}}}]}"#;
    let with_present = |text| Given { present: Some(text), ..given() };
    let known = Given { secrets: vec![("s", Presence::Present), ("u", Presence::Unknown)], ..given() };
    let registered = ClientStatus {
        component: Component { namespace: "openshift-console".into(), name: "other".into() },
        ..ClientStatus::default()
    };
    let groups = |expression: &str| given().set("claimMappings/groups", json!({"expression": expression}));
    use WarningCode::*;
    let cases = [
        ("nothing", given(), vec![]),
        (
            "a webhook",
            given().spec("webhookTokenAuthenticator", json!({"kubeConfig": {"name": "w"}})),
            vec![WebhookAuthenticatorSet],
        ),
        (
            "a webhook where it stays",
            given().gates(Gate::ALL).spec("webhookTokenAuthenticator", json!({"kubeConfig": {"name": "w"}})),
            vec![],
        ),
        (
            "an unknown component",
            given().set("oidcClients", client("other", json!(null))),
            vec![ClientUnknownComponent],
        ),
        (
            "a component that has registered",
            Given { clients: vec![registered], ..given() }.set("oidcClients", client("other", json!(null))),
            vec![],
        ),
        (
            "the console without a secret",
            given().set("oidcClients", client("console", json!(null))),
            vec![ClientSecretMissing],
        ),
        ("the cli without a secret", given().set("oidcClients", client("cli", json!(null))), vec![]),
        (
            "a secret that is not there",
            given().set("oidcClients", client("cli", json!({"name": "s"}))),
            vec![ClientSecretMissing],
        ),
        (
            "a secret that is there",
            Given { secrets: known.secrets.clone(), ..given() }
                .set("oidcClients", client("console", json!({"name": "s"}))),
            vec![],
        ),
        (
            "a secret nobody knows of",
            Given { secrets: known.secrets, ..given() }.set("oidcClients", client("console", json!({"name": "u"}))),
            vec![],
        ),
        ("a prefix that renames everybody", with_present(present), vec![DefaultPrefixRenamesUsers]),
        ("the same prefix", with_present(same), vec![]),
        ("a file that can't be read", with_present("{"), vec![]),
        (
            "a prefix of one's own",
            with_present(present).set("claimMappings/username/prefixPolicy", json!("NoPrefix")),
            vec![],
        ),
        ("groups that were split", groups("claims.roles.split(',')"), vec![LoginImpossible]),
        (
            "groups split either way",
            groups("has(claims.a) ? claims.a.split(',') : ''.split(',')"),
            vec![LoginImpossible],
        ),
        ("groups that were mended", groups("claims.roles.split(',').map(r, r)"), vec![]),
        ("groups that are numbers", groups("[1, 2]"), vec![LoginImpossible]),
        ("groups that are optional", groups("claims.?groups"), vec![LoginImpossible]),
        ("groups that may be anything", groups("claims.groups"), vec![]),
        (
            "a name that is a number",
            given().set("claimMappings/username", json!({"expression": "1"})),
            vec![LoginImpossible],
        ),
        (
            "a uid that is a list",
            given().set("claimMappings/uid", json!({"expression": "['a']"})),
            vec![LoginImpossible],
        ),
        ("an issuer without a host", given().set("issuer/issuerURL", json!("https:///x")), vec![DiscoveryUnreachable]),
    ];
    for (case, given, expected) in cases {
        let checked = given.check();
        let codes: Vec<WarningCode> = checked.warnings.iter().map(|warning| warning.code).collect();
        assert_eq!((checked.verdict, codes), (Verdict::Valid, expected), "case: {case}");
    }
}

#[test]
fn a_problem_is_one_line() {
    let checked = given().set("issuer/issuerURL", json!("http://x")).check();
    let expected = "issuer-url-invalid: spec.oidcProviders[0].issuer.issuerURL = \"http://x\": its scheme is not https; write it \
                    exactly as the provider's tokens carry it in `iss`: https, no query, no fragment, no user (refused by the \
                    API server (CRD))";
    assert_eq!(checked.problems[0].to_string(), expected);
}

#[test]
fn a_broken_rule_does_not_count_as_looking_at_email_verified() {
    let with = |rules: Value| {
        let given = given().set("claimMappings/username", json!({ "expression": "claims.email" }));
        given.set("claimValidationRules", rules).check().problems.iter().map(|one| one.code).collect::<BTreeSet<_>>()
    };
    let rule = |text: &str| json!({ "type": "CEL", "cel": { "expression": text, "message": "m" } });
    let cases = [
        ("none", json!([]), vec![Code::EmailVerifiedMissing]),
        ("good", json!([rule("claims.email_verified == true")]), vec![]),
        ("not a bool", json!([rule("claims.email_verified")]), vec![Code::CelNotBool, Code::EmailVerifiedMissing]),
        (
            "does not compile",
            json!([rule("claims.email_verified ==")]),
            vec![Code::CelCompile, Code::EmailVerifiedMissing],
        ),
        (
            "another looks at it",
            json!([rule("claims.email_verified"), rule("claims.?email_verified.orValue(true) == true")]),
            vec![Code::CelNotBool],
        ),
    ];
    for (case, rules, expected) in cases {
        assert_eq!(with(rules), expected.into_iter().collect(), "case: {case}");
    }
}

#[test]
fn an_unknown_field_is_a_warning_in_a_stored_object_and_refuses_a_file() {
    let misspelled = || given().set("claimMappings/group", json!({ "claim": "g" }));
    let stored = misspelled().check();
    assert_eq!((stored.verdict, stored.problems.len()), (Verdict::Valid, 0));
    let warnings: Vec<_> = stored.warnings.iter().map(|one| (one.code, one.path.as_str())).collect();
    assert_eq!(warnings, [(WarningCode::UnknownField, "spec.oidcProviders[0].claimMappings.group")]);
    assert!(stored.warnings[0].message.ends_with("did you mean groups?"), "{}", stored.warnings[0].message);
    let file = Given { provenance: Provenance::File, ..misspelled() }.check();
    assert_eq!(file.verdict, Verdict::Invalid);
    assert_eq!(file.problems.iter().map(|one| one.code).collect::<Vec<_>>(), [Code::UnknownField]);
    let mut other = Given { provenance: Provenance::File, ..misspelled() };
    other.spec["type"] = json!("IntegratedOAuth");
    assert_eq!(other.check().verdict, Verdict::Valid, "leftover providers are not judged");
}
