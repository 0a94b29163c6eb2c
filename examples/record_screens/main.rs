//! Records the screens of the docs: the demo at its start as the console draws it, at a fixed time.
//!
//! `cargo run --example record_screens` writes `docs/screens/*.svg` and `*.txt`, and the whole session as `session.cast`
//! (asciinema) and `session.svg` (animated). Keys are pressed as by a user; tasks are
//! executed here by the same functions, and nothing is sent.

mod session;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::{SignedDuration, Timestamp};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use session::{STILL, Session, TYPED};
use tokio::time::{Instant, timeout};
use trueup::config::parse_config;
use trueup::console::capture;
use trueup::console::event::{Event, What};
use trueup::console::hits::HitMap;
use trueup::console::model::{Model, Zone};
use trueup::console::settings::ModelSettings;
use trueup::console::task::{PlanTarget, Planned, Stage, Start, SubjectDetail, Task, TaskReply};
use trueup::console::theme::{GlyphSet, Themes};
use trueup::console::update::update;
use trueup::console::view::{Appearance, view};
use trueup_checks::judgements::explained;
use trueup_checks::registry;
use trueup_core::decode::Digester;
use trueup_core::engine::executor::ActionResult;
use trueup_core::engine::journal::VerifiedState;
use trueup_core::engine::{
    AccessAnswer, BackupCheck, Conditions, Observed, Plan, PlanInput, PlanScope, access_questions, build,
};
use trueup_core::world::{ClusterName, ClusterSource, RiskClass};
use trueup_fleet::connect::FixedConnector;
use trueup_fleet::live::{Guest, GuestResolver, Live, LiveSetup, Member, Update};
use trueup_fleet::observe::{Clock, Jitter, Ports};
use trueup_sim::demo::{DemoClass, DemoCluster, DemoRole, DemoService, Scenario, ScenarioOptions};

/// Wide enough for the detail beside the list, small enough for a page.
const AREA: Rect = Rect { x: 0, y: 0, width: 120, height: 36 };
const SEED: u64 = 1;
const START: &str = "2026-11-16T14:02:00Z";
const THEME: &str = "night";
const FOLDER: &str = "docs/screens";
/// Enough for every cluster of the scenario, whose clock is not the wall clock.
const PATIENCE: Duration = Duration::from_secs(60);
/// The cluster with the orphans shown.
const CLUSTER: &str = "guest-payments";

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> std::io::Result<()> {
    let mut live = fleet();
    live.wait_settled(PATIENCE).await;
    // Verdicts must hold over two lists before a delete is planned.
    let until = Instant::now() + Duration::from_secs(10);
    while timeout(until - Instant::now(), live.step()).await.is_ok() {}
    live.resync();
    live.wait_settled(PATIENCE).await;
    std::fs::create_dir_all(FOLDER)?;
    let mut recorder = Recorder::open(live);
    recorder.press("jjj");
    recorder.record("fleet")?;
    recorder.press("1");
    recorder.seek("ext-auth-console");
    recorder.record("check")?;
    recorder.press("/");
    recorder.press("cluster:guest-payments verdict:orphan-certain");
    recorder.record("filter")?;
    recorder.key(KeyCode::Enter);
    recorder.press("ggr");
    recorder.record("plan")?;
    recorder.press("a");
    recorder.passes(1);
    recorder.press(&CLUSTER[..9]);
    recorder.record("approval")?;
    recorder.press(&CLUSTER[9..]);
    recorder.key(KeyCode::Enter);
    recorder.record("activity")?;
    recorder.press("0?");
    recorder.record("help")?;
    recorder.key(KeyCode::Esc);
    recorder.press("W");
    recorder.record("wall")?;
    recorder.press("Wgx");
    recorder.record("expiry")?;
    recorder.end()
}

/// The console without a terminal, and its services.
struct Recorder {
    model: Model,
    hits: HitMap,
    appearance: Appearance,
    live: Live,
    now: Timestamp,
    session: Session,
}

