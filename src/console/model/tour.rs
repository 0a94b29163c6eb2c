//! The tour of the demo: six steps, each done by pressing the key it names.
//!
//! Invariants: a step names an action, and its key comes from the keymap; the tour presses nothing itself and changes nothing.

use crate::console::keymap::{Action, Scope};

/// A step: the action that ends it, the scope of its key, and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TourStep {
    pub action: Action,
    pub scope: Scope,
    pub text: &'static str,
}

/// How far the user is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tour {
    /// Index of the current step.
    step: usize,
}

const STEPS: [TourStep; 6] = [
    TourStep { action: Action::Open, scope: Scope::Fleet, text: "to open the checks of the cluster at the cursor" },
    TourStep { action: Action::GoDomain1, scope: Scope::List, text: "to open the first check" },
    TourStep { action: Action::References, scope: Scope::List, text: "to see what references the object" },
    TourStep { action: Action::Reconcile, scope: Scope::List, text: "in a check to plan a fix" },
    TourStep {
        action: Action::Approve,
        scope: Scope::Plan,
        text: "in the plan to read the approval; nothing is sent yet",
    },
    TourStep { action: Action::Undo, scope: Scope::Activity, text: "in Activity to plan the undo of an apply" },
];

impl Tour {
    /// Number of the current step, and of all.
    pub fn place(&self) -> (usize, usize) {
        (self.step + 1, STEPS.len())
    }

    pub fn step(&self) -> TourStep {
        STEPS[self.step]
    }

    /// Takes in a pressed action. Returns the tour at its next step; none after the last one.
    pub fn after(self, action: Action) -> Option<Self> {
        match (self.step().action == action, self.step + 1 < STEPS.len()) {
            (false, _) => Some(self),
            (true, true) => Some(Self { step: self.step + 1 }),
            (true, false) => None,
        }
    }
}
