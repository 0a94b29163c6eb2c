//! A check that the program does not know: with a bar, a tree and a form it has its tab, list, detail, answers, plan, settings and
//! help, and not a line of the console, the engine, the config or the commands knows its name.

#![expect(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "tests unwrap, wait on the real clock and name only the variants they are about"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::{SignedDuration, Timestamp};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::json;
use trueup::config::parse_config;
use trueup::console::capture;
use trueup::console::effect::Effects;
use trueup::console::event::{Event, What};
use trueup::console::hits::HitMap;
use trueup::console::model::{Model, REST, Zone};
use trueup::console::task::{PlanTarget, Planned, Start, SubjectDetail, Task, TaskReply};
use trueup::console::theme::{GlyphSet, Theme};
use trueup::console::update::update;
use trueup::console::view::{Appearance, view};
use trueup_checks::judgements::{Judgements, explained};
use trueup_checks::registry::Entry;
use trueup_checks::{
    Cell, Check, CheckDescription, CheckRules, Column, ContextCache, Form, FormInput, Panel, Ruled, SettingsProblem,
    SettingsTable, Side, Touched,
};
use trueup_core::decode::Digester;
use trueup_core::decode::recorded::{Coverage, KindCoverage, RecordedCluster, RecordedObject};
use trueup_core::engine::{
    AccessAnswer, ActionDraft, Change, CheckName, Conditions, Evidence, Explanation, Judgement, MetadataChange,
    Observed, Plan, PlanInput, PlanScope, Reason, State, SubjectId, Target, Undo, access_questions, build,
};
use trueup_core::world::{
    ChangeSet, Cluster, ClusterIdentity, ClusterName, ClusterSource, CollectionId, Fact, Interest, Interner, Key, Link,
    Misfit, RawObject, Reading, Resource, ResourceVersion, RiskClass, Served, Uid, View, World,
};
use trueup_fleet::live::{Update, recorded};

const NAME: CheckName = CheckName("shelves");
const CONFIG_MAPS: Resource =
    Resource { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };

/// The one line a registry would have.
const ENTRY: Entry = Entry { name: NAME, known_keys: &["enough"], build: built };

fn built(table: &SettingsTable) -> Result<Box<dyn Check>, Vec<SettingsProblem>> {
    let enough = table.take_integer("enough", 0..=10).map_err(|problem| vec![problem])?;
    Ok(Box::new(Shelves { enough: enough.unwrap_or(5) }))
}

/// Whether shelves are full enough.
struct Shelves {
    enough: i64,
}

/// What is kept of a shelf.
#[derive(Debug, Clone, PartialEq)]
struct ShelfLabel {
    uid: Uid,
    version: ResourceVersion,
    under: Option<String>,
    filled: i64,
}

impl Fact for ShelfLabel {
    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let filled = raw.meta.label("filled").and_then(|text| text.parse().ok());
        Ok(Self {
            uid: Uid::parse(&raw.meta.uid),
            version: ResourceVersion::parse(&raw.meta.resource_version),
            under: raw.meta.label("under").map(str::to_owned),
            filled: filled.ok_or_else(|| raw.misfit("it does not say how full it is"))?,
        })
    }
}

fn shelves_of(cluster: &ClusterName) -> CollectionId {
    CollectionId::namespaced(cluster, CONFIG_MAPS, "shelves")
}

fn key(subject: &SubjectId) -> Key {
    Key::new(Some("shelves"), &subject.name)
}

fn subject(cluster: &ClusterName, name: &str) -> SubjectId {
    SubjectId {
        domain: NAME,
        cluster: cluster.clone(),
        api_version: "v1",
        kind: "ConfigMap",
        namespace: Some("shelves".to_owned()),
        name: name.to_owned(),
        cloud: None,
    }
}

/// What the rule comes to.
enum Ruling {
    Filled,
    HalfEmpty,
}

impl CheckRules for Shelves {
    type Fleet<'a> = ();
    type Context<'a> = Reading<'a, ShelfLabel>;
    type Subject<'a> = &'a ShelfLabel;
    type Ruling<'a> = Ruling;

    const NAME: CheckName = NAME;
    const DESCRIPTION: CheckDescription = CheckDescription {
        title: "Shelves",
        short: "SHELVES",
        plural: "shelves",
        message: "whether shelves are full enough",
        columns: &[Column { title: "OPEN FOR", side: Side::Left, width: 16, grows: false, rank: 1 }],
        verdict_width: 16,
        forms: &[Form {
            name: "space-for",
            title: "Is there space?",
            prompt: "how many books?",
            input: FormInput::Plain,
        }],
    };

