//! The keys as they come, the user's laid over them, and what a press means.

use super::*;

fn press(keymap: &Keymap, scope: Scope, keys: &str) -> Resolution {
    keymap.resolve(scope, &Stroke::parse_sequence(keys).unwrap())
}

fn problems(file: &str) -> Vec<String> {
    Keymap::with_user_file(file).1.iter().map(ToString::to_string).collect()
}

#[test]
fn every_action_has_a_key_and_a_line_of_docs() {
    let keymap = Keymap::default();
    let (table, docs) = (keymap.table(), keymap.docs_markdown());
    for action in Action::ALL {
        let rows: Vec<&KeyRow> = table.iter().filter(|row| row.action == *action).collect();
        assert!(!rows.is_empty(), "{} has no key", action.name());
        for row in rows {
            for keys in &row.keys {
                assert_eq!(press(&keymap, row.scope, keys), Resolution::Act(*action), "{keys} in {:?}", row.scope);
            }
        }
        assert!(docs.contains(&format!("| `{}` | {} |", action.name(), action.message())), "{}", action.name());
        assert!(!action.message().ends_with('.') && !action.short().is_empty(), "{}", action.name());
        assert_eq!(Action::from_name(action.name()), Some(*action), "two actions are named {}", action.name());
    }
}

#[test]
fn built_in_keys_do_not_conflict() {
    let table = Keymap::default().table();
    for scope in Scope::ALL {
        let sequences: Vec<Vec<Stroke>> = table
            .iter()
            .filter(|row| row.scope == scope)
            .flat_map(|row| row.keys.iter().map(|keys| Stroke::parse_sequence(keys).unwrap()))
            .collect();
        for (index, one) in sequences.iter().enumerate() {
            let hidden = sequences[index + 1..].iter().find(|other| other.starts_with(one) || one.starts_with(other));
            assert_eq!(hidden, None, "{} in {scope:?}", Stroke::sequence_text(one));
        }
    }
}

#[test]
fn letters_are_never_bound_in_text_fields() {
    let keymap = Keymap::default();
    for scope in Scope::ALL.into_iter().filter(|scope| scope.takes_text()) {
        for letter in ' '..='~' {
            let key = if letter == ' ' { "space".to_owned() } else { letter.to_string() };
            assert_eq!(press(&keymap, scope, &key), Resolution::Nothing, "{letter:?} in {scope:?}");
        }
        assert_eq!(press(&keymap, scope, "esc"), Resolution::Act(Action::Back), "{scope:?} has no back key");
    }
}

#[test]
fn the_approve_key_does_not_confirm_the_approval() {
    let keymap = Keymap::default();
    let asks = keymap.keys(Scope::Plan, Action::Approve);
    let answers = keymap.keys(Scope::Approval, Action::Open);
    assert!(!asks.is_empty() && !answers.is_empty());
    assert!(asks.iter().all(|key| !answers.contains(key)), "{asks:?} {answers:?}");
}

#[test]
fn a_key_acts_or_waits_or_is_ignored() {
    let keymap = Keymap::default();
    let cases = [
        ("arrow", Scope::List, "down", Resolution::Act(Action::Down)),
        ("vim", Scope::List, "j", Resolution::Act(Action::Down)),
        ("inherited", Scope::Plan, "?", Resolution::Act(Action::Help)),
        ("sequence", Scope::Fleet, "g g", Resolution::Act(Action::Top)),
        ("another scope's", Scope::Fleet, "x", Resolution::Nothing),
        ("an unbound sequence", Scope::Fleet, "g z", Resolution::Nothing),
        ("too long", Scope::Fleet, "g g g", Resolution::Nothing),
        ("held", Scope::Fleet, "ctrl-c", Resolution::Act(Action::Quit)),
    ];
    for (case, scope, keys, expected) in cases {
        assert_eq!(press(&keymap, scope, keys), expected, "case: {case}");
    }
    let Resolution::More(follow) = press(&keymap, Scope::Fleet, "g") else { panic!("g begins something") };
    assert!(follow.contains(&("g".to_owned(), "top")) && follow.contains(&("a".to_owned(), "activity")), "{follow:?}");
}

#[test]
fn a_sequence_of_a_scope_hides_a_global_key() {
    let (keymap, problems) = Keymap::with_user_file("[list]\nreconcile = 'p r'\n");
    assert_eq!(problems, []);
    assert_eq!(press(&keymap, Scope::List, "p"), Resolution::More(vec![("r".to_owned(), "plan a fix")]));
    assert_eq!(press(&keymap, Scope::Fleet, "p"), Resolution::Act(Action::Pause));
    assert_eq!(keymap.keys(Scope::List, Action::Pause), Vec::<String>::new());
}

