//! The rules themselves.

/// One source file, by its path below `src/`.
pub struct SourceFile {
    pub path: String,
    pub text: String,
}

/// A place that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Breach {
    pub place: String,
    pub says: String,
}

/// Which rooms a room may use. `main.rs` and `lib.rs` are the doors and may use all.
const ARROWS: &[(&str, &[&str])] = &[
    ("world", &[]),
    ("cloud", &["engine"]),
    ("fleet", &["cloud", "world"]),
    ("observe", &["fleet", "world"]),
    ("engine", &["world"]),
    ("domains", &["engine", "world"]),
    ("config", &["domains", "engine", "world"]),
    ("live", &["config", "domains", "engine", "fleet", "observe", "world"]),
    ("sim", &[]),
    ("demo", &["sim"]),
    ("console", &["domains", "engine", "live", "world"]),
    ("cli", &["cloud", "config", "console", "demo", "domains", "engine", "fleet", "live", "observe", "sim", "world"]),
];

/// Rooms and files without IO, clock or randomness.
const PURE: &[&str] = &[
    "world/",
    "domains/",
    "engine/",
    "live/discover.rs",
    "live/judge.rs",
    "fleet/link.rs",
    "observe/decode/",
    "console/",
];

/// Where the engine keeps what it did and where it does it, and the console's hold on the terminal: IO inside a pure
/// room.
const KEEPING: &[&str] =
    &["engine/journal/", "engine/vault/", SENDS, "console/terminal/", "console/run.rs", "console/teller.rs"];

/// The one file that writes to clusters.
const SENDS: &str = "engine/executor/send.rs";

/// The one file that writes to cloud accounts. Everything in it asks for the executor's token.
const CLOUD_SENDS: &str = "cloud/ibm/write.rs";

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

/// A file without tests stays below this: past it, it holds two concepts.
const LINES_MAX: usize = 600;

impl SourceFile {
    pub fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    fn room(&self) -> &str {
        self.path.split('/').next().unwrap_or_default()
    }

    pub fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/") || self.path.ends_with("testing.rs")
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

    fn breach(&self, line: usize, says: String) -> Breach {
        Breach { place: format!("src/{}:{line}", self.path), says }
    }
}

/// Every rule over every file.
pub fn all(files: &[SourceFile]) -> Vec<Breach> {
    let product: Vec<&SourceFile> = files.iter().filter(|file| !file.is_test()).collect();
    let mut breaches = Vec::new();
    for file in &product {
        breaches.extend(arrows(file));
        breaches.extend(words(file));
        breaches.extend(shape(file));
    }
    breaches.extend(orphans(files));
    breaches
}

fn arrows(file: &SourceFile) -> Vec<Breach> {
    let Some((room, allowed)) = ARROWS.iter().find(|(room, _)| *room == file.room()) else {
        return Vec::new();
    };
    let mut breaches = Vec::new();
    for (line, used) in used_rooms(file) {
        let known = ARROWS.iter().any(|(name, _)| *name == used);
        if known && used != *room && !allowed.contains(&used.as_str()) {
            breaches.push(file.breach(line, format!("{room} may not use {used}")));
        }
    }
    breaches
}

/// The rooms named after `crate::`, grouped imports included, over several lines too.
fn used_rooms(file: &SourceFile) -> Vec<(usize, String)> {
    let code = file.code();
    let mut rooms = Vec::new();
    for (position, (number, line)) in code.iter().enumerate() {
        for (index, _) in line.match_indices("crate::") {
            let rest = &line[index + "crate::".len()..];
            match rest.strip_prefix('{') {
                Some(group) => {
                    let below: String = code[position + 1..].iter().map(|(_, line)| *line).collect();
                    rooms.extend(group_heads(&format!("{group}{below}")).map(|head| (*number, head)));
                }
                None => rooms.push((*number, leading_word(rest))),
            }
        }
    }
    rooms
}

/// The first words of a group's members, at its own depth: `world::{a, b}, cli::Args}` names world and cli.
fn group_heads(group: &str) -> impl Iterator<Item = String> + use<> {
    let mut depth = 0;
    let mut members = vec![String::new()];
    for character in group.chars() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => members.push(String::new()),
            _ => {}
        }
        if depth == 0 && character != ',' {
            members.last_mut().expect("there is always one member").push(character);
        }
    }
    members.into_iter().map(|member| leading_word(member.trim_start()))
}

fn leading_word(text: &str) -> String {
    text.chars().take_while(|character| character.is_alphanumeric() || *character == '_').collect()
}

fn words(file: &SourceFile) -> Vec<Breach> {
    let within = |folders: &[&str]| folders.iter().any(|path| file.path.starts_with(path));
    let pure = within(PURE) && !within(KEEPING);
    let prints = matches!(file.room(), "cli" | "main.rs");
    let mut breaches = Vec::new();
    for (line, code) in file.code() {
        let mut forbid = |words: &[&str], why: &str| {
            for word in words.iter().filter(|word| code.contains(**word)) {
                breaches.push(file.breach(line, format!("{word}: {why}")));
            }
        };
        if pure {
            forbid(IMPURE, "a pure room takes time, randomness and IO as values");
        }
        if file.room() != "sim" {
            forbid(KUBE_DECODES, "kube's Client::request logs bodies; use Client::send");
            if file.path != SENDS && file.path != CLOUD_SENDS {
                forbid(DELETES, "only the executor sends a delete");
            }
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

/// Files that no `mod` line names, so that nobody compiles them.
fn orphans(files: &[SourceFile]) -> Vec<Breach> {
    let is_named = |file: &SourceFile| {
        let (parent, name) = match file.path.strip_suffix("/mod.rs") {
            Some(folder) => folder.rsplit_once('/').unwrap_or(("", folder)),
            None => {
                let stem = file.path.strip_suffix(".rs").unwrap_or(&file.path);
                stem.rsplit_once('/').unwrap_or(("", stem))
            }
        };
        let parents = [format!("{parent}/mod.rs"), format!("{parent}.rs"), "lib.rs".to_owned(), "main.rs".to_owned()];
        let declared = |text: &str| {
            text.lines().any(|line| {
                let line = line
                    .trim()
                    .trim_start_matches("pub(crate) ")
                    .trim_start_matches("pub(super) ")
                    .trim_start_matches("pub ");
                line == format!("mod {name};") || line.starts_with(&format!("mod {name} {{"))
            })
        };
        files.iter().filter(|other| parents.contains(&other.path)).any(|other| {
            let top = other.path == "lib.rs" || other.path == "main.rs";
            (top == parent.is_empty()) && declared(&other.text)
        })
    };
    files
        .iter()
        .filter(|file| !matches!(file.path.as_str(), "lib.rs" | "main.rs"))
        .filter(|file| !is_named(file))
        .map(|file| file.breach(1, "no `mod` names it, so nobody compiles it".to_owned()))
        .collect()
}
