//! The fleet: its clusters and accounts, and the list of them, the worst first.
//!
//! Invariants: a change moves the row of its cluster and visits no other. What is as expected is hidden, unless the user
//! asks for it or filters.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::findings::StateCounts;
use super::fleet_summary::{FleetColumn, FleetGroup, FleetKey, FleetSummary};
use super::links::Links;
use crate::console::filter::{Fields, Filter, FilterProblem, Scratch};
use crate::console::table::{Direction, ListState, Membership, Order};
use trueup_core::engine::{LinkState, ListsRead, State};
use trueup_core::world::{ClockSkew, Cluster, ClusterName, ClusterSource, Link, RiskClass};
use trueup_fleet::live::UnreadLists;

#[derive(Default)]
pub struct FleetSheet {
    clusters: BTreeMap<ClusterName, Cluster>,
    /// Clocks that differ too much from the local one.
    clocks: BTreeMap<ClusterName, ClockSkew>,
    /// Lists of live clusters that could not be read.
    unread: BTreeMap<ClusterName, UnreadLists>,
    links: Links,
    pub order: Order<FleetKey, ClusterName, FleetSummary>,
    summaries: BTreeMap<ClusterName, FleetSummary>,
    /// The clusters that are not as expected, the worst first, however the list is sorted.
    worst: BTreeSet<(FleetKey, ClusterName)>,
    /// Number of clusters that are as expected.
    expected: usize,
    pub list: ListState<ClusterName, FleetKey>,
    sort: FleetColumn,
    shows_expected: bool,
    pub filter_text: String,
    filter: Filter,
    pub filter_problem: Option<FilterProblem>,
    scratch: Scratch,
}

/// What is known of a cluster besides its link.
pub struct FleetFacts {
    pub counts: StateCounts,
    pub since: Option<Timestamp>,
    pub what: Box<str>,
}

impl FleetSheet {
    pub fn get(&self, name: &ClusterName) -> Option<&Cluster> {
        self.clusters.get(name)
    }

    pub fn clusters(&self) -> impl Iterator<Item = &Cluster> {
        self.clusters.values()
    }

    pub fn total(&self) -> usize {
        self.clusters.len()
    }

    /// What is wrong in a cluster.
    pub fn summary(&self, name: &ClusterName) -> Option<&FleetSummary> {
        self.summaries.get(name)
    }

    /// The clusters that are not as expected, the worst first.
    pub fn worst(&self) -> impl Iterator<Item = &ClusterName> {
        self.worst.iter().map(|(_, name)| name)
    }

    /// Number of clusters that are as expected.
    pub fn expected(&self) -> usize {
        self.expected
    }

    /// Whether clusters that are as expected are hidden now.
    pub fn hides_expected(&self) -> bool {
        !self.shows_expected && self.filter_text.is_empty()
    }

    /// The sorted column.
    pub fn sort(&self) -> FleetColumn {
        self.sort
    }

    /// The class of a cluster; an unknown cluster is prod.
    pub fn class_of(&self, name: &ClusterName) -> RiskClass {
        self.clusters.get(name).map_or_else(RiskClass::default, |cluster| cluster.class)
    }

    /// The guests of a cluster.
    pub fn guests_of<'s>(&'s self, host: &'s ClusterName) -> impl Iterator<Item = &'s ClusterName> {
        let hosted = self.summaries.iter().filter(move |(_, summary)| summary.host.as_ref() == Some(host));
        hosted.map(|(name, _)| name)
    }

    pub fn put(&mut self, name: ClusterName, cluster: Option<Cluster>, now: Timestamp) {
        self.links.put(&name, cluster.as_ref(), self.lists_read(&name), now);
        match cluster {
            Some(cluster) => self.clusters.insert(name, cluster),
            None => self.clusters.remove(&name),
        };
    }

    /// The connections of all clusters, counted.
    pub fn links(&self) -> &Links {
        &self.links
    }

    /// Takes in a clock that differs too much from the local one, or that it no longer does.
    pub fn put_clock(&mut self, name: ClusterName, clock: Option<ClockSkew>) {
        match clock {
            Some(clock) => self.clocks.insert(name, clock),
            None => self.clocks.remove(&name),
        };
    }

