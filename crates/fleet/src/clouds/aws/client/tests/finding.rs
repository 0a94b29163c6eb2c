//! Instance types, regions, endpoints, and the order of credentials.

use super::*;

#[tokio::test]
async fn pages_are_read_to_their_end() {
    let given = Given::new();
    given.sim.set_page(2);
    let names = ["m5.large", "m6g.4xlarge", "m6i.8xlarge", "t2.micro", "a1.2xlarge"];
    let offers = given.aws.instance_types(&user_keys(), &region("us-east-1"), &wanted(&names)).await.unwrap();
    assert_eq!((offers.found.len(), offers.absent.len()), (5, 0));
    assert_eq!(given.actions(), ["DescribeInstanceTypes"; 3]);
}

#[tokio::test]
async fn names_nobody_offers_cost_the_others_one_call_more() {
    let given = Given::new();
    let names = ["m5.large", "m5.largest", "x9.huge", "t2.micro"];
    let offers = given.aws.instance_types(&user_keys(), &region("us-east-1"), &wanted(&names)).await.unwrap();
    assert_eq!(offers.found.keys().map(String::as_str).collect::<Vec<_>>(), ["m5.large", "t2.micro"]);
    assert_eq!(offers.absent, wanted(&["m5.largest", "x9.huge"]));
    assert_eq!(given.actions(), ["DescribeInstanceTypes"; 2]);
}

#[tokio::test]
async fn names_that_can_be_no_types_are_not_sent() {
    let given = Given::new();
    let odd = ["", "M5.LARGE", "m5 large", "../x", "m5.", "large", "m5.large&Action=RunInstances"];
    let offers = given.aws.instance_types(&user_keys(), &region("us-east-1"), &wanted(&odd)).await.unwrap();
    assert_eq!(offers.absent, wanted(&odd));
    assert_eq!(given.actions(), Vec::<String>::new());
}

#[tokio::test]
async fn many_names_go_a_hundred_a_call() {
    let given = Given::new();
    let names: BTreeSet<String> = (0..250).map(|number| format!("m{number}.large")).collect();
    for name in &names {
        given.sim.offer("us-east-1", trueup_sim::aws::SimInstanceType::new(name, 2, 8192, &["x86_64"]));
    }
    let offers = given.aws.instance_types(&user_keys(), &region("us-east-1"), &names).await.unwrap();
    assert_eq!(offers.found.len(), 250);
    assert_eq!(given.sim.calls().iter().map(|call| call.names).collect::<Vec<_>>(), [100, 100, 50]);
}

#[test]
fn a_region_is_one_of_some_partition() {
    let cases = [
        ("us-east-1", Some(Partition::Aws)),
        ("ap-southeast-12", Some(Partition::Aws)),
        ("us-gov-west-1", Some(Partition::GovCloud)),
        ("cn-northwest-1", Some(Partition::China)),
        ("us-isob-east-1", Some(Partition::IsoB)),
        ("eu-isoe-west-1", Some(Partition::IsoE)),
        ("eusc-de-east-1", Some(Partition::Eusc)),
        ("", None),
        ("mars-north-1", None),
        ("us-east", None),
        ("us-east-1a", None),
        ("us-east-1.evil.com", None),
        ("US-EAST-1", None),
    ];
    for (name, expected) in cases {
        assert_eq!(Region::parse(name).map(|region| region.partition()), expected, "region: {name:?}");
    }
}

#[test]
fn endpoints_are_the_clusters_then_the_environments_then_awss() {
    let fips = Variables::new([("AWS_USE_FIPS_ENDPOINT", "true")]);
    let dual = Variables::new([("AWS_USE_DUALSTACK_ENDPOINT", "TRUE")]);
    let both = Variables::new([("AWS_USE_FIPS_ENDPOINT", "true"), ("AWS_USE_DUALSTACK_ENDPOINT", "true")]);
    let env =
        Variables::new([("AWS_ENDPOINT_URL", "http://127.0.0.1:5000"), ("AWS_ENDPOINT_URL_EC2", "http://e:1/x/")]);
    let ignored = Variables::new([
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:5000"),
        ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"),
    ]);
    let none = Variables::default();
    let listed = [("ec2", "https://ec2.proxy.example/path/"), ("elasticloadbalancing", "https://elb.example")];
    type Listed = Vec<(&'static str, &'static str)>;
    let cases: Vec<(&str, Listed, &Variables, Service, &str, &str)> = vec![
        ("usual", vec![], &none, Service::Sts, "eu-west-1", "https://sts.eu-west-1.amazonaws.com/"),
        ("China", vec![], &none, Service::Ec2, "cn-north-1", "https://ec2.cn-north-1.amazonaws.com.cn/"),
        ("isolated", vec![], &none, Service::Sts, "us-iso-east-1", "https://sts.us-iso-east-1.c2s.ic.gov/"),
        ("FIPS", vec![], &fips, Service::Ec2, "us-east-1", "https://ec2-fips.us-east-1.amazonaws.com/"),
        ("FIPS in GovCloud", vec![], &fips, Service::Sts, "us-gov-west-1", "https://sts.us-gov-west-1.amazonaws.com/"),
        ("dual stack", vec![], &dual, Service::Ec2, "us-east-1", "https://ec2.us-east-1.api.aws/"),
        ("both", vec![], &both, Service::Ec2, "us-east-1", "https://ec2-fips.us-east-1.api.aws/"),
        (
            "dual stack where there is none",
            vec![],
            &dual,
            Service::Ec2,
            "us-iso-east-1",
            "https://ec2.us-iso-east-1.c2s.ic.gov/",
        ),
        (
            "the cluster's, with a path",
            listed.to_vec(),
            &none,
            Service::Ec2,
            "us-east-1",
            "https://ec2.proxy.example/path/",
        ),
        ("not listed", listed.to_vec(), &none, Service::Sts, "us-east-1", "https://sts.us-east-1.amazonaws.com/"),
        ("the cluster's first", listed.to_vec(), &env, Service::Ec2, "us-east-1", "https://ec2.proxy.example/path/"),
        ("the environment's own", vec![], &env, Service::Ec2, "us-east-1", "http://e:1/x/"),
        ("the environment's for all", vec![], &env, Service::Sts, "us-east-1", "http://127.0.0.1:5000/"),
        ("ignored", vec![], &ignored, Service::Sts, "us-east-1", "https://sts.us-east-1.amazonaws.com/"),
        (
            "the same twice",
            vec![("sts", "https://a"), ("sts", "https://a/")],
            &none,
            Service::Sts,
            "us-east-1",
            "https://a/",
        ),
    ];
    for (case, listed, env, service, name, expected) in cases {
        assert_eq!(Endpoints::new(listed, env).unwrap().url(service, &region(name)), expected, "case: {case}");
    }
}

