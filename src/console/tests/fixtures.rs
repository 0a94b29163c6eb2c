//! What the tests look at: a fleet with every link, findings of every state, two checks, plans, runs and a journal.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::console::model::{SavedView, Zone};
use crate::console::settings::ModelSettings;
use crate::console::task::{
    FieldManager, ObjectMetadata, ObjectSheet, PlannedObject, ReferenceSheet, Start, SubjectDetail,
};
use crate::console::testing::{after, ago};
use trueup_checks::judgements::{Began, CurrentJudgement};
use trueup_checks::{
    Cell, CheckDescription, Column, Form, FormInput, Panel, RelatedObject, Relation, RelationStanding, Relations, Side,
    Step,
};
use trueup_core::engine::journal::{
    ActionEntry, ActionStanding, Approval, ApprovalWay, ApprovedCluster, Entry, Found, Sent, VerifiedState,
};
use trueup_core::engine::{
    AcceptRule, Action, ActionDraft, Blocked, Change, CheckName, Evidence, Explanation, Finding, GateName, Glob,
    Judgement, MetadataChange, ObjectBackup, ObjectRef, Origin, PLAN_SCHEMA, PLAN_TTL, Plan, Preconditions, Reason,
    Stake, State, SubjectId, Summary, Target, TargetRecord, TargetSource, Tier, Undo, Verb,
};
use trueup_core::world::{
    Cluster, ClusterIdentity, ClusterName, ClusterSource, Gap, GapCause, HostedBy, Link, Namespace, ObjectName,
    Resource, ResourceVersion, RiskClass, Served, Uid,
};

/// A check that says nothing of its own in its list.
pub const COPIES: CheckName = CheckName("toy-copies");
/// A check with columns of every kind, a tree, panels and a form.
pub const PARTS: CheckName = CheckName("toy-parts");

const COPIES_INTRODUCED: CheckDescription = CheckDescription {
    title: "Copies",
    short: "Copies",
    plural: "copies",
    message: "copies of secrets that something still refers to",
    columns: &[],
    verdict_width: 16,
    forms: &[],
};

const PARTS_INTRODUCED: CheckDescription = CheckDescription {
    title: "Cloud parts",
    short: "Parts",
    plural: "parts",
    message: "parts of an account and the order they go in",
    columns: &[
        Column { title: "ZONE", side: Side::Left, width: 8, grows: true, rank: 5 },
        Column { title: "DISKS", side: Side::Right, width: 5, grows: false, rank: 6 },
        Column { title: "MADE", side: Side::Right, width: 4, grows: false, rank: 7 },
        Column { title: "LEFT", side: Side::Left, width: 16, grows: false, rank: 2 },
        Column { title: "ARCH", side: Side::Left, width: 12, grows: false, rank: 3 },
    ],
    verdict_width: 16,
    forms: &[Form { name: "whoami", title: "Who would I be?", prompt: "claims, as JSON:", input: FormInput::Secret }],
};

pub fn start() -> Start {
    Start {
        checks: vec![(COPIES, COPIES_INTRODUCED), (PARTS, PARTS_INTRODUCED)],
        read_only: None,
        fleet: "kubeconfig".to_owned(),
        user: "ann".to_owned(),
        offers_tour: false,
    }
}

pub fn cluster(name: &str, class: RiskClass, link: Link) -> Cluster {
    Cluster {
        name: ClusterName::new(name),
        class,
        source: ClusterSource::Kubeconfig { context: name.to_owned() },
        hosted_by: None,
        link,
        identity: ClusterIdentity::default(),
        served: Served::Unknown(Gap::new(GapCause::NotObserved, "not asked")),
    }
}

fn guest(name: &str, class: RiskClass, link: Link) -> Cluster {
    let by = ClusterName::new("mgmt-eu");
    let hosted_by =
        Some(HostedBy { cluster: by.clone(), namespace: Namespace::new("clusters"), name: ObjectName::new(name) });
    Cluster { source: ClusterSource::Hosted { by }, hosted_by, ..cluster(name, class, link) }
}

