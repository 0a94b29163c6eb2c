//! Habits of kubectl users: selections, names of kinds, an external diff, `version`, defaults of flags.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::fixture::{add, command, guest_with_an_orphan, run, run_with_state, transcript};

fn names(args: &[&str]) -> (String, Option<i32>) {
    let dir = guest_with_an_orphan();
    let output = run(&dir, &[&["plan", "--from", "$TMP", "-o", "name", "-v"], args].concat());
    (String::from_utf8(output.stdout).unwrap().replace('\n', " "), output.status.code())
}

#[test]
fn objects_are_selected_as_kubectl_spells_them() {
    let all = "secret/client secret/old-client hostedcluster.hypershift.openshift.io/guest-a ";
    let cases: [(&[&str], &str, i32); 11] = [
        (&["-A"], all, 2),
        (&["-A", "-n", "clusters"], all, 2),
        (&["-n", "clusters"], "hostedcluster.hypershift.openshift.io/guest-a ", 0),
        (&["secrets"], "secret/client secret/old-client ", 2),
        (&["secret/client"], "secret/client ", 0),
        (&["hc"], "hostedcluster.hypershift.openshift.io/guest-a ", 0),
        (&["hostedclusters.hypershift.openshift.io/guest-a"], "hostedcluster.hypershift.openshift.io/guest-a ", 0),
        (&["hc", "secret/old-client"], "secret/old-client hostedcluster.hypershift.openshift.io/guest-a ", 2),
        (&["--field-selector", "metadata.namespace=clusters"], "hostedcluster.hypershift.openshift.io/guest-a ", 0),
        (&["--field-selector", "kind=secrets,state!=match"], "secret/old-client ", 2),
        (&["--field-selector", "verdict=referenced"], "secret/client ", 0),
    ];
    for (args, expected, code) in cases {
        assert_eq!(names(args), (expected.to_owned(), Some(code)), "args: {args:?}");
    }
}

