//! The sources of this machine's own login, in their order, on servers of this process and on loopback.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};

use super::super::{Aws, Catalogue, Endpoints, Principal};
use super::*;
use trueup_sim::LocalServer;
use trueup_sim::aws::{AwsFault, SimAws};

const NOW: &str = "2026-11-16T10:00:00Z";
/// The name of the file of session `corp`: SHA-1 of its name.
const CORP_LOGIN: &str = ".aws/sso/cache/ee0bfd2552fbd840c02cc48b6e823320543c450f.json";
const LATER: &str = "2026-11-16T18:00:00Z";

const CONFIG: &str = "\
[default]
region = eu-west-1
[profile sso]
sso_session = corp
sso_account_id = 123456789012
sso_role_name = Reader
[sso-session corp]
sso_start_url = https://corp.awsapps.com/start
sso_region = us-east-1
[profile chained]
role_arn = arn:aws:iam::123456789012:role/reader
source_profile = keys
[profile circle]
role_arn = arn:aws:iam::123456789012:role/reader
source_profile = circle2
[profile circle2]
role_arn = arn:aws:iam::123456789012:role/reader
source_profile = circle
[profile dangling]
role_arn = arn:aws:iam::123456789012:role/reader
source_profile = kyes
[profile process]
credential_process = printf '{\"Version\":1,\"AccessKeyId\":\"AKIAPROCESS\",\"SecretAccessKey\":\"canary-secret\"}'
[profile broken]
credential_process = echo canary-printed >&2; echo canary-out; exit 3
[profile mfa]
role_arn = arn:aws:iam::123456789012:role/reader
source_profile = keys
mfa_serial = arn:aws:iam::123456789012:mfa/me
[profile machine]
role_arn = arn:aws:iam::123456789012:role/reader
credential_source = Ec2InstanceMetadata
[profile half]
aws_access_key_id = AKIAHALF
[profile nothing]
region = us-east-1
";

const KEYS: &str = "[keys]\naws_access_key_id = AKIAPROFILE\naws_secret_access_key = canary-secret\n";

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir_all(home.0.path().join(".aws/sso/cache")).unwrap();
        home.write(".aws/config", CONFIG);
        home.write(".aws/credentials", KEYS);
        home
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.0.path().join(path), text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.0.path().join(path)).unwrap()
    }

    fn variables(&self, env: &[(&str, &str)]) -> Variables {
        let home = self.0.path().to_str().unwrap();
        Variables::new(env.iter().copied().chain([("HOME", home)]))
    }

    fn login(&self, env: &[(&str, &str)], reach: LoginReach) -> OwnLogin {
        OwnLogin::new(&self.variables(env), reach, Arc::new(now))
    }
}

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

/// Everything that hands out credentials, and what it was asked.
#[derive(Clone, Default)]
struct Servers {
    asked: Arc<Mutex<Vec<String>>>,
    /// The answer of the SSO portal to any other token than this.
    refuses_all_but: Option<&'static str>,
}

impl Servers {
    fn reach(&self) -> LoginReach {
        LoginReach::InProcess(HttpClient::in_process(self.service()))
    }

    fn service(
        &self,
    ) -> impl tower::Service<Request<Full<Bytes>>, Response = Response<Full<Bytes>>, Error = Infallible, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static {
        let servers = self.clone();
        tower::service_fn(move |request: Request<Full<Bytes>>| {
            let servers = servers.clone();
            async move {
                let (head, body) = request.into_parts();
                let body = body.collect().await.unwrap().to_bytes();
                Ok(servers.answer(&head, &String::from_utf8_lossy(&body)))
            }
        })
    }

