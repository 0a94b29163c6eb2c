use std::convert::Infallible;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;

use super::text::width;
use super::{
    Brief, Detail, FindingSource, Matches, Page, PlanFormat, csv, explain_text, junit, markdown, name, openmetrics,
    sarif, table,
};
use crate::cli::terminal::{Color, Stderr, Terminal};
use trueup_core::engine::text::{Charset, Printable, misleads};
use trueup_core::engine::{Evidence, Finding, Plan, State};

const CREATED: &str = "2026-11-16T10:00:00Z";

/// Findings whose subjects are 41 days old.
#[derive(serde::Deserialize)]
struct Old(Vec<Finding>);

impl FindingSource for Old {
    fn each<T: Send, E>(
        &self,
        wanted: impl Fn(State) -> bool,
        make: impl Fn(Finding, Option<Timestamp>) -> T + Sync,
        mut take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let created = "2026-10-06T10:00:00Z".parse().ok();
        let wanted = self.0.iter().filter(|finding| wanted(finding.state));
        wanted.cloned().map(|finding| make(finding, created)).try_for_each(&mut take)
    }

    fn brief(&self) -> impl Iterator<Item = Brief<'_>> {
        self.0.iter().map(Brief::of)
    }
}

/// A document that is written in parts.
fn whole(write: impl FnOnce(&mut dyn FnMut(&Printable) -> Result<(), Infallible>) -> Result<(), Infallible>) -> String {
    let mut text = String::new();
    let Ok(()) = write(&mut |part| {
        text.push_str(part);
        Ok(())
    });
    text
}

/// A plan with one finding of each kind the tables treat differently.
fn plan() -> Plan<Old> {
    let subject =
        |name: &str| json!({ "apiVersion": "v1", "kind": "Secret", "namespace": "openshift-config", "name": name });
    let finding = |name: &str, state: &str, more: serde_json::Value| {
        let mut finding = json!({
            "id": format!("hosted-oidc/guest-a/Secret/openshift-config/{name}"), "domain": "hosted-oidc",
            "cluster": "guest-a", "subject": subject(name), "state": state, "verdict": "orphan-certain", "codes": [],
            "summary": "no provider names it, and its label says that it was made for one of them",
            "evidence": [], "expected": null, "actual": { "data": { "a": "<3 bytes>" }, "none": {} }, "actions": [],
        });
        finding.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        finding
    };
    let long = format!("ext-auth-{}-old", "x".repeat(60));
    let accepted = json!({ "accepted": { "reason": "kept for the audit", "until": "2026-12-31", "state": "extra" } });
    serde_json::from_value(json!({
        "schema": "trueup/plan/v1", "id": format!("sha256:5f21c9aa{}", "0".repeat(56)), "created_at": CREATED,
        "expires_at": "2026-11-16T10:15:00Z", "engine": "0.1.0",
        "targets": [ { "cluster": "guest-a", "source": "hosted", "class": "prod", "identity": { "kube_system_uid": "", "ca_sha256": "" } } ],
        "observations": [
            { "cluster": "guest-a", "resource": "v1/secrets", "state": "complete", "at": "2026-11-16T09:59:30Z" },
            { "cluster": "guest-a", "resource": "v1/configmaps", "state": "unknown", "reason": "forbidden" },
        ],
        "findings": [ finding(&long, "extra", json!({ "actions": ["a1"] })), finding("kept", "match", accepted), finding("ok", "match", json!({})) ],
        "actions": [ {
            "id": "a1", "finding": format!("hosted-oidc/guest-a/Secret/openshift-config/{long}"), "domain": "hosted-oidc",
            "cluster": "guest-a", "verb": "delete", "target": subject(&long), "preconditions": {}, "selected": true,
            "reason": "no-referrer", "ownership": ["label managed"], "tier": 3, "diff": "- kind: Secret", "change": {},
            "undo": "restore-from-backup", "depends_on": [], "rests_on": [],
            "origin": { "finding": format!("hosted-oidc/guest-a/Secret/openshift-config/{long}") },
            "blocked_by": [ { "gate": "not-complete", "why": "the list is older than 90 s; look again" } ],
        } ],
        "summary": { "findings": { "extra": 1, "match": 2 }, "actions": { "delete": 1 }, "blocked": 1 },
    }))
    .unwrap()
}

