//! Key names in sentences come from the keymap.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::{fixtures, screens};
use crate::console::keymap::Keymap;
use crate::console::model::{GUARD, Layer};
use crate::console::testing::TestConsole;

fn keymap(file: &str) -> Keymap {
    let (keymap, problems) = Keymap::with_user_file(file);
    assert_eq!(problems, [], "the key file is valid");
    keymap
}

/// The screen and the messages after these keys.
fn shown(console: &mut TestConsole, keys: &str) -> String {
    console.keys(keys);
    format!("{}\n{}", console.draw(120, 40), console.toasts().join("\n"))
}

/// An open plan, for the rebound keys.
fn planned(console: &mut TestConsole) {
    console.keys("f5").planned(fixtures::plan(vec![fixtures::label("a4")]));
}

#[test]
fn rebinding_a_key_changes_the_sentences_that_name_it() {
    let rebound = keymap(
        "[global]\nopen = ['f1']\nback = ['f2']\nrefresh = ['f3']\ngo-fleet = ['f4']\ngo-domain-1 = ['f5']\nfilter = ['f6']\n\
         mouse = ['f7']\n[fleet]\nreconcile = ['f8']\nreconnect = ['f9']\nrun-plugin = ['f10']\n[plan]\ninclude = ['f11']\n\
         approve = ['f12']\n[list]\nreconcile = ['f8']\nreconnect = ['f9']\n[detail]\nreconcile = ['f8']\n\
         [activity]\nreconcile = ['f8']\n[approval]\nopen = ['f1']\nback = ['f2']\n[filter]\nopen = ['f1']\nback = ['f2']\n",
    );
    type Case<'a> = (&'a str, &'a dyn Fn(&mut TestConsole) -> String, &'a [&'a str]);
    let cases: [Case<'_>; 8] = [
        ("tabs", &|console| shown(console, "f4"), &["f4 Fleet", "f5 "]),
        (
            "every link",
            &|console| (0..12).map(|_| shown(console, "j")).collect(),
            &["f9: retry now", "f10: log in on this terminal", "f1: connect"],
        ),
        ("no plan", &|console| shown(console, "gp"), &["f8: plan a fix"]),
        ("no applies", &|console| shown(console, "ga"), &["f8: plan a fix", "f12: approve"]),
        ("empty filter", &|console| shown(console, "f6 qqqqq f1"), &["f2: clear filter"]),
        ("help", &|console| shown(console, "?"), &["f2: close"]),
        ("mouse", &|console| shown(console, "f7"), &["f7: capture"]),
        (
            "plan",
            &|console| {
                planned(console);
                let approval = shown(console.keys("f12").later(GUARD), "");
                console.keys("f2").later(Duration::from_secs(24 * 3600));
                approval + &shown(console, "f12")
            },
            &["Press f1 to approve.", "Expired: press f3", "plan expired; f3: replan"],
        ),
    ];
    for (case, act, expected) in cases {
        let mut console = TestConsole::full();
        console.model.keys = rebound.clone();
        let text = act(&mut console);
        for sentence in expected {
            assert!(text.contains(sentence), "case: {case}: no `{sentence}` in\n{text}");
        }
    }
}

#[test]
fn without_bindings_no_screen_names_a_default_key() {
    let mut unbound: BTreeMap<&str, String> = BTreeMap::new();
    for row in Keymap::default().table() {
        unbound.entry(row.scope.name()).or_default().push_str(&format!("{} = []\n", row.action.name()));
    }
    let unbound = keymap(&unbound.iter().map(|(scope, lines)| format!("[{scope}]\n{lines}")).collect::<String>());
    for (screen, states) in screens::all() {
        // The palette resolves its keys when it opens, which the fixtures do with the default keys.
        let states = states.into_iter().filter(|(_, console)| !matches!(console.model.layer, Some(Layer::Palette(_))));
        for (state, mut console) in states {
            console.model.keys = unbound.clone();
            let text = console.draw(120, 40);
            let words = |line: &str| -> Vec<String> {
                line.split([' ', ',', ';']).map(|word| word.trim_end_matches([':', '.']).to_owned()).collect()
            };
            for key in ["esc", "enter", "space", "ctrl-r", "R", "r", "X"] {
                let named = text.lines().find(|line| words(line).iter().any(|word| word == key));
                assert_eq!(named, None, "{screen}, {state}: names {key}");
            }
        }
    }
}

/// Every action of every scope on a sequence that no default has.
fn all_rebound() -> Keymap {
    let mut scopes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for row in Keymap::default().table() {
        let lines = scopes.entry(row.scope.name()).or_default();
        let (first, second) = (lines.len() / 12 + 1, lines.len() % 12 + 1);
        lines.push(format!("{} = ['f12 f{first} f{second}']\n", row.action.name()));
    }
    keymap(&scopes.iter().map(|(scope, lines)| format!("[{scope}]\n{}", lines.concat())).collect::<String>())
}

/// The first line that names a default key as a key: `R: replan`, `press R`.
fn stale_key(text: &str) -> Option<String> {
    let defaults: BTreeSet<String> = Keymap::default().table().into_iter().flat_map(|row| row.keys).collect();
    let is_key = |word: &str| defaults.contains(word.trim_matches(['(', ')', ',', ';', '.', ':']));
    let names_key = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let before_colon = words.iter().any(|word| word.len() > 1 && word.ends_with(':') && is_key(word));
        before_colon || words.windows(2).any(|pair| pair[0].eq_ignore_ascii_case("press") && is_key(pair[1]))
    };
    text.lines().find(names_key).map(str::to_owned)
}

#[test]
fn with_every_key_rebound_no_screen_names_a_default_key() {
    let rebound = all_rebound();
    for (screen, states) in screens::all() {
        let states = states.into_iter().filter(|(_, console)| !matches!(console.model.layer, Some(Layer::Palette(_))));
        for (state, mut console) in states {
            // Messages of the fixtures name the keys of the keymap they were made with.
            console.model.toasts.clear();
            console.model.keys = rebound.clone();
            for (width, height) in [(80, 24), (120, 40)] {
                assert_eq!(stale_key(&console.draw(width, height)), None, "{screen}, {state}");
            }
        }
    }
}

#[test]
fn with_every_key_rebound_no_message_names_a_default_key() {
    let rebound = all_rebound();
    for place in ["", "1", "1 enter", "1 j v", "gp", "ga", "gl"] {
        for row in rebound.table() {
            let mut console = TestConsole::full();
            console.planned(fixtures::plan(fixtures::actions())).keys("0").keys(place);
            console.model.toasts.clear();
            console.model.keys = rebound.clone();
            console.keys(&row.keys[0]);
            let shown = format!("{}\n{}", console.toasts().join("\n"), console.draw(120, 40));
            // The palette lists every action with its key, in columns.
            if !matches!(console.model.layer, Some(Layer::Palette(_))) {
                assert_eq!(stale_key(&shown), None, "{:?} after {place:?}", row.action);
            }
        }
    }
}
