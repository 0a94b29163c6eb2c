//! Lists by keys alone: filter, matches, marks, sorting, pickers and views.

use std::sync::Arc;
use std::time::Duration;

use ratatui::style::Modifier;

use super::fixtures;
use crate::console::model::{CheckColumn, ScreenId};
use crate::console::testing::TestConsole;
use crate::console::theme::Theme;
use crate::console::view::check_columns_shown;
use trueup_checks::judgements::CurrentJudgement;
use trueup_checks::{Cause, CauseObject, Outline};
use trueup_core::engine::State;
use trueup_core::world::{ClusterName, Key};
use trueup_fleet::live::Update;

/// Kubeconfigs whose names contain each other's letters.
fn configs() -> TestConsole {
    let mut stage = TestConsole::full();
    let names = ["a-eks-games", "eks-maps-and-games", "eks-games", "eks-games-2", "everything-keeps-games"];
    let row = |name: &&str| {
        let id = fixtures::subject(fixtures::COPIES, "mgmt-eu", "Secret", name);
        (id, Some(fixtures::held(State::Drift, "differs", 60)))
    };
    stage.data(Update::of(names.iter().map(row)));
    stage.keys("1");
    stage.forget();
    stage
}

fn shown(stage: &TestConsole) -> Vec<String> {
    stage.model.checks[0].order.window(0..usize::MAX).map(|id| id.name.clone()).collect()
}

fn cursor(stage: &TestConsole) -> String {
    stage.model.subject().map(|subject| subject.name.clone()).unwrap_or_default()
}

fn plans(stage: &mut TestConsole) -> Vec<String> {
    stage.take_tasks().into_iter().filter(|task| task.starts_with("plan")).collect()
}

#[test]
fn the_best_match_is_first_under_the_cursor_and_the_only_one_planned() {
    let mut stage = configs();
    stage.keys("j j /eks-games");
    assert_eq!(shown(&stage), ["eks-games", "eks-games-2", "a-eks-games"]);
    assert_eq!(cursor(&stage), "eks-games");
    stage.keys("enter");
    assert_eq!(cursor(&stage), "eks-games");
    stage.keys("r");
    assert_eq!(plans(&mut stage), ["plan eks-games"]);
}

#[test]
fn a_word_is_fuzzy_only_behind_its_sign() {
    let mut stage = configs();
    stage.keys("/evthkpsgames");
    assert!(shown(&stage).is_empty());
    stage.keys("esc /~evthkpsgames enter");
    assert_eq!(shown(&stage), ["everything-keeps-games"]);
}

#[test]
fn matched_letters_are_underlined() {
    let mut stage = configs();
    stage.keys("/maps enter");
    let buffer = stage.buffer(120, 40, Theme::default());
    let is_marked = |x: u16, y: u16| buffer[(x, y)].modifier.contains(Modifier::UNDERLINED);
    let marked: String = (0..40)
        .flat_map(|y| (0..120).map(move |x| (x, y)))
        .filter(|(x, y)| is_marked(*x, *y))
        .map(|place| buffer[place].symbol())
        .collect();
    assert_eq!(marked, "maps");
}

#[test]
fn a_better_match_that_arrives_later_does_not_move_a_kept_cursor() {
    let mut stage = configs();
    stage.keys("/maps enter");
    assert_eq!(cursor(&stage), "eks-maps-and-games");
    let id = fixtures::subject(fixtures::COPIES, "mgmt-eu", "Secret", "maps");
    stage.data(Update::of([(id, Some(fixtures::held(State::Drift, "differs", 1)))]));
    assert_eq!((shown(&stage)[0].as_str(), cursor(&stage).as_str()), ("maps", "eks-maps-and-games"));
}

#[test]
fn rows_that_match_are_hidden_until_they_are_asked_for() {
    let mut stage = TestConsole::full();
    let screen = stage.keys("1").draw(120, 40);
    assert!(screen.contains("8 of 9 · 1 match hidden (=)") && !screen.contains("keycloak-ca-bundle"), "{screen}");
    let screen = stage.keys("=").draw(120, 40);
    assert!(screen.contains("9 of 9") && screen.contains("keycloak-ca-bundle"), "{screen}");
    stage.keys("= /state:ok enter");
    assert_eq!(shown(&stage), ["keycloak-ca-bundle"], "a filter that names states decides");
}