    fn interests_of(&self, cluster: &Cluster, _: View<'_>) -> Vec<Interest> {
        vec![shelves_of(&cluster.name).interest::<ShelfLabel>()]
    }

    fn touched(&self, changes: &ChangeSet, _: View<'_>) -> Touched {
        let clusters = changes.iter().map(|change| change.cluster().clone()).collect();
        Touched { clusters, ..Touched::default() }
    }

    fn parent(&self, subject: &SubjectId, view: View<'_>) -> Option<SubjectId> {
        let shelves = view.read::<ShelfLabel>(&shelves_of(&subject.cluster));
        let under = shelves.get(&key(subject)).present()?.under.as_deref()?;
        Some(self::subject(&subject.cluster, under))
    }

    fn fleet<'a>(&'a self, _: View<'a>) {}

    fn context<'a>(&'a self, cluster: &ClusterName, view: View<'a>, (): &()) -> Option<Reading<'a, ShelfLabel>> {
        Some(view.read(&shelves_of(cluster)))
    }

    fn subjects_in<'a>(&'a self, cluster: &ClusterName, contexts: &ContextCache<'a, Self>) -> BTreeSet<SubjectId> {
        let shelves = contexts.of(cluster).expect("every cluster has a context");
        shelves.iter().map(|(key, _)| subject(cluster, key.name.as_str())).collect()
    }

    fn resolve<'a>(&'a self, id: &SubjectId, contexts: &ContextCache<'a, Self>) -> Option<&'a ShelfLabel> {
        contexts.of(&id.cluster)?.get(&key(id)).present()
    }

    fn rule<'a>(&'a self, _: &SubjectId, shelf: &&'a ShelfLabel, _: &ContextCache<'a, Self>) -> Option<Ruling> {
        Some(if shelf.filled >= self.enough { Ruling::Filled } else { Ruling::HalfEmpty })
    }

    fn judgement(ruled: &Ruled<'_, '_, Self>) -> Judgement {
        let (state, verdict) = match ruled.ruling {
            Ruling::Filled => (State::Match, "filled"),
            Ruling::HalfEmpty => (State::Drift, "half-empty"),
        };
        Judgement { state, verdict, codes: Vec::new(), ownership_proofs: 1, until: None }
    }

    fn explanation(ruled: &Ruled<'_, '_, Self>) -> Explanation {
        let (subject, shelf) = (ruled.id, ruled.subject);
        let evidence = Evidence {
            message: format!("its label says {} of 10", shelf.filled),
            object: format!("{} ConfigMap shelves/{}", subject.cluster, subject.name),
            field: "metadata.labels.filled".to_owned(),
            resource_version: shelf.version.to_string(),
        };
        let target = Target {
            cluster: subject.cluster.clone(),
            resource: CONFIG_MAPS,
            namespace: subject.namespace.clone(),
            name: subject.name.clone(),
            uid: Some(shelf.uid.clone()),
            version: Some(shelf.version.clone()),
            cloud: None,
        };
        let change = Change::Label(MetadataChange::setting([("order", "yes")]));
        let draft = ActionDraft {
            diff: "+ order: \"yes\"\n".to_owned(),
            undo: Undo::RemoveWhatWasAdded,
            ..ActionDraft::new(NAME, target, change, Reason::NotLabelled)
        };
        Explanation {
            uid: Some(shelf.uid.clone()),
            created: None,
            summary: "More books have to be ordered.".to_owned(),
            expected: json!({ "filled": ruled.contexts.check.enough }),
            actual: json!({ "filled": shelf.filled }),
            evidence: vec![evidence],
            remedy: match ruled.ruling {
                Ruling::Filled => Vec::new(),
                Ruling::HalfEmpty => vec![draft],
            },
        }
    }

    fn cells(ruled: &Ruled<'_, '_, Self>) -> Vec<Cell> {
        let (now, span) = (ruled.contexts.view.now, SignedDuration::from_mins(10));
        vec![Cell::Left { from: now - span, until: now + span }]
    }

    fn panels(ruled: &Ruled<'_, '_, Self>) -> Vec<Panel> {
        vec![Panel::Bar { title: "HOW FULL", done: ruled.subject.filled.unsigned_abs(), of: 10 }]
    }

    fn answer(ruled: &Ruled<'_, '_, Self>, form: &str, typed: &str) -> Vec<String> {
        assert_eq!(form, "space-for");
        let free = 10 - ruled.subject.filled;
        let fits = typed.parse::<i64>().is_ok_and(|books| books <= free);
        vec![format!("{} space for {typed} on {}", if fits { "there is" } else { "there is no" }, ruled.id.name)]
    }
}

