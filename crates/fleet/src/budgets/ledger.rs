//! Counts the bytes that are kept, queued and being read.
//!
//! Invariants: a [`Charge`] is counted until it is dropped; what the world keeps is set by the loop that owns it.
//!
//! Bytes are those of the text that facts are made of and of the facts themselves: about what they take, and more for
//! facts that keep little of a large object.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use super::{Budget, Budgets, OverBudget};
use trueup_core::world::ClusterName;

/// The bytes of every cluster of one process.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    budgets: Budgets,
    books: Arc<Mutex<Books>>,
}

#[derive(Debug, Default)]
struct Books {
    clusters: BTreeMap<ClusterName, Account>,
    total: u64,
    peak: u64,
}

#[derive(Debug, Default)]
struct Account {
    /// What the world holds.
    retained: u64,
    /// What is queued or being read.
    charged: u64,
}

/// Bytes that are counted while this lives.
#[derive(Debug)]
pub struct Charge {
    ledger: Ledger,
    cluster: ClusterName,
    bytes: u64,
}

impl Ledger {
    pub fn new(budgets: Budgets) -> Self {
        Self { budgets, books: Arc::default() }
    }

    pub fn budgets(&self) -> &Budgets {
        &self.budgets
    }

    /// A charge that counts nothing yet.
    pub fn charge(&self, cluster: &ClusterName) -> Charge {
        Charge { ledger: self.clone(), cluster: cluster.clone(), bytes: 0 }
    }

    /// Sets what the world holds of a cluster.
    pub fn retain(&self, cluster: &ClusterName, bytes: u64) {
        let mut books = self.lock();
        match books.clusters.get_mut(cluster) {
            Some(account) if account.retained == bytes => return,
            Some(account) => {
                let before = std::mem::replace(&mut account.retained, bytes);
                books.total -= before;
            }
            None if bytes == 0 => return,
            None => {
                books.clusters.insert(cluster.clone(), Account { retained: bytes, charged: 0 });
            }
        }
        books.add(bytes);
        books.tidy(cluster);
    }

    /// Whether a cluster, and the fleet, are within their budgets.
    ///
    /// # Errors
    /// The budget that is exceeded.
    pub fn check(&self, cluster: &ClusterName) -> Result<(), OverBudget> {
        let books = self.lock();
        let used = books.clusters.get(cluster).map_or(0, |account| account.retained + account.charged);
        if used > self.budgets.bytes_per_cluster {
            return Err(self.budgets.over(Budget::BytesPerCluster));
        }
        if books.total > self.budgets.memory_total {
            return Err(self.budgets.over(Budget::MemoryTotal));
        }
        Ok(())
    }

    /// Bytes counted now, in all.
    pub fn total(&self) -> u64 {
        self.lock().total
    }

    /// The most that was ever counted at once.
    pub fn peak(&self) -> u64 {
        self.lock().peak
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        // Nothing below panics in the middle of a change, so a poisoned lock guards valid data.
        self.books.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Books {
    fn add(&mut self, bytes: u64) {
        self.total += bytes;
        self.peak = self.peak.max(self.total);
    }

    /// Forgets an account that counts nothing.
    fn tidy(&mut self, cluster: &ClusterName) {
        if self.clusters.get(cluster).is_some_and(|account| account.retained == 0 && account.charged == 0) {
            self.clusters.remove(cluster);
        }
    }
}

impl Charge {
    /// Counts this many bytes from now on.
    pub fn set(&mut self, bytes: u64) {
        if bytes == self.bytes {
            return;
        }
        let mut books = self.ledger.lock();
        let account = books.clusters.entry(self.cluster.clone()).or_default();
        account.charged = account.charged - self.bytes + bytes;
        books.total -= self.bytes;
        books.add(bytes);
        books.tidy(&self.cluster);
        self.bytes = bytes;
    }

    pub fn add(&mut self, bytes: u64) {
        self.set(self.bytes + bytes);
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_per_cluster_and_in_all_until_they_are_released() {
        let ledger = Ledger::new(Budgets { bytes_per_cluster: 100, memory_total: 150, ..Budgets::default() });
        let (a, b) = (ClusterName::new("a"), ClusterName::new("b"));
        let over = |cluster: &ClusterName| ledger.check(cluster).err().map(|over| over.budget);
        ledger.retain(&a, 60);
        let mut queued = ledger.charge(&a);
        queued.add(40);
        assert_eq!((over(&a), ledger.total()), (None, 100));
        queued.add(1);
        assert_eq!((over(&a), over(&b)), (Some(Budget::BytesPerCluster), None));
        drop(queued);
        ledger.retain(&b, 91);
        assert_eq!((over(&a), over(&b)), (Some(Budget::MemoryTotal), Some(Budget::MemoryTotal)));
        ledger.retain(&a, 0);
        assert_eq!((over(&a), over(&b), ledger.total(), ledger.peak()), (None, None, 91, 151));
    }
}
