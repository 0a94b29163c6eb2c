use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::*;
use trueup_checks::testing::NoSubjects;
use trueup_checks::{Check, Pass, Touched};
use trueup_core::engine::{CheckName, Glob, PolicyEffect, PolicyRule, Tier};
use trueup_core::world::{
    ChangeSet, Cluster, ClusterName, Declaration, Interest, Namespace, Provider, RiskClass, View,
};
use trueup_fleet::budgets::Budgets;
use trueup_net::{Egress, Exemption, HostPort};
use trueup_operate::{CloudAccount, CloudKey, PublishTarget, Safety};

/// A check with one setting, unknown to the config module.
struct Probe {
    name: CheckName,
}

impl Check for Probe {
    fn name(&self) -> CheckName {
        self.name
    }

    fn interests_of(&self, _: &Cluster, _: View<'_>) -> Vec<Interest> {
        Vec::new()
    }

    fn interested(&self, _: &ChangeSet, _: View<'_>) -> BTreeSet<ClusterName> {
        BTreeSet::new()
    }

    fn touched(&self, _: &ChangeSet, _: View<'_>) -> Touched {
        Touched::default()
    }

    fn pass<'a>(&'a self, _: View<'a>) -> Box<dyn Pass + 'a> {
        Box::new(NoSubjects)
    }
}

const ENTRIES: [Entry; 2] = [
    Entry {
        name: CheckName("hosted-oidc"),
        known_keys: &["copies"],
        build: |table| match table.take_choice("copies", &[("observe", "hosted-oidc"), ("manage", "managing")]) {
            Ok(name) => Ok(Box::new(Probe { name: CheckName(name.unwrap_or("hosted-oidc")) })),
            Err(problem) => Err(vec![problem]),
        },
    },
    Entry {
        name: CheckName("powervs-tags"),
        known_keys: &[],
        build: |_| Ok(Box::new(Probe { name: CheckName("powervs-tags") })),
    },
];

fn parse(text: &str) -> Result<Config, Vec<SettingsProblem>> {
    parse_config(text, Path::new("conf"), &ENTRIES)
}

fn problems(text: &str) -> Vec<String> {
    parse(text).unwrap_err().into_iter().map(|problem| problem.message).collect()
}

fn enabled(config: &Config) -> Vec<&'static str> {
    config.domains.0.iter().map(|domain| domain.name().0).collect()
}

const WHOLE: &str = r#"
[[clusters]]
match = "stage-*"
class = "stage"
namespaces = ["openshift-config"]
[[policy]]
cluster = "*"
class = "prod"
verb = "delete"
deny = "change freeze until Monday"
[[policy]]
cap = 5
[[policy]]
kind = "Secret"
tier = 4
[safety]
read_only = true
kill_switch = "stop"
freeze = ["Fri 16:00 - Mon 08:00 UTC"]
recipients = ["age1abc"]
live_max = 8
settle = "1h30m"
keep = "30d"
[domains]
disabled = ["powervs-tags"]
[domains.hosted-oidc]
copies = "manage"
[[accept]]
finding = "hosted-oidc/guest-a/Secret/openshift-config/*"
reason = "kept for the audit"
until = 2026-12-31
[clouds.ibm.main]
api_key_file = "key"
management_clusters = ["mgmt-*"]
[clouds.ibm.other]
api_key_env = "IBMCLOUD_API_KEY"
endpoints = { vpc = "https://vpc.example" }
[budgets]
objects_per_collection = 3_000_000
pages_per_list = 10
events_per_second = 20
time_per_collection = "1m"
time_per_cluster = "1h"
collections_per_cluster = 30
bytes_per_cluster = "512MiB"
memory_total = "2GiB"
"#;

