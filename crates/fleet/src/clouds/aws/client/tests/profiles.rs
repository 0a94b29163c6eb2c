//! The user's own profile.

use super::*;

struct Home(tempfile::TempDir);

impl Home {
    fn new(config: &str, credentials: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join(".aws/sso/cache")).unwrap();
        std::fs::write(home.path().join(".aws/config"), config).unwrap();
        std::fs::write(home.path().join(".aws/credentials"), credentials).unwrap();
        Self(home)
    }

    fn profiles(&self, profile: &str) -> Profiles {
        let home = self.0.path().to_str().unwrap();
        Profiles::of(&Variables::new([("HOME", home), ("AWS_PROFILE", profile)])).unwrap()
    }
}

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
[profile process]
credential_process = printf '{\"Version\":1,\"AccessKeyId\":\"AKIASIM\",\"SecretAccessKey\":\"canary-user-secret\"}'
[profile broken]
credential_process = exit 3
[profile mfa]
role_arn = arn:aws:iam::123456789012:role/reader
source_profile = keys
mfa_serial = arn:aws:iam::123456789012:mfa/me
[profile machine]
role_arn = arn:aws:iam::123456789012:role/reader
credential_source = Ec2InstanceMetadata
[profile nothing]
region = us-east-1
s3 =
  aws_access_key_id = not-this
";

const CREDENTIALS: &str = "[keys]\naws_access_key_id = AKIASIM\naws_secret_access_key = canary-user-secret\n";

#[tokio::test]
async fn a_profile_says_how_it_gets_its_keys() {
    let home = Home::new(CONFIG, CREDENTIALS);
    let cases = [
        ("keys", "keys"),
        ("chained", "role over keys"),
        ("sso", "sso"),
        ("process", "process"),
        ("circle", "leads to other profiles without end"),
        ("mfa", "asks for a second factor; log in with `aws sts assume-role` and name those keys"),
        ("machine", "takes a role with credentials that only AWS's own machines have"),
        ("nothing", "has no keys, role, SSO login or credential process"),
        ("default", "has no keys, role, SSO login or credential process"),
        ("absent", "missing"),
    ];
    for (name, expected) in cases {
        let profiles = home.profiles(name);
        let actual = match profiles.profile(&profiles.current).await {
            Ok(Profile::Keys(_)) => "keys",
            Ok(Profile::WebIdentity(_)) => "web identity",
            Ok(Profile::Role { source, .. }) if matches!(*source, Profile::Keys(_)) => "role over keys",
            Ok(Profile::Role { .. }) => "role",
            Ok(Profile::Sso(_)) => "sso",
            Ok(Profile::Process { .. }) => "process",
            Err(ProfileError::Missing { .. }) => "missing",
            Err(ProfileError::Unusable { why, .. }) => why,
        };
        assert_eq!(actual, expected, "profile: {name}");
        assert_eq!(profiles.has(name).await, expected != "missing", "profile: {name}");
    }
}

#[tokio::test]
async fn a_credential_process_runs_and_its_failure_is_reported() {
    let given = Given::new();
    let home = Home::new(CONFIG, CREDENTIALS);
    let profiles = home.profiles("process");
    let keys = async |name: &str| {
        let profile = profiles.profile(name).await.unwrap();
        given.aws.profile_keys(&profiles, &profile, &region("us-east-1")).await
    };
    assert_eq!(keys("process").await.unwrap(), user_keys());
    assert_eq!(keys("broken").await.unwrap_err().code, "credential-process");
}

#[tokio::test]
async fn an_expired_sso_login_names_the_command_that_renews_it() {
    let given = Given::new();
    let home = Home::new(CONFIG, CREDENTIALS);
    let profiles = home.profiles("sso");
    let profile = profiles.profile("sso").await.unwrap();
    let ended =
        r#"{"startUrl":"https://corp.awsapps.com/start","accessToken":"canary","expiresAt":"2026-11-16T09:00:00Z"}"#;
    std::fs::write(home.0.path().join(".aws/sso/cache/0a.json"), ended).unwrap();
    let error = given.aws.profile_keys(&profiles, &profile, &region("us-east-1")).await.unwrap_err();
    assert_eq!((error.code.as_str(), error.remedy.as_str()), ("sso-login", "run aws sso login"));
    assert!(!format!("{error:?}").contains("canary"));
}

#[tokio::test]
async fn an_sso_login_that_holds_is_traded_for_keys() {
    let home = Home::new(CONFIG, CREDENTIALS);
    let login =
        r#"{"startUrl":"https://corp.awsapps.com/start/","accessToken":"canary","expiresAt":"2026-11-16T11:00:00Z"}"#;
    std::fs::write(home.0.path().join(".aws/sso/cache/0a.json"), login).unwrap();
    let portal = tower::service_fn(|request: http::Request<http_body_util::Full<bytes::Bytes>>| async move {
        assert_eq!(request.headers()["x-amz-sso_bearer_token"], "canary");
        let asked = request.uri().to_string();
        let expected = "https://portal.sso.us-east-1.amazonaws.com/federation/credentials?role_name=Reader&account_id=123456789012";
        assert_eq!(asked, expected);
        let body = r#"{"roleCredentials":{"accessKeyId":"ASIA","secretAccessKey":"s","sessionToken":"t","expiration":1794823200000}}"#;
        Ok::<_, std::convert::Infallible>(http::Response::new(http_body_util::Full::new(bytes::Bytes::from(body))))
    });
    let aws = Aws::new(HttpClient::in_process(portal), Endpoints::default(), Arc::new(|| START.parse().unwrap()));
    let profiles = home.profiles("sso");
    let profile = profiles.profile("sso").await.unwrap();
    let keys = aws.profile_keys(&profiles, &profile, &region("us-east-1")).await.unwrap();
    assert_eq!((keys.access_key_id.as_str(), keys.expires.is_some()), ("ASIA", true));
}