/// Every link there is, and three guests under the first cluster.
pub fn clusters() -> BTreeMap<ClusterName, Option<Cluster>> {
    let gap = |cause, message: &str| Gap::new(cause, message);
    let all = [
        cluster("mgmt-eu", RiskClass::Prod, Link::Live { since: ago(7_200) }),
        guest("guest-payments", RiskClass::Prod, Link::Live { since: ago(65) }),
        guest("guest-search", RiskClass::Prod, Link::Listing { objects: 312 }),
        guest(
            "guest-old",
            RiskClass::Dev,
            Link::AuthExpired {
                gap: gap(GapCause::Unauthorized, "the server refused the token (401)"),
                hint: "log in again with oc login".to_owned(),
            },
        ),
        cluster(
            "mgmt-us",
            RiskClass::Prod,
            Link::Degraded {
                gap: gap(GapCause::Silent, "the watch of secrets has been silent for 90 s"),
                retry_at: after(8),
            },
        ),
        cluster("stage-1", RiskClass::Stage, Link::Connecting),
        cluster(
            "lab",
            RiskClass::Dev,
            Link::Failed { gap: gap(GapCause::Unreachable, "lab.example.com: connection refused") },
        ),
        cluster("spare", RiskClass::Dev, Link::Idle),
        Cluster { source: ClusterSource::Snapshot, ..cluster("monday", RiskClass::Stage, Link::Recorded) },
    ];
    all.into_iter().map(|one| (one.name.clone(), Some(one))).collect()
}

/// The same before their first lists were in.
pub fn clusters_before() -> BTreeMap<ClusterName, Option<Cluster>> {
    let listing = |cluster: Cluster| Cluster { link: Link::Listing { objects: 0 }, ..cluster };
    clusters().into_iter().map(|(name, cluster)| (name, cluster.map(listing))).collect()
}

pub fn subject(domain: CheckName, cluster: &str, kind: &'static str, name: &str) -> SubjectId {
    let namespace = (domain == COPIES).then(|| "openshift-config".to_owned());
    SubjectId {
        domain,
        cluster: ClusterName::new(cluster),
        api_version: "v1",
        kind,
        namespace,
        name: name.to_owned(),
        cloud: None,
    }
}

pub fn held(state: State, verdict: &'static str, seconds_ago: i64) -> CurrentJudgement {
    let codes = if state == State::Extra { vec!["no-referrer"] } else { Vec::new() };
    let judgement = Judgement { state, verdict, codes, ownership_proofs: 2, until: None };
    let since = ago(seconds_ago);
    CurrentJudgement { began: Began::Recorded(since), ..CurrentJudgement::new(judgement, since) }
}

/// One finding of every state, one match, and a tree of parts.
pub fn findings() -> BTreeMap<SubjectId, Option<CurrentJudgement>> {
    let copies = [
        ("guest-payments", "Secret", "ext-auth-client-old", State::Extra, "orphan-certain", 180),
        ("guest-payments", "ConfigMap", "ext-auth-ca-old", State::Extra, "orphan-certain", 180),
        ("guest-payments", "Secret", "half-written", State::Error, "unreadable", 5),
        ("mgmt-eu", "Secret", "lost-copy", State::Missing, "missing", 3_700),
        ("mgmt-eu", "ConfigMap", "keycloak-ca", State::Drift, "differs", 90_000),
        ("guest-search", "Secret", "console-secret", State::Stale, "pending", 40),
        ("stage-1", "Secret", "tmp-client", State::Blocked, "paused", 600),
        ("guest-old", "Secret", "*", State::Unknown, "not-known", 7_200),
        ("guest-search", "ConfigMap", "keycloak-ca-bundle", State::Match, "in-use", 86_400),
    ];
    let copies = copies.map(|(cluster, kind, name, state, verdict, since)| {
        (subject(COPIES, cluster, kind, name), Some(held(state, verdict, since)))
    });
    copies.into_iter().chain(parts()).collect()
}

