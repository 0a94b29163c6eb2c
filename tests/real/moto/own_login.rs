//! Logins against moto with its checks of keys and signatures on: partitions, replaced keys, metadata services on loopback.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::Full;
use jiff::Timestamp;
use serde_json::json;
use trueup_fleet::clouds::aws::client::{
    AwsError, Catalogue, Class, Keys, LoginReach, OwnLogin, Principal, Region, Variables,
};
use trueup_net::http::{HttpClient, HttpSettings};
use trueup_net::{Egress, Proxies, SecretText};
use trueup_sim::LocalServer;

use super::server::Moto;
use super::{aws, east};

const POLICY: &str = r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"ec2:*","Resource":"*"}]}"#;
/// More requests than a test sends.
const UNCHECKED: &str = "1000000";

/// moto's own account of users and keys.
struct Users {
    url: String,
    http: HttpClient,
}

impl Users {
    fn new(moto: &Moto) -> Self {
        let http = HttpClient::new(HttpSettings::new(Egress::user_named())).unwrap();
        Self { url: moto.url().trim_end_matches('/').to_owned(), http }
    }

    /// From now on keys and signatures are checked after this many requests.
    async fn check_after(&self, requests: &str) {
        let request = Request::post(format!("{}/moto-api/reset-auth", self.url));
        let answer = self.http.send(request.body(Bytes::from(requests.to_owned())).unwrap()).await.unwrap();
        assert_eq!(answer.status, 200);
    }

    async fn ask(&self, form: &[(&str, &str)]) -> String {
        let encode =
            |text: &str| percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string();
        let form: Vec<String> = form.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
        let scope =
            "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=x";
        let request = Request::post(format!("{}/", self.url)).header("authorization", scope);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let body = format!("Version=2010-05-08&{}", form.join("&"));
        let answer = self.http.send(request.body(Bytes::from(body)).unwrap()).await.unwrap();
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert_eq!(answer.status, 200, "{text}");
        text
    }

    /// A user of the ordinary partition who may describe instance types.
    async fn add(&self, name: &str) -> Keys {
        self.ask(&[("Action", "CreateUser"), ("UserName", name)]).await;
        let policy = [("Action", "PutUserPolicy"), ("UserName", name), ("PolicyName", "p"), ("PolicyDocument", POLICY)];
        self.ask(&policy).await;
        self.add_key(name).await
    }

    async fn add_key(&self, name: &str) -> Keys {
        let answer = self.ask(&[("Action", "CreateAccessKey"), ("UserName", name)]).await;
        let between = |tag: &str| {
            let (_, rest) = answer.split_once(&format!("<{tag}>")).unwrap();
            rest.split_once('<').unwrap().0.to_owned()
        };
        Keys {
            access_key_id: between("AccessKeyId"),
            secret_access_key: SecretText::new(between("SecretAccessKey")),
            session_token: None,
            expires: None,
        }
    }

    /// Replaces a key, while nothing is checked.
    async fn replace(&self, name: &str, old: &Keys) -> Keys {
        self.check_after(UNCHECKED).await;
        self.ask(&[("Action", "DeleteAccessKey"), ("UserName", name), ("AccessKeyId", &old.access_key_id)]).await;
        let keys = self.add_key(name).await;
        self.check_after("0").await;
        keys
    }
}

fn types(name: &str) -> BTreeSet<String> {
    BTreeSet::from([name.to_owned()])
}

/// Seen: one GovCloud set made the sets of every other region `denied` in 4 of 6 runs.
#[tokio::test(flavor = "multi_thread")]
async fn keys_of_one_partition_fail_in_others_and_nowhere_else() {
    let Some(moto) = tokio::task::spawn_blocking(Moto::start).await.unwrap() else { return };
    let users = Users::new(&moto);
    let keys = users.add("ann").await;
    users.check_after("0").await;
    let regions = ["us-gov-west-1", "us-east-1", "cn-north-1", "eu-west-1", "us-gov-east-1", "us-west-2"];
    for round in 0..regions.len() {
        let catalogue = Catalogue::new(aws(&moto, None));
        let principal = Principal::SecretKeys { uid: "u".to_owned(), version: "1".to_owned(), keys: keys.clone() };
        let wanted = types("m5.large");
        // Another region is the first in each round.
        let order = (0..regions.len()).map(|at| regions[(at + round) % regions.len()]);
        let asked = order.map(async |name| {
            let found = catalogue.find(&principal, &Region::parse(name).unwrap(), &wanted).await;
            (name, found.map(|found| found.types["m5.large"].is_some()).map_err(|error| error.class))
        });
        for (name, found) in futures::future::join_all(asked).await {
            let is_other = name.starts_with("us-gov-") || name.starts_with("cn-");
            let expected = if is_other { Err(Class::Denied) } else { Ok(true) };
            assert_eq!(found, expected, "round {round}: {name}");
        }
    }
}

/// The login of a machine whose variables and files are these.
fn login(env: &[(&str, &str)], home: &Path) -> Arc<OwnLogin> {
    let env = Variables::new(env.iter().copied().chain([("HOME", home.to_str().unwrap())]));
    let reach = LoginReach::Network { proxies: Proxies::default(), egress: Egress::default() };
    Arc::new(OwnLogin::new(&env, reach, Arc::new(Timestamp::now)))
}

