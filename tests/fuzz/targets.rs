//! The readers of outside input, each as a function of bytes. What they return is of no interest here: that they return is.

use std::fmt;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use serde_json::{Value, json};
use tower::ServiceExt as _;
use trueup::config::parse_config;
use trueup::console::terminal::decode::{self, Step};
use trueup_cel::{Program, Scope, Value as CelValue};
use trueup_checks::kubeconfig::content::{Authorities, Certificate, Document, EksToken, Jwt, Token};
use trueup_checks::registry;
use trueup_core::decode::{self as objects, DataSort, Digester, Reader};
use trueup_core::engine::journal::{Disk, Journal, Record, entries};
use trueup_core::engine::{Plan, canonical_digest};
use trueup_fleet::clouds::aws::client::{Aws, Endpoints as AwsEndpoints, Keys, Region};
use trueup_fleet::clouds::ibm::client::{Account, ApiKey, Endpoints};
use trueup_fleet::connect::{Bearer, Kubeconfig, Selection, Trust, read_credential};
use trueup_fleet::observe::read_watch_line;
use trueup_net::http::HttpClient;
use trueup_sim::ibm::{IbmSim, IbmSimOptions};

const NOW: &str = "2026-11-16T10:00:00Z";

fn text(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}

/// A plan as it is, and with the id that fits: every writer of a plan can compute its id.
pub fn plan(input: &[u8]) {
    let _ = Plan::read(&text(input));
    let Ok(Value::Object(mut plan)) = serde_json::from_slice::<Value>(input) else { return };
    plan.remove("id");
    plan.remove("mark");
    let Ok(id) = canonical_digest(&Value::Object(plan.clone())) else { return };
    plan.insert("id".to_owned(), json!(id));
    // A field that this version does not know is lost, and with it the id: such a plan is refused as altered.
    if let Some(plan) = Plan::read(&Value::Object(plan).to_string()).ok().filter(|plan| plan.verify_id().is_ok()) {
        let again = Plan::read(&plan.file_text());
        assert!(again.is_ok(), "a plan that was read and written is read again: {again:?}");
    }
}

/// A journal file.
pub fn journal(input: &[u8]) {
    if let Ok(opened) = Journal::on_disk(Box::new(Memory(input.to_vec()))) {
        let _ = entries(&opened.records);
    }
}

/// A record whose frame is right.
pub fn record(input: &[u8]) {
    let Ok(record) = serde_json::from_slice::<Record>(input) else { return };
    let _ = entries([&record]);
    let mut opened = Journal::on_disk(Box::new(Memory(Vec::new()))).unwrap();
    let _ = opened.journal.append(&[record.redacted()]);
}

/// A file in a cluster's folder, `fleet.yaml`, and the file of an account.
pub fn snapshot(input: &[u8]) {
    let dir = tempfile::tempdir().unwrap();
    for (folder, file) in
        [("clusters/a", "x.yaml"), ("clouds/ibm", "main.yaml"), ("clouds/aws", "main.yaml"), (".", "fleet.yaml")]
    {
        std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        std::fs::write(dir.path().join(folder).join(file), input).unwrap();
        let _ = trueup_fleet::snapshot::load(dir.path());
        std::fs::remove_file(dir.path().join(folder).join(file)).unwrap();
    }
}

/// One line of a watch.
pub fn watch(input: &[u8]) {
    let digester = Digester::new(&[7; 32]);
    for sort in [DataSort::Secret, DataSort::ConfigMap, DataSort::Other] {
        let _ = read_watch_line(input, &reader(&digester, sort));
    }
}

/// A page of a list, in JSON or protobuf.
pub fn list(input: &[u8]) {
    let digester = Digester::new(&[7; 32]);
    for sort in [DataSort::Secret, DataSort::ConfigMap, DataSort::Other] {
        let reader = reader(&digester, sort);
        let _ = objects::list(reader, input, &mut |_| {});
        let _ = objects::protobuf_list(reader, input, &mut |_| {});
        if let Ok(list) = objects::items(input) {
            list.items.iter().for_each(|item| drop(reader.object(item.get())));
        }
    }
}

fn reader<'r>(digester: &'r Digester, sort: DataSort) -> Reader<'r> {
    Reader { digester, sort, digested: &["clientSecret"], reduced: &["kubeconfig"], api_version: "v1", kind: "Secret" }
}

/// A kubeconfig of the user, one out of a Secret, and one that is judged.
pub fn kubeconfig(input: &[u8]) {
    let text = text(input);
    for trust in [Trust::UsersOwn, Trust::FromSecret] {
        let Ok(kubeconfig) = Kubeconfig::parse(&text, "the text", trust) else { continue };
        for name in kubeconfig.select(&Selection::All).unwrap_or_default() {
            let _ = kubeconfig.access(&name);
        }
    }
    let _ = Document::read(input);
    let _ = (Jwt::parse(&text), EksToken::parse(&text), Token::parse(&text));
}