#[test]
#[expect(clippy::too_many_lines, reason = "one config with every key, and what it comes to")]
fn every_documented_setting_is_read() {
    let config = parse(WHOLE).unwrap();
    assert_eq!(config.settings.clusters.class_of(&ClusterName::new("stage-1"), None), RiskClass::Stage);
    assert_eq!(
        config.settings.clusters.namespaces_of(&ClusterName::new("stage-1")),
        [Namespace::new("openshift-config")]
    );
    let glob = |text: &str| Some(Glob::parse(text).unwrap());
    let everything = PolicyRule {
        cluster: None,
        class: None,
        namespace: None,
        kind: None,
        verb: None,
        effect: PolicyEffect::Cap(5),
    };
    let deny = PolicyEffect::Deny("change freeze until Monday".to_owned());
    assert_eq!(
        config.settings.policy,
        [
            PolicyRule {
                cluster: glob("*"),
                class: glob("prod"),
                verb: glob("delete"),
                effect: deny,
                ..everything.clone()
            },
            everything.clone(),
            PolicyRule { kind: glob("Secret"), effect: PolicyEffect::Tier(Tier::T4), ..everything },
        ]
    );
    assert!(config.settings.safety.read_only);
    assert_eq!(
        config.settings.safety.kill_switch,
        Some(PathBuf::from("conf/stop")),
        "relative to the config, not to the shell"
    );
    assert_eq!(config.settings.safety.freeze.len(), 1);
    assert_eq!(config.settings.safety.recipients, ["age1abc"]);
    assert_eq!(config.settings.safety.live_max, 8);
    assert_eq!(config.settings.safety.settle, Some(Duration::from_secs(5400)));
    assert_eq!(config.settings.safety.keep, Duration::from_secs(30 * 24 * 3600));
    assert_eq!(
        config.settings.budgets,
        Budgets {
            objects_per_collection: 3_000_000,
            pages_per_list: 10,
            events_per_second: 20,
            time_per_collection: Duration::from_secs(60),
            time_per_cluster: Duration::from_secs(3600),
            collections_per_cluster: 30,
            bytes_per_cluster: 512 << 20,
            memory_total: 2 << 30,
        }
    );
    assert_eq!(enabled(&config), ["managing"], "its own table reached the check, and the other one is off");
    assert_eq!(config.settings.accept[0].until, jiff::civil::date(2026, 12, 31));
    assert_eq!(
        config.settings.clouds,
        [
            CloudAccount {
                provider: Provider::Ibm,
                alias: "main".to_owned(),
                key: Some(CloudKey::File(PathBuf::from("conf/key"))),
                endpoints: BTreeMap::new(),
                management_clusters: vec![Glob::parse("mgmt-*").unwrap()],
                declaration: Declaration::NotDeclared,
            },
            CloudAccount {
                provider: Provider::Ibm,
                alias: "other".to_owned(),
                key: Some(CloudKey::Env("IBMCLOUD_API_KEY".to_owned())),
                endpoints: BTreeMap::from([("vpc".to_owned(), "https://vpc.example".to_owned())]),
                management_clusters: Vec::new(),
                declaration: Declaration::NotDeclared,
            },
        ]
    );
}