fn now() -> Timestamp {
    "2026-11-16T10:00:00Z".parse().unwrap()
}

fn library() -> Cluster {
    Cluster {
        name: ClusterName::new("library"),
        class: RiskClass::Dev,
        source: ClusterSource::Kubeconfig { context: "library".to_owned() },
        hosted_by: None,
        link: Link::Live { since: now() },
        identity: ClusterIdentity {
            kube_system_uid: "uid".to_owned(),
            ca_sha256: "c0ffee".to_owned(),
            ..ClusterIdentity::default()
        },
        served: Served::Recorded(["".to_owned()].into()),
    }
}

fn shelf(name: &str, labels: serde_json::Value) -> RecordedObject {
    let meta = json!({
        "name": name, "namespace": "shelves", "uid": format!("uid-of-{name}"), "resourceVersion": "7", "labels": labels,
    });
    let json = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": meta });
    RecordedObject {
        group: "".into(),
        kind: "ConfigMap".into(),
        namespace: "shelves".to_owned(),
        name: name.to_owned(),
        json: json.to_string().into(),
    }
}

/// The library as the check sees it.
fn judged(domains: &[Box<dyn Check>]) -> (World, Judgements) {
    let mut recording = RecordedCluster::new(Coverage { kinds: KindCoverage::All, ..Coverage::default() });
    recording.push(shelf("poems", json!({ "filled": "9" })));
    recording.push(shelf("odes", json!({ "filled": "2", "under": "poems" })));
    let recordings = BTreeMap::from([(library().name, recording)]);
    recorded(domains, vec![library()], &recordings, &Digester::new(&[7; 32]), now())
}

/// A console with its services: the same functions as in production.
struct Console {
    model: Model,
    domains: Vec<Box<dyn Check>>,
    world: World,
    judgements: Judgements,
    applied: Vec<String>,
}

impl Console {
    fn open(config: &str) -> Self {
        let domains = parse_config(config, Path::new("/"), &[ENTRY]).unwrap().domains.0;
        let (world, judgements) = judged(&domains);
        let model = Model::new(now(), Rect::new(0, 0, 120, 40), Zone::Utc);
        let mut console = Self { model, domains, world, judgements, applied: Vec::new() };
        let checks = console.domains.iter().map(|domain| (domain.name(), domain.description())).collect();
        let start =
            Start { checks, read_only: None, fleet: "a folder".to_owned(), user: "ann".to_owned(), offers_tour: false };
        console.take(What::TaskReply(Box::new(TaskReply::Started(Box::new(start)))));
        let findings = console.judgements.shared().map(|(id, held)| (id.clone(), Some(held.clone()))).collect();
        let clusters = [(library().name, Some(library()))].into();
        console.take(What::Data(Box::new(Update { findings, clusters, ..Update::default() })));
        console
    }

    fn take(&mut self, what: What) {
        let event = Event { at: self.model.now, what };
        let Effects { tasks, .. } = update(&mut self.model, event, &HitMap::default());
        for reply in tasks.into_iter().filter_map(|task| self.perform(task)).collect::<Vec<_>>() {
            self.take(What::TaskReply(Box::new(reply)));
        }
    }

    fn perform(&mut self, task: Task) -> Option<TaskReply> {
        let view = self.world.view(now());
        let domain = self.domains.first()?;
        match task {
            Task::Explain { ask, subject } => {
                let (explanation, panels) = domain.detail(&subject, view)?;
                Some(TaskReply::Explained {
                    ask,
                    detail: Some(Box::new(SubjectDetail { subject, explanation, panels })),
                })
            }
            Task::Answer { ask, form, typed, subject } => {
                Some(TaskReply::Answered { ask, lines: domain.answer(form, &typed, &subject, view) })
            }
            Task::Plan { ask, wanted: PlanTarget::Subjects(subjects) } => {
                let planned = Planned { plan: self.plan(subjects), left_out: Vec::new(), objects: Default::default() };
                Some(TaskReply::Planned { ask, plan: Ok(Box::new(planned)) })
            }
            Task::Apply(approval) => {
                self.applied.extend(approval.chosen.actions(&approval.plan).map(|action| action.target.name.clone()));
                None
            }
            _ => None,
        }
    }

