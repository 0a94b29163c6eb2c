//! The guests of the scenario, and their state when it starts.
//!
//! Invariants: the state at the start is produced by the same user edits and operators that run later, so every state is
//! one that the real operators can leave behind. Together the guests show every verdict of hosted-oidc
//! (`tests/demo_scenario.rs` counts them).

use jiff::{SignedDuration, Timestamp};

use super::DemoClass;
use super::guest::{CopyMarks, Guest, Operator};
use super::objects::{self, CLUSTERS, COPIES, RESTORED_ANNOTATION};
use super::operators::Operators;
use super::provider::{Authentication, CopyKind, Provider};
use super::reach::Reach;
use super::seeded_rng::SeededRng;
use super::user_edits;
use crate::Rule;

pub const CHECKOUT: &str = "guest-checkout";
pub const SEARCH: &str = "guest-search";
pub const LEDGER: &str = "guest-ledger";

/// A management cluster.
pub struct ManagementSpec {
    pub name: &'static str,
    pub class: DemoClass,
}

pub const MANAGEMENT_CLUSTERS: [ManagementSpec; 3] = [
    ManagementSpec { name: "mgmt-eu", class: DemoClass::Prod },
    ManagementSpec { name: "mgmt-us", class: DemoClass::Prod },
    ManagementSpec { name: "stage-1", class: DemoClass::Stage },
];

/// The guest whose admin certificate has expired.
pub const EXPIRED_ADMIN: &str = "guest-reports";
/// The management cluster that also manages workload clusters on EKS.
pub const WORKLOADS_HOST: &str = "mgmt-us";
/// The second management cluster with PowerVS clusters.
pub const SECOND_POWER_HOST: &str = "mgmt-eu";
/// The management clusters whose PowerVS clusters share one account.
pub const POWER_HOSTS: &str = "mgmt-*";

/// A guest and the function that builds its state at the start.
pub struct GuestSpec {
    pub name: &'static str,
    /// Index into [`MANAGEMENT_CLUSTERS`].
    pub host: usize,
    pub class: DemoClass,
    pub marks: CopyMarks,
    pub setup: fn(&mut GuestSetup),
}

const fn guest_spec(name: &'static str, host: usize, class: DemoClass, setup: fn(&mut GuestSetup)) -> GuestSpec {
    GuestSpec { name, host, class, marks: CopyMarks::ManagedAndOidc, setup }
}

pub const GUESTS: [GuestSpec; 10] = [
    guest_spec("guest-payments", 0, DemoClass::Prod, payments),
    GuestSpec { marks: CopyMarks::ManagedOnly, ..guest_spec(SEARCH, 0, DemoClass::Prod, search) },
    guest_spec("guest-audit", 0, DemoClass::Prod, audit),
    guest_spec("guest-old", 0, DemoClass::Dev, old),
    guest_spec(CHECKOUT, 1, DemoClass::Prod, checkout),
    guest_spec("guest-mail", 1, DemoClass::Prod, mail),
    guest_spec("guest-reports", 1, DemoClass::Prod, reports),
    guest_spec(LEDGER, 1, DemoClass::Prod, ledger),
    guest_spec("guest-restored", 2, DemoClass::Stage, restored),
    guest_spec("guest-retired", 2, DemoClass::Stage, retired),
];

/// A guest while its state at the start is built.
pub struct GuestSetup {
    pub guest: Guest,
    pub operators: Operators,
    pub reach: Reach,
    pub rng: SeededRng,
    pub start: Timestamp,
}

impl GuestSetup {
    pub fn ago(&self, time: SignedDuration) -> Timestamp {
        self.start.checked_sub(time).unwrap_or(Timestamp::MIN)
    }

    /// A user sets this authentication and creates its sources; the operators then reconcile.
    pub fn set_authentication(&mut self, days_ago: i64, authentication: &Authentication) {
        let at = self.ago(days(days_ago));
        user_edits::create_sources(&self.guest, authentication, &mut self.rng, at);
        user_edits::set_authentication(&self.guest, authentication, at);
        self.operators.settle(&self.guest, at);
    }

    /// Replaces one provider with another; the copies of the first stay behind.
    pub fn switch_provider(&mut self, before: &str, after: &str) {
        self.set_authentication(200, &Authentication::oidc(before));
        self.set_authentication(12, &Authentication::oidc(after));
    }
}

/// Copies of a removed provider, with leftovers, and one object held by a finalizer.
fn payments(setup: &mut GuestSetup) {
    setup.switch_provider("ext-auth", "keycloak");
    let at = setup.ago(SignedDuration::from_mins(50));
    let mut stuck = objects::one_key(CopyKind::Secret, COPIES, "old-signing-key", "key", "not a key");
    objects::mark_deleted(&mut stuck, at, "payments.example/audit");
    super::guest::put(&setup.guest.sim, at, stuck);
}