#[test]
fn an_empty_file_means_the_defaults() {
    let config = parse("").unwrap();
    assert_eq!(config.settings.safety, Safety::default());
    assert_eq!(config.settings.budgets, Budgets::default());
    assert_eq!(config.settings.safety.live_max, 64);
    assert_eq!(config.settings.safety.keep, Duration::from_secs(90 * 24 * 3600));
    assert_eq!(enabled(&config), ["hosted-oidc", "powervs-tags"]);
    assert!(
        config.settings.policy.is_empty() && config.settings.accept.is_empty() && config.settings.clouds.is_empty()
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "one config with every key, and what it comes to")]
fn each_error_names_the_setting_and_the_fix() {
    let cases = [
        ("unknown table", "[safty]\n", "unknown key `safty` in the config; did you mean `safety`?"),
        (
            "unknown key",
            "[[clusters]]\nmatch='a'\nclas='dev'",
            "unknown key `clas` in [[clusters]]; did you mean `class`?",
        ),
        (
            "bad class",
            "[[clusters]]\nmatch='a'\nclass='pord'",
            "unknown value `pord` for `class` in [[clusters]]; did you mean `prod`?",
        ),
        ("no match", "[[clusters]]\nclass='dev'", "[[clusters]] needs `match`"),
        ("empty match", "[[clusters]]\nmatch=''", "`match` in [[clusters]]: a pattern cannot be empty"),
        ("one table", "[clusters]\nmatch='a'", "write [[clusters]]"),
        ("policy without effect", "[[policy]]\nverb='delete'", "needs one of `deny`, `cap` and `tier`"),
        ("policy with two", "[[policy]]\ncap=1\ntier=2", "takes one of `deny`, `cap` and `tier`, and has cap and tier"),
        ("policy for no class", "[[policy]]\nclass='prdo'\ncap=1", "unknown class `prdo`; did you mean `prod`?"),
        ("policy for no verb", "[[policy]]\nverb='delte'\ncap=1", "unknown verb `delte`; did you mean `delete`?"),
        ("policy that says nothing", "[[policy]]\ndeny=' '", "`deny` in [[policy]] says nothing"),
        ("no such tier", "[[policy]]\ntier=5", "wants a whole number from 1 to 4, and got 5"),
        ("negative cap", "[[policy]]\ncap=-1", "wants a whole number from 0, and got -1"),
        ("wrong type", "[safety]\nread_only='yes'", "`read_only` in [safety] wants true or false, and got a text"),
        ("bad span", "[safety]\nsettle='30'", "`settle` in [safety]: invalid duration `30`"),
        ("bad time to keep", "[safety]\nkeep='ever'", "`keep` in [safety]: invalid duration `ever`"),
        ("too short a time to keep", "[safety]\nkeep='6d'", "`keep` in [safety] is less than 7d"),
        ("bad window", "[safety]\nfreeze=['Fry 16:00 - Mon 08:00 UTC']", "`Fry` is not a day"),
        ("home path", "[safety]\nkill_switch='~/stop'", "`kill_switch` in [safety] starts with ~"),
        ("bad recipient", "[safety]\nrecipients=['me']", "must start with age1"),
        ("no budget", "[budgets]\npages_per_list=0", "wants a whole number from 1, and got 0"),
        (
            "budget without a unit",
            "[budgets]\nbytes_per_cluster='1024'",
            "`bytes_per_cluster` in [budgets]: invalid size",
        ),
        ("budget as a number", "[budgets]\nmemory_total=1024", "`memory_total` in [budgets] wants a text"),
        ("no time", "[budgets]\ntime_per_cluster='0s'", "`time_per_cluster` in [budgets]: must be more than 0s"),
        (
            "unknown budget",
            "[budgets]\nobjects_per_colection=1",
            "unknown key `objects_per_colection` in [budgets]; did you mean `objects_per_collection`?",
        ),
        ("too small", "[safety]\nlive_max=0", "wants a whole number from 1 to 10000, and got 0"),
        (
            "unknown in disabled",
            "[domains]\ndisabled=['powervs-tag']",
            "unknown domain `powervs-tag`; did you mean `powervs-tags`?",
        ),
        (
            "unknown domain",
            "[domains.hosted-oid]\n",
            "unknown key `hosted-oid` in [domains]; did you mean `hosted-oidc`?",
        ),
        (
            "domain's unknown key",
            "[domains.hosted-oidc]\ncopis=1",
            "unknown key `copis` in [domains.hosted-oidc]; did you mean `copies`?",
        ),
        ("domain's bad value", "[domains.hosted-oidc]\ncopies='mange'", "did you mean `manage`?"),
        ("off, and wrong", "[domains]\ndisabled=['hosted-oidc']\n[domains.hosted-oidc]\ncopies='x'", "for `copies`"),
        ("no end", "[[accept]]\nfinding='a'\nreason='b'", "[[accept]] needs `until`"),
        ("quoted date", "[[accept]]\nfinding='a'\nreason='b'\nuntil='2026-12-31'", "wants a date without quotes"),
        ("unknown cloud", "[clouds.imb.x]", "unknown key `imb` in [clouds]; did you mean `ibm`?"),
        ("cloud key", "[clouds.ibm.x]\napi_key='s3cret'", "did you mean `api_key_env`?"),
        ("two keys", "[clouds.ibm.x]\napi_key_env='A'\napi_key_file='b'", "has both api_key_file and api_key_env"),
    ];
    for (case, text, message) in cases {
        let problems = problems(text);
        assert_eq!(problems.len(), 1, "case: {case}: {problems:?}");
        assert!(problems[0].contains(message), "case: {case}: {}", problems[0]);
    }
}

