//! Cost of the whole console: keys, filters, changes and frames, from event to bytes.
//!
//! `cargo bench --bench screen [-- ROWS]`: 10,000 rows and 100,000, on a screen of 200×50. Medians and the 99th
//! percentile of many runs on one thread; nothing waits for a terminal.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark measures with the real clock and prints"
)]

#[path = "support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use support::now;
use trueup::console::event::{Event, What};
use trueup::console::hits::HitMap;
use trueup::console::model::{Model, Zone};
use trueup::console::task::{RequestId, Start, SubjectDetail, Task, TaskReply};
use trueup::console::terminal::{ColorDepth, Dialect, Writer};
use trueup::console::theme::{DEFAULT, GlyphSet, Themes};
use trueup::console::update::update;
use trueup::console::view::{Appearance, view};
use trueup_checks::Check as _;
use trueup_checks::hosted_oidc::{self, HostedOidc};
use trueup_checks::judgements::CurrentJudgement;
use trueup_core::engine::{Evidence, Explanation, Judgement, State, SubjectId};
use trueup_core::world::{Cluster, ClusterIdentity, ClusterName, ClusterSource, Link, RiskClass, Served};
use trueup_fleet::live::Update;

const SCREEN: Rect = Rect { x: 0, y: 0, width: 200, height: 50 };
/// Filters, typed letter by letter and deleted again.
const FILTERS: [&str; 3] = ["client", "verdict:orphan", "name~77"];

/// A console without a terminal.
struct Bench {
    model: Model,
    appearance: Appearance,
    hits: HitMap,
    writer: Writer,
    shown: Buffer,
    next: Buffer,
    bytes: usize,
}

fn main() {
    for count in support::argument().map_or_else(|| vec![10_000, 100_000], |count| vec![count]) {
        println!("{count} rows:");
        let mut bench = Bench::new();
        let rows = findings(count);
        let before = support::resident_bytes();
        let start = Instant::now();
        let update =
            Update { findings: rows.clone(), clusters: [(guest(), Some(cluster()))].into(), ..Update::default() };
        let made = start.elapsed();
        bench.take(What::Data(Box::new(update)));
        println!(
            "  all rows taken in: {} (copying them for this took {})",
            millis(start.elapsed() - made),
            millis(made)
        );
        println!("  memory they hold: {} bytes a row", support::resident_bytes().saturating_sub(before) / count);
        bench.press('1');
        bench.frame();
        measure(&mut bench, &rows);
    }
}

fn measure(bench: &mut Bench, rows: &BTreeMap<Arc<SubjectId>, Option<Arc<CurrentJudgement>>>) {
    let down = many(|| {
        bench.press('j');
        bench.frame();
    });
    println!("  a key that moves the cursor, to bytes: {down}");
    let still = many(|| {
        bench.frame();
    });
    println!("  a frame in which nothing changed: {still}");
    for text in FILTERS {
        bench.press('/');
        let mut spent = Vec::new();
        for _ in 0..10 {
            for letter in text.chars() {
                spent.push(timed(|| bench.press(letter)));
            }
            for _ in text.chars() {
                spent.push(timed(|| bench.key(KeyCode::Backspace)));
            }
        }
        println!("  a keystroke of `{text}` in the filter: {}", said(spent));
        bench.key(KeyCode::Esc);
    }
    let ids: Vec<&Arc<SubjectId>> = rows.keys().collect();
    let mut turn = 0;
    let changes = many(|| {
        turn += 7919;
        let states = [State::Extra, State::Match];
        let subject = ids[turn % ids.len()].clone();
        let held = held(states[turn / 7919 / 50 % 2]);
        bench.take(What::Data(Box::new(Update {
            findings: [(subject, Some(Arc::new(held)))].into(),
            clusters: BTreeMap::new(),
            ..Update::default()
        })));
    });
    println!("  a row that changes: {changes}");
}

impl Bench {
    fn new() -> Self {
        let themes = Themes::built_in();
        let theme = themes.resolve(DEFAULT).expect("the default theme is whole");
        let mut bench = Self {
            model: Model::new(now(), SCREEN, Zone::Utc),
            appearance: Appearance { theme, signs: GlyphSet::Unicode },
            hits: HitMap::default(),
            writer: Writer::new(ColorDepth::True, Dialect::Xterm),
            shown: Buffer::empty(SCREEN),
            next: Buffer::empty(SCREEN),
            bytes: 0,
        };
        let check = HostedOidc::default();
        let checks = vec![(check.name(), check.description())];
        let start =
            Start { checks, offers_tour: false, read_only: None, fleet: "bench".to_owned(), user: "bench".to_owned() };
        bench.take(What::TaskReply(Box::new(TaskReply::Started(Box::new(start)))));
        bench
    }

