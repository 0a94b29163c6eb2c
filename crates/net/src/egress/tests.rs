//! The policy as a table: who named the host, whose credential, which kind of address, allowed or not.

use std::net::IpAddr;

use super::*;

const KINDS: [(AddressKind, &str); 5] = [
    (AddressKind::Ordinary, "10.0.0.1"),
    (AddressKind::Loopback, "127.0.0.1"),
    (AddressKind::Unspecified, "0.0.0.0"),
    (AddressKind::LinkLocal, "169.254.7.7"),
    (AddressKind::Metadata, "169.254.169.254"),
];
const IDENTITIES: [Identity; 3] = [Identity::Anonymous, Identity::Own, Identity::OfCluster];
const ALL: [bool; 5] = [true; 5];
const ORDINARY: [bool; 5] = [true, false, false, false, false];
const NONE: [bool; 5] = [false; 5];

fn host(text: &str) -> HostPort {
    HostPort::parse(text).unwrap()
}

fn url(text: &str) -> Uri {
    text.parse().unwrap()
}

/// Whether a name may lead to an address.
fn may_lead(permit: &Permit, server: &str, address: &str) -> bool {
    let address: IpAddr = address.parse().unwrap();
    permit.check(&url(server)).is_ok_and(|checked| checked.check_address(address).is_ok())
}

fn allowed_kinds(permit: &Permit, server: &str) -> [bool; 5] {
    KINDS.map(|(_, address)| may_lead(permit, server, address))
}

fn is_published(host: &HostPort) -> bool {
    host.host().ends_with(".provider.example")
}

#[test]
fn a_cloud_host_is_reached_by_who_named_it_whose_identity_it_gets_and_where_it_leads() {
    let listed = "sts.listed.example";
    // Host, who named it, and for each of anonymous, own and the cluster's identity: the kinds of address.
    let rows = [
        ("sts.user.example", Some(NamedBy::User), [ALL, ALL, ALL]),
        ("sts.provider.example", None, [ORDINARY, ORDINARY, ORDINARY]),
        ("sts.provider.example", Some(NamedBy::Provider), [ORDINARY, ORDINARY, ORDINARY]),
        ("sts.cluster.example", Some(NamedBy::Cluster), [ORDINARY, NONE, ORDINARY]),
        (listed, Some(NamedBy::Cluster), [ALL, ALL, ALL]),
        ("sts.unnamed.example", None, [NONE, NONE, NONE]),
    ];
    let egress = Egress::new([host(listed)]);
    for (name, named_by, expected) in rows {
        let named: Vec<(HostPort, NamedBy)> = named_by.map(|by| (host(name), by)).into_iter().collect();
        for (identity, expected) in IDENTITIES.into_iter().zip(expected) {
            let permit = egress.permit(&Destination::Cloud { identity, is_published, named: &named }).unwrap();
            let found = allowed_kinds(&permit, &format!("https://{name}/"));
            assert_eq!(found, expected, "{name} named by {named_by:?}, identity {identity:?}: {KINDS:?}");
        }
    }
}

#[test]
fn the_fixed_credential_addresses_are_for_this_machines_own_login() {
    let addresses =
        ["169.254.169.254", "169.254.170.2", "169.254.170.23", "[fd00:ec2::254]", "[fd00:ec2::23]"].map(|address| {
            let permits = IDENTITIES.map(|identity| {
                let cloud = Destination::Cloud { identity, is_published, named: &[] };
                Egress::default().permit(&cloud).unwrap().check(&url(&format!("http://{address}/"))).is_ok()
            });
            (address, permits)
        });
    for (address, found) in addresses {
        assert_eq!(found, [false, true, false], "{address}: anonymous, own, of a cluster");
    }
    let cloud = Destination::Cloud { identity: Identity::Own, is_published, named: &[] };
    let permit = Egress::default().permit(&cloud).unwrap();
    assert!(permit.check(&url("http://169.254.7.7/")).is_err(), "another link-local address");
}

#[test]
fn http_needs_a_host_that_the_user_named_or_listed() {
    let egress = Egress::new([host("listed.example:80")]);
    let named = [
        (host("user.example:80"), NamedBy::User),
        (host("cluster.example:80"), NamedBy::Cluster),
        (host("listed.example:80"), NamedBy::Cluster),
    ];
    let cloud = Destination::Cloud { identity: Identity::OfCluster, is_published, named: &named };
    let (cloud, document) = (egress.permit(&cloud).unwrap(), egress.permit(&Destination::Document).unwrap());
    let cases = [
        ("the user's", &cloud, "http://user.example/", true),
        ("the provider's", &cloud, "http://sts.provider.example/", false),
        ("the cluster's", &cloud, "http://cluster.example/", false),
        ("listed", &cloud, "http://listed.example/", true),
        ("a document", &document, "http://idp.example/", false),
        ("a listed document", &document, "http://listed.example/", true),
    ];
    for (case, permit, server, expected) in cases {
        assert_eq!(permit.check(&url(server)).is_ok(), expected, "case: {case}");
    }
}