/// Bytes of a terminal.
pub fn keys(input: &[u8]) {
    let mut rest = input;
    while !rest.is_empty() {
        let step = match decode::decode(rest) {
            Step::Incomplete if decode::is_paste(rest) => decode::rest_of_paste(rest),
            Step::Incomplete => decode::give_up(rest),
            step @ (Step::Event(..) | Step::Skip(_)) => step,
        };
        let taken = match step {
            Step::Event(_, taken) | Step::Skip(taken) => taken,
            Step::Incomplete => break,
        };
        assert!(taken > 0 && taken <= rest.len(), "{taken} of {} bytes", rest.len());
        rest = &rest[taken..];
    }
}

/// What a credential plugin prints.
pub fn exec(input: &[u8]) {
    const FILE: &str = "{contexts: [{name: x, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: \
                        'https://h'}}], users: [{name: u, user: {exec: {command: p, apiVersion: \
                        client.authentication.k8s.io/v1, interactiveMode: Never}}}]}";
    let access = Kubeconfig::parse(FILE, "the text", Trust::UsersOwn).unwrap().access("x").unwrap();
    let Bearer::Exec(spec) = access.bearer else { panic!("an exec plugin") };
    let _ = read_credential(&spec, input);
}

/// An expression.
pub fn cel(input: &[u8]) {
    let claims = json!({ "sub": "anna", "email": "a@example.com", "email_verified": true, "groups": ["a", "b"], "n": 5, "f": 0.5 });
    for scope in [Scope::Claims, Scope::User] {
        let Ok(program) = Program::compile(&text(input), scope) else { continue };
        let _ = (program.is_bool(), program.text(), program.texts(), program.result());
        let _ = program.evaluate(&CelValue::from_json(&claims));
    }
}

/// Certificates and keys in PEM.
pub fn certificate(input: &[u8]) {
    let _ = Authorities::parse(input);
    let _ = Certificate::read(input, input);
    let _ = trueup_net::Roots::parse(&text(input));
}

/// Responses of IBM Cloud, with and without a valid token.
pub fn ibm(input: &[u8]) {
    let start = NOW.parse().unwrap();
    paused(async {
        for logs_in in [true, false] {
            let options = IbmSimOptions { account: "acc-1".to_owned(), api_key: "key".to_owned(), seed: 1, start };
            let (sim, body) = (IbmSim::new(options), Bytes::copy_from_slice(input));
            let service = tower::service_fn(move |request: Request<Full<Bytes>>| {
                let (sim, body) = (sim.clone(), body.clone());
                async move {
                    if logs_in && request.uri().path().contains("identity") {
                        return sim.service().oneshot(request).await;
                    }
                    Ok(Response::new(Full::new(body)))
                }
            });
            let endpoints = Endpoints::at_one_place("http://ibm.sim").unwrap();
            let account = Account::new(HttpClient::in_process(service), endpoints, ApiKey::parse("key").unwrap());
            let _ = account.id().await;
            let _ = account.read_inventory().await;
        }
    });
}

/// Responses of AWS.
pub fn aws(input: &[u8]) {
    paused(async {
        for status in [200, 400] {
            let body = Bytes::copy_from_slice(input);
            let service = tower::service_fn(move |_: Request<Full<Bytes>>| {
                let mut response = Response::new(Full::new(body.clone()));
                *response.status_mut() = http::StatusCode::from_u16(status).unwrap();
                async { Ok::<_, std::convert::Infallible>(response) }
            });
            let clock = Arc::new(|| NOW.parse().unwrap());
            let aws = Aws::new(HttpClient::in_process(service), AwsEndpoints::default(), clock);
            let keys = Keys {
                access_key_id: "AKIAEXAMPLE".to_owned(),
                secret_access_key: trueup_net::SecretText::new("secret"),
                session_token: None,
                expires: None,
            };
            let region = Region::parse("us-east-1").unwrap();
            let _ = aws.caller(&keys, &region).await;
            let _ = aws.all_instance_types(&keys, &region).await;
            let _ = aws.regions(&keys, &region).await;
        }
    });
}

/// The user's config.
pub fn config(input: &[u8]) {
    let _ = parse_config(&text(input), std::path::Path::new("/"), registry::entries());
}

/// Runs a future in paused time: waits between attempts take none.
fn paused(future: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(future);
}

/// A journal's file in memory.
struct Memory(Vec<u8>);

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Disk for Memory {
    fn read_all(&mut self) -> io::Result<Vec<u8>> {
        Ok(self.0.clone())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.extend(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.0.truncate(usize::try_from(length).unwrap());
        Ok(())
    }

    fn replace(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0 = bytes.to_vec();
        Ok(())
    }
}
