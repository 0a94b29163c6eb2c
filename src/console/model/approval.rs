//! The approval dialog: cluster by cluster, the list of actions and the typed confirmation.
//!
//! Invariants:
//! - keys pressed before the dialog appeared are dropped;
//! - nothing is typed or accepted before the list was scrolled to its end.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use trueup_core::engine::{Answers, Asks, ClusterQuestion};

/// How long after the dialog opens keys are dropped: they were meant for the previous screen.
pub const GUARD: Duration = Duration::from_millis(300);

const SCROLL_FIRST: &str = "scroll to the end of the list first";

#[derive(Debug)]
pub struct Approval {
    pub questions: Vec<ClusterQuestion>,
    /// Index of the current question.
    pub at: usize,
    pub typed: String,
    opened: Timestamp,
    /// First visible line of the list.
    pub scroll: usize,
    /// Last line that has been visible.
    seen: usize,
    /// Number of lines at the last layout.
    total: usize,
    pub wrong: Option<String>,
    pub users: UserList,
    answers: BTreeMap<String, String>,
}

/// Whether what uses an object is counted beside it or listed below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserList {
    Counted,
    Listed,
}

/// Visible part of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fits {
    pub lines: usize,
    pub total: usize,
}

/// Result of submitting the confirmation.
#[derive(Debug, PartialEq, Eq)]
pub enum Entered {
    /// Rejected: the reason is in `wrong`.
    Stays,
    Next,
    Done(Answers),
}

impl Approval {
    pub fn new(questions: Vec<ClusterQuestion>, now: Timestamp) -> Self {
        Self {
            questions,
            at: 0,
            typed: String::new(),
            opened: now,
            scroll: 0,
            seen: 0,
            total: usize::MAX,
            wrong: None,
            users: UserList::Counted,
            answers: BTreeMap::new(),
        }
    }

    pub fn question(&self) -> &ClusterQuestion {
        &self.questions[self.at]
    }

    /// Whether keys are accepted yet.
    pub fn listens(&self, now: Timestamp) -> bool {
        now.duration_since(self.opened) >= jiff::SignedDuration::try_from(GUARD).unwrap_or_default()
    }

    /// Scrolls the list and records how far it was seen.
    pub fn scroll_by(&mut self, by: isize, fits: Fits) {
        let last = fits.total.saturating_sub(fits.lines);
        self.scroll = self.scroll.saturating_add_signed(by).min(last);
        self.see(fits);
    }

    /// Records the visible lines.
    pub fn see(&mut self, fits: Fits) {
        self.total = fits.total;
        self.seen = self.seen.max(self.scroll + fits.lines);
    }

    /// Restarts the list after a resize: the lines seen before were others.
    pub fn restart_reading(&mut self, fits: Fits) {
        (self.scroll, self.seen) = (0, 0);
        self.see(fits);
    }

    /// Whether a word has to be typed.
    pub fn takes_text(&self) -> bool {
        match &self.question().asks {
            Asks::Enter => false,
            Asks::Deletions(_) | Asks::ClusterName(_) | Asks::ClusterNameAndId { .. } => true,
        }
    }

    /// Edits the typed word, once the whole list was visible.
    pub fn edit(&mut self, edit: impl FnOnce(&mut String)) {
        self.wrong = None;
        if !self.takes_text() {
            return;
        }
        if self.seen_to_end() {
            edit(&mut self.typed);
        } else {
            self.wrong = Some(SCROLL_FIRST.to_owned());
        }
    }

    /// `expected guest-payments, not "guest-foo"`
    fn expected(&self, word: &str) -> String {
        match self.typed.is_empty() {
            true => format!("expected {word}"),
            false => format!("expected {word}, not \"{}\"", self.typed),
        }
    }

    pub fn seen_to_end(&self) -> bool {
        self.seen >= self.total && self.total > 0
    }

    pub fn enter(&mut self, now: Timestamp) -> Entered {
        if !self.seen_to_end() {
            self.wrong = Some(SCROLL_FIRST.to_owned());
            return Entered::Stays;
        }
        if !self.question().accepts(&self.typed) {
            self.wrong = Some(match &self.question().asks {
                Asks::Enter => "expected no text".to_owned(),
                Asks::Deletions(count) => self.expected(&count.to_string()),
                Asks::ClusterName(cluster) => self.expected(cluster),
                Asks::ClusterNameAndId { cluster, short_id } => self.expected(&format!("{cluster} {short_id}")),
            });
            return Entered::Stays;
        }
        let typed = std::mem::take(&mut self.typed);
        self.answers.insert(self.question().cluster.clone(), typed);
        if self.at + 1 == self.questions.len() {
            return Entered::Done(Answers::Typed(std::mem::take(&mut self.answers)));
        }
        self.at += 1;
        (self.opened, self.scroll, self.seen, self.total, self.wrong) = (now, 0, 0, usize::MAX, None);
        Entered::Next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::engine::{Provenance, Tier};

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(1_800_000_000_000 + millis).unwrap()
    }

    fn question(cluster: &str, count: usize) -> ClusterQuestion {
        ClusterQuestion {
            cluster: cluster.to_owned(),
            tier: Tier::T3,
            deletions: count,
            actions: (0..count).map(|number| format!("a{number}")).collect(),
            asks: Asks::ClusterName(cluster.to_owned()),
            provenance: Provenance::Here,
        }
    }

    #[test]
    fn keys_pressed_before_the_dialog_opens_are_dropped() {
        let approval = Approval::new(vec![question("a", 1)], at(0));
        assert!(!approval.listens(at(0)));
        assert!(!approval.listens(at(299)));
        assert!(approval.listens(at(300)));
    }

    #[test]
    fn a_confirmation_is_accepted_only_after_the_list_was_read() {
        let mut approval = Approval::new(vec![question("a", 10)], at(0));
        let fits = Fits { lines: 4, total: 10 };
        approval.see(fits);
        approval.typed = "a".to_owned();
        assert_eq!(approval.enter(at(500)), Entered::Stays);
        approval.scroll_by(3, fits);
        assert_eq!(approval.enter(at(500)), Entered::Stays);
        approval.scroll_by(9, fits);
        let Entered::Done(Answers::Typed(answers)) = approval.enter(at(500)) else { panic!("{approval:?}") };
        assert_eq!(answers, [("a".to_owned(), "a".to_owned())].into());
    }

    #[test]
    fn lines_seen_before_a_resize_do_not_count() {
        let mut approval = Approval::new(vec![question("a", 3)], at(0));
        approval.scroll_by(9, Fits { lines: 3, total: 3 });
        assert!(approval.seen_to_end());
        approval.restart_reading(Fits { lines: 4, total: 9 });
        assert!(!approval.seen_to_end());
    }

    #[test]
    fn each_cluster_has_its_own_confirmation_and_guard_time() {
        let mut approval = Approval::new(vec![question("a", 1), question("b", 1)], at(0));
        approval.see(Fits { lines: 1, total: 1 });
        approval.typed = "b".to_owned();
        assert_eq!(approval.enter(at(500)), Entered::Stays);
        approval.typed = "a".to_owned();
        assert_eq!(approval.enter(at(500)), Entered::Next);
        assert!(!approval.listens(at(700)));
        assert!(!approval.seen_to_end());
    }
}
