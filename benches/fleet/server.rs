//! The demo fleet, served by a process of its own, and requests that change it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

const NAMESPACE: &str = "openshift-config";
/// What an OIDC copy of HyperShift is labelled with.
const LABEL: &str = "hypershift.openshift.io/managed-by";

pub struct Server {
    child: Child,
    kubeconfig: PathBuf,
    home: tempfile::TempDir,
}

impl Server {
    pub fn start(clusters: usize, objects: usize) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_trueup"))
            .args(["demo", "--headless", "--listen", "127.0.0.1:0"])
            .args(["--clusters", &clusters.to_string(), "--objects", &objects.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = child.stdout.take().expect("stdout is piped");
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let kubeconfig = PathBuf::from(line.trim());
        assert!(kubeconfig.is_file(), "the first line of stdout names the kubeconfig: {line:?}");
        Self { child, kubeconfig, home: tempfile::tempdir().unwrap() }
    }

    /// A command on this fleet with folders of its own.
    pub fn trueup(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        command.env_clear().env("HOME", self.home.path()).env("KUBECONFIG", &self.kubeconfig);
        command
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// The first cluster by name, and its address.
    pub fn first_guest(&self) -> (String, String) {
        let text = std::fs::read_to_string(&self.kubeconfig).unwrap();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let clusters = lines.windows(3).filter_map(|lines| {
            let name = lines[0].strip_prefix("- name: ")?;
            let address = lines[2].strip_prefix("server: http://")?;
            name.starts_with("guest-").then(|| (name.to_owned(), address.to_owned()))
        });
        clusters.min().expect("the demo has guests")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One cluster's API, over one connection a request.
pub struct Api(pub String);

impl Api {
    /// Makes a copy of an OIDC client's Secret that no provider refers to, under this name.
    pub fn create_orphan(&self, name: &str) {
        let list = self.send("GET", &format!("/api/v1/namespaces/{NAMESPACE}/secrets"), None);
        let items = list["items"].as_array().expect("a list has items");
        let copied = items.iter().find(|item| item["metadata"]["labels"].get(LABEL).is_some()).unwrap_or(&items[0]);
        let mut secret = copied.clone();
        secret["apiVersion"] = json!("v1");
        secret["kind"] = json!("Secret");
        let labels = secret["metadata"]["labels"].take();
        secret["metadata"] = json!({ "name": name, "namespace": NAMESPACE, "labels": labels });
        self.send("POST", &format!("/api/v1/namespaces/{NAMESPACE}/secrets"), Some(&secret));
    }

    pub fn delete(&self, name: &str) {
        self.send("DELETE", &format!("/api/v1/namespaces/{NAMESPACE}/secrets/{name}"), None);
    }

    /// Changes an annotation.
    pub fn touch(&self, name: &str, value: usize) {
        let patch = json!({ "metadata": { "annotations": { "touched": value.to_string() } } });
        self.send("PATCH", &format!("/api/v1/namespaces/{NAMESPACE}/secrets/{name}"), Some(&patch));
    }

    fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let body = body.map(Value::to_string).unwrap_or_default();
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        let mut stream = TcpStream::connect(&self.0).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer trueup-demo\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.0,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
        assert!(head.starts_with("HTTP/1.1 2"), "{method} {path}: {answer}");
        serde_json::from_str(&body_of(head, body)).unwrap_or_default()
    }
}

/// The body of an answer, put together when it came in chunks.
fn body_of(head: &str, body: &str) -> String {
    if !head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        return body.to_owned();
    }
    let (mut whole, mut rest) = (String::new(), body);
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        if size == 0 {
            break;
        }
        whole.push_str(&after[..size]);
        rest = &after[size + 2..];
    }
    whole
}