/// An account with networks under it, children before their parents in the order of their ids.
fn parts() -> Vec<(SubjectId, Option<CurrentJudgement>)> {
    let part = |kind, name: &str| subject(PARTS, "mgmt-eu", kind, name);
    let account = part("Account", "demo");
    let network = part("Network", "demo-vpc");
    let row = |id: SubjectId, parent: Option<&SubjectId>, state, verdict, cells: Vec<Cell>| {
        (
            id,
            Some(CurrentJudgement {
                cells,
                parent: parent.cloned().map(std::sync::Arc::new),
                ..held(state, verdict, 300)
            }),
        )
    };
    let text = |text: &str| Cell::Text(text.into());
    let pair = |expected: &str, actual: &str| Cell::Pair { expected: expected.into(), actual: actual.into() };
    vec![
        row(
            account.clone(),
            None,
            State::Stale,
            "being-deleted",
            vec![text("eu-de"), Cell::Number(3), Cell::Age(ago(90)), Cell::Nothing, Cell::Nothing],
        ),
        row(
            network.clone(),
            Some(&account),
            State::Extra,
            "owned",
            vec![
                text("eu-de-1"),
                Cell::Number(12),
                Cell::Age(ago(86_400)),
                Cell::Left { from: ago(600), until: after(300) },
                pair("amd64", "amd64"),
            ],
        ),
        row(
            part("Bridge", "vpc-bridge"),
            Some(&network),
            State::Extra,
            "owned",
            vec![
                text("eu-de-1"),
                Cell::Number(-1),
                Cell::Age(ago(4)),
                Cell::Left { from: ago(600), until: ago(200) },
                pair("amd64", "arm64"),
            ],
        ),
        row(part("Subnet", "alice-subnet"), Some(&network), State::Blocked, "foreign", vec![Cell::Nothing]),
        row(part("Gateway", "demo-transitgateway"), Some(&account), State::Match, "owned", Vec::new()),
        row(part("Disk", "lonely"), None, State::Drift, "unclaimed", vec![text("us-south")]),
    ]
}

/// A subject as its check explains it: with everything a detail can show.
pub fn subject_detail(subject: &SubjectId) -> SubjectDetail {
    let evidence = |message: &str, object: &str, field: &str, version: &str| Evidence {
        message: message.to_owned(),
        object: object.to_owned(),
        field: field.to_owned(),
        resource_version: version.to_owned(),
    };
    let explanation = Explanation {
        uid: Some(Uid::parse("7c1")),
        created: Some(ago(3_542_400)),
        summary: "No provider names it since spec.oidcProviders was emptied on the HostedCluster.".to_owned(),
        expected: Value::Null,
        actual: json!({ "type": "Opaque", "data": { "clientSecret": "<40 bytes>" }, "keys": ["clientSecret"] }),
        evidence: vec![
            evidence(
                "the hosted control plane asks for the integrated login",
                "mgmt-eu HostedControlPlane clusters-payments/payments",
                "spec.configuration.authentication.type = IntegratedOAuth",
                "88121",
            ),
            evidence("no Proxy, Image, OAuth or APIServer config refers to it", "guest-payments OAuth cluster", "", ""),
        ],
        remedy: vec![draft(subject)],
    };
    SubjectDetail { subject: subject.clone(), explanation, panels: panels() }
}

fn panels() -> Vec<Panel> {
    let step = |label: &str, state, note: &str| Step::judged(label, state, note);
    vec![
        Panel::Lines { title: "NAMES", lines: vec!["demo".to_owned(), "demo.example.com".to_owned()] },
        Panel::Strip {
            title: "ROLLOUT",
            steps: vec![
                step("master-0", State::Match, ""),
                step("master-1", State::Stale, "revision 11, 12 is being installed for 2m"),
            ],
        },
        Panel::Chain {
            title: "CREDENTIALS",
            links: vec![
                step("AWS_ROLE_ARN", State::Match, ""),
                step("AWS_WEB_IDENTITY_TOKEN_FILE", State::Missing, "not set"),
                Step::not_judged("lookup"),
            ],
        },
        Panel::Bar { title: "READY", done: 3, of: 12 },
    ]
}

fn draft(subject: &SubjectId) -> ActionDraft {
    ActionDraft {
        domain: subject.domain,
        restores: None,
        group: None,
        memory: None,
        managed_by: None,
        target: Target {
            cluster: subject.cluster.clone(),
            resource: Resource { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true },
            namespace: subject.namespace.clone(),
            name: subject.name.clone(),
            uid: Some(Uid::parse("7c1")),
            version: Some(ResourceVersion::parse("88140")),
            cloud: None,
        },
        judged: None,
        source: None,
        selected: true,
        reason: Reason::NoReferrer,
        ownership: vec!["it carries hypershift.openshift.io/managed=true".to_owned()],
        stake: Stake::DeleteWithBackup,
        diff: String::new(),
        change: Change::Delete,
        undo: Undo::RestoreFromBackup,
        depends_on: Vec::new(),
        rests_on: Vec::new(),
        blocked_by: vec![blocked()],
    }
}

pub fn blocked() -> Blocked {
    Blocked { gate: GateName::NotComplete, why: "the list of secrets is older than 60 s".to_owned() }
}

