use std::convert::Infallible;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;

use super::text::width;
use super::{Brief, FindingSource, Matches, Page, csv, explain_text, markdown, table};
use crate::cli::terminal::{Color, Stderr, Terminal};
use trueup_core::engine::text::{Charset, Printable};
use trueup_core::engine::{Finding, Plan, State};

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
        self.0.iter().map(|finding| Brief { state: finding.state, cluster: &finding.cluster, account: None })
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
            let text = table(&page(&plan, Some(columns), charset, Matches::Listed));
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
    insta::assert_snapshot!(table(&page(&plan, Some(100), Charset::Unicode, Matches::Counted)), @r##"
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
    let text = table(&page(&plan, None, Charset::Ascii, Matches::Listed));
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
