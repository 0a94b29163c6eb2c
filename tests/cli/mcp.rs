//! `trueup mcp` as a client sees it: one JSON message a line on stdin and stdout.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::fixture::{COPIES, add, command, folder, guest_with_an_orphan};

/// A client that has been initialized.
struct Client {
    server: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    /// Everything the server wrote.
    written: String,
    sent: u64,
}

impl Client {
    fn start(dir: &TempDir, args: &[&str]) -> Self {
        let mut server = command(dir, &[&["mcp"], args].concat())
            .env("XDG_STATE_HOME", dir.path().join("state"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (server.stdin.take(), BufReader::new(server.stdout.take().unwrap()));
        let mut client = Self { server, stdin, stdout, written: String::new(), sent: 0 };
        let hello = client.request(
            "initialize",
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } }),
        );
        assert_eq!(hello["result"]["serverInfo"]["name"], "trueup", "{hello}");
        assert_eq!(hello["result"]["capabilities"], json!({ "tools": {} }), "tools, and nothing else");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().unwrap();
        writeln!(stdin, "{message}").unwrap();
        stdin.flush().unwrap();
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.sent += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.sent, "method": method, "params": params }));
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        self.written += &line;
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        assert_eq!(answer["id"], self.sent, "{answer}");
        answer
    }

    /// The text of a result, and whether it is an error.
    fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"));
        (text.to_owned(), result["isError"] == true)
    }

    fn json(&mut self, tool: &str, arguments: Value) -> Value {
        let (text, is_error) = self.call(tool, arguments);
        assert!(!is_error, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    fn error(&mut self, tool: &str, arguments: Value) -> String {
        let (text, is_error) = self.call(tool, arguments);
        assert!(is_error, "{text}");
        text
    }

    fn tools(&mut self) -> Vec<String> {
        let answer = self.request("tools/list", json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Closes stdin and returns stderr.
    fn end(mut self) -> String {
        drop(self.stdin.take());
        let mut stderr = String::new();
        self.server.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(self.server.wait().unwrap().code(), Some(0), "{stderr}");
        stderr
    }
}

fn with_plans(dir: &TempDir) -> Client {
    fs::create_dir(dir.path().join("plans")).unwrap();
    Client::start(dir, &["--from", "$TMP", "--out-dir", "$TMP/plans"])
}

#[test]
fn no_tool_can_approve_and_without_a_folder_none_writes() {
    let dir = guest_with_an_orphan();
    let mut client = Client::start(&dir, &["--from", "$TMP"]);
    assert_eq!(client.tools(), ["list_findings", "explain_finding"]);
    let refused = client.error("make_plan", json!({ "file": "x.json" }));
    assert_eq!(refused, "trueup: make_plan: no folder for plans; start trueup mcp with --out-dir DIR");
    for method in ["resources/list", "prompts/list"] {
        let answer = client.request(method, json!({}));
        let listed =
            answer["result"].as_object().map(|result| result.values().filter_map(Value::as_array).flatten().count());
        assert!(listed.unwrap_or(0) == 0, "{method}: {answer}");
    }
    let answer = client.request("tools/call", json!({ "name": "apply", "arguments": {} }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    client.end();
    assert!(!dir.path().join("state").exists(), "nothing was written");
}

#[test]
fn findings_are_listed_by_page_with_the_counts_of_all() {
    let dir = guest_with_an_orphan();
    let mut client = Client::start(&dir, &["--from", "$TMP"]);
    let page = client.json("list_findings", json!({}));
    insta::assert_snapshot!(serde_json::to_string_pretty(&page).unwrap(), @r#"
{
  "complete": true,
  "findings": [
    {
      "accepted": null,
      "check": "hosted-oidc",
      "cluster": "guest-a",
      "codes": [],
      "has_actions": true,
      "id": "hosted-oidc/guest-a/Secret/openshift-config/old-client",
      "state": "extra",
      "subject": {
        "apiVersion": "v1",
        "kind": "Secret",
        "name": "old-client",
        "namespace": "openshift-config",
        "uid": "s-2"
      },
      "summary": "no OIDC provider references it; labelled as an OIDC copy",
      "verdict": "orphan-certain"
    }
  ],
  "matching": 1,
  "next": null,
  "schema": "trueup/mcp/findings/v1",
  "states": {
    "extra": 1,
    "match": 2
  }
}
"#);
    let all = ["match", "extra"];
    let first = client.json("list_findings", json!({ "states": all, "limit": 2 }));
    assert_eq!((&first["matching"], &first["next"]), (&json!(3), &json!(2)));
    let last = client.json("list_findings", json!({ "states": all, "limit": 2, "from": 2 }));
    assert_eq!((last["findings"].as_array().unwrap().len(), &last["next"]), (1, &Value::Null));
    let other = client.json("list_findings", json!({ "clusters": ["mgmt"], "states": all }));
    assert_eq!(other["states"], json!({ "match": 1 }));
    let wrong = client.error("list_findings", json!({ "clusters": ["mgnt"] }));
    assert_eq!(wrong, "trueup: --cluster: no match for mgnt; there are: mgmt, guest-a");
    let wrong = client.error("list_findings", json!({ "states": ["gone"] }));
    assert!(wrong.starts_with("trueup: list_findings: unknown variant `gone`"), "{wrong}");
    client.end();
}

#[test]
fn an_incomplete_reading_is_not_reported_as_complete() {
    let dir = guest_with_an_orphan();
    add(dir.path(), &[("clusters/guest-a/broken.yaml", "a: [")]);
    let mut client = Client::start(&dir, &["--from", "$TMP"]);
    let page = client.json("list_findings", json!({}));
    assert_eq!(page["complete"], false);
    assert!(page["states"]["unknown"].as_u64() > Some(0), "{page}");
    client.json("list_findings", json!({}));
    let stderr = client.end();
    assert_eq!(stderr.matches("broken.yaml").count(), 1, "the file is named on stderr, once: {stderr}");
}

#[test]
fn a_finding_is_explained_with_evidence_and_without_secret_values() {
    let dir = guest_with_an_orphan();
    let mut client = with_plans(&dir);
    let explained =
        client.json("explain_finding", json!({ "finding": "secret/old-client", "namespace": "openshift-config" }));
    assert_eq!(explained["schema"], "trueup/explain/v1");
    assert_eq!(explained["finding"]["verdict"], "orphan-certain");
    assert_eq!(explained["actions"][0]["verb"], "delete");
    let wrong = client.error("explain_finding", json!({ "finding": "client" }));
    assert!(wrong.starts_with("trueup: explain: 2 findings match \"client\"; name one of: "), "{wrong}");
    client.json("list_findings", json!({ "states": ["match", "extra"] }));
    client.json("make_plan", json!({ "file": "fix.json" }));
    let plan = fs::read_to_string(dir.path().join("plans/fix.json")).unwrap();
    for secret in ["czNjcmV0", "s3cret", "b2xkLXMzY3JldA", "old-s3cret"] {
        assert!(!client.written.contains(secret) && !plan.contains(secret), "{secret}");
    }
    client.end();
}

#[test]
fn a_plan_is_a_new_private_file_that_only_a_person_applies() {
    let dir = guest_with_an_orphan();
    let mut client = with_plans(&dir);
    assert_eq!(client.tools(), ["list_findings", "explain_finding", "make_plan"]);
    let made = client.json("make_plan", json!({ "file": "fix.json", "clusters": ["guest-*"], "valid_for": "3d" }));
    let path = dir.path().join("plans/fix.json");
    let plan: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!((&made["id"], &made["tiers"], &made["blocked"]), (&plan["id"], &json!({ "T3": 1 }), &json!(0)));
    assert_eq!((&made["expires_at"], &made["expires_at"]), (&plan["expires_at"], &json!("2026-11-19T10:00:00Z")));
    assert_eq!(made["approve"], format!("trueup apply {}", path.canonicalize().unwrap().display()));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(plan["mark"].is_string(), "the person's trueup accepts it as made here");
    let before = fs::read(&path).unwrap();
    assert!(client.error("make_plan", json!({ "file": "fix.json" })).contains("exists"));
    assert_eq!(fs::read(&path).unwrap(), before, "what a person reviews is never exchanged");
    let long = client.error("make_plan", json!({ "file": "long.json", "valid_for": "30d" }));
    assert!(long.contains("plan_ttl_max"), "{long}");
    client.end();
    assert!(!dir.path().join("state/trueup/journal").exists(), "nothing was approved or sent");
}

#[test]
fn a_plan_file_is_never_outside_of_its_folder() {
    let dir = guest_with_an_orphan();
    let mut client = with_plans(&dir);
    symlink(dir.path().join("outside.json"), dir.path().join("plans/link.json")).unwrap();
    for file in ["../outside.json", "/tmp/outside.json", "a/b.json", ".hidden.json", "fix.txt", "", "link.json"] {
        let error = client.error("make_plan", json!({ "file": file }));
        assert!(error.starts_with("trueup: make_plan"), "{file}: {error}");
    }
    client.end();
    assert!(!dir.path().join("outside.json").exists());
    assert_eq!(fs::read_dir(dir.path().join("plans")).unwrap().count(), 1, "the link, and nothing else");
}

#[test]
fn text_of_clusters_cannot_steer_a_terminal() {
    let dir = guest_with_an_orphan();
    let hostile = COPIES.replace("name: old-client", "name: \"old\\u202e\\u009b31m\"");
    add(dir.path(), &[("clusters/guest-a/openshift-config.yaml", &hostile)]);
    let mut client = Client::start(&dir, &["--from", "$TMP"]);
    let page = client.json("list_findings", json!({ "states": ["extra"] }));
    let id = page["findings"][0]["id"].as_str().unwrap();
    assert!(id.ends_with("old\u{202e}\u{9b}31m"), "the value stays exact: {id}");
    client.json("explain_finding", json!({ "finding": id }));
    assert!(!client.written.contains(['\u{202e}', '\u{9b}', '\u{1b}']), "{}", client.written);
    client.end();
}

#[test]
fn a_folder_that_is_not_there_and_a_client_that_leaves_are_one_sentence() {
    let dir = folder(&[]);
    let none = command(&dir, &["mcp", "--from", "$TMP", "--out-dir", "$TMP/none"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&none.stderr).replace(dir.path().to_str().unwrap(), "$TMP");
    assert_eq!(
        (none.status.code(), &*stderr),
        (
            Some(1),
            "trueup: --out-dir $TMP/none: No such file or directory (os error 2); name a folder that exists and that you can write to\n"
        )
    );
    let dir = guest_with_an_orphan();
    let left = command(&dir, &["mcp", "--from", "$TMP"]).stdin(Stdio::null()).output().unwrap();
    let stderr = String::from_utf8_lossy(&left.stderr);
    assert_eq!((left.status.code(), stderr.lines().count(), left.stdout.len()), (Some(1), 1, 0), "{stderr}");
    assert!(stderr.starts_with("trueup: mcp: ") && stderr.ends_with("; start it from an MCP client\n"), "{stderr}");
}
