//! Lists and approvals of plugins that are scripts in a folder of their own.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Mutex;

use super::*;
use crate::connect::exec::{TIMEOUT, on_terminal, run};
use crate::connect::kubeconfig::{ExecVersion, NeedsTerminal};
use crate::connect::testing::block_on;

#[derive(Default)]
struct InMemory(Mutex<BTreeSet<PluginId>>);

impl PluginApprovals for InMemory {
    fn is_approved(&self, plugin: &PluginId) -> bool {
        self.0.lock().unwrap().contains(plugin)
    }

    fn approve(&self, plugin: PluginId) -> Result<(), String> {
        self.0.lock().unwrap().insert(plugin);
        Ok(())
    }
}

/// A plugin that leaves a file beside it when it runs.
fn script(folder: &Path) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    let path = folder.join("plugin");
    let answer = r#"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}"#;
    std::fs::write(&path, format!("#!/bin/sh\n: > \"$0.ran\"\necho '{answer}'\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn spec(command: impl Into<PathBuf>, args: &[&str]) -> ExecSpec {
    ExecSpec {
        version: ExecVersion::V1,
        command: command.into(),
        args: args.iter().map(|text| SecretText::new(*text)).collect(),
        env: vec![],
        install_hint: None,
        needs_terminal: NeedsTerminal::No,
        cluster_info: None,
    }
}

#[test]
fn with_a_list_only_its_plugins_run_by_name_in_the_path_or_by_full_path() {
    let folder = tempfile::tempdir().unwrap();
    let (listed, other) = (script(&folder.path().join("listed")), script(&folder.path().join("other")));
    let env = Env::new([("PATH", format!("{}:/usr/bin:/bin", listed.parent().unwrap().display()))]);
    let (listed_text, other_text) = (listed.display().to_string(), other.display().to_string());
    let cases: [(&str, &str, &Path, bool); 7] = [
        ("the name, by name", "plugin", Path::new("plugin"), true),
        ("the name, by the path it leads to", "plugin", &listed, true),
        ("the same name in another folder", "plugin", &other, false),
        ("the path, by path", &other_text, &other, true),
        ("the path, by name", &listed_text, Path::new("plugin"), true),
        ("another path", &listed_text, &other, false),
        ("another name", "aws", Path::new("plugin"), false),
    ];
    for (case, entry, command, expected) in cases {
        let policy = PluginPolicy::Listed([entry.to_owned()].into());
        let spec = spec(command, &[]);
        let marks = [&listed, &other].map(|path| PathBuf::from(format!("{}.ran", path.display())));
        let ended = block_on(run(&spec, &env, &policy, TIMEOUT));
        assert_eq!(ended.is_ok(), expected, "case: {case}: {ended:?}");
        assert_eq!(marks.iter().any(|mark| mark.exists()), expected, "case: {case}");
        assert_eq!(on_terminal(&spec, &env, &policy).is_ok(), expected, "case: {case}: on a terminal");
        for mark in marks {
            let _absent = std::fs::remove_file(mark);
        }
    }
    let error = block_on(run(&spec(&other, &[]), &env, &PluginPolicy::Listed([].into()), TIMEOUT)).unwrap_err();
    assert!(error.to_string().contains("[exec] allow"), "{error}");
}

#[test]
fn a_plugin_runs_in_the_console_once_it_was_approved_with_these_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let command = script(folder.path());
    let mark = folder.path().join("plugin.ran");
    let env = Env::new([("PATH", "/usr/bin:/bin")]);
    let policy = PluginPolicy::Approved(Arc::new(InMemory::default()));
    let asked = spec(&command, &["get-token", "--client-secret", "canary-1", "--region=eu"]);
    let error = block_on(run(&asked, &env, &policy, TIMEOUT)).unwrap_err();
    let message = error.to_string();
    assert!(message.contains(&format!("{} get-token --client-secret … --region=eu", command.display())), "{message}");
    assert!(!mark.exists(), "it was not run");
    policy.approve(&asked, &env).unwrap();
    assert!(block_on(run(&asked, &env, &policy, TIMEOUT)).is_ok() && mark.exists());
    let other = spec(&command, &["get-token", "--client-secret", "canary-2", "--region=eu"]);
    assert!(matches!(block_on(run(&other, &env, &policy, TIMEOUT)), Err(ExecError::NotApproved { .. })));
    let joined = spec(&command, &["get-token --client-secret", "canary-1", "--region=eu"]);
    assert!(matches!(block_on(run(&joined, &env, &policy, TIMEOUT)), Err(ExecError::NotApproved { .. })));
}
