//! State of the console. Nothing here waits.

mod accepted;
mod activity;
mod approval;
mod check;
mod detail;
mod expiry;
mod feed;
mod finder;
mod findings;
mod fleet;
mod fleet_summary;
mod grouping;
mod groups;
mod journal;
mod layer;
mod links;
mod navigation;
mod plan;
mod plugin;
mod records;
mod remembered;
mod row_shape;
mod run;
mod sorting;
mod timeline;
mod toast;
mod tour;
mod users;
mod what;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ratatui::layout::Rect;

pub use accepted::{ACCEPTED, Accepted};
pub use activity::{Activity, History, Upper};
pub use approval::{Approval, Entered, Fits, GUARD, UserList};
pub use check::{CheckSheet, Matches};
pub use detail::{Detail, DiffMode, Loaded, ObjectTab, ObjectView, REST};
pub use expiry::{ExpiryId, ExpiryPlace, ExpirySheet, Runway};
pub use feed::{FLEET_DRIFT, Feed, FeedLine};
pub use finder::{Finder, FinderPhase, FinderPlace, FoundText};
pub use findings::{Findings, StateCounts, WORST_FIRST, listed_name, listed_namespace, shown_name};
pub use fleet::{FleetFacts, FleetSheet};
pub use fleet_summary::{FleetColumn, FleetGroup, FleetKey, FleetSummary};
pub use grouping::{Fold, Grouped, Grouping};
pub use groups::CauseGroups;
pub use journal::{JournalRow, UndoOffer, outcome_word, verb_of};
pub use layer::{Choice, Confirm, ExportForm, Layer, Picker, PickerItem, PickerWhat, Prompt, PromptWhat};
pub use links::Links;
pub use navigation::{NavigationHistory, Pane, ScreenId};
pub use plan::{ChangedFinding, PlanSheet, PlannedChange, Show, Skipped, Totals, is_teardown};
pub use plugin::PluginDialog;
pub use records::{Arrival, Records};
pub use remembered::{Remembered, RememberedCheck, SavedView};
pub use row_shape::{RowShape, Widths};
pub use run::{RowState, Run, RunRow, RunState, Tally, past};
pub use sorting::{CheckColumn, SortKey, SortValue, rank};
pub use timeline::{
    ChangedThing, Compared, ComparedRow, Comparison, Held, Past, SPARKS, TimedChange, Timeline, link_word,
};
pub use toast::{Toast, ToastKind, Toasts};
pub use tour::{Tour, TourStep};
pub use users::Users;
pub use what::{CauseOrFinding, LargestCause, LargestCauses};

use super::effect::{Alert, MouseHold};
use super::event::Focus;
use super::keymap::{Action, Keymap, Scope, Stroke};
use super::layout::{Body, Layout, SPLIT};
pub use super::task::ReadOnly;
use super::task::{RequestId, Start};
use super::theme::{GlyphSet, Glyphs};
use trueup_checks::causes::GroupWords;
use trueup_core::engine::SubjectId;
use trueup_core::world::ClusterName;
use trueup_fleet::connect::PluginQuestion;
use trueup_fleet::live::Update;

/// State of the whole console.
pub struct Model {
    pub now: Timestamp,
    pub area: Rect,
    pub zone: Zone,
    /// The machine's time zone, once known.
    pub local: TimeZone,
    pub standing: Standing,
    pub findings: Findings,
    pub fleet: FleetSheet,
    pub checks: Vec<CheckSheet>,
    pub navigation: NavigationHistory,
    pub pane: Pane,
    /// Share of the list in the body, in percent.
    pub split: u16,
    pub detail: Detail,
    pub object: Option<ObjectView>,
    pub plan: Option<PlanSheet>,
    /// The pending plan request.
    pub planning: Option<RequestId>,
    pub activity: Activity,
    pub feed: Feed,
    pub timeline: Timeline,
    /// The tour, while it is taken.
    pub tour: Option<Tour>,
    pub records: Records,
    pub causes: LargestCauses,
    pub groups: CauseGroups,
    pub expiry: ExpirySheet,
    pub log: Vec<String>,
    /// Scroll position of a text screen.
    pub scroll: usize,
    /// The search in a text.
    pub finder: Option<Finder>,
    pub toasts: Toasts,
    pub layer: Option<Layer>,
    /// Credential plugins that were asked about.
    pub asked_plugins: BTreeSet<PluginQuestion>,
    /// Pressed keys of an unfinished sequence.
    pub pressed: Vec<Stroke>,
    /// Possible next keys.
    pub follow: Vec<(String, &'static str)>,
    pub paused: Option<Paused>,
    pub writes: Writes,
    pub focus: Focus,
    /// Whether the divider is being dragged.
    pub dragging: bool,
    /// Whether the console ends once the apply has finished.
    pub leaving: bool,
    pub keys: Keymap,
    pub mouse: MouseHold,
    pub alert: Alert,
    /// Time of the last alert.
    pub alerted: Option<Timestamp>,
    /// Glyph set, on the screen and in exports.
    pub signs: GlyphSet,
    pub themes: Vec<String>,
    pub theme: String,
    /// The theme at start.
    pub theme_set: String,
    /// Views of the config.
    pub views: Vec<SavedView>,
    /// Views saved from the console.
    pub saved_views: Vec<SavedView>,
    /// Marks of the last plan that the filter hid.
    pub left_out: Option<LeftOut>,
    /// Until when letters are ignored, because they are typed into a prompt that did not open.
    pub refused_until: Option<Timestamp>,
    pub accepted: Accepted,
    /// Alternatives shown when there is nothing to show, one per line.
    pub instead: &'static [&'static str],
    asked: u64,
}