#[test]
fn an_endpoint_that_cannot_be_used_is_an_error_and_no_detour() {
    let none = Variables::default();
    let bad_env = Variables::new([("AWS_ENDPOINT_URL_STS", "ftp://x")]);
    type Listed = Vec<(&'static str, &'static str)>;
    let cases: Vec<(&str, Listed, &Variables)> = vec![
        ("http in the cluster", vec![("ec2", "http://ec2.example")], &none),
        ("no URL", vec![("sts", "sts.example")], &none),
        ("a query", vec![("sts", "https://sts.example/?a=b")], &none),
        ("a password", vec![("sts", "https://u:p@sts.example")], &none),
        ("two for one", vec![("sts", "https://a"), ("sts", "https://b")], &none),
        ("the environment's", vec![], &bad_env),
    ];
    for (case, listed, env) in cases {
        assert!(Endpoints::new(listed, env).is_err(), "case: {case}");
    }
}

fn secret_keys() -> NamedSecret {
    NamedSecret::Held(SecretContent::StaticKeys(user_keys()))
}

fn secret_web_identity() -> NamedSecret {
    let role = RoleArn::parse(ROLE).unwrap();
    NamedSecret::Held(SecretContent::WebIdentity(WebIdentity::new(role, "/var/run/token", &Variables::default())))
}

fn outcome(decision: &Decision) -> &'static str {
    match &decision.outcome {
        Ok(Choice::Irsa(_)) => "irsa",
        Ok(Choice::SecretKeys(_)) => "secret keys",
        Ok(Choice::OwnLogin) => "own login",
        Err(Refusal::Partial(missing)) => missing.code(),
        Err(Refusal::BadRole) => "bad role",
        Err(Refusal::SecretAbsent) => "secret absent",
        Err(Refusal::SecretInvalid { .. }) => "secret invalid",
        Err(Refusal::TokenElsewhere) => "token elsewhere",
    }
}

