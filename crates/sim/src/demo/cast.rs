//! Who is in the story, and what happened to each of them before it begins.
//!
//! Always true: the past is told with the same people and operators that act later, so nothing in the first scene is a
//! state the real ones couldn't leave behind.
//!
//! Between them, the guests show every verdict of the hosted-oidc check; `tests/demo_story.rs` counts them.

use jiff::{SignedDuration, Timestamp};

use super::DemoClass;
use super::dice::Dice;
use super::guest::{CopyMarks, Guest, Operator};
use super::objects::{self, CLUSTERS, COPIES, RESTORED_ANNOTATION};
use super::operators::Operators;
use super::people;
use super::provider::{Authentication, CopyKind, Provider};
use super::reach::Reach;
use crate::Rule;

pub const CHECKOUT: &str = "guest-checkout";
pub const SEARCH: &str = "guest-search";
pub const LEDGER: &str = "guest-ledger";

/// A management cluster.
pub struct Host {
    pub name: &'static str,
    pub class: DemoClass,
}

pub const HOSTS: [Host; 3] = [
    Host { name: "mgmt-eu", class: DemoClass::Prod },
    Host { name: "mgmt-us", class: DemoClass::Prod },
    Host { name: "stage-1", class: DemoClass::Stage },
];

/// The guest whose admin's certificate nobody renewed.
pub const EXPIRED_ADMIN: &str = "guest-reports";
/// The management cluster that keeps workload clusters on EKS as well.
pub const WORKLOADS_HOST: &str = "mgmt-us";

/// A guest, with its past.
pub struct Character {
    pub name: &'static str,
    /// Which of the hosts.
    pub host: usize,
    pub class: DemoClass,
    pub marks: CopyMarks,
    pub past: fn(&mut Past),
}

const fn character(name: &'static str, host: usize, class: DemoClass, past: fn(&mut Past)) -> Character {
    Character { name, host, class, marks: CopyMarks::ManagedAndOidc, past }
}

pub const CAST: [Character; 10] = [
    character("guest-payments", 0, DemoClass::Prod, payments),
    Character { marks: CopyMarks::ManagedOnly, ..character(SEARCH, 0, DemoClass::Prod, search) },
    character("guest-audit", 0, DemoClass::Prod, audit),
    character("guest-old", 0, DemoClass::Dev, old),
    character(CHECKOUT, 1, DemoClass::Prod, checkout),
    character("guest-mail", 1, DemoClass::Prod, mail),
    character("guest-reports", 1, DemoClass::Prod, reports),
    character(LEDGER, 1, DemoClass::Prod, ledger),
    character("guest-restored", 2, DemoClass::Stage, restored),
    character("guest-retired", 2, DemoClass::Stage, retired),
];

/// A guest while its past is told.
pub struct Past {
    pub guest: Guest,
    pub operators: Operators,
    pub reach: Reach,
    pub dice: Dice,
    pub start: Timestamp,
}

impl Past {
    pub fn ago(&self, time: SignedDuration) -> Timestamp {
        self.start.checked_sub(time).unwrap_or(Timestamp::MIN)
    }

    /// Somebody asks for this, with sources, and it comes through.
    pub fn log_in_by(&mut self, days_ago: i64, authentication: &Authentication) {
        let at = self.ago(days(days_ago));
        people::make_sources(&self.guest, authentication, &mut self.dice, at);
        people::ask_for(&self.guest, authentication, at);
        self.operators.settle(&self.guest, at);
    }

    /// One provider follows another: the first one's copies stay behind.
    pub fn move_from_to(&mut self, before: &str, after: &str) {
        self.log_in_by(200, &Authentication::oidc(before));
        self.log_in_by(12, &Authentication::oidc(after));
    }
}

/// Copies of a provider that is gone, with leftovers; one object that doesn't want to go.
fn payments(past: &mut Past) {
    past.move_from_to("ext-auth", "keycloak");
    let at = past.ago(SignedDuration::from_mins(50));
    let mut stuck = objects::one_key(CopyKind::Secret, COPIES, "old-signing-key", "key", "not a key");
    objects::mark_deleted(&mut stuck, at, "payments.example/audit");
    super::guest::put(&past.guest.sim, at, stuck);
}