#[tokio::test(flavor = "multi_thread")]
async fn replaced_keys_of_a_profile_are_read_again_when_ec2_refuses_the_old_ones() {
    let Some(moto) = tokio::task::spawn_blocking(Moto::start).await.unwrap() else { return };
    let (users, home) = (Users::new(&moto), tempfile::tempdir().unwrap());
    std::fs::create_dir(home.path().join(".aws")).unwrap();
    let write = |keys: &Keys| {
        let Keys { access_key_id, secret_access_key, .. } = keys;
        let secret = secret_access_key.expose();
        let text = format!("[default]\naws_access_key_id = {access_key_id}\naws_secret_access_key = {secret}\n");
        std::fs::write(home.path().join(".aws/credentials"), text).unwrap();
    };
    let old = users.add("ann").await;
    write(&old);
    users.check_after("0").await;
    let catalogue = Catalogue::new(aws(&moto, None));
    let own = Principal::Own(login(&[], home.path()));
    let found = catalogue.find(&own, &east(), &types("m5.large")).await.unwrap();
    assert_eq!(
        (found.caller.as_str(), found.via.as_str()),
        ("arn:aws:iam::123456789012:user/ann", "your own profile \"default\"")
    );

    let new = users.replace("ann", &old).await;
    let refused = catalogue.find(&own, &east(), &types("t2.micro")).await.unwrap_err();
    assert!(refused.refuses_keys(), "the file still has the old key: {refused}");

    write(&new);
    let again = Catalogue::new(aws(&moto, None));
    assert!(again.find(&own, &east(), &types("t2.micro")).await.is_ok(), "another catalogue, the same login");
    let third = users.replace("ann", &new).await;
    write(&third);
    let found: Result<_, AwsError> = again.find(&own, &east(), &types("m6i.8xlarge")).await;
    assert!(found.is_ok(), "replaced in the file and at AWS: {found:?}");
}

/// What hands out keys on an instance and in a container, on a port of this machine.
async fn metadata(keys: &Keys) -> (LocalServer, String) {
    let body = json!({ "Code": "Success", "Type": "AWS-HMAC", "LastUpdated": "2026-11-16T10:00:00Z",
        "AccessKeyId": keys.access_key_id, "SecretAccessKey": keys.secret_access_key.expose(), "Token": "",
        "Expiration": "2099-01-01T00:00:00Z" })
    .to_string();
    let service = tower::service_fn(move |request: Request<hyper::body::Incoming>| {
        let body = body.clone();
        async move {
            let with_token = request.headers().contains_key("x-aws-ec2-metadata-token");
            let (status, text) = match (request.method(), request.uri().path()) {
                (&Method::PUT, "/latest/api/token") => (200, "token".to_owned()),
                (_, "/latest/meta-data/iam/security-credentials/") if with_token => (200, "node".to_owned()),
                (_, "/latest/meta-data/iam/security-credentials/node") if with_token => (200, body),
                (_, "/task/credentials") => (200, body),
                _ => (404, String::new()),
            };
            let response = Response::builder().status(status).header("x-aws-ec2-metadata-token-ttl-seconds", "21600");
            Ok::<_, Infallible>(response.body(Full::new(Bytes::from(text))).unwrap())
        }
    });
    let server = LocalServer::open(([127, 0, 0, 1], 0).into(), service).await.unwrap();
    let url = format!("http://{}", server.address);
    (server, url)
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_an_instance_and_of_a_container_find_types() {
    let Some(moto) = tokio::task::spawn_blocking(Moto::start).await.unwrap() else { return };
    let home = tempfile::tempdir().unwrap();
    // Keys with a session token are an assumed role's, which moto cannot tell from others unchecked.
    let keys = Users::new(&moto).add("node").await;
    let (_server, url) = metadata(&keys).await;
    let task = format!("{url}/task/credentials");
    type Env<'a> = &'a [(&'a str, &'a str)];
    let cases: [(&str, Env<'_>, &str); 2] = [
        ("IMDSv2", &[("AWS_EC2_METADATA_SERVICE_ENDPOINT", &url)], "the role of this instance (IMDSv2)"),
        (
            "ECS",
            &[("AWS_CONTAINER_CREDENTIALS_FULL_URI", &task)],
            "the credentials of this container (ECS, EKS Pod Identity)",
        ),
    ];
    for (case, env, via) in cases {
        let own = Principal::Own(login(env, home.path()));
        let found = Catalogue::new(aws(&moto, None)).find(&own, &east(), &types("m5.large")).await.unwrap();
        assert_eq!((found.via.as_str(), found.types["m5.large"].is_some()), (via, true), "case: {case}");
    }
    let nothing = Principal::Own(login(&[("AWS_EC2_METADATA_DISABLED", "true")], home.path()));
    let none = Catalogue::new(aws(&moto, None)).find(&nothing, &east(), &types("m5.large")).await.unwrap_err();
    assert_eq!(none.code, "own-login-none");
}
