//! No gap ever yields a delete that could be carried out: the loop with the check for hosted guests, on clusters that
//! can't be reached, refuse, answer by half, or fall silent.
//!
//! Each test begins with a delete that is offered, or proves with the same fleet that it would have been.

use tokio::time::Instant;

use super::*;
use trueup_checks::hosted_oidc::HostedOidc;
use trueup_core::engine::{
    AccessAnswer, Conditions, FRESH_FOR, Judged, Observed, PlanInput, PlanScope, Verb as ActionVerb, access_questions,
    build,
};

const SETTLE: Duration = Duration::from_secs(3);
/// Longer than any wait of an observer (five minutes after a refusal), and than a silent watch is put up with (nine).
const LONG: Duration = Duration::from_secs(15 * 60);
/// Other Secrets beside the copy: a few, and more than one page of 500.
const FEW: usize = 10;
const TWO_PAGES: usize = 520;

/// A management cluster and its guest, which holds one copy that nothing needs.
struct Fleet {
    mgmt: SimCluster,
    guest: SimCluster,
    live: Live,
}

fn fleet(others: usize) -> Fleet {
    let mgmt = management(&["guest-a"]);
    let hosted = "hypershift.openshift.io/v1beta1";
    mgmt.register(ResourceKind::custom(hosted, "HostedControlPlane", "hostedcontrolplanes").with_status());
    let annotations = json!({"hypershift.openshift.io/cluster": "clusters/guest-a"});
    mgmt.seed(json!({
        "apiVersion": hosted, "kind": "HostedControlPlane",
        "metadata": {"name": "guest-a", "namespace": "clusters-guest-a", "annotations": annotations},
        "spec": {"configuration": {"authentication": {"type": "OIDC", "oidcProviders": []}}},
    }))
    .unwrap();
    let guest = cluster("guest-a", 2);
    let configs = [
        ("Infrastructure", "infrastructures"),
        ("Authentication", "authentications"),
        ("Proxy", "proxies"),
        ("Image", "images"),
        ("APIServer", "apiservers"),
        ("OAuth", "oauths"),
    ];
    for (kind, plural) in configs {
        guest.register(ResourceKind::custom("config.openshift.io/v1", kind, plural).cluster_scoped().with_status());
    }
    let labels =
        json!({"hypershift.openshift.io/managed": "true", "hypershift.openshift.io/oidc-provider-managed": "true"});
    seed_copy(&guest, "an-orphan", labels);
    for count in 0..others {
        seed_copy(&guest, &format!("foreign-{count}"), json!({}));
    }
    let ports = Ports::new(Arc::new(PausedClock(Instant::now())), Arc::new(FixedJitter), Digester::new(&[5; 32]));
    let live = Live::new(LiveSetup {
        domains: vec![Box::new(HostedOidc::default())],
        members: vec![member("mgmt", FixedConnector(mgmt.client()))],
        resolver: Box::new(Guests([("guest-a".to_owned(), guest.clone())].into())),
        ports,
        live_max: LIVE_MAX,
    });
    Fleet { mgmt, guest, live }
}

