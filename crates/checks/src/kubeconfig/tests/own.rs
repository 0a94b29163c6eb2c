//! The contexts of the user's own kubeconfig files: judged by what they say and by what their servers say to them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::*;
use crate::testing::Member;
use trueup_core::decode::{Digester, recorded};
use trueup_core::world::{ChangeSet, Cluster, ClusterName, ClusterSource, Gap, GapCause, Link, Served};

const PROD: &str = "kubeconfig/local/Context/_/prod";

/// The user's files with the one context `prod`, as `fleet` lists it.
fn own(config: &str) -> Value {
    json!({
        "apiVersion": "local.trueup/v1", "kind": "Context",
        "metadata": { "name": "prod", "resourceVersion": "1", "annotations": { "local.trueup/file": "config" } },
        "data": { "kubeconfig": STANDARD.encode(config) }
    })
}

fn broken(problem: &str) -> Value {
    let annotations = json!({ "local.trueup/file": "config", "local.trueup/problem": problem });
    json!({
        "apiVersion": "local.trueup/v1", "kind": "Context",
        "metadata": { "name": "prod", "resourceVersion": "1", "annotations": annotations }
    })
}

/// How the fleet stands to the cluster of the context.
fn linked(link: Link) -> Cluster {
    let name = ClusterName::new("prod");
    let source = ClusterSource::Kubeconfig { context: "prod".to_owned() };
    let served = Some(Served::Complete(Default::default()));
    Member { link, served, ..Member::new(source) }.cluster(name)
}

/// The member that lists the user's contexts.
fn local() -> Member {
    let mut local = Member::new(ClusterSource::Local);
    local.serve(&[("local.trueup", "contexts")]);
    local
}

fn world(context: Value, cluster: Option<Cluster>) -> World {
    let (mut world, mut local) = (World::default(), local());
    let name = ClusterName::new("local");
    world.put_cluster(local.cluster(name.clone()));
    if let Some(cluster) = cluster {
        world.put_cluster(cluster);
    }
    local.put(context);
    let recordings = [(name, local.recorded())].into();
    let wanted = Kubeconfigs::default().interests(world.view(now()));
    let asked: Vec<String> =
        wanted.iter().map(|one| format!("{} {}", one.id.cluster, one.id.resource.plural)).collect();
    assert_eq!(asked, ["local contexts"], "nothing else is asked of anybody");
    recorded::fill(&mut world, &recordings, &wanted, &Digester::new(&[7; 32]), now());
    world
}

fn about(context: Value, cluster: Option<Cluster>) -> (String, String) {
    let judged = Judged::<Given>::new(&Kubeconfigs::default(), &world(context, cluster), now());
    let answer = &judged.answers[PROD];
    (answer.to_string(), answer.explanation.summary.clone())
}

fn live() -> Option<Cluster> {
    Some(linked(Link::Live { since: now() }))
}

fn refused() -> Option<Cluster> {
    let gap = Gap::new(GapCause::Unauthorized, "the login was not accepted (401)");
    Some(linked(Link::AuthExpired { gap, hint: "log in again".to_owned() }))
}

fn user(user: Value) -> String {
    json!({
        "current-context": "own",
        "clusters": [{ "name": "own", "cluster": { "server": "https://prod.example" } }],
        "contexts": [{ "name": "own", "context": { "cluster": "own", "user": "own" } }],
        "users": [{ "name": "own", "user": user }]
    })
    .to_string()
}

#[test]
fn a_context_is_judged_by_what_it_says_of_itself() {
    let jwt = |until: i64| user(json!({ "token": jwt(json!({ "iat": days(-1).as_second(), "exp": until })) }));
    let cases = [
        ("a token that holds", own(&jwt(days(1).as_second())), "fresh"),
        ("a token that ended", own(&jwt(minutes(-1).as_second())), "expired"),
        ("an EKS token that ended", own(&user(json!({ "token": eks(minutes(-15)) }))), "expired"),
        ("a token that is none", own(&user(json!({ "token": "k8s-aws-v1.x" }))), "unreadable token-malformed"),
        ("an opaque token", own(&user(json!({ "token": "x" }))), "opaque"),
        ("a plugin", own(&user(json!({ "exec": {} }))), "fresh exec-user"),
        ("a provider", own(&user(json!({ "auth-provider": {} }))), "fresh exec-user"),
        (
            "a plugin beside a token that ended",
            own(&user(json!({ "exec": {}, "token": eks(minutes(-15)) }))),
            "expired",
        ),
        ("a password", own(&user(json!({ "username": "anna" }))), "contract basic-auth"),
        ("nothing", own(&user(json!({}))), "contract anonymous"),
        ("a certificate", own(&config().certificate(days(-10), days(355)).text()), "fresh"),
        ("a certificate that ended", own(&config().certificate(days(-365), days(-1)).text()), "expired past-half-life"),
        ("no such user", own(&user(json!({})).replace("\"users\"", "\"others\"")), "contract context"),
        ("no such cluster", own(&user(json!({})).replace("\"clusters\"", "\"others\"")), "contract context"),
        ("no server", own(&user(json!({})).replace("https://prod.example", "")), "unreadable"),
        ("a file that is not there", broken("tokenFile names the file token, which can't be read"), "unreadable"),
    ];
    for (case, context, expected) in cases {
        assert_eq!(about(context, None).0, expected, "case: {case}");
    }
}