#[test]
fn a_host_that_user_and_cluster_named_is_the_users() {
    let own = host("sts.example");
    for named in [[NamedBy::User, NamedBy::Cluster], [NamedBy::Cluster, NamedBy::User]] {
        let named = named.map(|by| (own.clone(), by));
        let cloud = Destination::Cloud { identity: Identity::Own, is_published, named: &named };
        assert!(Egress::default().permit(&cloud).unwrap().check(&url("https://sts.example/")).is_ok(), "{named:?}");
    }
}

#[test]
fn servers_of_the_user_may_be_anywhere_and_documents_of_a_cluster_at_ordinary_addresses() {
    let document = Egress::new([host("idp.listed.example")]).permit(&Destination::Document).unwrap();
    let rows = [
        ("the user's", Egress::user_named(), "http://api.example/", ALL),
        ("a document", document.clone(), "https://idp.example/", ORDINARY),
        ("a listed document", document, "https://idp.listed.example/", ALL),
    ];
    for (case, permit, server, expected) in rows {
        assert_eq!(allowed_kinds(&permit, server), expected, "case: {case}: {KINDS:?}");
    }
}

/// The permit of a kubeconfig out of a Secret of guest-lab, whose configuration has these words.
fn guest(words: &[Exemption], server: &str, proxy: ProxyNamedBy, holder: HolderReach) -> Result<Permit, EgressRefused> {
    let egress = Egress::default().with_guests([("guest-lab".to_owned(), words.iter().copied().collect())]);
    egress.permit(&Destination::Guest(GuestServer { cluster: "guest-lab", server: &url(server), proxy, holder }))
}

#[test]
fn a_guest_is_reached_at_ordinary_addresses_over_tls_and_elsewhere_by_the_words_of_the_configuration() {
    use Exemption::{Http, LinkLocal, Loopback};
    const LOCAL: [bool; 5] = [true, true, true, false, false];
    const LINK_LOCAL: [bool; 5] = [true, false, false, true, true];
    let rows: [(&[Exemption], &str, [bool; 5]); 8] = [
        (&[], "https", ORDINARY),
        (&[], "http", NONE),
        (&[Loopback], "https", LOCAL),
        (&[LinkLocal], "https", LINK_LOCAL),
        (&[Loopback, LinkLocal], "https", ALL),
        (&[Http], "http", ORDINARY),
        (&[Http, Loopback], "http", LOCAL),
        (&[Loopback], "http", NONE),
    ];
    for (words, scheme, expected) in rows {
        // As the URL writes it, and as a name leads to it.
        let literal = KINDS.map(|(_, address)| {
            guest(words, &format!("{scheme}://{address}:6443"), ProxyNamedBy::User, HolderReach::Network).is_ok()
        });
        assert_eq!(literal, expected, "{scheme} with {words:?} to {KINDS:?}");
        let server = format!("{scheme}://api.lab.example:6443");
        let by_name = guest(words, &server, ProxyNamedBy::User, HolderReach::Network)
            .map_or(NONE, |permit| allowed_kinds(&permit, &server));
        assert_eq!(by_name, expected, "{scheme} with {words:?} to a name that leads to {KINDS:?}");
    }
}

#[test]
fn a_local_cluster_needs_no_words_where_the_cluster_that_holds_the_secret_is_local() {
    let rows = [
        (HolderReach::Network, "https://127.0.0.1:6443", false),
        (HolderReach::Network, "http://127.0.0.1:8080", false),
        (HolderReach::Loopback, "https://127.0.0.1:6443", true),
        (HolderReach::Loopback, "https://0.0.0.0:6443", true),
        (HolderReach::Loopback, "http://127.0.0.1:8080", false),
        (HolderReach::LoopbackCleartext, "https://127.0.0.1:6443", true),
        (HolderReach::LoopbackCleartext, "http://127.0.0.1:8080", true),
        (HolderReach::LoopbackCleartext, "http://10.0.0.1:8080", false),
        (HolderReach::LoopbackCleartext, "https://169.254.169.254", false),
    ];
    for (holder, server, expected) in rows {
        assert_eq!(guest(&[], server, ProxyNamedBy::User, holder).is_ok(), expected, "{server}, holder {holder:?}");
    }
    // The name of this machine must lead to it.
    let local = guest(&[], "http://localhost:8080", ProxyNamedBy::User, HolderReach::LoopbackCleartext).unwrap();
    assert_eq!(allowed_kinds(&local, "http://localhost:8080"), [false, true, true, false, false]);
}

