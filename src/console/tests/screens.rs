//! Every screen in every state and every size, as people see it.
//!
//! A file per screen under `snapshots/`; lines that are all the same are said once, with their number.

use std::time::Duration;

use super::screens_activity::{every_stage, running};
use super::{fixtures, screens_activity};
use crate::console::event::What;
use crate::console::task::{ObjectSheet, ReadOnly, TaskReply, Tried};
use crate::console::testing::{TestConsole, after, ago};
use crate::console::theme::GlyphSet;
use trueup_core::engine::{Action, State, Tier, Undo};
use trueup_core::world::{ClusterName, Gap, GapCause, Link, RiskClass};
use trueup_fleet::connect::PluginQuestion;
use trueup_fleet::live::{UnreadLists, Update};

/// A screen's states, each under its name.
pub type States = Vec<(&'static str, TestConsole)>;

fn made(mut stage: TestConsole, act: impl FnOnce(&mut TestConsole)) -> TestConsole {
    act(&mut stage);
    stage
}

/// The full fleet, after these keys.
pub fn typed(keys: &str) -> TestConsole {
    full(|stage| {
        stage.keys(keys);
    })
}

/// The full fleet with saved views and an accepted finding, after these keys.
fn with_settings(keys: &str) -> TestConsole {
    full(|stage| {
        stage.reply(TaskReply::Settings(Box::new(fixtures::settings())));
        stage.keys(keys);
    })
}

pub fn full(act: impl FnOnce(&mut TestConsole)) -> TestConsole {
    made(TestConsole::full(), act)
}

fn fleet() -> States {
    let loading = made(TestConsole::started(), |stage| {
        let links = [("mgmt-eu", Link::Connecting), ("mgmt-us", Link::Listing { objects: 0 })];
        let clusters =
            links.map(|(name, link)| (ClusterName::new(name), Some(fixtures::cluster(name, RiskClass::Prod, link))));
        stage.data(Update { clusters: clusters.into(), ..Update::default() });
    });
    vec![
        ("nothing known", TestConsole::started()),
        ("loading", loading),
        ("every link, an unreachable cluster", TestConsole::full()),
        ("a live cluster", typed("j")),
        ("a login that expired", typed("j j")),
        ("a lost connection", typed("j j j j j")),
        ("lists that could not be read", full(unread_lists)),
        ("an idle cluster, another marked", typed("space j j j j j j")),
        ("filtered", typed("/guest enter")),
        ("no match", typed("/qqqqq enter")),
        ("news", full(news)),
    ]
}

/// Live clusters with lists that were refused: some of a management cluster, all of a guest.
fn unread_lists(stage: &mut TestConsole) {
    let forbidden = Gap::new(GapCause::Forbidden, "listing v1/secrets: forbidden (403)");
    let lists = [("mgmt-eu", 8), ("guest-payments", 11)]
        .map(|(name, unread)| (ClusterName::new(name), Some(UnreadLists { unread, of: 11, first: forbidden.clone() })));
    stage.data(Update { lists: lists.into(), ..Update::default() });
    stage.keys("j");
}

fn news(stage: &mut TestConsole) {
    stage.later(Duration::from_secs(300));
    let became = fixtures::subject(fixtures::COPIES, "guest-payments", "Secret", "ext-auth-client-old");
    let gone = fixtures::subject(fixtures::COPIES, "mgmt-eu", "Secret", "lost-copy");
    let held = fixtures::held(State::Match, "in-use", 0);
    stage.data(Update::of([(became, Some(held)), (gone, None)]));
}

fn list() -> States {
    let reading = made(TestConsole::started(), |stage| {
        let cluster = fixtures::cluster("mgmt-eu", RiskClass::Prod, Link::Listing { objects: 1204 });
        stage.data(Update { clusters: [(cluster.name.clone(), Some(cluster))].into(), ..Update::default() });
        stage.keys("1");
    });
    let unread = made(TestConsole::started(), |stage| {
        let clusters = fixtures::clusters().into_iter().filter(|(name, _)| name.as_str() == "lab").collect();
        stage.data(Update { clusters, ..Update::default() });
        stage.keys("1");
    });
    let refused = made(TestConsole::started(), |stage| {
        let clusters = fixtures::clusters().into_iter().filter(|(name, _)| name.as_str() == "mgmt-eu").collect();
        stage.data(Update { clusters, ..Update::default() });
        unread_lists(stage);
        stage.keys("1");
    });
    vec![
        (
            "nothing to check",
            made(TestConsole::started(), |stage| {
                stage.keys("1");
            }),
        ),
        ("being read", reading),
        ("not all could be read", unread),
        ("a live cluster with lists that could not be read", refused),
        (
            "every state",
            full(|stage| {
                stage.keys("1").explained();
            }),
        ),
        ("filtered", typed("1 /state:extra enter")),
        ("no match", typed("1 /qqqqq enter")),
        ("marked, one of them hidden", typed("1 space space space /kind:secret enter")),
        ("sorted by cluster, the other way round", typed("1 s s -")),
        (
            "doomed by a plan",
            full(|stage| {
                stage.planned(fixtures::plan(fixtures::actions())).keys("1");
            }),
        ),
        ("a tree with cells of every kind", typed("2")),
        ("a tree sorted by a column of its own", typed("2 s s s s s")),
        ("one of them accepted", with_settings("1 G")),
        ("hostile names", full(hostile)),
    ]
}

fn hostile(stage: &mut TestConsole) {
    let names = ["\u{1b}[2J\u{202e}gnp.exe", "日本語の秘密", "zero\u{200b}width", "line\nbreak", &"long".repeat(60)];
    let row = |name: &&str| {
        let id = fixtures::subject(fixtures::COPIES, "mgmt-eu", "Secret", name);
        (id, Some(fixtures::held(State::Error, "unreadable", 1)))
    };
    stage.data(Update::of(names.iter().map(row)));
    stage.keys("1");
}

fn detail() -> States {
    let at = |keys: &str| {
        full(|stage| {
            stage.keys(keys).explained();
            stage.keys("enter");
        })
    };
    vec![
        ("looked at", at("1 j")),
        (
            "scrolled to its end",
            made(at("1 j"), |stage| {
                stage.keys("G");
            }),
        ),
        ("accepted", with_settings("1 /name~ext-auth-ca enter enter")),
        (
            "nothing is known of it",
            full(|stage| {
                stage.keys("1 j enter");
                stage.reply(TaskReply::Explained { ask: stage.model.detail.ask, detail: None });
            }),
        ),
        ("waiting for the answer", typed("1 j enter")),
        ("a list that could not be read", at("1 G k")),
        ("every field of its difference", at("1 j d")),
        ("its difference as text", at("1 j d d")),
        (
            "searched",
            made(at("1 j"), |stage| {
                stage.keys("/config");
            }),
        ),
        ("with an answer", made(at("2"), answered)),
        (
            "an answer that is awaited",
            made(at("2"), |stage| {
                stage.keys("i {} enter");
            }),
        ),
    ]
}

fn answered(stage: &mut TestConsole) {
    stage.keys("i {} enter");
    let ask = stage.model.detail.answer_ask;
    let lines = vec!["user https://idp.example.com#42".to_owned(), "groups oidc:dev, oidc:ops".to_owned()];
    stage.reply(TaskReply::Answered { ask, lines });
}

fn planned(act: impl FnOnce(&mut TestConsole)) -> TestConsole {
    full(|stage| {
        stage.planned(fixtures::plan(fixtures::actions()));
        act(stage);
    })
}

fn planned_typed(keys: &str) -> TestConsole {
    planned(|stage| {
        stage.keys(keys);
    })
}

fn plan() -> States {
    vec![
        ("every tier", planned(|_| {})),
        ("what an action is bound to", planned_typed("d tab")),
        ("a blocked one", planned_typed("G")),
        ("one that depends on what is left out", planned_typed("j space")),
        ("nothing chosen", planned_typed("j space space space space")),
        ("the world moved", planned(news)),
        (
            "soon expired",
            planned(|stage| {
                stage.later(Duration::from_secs(860));
            }),
        ),
        (
            "expired",
            planned(|stage| {
                stage.later(Duration::from_secs(900));
            }),
        ),
        ("tried by the servers", planned(tried)),
        (
            "a teardown",
            full(|stage| {
                stage.planned(fixtures::plan(fixtures::teardown()));
            }),
        ),
        ("writes switched off", planned_typed("!")),
        ("discarding ticks", planned_typed("space x")),
        (
            "from a recording",
            made(recording(), |stage| {
                stage.planned(fixtures::plan(fixtures::actions()));
            }),
        ),
        (
            "an undo that leaves something out",
            full(|stage| {
                let ask = stage.model.next_request();
                stage.model.planning = Some(ask);
                let left_out = vec!["a2 was skipped".to_owned(), "the owner of demo is gone".to_owned()];
                let plan = fixtures::plan(fixtures::actions());
                stage.reply(TaskReply::Planned {
                    ask,
                    plan: Ok(Box::new(crate::console::task::Planned { plan, left_out, objects: Default::default() })),
                });
            }),
        ),
    ]
}

/// Recorded clusters, nine hours old.
fn recording() -> TestConsole {
    TestConsole::full_with(|start| start.read_only = Some(ReadOnly::Recording { taken_at: Some(ago(32_400)) }))
}

fn tried(stage: &mut TestConsole) {
    stage.keys("D");
    let plan = stage.model.plan.as_ref().unwrap().plan.id.clone();
    let answers = [
        ("a1", Tried::Fine),
        ("a2", Tried::Refused("admission webhook \"guard\" denied the request".to_owned())),
        ("a4", Tried::Unknown("access denied".to_owned())),
    ];
    for (action, tried) in answers {
        stage.reply(TaskReply::DryRun { plan: plan.clone(), action: action.to_owned(), tried });
    }
}

/// An approval of one action that is not ticked at first.
fn asking_ticked(actions: Vec<Action>) -> TestConsole {
    full(|stage| {
        stage.draw(60, 20);
        stage.planned(fixtures::plan(actions)).keys("space a").later(Duration::from_millis(300));
    })
}

/// An approval of these actions, open for long enough to hear keys.
fn asking(actions: Vec<Action>, keys: &str) -> TestConsole {
    full(|stage| {
        stage.draw(60, 20);
        stage.planned(fixtures::plan(actions)).keys("a").later(Duration::from_millis(300));
        stage.keys(keys);
    })
}

fn approval() -> States {
    let lasting =
        Action { tier: Tier::T4, undo: Undo::None, ..fixtures::action("a1", "guest-old", "Namespace", "team-x") };
    let mixed =
        || vec![fixtures::action("a1", "guest-payments", "Secret", "ext-auth-client-old"), fixtures::label("a4")];
    let long_name = fixtures::action("a1", "guest-payments", "Secret", &"a-very-long-name-".repeat(12));
    vec![
        ("enter", asking(vec![fixtures::label("a4")], "")),
        ("the number of deletions", asking(fixtures::deletes("stage-1", 2, Tier::T2), "")),
        ("the cluster's name, half typed", asking(fixtures::deletes("guest-payments", 2, Tier::T3), "guest-pay")),
        ("the cluster's name and the plan", asking_ticked(vec![lasting])),
        ("a list longer than the box", asking(fixtures::deletes("guest-payments", 40, Tier::T3), "")),
        ("its end", asking(fixtures::deletes("guest-payments", 40, Tier::T3), "ctrl-end")),
        ("not read to its end", asking(fixtures::deletes("guest-payments", 40, Tier::T3), "guest-payments enter")),
        ("the wrong word", asking(fixtures::deletes("guest-payments", 2, Tier::T3), "guest enter")),
        ("the first of two clusters", asking(mixed(), "")),
        ("the second of two clusters", asking(mixed(), "guest-payments enter")),
        ("a name longer than a line", asking(vec![long_name], "")),
        ("a teardown", asking(fixtures::teardown(), "")),
    ]
}

fn object() -> States {
    let opened = |object: Option<Result<ObjectSheet, String>>, keys: &str| {
        full(|stage| {
            stage.keys("1 j v");
            let ask = stage.model.object.as_ref().unwrap().ask;
            if let Some(object) = object {
                stage.reply(TaskReply::Object { ask, object: object.map(Box::new) });
            }
            stage.keys(keys);
        })
    };
    let quiet = ObjectSheet { events: Ok(Vec::new()), ..fixtures::sheet() };
    let secretive = ObjectSheet { events: Err("events may not be listed there (403)".to_owned()), ..fixtures::sheet() };
    let log = (1..=70).map(|number| format!("2026-11-16T09:{:02}:00Z INFO line {number}", number % 60)).collect();
    vec![
        ("being read", opened(None, "")),
        ("as YAML", opened(Some(Ok(fixtures::sheet())), "")),
        ("with a credential", opened(Some(Ok(fixtures::sheet_of_config_map())), "")),
        ("with a credential on purpose", {
            full(|stage| {
                for (keys, sheet) in
                    [("1 j v", fixtures::sheet_of_config_map()), ("x", fixtures::sheet_with_password("hunter2"))]
                {
                    stage.keys(keys);
                    let ask = stage.model.object.as_ref().unwrap().ask;
                    stage.reply(TaskReply::Object { ask, object: Ok(Box::new(sheet)) });
                }
            })
        }),
        ("its events", opened(Some(Ok(fixtures::sheet())), "e")),
        ("no events", opened(Some(Ok(quiet)), "e")),
        ("unreadable events", opened(Some(Ok(secretive)), "e")),
        ("gone", opened(Some(Err("there is no such object any more".to_owned())), "")),
        (
            "the log",
            full(|stage| {
                stage.keys("gl").reply(TaskReply::Log { lines: log });
            }),
        ),
        (
            "no log",
            full(|stage| {
                stage.keys("gl").reply(TaskReply::Log { lines: Vec::new() });
            }),
        ),
    ]
}

fn over() -> States {
    vec![
        ("help for the fleet", typed("?")),
        ("help for a list, scrolled", typed("1 ? G")),
        ("help for a plan", planned_typed("?")),
        ("palette", typed(":")),
        ("palette, filtered", typed(":plan")),
        ("palette, nothing fits", typed(":zzzz")),
        ("clusters", typed("c down down")),
        ("views", with_settings("gv")),
        ("themes", typed("T")),
        ("export", typed("1 E")),
        ("a filter of the fleet", typed("/gu")),
        ("a filter being typed", typed("1 /state:extra")),
        ("an invalid filter", typed("1 /state:extar")),
        ("keys that may follow", typed("g")),
        ("why it is accepted", typed("1 j A we space know")),
        ("until when it is accepted", typed("1 j A known enter")),
        ("a question of a check", typed("2 i")),
    ]
}

fn wall() -> States {
    let on_wall = |act: fn(&mut TestConsole)| {
        full(|stage| {
            act(stage);
            stage.keys("W");
        })
    };
    let applying = running(|stage| {
        every_stage(stage);
        stage.keys("W");
    });
    vec![
        ("nothing known", made(TestConsole::started(), |stage| _ = stage.keys("W"))),
        ("news", on_wall(news)),
        ("an apply", applying),
    ]
}

fn frame() -> States {
    let failed = "no kubeconfig was found: neither KUBECONFIG nor ~/.kube/config names one";
    vec![
        ("starting", TestConsole::starting()),
        (
            "not started",
            made(TestConsole::starting(), |stage| {
                stage.model.instead =
                    &["Try it without a cluster: trueup demo", "Read a folder instead: trueup plan --from DIR"];
                stage.reply(TaskReply::NotStarted { message: failed.to_owned() });
            }),
        ),
        ("read-only", TestConsole::full_with(|start| start.read_only = Some(ReadOnly::Flag))),
        (
            "paused",
            full(|stage| {
                stage.keys("p");
                news(stage);
            }),
        ),
        ("the mouse is released", typed("m")),
        ("planning", typed("1 j r")),
        ("messages", full(messages)),
    ]
}

fn messages(stage: &mut TestConsole) {
    stage.reply(TaskReply::Notice { message: "copied".to_owned() });
    stage.reply(TaskReply::ServiceRestarted { what: "the watch of mgmt-eu".to_owned() });
    let why = "guest-payments: the server refused it, because the namespace openshift-config is being terminated, and \
               what is being terminated takes nothing new";
    stage.reply(TaskReply::Planned { ask: stage.model.planning.unwrap_or_default(), plan: Err(why.to_owned()) });
    stage.reply(TaskReply::Accepted { message: Err("invalid date `soon`; use YYYY-MM-DD".to_owned()) });
}

fn plugin() -> States {
    let asking = |command: &str, arguments: &str| {
        let question = PluginQuestion { command: command.to_owned(), arguments: arguments.to_owned() };
        full(|stage| {
            stage.reply(TaskReply::PluginQuestion { cluster: ClusterName::new("mgmt-eu"), question });
        })
    };
    let long = "eks get-token --cluster-name prod-eu --region eu-central-1 --role-arn \
                arn:aws:iam::123456789012:role/operators/eks-administrators --output json --profile operators";
    vec![
        ("a plugin", asking("/usr/local/bin/aws", "eks get-token --cluster-name prod-eu")),
        ("without arguments", asking("/opt/bin/kubelogin", "")),
        ("arguments longer than a line", asking("/usr/local/bin/aws", long)),
    ]
}

pub fn all() -> Vec<(&'static str, States)> {
    vec![
        ("fleet", fleet()),
        ("list", list()),
        ("detail", detail()),
        ("plan", plan()),
        ("approval", approval()),
        ("plugin", plugin()),
        ("activity", screens_activity::activity()),
        ("object", object()),
        ("over", over()),
        ("wall", wall()),
        ("frame", frame()),
        ("timeline", super::timeline::states()),
        ("tour", super::tour::states()),
    ]
}

#[test]
fn every_screen_matches_its_snapshot() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for (screen, states) in all() {
            let shown = states.into_iter().map(|(state, mut stage)| format!("== {state}\n{}\n", stage.draw_all()));
            insta::assert_snapshot!(screen, shown.collect::<String>());
        }
    });
}