/// Phase of the console.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    /// The first frame: nothing has been read.
    Starting,
    Running(Start),
    /// There is nothing to show.
    Failed(String),
}

/// Marked rows that a plan does not include because the filter hid them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub hidden: usize,
    /// Every marked row, shown or hidden.
    pub all: BTreeSet<SubjectId>,
}

/// Time zone of shown times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Zone {
    Local,
    Utc,
}

/// Whether the user switched writes off in this console.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    On,
    SwitchedOff,
}

/// Updates are paused; changes since then are kept here.
#[derive(Debug, Default)]
pub struct Paused {
    pub since: Timestamp,
    pub waiting: Update,
}

impl Model {
    pub fn new(now: Timestamp, area: Rect, zone: Zone) -> Self {
        Self {
            now,
            area,
            zone,
            local: TimeZone::UTC,
            standing: Standing::Starting,
            findings: Findings::default(),
            fleet: FleetSheet::default(),
            checks: Vec::new(),
            navigation: NavigationHistory::default(),
            pane: Pane::List,
            split: SPLIT,
            detail: Detail::default(),
            object: None,
            plan: None,
            planning: None,
            activity: Activity::default(),
            feed: Feed::default(),
            timeline: Timeline::new(now),
            tour: None,
            records: Records::default(),
            causes: LargestCauses::default(),
            groups: CauseGroups::default(),
            expiry: ExpirySheet::default(),
            log: Vec::new(),
            scroll: 0,
            finder: None,
            toasts: Toasts::default(),
            layer: None,
            asked_plugins: BTreeSet::new(),
            pressed: Vec::new(),
            follow: Vec::new(),
            paused: None,
            writes: Writes::On,
            focus: Focus::Here,
            dragging: false,
            leaving: false,
            keys: Keymap::default(),
            mouse: MouseHold::Taken,
            alert: Alert::Off,
            alerted: None,
            signs: GlyphSet::Unicode,
            themes: Vec::new(),
            theme: String::new(),
            theme_set: String::new(),
            views: Vec::new(),
            saved_views: Vec::new(),
            left_out: None,
            refused_until: None,
            accepted: Accepted::default(),
            instead: &[],
            asked: 0,
        }
    }

    pub fn screen(&self) -> ScreenId {
        self.navigation.here()
    }

    /// Returns the id of the next request.
    pub fn next_request(&mut self) -> RequestId {
        self.asked += 1;
        RequestId(self.asked)
    }

    /// The check on the screen.
    pub fn check(&self) -> Option<&CheckSheet> {
        self.checks.get(self.screen().check()?)
    }

    pub fn check_mut(&mut self) -> Option<&mut CheckSheet> {
        let place = self.screen().check()?;
        self.checks.get_mut(place)
    }

    /// The selected subject.
    pub fn subject(&self) -> Option<Arc<SubjectId>> {
        let check = self.check()?;
        check.list.cursor().filter(|id| !check.grouped().is_head(id)).cloned()
    }

