//! How kubeconfigs are found, merged, chosen from and distrusted.

use std::path::{Path, PathBuf};

use base64::Engine as _;

use super::*;
use crate::connect::env::Env;
use trueup_net::{PemSource, Verification};

const CANARY: &str = "canary-9c41d7";

fn two_contexts() -> String {
    format!(
        "
apiVersion: v1
kind: Config
current-context: prod
preferences: {{}}
clusters:
- name: c
  cluster: {{server: 'https://api.example:6443', certificate-authority: ca.crt}}
contexts:
- name: prod
  context: {{cluster: c, user: u, namespace: ns}}
- name: stage
  context: {{cluster: c, user: u}}
users:
- name: u
  user: {{token: {CANARY}}}
"
    )
}

fn with_user(user: &str) -> String {
    format!(
        "{{current-context: x, clusters: [{{name: c, cluster: {{server: 'https://h'}}}}], \
         contexts: [{{name: x, context: {{cluster: c, user: u}}}}], users: [{{name: u, user: {user}}}]}}"
    )
}

fn with_cluster(cluster: &str) -> String {
    format!(
        "{{current-context: x, clusters: [{{name: c, cluster: {cluster}}}], \
         contexts: [{{name: x, context: {{cluster: c}}}}], users: null}}"
    )
}

fn access(text: &str, trust: Trust) -> Result<Access, KubeconfigError> {
    let file = Kubeconfig::parse(text, "the text", trust)?;
    file.access(&file.select(&Selection::Current)?[0])
}

fn written(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn paths_are_relative_to_the_file_that_names_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "config", &two_contexts());
    let file = Kubeconfig::read(&Places::Only(path)).unwrap();
    let access = file.access("prod").unwrap();
    let Verification::Full { roots: Some(PemSource::File(roots)), server_name: None } = &access.verification else {
        panic!("{:?}", access.verification);
    };
    assert_eq!(roots, &folder.path().join("ca.crt"));
    assert_eq!((access.namespace.as_str(), access.server.to_string().as_str()), ("ns", "https://api.example:6443/"));
    assert!(!format!("{file:?}{access:?}").contains(CANARY));
}

#[test]
fn several_files_are_merged_as_kubectl_does() {
    let folder = tempfile::tempdir().unwrap();
    let first = "{clusters: [{name: c, cluster: {server: 'https://first'}}]}";
    let second = "{current-context: b, contexts: [{name: b, context: {cluster: c}}], \
                  clusters: [{name: c, cluster: {server: 'https://second'}}]}";
    let third = "{current-context: late, contexts: [{name: b, context: {cluster: none}}]}";
    let files = vec![
        folder.path().join("missing"),
        written(folder.path(), "1", first),
        written(folder.path(), "2", second),
        written(folder.path(), "3", third),
    ];
    let file = Kubeconfig::read(&Places::Search { files, pod: None }).unwrap();
    assert_eq!(file.current_context(), Some("b"));
    assert_eq!(file.access("b").unwrap().server, "https://first/");
}

#[test]
fn the_flag_replaces_the_variable_and_the_variable_the_default() {
    let home = [("HOME", "/home/me")];
    let both = [("HOME", "/home/me"), ("KUBECONFIG", "/a::/b")];
    let search = |files: &[&str]| Places::Search { files: files.iter().map(PathBuf::from).collect(), pod: None };
    let cases = [
        ("default", Places::new(None, &Env::new(home)), search(&["/home/me/.kube/config"])),
        ("variable", Places::new(None, &Env::new(both)), search(&["/a", "/b"])),
        ("flag", Places::new(Some(Path::new("f")), &Env::new(both)), Places::Only("f".into())),
        ("nothing", Places::new(None, &Env::default()), search(&[])),
    ];
    for (case, actual, expected) in cases {
        assert_eq!(actual, expected, "case: {case}");
    }
}