impl Recorder {
    fn open(live: Live) -> Self {
        let now = live.view().now.round(jiff::Unit::Second).expect("a second is a unit");
        let themes = Themes::built_in();
        let appearance = Appearance { theme: themes.resolve(THEME).expect("it is built in"), signs: GlyphSet::Unicode };
        let mut recorder = Self {
            model: Model::new(now, AREA, Zone::Utc),
            hits: HitMap::default(),
            appearance,
            live,
            now,
            session: Session::default(),
        };
        let checks = recorder.live.domains().iter().map(|domain| (domain.name(), domain.description())).collect();
        let start = Start {
            checks,
            offers_tour: false,
            read_only: None,
            fleet: "demo".to_owned(),
            user: "kubeadmin".to_owned(),
        };
        recorder.reply(TaskReply::Started(Box::new(start)));
        recorder.reply(TaskReply::Settings(Box::new(ModelSettings { zone: Zone::Utc, ..ModelSettings::default() })));
        let findings = recorder.live.judgements().shared().map(|(id, held)| (id.clone(), Some(held.clone()))).collect();
        let clusters = recorder.live.view().clusters().map(|one| (one.name.clone(), Some(one.clone()))).collect();
        // Findings first: findings of a cluster that was not read yet are not news.
        recorder.happens(What::Data(Box::new(Update { findings, ..Update::default() })));
        recorder.happens(What::Data(Box::new(Update { clusters, ..Update::default() })));
        recorder
    }

    fn passes(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
        self.happens(What::Time);
    }

    fn press(&mut self, letters: &str) {
        letters.chars().for_each(|letter| self.key(KeyCode::Char(letter)));
    }

    fn key(&mut self, code: KeyCode) {
        self.happens(What::Key(KeyEvent::new(code, KeyModifiers::NONE)));
        let screen = self.screen();
        self.session.show(screen, TYPED);
    }

    fn screen(&mut self) -> Buffer {
        self.model.now = self.now;
        let mut buffer = Buffer::empty(AREA);
        self.hits = view(&self.model, &self.appearance, AREA, &mut buffer).hits;
        buffer
    }

    /// Moves the cursor to the cluster's object of this name that a plan would change.
    fn seek(&mut self, name: &str) {
        self.press("gg");
        let is_there = |model: &Model| {
            let subject = model.subject();
            subject.is_some_and(|one| {
                one.cluster.as_str() == CLUSTER
                    && one.name == name
                    && one.namespace.as_deref() == Some("openshift-config")
            })
        };
        for _ in 0..self.model.findings.len() {
            if is_there(&self.model) {
                return;
            }
            self.press("j");
        }
        panic!("the scenario has no {name} in {CLUSTER}");
    }

    fn reply(&mut self, reply: TaskReply) {
        self.happens(What::TaskReply(Box::new(reply)));
    }

    fn happens(&mut self, what: What) {
        let effects = update(&mut self.model, Event { at: self.now, what }, &self.hits);
        effects.tasks.into_iter().for_each(|task| self.perform(task));
    }

    /// Executes tasks that send nothing.
    fn perform(&mut self, task: Task) {
        match task {
            Task::Explain { ask, subject } => {
                let domain = self.live.domains().iter().find(|domain| domain.name() == subject.domain);
                let detail = domain.and_then(|domain| {
                    let (explanation, panels) = domain.detail(&subject, self.live.view())?;
                    Some(Box::new(SubjectDetail { subject, explanation, panels }))
                });
                self.reply(TaskReply::Explained { ask, detail });
            }
            Task::Plan { ask, wanted } => {
                let created = BTreeMap::new();
                let plan = Box::new(Planned { plan: self.plan(wanted), left_out: Vec::new(), created });
                self.reply(TaskReply::Planned { ask, plan: Ok(plan) });
            }
            Task::Apply(approval) => {
                let actions: Vec<String> = approval.plan.actions.iter().map(|action| action.id.clone()).collect();
                self.progress(&actions[0], &[Stage::Intended, Stage::Sent, Stage::Answered]);
                self.progress(&actions[0], &[Stage::Ended(ActionResult::Done(VerifiedState::Gone))]);
                self.progress(&actions[1], &[Stage::Intended, Stage::Sent]);
            }
            Task::ReadHistory { asked } => self.reply(TaskReply::History { asked, entries: Ok(Vec::new()) }),
            Task::Undo { .. }
            | Task::DryRun { .. }
            | Task::Stop
            | Task::ReadObject { .. }
            | Task::ReadReferences { .. }
            | Task::ReadOperatorLog { .. }
            | Task::WriteBundle(_)
            | Task::Answer { .. }
            | Task::FleetTable { .. }
            | Task::AskPlugin(_)
            | Task::Need(_)
            | Task::Reconnect(_)
            | Task::Probe(_)
            | Task::Resync
            | Task::Save { .. }
            | Task::Accept { .. }
            | Task::ReadLog
            | Task::Remember(_) => {}
        }
    }

    fn progress(&mut self, action: &str, stages: &[Stage]) {
        for stage in stages {
            self.now += SignedDuration::from_millis(140);
            let (action, at, stage) = (action.to_owned(), self.now, stage.clone());
            self.reply(TaskReply::Progress { action, at, stage });
        }
    }