#[test]
fn an_empty_list_says_why() {
    let mut stage = TestConsole::started();
    let one = fixtures::subject(fixtures::COPIES, "mgmt-eu", "Secret", "fine");
    stage.data(Update::of([(one, Some(fixtures::held(State::Match, "in-use", 5)))]));
    let screen = stage.keys("1").draw(80, 24);
    assert!(screen.contains("Nothing to fix: 1 match (=: show)"), "{screen}");
    let screen = stage.keys("= /eks-gmaes enter").draw(80, 24);
    assert!(screen.contains("No row matches \"eks-gmaes\" (esc: clear)"), "{screen}");
    assert!(stage.keys("esc").draw(80, 24).contains("fine"));
}

#[test]
fn marks_that_a_filter_hides_are_not_planned_unless_they_are_included() {
    let mut stage = configs();
    stage.keys("/eks-games enter * esc /eks-games-2 enter r");
    assert_eq!(plans(&mut stage), ["plan eks-games-2"]);
    stage.planned(fixtures::plan(fixtures::actions()));
    let screen = stage.draw(120, 40);
    assert!(screen.contains("3 marked, 2 hidden by the filter: not included (enter: include)"), "{screen}");
    stage.forget();
    stage.keys("enter");
    assert_eq!(plans(&mut stage), ["plan a-eks-games eks-games eks-games-2"]);
    let screen = stage.planned(fixtures::plan(fixtures::actions())).draw(120, 40);
    assert!(!screen.contains("not included"), "{screen}");
}

#[test]
fn nothing_is_planned_where_every_mark_is_hidden() {
    let mut stage = configs();
    stage.keys("/maps enter space esc /eks-games-2 enter r");
    assert_eq!(plans(&mut stage), [""; 0]);
    assert_eq!(stage.toasts(), ["1 marked, all hidden by the filter: nothing planned (esc: clear it)"]);
}

#[test]
fn letters_typed_into_a_prompt_that_did_not_open_do_nothing() {
    let mut stage = TestConsole::full();
    stage.keys("ga").forget();
    stage.keys("/0");
    assert_eq!(stage.model.screen(), ScreenId::Activity);
    assert_eq!(stage.toasts(), ["nothing to filter here"]);
    stage.later(Duration::from_secs(1));
    stage.keys("0");
    assert_eq!(stage.model.screen(), ScreenId::Fleet);
}

#[test]
fn a_letter_of_the_sort_picker_sorts_by_its_column() {
    let mut stage = configs();
    stage.draw(120, 40);
    stage.keys("s n");
    assert_eq!(shown(&stage)[0], "a-eks-games");
    assert!(stage.model.layer.is_none());
    stage.keys("-");
    assert_eq!(shown(&stage).last().map(String::as_str), Some("a-eks-games"));
    let screen = stage.keys("s").draw(120, 40);
    assert!(screen.contains("n  name") && screen.contains("descending"), "{screen}");
    stage.keys("down enter");
    assert!(stage.model.layer.is_none());
}

#[test]
fn several_clusters_can_be_picked() {
    let mut stage = TestConsole::full();
    stage.keys("1 c guest-p tab");
    let screen = stage.draw(120, 40);
    assert!(screen.contains("[x] guest-payments") && screen.contains("tab tick"), "{screen}");
    for _ in 0..7 {
        stage.keys("backspace");
    }
    stage.keys("stage tab enter");
    assert_eq!(stage.model.checks[0].filter_text, "cluster:guest-payments,stage-1");
    assert_eq!(stage.model.checks[0].order.shown(), 4);
}

#[test]
fn a_picked_cluster_is_no_other_that_begins_like_it() {
    let mut stage = TestConsole::full();
    let other = fixtures::cluster("lab-2", trueup_core::world::RiskClass::Dev, trueup_core::world::Link::Idle);
    stage.data(Update { clusters: [(other.name.clone(), Some(other))].into(), ..Update::default() });
    stage.keys("1 c lab tab enter");
    let text = &stage.model.checks[0].filter_text;
    assert!(text == "cluster:\"lab\"" || text == "cluster:lab-2", "{text}");
}

#[test]
fn a_theme_is_tried_out_while_it_is_picked() {
    let mut stage = TestConsole::full();
    let before = stage.model.theme.clone();
    stage.keys("T down");
    let tried = stage.model.theme.clone();
    assert_ne!(tried, before);
    stage.keys("esc");
    assert_eq!(stage.model.theme, before);
    stage.keys("T down enter");
    assert_eq!(stage.model.theme, tried);
    assert!(stage.model.layer.is_none());
}