    fn plan(&self, subjects: BTreeSet<SubjectId>) -> Plan {
        let view = self.world.view(now());
        let judged = explained(&self.judgements, &self.domains, view);
        let mut conditions = Conditions::at(now());
        for question in judged.iter().flat_map(|one| &one.explanation.remedy).flat_map(access_questions) {
            conditions.access.insert(question, AccessAnswer::Allowed);
        }
        let observed = view.observations().map(|(id, completeness, _)| Observed { id, completeness }).collect();
        let scope = PlanScope { subjects: Some(subjects), ..PlanScope::default() };
        let clusters = view.clusters().collect();
        let input = PlanInput {
            judged: &judged,
            unexplained: trueup_core::engine::Unexplained::NONE,
            clusters,
            observed,
            accepted: &[],
            scope: &scope,
            conditions: &conditions,
        };
        build(&input).unwrap()
    }

    fn press(&mut self, code: KeyCode) {
        self.take(What::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    fn letters(&mut self, text: &str) {
        text.chars().for_each(|letter| self.press(KeyCode::Char(letter)));
    }

    fn screen(&self) -> String {
        let mut buffer = Buffer::empty(self.model.area);
        view(
            &self.model,
            &Appearance { theme: Theme::default(), signs: GlyphSet::Unicode },
            self.model.area,
            &mut buffer,
        );
        capture::text(&buffer).into()
    }

    #[track_caller]
    fn shows(&self, parts: &[&str]) {
        let screen = self.screen();
        for part in parts {
            assert!(screen.contains(part), "{part:?} is not on the screen:\n{screen}");
        }
    }
}

#[test]
fn a_new_check_has_its_tab_and_its_column_in_the_fleet() {
    Console::open("").shows(&[" 1 Shelves ≠1 ", "≠1 =1", "library", "odes: half-empty"]);
}

#[test]
fn its_list_is_a_tree_with_its_own_bar() {
    let mut console = Console::open("");
    console.letters("1=");
    console.shows(&["[1 Shelves ≠1]", "OPEN FOR", "=  poems", "≠  └ odes", "█████░░░░░  10m", "half-empty"]);
}

#[test]
fn its_detail_shows_evidence_and_panels() {
    let mut console = Console::open("");
    console.letters("1");
    // A detail is requested when the cursor rests.
    console.model.now += REST;
    console.take(What::Time);
    console.shows(&["More books have to be ordered.", "its label says 2 of 10", "HOW FULL", "████░", "2 of 10"]);
}

#[test]
fn its_form_is_answered_for_the_subject_at_the_cursor() {
    let mut console = Console::open("");
    console.letters("1i");
    console.shows(&["how many books?"]);
    console.letters("9");
    console.press(KeyCode::Enter);
    console.shows(&["IS THERE SPACE?", "there is no space for 9 on odes"]);
}

#[test]
fn its_remedy_is_planned_approved_and_sent() {
    let mut console = Console::open("");
    console.letters("1r");
    console.shows(&["[Plan]", "1 of 1 ticked · ~1 update", "~ label", "ConfigMap shelves/odes", "+ order: \"yes\""]);
    console.letters("a");
    console.model.now += SignedDuration::try_from(Duration::from_millis(300)).unwrap();
    console.shows(&["Update 1 object in library · dev", "enter apply"]);
    console.press(KeyCode::Enter);
    assert_eq!(console.applied, ["odes"]);
    console.shows(&["[Activity 1 running]", "label  ConfigMap shelves/odes"]);
}

#[test]
fn the_check_reads_its_settings_and_reports_mistakes() {
    let mut console = Console::open("[domains.shelves]\nenough = 1\n");
    console.letters("1=");
    console.shows(&["2 of 2", "filled"]);
    assert!(!console.screen().contains("half-empty"));
    let problems = parse_config("[domains.shelves]\nenuogh = 1\n", Path::new("/"), &[ENTRY]).unwrap_err();
    let said: Vec<String> = problems.iter().map(|problem| problem.message.clone()).collect();
    assert!(said[0].contains("enuogh") && said[0].contains("enough"), "{said:?}");
}

#[test]
fn help_and_palette_use_its_title() {
    let mut console = Console::open("");
    console.letters("?");
    console.shows(&["Go to Shelves"]);
    console.press(KeyCode::Esc);
    console.letters(":shelves");
    console.shows(&["go to Shelves"]);
}