#[test]
fn a_misplaced_secret_is_never_printed() {
    let cases = [
        ("a cloud key", "[clouds.ibm.x]\napi_key='S3CRET'"),
        ("a private key among recipients", "[safety]\nrecipients=['AGE-SECRET-KEY-1S3CRET']"),
        ("a text where none belongs", "[safety]\nread_only='S3CRET'"),
    ];
    for (case, text) in cases {
        let problems = problems(text);
        assert!(problems.iter().all(|message| !message.contains("S3CRET")), "case: {case}: {problems:?}");
    }
}

#[test]
fn all_problems_of_a_file_are_reported_with_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    let text = "[safety]\nread_onl = true\nsettle = \"x\"\n\n[[clusters]]\nclass = \"dev\"\n[[policy]]\ncap = \"é\"\n";
    std::fs::write(&path, text).unwrap();
    let error = read_config(&ConfigFile::Named(path.clone()), &ENTRIES).unwrap_err();
    let ConfigError::Wrong { problems, .. } = &error else { panic!("{error}") };
    assert_eq!(problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [2, 3, 5, 8]);
    let said = error.to_string();
    assert_eq!(said.lines().count(), 4);
    let first = format!("{}:2: unknown key `read_onl` in [safety]; did you mean `read_only`?", path.display());
    assert_eq!(said.lines().next(), Some(first.as_str()));
}

#[test]
fn invalid_toml_is_reported_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::write(&path, "[safety]\nread_only = \n").unwrap();
    let error = read_config(&ConfigFile::Named(path), &ENTRIES).unwrap_err();
    let ConfigError::Wrong { problems, .. } = &error else { panic!("{error}") };
    assert_eq!(problems[0].line, 2, "{error}");
}

#[test]
fn a_named_file_must_exist_and_the_default_file_may_be_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    assert!(matches!(read_config(&ConfigFile::Named(path.clone()), &ENTRIES), Err(ConfigError::Missing { .. })));
    assert!(read_config(&ConfigFile::Default(path), &ENTRIES).is_ok());
    assert!(read_config(&ConfigFile::Nowhere, &ENTRIES).is_ok());
    let a_folder = ConfigFile::Default(folder.path().to_owned());
    assert!(matches!(read_config(&a_folder, &ENTRIES), Err(ConfigError::Unreadable { .. })), "a folder, not a file");
}

#[test]
fn a_default_config_that_cannot_be_read_whole_is_an_error_and_never_the_defaults() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::os::unix::fs::symlink(at("unmounted/config.toml"), at("dangling.toml")).unwrap();
    std::os::unix::fs::symlink(at("loop.toml"), at("loop.toml")).unwrap();
    std::fs::write(at("file"), "").unwrap();
    std::fs::write(at("long.toml"), "#".repeat(17 << 20)).unwrap();
    std::fs::write(at("bytes.toml"), b"# \xff").unwrap();
    for name in ["dangling.toml", "loop.toml", "file/config.toml", "long.toml", "bytes.toml"] {
        let read = read_config(&ConfigFile::Default(at(name)), &ENTRIES);
        assert!(matches!(read, Err(ConfigError::Unreadable { .. })), "case: {name}: {read:?}");
    }
    std::fs::write(at("ours.toml"), "").unwrap();
    std::fs::set_permissions(at("ours.toml"), std::os::unix::fs::PermissionsExt::from_mode(0o620)).unwrap();
    let writable = read_config(&ConfigFile::Default(at("ours.toml")), &ENTRIES);
    assert!(matches!(writable, Err(ConfigError::WritableByOthers { mode: 0o620, .. })), "{writable:?}");
}