    fn plan(&self, wanted: PlanTarget) -> Plan {
        let view = self.live.view();
        let judged = explained(self.live.judgements(), self.live.domains(), view);
        let mut conditions = Conditions::at(self.now);
        conditions.held = self.live.judgements().held_for(view);
        conditions.backup = BackupCheck::Possible;
        let drafts = judged.iter().flat_map(|one| &one.explanation.remedy);
        conditions.access = drafts.flat_map(access_questions).map(|asked| (asked, AccessAnswer::Allowed)).collect();
        let subjects = match wanted {
            PlanTarget::Subjects(subjects) => Some(subjects),
            PlanTarget::Everything | PlanTarget::Check(_) => None,
        };
        let scope = PlanScope { changes_only: true, subjects, ..PlanScope::default() };
        let input = PlanInput {
            judged: &judged,
            unexplained: trueup_core::engine::Unexplained::NONE,
            clusters: view.clusters().collect(),
            observed: Observed::all(view),
            accepted: &[],
            scope: &scope,
            conditions: &conditions,
        };
        build(&input).expect("the scenario holds no number without a single spelling")
    }

    fn record(&mut self, name: &str) -> std::io::Result<()> {
        // A detail is requested when the cursor rests.
        self.passes(1);
        let buffer = self.screen();
        let file = |end: &str| Path::new(FOLDER).join(format!("{name}.{end}"));
        std::fs::write(file("txt"), &*capture::text(&buffer))?;
        std::fs::write(file("svg"), &*capture::svg(&buffer, &capture::Palette::DARK))?;
        self.session.show(buffer, STILL);
        Ok(())
    }

    /// Writes the session.
    fn end(&self) -> std::io::Result<()> {
        std::fs::write(Path::new(FOLDER).join("session.cast"), self.session.cast())?;
        std::fs::write(Path::new(FOLDER).join("session.svg"), self.session.svg())
    }
}

/// The scenario's management clusters, and connections to their guests.
fn fleet() -> Live {
    let start = START.parse().expect("it is a moment");
    let scenario = Scenario::new(&ScenarioOptions { seed: SEED, guests_more: 0, objects_more: 0, start });
    let managers = scenario.clusters.iter().filter_map(|cluster| match &cluster.role {
        DemoRole::Management { context } => Some(Member {
            source: ClusterSource::Kubeconfig { context: context.clone() },
            ..member(cluster, ClusterName::new(cluster.name.as_str()))
        }),
        DemoRole::Guest { .. } => None,
    });
    let members = managers.collect();
    let config = parse_config("", Path::new("."), registry::entries()).expect("an empty config is one");
    let clock = Arc::new(Moving { start, begun: Instant::now() });
    let ports = Ports::new(clock, Arc::new(Even), Digester::new(&[0; 32]));
    Live::new(LiveSetup {
        domains: config.domains.0,
        members,
        resolver: Box::new(Guests(scenario)),
        ports,
        live_max: 64,
    })
}

fn member(cluster: &DemoCluster, name: ClusterName) -> Member {
    Member {
        name,
        class: match cluster.class {
            DemoClass::Dev => RiskClass::Dev,
            DemoClass::Stage => RiskClass::Stage,
            DemoClass::Prod => RiskClass::Prod,
        },
        source: ClusterSource::Snapshot,
        hosted_by: None,
        connector: Arc::new(FixedConnector(cluster.client())),
        namespaces: Vec::new(),
    }
}

struct Guests(Scenario);

impl GuestResolver for Guests {
    fn member(&self, guest: &Guest, _: &trueup_fleet::connect::Connection) -> Member {
        let by = &guest.hosted_by;
        let (source, hosted_by) = (ClusterSource::Hosted { by: by.cluster.clone() }, Some(by.clone()));
        match self.0.guest(by.cluster.as_str(), by.namespace.as_str(), by.name.as_str()) {
            Some(cluster) => Member { source, hosted_by, ..member(cluster, guest.name.clone()) },
            None => Member {
                name: guest.name.clone(),
                class: RiskClass::default(),
                source,
                hosted_by,
                connector: Arc::new(FixedConnector(DemoService::unreachable().client())),
                namespaces: Vec::new(),
            },
        }
    }
}

/// A clock that follows tokio's, which advances only during waits.
struct Moving {
    start: Timestamp,
    begun: Instant,
}

impl Clock for Moving {
    fn now(&self) -> Timestamp {
        self.start + SignedDuration::try_from(self.begun.elapsed()).expect("a recording takes less than centuries")
    }
}

struct Even;

impl Jitter for Even {
    fn fraction(&self) -> f64 {
        0.5
    }
}