/// An action of a plan, dull until a test says more.
pub fn action(id: &str, cluster: &str, kind: &'static str, name: &str) -> Action {
    Action {
        id: id.to_owned(),
        origin: Origin::Finding(subject(COPIES, cluster, kind, name).to_string()),
        domain: COPIES.0.to_owned(),
        cluster: cluster.to_owned(),
        change: Change::Delete,
        target: ObjectRef {
            api_version: "v1".to_owned(),
            kind: kind.to_owned(),
            namespace: Some("openshift-config".to_owned()),
            name: name.to_owned(),
            uid: Some("7c1".to_owned()),
            cloud: None,
        },
        preconditions: Preconditions {
            uid: Some("7c1".to_owned()),
            resource_version: Some("88140".to_owned()),
            judged: None,
            source: None,
            ..Preconditions::default()
        },
        rests_on: Vec::new(),
        selected: true,
        reason: Reason::NoReferrer,
        ownership: vec!["label managed=true".to_owned(), "fingerprint {clientSecret}".to_owned()],
        tier: Tier::T3,
        diff: "- apiVersion: v1\n- kind: Secret\n- data: { clientSecret: <40 bytes> }\n".to_owned(),
        undo: Undo::RestoreFromBackup,
        depends_on: Vec::new(),
        blocked_by: Vec::new(),
        group: None,
    }
}

/// A plan with every tier, every kind of undo, a dependency, and an action that is blocked.
pub fn actions() -> Vec<Action> {
    vec![
        action("a1", "guest-payments", "Secret", "ext-auth-client-old"),
        Action { depends_on: vec!["a1".to_owned()], ..action("a2", "guest-payments", "ConfigMap", "ext-auth-ca-old") },
        Action { tier: Tier::T2, blocked_by: vec![blocked()], ..action("a3", "stage-1", "Secret", "tmp-client") },
        label("a4"),
        Action {
            tier: Tier::T4,
            undo: Undo::None,
            selected: false,
            ..action("a5", "guest-old", "Namespace", "team-x")
        },
        Action {
            tier: Tier::T1,
            undo: Undo::DeleteWhatWasCreated,
            preconditions: Preconditions { uid: None, resource_version: None, ..Preconditions::default() },
            change: Change::CreateFromBackup(ObjectBackup { backup: "a6.sealed".to_owned(), owners: Vec::new() }),
            diff: "+ apiVersion: v1\n+ kind: Secret\n".to_owned(),
            ..action("a6", "mgmt-eu", "Secret", "lost-copy")
        },
    ]
}

/// The teardown of a cluster that is being deleted: a load balancer, then its network, then the gateway.
pub fn teardown() -> Vec<Action> {
    let step = |id: &str, kind: &'static str, name: &str, after: &[&str]| Action {
        target: ObjectRef { namespace: None, ..action(id, "mgmt-eu", kind, name).target },
        tier: Tier::T4,
        undo: Undo::None,
        reason: Reason::ClusterDeleted,
        depends_on: after.iter().map(|id| (*id).to_owned()).collect(),
        ..action(id, "mgmt-eu", kind, name)
    };
    vec![
        step("a1", "vpc", "lagoon-vpc", &["a2"]),
        step("a2", "load-balancer", "lagoon-public", &[]),
        step("a3", "transit-gateway", "lagoon-gateway", &["a1"]),
    ]
}

/// What is known of the objects of some actions: their ages, and that nothing uses them.
pub fn objects() -> BTreeMap<String, PlannedObject> {
    let days = |days: i64| ago(days * 86_400);
    let searched = vec!["Authentication".to_owned(), "OAuth".to_owned()];
    let relations = Relations { searched, ..Relations::default() };
    let object = |at| PlannedObject { created: Some(at), relations: relations.clone() };
    [("a1", days(200)), ("a01", days(200)), ("a2", days(9)), ("a4", ago(7_200))]
        .map(|(id, at)| (id.to_owned(), object(at)))
        .into()
}

/// A reversible change of one label in mgmt-eu.
pub fn label(id: &str) -> Action {
    Action {
        tier: Tier::T1,
        undo: Undo::RemoveWhatWasAdded,
        reason: Reason::NotLabelled,
        diff: "  metadata:\n    labels:\n+     hypershift.openshift.io/managed: \"true\"\n".to_owned(),
        change: Change::Label(MetadataChange::setting([("hypershift.openshift.io/managed", "true")])),
        ..action(id, "mgmt-eu", "ConfigMap", "keycloak-ca")
    }
}

