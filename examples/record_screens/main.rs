//! Records the screens of the docs: the demo after its first minute as the console draws it, at fixed times.
//!
//! `cargo run --example record_screens` writes `docs/screens`: every screen at three sizes in three themes, a page that
//! lists them, and the way from the fleet to an apply as `session.cast` (asciinema) and `session.svg` (animated). Keys are
//! pressed as by a user; tasks are executed here by the same functions, and nothing is sent.

mod session;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::{SignedDuration, Timestamp};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use session::{STILL, Session, TYPED};
use tokio::time::{Instant, timeout};
use trueup::cli::demo_fleet::{CONFIG, DemoGuests, members};
use trueup::config::parse_config;
use trueup::console::capture;
use trueup::console::event::{Event, What};
use trueup::console::hits::HitMap;
use trueup::console::model::{Model, Zone};
use trueup::console::settings::ModelSettings;
use trueup::console::task::{
    PlanTarget, Planned, PlannedObject, ReferenceSheet, Stage, Start, SubjectDetail, Task, TaskReply,
};
use trueup::console::theme::{GlyphSet, Themes};
use trueup::console::update::update;
use trueup::console::view::{Appearance, view};
use trueup_checks::judgements::explained;
use trueup_checks::{Check, registry};
use trueup_core::decode::Digester;
use trueup_core::engine::executor::ActionResult;
use trueup_core::engine::journal::VerifiedState;
use trueup_core::engine::{
    AccessAnswer, BackupCheck, Conditions, Observed, Plan, PlanInput, PlanScope, access_questions, build,
};
use trueup_fleet::live::{Live, LiveSetup, Update};
use trueup_fleet::observe::{Clock, Jitter, Ports};
use trueup_sim::demo::{Scenario, ScenarioOptions, ScenarioRunner, TICK};

/// The smallest usual terminal, a page, and one with the detail beside the list.
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (160, 45)];
/// The default, one on paper, and one without colours.
const THEMES: [&str; 3] = ["terminal", "paper", "mono"];
/// The size and theme of the session.
const FILM: ((u16, u16), &str) = ((120, 40), "night");
/// The last screen of the session.
const FILM_END: &str = "activity";
const SEED: u64 = 1;
const START: &str = "2026-11-16T14:02:00Z";
const FOLDER: &str = "docs/screens";
/// Enough for every cluster of the scenario, whose clock is not the wall clock.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long the scenario runs before the screens are recorded.
const TICKS: usize = 45;
/// The cluster with the orphans shown.
const CLUSTER: &str = "guest-payments";

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> std::io::Result<()> {
    std::fs::create_dir_all(FOLDER)?;
    let mut recorded = Vec::new();
    for (width, height) in SIZES {
        let mut recorder = Recorder::open(Rect { x: 0, y: 0, width, height }).await;
        recorder.screens().await?;
        recorded = recorder.recorded;
    }
    std::fs::write(Path::new(FOLDER).join("README.md"), gallery(&recorded))
}

/// A page with every screen, and links to its other sizes and themes.
fn gallery(screens: &[(String, String)]) -> String {
    let mut page = "# Screens\n\nThe demo after its first minute, recorded by `cargo run --example record_screens`: every screen \
                    at 80x24, 120x40 and\n160x45, in the themes `terminal` (the default, on a dark terminal), `paper` and `mono`.\n"
        .to_owned();
    for (name, title) in screens {
        write!(page, "\n## {title}\n\n![{title}]({name}-120x40-terminal.svg)\n\n").expect("a string takes all");
        for (width, height) in SIZES {
            let size = format!("{width}x{height}");
            let themes = THEMES.map(|theme| format!("[{theme}]({name}-{size}-{theme}.svg)"));
            writeln!(page, "- {size}: {}, [text]({name}-{size}.txt)", themes.join(", ")).expect("a string takes all");
        }
    }
    page
}

