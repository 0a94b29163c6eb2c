//! The rules themselves.

/// One source file, by its path in the repository.
pub struct SourceFile {
    pub path: String,
    pub text: String,
}

/// A place that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Breach {
    pub place: String,
    pub message: String,
}

/// Which workspace crates a crate may depend on. The compiler holds the rest: what is not a dependency cannot be used.
const DEPENDENCIES: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("cel", &[]),
    ("net", &[]),
    ("checks", &["cel", "core"]),
    ("fleet", &["checks", "core", "net"]),
    ("operate", &["checks", "core", "fleet", "net"]),
    ("controller", &["core", "fleet", "operate"]),
    ("sim", &["core"]),
];

/// Folders and files without IO, clock or randomness.
const PURE: &[&str] = &[
    "crates/core/src/",
    "crates/cel/src/",
    "crates/checks/src/",
    "crates/fleet/src/live/discover.rs",
    "crates/fleet/src/connect/link.rs",
    "src/console/",
];

/// IO inside a pure folder: the journal, the vault, the key of plan marks and the reader of their files, the console's terminal
/// and its loop, and the threads that share explanations among cores.
const IO: &[&str] = &[
    "crates/core/src/engine/journal/",
    "crates/core/src/engine/vault/",
    "crates/core/src/engine/in_order.rs",
    "crates/core/src/engine/mark.rs",
    "crates/core/src/files.rs",
    "src/console/terminal/",
    "src/console/run.rs",
    "src/console/reply_sender.rs",
];

/// The one file that writes to clusters.
const SENDS: &str = "crates/fleet/src/kube_cluster/mod.rs";

/// The one file that writes to cloud accounts. Every function in it requires the executor's token.
const CLOUD_SENDS: &str = "crates/fleet/src/clouds/ibm/client/write.rs";

const IMPURE: &[&str] = &[
    "Timestamp::now",
    "Zoned::now",
    "TimeZone::system",
    "SystemTime",
    "Instant::now",
    "std::time::Instant",
    "tokio::",
    "rand::",
    "getrandom",
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
];

/// Kube's `request` family logs whole bodies when decoding fails.
const KUBE_DECODES: &[&str] =
    &[".request::<", ".request_text(", ".request_events", ".request_status", ".request_stream("];

/// Only the executor may send a delete; the simulated server receives them.
const DELETES: &[&str] = &["Method::DELETE", "DeleteParams", ".delete_collection("];

/// Reads without a limit. `read_to_end` and `read_to_string` are limited by `take` on the same line.
const UNBOUNDED_READS: &[&str] = &["fs::read(", "fs::read_to_string("];
const READS_TO_END: &[&str] = &["read_to_end(", "read_to_string("];

/// The reader of files with a limit of size and time; and readers of AWS' own files, which aws-config is to replace.
const READERS: &[&str] = &[
    "crates/core/src/files.rs",
    "crates/fleet/src/clouds/aws/client/profile.rs",
    "crates/fleet/src/clouds/aws/client/sso.rs",
];

/// Where bytes go to stdout as they are: a document for files and pipes, and text of this program alone.
const EXACT_OUTPUT: &[&str] =
    &["src/cli/terminal.rs", "src/cli/oidc/render.rs", "src/cli/man/mod.rs", "src/cli/completions.rs"];

/// Ways to a server that do not pass the egress policy, or make a client of their own.
const DIALS: &[&str] = &[
    "TcpStream::connect",
    "TcpSocket::",
    "UdpSocket",
    "UnixStream::connect",
    "HttpConnector",
    "GaiResolver",
    "hyper_util::client",
    "reqwest",
    "kube::Config",
    "Client::try_",
    "lookup_host",
    "to_socket_addrs",
];

/// The client that aws-config gets: it implements a trait of the SDK that has the name of hyper's connector, on `net`.
const LOGIN_CLIENT: &str = "crates/fleet/src/clouds/aws/client/own_login/net_http.rs";
const LOGIN_CLIENT_MAY: &str = "HttpConnector";

/// The SDK's own ways to a server; the login gives it ours.
const SDK_CLIENTS: &[&str] = &["aws_config::", "aws_smithy_http_client", "aws_sdk_"];
const LOGIN: &str = "crates/fleet/src/clouds/aws/client/own_login/";

/// The one file that opens connections.
const DIALER: &str = "crates/net/src/dial.rs";

/// Permits without a check of addresses, for hosts that the user named.
const USER_PERMITS: &[&str] = &["user_named()", "Destination::User"];

/// Where the user's own hosts are connected to, and the policy itself.
const USER_CLIENTS: &[&str] = &[
    "crates/net/src/egress/",
    "crates/fleet/src/connect/transport/mod.rs",
    "crates/fleet/src/clouds/ibm/client/endpoints.rs",
];

/// A file without tests stays below this: past it, it holds two concepts.
const LINES_MAX: usize = 600;

impl SourceFile {
    pub fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// The folder that holds `lib.rs`, with its slash: `crates/core/src/`, `src/`.
    fn root(&self) -> &str {
        self.path.find("src/").map_or("", |at| &self.path[..at + "src/".len()])
    }

    fn is_below(&self, folder: &str) -> bool {
        self.path.starts_with(folder)
    }

    pub fn is_test(&self) -> bool {
        let path = &self.path;
        path.ends_with("/tests.rs")
            || path.ends_with("testing.rs")
            || path.contains("/tests/")
            || path.contains("/testing/")
    }

