//! Words: banned ones in every text, and replaced names in code.
//!
//! Invariants: names are compared by their parts (`goes_on`, `GoesOn`), phrases across line breaks; this file, which lists
//! the words, is not checked.

use super::rules::{Breach, SourceFile};

const THIS_FILE: &str = "tests/tidy/wording.rs";

/// Words with a plain replacement, each with it.
const BANNED: &[(&[&str], &str)] = &[
    (&["anew"], "again"),
    (&["shall"], "must"),
    (&["told"], "reported, printed or configured"),
    (&["whoever"], "the user, process or controller"),
    (&["lies"], "is"),
    (&["came", "of"], "the result"),
    (&["goes", "on"], "continues"),
    (&["taken", "back"], "undone or restored"),
    (&["by", "itself"], "automatically, unexpectedly or alone"),
    (&["room"], "space or width"),
    (&["rooms"], "space or width"),
    (&["house"], "the thing itself"),
    (&["houses"], "the thing itself"),
    (&["door"], "the adapter, port or entry point"),
    (&["doors"], "the adapter, port or entry point"),
];

/// Names that were replaced, each with its successor. Names that also have a plain meaning in use (`End`, `Fleet`, `Held`,
/// `Moved`, `Place`, `Wanted`, `says`, `settle`, `words`) are not listed.
const RENAMED: &[(&str, &str)] = &[
    ("AwsShelf", "AwsCache"),
    ("Backstage", "ConsoleServices"),
    ("Beat", "ScenarioEvent"),
    ("CaStand", "CaComparison"),
    ("Closer", "SubjectDetail"),
    ("Crew", "LiveServices"),
    ("Dice", "SeededRng or Jitter"),
    ("Earnest", "SendMode"),
    ("Furnishing", "ModelSettings"),
    ("GuestDoor", "GuestResolver"),
    ("Harvest", "ProjectedFacts"),
    ("Introduction", "CheckDescription"),
    ("Keeper", "Supervisor"),
    ("Lane", "CollectionTask"),
    ("Life", "DeletionState or ScenarioRunner"),
    ("LookBack", "ReferenceScan"),
    ("Looks", "RenderSettings"),
    ("Mourner", "PanicReporter"),
    ("Noticed", "ChangeEvent"),
    ("PlanAgain", "Replan"),
    ("Plight", "WorkloadFault"),
    ("Recipe", "Projection"),
    ("Redecoration", "SettingsReload"),
    ("Rehearsal", "DryRunResult"),
    ("Scene", "CheckContext"),
    ("Scenes", "ContextCache"),
    ("Shelf", "AnyCollection"),
    ("Sight", "Sighting or ObservedFleet"),
    ("Site", "CheckContext"),
    ("Sites", "ContextCache"),
    ("Speaker", "EndpointSource"),
    ("Stand", "AnnotationStatus"),
    ("Station", "ClusterSession"),
    ("Story", "Scenario"),
    ("Strike", "InjectedFault"),
    ("Surroundings", "GateInputs"),
    ("Teller", "ReplySender"),
    ("Trail", "NavigationHistory"),
    ("WayRound", "EndpointOverride"),
    ("Weather", "FaultProfile"),
    ("Wish", "PreparedWrite"),
    ("farewell", "retract_all"),
    ("furnish", "seed or build"),
    ("hindrance", "conflict"),
    ("look_again", "resync"),
    ("movers", "other_writers"),
    ("obey", "handle"),
    ("outlast", "wait_until_gone"),
    ("put_together", "build"),
    ("rehearse", "dry_run"),
];

/// Where a listed name stays: the folder, the name, and why.
const EXEMPT: &[(&str, &str, &str)] = &[
    ("tests/histories/", "Scene", "the part of a simulated world that a rule reads"),
    ("tests/histories/", "Site", "a namespace of a simulated world"),
];

