//! No value of any Secret on real clusters, nor any credential used to reach them, is in what the program writes.

use http::Method;
use serde_json::json;
use trueup_core::engine::Plan;

use super::desk::{Acting, Desk, which};
use super::fleet::{Hosted, inline_kubeconfig, run};
use crate::support::killed::said;

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_of_a_real_fleet_is_in_any_output() {
    let Some(fleet) = Hosted::shared().await else {
        return;
    };
    let out = tempfile::tempdir().unwrap();
    let file = |name: &str| out.path().join(name).to_str().unwrap().to_owned();
    let (plan, log, config) = (file("plan.json"), file("log"), file("config.toml"));
    std::fs::write(&config, "[safety]\nsettle = \"0s\"\n").unwrap();
    let mut commands: Vec<Vec<&str>> =
        ["table", "json", "markdown", "csv"].map(|format| vec!["plan", "-o", format, "--out", &plan]).to_vec();
    for name in ["Secret/openshift-config/client", "old-client", "stale-client", "users-own"] {
        commands.extend(["table", "json"].map(|format| vec!["explain", name, "-o", format]));
    }
    commands.push(vec!["doctor"]);

    let kubeconfig = inline_kubeconfig(&fleet.mgmt, "mgmt", "admin");
    for command in commands {
        let args = [&command[..], &["-v", "--log", &log, "--config", &config]].concat();
        let output = run(&kubeconfig, &args);
        let code = output.status.code();
        assert!(
            code != Some(1) && !output.stdout.is_empty(),
            "{args:?}: {code:?}, {}",
            String::from_utf8_lossy(&output.stderr)
        );
        fleet.canaries.assert_absent(&format!("{args:?}"), &output.stdout);
        fleet.canaries.assert_absent(&format!("{args:?} on stderr"), &output.stderr);
    }
    for file in [plan, log] {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.is_empty(), "{file} is empty");
        fleet.canaries.assert_absent(&file, &bytes);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delete_on_a_real_cluster_writes_no_secret() {
    let Some(acting) = Acting::shared().await else {
        return;
    };
    let (name, desk) = ("kept-secret", Desk::new(acting));
    let object = acting.orphan(name).await;
    let (plan, planned, action) = desk.plan(name, &["-v", "--log", "$TMP/log"]);
    let mut spoken = vec![("plan", planned)];
    let apply = [&desk.apply_args("$TMP/plan.json", &plan, &action)[..], &["-v", "--log", "$TMP/log"]].concat();
    for (case, code, reason) in
        [("forbidden", 403, "Forbidden"), ("conflict", 409, "Conflict"), ("invalid", 422, "Invalid")]
    {
        // As admission hooks and validators do, the refusal repeats the object.
        let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason,
            "message": format!("refused {object}"), "details": {"name": object["data"].to_string(), "kind": "secrets"}});
        let refused = which(Method::DELETE, name);
        acting.front.answer(refused.clone(), code, body);
        let output = desk.run(&apply);
        acting.front.let_through(&refused.path_end);
        assert_eq!(output.status.code(), Some(2), "case: {case}: {}", said(&output));
        spoken.push((case, output));
    }
    let output = desk.run(&apply);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    spoken.push(("apply", output));
    let entry = format!("{}/{}", &plan.id[7..15], action.id);
    spoken.push((
        "undo",
        desk.run(&[
            "undo",
            &entry,
            "--out",
            "$TMP/undo.json",
            "--kubeconfig",
            "$TMP/kubeconfig",
            "-v",
            "--log",
            "$TMP/log",
        ]),
    ));
    let undo = Plan::read(&std::fs::read_to_string(desk.path("undo.json")).unwrap()).unwrap();
    let restore = desk.apply_args("$TMP/undo.json", &undo, &undo.actions[0]);
    spoken.push(("restore", desk.run(&[&restore[..], &["-v", "--log", "$TMP/log", "-o", "json"]].concat())));
    assert!(acting.look(name).await.is_some(), "it was brought back");
    for what in [
        vec!["history"],
        vec!["history", "show", &plan.id[7..15]],
        vec!["history", "verify"],
        vec!["history", "export"],
    ] {
        let output = desk.run(&what);
        assert_eq!(output.status.code(), Some(0), "{what:?}: {}", said(&output));
        spoken.push(("history", output));
    }

    let canaries = acting.canaries.lock().unwrap();
    for (place, output) in &spoken {
        canaries.assert_absent(&format!("stdout of {place}"), &output.stdout);
        canaries.assert_absent(&format!("stderr of {place}"), &output.stderr);
    }
    let mut files = desk.state_files();
    assert!(files.iter().any(|(path, _)| path.extension().is_some_and(|ending| ending == "age")), "there is a backup");
    files.extend(
        ["plan.json", "undo.json", "log"].map(|name| (desk.path(name), std::fs::read(desk.path(name)).unwrap())),
    );
    for (path, bytes) in files {
        assert!(!bytes.is_empty(), "{} is empty", path.display());
        canaries.assert_absent("the name of a file", path.to_str().unwrap().as_bytes());
        canaries.assert_absent(&path.display().to_string(), &bytes);
    }
}