#[test]
fn a_selection_that_is_misspelt_is_an_error() {
    let dir = guest_with_an_orphan();
    let error = |args: &[&str]| {
        let output = run(&dir, &[&["plan", "--from", "$TMP"], args].concat());
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let cases: [(&[&str], &str); 7] = [
        (&["secret/old"], "trueup: plan: no finding is about secret/old; list findings with trueup plan -o name -v\n"),
        (&["secretz"], "trueup: plan: no finding is about secretz; list findings with trueup plan -o name -v\n"),
        (&["a/b/c"], "trueup: plan: `a/b/c` is not KIND, KIND/NAME or KIND.GROUP/NAME\n"),
        (
            &["--field-selector", "metadata.name=old"],
            "trueup: --field-selector: no finding has metadata.name=old; list findings with trueup plan -o name -v\n",
        ),
        (
            &["--field-selector", "spec.x=1"],
            "trueup: --field-selector: unknown field `spec.x`; there are: metadata.name, metadata.namespace, kind, \
             cluster, domain, state, verdict\n",
        ),
        (
            &["--field-selector", "state=bad"],
            "trueup: --field-selector: unknown state `bad`; there are: match, missing, extra, drift, stale, unknown, \
             error, blocked\n",
        ),
        (
            &["-l", "app=x"],
            "trueup: --selector: labels of objects are not kept, so app=x cannot be judged; use --field-selector, \
             --namespace or KIND/NAME\n",
        ),
    ];
    for (args, expected) in cases {
        assert_eq!(error(args), expected, "args: {args:?}");
    }
}

#[test]
fn explain_takes_short_names_and_all_namespaces() {
    let dir = guest_with_an_orphan();
    for args in [["hc/guest-a", "-A"], ["hostedclusters/guest-a", "-A"]] {
        let output = run(&dir, &[&["explain", "--from", "$TMP"], &args[..]].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with("HostedCluster clusters/guest-a in mgmt\n"), "{args:?}: {text}");
    }
}

/// A program that shows how it was called, and the files and their modes.
const SHOWS_FILES: &str = r#"#!/bin/sh
echo "$1"; shift
for side in "$@"; do
  for file in "$side"/*; do
    echo "== ${side##*/} ${file##*/} $(stat -c %a "$side" "$file" | tr '\n' ' ')"; cat "$file"
  done
done
exit 1
"#;

#[test]
fn an_external_diff_gets_private_files_without_secret_bytes() {
    let dir = guest_with_an_orphan();
    add(dir.path(), &[("bin/show-files", SHOWS_FILES), ("tmp/.keep", "")]);
    let program = dir.path().join("bin/show-files");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let plan = dir.path().join("plan.json");
    run_with_state(&dir, &["plan", "--from", "$TMP", "--out", plan.to_str().unwrap()]);
    let shown = |args: &[&str]| {
        let output = command(&dir, args)
            .env("XDG_STATE_HOME", dir.path().join("state"))
            .env("PATH", "/usr/bin:/bin")
            .env("TMPDIR", dir.path().join("tmp"))
            .env("KUBECTL_EXTERNAL_DIFF", format!("{} --flag", program.display()))
            .output()
            .unwrap();
        let left: Vec<_> = fs::read_dir(dir.path().join("tmp")).unwrap().collect();
        assert_eq!(left.len(), 1, "the folder is removed");
        (String::from_utf8(output.stdout).unwrap(), output.status.code())
    };
    let (text, code) = shown(&["explain", "secret/old-client", "--from", "$TMP", "--diff"]);
    assert_eq!(code, Some(0), "{text}");
    insta::assert_snapshot!(text, @r##"
--flag
== LIVE v1.Secret.openshift-config.old-client 700 600 
data:
  clientSecret: "<10 bytes>"
exists: true
labels:
  hypershift.openshift.io/managed: "true"
  hypershift.openshift.io/oidc-provider-managed: "true"
type: Opaque
== MERGED v1.Secret.openshift-config.old-client 700 600
"##);
    let (text, _) = shown(&["show", plan.to_str().unwrap(), "--from", "$TMP", "--diff"]);
    insta::assert_snapshot!(text, @r##"
--flag
== LIVE a1.v1.Secret.openshift-config.old-client 700 600 
apiVersion: v1
kind: Secret
metadata:
  namespace: openshift-config
  name: old-client
  labels:
    hypershift.openshift.io/managed: "true"
    hypershift.openshift.io/oidc-provider-managed: "true"
data:
  clientSecret: <10 bytes>
== MERGED a1.v1.Secret.openshift-config.old-client 700 600
"##);
    assert!(!text.contains("s3cret") && !text.contains("czNjcmV0"));
}

#[test]
fn a_diff_that_fails_is_an_error() {
    let dir = guest_with_an_orphan();
    let said = |program: &str| {
        let output = command(&dir, &["explain", "secret/old-client", "--from", "$TMP", "--diff"])
            .env("PATH", "/usr/bin:/bin")
            .env("TMPDIR", dir.path())
            .env("KUBECTL_EXTERNAL_DIFF", program)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let missing = said("no-such-program");
    assert!(missing.starts_with("trueup: --diff: cannot run no-such-program: "), "{missing}");
    let failed = said("sh -c false-exit");
    assert!(failed.ends_with("\ntrueup: --diff: sh exited with 127; check KUBECTL_EXTERNAL_DIFF\n"), "{failed}");
}

#[test]
fn version_names_commit_and_build() {
    let dir = tempfile::tempdir().unwrap();
    let text = String::from_utf8(run(&dir, &["version"]).stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("trueup 0.") && lines[1].starts_with("commit ") && lines[2].starts_with("build  "));
    let json: Value = serde_json::from_slice(&run(&dir, &["version", "-o", "json"]).stdout).unwrap();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["build", "commit", "version"]);
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
    assert!(json["build"].as_str().unwrap().starts_with("rustc-"), "{json}");
}

#[test]
fn the_config_has_defaults_of_flags_and_the_command_line_wins() {
    let dir = guest_with_an_orphan();
    let config =
        "[defaults.plan]\noutput = \"name\"\nnamespace = [\"clusters\"]\n[defaults.version]\noutput = \"json\"\n";
    add(dir.path(), &[("config.toml", config)]);
    let shown = |args: &[&str]| {
        let output = run(&dir, &[args, &["--config", "$TMP/config.toml"]].concat());
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(shown(&["plan", "--from", "$TMP", "-v"]), "hostedcluster.hypershift.openshift.io/guest-a\n");
    assert!(shown(&["plan", "--from", "$TMP", "-o", "csv"]).starts_with("id,domain"));
    assert_eq!(shown(&["plan", "--from", "$TMP", "-n", "openshift-config"]), "secret/old-client\n");
    assert_eq!(shown(&["plan", "--from", "$TMP", "-A"]), "secret/old-client\n");
    assert!(shown(&["version"]).starts_with('{'));
}

#[test]
fn a_wrong_default_is_an_error_with_its_line() {
    let dir = guest_with_an_orphan();
    let cases = [
        ("[defaults.plna]\n", "config.toml:1: unknown key `plna` in [defaults]; did you mean `plan`?"),
        (
            "[defaults.plan]\nouput = \"wide\"\n",
            "config.toml:2: unknown key `ouput` in [defaults.plan]; did you mean `output`?",
        ),
        (
            "[defaults.plan]\noutput = \"xml\"\n",
            "config.toml:2: [defaults.plan] invalid value 'xml' for '--output <output>'",
        ),
        ("[defaults.plan]\nsettle = 5\n", "invalid value '5' for '--settle <settle>'"),
        ("[defaults.plan]\nwatch = \"yes\"\n", "`watch` in [defaults.plan] wants true or false, and got a text"),
        ("[defaults.apply]\nexpect = \"5f21c9aa\"\n", "unknown key `expect` in [defaults.apply]"),
    ];
    for (config, expected) in cases {
        add(dir.path(), &[("config.toml", config)]);
        let said = transcript(&dir, &["plan", "--from", "$TMP", "--config", "$TMP/config.toml"]);
        assert!(said.ends_with("exit 1\n") && said.contains(expected), "{config}: {said}");
    }
}

#[test]
fn a_request_timeout_is_a_duration_or_seconds() {
    let dir = guest_with_an_orphan();
    for (value, code) in [("5s", 2), ("5", 2), ("0", 2), ("soon", 1)] {
        let output = run(&dir, &["plan", "--from", "$TMP", "--request-timeout", value]);
        assert_eq!(output.status.code(), Some(code), "{value}");
    }
}
