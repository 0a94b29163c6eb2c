//! The move to OIDC and back on the served demo, and what a check that was filtered out does not ask for.

use std::path::Path;
use std::process::Output;

use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;
use trueup_core::engine::Plan;
use trueup_sim::demo::{DemoRole, Scenario, ScenarioOptions, ScenarioRunner, Served, serve};
use trueup_sim::{Answer, Request, SimCluster};

use super::apply::{text, trueup};
use super::fixture::folder;
use super::prompt::AtTerminal;

const MADRID: &str = "ocp-madrid";

/// The demo behind ports, with its operators at hand.
struct Demo {
    dir: TempDir,
    scenario: Scenario,
    runner: ScenarioRunner,
    served: Served,
}

impl Demo {
    async fn start() -> Self {
        let dir = folder(&[("config.toml", "[domains.external-oidc]\nmanage = true\n")]);
        let options = ScenarioOptions { seed: 1, guests_more: 0, objects_more: 0, start: Timestamp::now() };
        let mut scenario = Scenario::new(&options);
        let served = serve(&mut scenario, "127.0.0.1:0".parse().unwrap(), dir.path()).await.unwrap();
        let runner = scenario.runner();
        Self { dir, scenario, runner, served }
    }

    fn run(&self, args: &[&str]) -> Output {
        let kubeconfig = ["--kubeconfig", self.served.kubeconfig.to_str().unwrap()];
        trueup(self.path(), &[args, &kubeconfig].concat())
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn sim(&self, name: &str) -> &SimCluster {
        &self.scenario.clusters.iter().find(|cluster| cluster.name == name).unwrap().sim
    }

    /// Patches the Authentication as kubectl does.
    fn patch(&self, spec: Value) {
        let path = "/apis/config.openshift.io/v1/authentications/cluster";
        let request = Request::new(Method::PATCH, path, json!({ "spec": spec }).to_string());
        let request = request.with_content_type("application/merge-patch+json");
        let Answer::Reply(reply) = self.sim(MADRID).with(|server, now| server.handle(now, &request)) else {
            panic!("a patch is answered at once");
        };
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
    }

    /// Lets the operators work until both revisions are on every node.
    fn settle(&mut self) {
        (0..40).for_each(|_| drop(self.runner.tick()));
    }

    /// Plans with the operators' work handed over to trueup.
    fn plan(&self) -> (Option<i32>, Plan, String) {
        let args = ["plan", "--context", MADRID, "--domain", "external-oidc", "--settle", "1s", "--config"];
        let output = self
            .run(&[&args[..], &["$TMP/config.toml", "--allow-insecure-writes", "--out", "$TMP/plan.json"]].concat());
        let plan = Plan::read(&std::fs::read_to_string(self.path().join("plan.json")).unwrap()).unwrap();
        (output.status.code(), plan, text(&output))
    }
}

fn verdict<'p>(plan: &'p Plan, place: &str) -> &'p str {
    let id = format!("external-oidc/{MADRID}/{place}");
    plan.findings.iter().find(|finding| finding.id == id).map_or("", |finding| finding.verdict.as_str())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_healthy_cluster_exits_0_before_the_move_after_it_and_back_again() {
    let mut demo = Demo::start().await;
    let read_only = ["plan", "--context", MADRID, "--domain", "external-oidc"];
    let before = demo.run(&read_only);
    assert_eq!(before.status.code(), Some(0), "healthy OAuth: {}", text(&before));

    demo.patch(json!({ "type": "OIDC", "webhookTokenAuthenticator": null }));
    let under_way = demo.run(&read_only);
    assert_eq!(under_way.status.code(), Some(3), "the operators have work to do: {}", text(&under_way));
    demo.settle();
    let there = demo.run(&read_only);
    assert_eq!(there.status.code(), Some(0), "healthy OIDC: {}", text(&there));

    demo.patch(json!({ "type": "IntegratedOAuth" }));
    demo.settle();
    // The console operator leaves its copy of the CA, and it is trueup's to remove where the config says so.
    let (code, plan, said) = demo.plan();
    assert_eq!((code, verdict(&plan, "ConfigMap/openshift-console/madrid-ca")), (Some(2), "leftover"), "{said}");
    let apply = ["apply", "$TMP/plan.json", "--context", MADRID, "--config", "$TMP/config.toml", "--look-back", "0s"];
    let applied = demo.run(&[&apply[..], &["--allow-insecure-writes", "--expect", &plan.id]].concat());
    assert_eq!(applied.status.code(), Some(0), "{}", text(&applied));
    let back = demo.run(&read_only);
    assert_eq!(back.status.code(), Some(0), "healthy OAuth again: {}", text(&back));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_prompt_for_auth_config_says_how_many_api_servers_restart() {
    let demo = Demo::start().await;
    demo.patch(json!({ "type": "OIDC", "webhookTokenAuthenticator": null }));
    let (code, plan, said) = demo.plan();
    assert_eq!(code, Some(2), "{said}");
    let write = plan.actions.iter().find(|action| action.target.name == "auth-config").expect("it is missing");
    assert_eq!((write.verb().as_str(), u8::from(write.tier)), ("apply", 3));
    assert!(write.diff.starts_with("! restarts 3 API servers, one node after another"), "{}", write.diff);
    let kubeconfig = demo.served.kubeconfig.to_str().unwrap();
    let args = ["apply", "$TMP/plan.json", "--kubeconfig", kubeconfig, "--context", MADRID, "--look-back", "0s"];
    let more = ["--config", "$TMP/config.toml", "--allow-insecure-writes", "--only", write.id.as_str()];
    let (code, screen) = tokio::task::block_in_place(|| {
        let mut terminal = AtTerminal::run(demo.path(), &[&args[..], &more].concat());
        terminal.wait_for("Type `ocp-madrid` to approve:");
        terminal.type_in("ocp-madrid\n");
        terminal.end()
    });
    assert_eq!(code, 0, "{screen}");
    let (listed, asked) = (screen.find("restarts 3 API servers"), screen.find("Type `ocp-madrid`"));
    assert!(listed.is_some() && listed < asked, "{screen}");
    assert!(demo.sim(MADRID).object("v1", "ConfigMap", "openshift-config-managed/auth-config").is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_is_filtered_out_asks_no_cloud_no_guest_and_no_list_of_its_own() {
    let demo = Demo::start().await;
    let contexts = ["--context", "mgmt-eu", "--context", MADRID, "--settle", "0s", "-o", "json"];
    let clusters = |output: &Output| {
        let plan = Plan::read(&String::from_utf8_lossy(&output.stdout)).unwrap();
        plan.targets.into_iter().map(|target| target.cluster).collect::<Vec<String>>()
    };
    let guests = || {
        let guests = demo.scenario.clusters.iter().filter(|cluster| matches!(cluster.role, DemoRole::Guest { .. }));
        guests.map(|guest| guest.sim.request_log().len()).sum::<usize>()
    };
    let asked = |name: &str, plural: &str| {
        let log = demo.sim(name).request_log();
        log.iter().filter(|logged| logged.target.split('?').next().unwrap().ends_with(plural)).count()
    };
    let others = [("mgmt-eu", "/hostedclusters"), ("mgmt-eu", "/secrets"), (MADRID, "/machinesets")];
    let chosen = demo.run(&[&["plan", "--domain", "external-oidc"], &contexts[..]].concat());
    assert_eq!(chosen.status.code(), Some(0), "{}", text(&chosen));
    assert_eq!((clusters(&chosen), guests()), (vec!["mgmt-eu".to_owned(), MADRID.to_owned()], 0));
    assert_eq!(others.map(|(name, plural)| asked(name, plural)), [0, 0, 0]);
    assert!(asked(MADRID, "/kubeapiservers") > 0);

    let explained = demo.run(&["explain", "external-oidc/ocp-madrid/KubeAPIServer/_/cluster", "--context", MADRID]);
    assert_eq!(explained.status.code(), Some(0), "{}", text(&explained));
    assert_eq!(guests(), 0, "an id names its check");

    let everything = demo.run(&[&["plan"], &contexts[..]].concat());
    assert!(clusters(&everything).iter().any(|name| name == "aws:ocp-madrid"), "{}", text(&everything));
    assert!(guests() > 0 && asked("mgmt-eu", "/hostedclusters") > 0);
}