    /// Takes in the lists of a live cluster that could not be read, or that all were.
    pub fn put_lists(&mut self, name: ClusterName, lists: Option<UnreadLists>, now: Timestamp) {
        match lists {
            Some(lists) => self.unread.insert(name.clone(), lists),
            None => self.unread.remove(&name),
        };
        self.links.put(&name, self.clusters.get(&name), self.lists_read(&name), now);
    }

    /// Whether every list of a cluster was read, as far as it is live.
    pub fn lists_read(&self, name: &ClusterName) -> ListsRead {
        if self.unread.contains_key(name) { ListsRead::Some } else { ListsRead::All }
    }

    /// The lists of a live cluster that could not be read.
    pub fn unread(&self, cluster: &Cluster) -> Option<&UnreadLists> {
        self.unread.get(&cluster.name).filter(|_| matches!(cluster.link, Link::Live { .. }))
    }

    /// The clocks that differ too much from the local one.
    pub fn clocks(&self) -> &BTreeMap<ClusterName, ClockSkew> {
        &self.clocks
    }

    /// Sums a cluster up again, and moves its row.
    pub fn sum_up(&mut self, name: &ClusterName, facts: FleetFacts, now: Timestamp) {
        if let Some(before) = self.summaries.get(name) {
            self.expected -= usize::from(before.is_expected());
            self.worst.remove(&(before.key(name, FleetColumn::Worst), name.clone()));
        }
        let Some(cluster) = self.clusters.get(name) else {
            self.summaries.remove(name);
            self.order.remove(name);
            return;
        };
        let link = LinkState::of(&cluster.link, self.lists_read(name));
        let FleetFacts { counts, since, what } = facts;
        let host = cluster.hosted_by.as_ref().map(|by| by.cluster.clone());
        let group = match &cluster.source {
            ClusterSource::Local => FleetGroup::Local,
            ClusterSource::Cloud { .. } => FleetGroup::Account,
            ClusterSource::Kubeconfig { .. } | ClusterSource::Hosted { .. } | ClusterSource::Snapshot => {
                FleetGroup::Cluster
            }
        };
        let host = host.filter(|by| by != name && self.clusters.contains_key(by));
        let mut summary = FleetSummary { counts, link, class: cluster.class, group, host, since, what };
        if summary.lacks_data() {
            summary.since = self.links.since(name);
        }
        match summary.is_expected() {
            true => self.expected += 1,
            false => _ = self.worst.insert((summary.key(name, FleetColumn::Worst), name.clone())),
        }
        let shown = membership(&self.filter, !self.hides_expected(), name, &summary, now, &mut self.scratch);
        self.order.put(name, summary.key(name, self.sort), summary.clone(), shown);
        self.summaries.insert(name.clone(), summary);
    }

    /// Shows only the clusters that match. An invalid filter leaves the rows unchanged and sets the problem.
    pub fn filter_by(&mut self, text: &str, now: Timestamp) {
        self.filter_text = text.to_owned();
        match Filter::parse(text) {
            Ok(filter) => {
                self.filter_problem = None;
                self.filter = filter;
                self.refilter(now);
            }
            Err(problem) => self.filter_problem = Some(problem),
        }
    }

    /// Shows or hides the clusters that are as expected.
    pub fn toggle_expected(&mut self, now: Timestamp) {
        self.shows_expected = !self.shows_expected;
        self.refilter(now);
    }

    fn refilter(&mut self, now: Timestamp) {
        let shows_expected = !self.hides_expected();
        let (filter, scratch) = (&self.filter, &mut self.scratch);
        self.order.refilter_by(|name, summary| membership(filter, shows_expected, name, summary, now, scratch));
    }

    /// Sorts by another column.
    pub fn sort_by(&mut self, column: FleetColumn, direction: Direction) {
        self.sort = column;
        self.order.set_direction(direction);
        self.order.resort_by(|name, summary| summary.key(name, column));
    }

    /// Whether guests are shown below their cluster.
    pub fn shows_tree(&self) -> bool {
        self.sort == FleetColumn::Cluster && self.order.direction() == Direction::Ascending
    }

    pub fn settle(&mut self, height: usize) {
        self.list.apply(&self.order, height);
    }

    /// The selected cluster.
    pub fn cursor(&self) -> Option<&Cluster> {
        self.clusters.get(self.list.cursor()?)
    }
}

