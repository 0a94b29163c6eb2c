//! Budgets: how much a cluster may make this program read and keep.
//!
//! Invariants:
//! - over budget is Unknown with the key that raises it, never a short list that counts as complete;
//! - [`Ledger`] counts what is kept, queued and being read, of each cluster and in all.
//!
//! Elsewhere: reading `[budgets]` (`config` of the program), enforcing them (`observe`, `live`).

mod ledger;
mod size;

use std::fmt;
use std::time::Duration;

pub use ledger::{Charge, Ledger};
pub use size::{BadSize, parse_size, size_text};

use trueup_core::world::{Gap, GapCause};

/// The limits of `[budgets]`. The largest real clusters fit into the defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budgets {
    pub objects_per_collection: u64,
    pub pages_per_list: u64,
    /// Of one watch.
    pub events_per_second: u64,
    /// For one list, with its retries.
    pub time_per_collection: Duration,
    /// For all lists of a cluster that follow each other without a pause.
    pub time_per_cluster: Duration,
    /// Each is a task and a watch.
    pub collections_per_cluster: u64,
    pub bytes_per_cluster: u64,
    pub memory_total: u64,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            objects_per_collection: 2_000_000,
            pages_per_list: 20_000,
            events_per_second: 20_000,
            time_per_collection: Duration::from_secs(5 * 60),
            time_per_cluster: Duration::from_secs(15 * 60),
            // A management cluster has two for each guest, and one for each object that is compared by name: 1,000 guests.
            collections_per_cluster: 5_000,
            bytes_per_cluster: 1 << 30,
            memory_total: 4 << 30,
        }
    }
}

/// One budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    ObjectsPerCollection,
    PagesPerList,
    EventsPerSecond,
    TimePerCollection,
    TimePerCluster,
    CollectionsPerCluster,
    BytesPerCluster,
    MemoryTotal,
}

impl Budget {
    /// Its key in `[budgets]`.
    pub fn key(self) -> &'static str {
        match self {
            Self::ObjectsPerCollection => "objects_per_collection",
            Self::PagesPerList => "pages_per_list",
            Self::EventsPerSecond => "events_per_second",
            Self::TimePerCollection => "time_per_collection",
            Self::TimePerCluster => "time_per_cluster",
            Self::CollectionsPerCluster => "collections_per_cluster",
            Self::BytesPerCluster => "bytes_per_cluster",
            Self::MemoryTotal => "memory_total",
        }
    }
}

/// A budget that was exceeded, with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct OverBudget {
    pub budget: Budget,
    pub budgets: Budgets,
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { budget, budgets } = self;
        f.write_str("over budget: ")?;
        match budget {
            Budget::ObjectsPerCollection => write!(f, "more than {} objects", budgets.objects_per_collection),
            Budget::PagesPerList => write!(f, "more than {} pages", budgets.pages_per_list),
            Budget::EventsPerSecond => write!(f, "more than {} events per second", budgets.events_per_second),
            Budget::TimePerCollection => {
                write!(f, "not listed within {}", seconds(budgets.time_per_collection))
            }
            Budget::TimePerCluster => {
                write!(f, "the cluster was not listed within {}", seconds(budgets.time_per_cluster))
            }
            Budget::CollectionsPerCluster => {
                write!(f, "the cluster has more than {} lists to watch", budgets.collections_per_cluster)
            }
            Budget::BytesPerCluster => {
                write!(f, "the cluster needs more than {}", size_text(budgets.bytes_per_cluster))
            }
            Budget::MemoryTotal => write!(f, "the fleet needs more than {}", size_text(budgets.memory_total)),
        }?;
        write!(f, "; raise {} in [budgets]", budget.key())
    }
}

impl OverBudget {
    /// The gap of what was being read.
    pub fn gap(&self, what: &str) -> Gap {
        Gap::new(GapCause::OverBudget, format!("{what}: {self}"))
    }
}

impl Budgets {
    pub fn over(&self, budget: Budget) -> OverBudget {
        OverBudget { budget, budgets: *self }
    }
}

/// `300 s`.
fn seconds(span: Duration) -> String {
    format!("{} s", span.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_names_the_budget_its_value_and_its_key() {
        let budgets = Budgets::default();
        let cases = [
            (Budget::ObjectsPerCollection, "more than 2000000 objects; raise objects_per_collection"),
            (Budget::PagesPerList, "more than 20000 pages; raise pages_per_list"),
            (Budget::EventsPerSecond, "more than 20000 events per second; raise events_per_second"),
            (Budget::TimePerCollection, "not listed within 300 s; raise time_per_collection"),
            (Budget::TimePerCluster, "the cluster was not listed within 900 s; raise time_per_cluster"),
            (
                Budget::CollectionsPerCluster,
                "the cluster has more than 5000 lists to watch; raise collections_per_cluster",
            ),
            (Budget::BytesPerCluster, "the cluster needs more than 1GiB; raise bytes_per_cluster"),
            (Budget::MemoryTotal, "the fleet needs more than 4GiB; raise memory_total"),
        ];
        for (budget, expected) in cases {
            let gap = budgets.over(budget).gap("listing v1/secrets");
            let whole = format!("listing v1/secrets: over budget: {expected} in [budgets]");
            assert_eq!((gap.cause, gap.message.to_string()), (GapCause::OverBudget, whole));
        }
    }
}