/// So many deletes in one cluster.
pub fn deletes(cluster: &str, count: usize, tier: Tier) -> Vec<Action> {
    let one = |number: usize| Action {
        tier,
        ..action(&format!("a{number:02}"), cluster, "Secret", &format!("ext-auth-client-{number:02}"))
    };
    (1..=count).map(one).collect()
}

/// A plan of these actions, with the findings they are for.
pub fn plan(actions: Vec<Action>) -> Plan {
    let target = |(cluster, class): (&str, RiskClass)| TargetRecord {
        cluster: cluster.to_owned(),
        source: TargetSource::Kubeconfig,
        class,
        identity: identity(),
    };
    let classes = [
        ("guest-old", RiskClass::Dev),
        ("guest-payments", RiskClass::Prod),
        ("mgmt-eu", RiskClass::Prod),
        ("stage-1", RiskClass::Stage),
    ];
    let mut plan = Plan {
        schema: PLAN_SCHEMA.to_owned(),
        id: String::new(),
        mark: None,
        created_at: ago(12),
        expires_at: ago(12) + PLAN_TTL,
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        targets: classes.into_iter().map(target).collect(),
        observations: Vec::new(),
        findings: actions.iter().map(finding_of).collect(),
        actions,
        summary: Summary::default(),
    };
    plan.id = plan.computed_id().unwrap();
    plan
}

fn finding_of(action: &Action) -> Finding {
    let held = findings()
        .into_iter()
        .find(|(id, _)| id.to_string() == action.finding().unwrap_or_default())
        .and_then(|(_, held)| held);
    let judgement = held.unwrap_or_else(|| self::held(State::Extra, "orphan-certain", 60)).judgement;
    Finding {
        id: action.finding().unwrap_or_default().to_owned(),
        domain: action.domain.clone(),
        cluster: action.cluster.clone(),
        subject: action.target.clone(),
        state: judgement.state,
        verdict: judgement.verdict.to_owned(),
        codes: Vec::new(),
        summary: "nothing refers to it since 09:02".to_owned(),
        evidence: Vec::new(),
        expected: Value::Null,
        actual: Value::Null,
        actions: vec![action.id.clone()],
        accepted: None,
    }
}

fn identity() -> ClusterIdentity {
    ClusterIdentity { kube_system_uid: "uid".to_owned(), ca_sha256: "c0ffee".to_owned(), ..ClusterIdentity::default() }
}

/// An entry for each way a plan can have ended, oldest first. The last one undoes the first.
pub fn journal() -> Vec<Entry> {
    let verified = |verb, state| (Some(verb), ActionStanding::Verified { state, why: String::new(), at: ago(3_500) });
    let gone = || verified(Verb::Delete, VerifiedState::Gone);
    let stopped = || {
        let target = target("ext-auth-client-3");
        let why = "stopped before it was sent".to_owned();
        (None, ActionStanding::Skipped { cluster: "guest-payments".to_owned(), verb: Verb::Delete, target, why })
    };
    vec![
        entry('1', 90_000, Some(89_990), vec![(Some(Verb::Delete), ActionStanding::Resolved(Found::Gone))]),
        entry('2', 9_000, None, vec![gone(), (None, ActionStanding::Prepared)]),
        entry('3', 7_000, Some(6_990), vec![(Some(Verb::Delete), ActionStanding::Open), gone()]),
        entry('4', 3_600, Some(3_500), vec![gone(), gone(), verified(Verb::Label, VerifiedState::Changed), stopped()]),
        Entry {
            undoes: Some(plan_id('1')),
            ..entry('5', 1_800, Some(1_790), vec![verified(Verb::Create, VerifiedState::Restored)])
        },
    ]
}

fn plan_id(digit: char) -> String {
    format!("sha256:{}", digit.to_string().repeat(64))
}

fn target(name: &str) -> ObjectRef {
    action("a1", "guest-payments", "Secret", name).target
}