#[test]
fn contexts_are_chosen_by_name_once_each() {
    let file = Kubeconfig::parse(&two_contexts(), "the text", Trust::UsersOwn).unwrap();
    let named = |names: &[&str]| Selection::Named(names.iter().map(|name| (*name).to_owned()).collect());
    let cases = [
        ("current", Selection::Current, Ok(vec!["prod"])),
        ("all", Selection::All, Ok(vec!["prod", "stage"])),
        ("named", named(&["stage", "prod", "stage"]), Ok(vec!["stage", "prod"])),
        (
            "unknown",
            named(&["stagge"]),
            Err("the text: there is no context \"stagge\"; choose one with --context (there is stage, prod)"),
        ),
    ];
    for (case, selection, expected) in cases {
        let actual = file.select(&selection).map_err(|error| error.to_string());
        let expected = expected.map(|names| names.into_iter().map(str::to_owned).collect()).map_err(str::to_owned);
        assert_eq!(actual, expected, "case: {case}");
    }
}

#[test]
fn what_is_wrong_is_said_in_one_sentence_without_quoting_secrets() {
    let own = |text: &str| access(text, Trust::UsersOwn).expect_err("broken").to_string();
    let duplicate = "{contexts: [{name: a}, {name: a}]}";
    let no_cluster = "{current-context: x, contexts: [{name: x, context: {cluster: d}}], clusters: [{name: c}]}";
    let no_user = "{current-context: x, contexts: [{name: x, context: {cluster: c, user: v}}], \
                   clusters: [{name: c, cluster: {server: 'https://h'}}]}";
    let cases = [
        ("not YAML", own(&format!("users:\n- name: u\n  user: {{token: {CANARY}\nx: [")), "the text, line"),
        ("another shape", own(&format!("users: {CANARY}")), "the text, line 1: not a kubeconfig"),
        ("duplicate", own(duplicate), "two contexts are named \"a\""),
        ("no current", own("{}"), "no current-context is set; choose one with --context (there are none)"),
        (
            "no such cluster",
            own(no_cluster),
            "context \"x\" refers to the cluster \"d\", which is not there (there is c)",
        ),
        ("no such user", own(no_user), "context \"x\" refers to the user \"v\", which is not there (there are none)"),
        ("no server", own(&with_cluster("{}")), "server: is not set"),
        ("server without scheme", own(&with_cluster("{server: 'h:6443'}")), "server: should begin with https://"),
        (
            "password in the server",
            own(&with_cluster("{server: 'https://u:canary-9c41d7@h'}")),
            "server: holds a user name",
        ),
        (
            "bad proxy",
            own(&with_cluster("{server: 'https://h', proxy-url: 'ftp://canary-9c41d7@x'}")),
            "proxy-url: should be",
        ),
        (
            "insecure beside an authority",
            own(&with_cluster("{server: 'https://h', insecure-skip-tls-verify: true, certificate-authority: x}")),
            "insecure-skip-tls-verify: is set beside",
        ),
        ("certificate data", own(&with_user("{client-key-data: '%%canary-9c41d7'}")), "client-key-data: is not base64"),
        ("key alone", own(&with_user("{client-key: k}")), "client-certificate: is missing"),
        (
            "old plugin protocol",
            own(&with_user("{exec: {command: a, apiVersion: client.authentication.k8s.io/v1alpha1}}")),
            "exec.apiVersion",
        ),
        (
            "auth provider",
            own(&with_user("{auth-provider: {name: gcp, config: {access-token: canary-9c41d7}}}")),
            "auth-provider: \"gcp\"",
        ),
    ];
    for (case, actual, expected) in cases {
        assert!(actual.contains(expected), "case: {case}: {actual}");
        assert!(!actual.contains(CANARY) && !actual.contains('\n'), "case: {case}: {actual}");
    }
}