    /// The same on a port of this machine.
    async fn listen(&self) -> (LocalServer, String) {
        let servers = self.clone();
        let service = tower::service_fn(move |request: Request<hyper::body::Incoming>| {
            let servers = servers.clone();
            async move {
                let (head, body) = request.into_parts();
                let body = body.collect().await.unwrap().to_bytes();
                Ok::<_, Infallible>(servers.answer(&head, &String::from_utf8_lossy(&body)))
            }
        });
        let server = LocalServer::open(([127, 0, 0, 1], 0).into(), service).await.unwrap();
        let url = format!("http://{}", server.address);
        (server, url)
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn answer(&self, head: &http::request::Parts, body: &str) -> Response<Full<Bytes>> {
        let (host, path) = (head.uri.host().unwrap_or("loopback"), head.uri.path());
        self.asked.lock().unwrap().push(format!("{} {host}{path}", head.method));
        let header = |name: &str| head.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        let keys = |id: &str| {
            json!({ "Code": "Success", "Type": "AWS-HMAC", "LastUpdated": NOW, "AccessKeyId": id,
                "SecretAccessKey": "canary-secret", "Token": "canary-token", "Expiration": LATER })
        };
        let answered = |status: u16, text: String| {
            let response = Response::builder().status(status).header("x-aws-ec2-metadata-token-ttl-seconds", "21600");
            response.body(Full::new(Bytes::from(text))).unwrap()
        };
        match (&head.method, path) {
            (&Method::PUT, "/latest/api/token") => answered(200, "canary-imds-token".to_owned()),
            (_, "/latest/meta-data/iam/security-credentials/") if header("x-aws-ec2-metadata-token").is_some() => {
                answered(200, "node-role".to_owned())
            }
            (_, "/latest/meta-data/iam/security-credentials/node-role") => {
                answered(200, keys("ASIAINSTANCE").to_string())
            }
            (_, "/v2/credentials") => answered(200, keys("ASIATASK").to_string()),
            (_, "/v1/credentials") if header("authorization").as_deref() == Some("canary-pod-token") => {
                answered(200, keys("ASIAPOD").to_string())
            }
            (_, "/token") if body.contains("canary-refresh") => {
                let token =
                    json!({ "accessToken": "canary-new", "expiresIn": 28800, "refreshToken": "canary-refresh-2" });
                answered(200, token.to_string())
            }
            (_, "/federation/credentials") => self.portal(header("x-amz-sso_bearer_token").as_deref()),
            _ if body.contains("Action=AssumeRole&") => {
                let refused =
                    "<ErrorResponse><Error><Code>AccessDenied</Code><Message>canary</Message></Error></ErrorResponse>";
                answered(403, refused.to_owned())
            }
            _ => answered(404, String::new()),
        }
    }

    fn portal(&self, token: Option<&str>) -> Response<Full<Bytes>> {
        let is_refused = self.refuses_all_but.is_some_and(|good| token != Some(good));
        let answer = Response::builder();
        if is_refused {
            let answer = answer.status(401).header("x-amzn-errortype", "UnauthorizedException:http://internal/");
            return answer.body(Full::new(Bytes::from(r#"{"message":"Session token canary not found"}"#))).unwrap();
        }
        let expiration = LATER.parse::<Timestamp>().unwrap().as_millisecond();
        let keys = json!({ "accessKeyId": "ASIASSO", "secretAccessKey": "canary-secret", "sessionToken": "canary-token",
            "expiration": expiration });
        answer.body(Full::new(Bytes::from(json!({ "roleCredentials": keys }).to_string()))).unwrap()
    }
}

/// What a login shows: the key's id and source, or the error's code, message and remedy.
fn shown(found: Result<OwnKeys, AwsError>) -> String {
    let debug = format!("{found:?}");
    assert!(!debug.contains("canary"), "a secret is shown: {debug}");
    match found {
        Ok(OwnKeys { keys, source }) => format!("{} of {source}", keys.access_key_id),
        Err(AwsError { class, code, message, remedy }) => format!("{} {code}: {message}; {remedy}", class.as_str()),
    }
}

type Env<'a> = Vec<(&'a str, &'a str)>;

#[tokio::test]
async fn sources_are_used_in_the_order_environment_profile_container_instance() {
    let home = Home::new();
    home.write("pod-token", "canary-pod-token");
    let pod_token = home.0.path().join("pod-token");
    let pod_token = ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", pod_token.to_str().unwrap());
    let keys = [("AWS_ACCESS_KEY_ID", "AKIAENV"), ("AWS_SECRET_ACCESS_KEY", "canary-secret")];
    let empty = [("AWS_ACCESS_KEY_ID", ""), ("AWS_SECRET_ACCESS_KEY", "")];
    let (profile, older) = (("AWS_PROFILE", "keys"), ("AWS_DEFAULT_PROFILE", "keys"));
    let task = ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/credentials");
    let pod = [("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials"), pod_token];
    let container = "the credentials of this container (ECS, EKS Pod Identity)";
    let off = ("AWS_EC2_METADATA_DISABLED", "true");
    let none = "denied own-login-none: this machine has no AWS credentials of its own; name a profile with AWS_PROFILE, or \
                set AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE";
    let cases: Vec<(&str, Env<'_>, String)> = vec![
        ("everything", [&keys[..], &[profile, task]].concat(), "AKIAENV of access keys of the environment".to_owned()),
        ("a profile and a task", vec![profile, task], "AKIAPROFILE of your own profile \"keys\"".to_owned()),
        (
            "empty keys are unset",
            [&empty[..], &[profile]].concat(),
            "AKIAPROFILE of your own profile \"keys\"".to_owned(),
        ),
        ("the CLI's older name of the profile", vec![older], "AKIAPROFILE of your own profile \"keys\"".to_owned()),
        (
            "a profile without keys, and a task",
            vec![("AWS_PROFILE", "nothing"), task],
            format!("ASIATASK of {container}"),
        ),
        ("ECS", vec![task], format!("ASIATASK of {container}")),
        ("EKS Pod Identity", pod.to_vec(), format!("ASIAPOD of {container}")),
        ("nothing but the instance", vec![], "ASIAINSTANCE of the role of this instance (IMDSv2)".to_owned()),
        ("nothing at all", vec![off], none.to_owned()),
    ];
    for (case, env, expected) in cases {
        let login = home.login(&env, Servers::default().reach());
        assert_eq!(shown(login.keys().await), expected, "case: {case}");
    }
}

#[tokio::test]
async fn a_profile_that_cannot_be_used_is_an_error_and_never_another_identity() {
    let home = Home::new();
    let see = "see what `aws sts get-caller-identity` says about it";
    let cases = [
        ("kesy", "denied profile: there is no profile \"kesy\" in ~/.aws/config or ~/.aws/credentials; did you mean \"keys\"? \
                  correct AWS_PROFILE".to_owned()),
        ("zzz", "denied profile: there is no profile \"zzz\" in ~/.aws/config or ~/.aws/credentials; set AWS_PROFILE to one \
                 of broken, chained, circle, circle2, dangling, default, half, keys, machine, mfa".to_owned()),
        ("dangling", "denied profile: the profile \"dangling\" names source_profile \"kyes\", which does not exist; correct \
                      source_profile".to_owned()),
        ("mfa", "denied profile: the profile \"mfa\" requires a second factor (mfa_serial); log in with `aws sts assume-role` \
                 and set the keys it prints in the environment".to_owned()),
        ("circle", format!("denied profile: your own profile \"circle\": it cannot be used; {see}")),
        ("half", format!("denied profile: your own profile \"half\": it cannot be used; {see}")),
        ("broken", "denied credential-process: your own profile \"broken\" (credential process): credential_process gave no \
                    keys; run the command yourself and see what it prints".to_owned()),
        ("sso", "denied sso-login: your own profile \"sso\" (SSO): the SSO login has ended, or never was; run aws sso login \
                 --profile sso".to_owned()),
        ("chained", "denied AccessDenied: your own profile \"chained\": sts.us-east-1.amazonaws.com: AccessDenied; let the \
                     role's trust policy name this issuer, audience and subject, and its policy allow the call".to_owned()),
    ];
    for (profile, expected) in cases {
        let servers = Servers::default();
        // The instance would answer.
        let login = home.login(&[("AWS_PROFILE", profile)], servers.reach());
        assert_eq!(shown(login.keys().await), expected, "profile: {profile}");
        let asks_instance = servers.asked().iter().any(|asked| asked.contains("/latest/"));
        assert!(!asks_instance, "profile {profile}: {:?}", servers.asked());
    }
    home.write(".aws/config", "[default]\nregion = us-east-1\n[profile x\ncanary = 1\n");
    let unreadable = shown(home.login(&[], Servers::default().reach()).keys().await);
    assert!(unreadable.contains("/.aws/config on line 3; correct the file"), "{unreadable}");
}

#[tokio::test]
async fn a_credential_process_and_a_role_of_the_instance_give_keys() {
    let home = Home::new();
    let process = home.login(&[("AWS_PROFILE", "process")], Servers::default().reach());
    assert_eq!(shown(process.keys().await), "AKIAPROCESS of your own profile \"process\" (credential process)");
    let servers = Servers::default();
    let machine = home.login(&[("AWS_PROFILE", "machine")], servers.reach());
    assert!(shown(machine.keys().await).contains("AccessDenied"));
    let asked = servers.asked();
    assert!(asked.iter().any(|one| one.ends_with("/security-credentials/node-role")), "{asked:?}");
}

fn sso_cache(token: &str, expires: &str, refresh: Value) -> String {
    let mut login = json!({ "startUrl": "https://corp.awsapps.com/start", "region": "us-east-1", "accessToken": token,
        "expiresAt": expires });
    login.as_object_mut().unwrap().extend(refresh.as_object().unwrap().clone());
    login.to_string()
}

#[tokio::test]
async fn an_sso_login_is_refreshed_once_it_has_ended() {
    let refresh = json!({ "clientId": "c", "clientSecret": "canary-client", "refreshToken": "canary-refresh",
        "registrationExpiresAt": "2027-01-01T00:00:00Z" });
    let (good, ended) = (LATER, "2026-11-16T09:00:00Z");
    const PORTAL: &str = "GET portal.sso.us-east-1.amazonaws.com/federation/credentials";
    const OIDC: &str = "POST oidc.us-east-1.amazonaws.com/token";
    type Case = (&'static str, String, Option<&'static str>, &'static str, &'static [&'static str]);
    let keys = "ASIASSO of your own profile \"sso\" (SSO)";
    let renew = "denied sso-login: your own profile \"sso\" (SSO): the SSO login has ended, or never was; run aws sso login \
                 --profile sso";
    let refused = "denied UnauthorizedException: your own profile \"sso\" (SSO): portal.sso.us-east-1.amazonaws.com: \
                   UnauthorizedException; run aws sso login --profile sso, and check sso_role_name";
    let cases: [Case; 4] = [
        ("still good", sso_cache("canary-old", good, json!({})), Some("canary-old"), keys, &[PORTAL]),
        ("ended, refreshed", sso_cache("canary-old", ended, refresh), Some("canary-new"), keys, &[OIDC, PORTAL]),
        ("ended for good", sso_cache("canary-old", ended, json!({})), None, renew, &[]),
        ("revoked", sso_cache("canary-old", good, json!({})), Some("another"), refused, &[PORTAL]),
    ];
    for (case, cached, refuses_all_but, expected, asked) in cases {
        let home = Home::new();
        home.write(CORP_LOGIN, &cached);
        let servers = Servers { refuses_all_but, ..Servers::default() };
        let login = home.login(&[("AWS_PROFILE", "sso")], servers.reach());
        assert_eq!(shown(login.keys().await), expected, "case: {case}");
        assert_eq!(servers.asked(), asked, "case: {case}");
        let is_saved = home.read(CORP_LOGIN).contains("canary-new");
        assert_eq!(is_saved, case == "ended, refreshed", "case: {case}");
    }
}

#[tokio::test]
async fn metadata_services_on_loopback_are_asked_where_the_user_named_them() {
    let (home, servers) = (Home::new(), Servers::default());
    home.write("pod-token", "canary-pod-token");
    let token_file = home.0.path().join("pod-token");
    let (_server, url) = servers.listen().await;
    let credentials = format!("{url}/v1/credentials");
    let instance = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", url.as_str())];
    let pod = [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", credentials.as_str()),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token_file.to_str().unwrap()),
    ];
    // A proxy that does not exist: addresses of this machine are asked without it.
    let proxies = || Proxies::of(|name| (name == "HTTP_PROXY").then_some("http://proxy.invalid:1"));
    let reach = || LoginReach::Network { proxies: proxies(), egress: Egress::default() };
    let container = "ASIAPOD of the credentials of this container (ECS, EKS Pod Identity)";
    let cases: [(&str, Env<'_>, &str); 2] = [
        ("instance", instance.to_vec(), "ASIAINSTANCE of the role of this instance (IMDSv2)"),
        ("container", pod.to_vec(), container),
    ];
    for (case, env, expected) in cases {
        assert_eq!(shown(home.login(&env, reach()).keys().await), expected, "case: {case}");
    }
    let config = format!("[default]\nec2_metadata_service_endpoint = {url}\n");
    home.write(".aws/config", &config);
    let by_profile = home.login(&[], reach()).keys().await;
    assert_eq!(shown(by_profile), "ASIAINSTANCE of the role of this instance (IMDSv2)");
}

/// The client that aws-config gets reaches the provider's hosts, the fixed addresses, and what the user named; no other.
#[tokio::test]
async fn every_request_of_the_login_passes_the_egress_policy() {
    let (home, servers) = (Home::new(), Servers::default());
    let (_server, url) = servers.listen().await;
    let reach = LoginReach::Network { proxies: Proxies::default(), egress: Egress::default() };
    let login = home.login(&[], reach);
    let profiles = login.profiles(&login.sdk_env()).await.unwrap();
    let http = login.http(&profiles, Failures::default()).unwrap();
    for client in [&http.proxied, &http.direct] {
        let request = Request::get(format!("{url}/latest/api/token")).body(Bytes::new()).unwrap();
        let error = client.send(request).await.unwrap_err();
        assert!(matches!(error, trueup_net::http::HttpError::NotAllowed(_)), "{error}");
    }
    assert_eq!(servers.asked(), Vec::<String>::new());
    let named = home.login(
        &[("AWS_ENDPOINT_URL_STS", url.as_str())],
        LoginReach::InProcess(HttpClient::in_process(servers.service())),
    );
    let hosts = named.profiles(&named.sdk_env()).await.unwrap().named_hosts();
    assert_eq!(hosts.len(), 1, "{hosts:?}");
}

/// Keys are read again when AWS refuses them: they may have been replaced.
#[tokio::test(start_paused = true)]
async fn refused_keys_of_this_machine_are_read_again() {
    let file = |id: &str| format!("[default]\naws_access_key_id = {id}\naws_secret_access_key = canary-secret\n");
    let types = |name: &str| BTreeSet::from([name.to_owned()]);
    let region = Region::parse("us-east-1").unwrap();
    let (home, sim) = (Home::new(), SimAws::new(now));
    sim.add_user("ann", "AKIAOLD", "canary-secret");
    home.write(".aws/config", "");
    home.write(".aws/credentials", &file("AKIAOLD"));
    let http = HttpClient::in_process(sim.service());
    let login = Arc::new(home.login(&[], LoginReach::InProcess(http.clone())));
    let catalogue = Catalogue::new(Aws::new(http, Endpoints::default(), Arc::new(now)));
    let own = Principal::Own(login.clone());
    assert_eq!(catalogue.find(&own, &region, &types("m5.large")).await.unwrap().via, "your own profile \"default\"");
    sim.add_user("bob", "AKIANEW", "canary-secret");
    home.write(".aws/credentials", &file("AKIANEW"));
    sim.inject(AwsFault::refuse("DescribeInstanceTypes", 1, "AuthFailure"));
    let found = catalogue.find(&own, &region, &types("t2.micro")).await.unwrap();
    assert_eq!(found.caller, "arn:aws:iam::123456789012:user/bob");
    let asked = sim.calls().len();
    sim.inject(AwsFault::refuse("DescribeInstanceTypes", 1, "AuthFailure"));
    let error = catalogue.find(&own, &region, &types("a1.2xlarge")).await.unwrap_err();
    assert_eq!(error.code, "AuthFailure", "keys that were not replaced are not tried twice");
    assert_eq!(sim.calls()[asked..].iter().filter(|call| call.action == "DescribeInstanceTypes").count(), 1);
}

#[tokio::test]
async fn a_login_is_made_once_for_all_who_ask_until_its_keys_end() {
    let (home, servers) = (Home::new(), Servers::default());
    let clock = Arc::new(Mutex::new(now()));
    let read = clock.clone();
    let login = OwnLogin::new(&home.variables(&[]), servers.reach(), Arc::new(move || *read.lock().unwrap()));
    futures::future::join_all((0..20).map(|_| login.keys())).await;
    let fetches = || servers.asked().iter().filter(|one| one.ends_with("node-role")).count();
    assert_eq!(fetches(), 1);
    *clock.lock().unwrap() = "2026-11-16T17:56:00Z".parse().unwrap();
    login.keys().await.unwrap();
    assert_eq!(fetches(), 2, "five minutes before the end");
}
