//! Text that leaves the console: pager, clipboard, files. Names and values are written by clusters and may hold anything.

use crate::console::effect::TerminalRequest;
use crate::console::task::{ObjectSheet, Task, TaskReply};
use crate::console::testing::TestConsole;
use crate::console::tests::fixtures;
use trueup_core::engine::State;
use trueup_core::engine::text::misleads;
use trueup_fleet::live::Update;

/// Each steers a terminal or reorders text: OSC 52 sets the clipboard, OSC 8 is a link, C1 is an 8-bit escape.
const HOSTILE: [(&str, &str); 5] = [
    ("OSC 52", "\x1b]52;c;cm0gLXJmIH4=\x07"),
    ("OSC 8", "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\"),
    ("C1", "\u{9b}31m\u{9d}0;title\u{9c}"),
    ("bidi", "a\u{202e}gpj.exe\u{2066}"),
    ("zero width", "admin\u{200b}\u{feff}\u{e0041}"),
];

fn unsafe_letters(text: &str) -> String {
    text.chars().filter(|letter| *letter != '\n' && misleads(*letter)).collect()
}

/// A console that shows an object with this value.
fn object_with(value: &str) -> TestConsole {
    let mut stage = TestConsole::full();
    stage.keys("1 j v");
    let ask = stage.model.object.as_ref().unwrap().ask;
    let yaml = vec!["apiVersion: v1".to_owned(), format!("  note: {value}")];
    let events = Ok(vec![format!("10:00:00  Normal  Synced  {value}")]);
    let sheet = ObjectSheet { yaml, events, ..fixtures::sheet() };
    stage.reply(TaskReply::Object { ask, object: Ok(Box::new(sheet)) }).forget();
    stage
}

/// A console with the list of a check that shows one finding of this name.
fn finding_named(name: &str) -> TestConsole {
    let mut stage = TestConsole::full();
    let id = fixtures::subject(fixtures::COPIES, "mgmt-eu", "Secret", name);
    stage.data(Update::of([(id, Some(fixtures::held(State::Error, "hostile", 0)))]));
    stage.keys("1 /verdict:hostile enter").forget();
    stage
}

fn copied(stage: &TestConsole) -> String {
    match stage.wishes.as_slice() {
        [TerminalRequest::Copy(text)] => text.to_string(),
        other => panic!("{other:?}"),
    }
}

fn saved(stage: &TestConsole) -> String {
    match stage.tasks.as_slice() {
        [Task::Save { file: _, text }] => text.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_the_pager_and_the_clipboard_get_steers_no_terminal() {
    for (case, value) in HOSTILE {
        for tab in ["v", "e"] {
            let mut stage = object_with(value);
            stage.keys(tab).keys("|");
            let paged = match stage.wishes.as_slice() {
                [TerminalRequest::Page(text)] => text.to_string(),
                other => panic!("{other:?}"),
            };
            assert_eq!(unsafe_letters(&paged), "", "case: {case}, paged: {paged:?}");
            stage.forget().keys("y");
            let copied = copied(&stage);
            assert_eq!(unsafe_letters(&copied), "", "case: {case}, copied: {copied:?}");
            assert_eq!(copied, paged, "case: {case}");
        }
    }
}

#[test]
fn exports_hold_no_escapes_formulas_or_markup() {
    for (case, name) in HOSTILE {
        for form in ["E csv enter", "E markdown enter"] {
            let text = saved(finding_named(name).keys(form));
            assert_eq!(unsafe_letters(&text), "", "case: {case}, keys: {form}: {text:?}");
        }
    }
    let cells = [
        ("a formula", "=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("after a tab", "\t=1+1", "\\u{9}=1+1"),
        ("after a line break", "\r=1+1", "\\u{d}=1+1"),
        ("after a blank", " =1+1", "' =1+1"),
        ("a full-width sign", "＝1+1", "'＝1+1"),
        ("two rows", "a\nb", "a\\u{a}b"),
    ];
    for (case, name, expected) in cells {
        let text = saved(finding_named(name).keys("E csv enter"));
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows.len(), 2, "case: {case}: {text:?}");
        let cell = rows[1].split(',').nth(3).unwrap_or_default().trim_matches('"');
        assert_eq!(cell, expected, "case: {case}");
    }
    let marked = [
        ("HTML", "<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
        ("a link", "[x](javascript:1)", "\\[x\\](javascript:1)"),
        ("code", "a`b", "a\\`b"),
        ("a cell", "a|b", "a\\|b"),
        ("an escaped bar", "a\\|b", "a\\\\\\|b"),
    ];
    for (case, name, expected) in marked {
        let text = saved(finding_named(name).keys("E markdown enter"));
        assert!(text.contains(expected), "case: {case}: {text}");
    }
}

#[test]
fn a_copied_command_is_one_line_and_no_name_is_a_flag() {
    let cases = [
        ("plain", "x", "kubectl --context mgmt-eu get secret x -n openshift-config -o yaml"),
        (
            "a quote",
            "a'; rm -rf ~",
            "kubectl --context mgmt-eu get secret 'a'\\''; rm -rf ~' -n openshift-config -o yaml",
        ),
        (
            "a line break",
            "x\nreboot\n",
            "kubectl --context mgmt-eu get secret $'x\\nreboot\\n' -n openshift-config -o yaml",
        ),
        ("an escape", "\x1b[201~", "kubectl --context mgmt-eu get secret $'\\033[201~' -n openshift-config -o yaml"),
        (
            "a flag",
            "--kubeconfig=/tmp/x",
            "kubectl --context mgmt-eu get -n openshift-config -o yaml -- secret '--kubeconfig=/tmp/x'",
        ),
        ("a short flag", "-A", "kubectl --context mgmt-eu get -n openshift-config -o yaml -- secret -A"),
    ];
    for (case, name, expected) in cases {
        let command = copied(finding_named(name).keys("K"));
        assert_eq!(command, expected, "case: {case}");
    }
}

#[test]
fn values_that_look_like_a_credential_are_read_only_on_purpose() {
    let mut stage = TestConsole::full();
    let open = |stage: &mut TestConsole, sheet: ObjectSheet| {
        let ask = stage.model.object.as_ref().unwrap().ask;
        stage.reply(TaskReply::Object { ask, object: Ok(Box::new(sheet)) });
    };
    stage.keys("1 j").forget();
    assert_eq!(stage.keys("v").take_tasks(), ["read guest-payments ConfigMap ext-auth-ca-old"]);
    assert_eq!(stage.keys("x").take_tasks(), [""; 0], "nothing is known to be masked yet");
    open(&mut stage, fixtures::sheet_of_config_map());
    assert_eq!(stage.keys("x").take_tasks(), ["read guest-payments ConfigMap ext-auth-ca-old with credentials"]);
    open(&mut stage, fixtures::sheet_of_config_map());
    assert!(stage.draw(120, 40).contains("credentials shown"));
    assert_eq!(stage.keys("x").take_tasks(), ["read guest-payments ConfigMap ext-auth-ca-old"]);
    open(&mut stage, fixtures::sheet_of_config_map());
    stage.keys("x").forget();
    open(&mut stage, fixtures::sheet_of_config_map());
    assert_eq!(stage.keys("R").take_tasks(), ["read guest-payments ConfigMap ext-auth-ca-old"], "masked again");
    open(&mut stage, fixtures::sheet());
    assert_eq!(stage.keys("x").take_tasks(), [""; 0], "a Secret stays masked");
    assert!(stage.toasts().iter().any(|message| message.contains("Secrets stay masked")), "{:?}", stage.toasts());
}