fn seed_copy(guest: &SimCluster, name: &str, labels: serde_json::Value) {
    let metadata = json!({"name": name, "namespace": "openshift-config", "labels": labels});
    let data = json!({"clientSecret": "czNjcmV0"});
    guest
        .seed(json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": metadata, "data": data}))
        .unwrap();
}

impl Fleet {
    /// The names of what a plan made now would offer to delete, on clusters that allow everything.
    fn offered(&self) -> Vec<String> {
        let view = self.live.view();
        let judged: Vec<Judged> = self
            .live
            .judgements()
            .iter()
            .filter_map(|(subject, held)| {
                let explanation = self.live.domains()[0].explain(subject, view)?;
                Some(Judged { subject: subject.clone(), judgement: held.judgement.clone(), explanation })
            })
            .collect();
        let questions = judged.iter().flat_map(|one| &one.explanation.remedy).flat_map(access_questions);
        let conditions = Conditions {
            access: questions.map(|question| (question, AccessAnswer::Allowed)).collect(),
            settle: SETTLE,
            held: self.live.judgements().held_for(view),
            ..Conditions::at(view.now)
        };
        let plan = build(&PlanInput {
            judged: &judged,
            unexplained: trueup_core::engine::Unexplained::NONE,
            clusters: view.clusters().collect(),
            observed: Observed::all(view),
            accepted: &[],
            scope: &PlanScope::default(),
            conditions: &conditions,
        });
        let actions = plan.unwrap().actions.into_iter();
        let open = actions.filter(|action| action.verb() == ActionVerb::Delete && action.blocked_by.is_empty());
        open.map(|action| action.target.name).collect()
    }

    /// Looks twice, as `trueup plan` does.
    async fn look_twice(&mut self) {
        self.live.wait_settled(PATIENCE).await;
        let until = Instant::now() + SETTLE;
        while tokio::time::timeout_at(until, self.live.step()).await.is_ok() {}
        self.live.resync();
        self.live.wait_settled(PATIENCE).await;
    }

    /// Runs for a long time, and fails at the first delete that is offered.
    async fn offers_nothing(&mut self, case: &str) {
        let until = Instant::now() + LONG;
        assert_eq!(self.offered(), [""; 0], "case: {case}, at once");
        while tokio::time::timeout_at(until, self.live.step()).await.is_ok() {
            assert_eq!(self.offered(), [""; 0], "case: {case}, at {}", self.live.view().now);
        }
    }

    /// Runs until the delete is offered again: without the failure it is.
    async fn offers_again(&mut self, case: &str) {
        let offered = tokio::time::timeout(LONG, async {
            while self.offered().is_empty() {
                self.live.step().await;
            }
        });
        assert!(offered.await.is_ok(), "case: {case}: never offered again");
    }

    /// Where a failure can strike, and whose it is: everything that proves the copy needless.
    fn places(&self) -> [(&'static str, SimCluster); 5] {
        let (mgmt, guest) = (&self.mgmt, &self.guest);
        [
            ("secrets", guest.clone()),
            ("authentications.config.openshift.io", guest.clone()),
            ("apiservers.config.openshift.io", guest.clone()),
            ("oauths.config.openshift.io", guest.clone()),
            ("hostedcontrolplanes.hypershift.openshift.io", mgmt.clone()),
        ]
    }
}

const PLACES: usize = 5;

#[tokio::test(start_paused = true)]
async fn what_is_known_completely_and_held_is_offered() {
    let mut fleet = fleet(FEW);
    fleet.live.wait_settled(PATIENCE).await;
    assert_eq!(fleet.offered(), [""; 0], "one look is not enough");
    fleet.look_twice().await;
    assert_eq!(fleet.offered(), ["an-orphan"]);
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_cluster_never_yields_a_delete() {
    for case in ["the guest", "the management cluster", "the guest, later", "the management cluster, later"] {
        let mut fleet = fleet(FEW);
        let sim = if case.starts_with("the guest") { fleet.guest.clone() } else { fleet.mgmt.clone() };
        if case.ends_with("later") {
            fleet.look_twice().await;
            assert_eq!(fleet.offered(), ["an-orphan"], "case: {case}");
            sim.disconnect();
            until(&mut fleet.live, "noticed", |live| {
                live.view().clusters().any(|one| matches!(one.link, Link::Degraded { .. }))
            })
            .await;
        } else {
            sim.disconnect();
            fleet.look_twice().await;
        }
        fleet.offers_nothing(case).await;
        sim.reconnect();
        fleet.offers_again(case).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_forbidden_list_never_yields_a_delete() {
    for place in 0..PLACES {
        for from_the_start in [true, false] {
            let mut fleet = fleet(FEW);
            let (resource, sim) = fleet.places()[place].clone();
            let case = format!("{resource}, from the start: {from_the_start}");
            if !from_the_start {
                fleet.look_twice().await;
                assert_eq!(fleet.offered(), ["an-orphan"], "case: {case}");
            }
            sim.rbac(|rbac| {
                rbac.deny("*", Rule::new(&["list", "watch"], resource));
            });
            fleet.look_twice().await;
            fleet.offers_nothing(&case).await;
            sim.rbac(|rbac| rbac.clear());
            fleet.offers_again(&case).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_breaks_half_way_never_yields_a_delete() {
    let actions = [
        FaultAction::Refuse { code: 500, retry_after_seconds: None },
        FaultAction::LostBefore,
        FaultAction::Truncate { bytes: 2000 },
        FaultAction::Html,
        FaultAction::Expired,
    ];
    for action in actions {
        let mut fleet = fleet(TWO_PAGES);
        let pages = Matcher::of("secrets").verb(Verb::List);
        fleet.guest.fault(Fault::always(pages, action.clone()).after(1));
        fleet.look_twice().await;
        assert!(fleet.guest.with(|server, _| server.faults().struck()) > 0, "action: {action:?}: no second page");
        fleet.offers_nothing(&format!("{action:?}")).await;
        fleet.guest.clear_faults();
        fleet.offers_again(&format!("{action:?}")).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_watch_takes_its_delete_back_and_never_offers_it_again() {
    for place in 0..PLACES {
        let mut fleet = fleet(FEW);
        let (resource, sim) = fleet.places()[place].clone();
        // The connection stays open and says nothing; what was listed is fresh for a while.
        sim.fault(Fault::always(Matcher::of(resource).verb(Verb::Watch), FaultAction::WatchSilent));
        fleet.look_twice().await;
        assert_eq!(fleet.offered(), ["an-orphan"], "case: {resource}");
        // From here on nobody learns anything new either.
        sim.fault(Fault::always(Matcher::of(resource).verb(Verb::List), FaultAction::Stall));
        let stale = Instant::now() + FRESH_FOR + Duration::from_secs(1);
        while tokio::time::timeout_at(stale, fleet.live.step()).await.is_ok() {}
        fleet.offers_nothing(resource).await;
        let plural = resource.split('.').next();
        let lost = fleet.live.view().observations().any(|(id, known, _)| {
            id.cluster.as_str() == sim.name() && Some(id.resource.plural) == plural && known.gap().is_some()
        });
        assert!(lost, "case: {resource}: a silent watch still counts as complete");
        sim.clear_faults();
        fleet.offers_again(resource).await;
    }
}
