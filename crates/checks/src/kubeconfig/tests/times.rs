//! Time and kubeconfigs: every limit from both sides, and the deadline of the next verdict.

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::*;

fn eks_age(seconds: i64) -> Given {
    let signed = now().saturating_add(SignedDuration::from_secs(-seconds)).unwrap();
    given().both(&config().signed(signed))
}

#[test]
fn an_eks_token_holds_fifteen_minutes_whatever_it_says_itself() {
    each(
        DEMO,
        [
            ("just signed", eks_age(0), "fresh"),
            ("more than 5 minutes left", eks_age(599), "fresh"),
            ("5 minutes left", eks_age(600), "expiring"),
            ("12 minutes old", eks_age(720), "expiring"),
            ("older than 12 minutes", eks_age(721), "refresh-stalled expiring"),
            ("its last second", eks_age(899), "refresh-stalled expiring"),
            ("15 minutes old", eks_age(900), "expired"),
            ("of 1990", given().both(&config().signed("1990-01-01T00:00:00Z".parse().unwrap())), "expired"),
            ("5 minutes ahead", eks_age(-300), "fresh"),
            ("more than 5 minutes ahead", eks_age(-301), "not-yet-valid"),
        ],
    );
}

fn jwt_given(claims: serde_json::Value) -> Given {
    given().both(&config().token(&jwt(claims)))
}

#[test]
fn a_jwt_is_about_to_end_by_its_own_measure() {
    let at = |minutes: i64| self::minutes(minutes).as_second();
    let deletion_state = |from: i64, until: i64| jwt_given(json!({ "iat": at(from), "exp": at(until) }));
    let year = 365 * 24 * 60;
    each(
        DEMO,
        [
            ("an hour, 12 minutes left", deletion_state(-48, 12), "fresh"),
            ("an hour, below a fifth left", deletion_state(-49, 11), "expiring"),
            ("half an hour, 10 minutes left", deletion_state(-20, 10), "fresh"),
            ("half an hour, 9 minutes left", deletion_state(-21, 9), "expiring"),
            ("a year, 8 days left", deletion_state(8 * 24 * 60 - year, 8 * 24 * 60), "fresh"),
            ("a year, 6 days left", deletion_state(6 * 24 * 60 - year, 6 * 24 * 60), "expiring"),
            ("no birth, 9 minutes left", jwt_given(json!({ "exp": at(9) })), "expiring"),
            ("no birth, 11 minutes left", jwt_given(json!({ "exp": at(11) })), "fresh"),
            ("ended", deletion_state(-60, 0), "expired"),
            ("begins later", jwt_given(json!({ "nbf": at(6), "exp": at(60) })), "not-yet-valid"),
            ("begins within the skew", jwt_given(json!({ "nbf": at(5), "exp": at(600) })), "fresh"),
            ("for ever", jwt_given(json!({ "sub": "x" })), "opaque no-expiry"),
            ("an end that is not a number", jwt_given(json!({ "exp": "soon" })), "opaque no-expiry"),
        ],
    );
}

fn certified(from: i64, until: i64) -> Given {
    given().both(&config().certificate(days(from), days(until)))
}

#[test]
fn a_certificate_is_about_to_end_a_week_before() {
    each(
        DEMO,
        [
            ("young", certified(-10, 355), "fresh"),
            ("past its half", certified(-200, 165), "fresh past-half-life"),
            ("7 days left", certified(-358, 7), "fresh past-half-life"),
            ("6 days left", certified(-359, 6), "expiring past-half-life"),
            ("ended", certified(-365, 0), "expired past-half-life"),
            ("begins tomorrow", certified(1, 366), "not-yet-valid"),
        ],
    );
}

#[test]
fn a_chain_ends_with_the_first_of_its_certificates() {
    let leaf = certificate("system:admin", days(-10), days(355));
    let intermediate = certificate("intermediate", days(-300), days(3));
    let chain = format!("{}{}", leaf.pem, intermediate.pem);
    let given = given().both(&config().certified(&chain, &leaf.key));
    assert_eq!(given.about(DEMO), "expiring past-half-life");
}

#[test]
fn an_opaque_token_is_said_to_be_one() {
    assert_eq!(given().both(&config().token("0123456789abcdef")).about(DEMO), "opaque");
}

/// Walks from deadline to deadline: between two of them nothing changes, at each of them something does.
#[test]
fn a_judgement_names_the_next_instant_it_changes_and_changes_only_there() {
    let worlds = [
        ("EKS", given().both(&config().signed(minutes(-1))), 3),
        ("EKS in the future", given().both(&config().signed(minutes(20))), 4),
        ("JWT", jwt_given(json!({ "iat": minutes(-1).as_second(), "exp": minutes(59).as_second() })), 2),
        ("certificate", certified(-1, 364), 3),
        ("opaque", given().both(&config().token("x")), 0),
        ("a source that ends", given().target(&config().signed(minutes(-2))), 4),
    ];
    for (case, given, deadlines) in worlds {
        let mut world = World::default();
        given.fill(&mut world);
        let judge = |at: Timestamp| {
            let answer = &Judged::<Given>::new(&Kubeconfigs::default(), &world, at).answers
                [&format!("kubeconfig/mgmt/Secret/{DEMO}")];
            (answer.to_string(), answer.judgement.until)
        };
        let (mut at, mut met) = (now(), 0);
        let (mut said, mut until) = judge(at);
        while let Some(next) = until {
            let before = next.saturating_add(SignedDuration::from_nanos(-1)).unwrap();
            assert_eq!(judge(before).0, said, "case: {case}: it changed before {next}");
            at = next;
            let (then, later) = judge(at);
            assert_ne!(then, said, "case: {case}: nothing changed at {at}");
            (said, until) = (then, later);
            met += 1;
        }
        assert_eq!(met, deadlines, "case: {case}, last: {said} at {at}");
    }
}
