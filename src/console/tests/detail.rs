//! The detail: its difference, search in texts, references, the log of an operator, and what is never shown.

use super::fixtures;
use crate::console::model::{DiffMode, Loaded, ObjectTab, Pane, ScreenId};
use crate::console::task::{OperatorLog, TaskReply};
use crate::console::testing::TestConsole;
use crate::console::theme::GlyphSet;
use trueup_core::world::Writer;

/// The detail of an orphan has the focus.
fn opened() -> TestConsole {
    let mut stage = TestConsole::full();
    stage.keys("1 j").explained().keys("enter").forget();
    stage
}

/// The references of that orphan.
fn referenced() -> TestConsole {
    let mut stage = opened();
    stage.keys("o");
    let subject = stage.model.detail.subject.clone().expect("the cursor is on a finding");
    let references = &stage.model.object.as_ref().expect("the object screen is open").references;
    let Loaded::Asked(ask) = *references else { panic!("the references are not asked for: {references:?}") };
    stage.reply(TaskReply::References { ask, sheet: Ok(Box::new(fixtures::references(&subject))) });
    stage
}

#[test]
fn a_key_switches_between_the_fields_that_differ_all_fields_and_text() {
    let mut stage = opened();
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(stage.model.detail.diff);
        stage.keys("d");
    }
    assert_eq!(seen, [DiffMode::Differing, DiffMode::All, DiffMode::Text, DiffMode::Differing]);
    stage.keys("esc j").explained();
    assert_eq!(stage.model.detail.diff, DiffMode::All, "kept for the next finding");
}

#[test]
fn evidence_names_each_object_once_and_an_orphan_shows_what_should_be_absent() {
    let mut stage = opened();
    let text = stage.draw(200, 60);
    assert!(text.contains("expected: absent"), "{text}");
    assert!(text.contains("clientSecret  <40 bytes>"), "{text}");
    assert_eq!(text.matches("HostedControlPlane clusters-payments/payments (mgmt-eu, rv 88121)").count(), 1, "{text}");
    assert!(text.contains("sealed backup, undo"), "{text}");
}

#[test]
fn a_text_is_searched_where_a_list_is_filtered() {
    let mut stage = opened();
    stage.keys("/payments");
    let typing = stage.draw(120, 40);
    assert!(typing.contains("/payments") && typing.contains("1 of "), "{typing}");
    stage.keys("enter n");
    assert_eq!(stage.model.finder.as_ref().map(|finder| finder.at), Some(1));
    stage.keys("N N");
    let last = stage.model.finder.as_ref().map(|finder| finder.at);
    assert!(last > Some(1), "before the first comes the last: {last:?}");
    assert_eq!(stage.model.check().map(|check| check.filter_text.as_str()), Some(""), "the list keeps its rows");
    stage.keys("esc");
    assert!(stage.model.finder.is_none() && stage.model.pane == Pane::Detail, "one step back ends the search alone");
    stage.keys("/zzz enter");
    assert!(stage.draw(120, 40).contains("diff"), "no match, and the keys are back");
}

#[test]
fn help_is_searched_and_explains_states_and_tiers() {
    let mut stage = TestConsole::full();
    stage.keys("1 ?");
    let first = stage.draw(120, 40);
    assert!(first.contains("Help: Copies") && first.contains("KEYS: List of a check"), "{first}");
    stage.keys("/finalizer");
    assert!(stage.draw(120, 40).contains("1 of "));
    stage.keys("esc /TIERS enter");
    let found = stage.draw(120, 40);
    assert!(found.contains("cannot be undone") && found.contains("1 of 1"), "{found}");
    stage.keys("esc esc");
    assert!(stage.model.layer.is_none() && stage.model.finder.is_none());
}

#[test]
fn references_are_a_list_whose_objects_open_and_close() {
    let mut stage = opened();
    stage.keys("o");
    assert_eq!(stage.take_tasks(), ["references of ext-auth-ca-old"]);
    let mut stage = referenced();
    stage.forget();
    let text = stage.draw(120, 40);
    for expected in ["names", "does not name", "this ConfigMap", "forbidden (get secrets)", "USED BY", "OAuth cluster"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(text.contains("hosted-cluster-config-operator") && text.contains("example.com/keep"), "{text}");
    stage.keys("j enter");
    assert_eq!(stage.take_tasks(), ["read mgmt-eu Secret ext-auth-client-old"]);
    stage.keys("esc");
    assert_eq!(stage.model.object.as_ref().map(|view| view.tab), Some(ObjectTab::References), "back to the references");
    stage.keys("esc");
    assert_eq!(stage.model.screen(), ScreenId::Check(0));
}

#[test]
fn the_log_of_an_operator_is_asked_for_by_finding() {
    let mut stage = opened();
    stage.keys("O");
    assert_eq!(stage.take_tasks(), ["operator log of ext-auth-ca-old"]);
    let log = &stage.model.object.as_ref().expect("the object screen is open").log;
    let Loaded::Asked(ask) = *log else { panic!("the log is not asked for: {log:?}") };
    let lines = vec!["2026-11-16T09:58:00Z sync of ext-auth-ca-old failed".to_owned()];
    let log = OperatorLog { title: "mgmt-eu Pod hypershift/operator-1-2, last 1 lines".to_owned(), lines };
    stage.reply(TaskReply::OperatorLog { ask, log: Ok(Box::new(log)) });
    let text = stage.draw(120, 40);
    assert!(text.contains("hypershift/operator-1-2") && text.contains("sync of ext-auth-ca-old failed"), "{text}");
}

#[test]
fn nothing_typed_into_a_token_field_is_on_the_screen() {
    for signs in [GlyphSet::Unicode, GlyphSet::Plain] {
        let mut stage = TestConsole::full();
        stage.model.signs = signs;
        stage.keys("2").explained().keys("i");
        stage.letters("zq7XwK");
        let text = stage.draw(120, 40);
        for part in ["zq7", "7Xw", "XwK"] {
            assert!(!text.contains(part), "{part}: {text}");
        }
        let mask = if signs == GlyphSet::Unicode { "••••••" } else { "******" };
        assert!(text.contains(mask), "{text}");
        stage.keys("enter");
        let after = stage.draw(120, 40);
        assert!(!after.contains("zq7XwK"), "{after}");
    }
}

#[test]
fn references_and_the_log_on_every_size() {
    let mut stage = referenced();
    insta::assert_snapshot!("references", stage.draw_all());
}

#[test]
fn a_broken_relation_says_since_when_and_who_broke_it() {
    let mut stage = opened();
    stage.keys("o");
    let Loaded::Asked(ask) = stage.model.object.as_ref().unwrap().references else { panic!("it is asked for") };
    let mut sheet = fixtures::references(stage.model.object.as_ref().unwrap().subject.as_ref().unwrap());
    let at = crate::console::testing::ago(60);
    sheet.relations.links[0].written = Some(Writer::new("hypershift-cli".into(), Some(at)));
    sheet.relations.unread = vec!["APIServer".to_owned()];
    stage.reply(TaskReply::References { ask, sheet: Ok(Box::new(sheet)) });
    let text = stage.draw(160, 45);
    assert!(text.contains("does not name it since 09:59:00 (hypershift-cli)"), "{text}");
    assert!(text.contains("? APIServer not read"), "{text}");
}