#[test]
fn a_list_is_filtered_sorted_saved_as_a_view_found_again_and_exported() {
    let mut stage = configs();
    stage.draw(120, 40);
    stage.keys("/games enter s n w my space games enter");
    assert_eq!(stage.toasts(), ["view my games saved; g v: choose a view"]);
    stage.keys("esc");
    assert_eq!(stage.model.checks[0].filter_text, "");
    stage.keys("0 g v my space games enter");
    assert_eq!((stage.model.screen(), stage.model.checks[0].filter_text.as_str()), (ScreenId::Check(0), "games"));
    let remembered = stage.model.remembered();
    assert_eq!((remembered.views[0].name.as_str(), remembered.views[0].filter.as_str()), ("my games", "games"));
    stage.forget();
    stage.keys("E enter");
    assert!(stage.take_tasks().iter().any(|task| task.starts_with("save")), "the shown rows are written");
}

/// Three findings of one cause and one of its own.
fn of_one_cause() -> TestConsole {
    let mut stage = configs();
    let key = Key::new(Some("clusters"), "guest-checkout");
    let cluster = ClusterName::new("mgmt-eu");
    let object = CauseObject { check: fixtures::COPIES, cluster, kind: "HostedCluster", key };
    let cause = Cause {
        object,
        effect: "orphans",
        reason: "provider ext-auth removed".into(),
        written: None,
        form: trueup_checks::CauseForm::Effect,
    };
    let outline = Some(Arc::new(Outline::default().with_cause(Some(cause))));
    let row = |name: &&str| {
        let id = fixtures::subject(fixtures::COPIES, "guest-payments", "Secret", name);
        let held = fixtures::held(State::Extra, "orphan-certain", 60);
        (id, Some(CurrentJudgement { outline: outline.clone(), ..held }))
    };
    stage.data(Update::of(["copy-a", "copy-b", "copy-c"].iter().map(row)));
    stage.forget();
    stage
}

#[test]
fn findings_of_one_cause_are_a_group_that_is_planned_and_marked_as_a_whole() {
    let mut stage = of_one_cause();
    let screen = stage.draw(120, 40);
    assert!(screen.contains("by cause") && screen.contains("⊟ 3 orphans: "), "{screen}");
    assert!(screen.contains("16 of 17"), "headings are not counted: {screen}");
    stage.keys("/ns:openshift-config enter home");
    while stage.model.subject().is_some() {
        stage.keys("j");
    }
    stage.keys("r");
    assert_eq!(plans(&mut stage), ["plan copy-a copy-b copy-c"]);
    let screen = stage.keys("enter").draw(120, 40);
    assert!(screen.contains("⊞ 3 orphans: ") && !screen.contains("copy-b"), "{screen}");
    assert!(screen.contains("16 of 17"), "findings of a closed group are counted: {screen}");
    let screen = stage.keys("space").draw(120, 40);
    assert!(screen.contains("3 marked"), "{screen}");
    stage.keys("r");
    assert_eq!(plans(&mut stage), ["plan copy-a copy-b copy-c"], "a closed group is not hidden by the filter");
    let screen = stage.keys("z").draw(120, 40);
    assert!(!screen.contains("3 orphans") && screen.contains("copy-b"), "{screen}");
}

#[test]
fn only_the_findings_of_a_group_that_the_filter_shows_are_counted_and_planned() {
    let mut stage = of_one_cause();
    let screen = stage.keys("/name~copy-b enter").draw(120, 40);
    assert!(!screen.contains("orphans: ") && screen.contains("copy-b"), "one finding has no heading: {screen}");
    stage.keys("r");
    assert_eq!(plans(&mut stage), ["plan copy-b"]);
    for closed in [false, true] {
        let mut stage = of_one_cause();
        stage.keys("1 home");
        while stage.model.subject().is_some() {
            stage.keys("j");
        }
        if closed {
            stage.keys("enter");
        }
        let screen = stage.keys("/!name~copy-b space name~copy enter home").draw(120, 40);
        let place = |text: &str| screen.find(text).unwrap_or_else(|| panic!("{closed}: no {text}: {screen}"));
        assert!(place("⊟ 2 of 3 orphans: ") < place("copy-a") && place("copy-a") < place("copy-c"), "{screen}");
        stage.keys("r");
        assert_eq!(plans(&mut stage), ["plan copy-a copy-c"], "closed before: {closed}");
    }
}