#[test]
fn what_only_the_server_knows_is_taken_from_the_connection() {
    let opaque = || own(&user(json!({ "token": "x" })));
    let cases = [
        ("opaque, let in", opaque(), live(), "fresh", "its cluster lets it in"),
        ("opaque, refused", opaque(), refused(), "opaque", "401"),
        ("opaque, on its way", opaque(), Some(linked(Link::Connecting)), "opaque", "only the API server knows"),
        (
            "opaque, of another context",
            opaque(),
            Some(Cluster { source: ClusterSource::Snapshot, ..linked(Link::Live { since: now() }) }),
            "opaque",
            "only the API server knows",
        ),
        ("nothing, let in", own(&user(json!({}))), live(), "fresh anonymous", "its cluster lets it in"),
        (
            "a password, let in",
            own(&user(json!({ "username": "anna" }))),
            live(),
            "fresh basic-auth",
            "its cluster lets it in",
        ),
        ("a plugin that failed", own(&user(json!({ "exec": {} }))), refused(), "fresh exec-user", "401"),
        (
            "ended, whatever the server says",
            own(&user(json!({ "token": eks(minutes(-20)) }))),
            live(),
            "expired",
            "expired 5m ago",
        ),
    ];
    for (case, context, cluster, verdict, message) in cases {
        let (answer, summary) = about(context, cluster);
        assert_eq!(answer, verdict, "case: {case}");
        assert!(summary.contains(message), "case: {case}: {summary}");
    }
}

#[test]
fn a_context_names_its_file_and_the_object_of_every_line_and_has_nothing_to_repair() {
    let judged = Judged::<Given>::new(
        &Kubeconfigs::default(),
        &world(own(&user(json!({ "token": eks(minutes(-20)) }))), live()),
        now(),
    );
    let answer = &judged.answers[PROD];
    let lines: Vec<String> = answer
        .explanation
        .evidence
        .iter()
        .map(|line| format!("{} | {} | {}", line.object, line.field, line.message))
        .collect();
    assert_eq!(
        lines,
        [
            "local Context prod |  | is written in config",
            "local Context prod | cluster | leads to https://prod.example:443",
            "local Context prod | user | EKS token, until at most 2026-11-16T09:55:00Z",
            "prod |  | is connected by this context",
            "what to do |  | log in again with this context",
        ]
    );
    assert_eq!((answer.explanation.remedy.len(), &answer.explanation.actual["usable"]), (0, &json!(false)));
}

#[test]
fn a_server_that_lets_a_context_in_wakes_its_judgement() {
    let domains: Vec<Box<dyn Check>> = vec![Box::new(Kubeconfigs::default())];
    let mut world = world(own(&user(json!({ "token": "x" }))), Some(linked(Link::Connecting)));
    let mut judgements = crate::judgements::Judgements::default();
    let mut all = ChangeSet::default();
    all.push(trueup_core::world::Change::Cluster(ClusterName::new("local")));
    judgements.follow(&domains, world.view(now()), &all);
    let said = |judgements: &crate::judgements::Judgements| {
        judgements.iter().map(|(subject, held)| format!("{subject} {}", held.judgement.verdict)).collect::<Vec<_>>()
    };
    assert_eq!(said(&judgements), [format!("{PROD} opaque")]);
    let changes = world.put_cluster(linked(Link::Live { since: now() }));
    judgements.follow(&domains, world.view(now()), &changes);
    assert_eq!(said(&judgements), [format!("{PROD} fresh")]);
}

#[test]
fn files_that_could_not_be_listed_are_one_unknown() {
    let mut world = World::default();
    world.put_cluster(local().cluster(ClusterName::new("local")));
    for interest in Kubeconfigs::default().interests(world.view(now())) {
        world.open(&interest);
    }
    assert_eq!(Judged::<Given>::new(&Kubeconfigs::default(), &world, now()).all(), ["local/Context/_/*: unknown"]);
}

#[test]
fn nothing_of_a_credential_is_in_what_is_said() {
    let context = own(&user(json!({ "token": eks(minutes(-20)), "username": "CANARYname" })));
    let judged = Judged::<Given>::new(&Kubeconfigs::default(), &world(context, refused()), now());
    let said = format!("{:?} {:?}", judged.answers[PROD].explanation, judged.answers[PROD].judgement);
    assert!(!said.contains("CANARY"), "{said}");
}