/// An older release whose copies have no OIDC label, and a secret rotated just now.
fn search(setup: &mut GuestSetup) {
    setup.switch_provider("okta-legacy", "okta");
    let at = setup.ago(SignedDuration::from_mins(20));
    user_edits::rotate(&setup.guest, CopyKind::Secret, "okta-console", &mut setup.rng, at);
    setup.operators.settle(&setup.guest, at);
}

/// Secrets that even the admin cannot list.
fn audit(setup: &mut GuestSetup) {
    setup.switch_provider("audit-sso-2024", "audit-sso");
    setup.guest.sim.rbac(|rules| {
        rules.deny("*", Rule::new(&[], "secrets").in_namespace(COPIES));
        // A list across all namespaces would return them as well.
        rules.deny("*", Rule::new(&["list", "watch"], "secrets").in_namespace(""));
    });
}

/// A control plane whose API server refuses connections.
fn old(setup: &mut GuestSetup) {
    setup.switch_provider("ldap-bridge", "dex");
    setup.reach = Reach::Refused;
    let at = setup.ago(SignedDuration::from_hours(30));
    let since = objects::api_time(at);
    setup.guest.hosted_cluster().edit(at, |cluster| {
        for kind in ["KubeAPIServerAvailable", "Available"] {
            let message = "the kube-apiserver deployment has no ready replicas";
            objects::set_condition(cluster, objects::condition(kind, "False", "NotAvailable", message, &since));
        }
    });
}

/// The guest whose users change its providers while the scenario runs. The other guests stay stable enough to plan for.
fn checkout(setup: &mut GuestSetup) {
    setup.set_authentication(60, &Authentication::oidc("checkout-sso"));
}

/// The authentication block was removed, so the guest keeps its last configuration.
fn mail(setup: &mut GuestSetup) {
    setup.switch_provider("mail-sso-2024", "mail-sso");
    setup.set_authentication(3, &Authentication::Absent);
}

/// Several faults at once: a deleted source, a deleted copy, and a rollback that names a CA that does not exist.
fn reports(setup: &mut GuestSetup) {
    let authority = "reports-ca";
    let provider = |name: &str| Provider::new(name).with_authority(authority);
    setup.set_authentication(120, &Authentication::Oidc(Some(provider("reports-2025"))));
    setup.set_authentication(30, &Authentication::Oidc(Some(provider("reports-2026").with_cli_secret())));
    setup.guest.config_operator = Operator::Stuck;
    let source = "reports-2026-cli";
    for namespace in [CLUSTERS, &setup.guest.control_plane_namespace()] {
        setup.guest.outside(CopyKind::Secret, namespace, source).remove();
    }
    setup.guest.inside(CopyKind::ConfigMap, COPIES, authority).remove();
    let at = setup.ago(days(1));
    let since = objects::api_time(at);
    let message = format!("failed to reconcile oauth client secrets: failed to get OIDCClient secret {source}");
    let kind = "ConfigOperatorReconciliationSucceeded";
    let complaint = objects::condition(kind, "False", "ReconcileError", &message, &since);
    setup.guest.control_plane().edit(at, |plane| objects::set_condition(plane, complaint));
    let back = Provider::new("reports-2025").with_authority("reports-ca-next");
    user_edits::set_authentication(&setup.guest, &Authentication::Oidc(Some(back)), at);
    setup.operators.settle(&setup.guest, at);
}

fn ledger(setup: &mut GuestSetup) {
    setup.switch_provider("ledger-sso-2024", "ledger-sso");
    let at = setup.ago(SignedDuration::from_hours(5));
    setup.guest.hosted_cluster().edit(at, |cluster| cluster["spec"]["pausedUntil"] = "true".into());
    setup.operators.settle(&setup.guest, at);
}

fn restored(setup: &mut GuestSetup) {
    setup.switch_provider("stage-sso-2024", "stage-sso");
    let at = setup.ago(SignedDuration::from_mins(12));
    for place in [setup.guest.hosted_cluster(), setup.guest.control_plane()] {
        place.edit(at, |hosted| hosted["metadata"]["annotations"][RESTORED_ANNOTATION] = "true".into());
    }
}

fn retired(setup: &mut GuestSetup) {
    setup.set_authentication(150, &Authentication::oidc("retired-sso"));
    setup.set_authentication(40, &Authentication::IntegratedOAuth);
    let at = setup.ago(SignedDuration::from_mins(4));
    for place in [setup.guest.hosted_cluster(), setup.guest.control_plane()] {
        place.edit(at, |hosted| objects::mark_deleted(hosted, at, objects::FINALIZER));
    }
}

fn days(number: i64) -> SignedDuration {
    SignedDuration::from_hours(24 * number)
}