/// The console without a terminal, and its services.
struct Recorder {
    area: Rect,
    model: Model,
    hits: HitMap,
    themes: Themes,
    live: Live,
    runner: ScenarioRunner,
    now: Timestamp,
    /// Names and titles of the recorded screens.
    recorded: Vec<(String, String)>,
    /// The session so far, while it is recorded.
    session: Option<Session>,
}

impl Recorder {
    async fn open(area: Rect) -> Self {
        let (mut live, runner) = fleet();
        live.wait_settled(PATIENCE).await;
        // Verdicts must hold over two lists before a delete is planned.
        let until = Instant::now() + Duration::from_secs(10);
        while timeout(until - Instant::now(), live.step()).await.is_ok() {}
        live.resync();
        live.wait_settled(PATIENCE).await;
        let now = live.view().now.round(jiff::Unit::Second).expect("a second is a unit");
        let (model, hits, themes) = (Model::new(now, area, Zone::Utc), HitMap::default(), Themes::built_in());
        let (recorded, session) = (Vec::new(), None);
        let mut recorder = Self { area, model, hits, themes, live, runner, now, recorded, session };
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
        for _ in 0..TICKS {
            recorder.tick().await;
        }
        recorder
    }

    /// One tick of the scenario, and what the fleet sees of it.
    async fn tick(&mut self) {
        self.runner.tick();
        let until = Instant::now() + TICK;
        while let Ok(update) = timeout(until - Instant::now(), self.live.step()).await {
            self.now = self.now.max(self.live.view().now);
            self.happens(What::Data(Box::new(update)));
        }
        self.now = self.now.max(self.live.view().now);
    }

