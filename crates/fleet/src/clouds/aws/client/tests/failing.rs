//! Injected failure → class → what is said. The table of `docs/checks/machineset-capacity.md`.

use super::*;
use trueup_sim::aws::{AwsFault, AwsFaultKind};

const STS: &str = "AssumeRoleWithWebIdentity";
const EC2: &str = "DescribeInstanceTypes";

async fn look_up(given: &Given) -> Result<Offers, AwsError> {
    let session = given.aws.exchange(&given.identity(), &region("us-east-1")).await?;
    given.aws.instance_types(&session.keys, &region("us-east-1"), &wanted(&["m5.large"])).await
}

fn page(status: u16) -> AwsFaultKind {
    AwsFaultKind::Page { status, body: "<html><body>Bad gateway</body></html>" }
}

fn malformed(body: &str) -> AwsFaultKind {
    AwsFaultKind::Malformed { body: body.to_owned() }
}

#[tokio::test(start_paused = true)]
async fn every_failure_has_its_class_and_is_tried_as_often_as_its_class_allows() {
    let bomb = "<!DOCTYPE r [<!ENTITY a \"aaaa\">]><DescribeInstanceTypesResponse>&a;</DescribeInstanceTypesResponse>";
    let always = 99;
    let refuse = |action, code| AwsFault::refuse(action, always, code);
    let fault = |action, kind| AwsFault::new(action, always, kind);
    let cases = [
        ("trust policy", refuse(STS, "AccessDenied"), Class::Denied, "AccessDenied", 1),
        ("issuer or audience", refuse(STS, "InvalidIdentityToken"), Class::Denied, "InvalidIdentityToken", 3),
        ("token past its time", refuse(STS, "ExpiredTokenException"), Class::Denied, "ExpiredTokenException", 1),
        ("claims", refuse(STS, "IDPRejectedClaim"), Class::Denied, "IDPRejectedClaim", 1),
        ("issuer away", refuse(STS, "IDPCommunicationError"), Class::Transient, "IDPCommunicationError", 4),
        ("throttled by STS", refuse(STS, "Throttling"), Class::Transient, "Throttling", 4),
        ("policy", refuse(EC2, "UnauthorizedOperation"), Class::Denied, "UnauthorizedOperation", 1),
        ("throttled by EC2", refuse(EC2, "RequestLimitExceeded"), Class::Transient, "RequestLimitExceeded", 4),
        ("broken inside", refuse(EC2, "InternalError"), Class::Transient, "InternalError", 4),
        ("a code nobody knows", refuse(EC2, "SomethingNew"), Class::Denied, "SomethingNew", 1),
        ("a proxy's page", fault(EC2, page(502)), Class::Transient, "HTTP502", 4),
        ("a page with a good status", fault(EC2, page(200)), Class::Transient, "unreadable-answer", 1),
        ("XML bomb", fault(EC2, malformed(bomb)), Class::Transient, "unreadable-answer", 1),
        ("half an answer", fault(EC2, AwsFaultKind::CutShort), Class::Transient, "broken-answer", 4),
        ("a slow body", fault(EC2, AwsFaultKind::SlowBody), Class::Transient, "timeout", 4),
        ("silence", fault(STS, AwsFaultKind::Silence), Class::Transient, "timeout", 4),
        ("connection lost", fault(STS, AwsFaultKind::Lost), Class::Transient, "unreachable", 4),
        (
            "no keys in the answer",
            fault(STS, malformed("<AssumeRoleWithWebIdentityResponse></AssumeRoleWithWebIdentityResponse>")),
            Class::Transient,
            "unreadable-answer",
            1,
        ),
    ];
    for (case, fault, class, code, tries) in cases {
        let given = Given::new();
        let action = fault.action;
        given.sim.inject(fault);
        let error = look_up(&given).await.unwrap_err();
        assert_eq!((error.class, error.code.as_str()), (class, code), "case: {case}: {error}");
        assert!(!error.remedy.is_empty() && error.message.contains(action), "case: {case}: {error:?}");
        assert_eq!(given.actions().iter().filter(|one| *one == action).count(), tries, "case: {case}");
    }
}

#[tokio::test(start_paused = true)]
async fn transient_failures_are_retried() {
    let cases = [
        ("the issuer's keys could not be fetched at first", AwsFault::refuse(STS, 2, "InvalidIdentityToken")),
        ("throttled at first", AwsFault::refuse(EC2, 3, "Throttling")),
        ("no answer at first", AwsFault::new(STS, 1, AwsFaultKind::Silence)),
    ];
    for (case, fault) in cases {
        let given = Given::new();
        given.sim.inject(fault);
        assert!(look_up(&given).await.is_ok(), "case: {case}");
    }
}

#[tokio::test]
async fn a_server_that_echoes_secrets_is_not_quoted() {
    let given = Given::new();
    let token = given.token();
    given.write_token(&token);
    let message: &'static str = Box::leak(format!("bad token {token}").into_boxed_str());
    let kind = AwsFaultKind::Refuse { status: 400, code: "IDPRejectedClaim", message };
    given.sim.inject(AwsFault::new(STS, 1, kind));
    let error = look_up(&given).await.unwrap_err();
    assert_eq!(error.code, "IDPRejectedClaim");
    assert!(token.split('.').all(|part| !format!("{error:?}").contains(part)), "{error:?}");
}

#[tokio::test]
async fn clock_skew_is_reported_as_clock_skew() {
    let given = Given::new();
    let aws = Aws::new(
        HttpClient::in_process(given.sim.service()),
        Endpoints::default(),
        Arc::new(|| "2026-11-16T12:00:00Z".parse().unwrap()),
    );
    let error = aws.caller(&user_keys(), &region("us-east-1")).await.unwrap_err();
    assert_eq!((error.class, error.code.as_str()), (Class::Denied, "RequestExpired"));
    assert!(error.remedy.contains("clock"), "{}", error.remedy);
}

#[tokio::test]
async fn keys_that_are_wrong_are_refused_by_their_signature() {
    let given = Given::new();
    let wrong = Keys { secret_access_key: SecretText::new("another"), ..user_keys() };
    let unknown = Keys { access_key_id: "AKIANOBODY".to_owned(), ..user_keys() };
    let cases = [("wrong secret", wrong, "SignatureDoesNotMatch"), ("unknown id", unknown, "InvalidClientTokenId")];
    for (case, keys, expected) in cases {
        let error = given.aws.caller(&keys, &region("us-east-1")).await.unwrap_err();
        assert_eq!((error.class, error.code.as_str()), (Class::Denied, expected), "case: {case}");
    }
}
