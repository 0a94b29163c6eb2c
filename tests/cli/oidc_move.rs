//! The move to OIDC and back on the served demo, and what a check that was filtered out does not ask for.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;
use trueup_core::engine::Plan;
use trueup_sim::demo::{DemoRole, Scenario, ScenarioOptions, ScenarioRunner, Served, serve};
use trueup_sim::{Answer, Fault, FaultAction, Matcher, Request, SimCluster};

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
    let contexts =
        ["--context", "mgmt-eu", "--context", MADRID, "--context", "ocp-oslo", "--settle", "0s", "-o", "json"];
    let observed = |output: &Output| {
        let plan = Plan::read(&String::from_utf8_lossy(&output.stdout)).unwrap();
        plan.observations.into_iter().map(|observation| observation.cluster).collect::<BTreeSet<String>>()
    };
    let guests = || {
        let guests = demo.scenario.clusters.iter().filter(|cluster| matches!(cluster.role, DemoRole::Guest { .. }));
        guests.map(|guest| guest.sim.request_log().len()).sum::<usize>()
    };
    let asked = |name: &str, plural: &str| {
        let log = demo.sim(name).request_log();
        log.iter().filter(|logged| logged.target.split('?').next().unwrap().ends_with(plural)).count()
    };
    let others = [("mgmt-eu", "/hostedclusters"), ("mgmt-eu", "/secrets"), ("ocp-oslo", "/machinesets")];
    let chosen = demo.run(&[&["plan", "--domain", "external-oidc"], &contexts[..]].concat());
    assert_eq!(String::from_utf8_lossy(&chosen.stderr), "", "nothing is missing: {}", text(&chosen));
    assert_eq!((observed(&chosen), guests()), ([MADRID, "ocp-oslo"].map(str::to_owned).into(), 0));
    assert_eq!(others.map(|(name, plural)| asked(name, plural)), [0, 0, 0]);
    assert!(asked(MADRID, "/kubeapiservers") > 0);

    let explained = demo.run(&["explain", "external-oidc/ocp-madrid/KubeAPIServer/_/cluster", "--all-contexts"]);
    assert_eq!(explained.status.code(), Some(0), "{}", text(&explained));
    assert_eq!(others.map(|(name, plural)| asked(name, plural)), [0, 0, 0], "an id names its check");

    let everything = demo.run(&[&["plan"], &contexts[..]].concat());
    assert!(observed(&everything).contains("aws:ocp-oslo"), "{}", text(&everything));
    assert!(guests() > 0 && others.iter().all(|(name, plural)| asked(name, plural) > 0));
}

