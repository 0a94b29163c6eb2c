//! One sequence on one server: operations become requests, and answers become steps that can be compared.
//!
//! Always true:
//! - the sequence has a namespace of its own, so that sequences may run side by side;
//! - a watch is followed to an end marker written just before it, so that it brings all events up to then, without waiting.
//!
//! Not here: which requests an operation is made of (`requests`), symbols (`normal`).

use std::sync::atomic::{AtomicU32, Ordering};

use http::Method;
use serde_json::{Value, json};

use super::bodies;
use super::normal::Symbols;
use super::ops::{DryRun, Form, Kind, Op, Selector, Sequence, Since};
use super::requests::Memory;
use super::targets::Target;
use crate::support::http::{Request, Response, Watched};

/// More than the objects a sequence can have; a server whose pages never end is caught by it.
const PAGES_MAX: usize = 12;

/// One request and its answer, both in symbols.
#[derive(Debug, Clone)]
pub struct Step {
    /// Which operation of the sequence it belongs to.
    pub op: usize,
    /// For people. It may hold the version of a list, which no symbol stands for.
    pub request: String,
    pub answer: Value,
}

/// Runs a sequence in a fresh namespace and returns all its steps.
pub async fn run<T: Target>(target: &T, sequence: &Sequence) -> Vec<Step> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let namespace = format!("sequence-{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    let made = target.send(&Request::post("/api/v1/namespaces", body)).await.expect("a namespace can be made");
    assert_eq!(made.status, 201, "making a namespace: {}", made.body);

    let mut session = Session::new(target.clone(), sequence.kind, &namespace, &made.body);
    for (index, op) in sequence.ops.iter().enumerate() {
        session.op = index;
        session.perform(op).await;
    }
    session.steps
}

struct Session<T> {
    target: T,
    kind: Kind,
    memory: Memory,
    symbols: Symbols,
    /// End markers written so far.
    markers: usize,
    /// Whether the namespace takes nothing new.
    terminating: bool,
    /// The operation that is being performed.
    op: usize,
    steps: Vec<Step>,
}

impl<T: Target> Session<T> {
    fn new(target: T, kind: Kind, name: &str, namespace: &Value) -> Self {
        let (memory, mut symbols) = (Memory::new(kind, namespace), Symbols::new(name));
        symbols.normalise(namespace);
        Self { target, kind, memory, symbols, markers: 0, terminating: false, op: 0, steps: Vec::new() }
    }

    async fn perform(&mut self, op: &Op) {
        match op {
            Op::List { selector, only, at, form } => {
                let request = self.memory.list(*selector, *only, *at, *form);
                drop(self.list(request).await);
            }
            Op::ListPages { limit, selector, between } => {
                self.list_pages(*limit, *selector, between.as_deref()).await;
            }
            // No marker could be written, so nothing would end it but a bookmark.
            Op::Watch { since: Since::Unset | Since::Remembered(_), .. } if self.terminating => {}
            Op::Watch { since, selector } => self.watch(*since, *selector).await,
            Op::Create { .. }
            | Op::CreateWrong { .. }
            | Op::Get { .. }
            | Op::Update { .. }
            | Op::UpdateStatus { .. }
            | Op::MergePatch { .. }
            | Op::JsonPatch { .. }
            | Op::Apply { .. }
            | Op::Delete { .. }
            | Op::DeleteNamespace { .. } => self.single(op).await,
        }
    }

    /// Performs an operation that is one request about one object.
    async fn single(&mut self, op: &Op) {
        let Some(request) = self.memory.request(op) else {
            return;
        };
        let Some(answer) = self.exchange(&request).await else {
            return;
        };
        // Looked up and not worked out: the options of a delete may stand where no server reads them.
        if let Op::DeleteNamespace { .. } = op {
            let path = request.path.clone();
            if let Some(found) = self.exchange(&Request::get(path)).await {
                self.terminating = found.body["status"]["phase"] == "Terminating";
                self.memory.learn(&found);
            }
            return;
        }
        if op.dry_run() == DryRun::No {
            self.memory.learn(&answer);
        }
    }