#[test]
fn the_journal_is_published_to_a_file_a_config_map_or_syslog() {
    let publish = |text: &str| {
        let read = parse_config(&format!("[journal]\npublish = {text}\n"), Path::new("/etc/trueup"), &ENTRIES);
        read.map(|config| config.settings.publish.unwrap()).map_err(|problems| problems[0].message.clone())
    };
    let config_map = |context: &str| {
        Ok(PublishTarget::ConfigMap {
            context: context.to_owned(),
            namespace: "audit".to_owned(),
            name: "t.1".to_owned(),
        })
    };
    let not_three = || Err("`configmap` in [journal.publish] is not context/namespace/name".to_owned());
    let cases = [
        ("{ file = \"hashes\" }", Ok(PublishTarget::File("/etc/trueup/hashes".into()))),
        ("{ configmap = \"hub/audit/t.1\" }", config_map("hub")),
        ("{ configmap = \"audit/api-hub:6443/kube:admin/audit/t.1\" }", config_map("audit/api-hub:6443/kube:admin")),
        ("{ configmap = \"audit/t.1\" }", not_three()),
        ("{ configmap = \"hub/au dit/t.1\" }", not_three()),
        ("{ configmap = \"hub/audit/..%2F\" }", not_three()),
        ("{ syslog = \"/dev/log\" }", Ok(PublishTarget::Syslog { socket: "/dev/log".into() })),
        ("{}", Err("`publish` in [journal] needs one of `file`, `configmap` and `syslog`".to_owned())),
        (
            "{ file = \"x\", configmap = \"hub/audit/t.1\" }",
            Err("`publish` in [journal] takes one of `file`, `configmap` and `syslog`, and has several".to_owned()),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(publish(text), expected, "case: {text}");
    }
}

#[test]
fn the_default_path_comes_from_the_environment() {
    let locate = |variables: &[(&str, &str)]| {
        ConfigFile::locate(None, |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        })
    };
    let cases = [
        ("XDG", vec![("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")], ConfigFile::Default("/x/trueup/config.toml".into())),
        ("home", vec![("HOME", "/h")], ConfigFile::Default("/h/.config/trueup/config.toml".into())),
        (
            "relative XDG",
            vec![("XDG_CONFIG_HOME", "x"), ("HOME", "/h")],
            ConfigFile::Default("/h/.config/trueup/config.toml".into()),
        ),
        ("neither", vec![], ConfigFile::Nowhere),
    ];
    for (case, variables, expected) in cases {
        assert_eq!(locate(&variables), expected, "case: {case}");
    }
    assert_eq!(ConfigFile::locate(Some("c".into()), |_| None), ConfigFile::Named("c".into()));
}

#[test]
fn an_announced_check_can_be_disabled_before_it_exists() {
    let read = |name: &str| parse_config(&format!("[domains]\ndisabled = ['{name}']"), Path::new("."), &[]);
    for name in trueup_checks::registry::announced() {
        assert!(read(name).is_ok(), "{name}");
        assert!(read(&format!("{name}z")).is_err(), "{name}");
    }
    assert!(read("powervs-tagz").is_err());
}

#[test]
fn console_settings_are_read_from_their_table() {
    let text = "[console]\ntheme = 'night'\nkeys = 'my.toml'\nplain = true\nmouse = false\nalert = 'bell'\nutc = true\n\
                [[console.views]]\nname = 'all'\nscreen = 'fleet'\n\
                [[console.views]]\nname = 'mine'\nscreen = 'powervs-tags'\nfilter = 'state:extra'\n";
    let read = |text: &str| parse_config(text, Path::new("/c"), &ENTRIES);
    let view = |name: &str, screen: &str, filter: &str| ViewSettings {
        name: name.to_owned(),
        screen: screen.to_owned(),
        filter: filter.to_owned(),
    };
    let expected = ConsoleSettings {
        theme: Some("night".to_owned()),
        keys: Some("/c/my.toml".into()),
        plain: true,
        mouse: false,
        alert: AlertSetting::Bell,
        utc: true,
        views: vec![view("all", "fleet", ""), view("mine", "powervs-tags", "state:extra")],
    };
    assert_eq!(read(text).unwrap().console, expected);
    assert_eq!(read("").unwrap().console, ConsoleSettings::default());
    let slips = [
        ("unknown key", "[console]\nthem = 'x'"),
        ("a view without a name", "[[console.views]]\nscreen = 'fleet'"),
        ("a view of no screen", "[[console.views]]\nname = 'x'\nscreen = 'flet'"),
        ("a word where true or false belongs", "[console]\nmouse = 'off'"),
        ("unknown alert", "[console]\nalert = 'siren'"),
    ];
    for (case, text) in slips {
        assert_eq!(read(text).unwrap_err().len(), 1, "case: {case}");
    }
}

