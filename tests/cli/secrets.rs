//! Secret values end at the edge: no command shows one, in any form, whatever is wrong with the file that holds it.

use std::fs;

use super::canaries::Canaries;
use super::fixture::{FLEET, GUEST_CONFIG, HOSTED, folder, run};

fn secret(name: &str, rest: &str) -> String {
    let labels = "labels: { hypershift.openshift.io/managed: \"true\", hypershift.openshift.io/oidc-provider-managed: \"true\" }";
    format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {name}\n  namespace: openshift-config\n  {labels}\n{rest}\n"
    )
}

#[test]
fn no_secret_value_is_in_any_output() {
    let mut canaries = Canaries::default();
    let mut c = |encoded: bool| if encoded { canaries.next_base64() } else { canaries.next() };
    let files: Vec<(&str, String)> = vec![
        ("orphan.yaml", secret("orphan", &format!("data: {{ clientSecret: {} }}", c(true)))),
        ("two-keys.yaml", secret("two-keys", &format!("data: {{ clientSecret: {}, other: {} }}", c(true), c(true)))),
        ("plain.yaml", secret("plain", &format!("stringData: {{ clientSecret: {} }}", c(false)))),
        ("undecodable.yaml", secret("undecodable", &format!("data: {{ clientSecret: \"!!{}!!\" }}", c(false)))),
        ("no-map.yaml", secret("no-map", &format!("data: {}", c(false)))),
        ("list-in-data.yaml", secret("list-in-data", &format!("data: {{ clientSecret: [ {} ] }}", c(false)))),
        ("odd-type.yaml", secret("odd-type", &format!("type: {{ {}: 1 }}", c(false)))),
        ("unknown-field.yaml", secret("unknown-field", &format!("dataa: {{ x: {} }}", c(false)))),
        (
            "applied.yaml",
            secret("applied", "").replace(
                "  labels",
                &format!("  annotations: {{ kubectl.kubernetes.io/last-applied-configuration: '{{\"data\":{{\"a\":\"{}\"}}}}' }}\n  labels", c(true)),
            ),
        ),
        (
            "metadata.yaml",
            secret("metadata", "").replace(
                "labels: {",
                &format!(
                    "annotations: {{ openshift.io/token-secret.value: {}, kapp.k14s.io/original: '{{\"a\":\"{}\"}}', \
                     objectset.rio.cattle.io/applied: {} }}\n  labels: {{ team: {}, ",
                    c(false), c(true), c(true), c(false)
                ),
            ),
        ),
        ("managed.yaml", secret("managed", "").replace("  labels", &format!("  managedFields: [ {{ x: {} }} ]\n  labels", c(false)))),
        ("broken.yaml", secret("broken", &format!("data: {{ a: {} \n  - {}: [", c(false), c(false)))),
        ("twice.yaml", secret("twice", &format!("data: {{ a: {}, a: {} }}", c(false), c(false)))),
        ("alias.yaml", secret("alias", &format!("data: {{ a: *{} }}", c(false)))),
        ("key.yaml", secret("key", &format!("data: {{ ? [{}] : x }}", c(false)))),
        ("merge.yaml", secret("merge", &format!("data: {{ <<: {{ a: {} }} }}", c(false)))),
        ("cut.json", format!("{{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"data\":{{\"a\":\"{}\"", c(false))),
        ("nameless.json", format!("{{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"data\":{{\"a\":\"{}\"}}}}", c(false))),
        ("list.json", format!("{{\"apiVersion\":\"v1\",\"kind\":\"SecretList\",\"items\":[{{\"data\":{{\"a\":\"{}\"}}}},\"{}\"]}}", c(false), c(false))),
        ("text.yaml", c(false)),
        ("same-1.yaml", secret("same", &format!("data: {{ a: {} }}", c(true)))),
        ("same-2.yaml", secret("same", &format!("data: {{ a: {} }}", c(true)))),
    ];
    let dir = folder(&[
        ("fleet.yaml", FLEET),
        ("clusters/mgmt/hosted.yaml", HOSTED),
        ("clusters/guest-a/config.yaml", GUEST_CONFIG),
    ]);
    for (name, text) in &files {
        fs::write(dir.path().join("clusters/guest-a").join(name), text).unwrap();
    }
    // Without the files that make the cluster incomplete, so that remedies with their diffs are printed as well.
    let clean = folder(&[
        ("fleet.yaml", FLEET),
        ("clusters/mgmt/hosted.yaml", HOSTED),
        ("clusters/guest-a/config.yaml", GUEST_CONFIG),
    ]);
    let is_metadata = |(name, _): &&(&str, String)| *name == "metadata.yaml";
    for (name, text) in files[..3].iter().chain(files.iter().find(is_metadata)) {
        fs::write(clean.path().join("clusters/guest-a").join(name), text).unwrap();
    }
    for dir in [&dir, &clean] {
        let out = tempfile::tempdir().unwrap();
        let (plan, log) = (out.path().join("plan.json"), out.path().join("log"));
        let (plan, log) = (plan.to_str().unwrap(), log.to_str().unwrap());
        let mut seen = Vec::new();
        let mut commands: Vec<Vec<String>> = ["table", "json", "markdown", "csv"]
            .map(|format| ["plan", "-o", format, "-v", "--out", plan, "--log", log].map(str::to_owned).to_vec())
            .to_vec();
        commands.push(vec!["doctor".to_owned()]);
        let json = run(dir, &["plan", "--from", "$TMP", "-o", "json"]);
        let findings = trueup_core::engine::Plan::read(&String::from_utf8(json.stdout).unwrap()).unwrap().findings;
        assert!(findings.len() >= 3, "the secrets were judged");
        for finding in findings {
            for format in ["table", "json"] {
                commands.push(["explain", &finding.id, "-o", format].map(str::to_owned).to_vec());
            }
        }
        for command in commands {
            let mut args: Vec<&str> = command.iter().map(String::as_str).collect();
            args.extend(["--from", "$TMP"]);
            let output = run(dir, &args);
            assert!(!output.stdout.is_empty(), "args: {args:?}");
            seen.push((format!("{args:?}"), output.stdout));
            seen.push((format!("{args:?} on stderr"), output.stderr));
        }
        seen.push(("the plan file".to_owned(), fs::read(plan).unwrap()));
        seen.push(("the log".to_owned(), fs::read(log).unwrap()));
        for (place, bytes) in seen {
            canaries.assert_absent(&place, &bytes);
        }
    }
}