fn membership(
    filter: &Filter,
    shows_expected: bool,
    name: &ClusterName,
    summary: &FleetSummary,
    now: Timestamp,
    scratch: &mut Scratch,
) -> Membership {
    if summary.is_expected() && !shows_expected {
        return Membership::Hidden;
    }
    let states = summary.states();
    let fields = Fields {
        state: states.first().copied().or((!summary.lacks_data()).then_some(State::Match)),
        also: states.get(1..).unwrap_or_default(),
        cluster: name.as_str(),
        class: summary.class.as_str(),
        verdict: &summary.what,
        kind: match summary.group {
            FleetGroup::Cluster if summary.host.is_some() => "guest",
            FleetGroup::Cluster => "cluster",
            FleetGroup::Account => "account",
            FleetGroup::Local => "local",
        },
        since: summary.since,
        ..Fields::default()
    };
    if filter.shows(&fields, now, scratch) { Membership::Shown } else { Membership::Hidden }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::testing::{TestConsole, now};
    use trueup_core::world::{Provider, Served};

    fn shown(sheet: &FleetSheet) -> Vec<&str> {
        sheet.order.window(0..usize::MAX).map(ClusterName::as_str).collect()
    }

    #[test]
    fn sorted_by_name_guests_are_below_their_cluster_and_accounts_and_local_files_last() {
        let mut stage = TestConsole::full();
        let account = || ClusterSource::Cloud {
            provider: Provider::Ibm,
            account: "a".to_owned(),
            used_from: trueup_core::world::MemberRule::default(),
        };
        let fleet = &mut stage.model.fleet;
        for (name, source) in [("a-account", account()), ("a-local", ClusterSource::Local)] {
            let name = ClusterName::new(name);
            let cluster = fleet.clusters().next().unwrap().clone();
            let served = Served::Recorded(std::collections::BTreeSet::new());
            let cluster = Cluster { name: name.clone(), source, hosted_by: None, link: Link::Idle, served, ..cluster };
            fleet.put(name.clone(), Some(cluster), now());
            let facts = FleetFacts { counts: StateCounts::default(), since: None, what: "".into() };
            fleet.sum_up(&name, facts, now());
        }
        fleet.toggle_expected(now());
        fleet.sort_by(FleetColumn::Cluster, Direction::Ascending);
        let expected = [
            "lab",
            "mgmt-eu",
            "guest-old",
            "guest-payments",
            "guest-search",
            "mgmt-us",
            "monday",
            "spare",
            "stage-1",
            "a-account",
            "a-local",
        ];
        assert_eq!(shown(fleet), expected);
    }

    #[test]
    fn the_filter_of_the_fleet_is_the_filter_of_every_list() {
        let mut stage = TestConsole::full();
        let cases: [(&str, &[&str]); 6] = [
            ("class:stage", &["stage-1", "monday"]),
            ("state:extra", &["guest-payments", "mgmt-eu"]),
            ("!state:extra class:prod", &["mgmt-us", "guest-search"]),
            ("kind:guest state:error,unknown", &["guest-payments", "guest-old"]),
            ("cluster:mgmt*", &["mgmt-us", "mgmt-eu"]),
            ("payments", &["guest-payments"]),
        ];
        for (filter, expected) in cases {
            stage.model.fleet.filter_by(filter, now());
            assert_eq!(shown(&stage.model.fleet), expected, "filter: {filter}");
        }
        stage.model.fleet.filter_by("stat:extra", now());
        assert!(stage.model.fleet.filter_problem.is_some());
        assert_eq!(shown(&stage.model.fleet), ["guest-payments"], "an invalid filter hides no rows");
    }

    #[test]
    fn a_cluster_as_expected_is_counted_and_hidden_until_it_is_asked_for() {
        let mut stage = TestConsole::full();
        let fleet = &mut stage.model.fleet;
        assert_eq!((fleet.expected(), fleet.order.shown(), fleet.total()), (1, 8, 9));
        assert!(!shown(fleet).contains(&"monday"));
        fleet.toggle_expected(now());
        assert!(shown(fleet).contains(&"monday"));
        fleet.toggle_expected(now());
        fleet.filter_by("monday", now());
        assert_eq!(shown(fleet), ["monday"], "a filter finds it");
    }
}