    async fn screens(&mut self) -> std::io::Result<()> {
        self.session = ((self.area.width, self.area.height) == FILM.0).then(Session::default);
        self.press("jjj");
        self.record("fleet", "Fleet")?;
        for place in 1..=self.model.checks.len() {
            let check = &self.model.checks[place - 1];
            let (name, title) = (format!("check-{}", check.name.0), format!("Check: {}", check.description.title));
            self.press(&place.to_string());
            if place == 1 {
                self.seek("ext-auth-console");
            } else {
                self.press("ggj");
            }
            self.record(&name, &title)?;
            if place == 1 {
                self.press("o");
                self.record("references", "References of an object")?;
                self.key(KeyCode::Esc);
                self.press("/");
                self.press("cluster:guest-payments verdict:orphan-certain");
                self.record("filter", "Filter")?;
                self.key(KeyCode::Enter);
                self.press("ggj  r");
                self.record("plan", "Plan")?;
                self.press("a");
                self.passes(1);
                self.press(&CLUSTER[..9]);
                self.record("approval", "Approval")?;
                self.press(&CLUSTER[9..]);
                self.key(KeyCode::Enter);
                self.record("activity", "Activity")?;
            }
            if place == 2 {
                self.press("M");
                self.record("matrix", "Identity matrix")?;
                self.key(KeyCode::Esc);
            }
        }
        self.press("0W");
        self.record("wall", "Wall")?;
        self.press("Wgx");
        self.record("expiry", "Expiry")?;
        self.press("gt[[");
        self.record("timeline", "Timeline")?;
        self.key(KeyCode::Esc);
        self.press("0?");
        self.record("help", "Help")
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
        self.film(TYPED);
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
                let plan = self.plan(wanted);
                let objects = self.objects(&plan);
                let plan = Box::new(Planned { plan, left_out: Vec::new(), objects });
                self.reply(TaskReply::Planned { ask, plan: Ok(plan) });
            }
            Task::ReadReferences { ask, subject } => {
                let check = self.check(subject.domain.0);
                let relations = check.map(|check| check.relations(&subject, self.live.view())).unwrap_or_default();
                let sheet = Ok(Box::new(ReferenceSheet { relations, metadata: None }));
                self.reply(TaskReply::References { ask, sheet });
            }
            Task::FleetTable { ask, check, typed } => {
                let table = self.check(check.0).and_then(|check| check.fleet_table(self.live.view(), typed.as_deref()));
                self.reply(TaskReply::FleetTable { ask, table });
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
            | Task::ReadOperatorLog { .. }
            | Task::WriteBundle(_)
            | Task::Answer { .. }
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

    fn check(&self, name: &str) -> Option<&dyn Check> {
        self.live.domains().iter().find(|check| check.name().0 == name).map(|check| &**check)
    }

    /// What the checks know of the objects of a plan, by action.
    fn objects(&self, plan: &Plan) -> BTreeMap<String, PlannedObject> {
        let mut objects = BTreeMap::new();
        for (id, _) in self.model.findings.iter() {
            let text = id.to_string();
            let Some(finding) = plan.findings.iter().find(|finding| finding.id == text) else { continue };
            let Some(check) = self.check(id.domain.0) else { continue };
            let created = check.explain(id, self.live.view()).and_then(|explanation| explanation.created);
            let relations = check.relations(id, self.live.view());
            let object = PlannedObject { created, relations };
            objects.extend(finding.actions.iter().map(|action| (action.clone(), object.clone())));
        }
        objects
    }

    fn record(&mut self, name: &str, title: &str) -> std::io::Result<()> {
        // A detail is requested when the cursor rests.
        self.passes(1);
        self.model.now = self.now;
        let stem = format!("{name}-{}x{}", self.area.width, self.area.height);
        let file = |end: String| Path::new(FOLDER).join(format!("{stem}{end}"));
        for (place, theme) in THEMES.iter().enumerate() {
            let (buffer, palette) = self.screen(theme);
            if place == 0 {
                std::fs::write(file(".txt".to_owned()), &*capture::text(&buffer))?;
            }
            std::fs::write(file(format!("-{theme}.svg")), &*capture::svg(&buffer, &palette))?;
        }
        self.recorded.push((name.to_owned(), title.to_owned()));
        self.film(STILL);
        match self.session.take_if(|_| name == FILM_END) {
            Some(session) => {
                let palette = self.screen(FILM.1).1;
                std::fs::write(Path::new(FOLDER).join("session.cast"), session.cast())?;
                std::fs::write(Path::new(FOLDER).join("session.svg"), session.svg(&palette))
            }
            None => Ok(()),
        }
    }

    /// Adds the screen to the session.
    fn film(&mut self, shown_for: Duration) {
        if self.session.is_none() {
            return;
        }
        self.model.now = self.now;
        let (screen, _) = self.screen(FILM.1);
        self.session.iter_mut().for_each(|session| session.show(screen.clone(), shown_for));
    }

    /// The screen in a theme, and the colours of that theme.
    fn screen(&mut self, theme: &str) -> (Buffer, capture::Palette) {
        let theme = self.themes.resolve(theme).expect("it is built in");
        let palette = capture::Palette::of(&theme);
        let appearance = Appearance { theme, signs: GlyphSet::Unicode };
        let mut buffer = Buffer::empty(self.area);
        self.hits = view(&self.model, &appearance, self.area, &mut buffer).hits;
        (buffer, palette)
    }
}

/// The scenario's clusters and accounts, and what happens to them.
fn fleet() -> (Live, ScenarioRunner) {
    let start = START.parse().expect("it is a moment");
    let scenario = Scenario::new(&ScenarioOptions { seed: SEED, guests_more: 0, objects_more: 0, start });
    let (members, runner) = (members(&scenario), scenario.runner());
    let config = parse_config(CONFIG, Path::new("."), registry::entries()).expect("the demo's config is valid");
    let clock = Arc::new(Moving { start, begun: Instant::now() });
    let ports = Ports::new(clock, Arc::new(Even), Digester::new(&[0; 32]));
    let resolver = Box::new(DemoGuests::new(scenario));
    (Live::new(LiveSetup { domains: config.domains.0, members, resolver, ports, live_max: 64 }), runner)
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