#[test]
fn every_screen_is_ascii_in_plain_mode() {
    for (screen, states) in all() {
        for (state, mut stage) in states {
            stage.model.signs = GlyphSet::Plain;
            for (width, height) in crate::console::testing::SIZES {
                let text = stage.draw(width, height);
                // What comes from clusters is escaped; what the console says itself has a plain twin.
                let is_strange = |line: &&str| !line.is_ascii() || line.contains("\\u{") && state != "hostile names";
                let strange: Vec<&str> = text.lines().filter(is_strange).collect();
                assert!(strange.is_empty(), "{screen}, {state}, {width}x{height}:\n{}", strange.join("\n"));
            }
        }
    }
}

#[test]
fn every_screen_can_be_drawn_in_any_size() {
    for (_, states) in all() {
        for (_, mut stage) in states {
            for (width, height) in
                [(1, 1), (30, 6), (31, 14), (59, 15), (60, 16), (61, 17), (79, 23), (119, 16), (60, 200), (300, 16)]
            {
                stage.draw(width, height);
            }
        }
    }
}

#[test]
fn a_screen_that_is_too_small_shows_the_required_size() {
    for (width, height) in [(29, 15), (29, 40), (200, 5)] {
        let text = TestConsole::full().draw(width, height);
        assert_eq!(text.lines().next(), Some("Too small: 30x6 needed"), "{width}x{height}");
    }
    let mut asked = asking(fixtures::deletes("guest-payments", 2, Tier::T3), "");
    assert_eq!(
        asked.draw(59, 40).lines().next(),
        Some("Too small: 60x16 needed"),
        "a dialog is shown in full or not at all"
    );
}