#[test]
fn missing_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none");
    let only = Kubeconfig::read(&Places::Only(path.clone())).unwrap_err();
    assert_eq!(
        only,
        KubeconfigError::NotReadable { place: path.display().to_string(), why: "entity not found".to_owned() }
    );
    let search = Kubeconfig::read(&Places::Search { files: vec![path.clone()], pod: None }).unwrap_err();
    assert_eq!(search, KubeconfigError::NoneFound { looked: vec![path.display().to_string()] });
}

/// The places of a process in a pod whose ServiceAccount is mounted at `mount`, with the kubeconfig `files`.
fn in_pod(host: &str, mount: &Path, files: Vec<PathBuf>) -> Places {
    let env = Env::new([("KUBERNETES_SERVICE_HOST", host), ("KUBERNETES_SERVICE_PORT", "6443")]);
    Places::Search { files, pod: PodAccount::mounted_at(&env, mount) }
}

#[test]
fn without_a_kubeconfig_a_pod_uses_its_service_account() {
    let mount = tempfile::tempdir().unwrap();
    written(mount.path(), "token", CANARY);
    written(mount.path(), "ca.crt", "pem");
    written(mount.path(), "namespace", "trueup\n");
    let cases = [
        ("a name", "kubernetes.default.svc", "https://kubernetes.default.svc:6443/"),
        ("IPv4", "10.0.0.1", "https://10.0.0.1:6443/"),
        ("IPv6", "fd00::1", "https://[fd00::1]:6443/"),
    ];
    for (case, host, expected) in cases {
        let missing = vec![mount.path().join("no-kubeconfig")];
        let kubeconfig = Kubeconfig::read(&in_pod(host, mount.path(), missing)).unwrap();
        assert_eq!(kubeconfig.select(&Selection::Current).unwrap(), [IN_CLUSTER], "case: {case}");
        let access = kubeconfig.access(IN_CLUSTER).unwrap();
        assert_eq!((access.server.to_string().as_str(), access.namespace.as_str()), (expected, "trueup"), "{case}");
        let Bearer::TokenFile(token) = &access.bearer else { panic!("case: {case}: {:?}", access.bearer) };
        assert_eq!(token, &mount.path().join("token"));
        let Verification::Full { roots: Some(PemSource::File(roots)), .. } = &access.verification else {
            panic!("case: {case}: {:?}", access.verification);
        };
        assert_eq!(roots, &mount.path().join("ca.crt"));
        assert_eq!(kubeconfig.trust(), Trust::Pod);
        assert!(!format!("{kubeconfig:?}{access:?}").contains(CANARY));
    }
}

#[test]
fn a_kubeconfig_comes_before_the_service_account_of_the_pod() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), "token", CANARY);
    let path = written(folder.path(), "config", &two_contexts());
    let kubeconfig = Kubeconfig::read(&in_pod("10.0.0.1", folder.path(), vec![path])).unwrap();
    assert_eq!((kubeconfig.current_context(), kubeconfig.trust()), (Some("prod"), Trust::UsersOwn));
}

#[test]
fn a_pod_without_a_token_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let error = Kubeconfig::read(&in_pod("10.0.0.1", folder.path(), vec![])).unwrap_err().to_string();
    assert!(error.contains("automountServiceAccountToken") && error.contains("--kubeconfig FILE"), "{error}");
    assert_eq!(PodAccount::of(&Env::new([("KUBERNETES_SERVICE_HOST", "10.0.0.1")])), None, "no port: not a pod");
}