fn entry(digit: char, approved: i64, finished: Option<i64>, ends: Vec<(Option<Verb>, ActionStanding)>) -> Entry {
    let clusters = vec![ApprovedCluster::new("guest-payments", identity())];
    let approval = Approval {
        who: "ann".to_owned(),
        host: "desk".to_owned(),
        how: ApprovalWay::Typed,
        at: ago(approved),
        clusters,
    };
    let sent = |verb: Verb, place: usize| Sent {
        cluster: "guest-payments".to_owned(),
        verb,
        target: target(&format!("ext-auth-client-{place}")),
        labels: None,
        annotations: None,
        fields: None,
        keys: Vec::new(),
        uid: None,
        resource_version: None,
        attempt: 1,
        at: ago(approved - 1),
    };
    let action = |(place, (verb, standing)): (usize, (Option<Verb>, ActionStanding))| ActionEntry {
        id: format!("a{}", place + 1),
        backup: (verb == Some(Verb::Delete)).then(|| "f.age".to_owned()),
        sent: verb.map(|verb| sent(verb, place)),
        standing,
        version: None,
    };
    Entry {
        plan: plan_id(digit),
        approvals: vec![approval],
        actions: ends.into_iter().enumerate().map(action).collect(),
        undoes: None,
        finished: finished.map(ago),
        in_doubt: Default::default(),
    }
}

/// What the config may say: a view, and a finding that is known.
pub fn settings() -> ModelSettings {
    let view = |name: &str, screen: &str, filter: &str| SavedView {
        name: name.to_owned(),
        screen: screen.to_owned(),
        filter: filter.to_owned(),
    };
    let views = vec![view("doomed", COPIES.0, "state:extra"), view("guests", "fleet", "guest")];
    let known = subject(COPIES, "guest-payments", "ConfigMap", "ext-auth-ca-old").to_string();
    let accepted = AcceptRule {
        finding: Glob::parse(&known).unwrap(),
        reason: "kept for the auditors".to_owned(),
        until: "2026-12-31".parse().unwrap(),
    };
    ModelSettings { zone: Zone::Utc, views, accepted: vec![accepted], ..ModelSettings::default() }
}

pub fn sheet() -> ObjectSheet {
    let yaml = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: ext-auth-client-old\n  namespace: openshift-config\n\
                data:\n  clientSecret: <40 bytes>\ntype: Opaque";
    ObjectSheet {
        title: "Secret openshift-config/ext-auth-client-old".to_owned(),
        yaml: yaml.lines().map(str::to_owned).collect(),
        credentials: 0,
        events: Ok(vec![
            "09:02:11  Normal  Synced  the copy was made by the control plane operator".to_owned(),
            "09:58:40  Warning  NotReferenced  no provider names it".to_owned(),
        ]),
    }
}

/// An object with one value that looks like a credential, masked.
pub fn sheet_of_config_map() -> ObjectSheet {
    sheet_with_password("<7 bytes, looks like a password>")
}

/// The same with this value.
pub fn sheet_with_password(password: &str) -> ObjectSheet {
    let yaml = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ext-auth-ca-old\n  namespace: openshift-config\n\
         data:\n  db-password: {password}"
    );
    ObjectSheet {
        title: "ConfigMap openshift-config/ext-auth-ca-old".to_owned(),
        yaml: yaml.lines().map(str::to_owned).collect(),
        credentials: 1,
        events: Ok(Vec::new()),
    }
}

/// References of a copy that is no longer named, read with its metadata.
pub fn references(subject: &SubjectId) -> ReferenceSheet {
    let own = RelatedObject::of_subject(subject);
    let cluster = RelatedObject::new("mgmt-eu", "HostedCluster", Some("clusters"), "payments");
    let source = RelatedObject::new("mgmt-eu", "Secret", Some("clusters-payments"), "ext-auth-client-old");
    let link = |from: &RelatedObject, verb: &str, to: &RelatedObject, standing, note: &str| Relation {
        from: from.clone(),
        verb: verb.to_owned(),
        to: to.clone(),
        standing,
        note: note.to_owned(),
        written: None,
    };
    ReferenceSheet {
        relations: Relations {
            links: vec![
                link(&cluster, "names", &source, RelationStanding::Broken, "does not name it"),
                link(&source, "copied", &own, RelationStanding::Unknown, "forbidden (get secrets)"),
            ],
            used_by: vec![RelatedObject::new("guest-payments", "OAuth", None, "cluster")],
            searched: vec!["Proxy".to_owned(), "Image".to_owned()],
            unread: Vec::new(),
        },
        metadata: Some(Ok(ObjectMetadata {
            owners: Vec::new(),
            finalizers: vec!["example.com/keep".to_owned()],
            managers: vec![FieldManager { name: "hosted-cluster-config-operator".to_owned(), at: Some(ago(86_400)) }],
        })),
    }
}