#[test]
fn findings_accepted_in_the_console_count_like_those_in_the_config() {
    let folder = tempfile::tempdir().unwrap();
    let (config, accepted) = (folder.path().join("config.toml"), folder.path().join(ACCEPTED_FILE));
    std::fs::write(&config, "[[accept]]\nfinding = 'a'\nreason = 'r'\nuntil = 2026-12-31\n").unwrap();
    let rules = |file: &ConfigFile| read_config(file, &ENTRIES).map(|config| config.settings.accept);
    let named = ConfigFile::Named(config.clone());
    assert_eq!(rules(&named).unwrap().len(), 1, "a missing file is empty");
    let mut rule = rules(&named).unwrap().remove(0);
    rule.reason = "says \"why\"".to_owned();
    std::fs::write(&accepted, accept_line(&rule)).unwrap();
    assert_eq!(rules(&named).unwrap()[1], rule);
    assert_eq!(rules(&ConfigFile::Default(folder.path().join("none.toml"))).unwrap(), [rule], "without a config");
    std::fs::write(&accepted, "[[accept]]\nfinding = 'a'\n\n[safety]\n").unwrap();
    let error = rules(&named).unwrap_err();
    let ConfigError::Wrong { path, problems } = &error else { panic!("{error}") };
    assert_eq!(*path, accepted);
    assert!(problems.iter().any(|problem| problem.line == 4), "only [[accept]] is allowed: {error}");
}

#[test]
fn a_config_that_others_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    std::fs::write(&path, "").unwrap();
    for (mode, is_read) in [(0o600, true), (0o644, true), (0o664, false), (0o646, false), (0o666, false)] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let read = read_config(&ConfigFile::Named(path.clone()), &[]);
        assert_eq!(read.is_ok(), is_read, "case: mode {mode:o}");
        if let Err(error) = read {
            assert!(
                error.to_string().ends_with(&format!("(mode {mode:o}); run chmod go-w {}", path.display())),
                "{error}"
            );
        }
    }
}

#[test]
fn egress_and_exec_are_read_and_their_mistakes_reported() {
    let text = r#"
        [egress]
        allow = ["sts.internal.example.com"]
        guests = { "guest-lab" = ["loopback", "proxy"], "a/b" = [] }
        [exec]
        allow = ["aws", "/opt/bin/kubelogin"]
    "#;
    let settings = parse(text).unwrap().settings;
    let words = [Exemption::Loopback, Exemption::Proxy].into();
    let guests = [("guest-lab".to_owned(), words), ("a/b".to_owned(), BTreeSet::new())];
    let allow = [HostPort::parse("sts.internal.example.com").unwrap()];
    assert_eq!(settings.egress, Egress::new(allow).with_guests(guests));
    assert_eq!(settings.exec_allow, Some(vec!["aws".to_owned(), "/opt/bin/kubelogin".to_owned()]));
    assert_eq!(parse("[exec]").unwrap().settings.exec_allow, None);
    assert_eq!(parse("[exec]\nallow = []").unwrap().settings.exec_allow, Some(Vec::new()));
    let cases = [
        ("[egress]\nguests = { x = [\"loopbak\"] }", "unknown word `loopbak`; did you mean `loopback`?"),
        ("[egress]\nguests = { x = [\"metadata\"] }", "unknown word `metadata`"),
        ("[egress]\nguest = {}", "unknown key `guest` in [egress]; did you mean `guests`?"),
        ("[egress]\nallow = [\"https://x\"]", "`https://x` is not a host"),
        ("[exec]\nalow = []", "unknown key `alow` in [exec]; did you mean `allow`?"),
        ("[exec]\nallow = [\"bin/aws\"]", "a full path that begins with /"),
        ("[exec]\nallow = [\"\"]", "write a command name"),
    ];
    for (text, expected) in cases {
        let found = problems(text);
        assert!(found.len() == 1 && found[0].contains(expected), "{text}: {found:?}");
    }
}