    async fn list(&mut self, request: Request) -> Option<Response> {
        let answer = self.exchange(&request).await;
        if let Some(list) = &answer {
            self.memory.learn_list(list);
        }
        answer
    }

    async fn list_pages(&mut self, limit: u8, selector: Option<Selector>, between: Option<&Op>) {
        let first = self.memory.list(selector, None, None, Form::Whole).query("limit", limit.to_string());
        let Some(mut page) = self.list(first.clone()).await else {
            return;
        };
        if let Some(op) = between {
            self.single(op).await;
        }
        let version = page.body["metadata"]["resourceVersion"].clone();
        for _ in 0..PAGES_MAX {
            let Some(token) = page.body["metadata"]["continue"].as_str().filter(|token| !token.is_empty()) else {
                return;
            };
            let Some(next) = self.list(first.clone().query("continue", token)).await else {
                return;
            };
            let same = next.body["metadata"]["resourceVersion"] == version;
            self.record("(is this page as old as the first?)".to_owned(), json!(same));
            page = next;
        }
        self.record("(pages)".to_owned(), json!("they did not end"));
    }

    async fn watch(&mut self, since: Since, selector: Option<Selector>) {
        let request = self.memory.watch(since, selector);
        let marker = self.write_marker(selector).await;
        let ends = |event: &Value| {
            let metadata = &event["object"]["metadata"];
            match since {
                Since::InitialEvents => metadata["annotations"]["k8s.io/initial-events-end"] == "true",
                Since::Unset | Since::Remembered(_) => metadata["name"] == marker.as_str(),
            }
        };
        let watched = self.target.watch(&request, ends).await;
        let answer = match watched {
            Ok(Watched::Refused(answer)) => json!({"status": answer.status, "body": answer.body}),
            Ok(Watched::Reached(events)) => json!({"events": events}),
            Ok(Watched::Ended(events)) => json!({"ended after": events}),
            Ok(Watched::Silent(events)) => json!({"silent after": events}),
            Err(error) => json!({"no answer": format!("{error:#}")}),
        };
        self.record(described(&request), answer);
        let removal = Request::new(Method::DELETE, format!("{}/{marker}", self.memory.collection()));
        drop(self.exchange(&removal).await);
    }

    /// Writes an object that the selector selects, and whose event ends the watch.
    async fn write_marker(&mut self, selector: Option<Selector>) -> String {
        self.markers += 1;
        // Sorts after all other names, as its event comes after all others.
        let marker = format!("z-end-{}", self.markers);
        let body = bodies::marker(self.kind, &marker, selector);
        drop(self.exchange(&Request::post(self.memory.collection(), body)).await);
        marker
    }

    async fn exchange(&mut self, request: &Request) -> Option<Response> {
        let request = request.clone().header("user-agent", "conformance/1.0");
        let answer = self.target.send(&request).await;
        let shown = match &answer {
            Ok(answer) => json!({"status": answer.status, "body": answer.body}),
            Err(error) => json!({"no answer": format!("{error:#}")}),
        };
        self.record(described(&request), shown);
        answer.ok()
    }

    fn record(&mut self, request: String, answer: Value) {
        // The answer first: the request may only repeat what an answer brought.
        let answer = self.symbols.normalise(&answer);
        let request = self.symbols.normalise(&json!(request)).as_str().unwrap_or_default().to_owned();
        self.steps.push(Step { op: self.op, request, answer });
    }
}

fn described(request: &Request) -> String {
    let query: Vec<_> =
        request.query.iter().filter(|(name, _)| name != "continue").map(|(k, v)| format!("{k}={v}")).collect();
    let body = request.body.as_ref().map(Value::to_string).unwrap_or_default();
    format!("{} {} {} {body}", request.method, request.path, query.join("&"))
}
