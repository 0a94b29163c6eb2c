//! What a piece of text on the screen means.

use crate::engine::State;
use crate::world::RiskClass;

macro_rules! roles {
    ($($(#[$doc:meta])* $role:ident = $name:literal,)+) => {
        /// The meaning of a piece of text: the one thing a view says about how it looks.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Role {
            $($(#[$doc])* $role,)+
        }

        impl Role {
            pub const ALL: &'static [Self] = &[$(Self::$role,)+];

            /// As theme files spell it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$role => $name,)+
                }
            }
        }
    };
}

roles! {
    /// Ordinary text. Its background is the screen's: views fill their area with it first.
    Text = "text",
    Muted = "muted",
    Title = "title",
    Accent = "accent",
    Border = "border",
    BorderFocus = "border-focus",
    /// The heads of a table's columns.
    Header = "header",
    /// The row under the cursor, in the pane that has the keys.
    Selection = "selection",
    /// The row under the cursor, in a pane that waits.
    SelectionUnfocused = "selection-unfocused",
    /// A row that was marked for a plan.
    Mark = "mark",
    /// A row that a plan would take away and that is still there.
    Ghost = "ghost",
    Match = "match",
    Missing = "missing",
    Extra = "extra",
    Drift = "drift",
    /// Stale, expiring, soon to matter.
    Warn = "warn",
    Unknown = "unknown",
    /// Danger: an error, a refusal, something that can't be taken back.
    Error = "error",
    Blocked = "blocked",
    /// Something went well.
    Ok = "ok",
    HintKey = "hint-key",
    HintText = "hint-text",
    DiffAdd = "diff-add",
    DiffRemove = "diff-remove",
    DiffContext = "diff-context",
    ClassDev = "class-dev",
    ClassStage = "class-stage",
    ClassProd = "class-prod",
    BarFull = "bar-full",
    BarEmpty = "bar-empty",
    Toast = "toast",
    ToastError = "toast-error",
    /// Something to follow: a referrer, a command.
    Link = "link",
    /// The filter line, and what it found in a text.
    Filter = "filter",
    ReadOnly = "read-only",
}

impl From<State> for Role {
    fn from(state: State) -> Self {
        match state {
            State::Match => Self::Match,
            State::Missing => Self::Missing,
            State::Extra => Self::Extra,
            State::Drift => Self::Drift,
            State::Stale => Self::Warn,
            State::Unknown => Self::Unknown,
            State::Error => Self::Error,
            State::Blocked => Self::Blocked,
        }
    }
}

impl From<RiskClass> for Role {
    fn from(class: RiskClass) -> Self {
        match class {
            RiskClass::Dev => Self::ClassDev,
            RiskClass::Stage => Self::ClassStage,
            RiskClass::Prod => Self::ClassProd,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_has_a_name_of_its_own_that_a_file_can_hold() {
        let mut names: Vec<&str> = Role::ALL.iter().map(|role| role.name()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        let is_key = |name: &&str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        assert!(names.iter().all(is_key), "{names:?}");
    }

    #[test]
    fn a_role_stands_at_its_own_place_in_the_list() {
        for (index, role) in Role::ALL.iter().enumerate() {
            assert_eq!(*role as usize, index, "{role:?}");
        }
    }
}