#[test]
fn a_small_screen_shows_the_list_alone() {
    for keys in ["", "1"] {
        let mut stage = typed(keys);
        let text = stage.draw(30, 6);
        assert!(text.lines().next().is_some_and(|line| line.starts_with("━━ ")), "{text}");
        assert!(text.lines().any(|line| line.contains("▸")), "{text}");
    }
}

#[test]
fn hostile_names_are_escaped_on_every_screen() {
    for signs in [GlyphSet::Unicode, GlyphSet::Plain] {
        let mut stage = full(hostile);
        stage.model.signs = signs;
        let text = stage.draw(200, 60);
        let steers = |letter: char| letter.is_control() && letter != '\n' || "\u{202e}\u{200b}".contains(letter);
        assert!(!text.contains(steers), "{text}");
    }
}

/// The fixture is what it says: a link of each kind, a state of each kind.
#[test]
fn the_fixture_has_every_link_and_every_state() {
    let links: std::collections::BTreeSet<String> = fixtures::clusters()
        .into_values()
        .flatten()
        .map(|cluster| format!("{:?}", cluster.link).split([' ', '{']).next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(links.len(), 8, "{links:?}");
    let mut states: Vec<State> =
        fixtures::findings().into_values().flatten().map(|held| held.judgement.state).collect();
    states.sort_unstable();
    states.dedup();
    assert_eq!(states, State::ALL);
    assert!(ago(0) < after(1));
}

#[test]
fn a_resize_keeps_the_cursor() {
    let mut stage = typed("1 j j j");
    let before = stage.model.subject();
    for (width, height) in [(60, 16), (30, 5), (200, 60)] {
        stage.event(What::Resize { width, height });
    }
    assert_eq!(stage.model.subject(), before);
}