/// An older release, whose copies carry no mark of their own, and a secret that has just been rotated.
fn search(past: &mut Past) {
    past.move_from_to("okta-legacy", "okta");
    let at = past.ago(SignedDuration::from_mins(20));
    people::rotate(&past.guest, CopyKind::Secret, "okta-console", &mut past.dice, at);
    past.operators.settle(&past.guest, at);
}

/// Secrets that even the admin may not see.
fn audit(past: &mut Past) {
    past.move_from_to("audit-sso-2024", "audit-sso");
    past.guest.sim.rbac(|rules| {
        rules.deny("*", Rule::new(&[], "secrets").in_namespace(COPIES));
        // Looking everywhere would show them, too.
        rules.deny("*", Rule::new(&["list", "watch"], "secrets").in_namespace(""));
    });
}

/// A control plane that nobody answers for any more.
fn old(past: &mut Past) {
    past.move_from_to("ldap-bridge", "dex");
    past.reach = Reach::Refused;
    let at = past.ago(SignedDuration::from_hours(30));
    let since = at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    past.guest.hosted_cluster().edit(at, |cluster| {
        for kind in ["KubeAPIServerAvailable", "Available"] {
            let says = "the kube-apiserver deployment has no ready replicas";
            objects::set_condition(cluster, objects::condition(kind, "False", "NotAvailable", says, &since));
        }
    });
}

/// Where people change their minds while the story runs. Elsewhere it is calm enough to act on what is seen.
fn checkout(past: &mut Past) {
    past.log_in_by(60, &Authentication::oidc("checkout-sso"));
}

/// The authentication block was taken out altogether, so the guest goes on with what it had.
fn mail(past: &mut Past) {
    past.move_from_to("mail-sso-2024", "mail-sso");
    past.log_in_by(3, &Authentication::Absent);
}

/// Several things went wrong at once: a source was deleted, a copy too, and the way back names a CA nobody has made.
fn reports(past: &mut Past) {
    let authority = "reports-ca";
    let provider = |name: &str| Provider::new(name).with_authority(authority);
    past.log_in_by(120, &Authentication::Oidc(Some(provider("reports-2025"))));
    past.log_in_by(30, &Authentication::Oidc(Some(provider("reports-2026").with_cli_secret())));
    past.guest.config_operator = Operator::Stuck;
    let source = "reports-2026-cli";
    for namespace in [CLUSTERS, &past.guest.control_plane_namespace()] {
        past.guest.outside(CopyKind::Secret, namespace, source).remove();
    }
    past.guest.inside(CopyKind::ConfigMap, COPIES, authority).remove();
    let at = past.ago(days(1));
    let since = at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let says = format!("failed to reconcile oauth client secrets: failed to get OIDCClient secret {source}");
    let kind = "ConfigOperatorReconciliationSucceeded";
    let complaint = objects::condition(kind, "False", "ReconcileError", &says, &since);
    past.guest.control_plane().edit(at, |plane| objects::set_condition(plane, complaint));
    let back = Provider::new("reports-2025").with_authority("reports-ca-next");
    people::ask_for(&past.guest, &Authentication::Oidc(Some(back)), at);
    past.operators.settle(&past.guest, at);
}

fn ledger(past: &mut Past) {
    past.move_from_to("ledger-sso-2024", "ledger-sso");
    let at = past.ago(SignedDuration::from_hours(5));
    past.guest.hosted_cluster().edit(at, |cluster| cluster["spec"]["pausedUntil"] = "true".into());
    past.operators.settle(&past.guest, at);
}

fn restored(past: &mut Past) {
    past.move_from_to("stage-sso-2024", "stage-sso");
    let at = past.ago(SignedDuration::from_mins(12));
    for place in [past.guest.hosted_cluster(), past.guest.control_plane()] {
        place.edit(at, |hosted| hosted["metadata"]["annotations"][RESTORED_ANNOTATION] = "true".into());
    }
}

fn retired(past: &mut Past) {
    past.log_in_by(150, &Authentication::oidc("retired-sso"));
    past.log_in_by(40, &Authentication::IntegratedOAuth);
    let at = past.ago(SignedDuration::from_mins(4));
    for place in [past.guest.hosted_cluster(), past.guest.control_plane()] {
        place.edit(at, |hosted| objects::mark_deleted(hosted, at, objects::FINALIZER));
    }
}

fn days(number: i64) -> SignedDuration {
    SignedDuration::from_hours(24 * number)
}