/// A token that any API server may look at: signed by no key.
fn token() -> String {
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let claims = json!({ "iss": "https://login.oslo.example/oidc", "aud": "console", "exp": 4_102_444_800_i64,
        "sub": "7", "email": "ann@corp.example", "groups": ["dev"] });
    format!("{}.{}.canary-5e1a", part(json!({ "alg": "RS256" })), part(claims))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reviewed_token_is_shown_beside_the_simulated_identity() {
    let demo = Demo::start().await;
    std::fs::write(demo.path().join("token"), token()).unwrap();
    std::fs::write(demo.path().join("claims"), "{\"sub\":\"7\"}").unwrap();
    let login = |file: &str, more: &[&str]| {
        demo.run(&[&["oidc", "login", "--context", "ocp-oslo", "--claims", file], more].concat())
    };
    let simulated = login("$TMP/token", &["-o", "json"]);
    assert_eq!(simulated.status.code(), Some(0), "{}", text(&simulated));
    assert!(!text(&simulated).contains("review"), "nothing is sent unasked: {}", text(&simulated));
    let reviews = || {
        let log = demo.sim("ocp-oslo").request_log();
        log.iter().filter(|logged| logged.target.ends_with("/selfsubjectreviews")).count()
    };
    assert_eq!(reviews(), 0);

    // The simulated server takes every caller for its administrator.
    let reviewed = login("$TMP/token", &["--review", "-o", "json"]);
    let answer: Value = serde_json::from_slice(&reviewed.stdout).unwrap_or_else(|_| panic!("{}", text(&reviewed)));
    assert_eq!((&answer["accepted"], &answer["username"]), (&json!(true), &json!("ann@corp.example")));
    assert_eq!(
        (&answer["review"]["accepted"], &answer["review"]["differs"]),
        (&json!(true), &json!(["username", "uid", "groups"]))
    );
    assert_ne!(answer["review"]["username"], answer["username"]);
    assert_eq!((reviewed.status.code(), reviews()), (Some(3), 1), "another user than the mappings say");
    let table = text(&login("$TMP/token", &["--review"]));
    assert!(table.contains("SIMULATED") && table.contains("!= username  ann@corp.example"), "{table}");
    assert!(!table.contains("canary"), "{table}");

    let refuse = FaultAction::Refuse { code: 401, retry_after_seconds: None };
    demo.sim("ocp-oslo").fault(Fault::always(Matcher::of("selfsubjectreviews.authentication.k8s.io"), refuse));
    let refused = login("$TMP/token", &["--review", "-o", "json"]);
    let answer: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!((&answer["review"]["accepted"], &answer["review"]["differs"]), (&json!(false), &json!(["accepted"])));
    assert_eq!(refused.status.code(), Some(3));

    let claims = login("$TMP/claims", &["--review"]);
    assert_eq!(claims.status.code(), Some(1), "claims cannot be sent: {}", text(&claims));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_matrix_compares_the_fleet_and_marks_the_odd_ones() {
    let demo = Demo::start().await;
    let matrix = demo.run(&["oidc", "matrix", "--all-contexts", "-o", "json"]);
    let table: Value = serde_json::from_slice(&matrix.stdout).unwrap_or_else(|_| panic!("{}", text(&matrix)));
    let row = |name: &str| {
        let rows = table["clusters"].as_array().unwrap();
        rows.iter().find(|row| row["cluster"] == name).unwrap_or_else(|| panic!("{name}: {table}")).clone()
    };
    let oslo = row("ocp-oslo");
    assert_eq!(oslo["values"]["issuer"]["value"], "https://login.oslo.example/oidc");
    assert_eq!(oslo["values"]["groups"], json!({ "value": "oidc:groups", "odd": true }), "guests have no prefix");
    assert_eq!(row("guest-payments")["values"]["groups"], json!({ "value": "groups", "odd": false }));
    assert_eq!(row("guest-reports")["values"]["ca_until"], json!({ "value": "? missing", "odd": true }));
    assert_eq!(row(MADRID)["note"], "type IntegratedOAuth");
    std::fs::write(demo.path().join("claims"), "{\"sub\":\"7\",\"email\":\"ann@corp.example\"}").unwrap();
    let shown = text(&demo.run(&["oidc", "matrix", "--all-contexts", "--claims", "$TMP/claims"]));
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].contains("CA UNTIL") && lines[0].ends_with("WHO"), "{shown}");
    let oslo = lines.iter().find(|line| line.contains("ocp-oslo")).unwrap();
    assert!(
        oslo.starts_with("!= ") && oslo.contains("!= oidc:groups") && oslo.ends_with("ann@corp.example"),
        "{shown}"
    );
    assert!(lines.iter().any(|line| line.starts_with("   guest-payments")), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_cannot_be_read_is_a_row_of_the_matrix_that_says_so() {
    let demo = Demo::start().await;
    let refuse = FaultAction::Refuse { code: 403, retry_after_seconds: None };
    demo.sim("ocp-paris").fault(Fault::always(Matcher::of("authentications.config.openshift.io"), refuse));
    let matrix = demo.run(&["oidc", "matrix", "--context", "ocp-paris", "--context", "ocp-oslo"]);
    let shown = text(&matrix);
    assert!(shown.contains("ocp-paris") && shown.contains("? Authentication: "), "{shown}");
    assert_eq!(matrix.status.code(), Some(3), "{shown}");
}
