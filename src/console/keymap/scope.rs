//! Scopes of key bindings.

use Scope::{
    Activity, Approval, Confirm, Detail, Expiry, Filter, Fleet, Global, Help, List, Logs, Object, Palette, Picker,
    Plan, Plugin, Table, Timeline, Wall,
};

/// The part of the screen that receives keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Everywhere except text fields.
    Global,
    Fleet,
    /// The list of a check.
    List,
    Detail,
    Plan,
    Approval,
    Activity,
    Object,
    Logs,
    Timeline,
    /// When credentials and certificates end.
    Expiry,
    Help,
    /// A table of the fleet.
    Table,
    Palette,
    Filter,
    Picker,
    /// The question about a credential plugin.
    Plugin,
    Wall,
    /// A question that is answered with yes or no.
    Confirm,
}

impl Scope {
    pub const ALL: [Self; 19] = [
        Global, Fleet, List, Detail, Plan, Approval, Activity, Object, Logs, Timeline, Expiry, Help, Table, Palette,
        Filter, Picker, Plugin, Wall, Confirm,
    ];

    /// Name in the key file.
    pub fn name(self) -> &'static str {
        match self {
            Global => "global",
            Fleet => "fleet",
            List => "list",
            Detail => "detail",
            Plan => "plan",
            Approval => "approval",
            Activity => "activity",
            Object => "object",
            Logs => "logs",
            Timeline => "timeline",
            Expiry => "expiry",
            Help => "help",
            Table => "table",
            Palette => "palette",
            Filter => "filter",
            Picker => "picker",
            Plugin => "plugin",
            Wall => "wall",
            Confirm => "confirm",
        }
    }

    /// Heading in help and docs.
    pub fn title(self) -> &'static str {
        match self {
            Global => "Everywhere",
            Fleet => "Fleet",
            List => "List of a check",
            Detail => "Detail",
            Plan => "Plan",
            Approval => "Approval",
            Activity => "Activity",
            Object => "Object",
            Logs => "Logs",
            Timeline => "Timeline",
            Expiry => "Expiry",
            Help => "Help",
            Table => "Table of the fleet",
            Palette => "Palette",
            Filter => "Filter",
            Picker => "Pickers",
            Plugin => "Credential plugin",
            Wall => "Wall",
            Confirm => "Questions",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }

    /// Whether a letter pressed here is typed. Such a scope does not inherit the keys of [`Scope::Global`].
    pub fn takes_text(self) -> bool {
        match self {
            Approval | Palette | Filter | Picker => true,
            Global | Fleet | List | Detail | Plan | Activity | Object | Logs | Expiry | Timeline | Help | Table
            | Plugin | Wall | Confirm => false,
        }
    }
}