    /// When the loop must send [`What::Time`](super::event::What::Time), besides for labels.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.check().and_then(|_| self.detail.due_at())
    }

    pub fn layout(&self) -> Option<Layout> {
        let body = match self.screen() {
            ScreenId::Fleet => Body::Fleet,
            ScreenId::Check(_) => Body::ListAndDetail,
            ScreenId::Plan => Body::Stacked(45),
            ScreenId::Activity => Body::Stacked(40),
            ScreenId::Timeline if self.timeline.comparison.is_some() => Body::Stacked(40),
            ScreenId::Object | ScreenId::Logs | ScreenId::Expiry | ScreenId::Timeline => Body::Whole,
        };
        Layout::of(self.area, body, self.split)
    }

    /// The scope of keys, with the open layer.
    pub fn scope(&self) -> Scope {
        if self.is_searching() {
            return Scope::Filter;
        }
        match &self.layer {
            Some(Layer::Approval(_)) => Scope::Approval,
            Some(Layer::Help { .. }) => Scope::Help,
            Some(Layer::Table { .. }) => Scope::Table,
            Some(Layer::Palette(_)) => Scope::Palette,
            Some(Layer::Picker(_)) => Scope::Picker,
            Some(Layer::Prompt(_)) => Scope::Filter,
            Some(Layer::Plugin(_)) => Scope::Plugin,
            Some(Layer::Wall) => Scope::Wall,
            Some(Layer::Confirm(_)) => Scope::Confirm,
            None => self.screen_scope(),
        }
    }

    /// Whether keys are typed into the search. A dialog above the screen gets them instead.
    pub fn is_searching(&self) -> bool {
        let Some(finder) = &self.finder else { return false };
        let is_on_top = match finder.place {
            FinderPlace::Screen => self.layer.is_none(),
            FinderPlace::Help => matches!(self.layer, Some(Layer::Help { .. })),
        };
        is_on_top && finder.phase == FinderPhase::Typing
    }

    /// The scope of keys of the screen, ignoring layers.
    pub fn screen_scope(&self) -> Scope {
        match (self.screen(), self.pane) {
            (ScreenId::Check(_), Pane::Detail) => Scope::Detail,
            (screen, Pane::List | Pane::Detail) => screen.scope(),
        }
    }

    /// The name of an action's key in the open layer or screen, for sentences.
    pub fn key(&self, action: Action) -> String {
        self.keys.key_name(self.scope(), action)
    }

    /// The name of an action's key on the screen, ignoring layers, for sentences.
    pub fn screen_key(&self, action: Action) -> String {
        self.keys.key_name(self.screen_scope(), action)
    }

    /// What is worst in a cluster, in one sentence, and since when; nothing where all is as expected.
    pub fn largest_cause(&self, cluster: &ClusterName) -> Option<(String, Option<Timestamp>)> {
        let largest = self.causes.get(cluster)?;
        Some((largest.sentence(&self.group_words()), largest.since))
    }

    /// How groups of findings are worded on this screen.
    pub fn group_words(&self) -> GroupWords<'static> {
        GroupWords { arrow: Glyphs::of(self.signs).arrow, zone: self.time_zone(), now: self.now }
    }

    /// The zone of shown times.
    pub fn time_zone(&self) -> TimeZone {
        match self.zone {
            Zone::Local => self.local.clone(),
            Zone::Utc => TimeZone::UTC,
        }
    }

    /// Why writes are not allowed, if so.
    pub fn read_only(&self) -> Option<ReadOnly> {
        let fixed = match &self.standing {
            Standing::Running(start) => start.read_only,
            Standing::Starting | Standing::Failed(_) => None,
        };
        let switched_off = (self.writes == Writes::SwitchedOff).then_some(ReadOnly::SwitchedOff);
        fixed.or(switched_off)
    }

    /// Applies new rows and the screen size: every list updates its cursor.
    pub fn settle(&mut self) {
        let Some(layout) = self.layout() else { return };
        let rows = layout.rows();
        if let Some(check) = self.check().map(|check| check.name) {
            self.groups.renew(check, &self.findings, &self.records.edits);
            let Self { checks, groups, findings, fleet, now, .. } = self;
            let sheet = checks.iter_mut().find(|sheet| sheet.name == check);
            if let Some(sheet) = sheet {
                sheet.set_groups(groups.of(check), findings, fleet, *now);
            }
        }
        for check in &mut self.checks {
            check.list.apply(&check.order, rows);
        }
        self.fleet.settle(rows);
        self.expiry.list.apply(&self.expiry.order, rows);
        if let Some(plan) = &mut self.plan {
            plan.settle(rows);
        }
        self.activity.settle(layout.detail_lines());
    }
}