#[test]
fn rows_that_were_hidden_are_where_their_column_puts_them() {
    let mut stage = configs();
    stage.keys("s n =").draw(120, 40);
    // `*` is sorted by the text that is shown for it.
    let mut names: Vec<String> = shown(&stage).into_iter().filter(|name| name != "*").collect();
    let by_name = names.clone();
    names.sort();
    assert_eq!(by_name, names);
}

#[test]
fn a_group_is_not_shown_where_the_best_match_or_another_column_is_first() {
    let mut stage = of_one_cause();
    stage.draw(120, 40);
    for keys in ["/copy enter", "esc s n", "-"] {
        let screen = stage.keys(keys).draw(120, 40);
        assert!(!screen.contains("3 orphans") && screen.contains("copy-b"), "{keys}: {screen}");
    }
    let screen = stage.keys("s s").draw(120, 40);
    assert!(screen.contains("3 orphans"), "{screen}");
}

#[test]
fn state_and_name_are_always_shown_and_dropped_columns_are_counted() {
    let mut stage = TestConsole::full();
    for check in ["1", "2"] {
        stage.keys(check).draw(240, 40);
        let all = check_columns_shown(&stage.model).len();
        for width in [60, 80, 100, 120, 160] {
            let screen = stage.draw(width, 24);
            let shown = check_columns_shown(&stage.model);
            assert!(shown.contains(&CheckColumn::State) && shown.contains(&CheckColumn::Name), "{screen}");
            let said = match all - shown.len() {
                0 => continue,
                1 => "+1 column ".to_owned(),
                hidden => format!("+{hidden} columns"),
            };
            assert!(screen.contains(&said), "{said}: {screen}");
        }
    }
}

#[test]
fn different_rows_never_look_alike() {
    let mut stage = TestConsole::full();
    let clusters = ["production-eu-west-1-workloads-a", "production-eu-west-1-workloads-b"];
    let names = ["checkout-single-sign-on-console-client-secret", "checkout-single-sign-on-operator-client-secret"];
    let rows = clusters.iter().flat_map(|cluster| names.iter().map(move |name| (cluster, name)));
    let row = |(cluster, name): (&&str, &&str)| {
        let id = fixtures::subject(fixtures::COPIES, cluster, "Secret", name);
        (id, Some(fixtures::held(State::Extra, "orphan-certain", 60)))
    };
    stage.data(Update::of(rows.map(row)));
    for width in [100, 120] {
        let screen = stage.keys("1").draw(width, 40);
        let lines: Vec<&str> = screen.lines().filter(|line| line.contains("orphan-certain")).collect();
        let mut distinct: Vec<&str> = lines.iter().map(|line| line.trim_start_matches([' ', '▸'])).collect();
        distinct.sort_unstable();
        distinct.dedup();
        assert!(distinct.len() >= 4 && distinct.len() + 1 >= lines.len(), "{screen}");
    }
}

#[test]
fn rows_of_one_name_are_distinguished_where_kind_and_namespace_have_no_column() {
    let mut stage = configs();
    let held = || Some(fixtures::held(State::Extra, "orphan-certain", 60));
    let id = |kind: &'static str, namespace: &str| {
        let long = "twin-of-a-name-that-leaves-no-space-for-columns-beside-it";
        let id = fixtures::subject(fixtures::COPIES, "guest-payments", kind, long);
        trueup_core::engine::SubjectId { namespace: Some(namespace.to_owned()), ..id }
    };
    stage.data(Update::of([
        (id("Secret", "openshift-config"), held()),
        (id("ConfigMap", "openshift-config"), held()),
        (id("ConfigMap", "openshift-console"), held()),
    ]));
    stage.keys("/twin enter");
    for (width, height) in [(80, 24), (120, 40)] {
        let screen = stage.draw(width, height);
        let rows: Vec<&str> =
            screen.lines().filter(|line| line.contains("orphan-certain") || line.contains("twin-")).collect();
        let texts: Vec<String> = rows.iter().map(|row| row.replace('▸', " ")).collect();
        for (place, text) in texts.iter().enumerate() {
            assert!(!texts[..place].contains(text), "two rows look alike: {screen}");
        }
    }
}