#[test]
fn a_proxy_and_a_path_out_of_a_secret_need_their_words() {
    use Exemption::{Loopback, Path, Proxy};
    let rows: [(&str, &[Exemption], &str, ProxyNamedBy, bool); 7] = [
        ("a proxy", &[], "https://api.example", ProxyNamedBy::Secret, false),
        ("an allowed proxy", &[Proxy], "https://api.example", ProxyNamedBy::Secret, true),
        ("the user's proxy", &[], "https://api.example", ProxyNamedBy::User, true),
        ("a path", &[], "https://api.example/k8s/clusters/c-1", ProxyNamedBy::User, false),
        ("an allowed path", &[Path], "https://api.example/k8s/clusters/c-1", ProxyNamedBy::User, true),
        ("a query", &[], "https://api.example/?x=y", ProxyNamedBy::User, false),
        ("a slash", &[], "https://api.example/", ProxyNamedBy::User, true),
    ];
    for (case, words, server, proxy, expected) in rows {
        assert_eq!(guest(words, server, proxy, HolderReach::Network).is_ok(), expected, "case: {case}");
    }
    let proxied = |words: &[Exemption], proxy: &str| {
        let permit = guest(words, "https://api.example", ProxyNamedBy::Secret, HolderReach::Network).unwrap();
        permit.check_proxy(&url(proxy)).map(|checked| checked.is_some())
    };
    assert!(proxied(&[Proxy], "http://127.0.0.1:3128/").is_err(), "its address counts, too");
    assert_eq!(proxied(&[Proxy, Loopback], "http://127.0.0.1:3128/"), Ok(true));
    let users = guest(&[], "https://api.example", ProxyNamedBy::User, HolderReach::Network).unwrap();
    assert_eq!(users.check_proxy(&url("http://127.0.0.1:3128/")).map(|checked| checked.is_some()), Ok(false));
}

#[test]
fn a_refused_guest_names_the_kind_of_address_and_the_line_that_would_allow_it() {
    let said = |server: &str, proxy| {
        let words = [Exemption::Path];
        guest(&words, server, proxy, HolderReach::Network).unwrap_err().to_string()
    };
    assert_eq!(
        said("http://127.0.0.1:8080", ProxyNamedBy::Secret),
        "the kubeconfig of guest-lab is in a Secret and uses plain http to 127.0.0.1:8080 and the loopback address 127.0.0.1 \
         and a proxy-url; to allow it, set [egress] guests = { \"guest-lab\" = [\"http\", \"loopback\", \"proxy\", \"path\"] }"
    );
    let permit =
        guest(&[], "https://api.lab.example:6443", ProxyNamedBy::User, HolderReach::Network).expect("an ordinary name");
    let checked = permit.check(&url("https://api.lab.example:6443")).unwrap();
    let refused = checked.check_address("::ffff:169.254.169.254".parse().unwrap()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the kubeconfig of guest-lab is in a Secret and uses the metadata (link-local) address ::ffff:169.254.169.254 of \
         api.lab.example:6443; to allow it, set [egress] guests = { \"guest-lab\" = [\"link-local\"] }"
    );
}

#[test]
fn the_words_of_one_guest_count_for_no_other() {
    let egress = Egress::default().with_guests([("guest-lab".to_owned(), [Exemption::Loopback].into())]);
    let (server, holder) = (url("https://127.0.0.1:6443"), HolderReach::Network);
    let permit = |cluster| {
        let proxy = ProxyNamedBy::User;
        egress.permit(&Destination::Guest(GuestServer { cluster, server: &server, proxy, holder })).is_ok()
    };
    assert_eq!([permit("guest-lab"), permit("guest-lab-2")], [true, false]);
}

#[test]
fn this_machines_own_identity_goes_to_no_host_that_a_cluster_named() {
    let egress = Egress::new([host("sts.internal.example.com")]);
    for named_by in [NamedBy::User, NamedBy::Provider, NamedBy::Cluster] {
        for identity in IDENTITIES {
            let expected = named_by != NamedBy::Cluster || identity != Identity::Own;
            let found = egress.may_receive(identity, &host("sts.attacker.example"), named_by).is_ok();
            assert_eq!(found, expected, "case: {identity:?} to a host named by {named_by:?}");
            let allowed = egress.may_receive(identity, &host("sts.internal.example.com:443"), named_by);
            assert_eq!(allowed, Ok(()), "case: {identity:?} to an allowed host named by {named_by:?}");
        }
    }
    let other_port = egress.may_receive(Identity::Own, &host("sts.internal.example.com:8443"), NamedBy::Cluster);
    assert!(other_port.unwrap_err().to_string().contains("allow = [\"sts.internal.example.com:8443\"]"));
}

#[test]
fn hosts_are_parsed_with_their_port() {
    let cases = [
        ("sts.example.com", Some("sts.example.com:443")),
        ("STS.example.com:8443", Some("sts.example.com:8443")),
        ("[::1]:5000", Some("[::1]:5000")),
        ("[::1]", Some("[::1]:443")),
        ("https://sts.example.com", None),
        ("sts.example.com/path", None),
        ("user@sts.example.com", None),
        ("*.example.com", None),
        ("sts.example.com:", None),
        ("", None),
    ];
    for (text, expected) in cases {
        let found = HostPort::parse(text).ok().map(|host| host.to_string());
        assert_eq!(found.as_deref(), expected, "case: {text}");
    }
    let of = |text: &str| HostPort::of(&url(text)).unwrap().to_string();
    assert_eq!(of("http://sts.example.com/x"), "sts.example.com:80");
    assert_eq!(of("https://STS.example.com/"), "sts.example.com:443");
}