/// Every banned word of the files, and every replaced name in Rust code.
pub fn breaches(files: &[SourceFile]) -> Vec<Breach> {
    let checked = files.iter().filter(|file| file.path != THIS_FILE);
    checked.flat_map(|file| banned(file).into_iter().chain(renamed(file))).collect()
}

fn banned(file: &SourceFile) -> Vec<Breach> {
    let words: Vec<(usize, String)> = file
        .text
        .lines()
        .enumerate()
        .flat_map(|(index, line)| words(line).map(move |word| (index + 1, word)))
        .collect();
    let mut breaches = Vec::new();
    for (at, (line, _)) in words.iter().enumerate() {
        for (phrase, instead) in BANNED {
            let found = words[at..].iter().map(|(_, word)| word.as_str()).take(phrase.len());
            if found.eq(phrase.iter().copied()) {
                let message = format!("`{}` is banned; write {instead}", phrase.join(" "));
                breaches.push(Breach { place: format!("{}:{line}", file.path), message });
            }
        }
    }
    breaches
}

fn renamed(file: &SourceFile) -> Vec<Breach> {
    if !file.path.ends_with(".rs") {
        return Vec::new();
    }
    let is_exempt = |name: &str| EXEMPT.iter().any(|(folder, word, _)| file.path.starts_with(folder) && *word == name);
    let mut breaches = Vec::new();
    for (index, line) in file.text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
        for name in identifiers(&without_strings(line)) {
            if let Some((_, new)) = RENAMED.iter().find(|(old, _)| *old == name).filter(|_| !is_exempt(name)) {
                let message = format!("`{name}` was renamed: {new}");
                breaches.push(Breach { place: format!("{}:{}", file.path, index + 1), message });
            }
        }
    }
    breaches
}

/// A line of code without its string literals. A literal over several lines is kept from its second line on.
fn without_strings(line: &str) -> String {
    line.split('"').step_by(2).collect::<Vec<_>>().join(" ")
}

fn identifiers(code: &str) -> impl Iterator<Item = &str> {
    code.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|name| !name.is_empty())
}

/// The words of a line, in lower case: `AwsCache`, `aws_cache` and `"aws"` all have `aws`, and `Draws` does not.
pub fn words(line: &str) -> impl Iterator<Item = String> + use<> {
    let mut words = vec![String::new()];
    let mut previous = ' ';
    for letter in line.chars() {
        let begins = letter.is_uppercase() && !previous.is_uppercase();
        if !letter.is_alphabetic() || begins {
            words.push(String::new());
        }
        if letter.is_alphabetic() {
            words.last_mut().expect("there is always one word").extend(letter.to_lowercase());
        }
        previous = letter;
    }
    words.into_iter().filter(|word| !word.is_empty())
}

#[test]
fn banned_words_and_replaced_names_are_found() {
    let cases = [
        ("a comment", "src/x.rs", "/// Reads it anew.", 1),
        ("a phrase over two lines", "src/x.rs", "/// What came\n/// of it.", 1),
        ("a name", "src/x.rs", "let goes_on = 1;", 1),
        ("a type", "src/x.rs", "struct GuestDoor;", 2),
        ("a document", "docs/x.md", "The list is told.", 1),
        ("part of another word", "src/x.rs", "fn applies(mushroom: Bathroom) {}", 0),
        ("a replaced name", "crates/core/src/x.rs", "let x = Earnest::Now;", 1),
        ("a replaced name in a string", "src/x.rs", "json!({ \"Story\": 1 })", 0),
        ("a replaced name in a document", "docs/x.md", "the name `Story`", 0),
        ("an exempt name", "tests/histories/x.rs", "struct Site;", 0),
        ("this file", THIS_FILE, "anew", 0),
    ];
    for (case, path, text, expected) in cases {
        let found = breaches(&[SourceFile::new(path, text)]);
        assert_eq!(found.len(), expected, "case: {case}: {found:?}");
    }
}