fn page(plan: &Plan<Old>, width: Option<usize>, charset: Charset, matches: Matches) -> Page<'_, Old> {
    let terminal = Terminal { charset, color: Color::Off, width, stderr: Stderr::Machine };
    Page { plan, now: CREATED.parse().unwrap(), zone: TimeZone::UTC, terminal, matches }
}

#[test]
fn on_a_terminal_no_line_is_longer_than_it_is_wide() {
    let plan = plan();
    for columns in [40, 60, 80, 100, 132, 200] {
        for charset in [Charset::Unicode, Charset::Ascii] {
            let text = table(&page(&plan, Some(columns), charset, Matches::Listed), Detail::Usual);
            // Below 80 the columns that are never cut need more columns than there are.
            let limit = columns.max(80);
            for line in text.lines().filter(|line| line.starts_with(' ')) {
                assert!(width(line) <= limit, "{columns} columns: {line}");
            }
        }
    }
}

#[test]
fn a_screen_of_100_columns_shows_both_ends_of_a_long_name() {
    let plan = plan();
    insta::assert_snapshot!(table(&page(&plan, Some(100), Charset::Unicode, Matches::Counted), Detail::Usual), @r##"
plan 5f21c9aa  made 2026-11-16 10:00:00 UTC, valid until 10:15:00

guest-a  prod  hosted  as of 30s ago  1 of 2 collections not complete
  − extra   Secret  openshift-config/ext-auth-xxx…xxxxxxxxxxxxxxxxxxxxxxxxxx-old  orphan-certain 41d
         no provider names it, and its label says that it was made for one of them
  = ok      2

  [x] a1 T3 delete   Secret openshift-config/ext-auth-xxxxxxxxx…xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-old
         no-referrer, undo: restore-from-backup
         ⊘ not-complete: the list is older than 90 s; look again

1 cluster · 3 findings: 2 ok, 1 extra · 1 action: 1 delete · 1 blocked
"##);
}

#[test]
fn into_a_pipe_nothing_is_cut() {
    let plan = plan();
    let text = table(&page(&plan, None, Charset::Ascii, Matches::Listed), Detail::Usual);
    assert!(text.contains(&plan.findings.0[0].subject.name) && text.is_ascii());
    assert!(text.contains("accepted until 2026-12-31 although extra: kept for the audit"));
}

#[test]
fn every_form_names_the_gate_that_is_shut() {
    let plan = plan();
    let page = page(&plan, None, Charset::Unicode, Matches::Listed);
    for (form, text) in [
        ("markdown", whole(|write| markdown(&page, write))),
        ("explain", explain_text(&page, &plan.findings.0[0], None)),
    ] {
        assert!(text.contains("not-complete: the list is older than 90 s; look again"), "{form}: {text}");
    }
    assert!(whole(|write| csv(&page, write)).contains("a1 delete (not selected or blocked)"));
}

/// A plan whose texts are what a cluster could say to break a document.
fn hostile() -> Plan<Old> {
    const TEXT: &str = "\u{1b}[2J</failure>\"'&<x>\n{0} [a](b)\u{202e}\u{ffff}\\";
    let mut plan = plan();
    for (number, finding) in plan.findings.0.iter_mut().enumerate() {
        (finding.summary, finding.subject.name) = (TEXT.to_owned(), format!("{number}{TEXT}"));
        (finding.verdict, finding.codes, finding.cluster) = (TEXT.to_owned(), vec![TEXT.to_owned()], TEXT.to_owned());
        finding.evidence = vec![Evidence {
            message: TEXT.to_owned(),
            object: TEXT.to_owned(),
            field: TEXT.to_owned(),
            resource_version: String::new(),
        }];
    }
    plan.actions[0].blocked_by[0].why = TEXT.to_owned();
    plan
}

const FORMATS: [PlanFormat; 11] = [
    PlanFormat::Table,
    PlanFormat::Wide,
    PlanFormat::Json,
    PlanFormat::Yaml,
    PlanFormat::Name,
    PlanFormat::Markdown,
    PlanFormat::Csv,
    PlanFormat::Junit,
    PlanFormat::Sarif,
    PlanFormat::Openmetrics,
    PlanFormat::Html,
];

#[test]
fn no_format_lets_a_cluster_steer_the_terminal() {
    let plan = hostile();
    let page = page(&plan, None, Charset::Unicode, Matches::Listed);
    for format in FORMATS {
        let text = whole(|write| super::plan(&page, format, |_| Ok(()), write));
        assert!(!text.chars().any(|letter| letter != '\n' && misleads(letter)), "{format:?}: {text}");
    }
}

#[test]
fn junit_and_sarif_stay_well_formed_whatever_a_cluster_says() {
    let plan = hostile();
    let page = page(&plan, None, Charset::Unicode, Matches::Listed);
    let xml = whole(|write| junit(&page, write));
    let mut reader = quick_xml::Reader::from_str(&xml);
    reader.config_mut().check_end_names = true;
    let mut elements = Vec::new();
    loop {
        let event = reader.read_event().unwrap();
        if let quick_xml::events::Event::Start(start) | quick_xml::events::Event::Empty(start) = &event {
            start.attributes().for_each(|attribute| drop(attribute.unwrap()));
            elements.push(start.name().as_ref().to_owned());
        }
        if matches!(event, quick_xml::events::Event::Eof) {
            break;
        }
    }
    assert_eq!(elements.iter().filter(|name| *name == "failure").count(), 1, "{xml}");
    assert!(!elements.contains(&"x".to_owned()) && !xml.contains('\u{ffff}'), "{xml}");
    let json: serde_json::Value = serde_json::from_str(&whole(|write| sarif(&page, write))).unwrap();
    let text = json["runs"][0]["results"][0]["message"]["text"].as_str().unwrap();
    assert!(text.contains("{{0}} [a\\](b)"), "{text}");
}

#[test]
fn junit_fails_what_differs_and_skips_what_is_accepted() {
    let mut plan = plan();
    plan.findings.0[2].state = State::Unknown;
    plan.findings.0[2].verdict = "unknown".to_owned();
    let page = page(&plan, None, Charset::Unicode, Matches::Counted);
    insta::assert_snapshot!(whole(|write| junit(&page, write)).replace(&"x".repeat(60), "x"), @r##"
<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite id="0" package="trueup" name="hosted-oidc" hostname="localhost" timestamp="2026-11-16T10:00:00" tests="3" failures="1" errors="1" skipped="1" time="0">
    <properties>
      <property name="plan" value="sha256:5f21c9aa00000000000000000000000000000000000000000000000000000000"/>
      <property name="trueup" value="0.1.0"/>
    </properties>
    <testcase classname="hosted-oidc.guest-a" name="Secret openshift-config/ext-auth-x-old" time="0">
      <failure type="orphan-certain" message="extra: no provider names it, and its label says that it was made for one of them">finding: hosted-oidc/guest-a/Secret/openshift-config/ext-auth-x-old
action: a1 T3 delete Secret openshift-config/ext-auth-x-old
blocked by not-complete: the list is older than 90 s; look again</failure>
    </testcase>
    <testcase classname="hosted-oidc.guest-a" name="Secret openshift-config/kept" time="0">
      <skipped message="accepted until 2026-12-31 although extra: kept for the audit"/>
    </testcase>
    <testcase classname="hosted-oidc.guest-a" name="Secret openshift-config/ok" time="0">
      <error type="unknown" message="unknown: no provider names it, and its label says that it was made for one of them">finding: hosted-oidc/guest-a/Secret/openshift-config/ok</error>
    </testcase>
    <system-out/>
    <system-err/>
  </testsuite>
</testsuites>
"##);
}

#[test]
fn a_wide_table_says_more_and_cuts_nothing() {
    let plan = plan();
    let page = page(&plan, Some(100), Charset::Unicode, Matches::Counted);
    let text = whole(|write| super::plan(&page, PlanFormat::Wide, |_| Ok(()), write));
    insta::assert_snapshot!(text.replace(&"x".repeat(60), "x"), @r##"
plan 5f21c9aa  made 2026-11-16 10:00:00 UTC, valid until 10:15:00

guest-a  prod  hosted  as of 30s ago  1 of 2 collections not complete
  − extra   Secret  openshift-config/ext-auth-x-old  orphan-certain 41d  hosted-oidc  a1  no provider names it, and its label says that it was made for one of them
  = ok      2

  [x] a1 T3 delete   Secret openshift-config/ext-auth-x-old  no-referrer, undo: restore-from-backup, finding: hosted-oidc/guest-a/Secret/openshift-config/ext-auth-x-old
         ⊘ not-complete: the list is older than 90 s; look again

1 cluster · 3 findings: 2 ok, 1 extra · 1 action: 1 delete · 1 blocked
"##);
}

#[test]
fn openmetrics_have_every_state_of_a_check() {
    let plan = plan();
    let page = page(&plan, None, Charset::Unicode, Matches::Counted);
    insta::assert_snapshot!(whole(|write| openmetrics(&page, write)), @r##"
# TYPE trueup_findings gauge
# HELP trueup_findings Findings by cluster, check and state.
trueup_findings{cluster="guest-a",check="hosted-oidc",state="match"} 2
trueup_findings{cluster="guest-a",check="hosted-oidc",state="missing"} 0
trueup_findings{cluster="guest-a",check="hosted-oidc",state="extra"} 1
trueup_findings{cluster="guest-a",check="hosted-oidc",state="drift"} 0
trueup_findings{cluster="guest-a",check="hosted-oidc",state="stale"} 0
trueup_findings{cluster="guest-a",check="hosted-oidc",state="unknown"} 0
trueup_findings{cluster="guest-a",check="hosted-oidc",state="error"} 0
trueup_findings{cluster="guest-a",check="hosted-oidc",state="blocked"} 0
# TYPE trueup_actions gauge
# HELP trueup_actions Planned actions by cluster, check, verb, and whether a gate blocks them.
trueup_actions{cluster="guest-a",check="hosted-oidc",verb="delete",blocked="true"} 1
# TYPE trueup_plan_created_timestamp_seconds gauge
# UNIT trueup_plan_created_timestamp_seconds seconds
trueup_plan_created_timestamp_seconds 1794823200
# TYPE trueup_plan_expires_timestamp_seconds gauge
# UNIT trueup_plan_expires_timestamp_seconds seconds
trueup_plan_expires_timestamp_seconds 1794824100
# TYPE trueup_build info
trueup_build_info{version="0.1.0"} 1
# EOF
"##);
}

#[test]
fn names_are_those_of_kubectl() {
    let mut plan = plan();
    let cases = [
        (json!({ "apiVersion": "v1", "kind": "Secret", "namespace": "n", "name": "a" }), "secret/a\n"),
        (
            json!({ "apiVersion": "machine.openshift.io/v1beta1", "kind": "MachineSet", "namespace": "n", "name": "a" }),
            "machineset.machine.openshift.io/a\n",
        ),
        (json!({ "cloud": "ibm", "account": "x", "kind": "vpc", "id": "r006-1", "name": "demo" }), "vpc.ibm/r006-1\n"),
    ];
    for (subject, expected) in cases {
        plan.findings.0[0].subject = serde_json::from_value(subject).unwrap();
        let page = page(&plan, None, Charset::Unicode, Matches::Counted);
        assert_eq!(whole(|write| name(&page, write)), expected);
    }
    let all = whole(|write| name(&page(&plan, None, Charset::Unicode, Matches::Listed), write));
    assert_eq!(all.lines().count(), 3, "{all}");
}