    /// The lines that are compiled into the product, with their numbers: no comments, no test modules.
    pub fn code(&self) -> Vec<(usize, &str)> {
        let mut lines = Vec::new();
        for (index, line) in self.text.lines().enumerate() {
            let bare = line.trim_start();
            if bare.starts_with("#[cfg(test)]")
                && self.text.lines().nth(index + 1).is_some_and(|next| next.trim_end().ends_with('{'))
            {
                break;
            }
            if !bare.starts_with("//") {
                lines.push((index + 1, line));
            }
        }
        lines
    }

    fn breach(&self, line: usize, message: String) -> Breach {
        Breach { place: format!("{}:{line}", self.path), message }
    }
}

/// Every rule over every file.
pub fn all(files: &[SourceFile]) -> Vec<Breach> {
    let product: Vec<&SourceFile> = files.iter().filter(|file| !file.is_test()).collect();
    let mut breaches = Vec::new();
    for file in &product {
        breaches.extend(words(file));
        breaches.extend(shape(file));
    }
    breaches.extend(orphans(files));
    breaches
}

/// Dependencies of a crate's manifest that the architecture does not allow. Dev-dependencies are free.
pub fn dependencies(krate: &str, manifest: &str) -> Vec<Breach> {
    let allowed = DEPENDENCIES.iter().find(|(name, _)| *name == krate).map_or(&[][..], |(_, allowed)| *allowed);
    let section = manifest.split("\n[").find(|section| section.starts_with("dependencies]")).unwrap_or_default();
    let named = section.lines().filter_map(|line| line.strip_prefix("trueup-"));
    let used = named.filter_map(|line| line.split(['.', ' ', '=']).next());
    used.filter(|name| !allowed.contains(name))
        .map(|name| Breach {
            place: format!("crates/{krate}/Cargo.toml"),
            message: format!("{krate} may not depend on {name}"),
        })
        .collect()
}

fn words(file: &SourceFile) -> Vec<Breach> {
    let within = |folders: &[&str]| folders.iter().any(|folder| file.is_below(folder));
    let pure = within(PURE) && !within(IO);
    let prints = file.is_below("src/cli/") || file.path == "src/main.rs";
    let mut breaches = Vec::new();
    for (line, code) in file.code() {
        let mut forbid = |words: &[&str], why: &str| {
            for word in words.iter().filter(|word| code.contains(**word)) {
                breaches.push(file.breach(line, format!("{word}: {why}")));
            }
        };
        if pure {
            forbid(IMPURE, "pure code takes time, randomness and IO as values");
        }
        if !file.is_below("crates/sim/") {
            forbid(KUBE_DECODES, "kube's Client::request logs bodies; use Client::send");
            if file.path != SENDS && file.path != CLOUD_SENDS {
                forbid(DELETES, "only the executor sends a delete");
            }
        }
        if file.path != DIALER && !file.is_below("crates/sim/") {
            let may = |word: &&&str| !(file.path == LOGIN_CLIENT && **word == LOGIN_CLIENT_MAY);
            let dials: Vec<&str> = DIALS.iter().filter(may).copied().collect();
            forbid(&dials, "connections are opened in net::dial, with a permit of the egress policy");
        }
        if !file.is_below(LOGIN) {
            forbid(SDK_CLIENTS, "aws-config is used with the client of own_login, with a permit of the egress policy");
        }
        if !within(USER_CLIENTS) {
            forbid(USER_PERMITS, "only hosts that the user named are reached without a check of addresses");
        }
        if !within(READERS) {
            forbid(UNBOUNDED_READS, "files are read with a limit of size and time, by core::files");
            if !code.contains(".take(") && !code.contains("fs::read_to_string(") {
                forbid(READS_TO_END, "a reader without a limit; use core::files, or take() on the same line");
            }
        }
        if !within(EXACT_OUTPUT) {
            forbid(&["print_exact(", "stdout().lock("], "stdout takes Printable text");
        }
        if !prints {
            forbid(&["println!", "print!(", "eprint!("], "only the command line prints");
        }
        forbid(&["todo!", "unimplemented!", "dbg!"], "a placeholder");
    }
    breaches
}

fn shape(file: &SourceFile) -> Vec<Breach> {
    let mut breaches = Vec::new();
    if !file.text.starts_with("//!") {
        breaches.push(file.breach(1, "no header says what the file is for".to_owned()));
    }
    let lines = file.code().len();
    if lines > LINES_MAX {
        breaches.push(file.breach(1, format!("{lines} lines of code, more than {LINES_MAX}: split it")));
    }
    breaches
}

/// Files that no `mod` line names, so that they are never compiled.
fn orphans(files: &[SourceFile]) -> Vec<Breach> {
    let roots = |file: &SourceFile| [format!("{}lib.rs", file.root()), format!("{}main.rs", file.root())];
    let is_named = |file: &SourceFile| {
        let path = file.path.strip_suffix("/mod.rs").or_else(|| file.path.strip_suffix(".rs")).unwrap_or(&file.path);
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let parents = match format!("{parent}/") == file.root() {
            true => roots(file).to_vec(),
            false => vec![format!("{parent}/mod.rs"), format!("{parent}.rs")],
        };
        let declares = |line: &str| {
            let line = line.trim();
            let line = ["pub(crate) ", "pub(super) ", "pub "]
                .iter()
                .find_map(|start| line.strip_prefix(start))
                .unwrap_or(line);
            line == format!("mod {name};") || line.starts_with(&format!("mod {name} {{"))
        };
        let declaring = files.iter().filter(|other| parents.contains(&other.path));
        declaring.flat_map(|other| other.text.lines()).any(declares)
    };
    let below = files.iter().filter(|file| !roots(file).contains(&file.path) && !is_named(file));
    below.map(|file| file.breach(1, "no `mod` line names it, so it is never compiled".to_owned())).collect()
}