#[test]
fn a_users_line_replaces_the_keys_of_its_action_in_its_scope_only() {
    let file = "[list]\nreconcile = ['ctrl-p', 'r']\nquestion = []\n[fleet]\nmark = 'x'\n";
    let (keymap, problems) = Keymap::with_user_file(file);
    assert_eq!(problems, []);
    assert_eq!(keymap.keys(Scope::List, Action::Reconcile), ["ctrl-p", "r"]);
    assert_eq!(keymap.keys(Scope::Fleet, Action::Reconcile), ["r"]);
    assert_eq!(press(&keymap, Scope::List, "i"), Resolution::Nothing);
    assert_eq!(press(&keymap, Scope::Fleet, "space"), Resolution::Nothing);
    assert_eq!(press(&keymap, Scope::Fleet, "x"), Resolution::Act(Action::Mark));
}

#[test]
fn two_actions_can_swap_their_keys() {
    let (keymap, problems) = Keymap::with_user_file("[plan]\ndry-run = 'd'\ntoggle-diff = 'D'\n");
    assert_eq!(problems, []);
    assert_eq!(press(&keymap, Scope::Plan, "d"), Resolution::Act(Action::DryRun));
    assert_eq!(press(&keymap, Scope::Plan, "D"), Resolution::Act(Action::ToggleDiff));
}

#[test]
fn problems_of_a_file_have_a_line_and_a_fix() {
    let cases = [
        ("unknown action", "[list]\nreconcil = 'r'\n", "line 2: unknown action `reconcil`; did you mean `reconcile`?"),
        ("unknown scope", "[lists]\nopen = 'x'\n", "line 1: unknown place `lists` for keys; did you mean `list`?"),
        ("unknown key", "[list]\n\nopen = ['entr']\n", "line 3: unknown key `entr`; did you mean `enter`?"),
        (
            "the key of another",
            "[list]\nopen = 'r'\n",
            "line 2: `r` is already bound to `reconcile` and cannot be used for `open`; bind `reconcile` to other keys, or remove them: reconcile = []",
        ),
        (
            "a beginning of another",
            "[global]\npause = 'g'\n",
            "line 2: `g` conflicts with `g g`, the key of `top`; bind `top` to other keys, or remove them: top = []",
        ),
        ("twice", "[list]\nopen = ['x', 'x y']\n", "line 2: `x y` conflicts with `x`, another key of `open`"),
        (
            "a letter where text is typed",
            "[filter]\nopen = 'x'\n",
            "line 2: [filter] is a text field, so `x` would be typed; use ctrl, alt or a key like f2",
        ),
        (
            "no keys at all",
            "[list]\nopen = 3\n",
            "line 2: `open` in [list] wants a list of texts, like [\"a\", \"b\"], and got 3",
        ),
    ];
    for (case, file, expected) in cases {
        assert_eq!(problems(file), [expected], "case: {case}");
    }
    assert_eq!(problems("[list\n").len(), 1);
}

#[test]
fn an_invalid_line_does_not_affect_others() {
    let (keymap, problems) = Keymap::with_user_file("[list]\nopen = 'r'\nmark = 'x'\n");
    assert_eq!(problems.len(), 1);
    assert_eq!(press(&keymap, Scope::List, "r"), Resolution::Act(Action::Reconcile));
    assert_eq!(press(&keymap, Scope::List, "x"), Resolution::Act(Action::Mark));
    assert_eq!(press(&keymap, Scope::List, "enter"), Resolution::Act(Action::Open), "inherited");
}

#[test]
fn an_action_keeps_its_keys_when_its_line_is_invalid() {
    for line in ["mark = 'r'", "mark = ['x', 'r']", "mark = 'spce'", "mark = 1"] {
        let (keymap, problems) = Keymap::with_user_file(&format!("[list]\n{line}\n"));
        assert_eq!(problems.len(), 1, "{line}: {problems:?}");
        assert_eq!(keymap.keys(Scope::List, Action::Mark), ["space"], "{line}");
    }
}

#[test]
fn the_printed_file_is_a_valid_key_file() {
    let (keymap, problems) = Keymap::with_user_file(DEFAULT_KEYS);
    assert_eq!(problems, []);
    assert_eq!(keymap.table(), Keymap::default().table());
}

#[test]
fn keys_are_escaped_in_markdown_tables() {
    let docs = Keymap::default().docs_markdown();
    assert!(docs.contains("| `\\|` | `open-pager` |"), "{docs}");
    assert!(docs.contains("## Everywhere (`[global]`)"));
}

#[test]
fn a_keymap_written_as_a_file_is_read_back_unchanged() {
    let own = "[list]\nreconcile = [\"ctrl-p\", \"\\\"\", \"g x\"]\nquestion = []\nunmark = [\"r\"]\n";
    for keymap in [Keymap::default(), Keymap::with_user_file(own).0] {
        let text = serde_json::to_string(&keymap).unwrap();
        assert_eq!(serde_json::from_str::<Keymap>(&text).unwrap(), keymap);
    }
}
