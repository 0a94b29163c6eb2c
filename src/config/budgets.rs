//! `[budgets]`: how much a cluster may make this program read and keep.

use std::time::Duration;

use super::Problems;
use super::parse_duration;
use trueup_checks::{SettingsProblem, SettingsTable};
use trueup_fleet::budgets::{Budget, Budgets, parse_size};

const KNOWN_KEYS: [&str; 8] = [
    "objects_per_collection",
    "pages_per_list",
    "events_per_second",
    "time_per_collection",
    "time_per_cluster",
    "collections_per_cluster",
    "bytes_per_cluster",
    "memory_total",
];

pub(super) fn read(root: &SettingsTable, problems: &mut Problems) -> Budgets {
    let defaults = Budgets::default();
    let Some(table) = problems.keep_given(root.take_table("budgets")) else { return defaults };
    problems.extend(table.unknown_keys(&KNOWN_KEYS));
    let mut take = Take { table, problems };
    Budgets {
        objects_per_collection: take.count(Budget::ObjectsPerCollection).unwrap_or(defaults.objects_per_collection),
        pages_per_list: take.count(Budget::PagesPerList).unwrap_or(defaults.pages_per_list),
        events_per_second: take.count(Budget::EventsPerSecond).unwrap_or(defaults.events_per_second),
        time_per_collection: take.time(Budget::TimePerCollection).unwrap_or(defaults.time_per_collection),
        time_per_cluster: take.time(Budget::TimePerCluster).unwrap_or(defaults.time_per_cluster),
        collections_per_cluster: take.count(Budget::CollectionsPerCluster).unwrap_or(defaults.collections_per_cluster),
        bytes_per_cluster: take.size(Budget::BytesPerCluster).unwrap_or(defaults.bytes_per_cluster),
        memory_total: take.size(Budget::MemoryTotal).unwrap_or(defaults.memory_total),
    }
}

/// The table, and where its problems go.
struct Take<'t, 'p> {
    table: &'t SettingsTable,
    problems: &'p mut Problems,
}

impl Take<'_, '_> {
    fn count(&mut self, budget: Budget) -> Option<u64> {
        let given = self.problems.keep_given(self.table.take_integer(budget.key(), 1..=i64::MAX));
        given.and_then(|count| u64::try_from(count).ok())
    }

    fn time(&mut self, budget: Budget) -> Option<Duration> {
        self.text(budget, |text| {
            let span = parse_duration(text).map_err(|error| error.to_string())?;
            if span.is_zero() { Err("must be more than 0s".to_owned()) } else { Ok(span) }
        })
    }

    fn size(&mut self, budget: Budget) -> Option<u64> {
        self.text(budget, |text| {
            let bytes = parse_size(text).map_err(|error| error.to_string())?;
            if bytes == 0 { Err("must be more than 0B".to_owned()) } else { Ok(bytes) }
        })
    }

    fn text<T>(&mut self, budget: Budget, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let text = self.problems.keep_given(self.table.take_str(budget.key()))?;
        let named = |message| format!("`{}` in {}: {message}", budget.key(), self.table.title());
        self.problems.keep(read(text.get_ref()).map_err(|message| SettingsProblem::at(text.span(), named(message))))
    }
}