/// The first six are upstream's (`docs/facts/irsa-machineset.md` section 13). Where upstream checks for both variables before
/// it looks for one, a lone one is masked; here it comes first.
#[test]
fn credentials_are_looked_for_in_a_fixed_order() {
    let (role, token) = (("AWS_ROLE_ARN", ROLE), ("AWS_WEB_IDENTITY_TOKEN_FILE", "/var/run/token"));
    let pod = [("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials")];
    let keys = [("AWS_ACCESS_KEY_ID", "AKIA"), ("AWS_SECRET_ACCESS_KEY", "s"), role, token];
    let own = || Here { place: Place::Workstation, login: Some("mine".to_owned()) };
    let bare = || Here { place: Place::Workstation, login: None };
    let in_pod = || Here { place: Place::Pod, login: Some("mine".to_owned()) };
    type Env = Vec<(&'static str, &'static str)>;
    let cases: Vec<(&str, Env, NamedSecret, Here, &str)> = vec![
        ("both", vec![role, token], NamedSecret::NotNamed, own(), "irsa"),
        ("role alone", vec![role], NamedSecret::NotNamed, own(), "aws-web-identity-token-file-missing"),
        ("token alone", vec![token], NamedSecret::NotNamed, own(), "aws-role-arn-missing"),
        ("nothing", vec![], NamedSecret::NotNamed, own(), "own login"),
        ("both and a secret", vec![role, token], secret_keys(), own(), "irsa"),
        ("a secret alone", vec![], secret_keys(), own(), "secret keys"),
        ("role alone, with a secret", vec![role], secret_keys(), own(), "aws-web-identity-token-file-missing"),
        (
            "set but empty counts as unset",
            vec![role, ("AWS_WEB_IDENTITY_TOKEN_FILE", "")],
            secret_keys(),
            own(),
            "aws-web-identity-token-file-missing",
        ),
        (
            "both empty",
            vec![("AWS_ROLE_ARN", ""), ("AWS_WEB_IDENTITY_TOKEN_FILE", "")],
            secret_keys(),
            own(),
            "secret keys",
        ),
        ("keys in the environment don't win", keys.to_vec(), secret_keys(), own(), "irsa"),
        ("no role's ARN", vec![("AWS_ROLE_ARN", "annotator"), token], secret_keys(), own(), "bad role"),
        ("EKS Pod Identity", pod.to_vec(), NamedSecret::NotNamed, in_pod(), "own login"),
        ("secret absent", vec![], NamedSecret::Absent, own(), "secret absent"),
        ("secret unusable", vec![], NamedSecret::Held(SecretContent::Unusable { why: "x" }), own(), "secret invalid"),
        ("the STS cluster's secret, on a workstation", vec![], secret_web_identity(), own(), "own login"),
        ("the same without a login", vec![], secret_web_identity(), bare(), "token elsewhere"),
        ("the same in a pod", vec![], secret_web_identity(), in_pod(), "token elsewhere"),
    ];
    for (case, env, secret, here, expected) in cases {
        let decision = decide(&Variables::new(env), secret, &here);
        assert_eq!(outcome(&decision), expected, "case: {case}");
        assert!(!decision.steps.is_empty(), "case: {case}");
    }
}

#[test]
fn a_role_set_by_hand_is_named_as_the_cause() {
    let env = Variables::new([("AWS_ROLE_ARN", ROLE)]);
    let decision = decide(&env, NamedSecret::NotNamed, &Here { place: Place::Pod, login: None });
    let refusal = decision.outcome.unwrap_err();
    assert_eq!(refusal.message(), "AWS_ROLE_ARN is set but AWS_WEB_IDENTITY_TOKEN_FILE is missing");
    assert!(refusal.remedy().starts_with("AWS_ROLE_ARN is set by hand, so the EKS webhook injected nothing"));
}

#[test]
fn a_secret_is_keys_a_web_identity_or_of_no_use() {
    let sts = "[default]\r\nsts_regional_endpoints = regional\r\nrole_name: x\r\nrole_arn = arn:aws:iam::123456789012:role/a\r\n\tweb_identity_token_file = /t\r\n";
    type Held = Vec<(&'static str, &'static str)>;
    let cases: Vec<(&str, Held, &str)> = vec![
        ("keys", vec![("aws_access_key_id", "a"), ("aws_secret_access_key", "b")], "keys a"),
        ("keys with line breaks", vec![("aws_access_key_id", "a\n"), ("aws_secret_access_key", "b\n")], "keys a"),
        ("half of the keys", vec![("aws_access_key_id", "a"), ("aws_secret_access_key", "")], "unusable"),
        (
            "credentials win",
            vec![
                ("credentials", "[default]\naws_access_key_id=c\naws_secret_access_key=d"),
                ("aws_access_key_id", "a"),
                ("aws_secret_access_key", "b"),
            ],
            "keys c",
        ),
        ("an STS cluster's, with CRLF and a tab", vec![("credentials", sts)], "web identity /t"),
        (
            "keys come before the role",
            vec![(
                "credentials",
                "[default]\naws_access_key_id=c\naws_secret_access_key=d\nrole_arn=arn:aws:iam::123456789012:role/a\nweb_identity_token_file=/t",
            )],
            "keys c",
        ),
        ("another profile", vec![("credentials", "[prod]\naws_access_key_id=c\naws_secret_access_key=d")], "unusable"),
        (
            "another profile beside keys",
            vec![("credentials", "[prod]\nx=y"), ("aws_access_key_id", "a"), ("aws_secret_access_key", "b")],
            "keys a",
        ),
        (
            "a comment and a section with blanks",
            vec![("credentials", "# ours\n[ default ]\n; more\naws_access_key_id = c\naws_secret_access_key = d=e\n")],
            "keys c",
        ),
        (
            "a role without a token",
            vec![("credentials", "[default]\nrole_arn=arn:aws:iam::123456789012:role/a")],
            "unusable",
        ),
        ("no ini at all", vec![("credentials", "hello")], "unusable"),
        ("empty", vec![], "unusable"),
    ];
    for (case, held, expected) in cases {
        let value = |key: &str| held.iter().find(|(name, _)| *name == key).map(|(_, value)| value.as_bytes());
        let actual = match read_secret(value, &Variables::default()) {
            SecretContent::StaticKeys(keys) => format!("keys {}", keys.access_key_id),
            SecretContent::WebIdentity(identity) => format!("web identity {}", identity.token_file.display()),
            SecretContent::Unusable { .. } => "unusable".to_owned(),
        };
        assert_eq!(actual, expected, "case: {case}");
    }
}