#[test]
fn a_kubeconfig_from_a_secret_runs_nothing_and_reads_no_file() {
    let exec = "{exec: {command: sh, apiVersion: client.authentication.k8s.io/v1}}";
    let cases = [
        ("exec", with_user(exec), "exec"),
        ("exec beside a token", with_user(&exec.replacen('{', "{token: t, ", 1)), "exec"),
        ("auth-provider", with_user("{auth-provider: {name: oidc}}"), "auth-provider"),
        ("token file", with_user("{tokenFile: /etc/passwd}"), "tokenFile"),
        ("certificate file", with_user("{client-certificate: /a}"), "client-certificate"),
        ("key file", with_user("{client-key: /a}"), "client-key"),
        ("authority file", with_cluster("{server: 'https://h', certificate-authority: /a}"), "certificate-authority"),
    ];
    for (case, text, expected) in cases {
        match access(&text, Trust::FromSecret) {
            Err(KubeconfigError::Refused { field, .. }) => assert_eq!(field, expected, "case: {case}"),
            other => panic!("case: {case}: {other:?}"),
        }
        // The same text is not refused in the user's own file, or is for another reason.
        assert!(!matches!(access(&text, Trust::UsersOwn), Err(KubeconfigError::Refused { .. })), "case: {case}");
    }
    assert!(access(&with_cluster("{server: 'https://h', proxy-url: 'socks5://p:1'}"), Trust::FromSecret).is_ok());
}

#[test]
fn data_wins_over_files_and_written_credentials_over_plugins() {
    let pem = base64::engine::general_purpose::STANDARD.encode("PEM");
    let user = format!("{{client-certificate-data: {pem}, client-certificate: f, client-key: k}}");
    let found = access(&with_user(&user), Trust::UsersOwn).unwrap().certificate.unwrap();
    assert_eq!(found.chain, PemSource::Inline(trueup_net::SecretText::new("PEM".to_owned())));
    assert_eq!(found.key, PemSource::File("k".into()));

    let exec = "exec: {command: bin/sh, apiVersion: client.authentication.k8s.io/v1}";
    let word = |user: String| match access(&with_user(&user), Trust::UsersOwn).unwrap().bearer {
        Bearer::None => "none".to_owned(),
        Bearer::Token(_) => "token".to_owned(),
        Bearer::TokenFile(path) => format!("file {}", path.display()),
        Bearer::Basic { username, .. } => format!("basic {username}"),
        Bearer::Exec(spec) => format!("exec {}", spec.command.display()),
    };
    let cases = [
        ("nothing", "{}".to_owned(), "none"),
        ("plugin", format!("{{{exec}}}"), "exec bin/sh"),
        ("token and plugin", format!("{{token: t, {exec}}}"), "token"),
        ("number as token", "{token: 12345}".to_owned(), "token"),
        ("file and token", "{token: t, tokenFile: f}".to_owned(), "file f"),
        ("name and password", "{username: a, password: b}".to_owned(), "basic a"),
    ];
    for (case, user, expected) in cases {
        assert_eq!(word(user), expected, "case: {case}");
    }
}

#[test]
fn json_with_tabs_is_a_kubeconfig_too() {
    let text = "{\n\t\"current-context\": \"x\",\n\t\"contexts\": [{\"name\": \"x\"}]\n}";
    let file = Kubeconfig::parse(text, "the text", Trust::UsersOwn).unwrap();
    assert_eq!(file.select(&Selection::Current).unwrap(), ["x"]);
}

#[test]
fn a_plugin_that_asks_gets_its_cluster_info() {
    let text = "
current-context: x
contexts: [{name: x, context: {cluster: c, user: u}}]
clusters:
- name: c
  cluster:
    server: https://h:6443
    tls-server-name: other
    proxy-url: http://me:canary-9c41d7@proxy:1
    certificate-authority-data: UEVN
    extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: me}}]
users:
- name: u
  user: {exec: {command: p, apiVersion: client.authentication.k8s.io/v1, provideClusterInfo: true}}
";
    let Bearer::Exec(spec) = access(text, Trust::UsersOwn).unwrap().bearer else {
        panic!("a plugin");
    };
    let expected = serde_json::json!({
        "server": "https://h:6443", "tls-server-name": "other", "certificate-authority-data": "UEVN",
        "proxy-url": "http://me:canary-9c41d7@proxy:1",
        "config": { "audience": "me" },
    });
    let info: serde_json::Value = serde_json::from_str(spec.cluster_info.as_ref().unwrap().expose()).unwrap();
    assert_eq!(info, expected);
    assert!(!format!("{spec:?}").contains(CANARY));
}
