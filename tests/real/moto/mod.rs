//! The AWS client against moto, an independent implementation of the AWS API.
//!
//! moto accepts any token, checks signatures on request, and doesn't page or throttle; what else goes wrong is played by
//! `sim::aws`.

mod applying;
mod own_login;
mod role_trial;
mod server;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use trueup_fleet::clouds::aws::client::{
    Aws, Catalogue, Class, Endpoints, InstanceType, Principal, Region, RoleArn, Variables, WebIdentity,
};
use trueup_net::http::{HttpClient, HttpSettings};
use trueup_net::{Egress, Roots};

use server::Moto;

const ROLE: &str = "arn:aws:iam::123456789012:role/annotator";

/// Type, vCPUs, MiB, GPUs counted, GPUs that are parts, architectures.
type Row = (&'static str, u64, u64, u64, u64, &'static [&'static str]);

/// EC2's own data.
const TYPES: [Row; 10] = [
    ("a1.2xlarge", 8, 16_384, 0, 0, &["arm64"]),
    ("g4dn.xlarge", 4, 16_384, 1, 1, &["x86_64"]),
    ("g5g.xlarge", 4, 8_192, 1, 1, &["arm64"]),
    ("g6f.large", 2, 8_192, 0, 1, &["x86_64"]),
    ("inf1.xlarge", 4, 8_192, 0, 0, &["x86_64"]),
    ("m1.small", 1, 1_740, 0, 0, &["i386", "x86_64"]),
    ("m6g.4xlarge", 16, 65_536, 0, 0, &["arm64"]),
    ("m6i.8xlarge", 32, 131_072, 0, 0, &["x86_64"]),
    ("p5.48xlarge", 192, 2_097_152, 8, 8, &["x86_64"]),
    ("t2.micro", 1, 1_024, 0, 0, &["i386", "x86_64"]),
];

/// A client for this server that trusts these authorities beside the system's.
fn aws(moto: &Moto, roots: Option<Roots>) -> Aws {
    let url = moto.url();
    let env = Variables::new([("AWS_ENDPOINT_URL", url.as_str())]);
    Aws::new(
        HttpClient::new(HttpSettings { extra_roots: roots, ..HttpSettings::new(Egress::user_named()) }).unwrap(),
        Endpoints::new([], &env).unwrap(),
        Arc::new(Timestamp::now),
    )
}

fn east() -> Region {
    Region::parse("us-east-1").unwrap()
}

fn identity(folder: &std::path::Path) -> WebIdentity {
    let token = folder.join("token");
    std::fs::write(&token, "aGVhZGVy.e30.c2lnbmF0dXJl\n").unwrap();
    WebIdentity::new(RoleArn::parse(ROLE).unwrap(), token, &Variables::default())
}

/// The way of a MachineSet's lookup: a token for keys, whose they are, and ten types.
async fn look_up(aws: Aws) {
    let folder = tempfile::tempdir().unwrap();
    let names: BTreeSet<String> = TYPES.iter().map(|(name, ..)| (*name).to_owned()).collect();
    let wanted = names.iter().cloned().chain(["x9.nobody".to_owned()]).collect();
    let principal = Principal::WebIdentity(identity(folder.path()));
    let found = Catalogue::new(aws).find(&principal, &east(), &wanted).await.unwrap();
    assert_eq!(found.caller, "arn:aws:sts::123456789012:assumed-role/annotator/trueup");
    assert_eq!(found.types["x9.nobody"], None, "a name nobody offers is an answer");
    for (name, vcpu, memory, gpus, parts, architectures) in TYPES {
        let InstanceType { name: found, vcpu: cpus, memory_mib, gpus: held, architectures: found_architectures } =
            found.types[name].clone().unwrap_or_else(|| panic!("{name} is offered"));
        assert_eq!((found.as_str(), cpus, memory_mib), (name, Some(vcpu), Some(memory)), "type: {name}");
        let counted: u64 = held.iter().map(|gpu| gpu.count).sum();
        let logical: u64 = held.iter().filter_map(|gpu| gpu.logical_count).sum();
        assert_eq!((counted, logical), (gpus, parts), "type: {name}");
        assert_eq!(found_architectures, architectures, "type: {name}");
    }
}

#[tokio::test]
async fn a_token_leads_to_ten_types_over_http() {
    let Some(moto) = Moto::start() else { return };
    look_up(aws(&moto, None)).await;
}

#[tokio::test]
async fn a_token_leads_to_ten_types_over_https_with_a_custom_ca() {
    let Some((moto, authority)) = Moto::start_tls() else { return };
    look_up(aws(&moto, Roots::parse(&authority).unwrap())).await;

    let folder = tempfile::tempdir().unwrap();
    let stranger = aws(&moto, None).exchange(&identity(folder.path()), &east()).await.unwrap_err();
    assert_eq!((stranger.class, stranger.code.as_str()), (Class::Transient, "certificate"), "{stranger}");
}

#[tokio::test]
async fn the_whole_catalogue_is_read_from_one_answer() {
    let Some(moto) = Moto::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let aws = aws(&moto, None);
    let session = aws.exchange(&identity(folder.path()), &east()).await.unwrap();
    let offers = aws.all_instance_types(&session.keys, &east()).await.unwrap();
    assert!(offers.found.len() > 1_000, "{} types", offers.found.len());
    let bare: Vec<&String> =
        offers.found.values().filter(|one| one.vcpu.is_none_or(|n| n == 0)).map(|one| &one.name).collect();
    assert_eq!(bare, Vec::<&String>::new(), "every type says how many vCPUs it has");
}

#[tokio::test]
async fn regions_are_listed_with_whether_they_are_enabled() {
    let Some(moto) = Moto::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let aws = aws(&moto, None);
    let session = aws.exchange(&identity(folder.path()), &east()).await.unwrap();
    let regions = aws.regions(&session.keys, &east()).await.unwrap();
    let home = regions.iter().find(|one| one.name == "us-east-1").map(|one| one.opt_in.as_str());
    assert_eq!(home, Some("opt-in-not-required"));
    assert!(regions.iter().any(|one| one.opt_in == "not-opted-in"), "{regions:?}");
}