    fn take(&mut self, what: What) {
        let effects = update(&mut self.model, Event { at: now(), what }, &self.hits);
        for task in effects.tasks {
            if let Task::Explain { ask, subject } = task {
                self.answer(ask, subject);
            }
        }
    }

    /// Replies like the services, without the wait.
    fn answer(&mut self, ask: RequestId, subject: SubjectId) {
        let detail = Some(Box::new(SubjectDetail { explanation: explanation(&subject), subject, panels: Vec::new() }));
        let reply = TaskReply::Explained { ask, detail };
        update(&mut self.model, Event { at: now(), what: What::TaskReply(Box::new(reply)) }, &self.hits);
    }

    fn key(&mut self, code: KeyCode) {
        self.take(What::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    fn press(&mut self, letter: char) {
        self.key(KeyCode::Char(letter));
    }

    fn frame(&mut self) -> usize {
        self.next.reset();
        let drawn = view(&self.model, &self.appearance, SCREEN, &mut self.next);
        self.hits = drawn.hits;
        self.bytes += self.writer.frame(&mut self.shown, &self.next, drawn.cursor).len();
        std::mem::swap(&mut self.shown, &mut self.next);
        self.bytes
    }
}

fn guest() -> ClusterName {
    ClusterName::new("guest-a")
}

fn cluster() -> Cluster {
    Cluster {
        name: guest(),
        class: RiskClass::Prod,
        source: ClusterSource::Kubeconfig { context: "guest-a".to_owned() },
        hosted_by: None,
        link: Link::Live { since: now() },
        identity: ClusterIdentity::default(),
        served: Served::Complete(Default::default()),
    }
}

/// Every row is an orphaned Secret.
fn findings(count: usize) -> BTreeMap<Arc<SubjectId>, Option<Arc<CurrentJudgement>>> {
    let guest = guest();
    let subject = |index: usize| SubjectId {
        domain: hosted_oidc::NAME,
        cluster: guest.clone(),
        api_version: "v1",
        kind: "Secret",
        namespace: Some("openshift-config".to_owned()),
        name: format!("ext-auth-client-{:06}", index * 7919 % 1_000_003),
        cloud: None,
    };
    (0..count).map(|index| (Arc::new(subject(index)), Some(Arc::new(held(State::Extra))))).collect()
}

fn held(state: State) -> CurrentJudgement {
    let verdict = if state == State::Extra { "orphan-certain" } else { "referenced" };
    let judgement = Judgement { state, verdict, codes: Vec::new(), ownership_proofs: 2, until: None };
    CurrentJudgement::new(judgement, now())
}

/// As long as those of the real check.
fn explanation(subject: &SubjectId) -> Explanation {
    let evidence = |message: &str| Evidence {
        message: message.to_owned(),
        object: "mgmt HostedControlPlane clusters-guest-a/guest-a".to_owned(),
        field: "spec.configuration.authentication.oidcProviders".to_owned(),
        resource_version: "123456".to_owned(),
    };
    Explanation {
        uid: None,
        created: Some(now()),
        summary: format!("{} is a copy without references, and HyperShift made it", subject.name),
        expected: serde_json::Value::Null,
        actual: serde_json::json!({"labels": {"hypershift.openshift.io/managed": "true"}, "keys": ["clientSecret"]}),
        evidence: [
            "the control plane names other secrets, and this one is not among them",
            "the guest's Authentication names other secrets, and this one is not among them",
            "no Proxy, Image, APIServer or OAuth of the guest refers to it",
            "it carries the labels that HyperShift puts on its copies",
        ]
        .map(evidence)
        .to_vec(),
        remedy: Vec::new(),
    }
}

/// Runs a closure repeatedly and renders the time of one run.
fn many(mut run: impl FnMut()) -> String {
    const FOR: Duration = Duration::from_millis(700);
    let (begun, mut spent) = (Instant::now(), Vec::new());
    while begun.elapsed() < FOR {
        spent.push(timed(&mut run));
    }
    said(spent)
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn said(mut spent: Vec<Duration>) -> String {
    spent.sort_unstable();
    let (median, late) = (spent[spent.len() / 2], spent[spent.len() * 99 / 100]);
    format!("median {}, p99 {}", millis(median), millis(late))
}

fn millis(span: Duration) -> String {
    format!("{:.4} ms", span.as_secs_f64() * 1000.0)
}
