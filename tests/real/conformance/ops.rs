//! What a sequence is made of: operations on a few names of one kind, in words that fit any server.
//!
//! Always true:
//! - an operation names versions and uids by what they mean ("the right one", "one that is outdated"), never by value,
//!   because no two servers hand out the same;
//! - what code decides on is an enum, so that a new case can't be forgotten where requests are made.
//!
//! Not here: choosing at random (`strategies`), turning an operation into requests (`requests`).

/// One sequence: a kind, and what is done to objects of that kind in a namespace of their own.
#[derive(Debug, Clone)]
pub struct Sequence {
    pub kind: Kind,
    pub ops: Vec<Op>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    ConfigMap,
    Secret,
    /// A custom resource with a status subresource.
    Widget,
}

/// The objects of a sequence are called `a`, `b` and `c`: few, so that operations meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    A,
    B,
    C,
}

#[derive(Debug, Clone)]
pub enum Op {
    Create {
        name: Name,
        label: Option<Label>,
        finalizers: Finalizers,
        fields: Fields,
        dry_run: DryRun,
    },
    Get {
        name: Name,
        form: Form,
    },
    /// A create that must be refused.
    CreateWrong {
        wrong: Wrong,
    },
    Update {
        name: Name,
        version: Version,
        change: Change,
        dry_run: DryRun,
    },
    UpdateStatus {
        name: Name,
        version: Version,
        value: Text,
        dry_run: DryRun,
    },
    MergePatch {
        name: Name,
        version: Version,
        change: Change,
        dry_run: DryRun,
    },
    JsonPatch {
        name: Name,
        version: Version,
        change: Change,
        dry_run: DryRun,
    },
    Apply {
        name: Name,
        manager: Manager,
        fields: Fields,
        label: Option<Label>,
        /// Absent: the apply says nothing about them. Never empty, which says nothing either.
        finalizers: Option<Finalizers>,
        force: Force,
        version: Version,
        dry_run: DryRun,
    },
    Delete {
        name: Name,
        wish: DeleteWish,
        dry_run: DryRun,
    },
    /// Deletes the namespace of the sequence. It terminates and never ends: no controller empties it.
    DeleteNamespace {
        wish: DeleteWish,
        dry_run: DryRun,
    },
    List {
        selector: Option<Selector>,
        /// Only the object of this name, by field selector.
        only: Option<Name>,
        /// The state at the nth version that this sequence has seen, instead of the present.
        at: Option<u8>,
        form: Form,
    },
    /// A list in pages; `between` happens after the first page.
    ListPages {
        limit: u8,
        selector: Option<Selector>,
        between: Option<Box<Op>>,
    },
    Watch {
        since: Since,
        selector: Option<Selector>,
    },
}

/// How much of an object is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Whole,
    MetadataOnly,
}

/// What is wrong with an object that is to be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    Name,
    NoName,
    Namespace,
    Kind,
    LabelValue,
    HasVersion,
}

/// Which resourceVersion a write carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    Absent,
    /// The one last seen.
    Right,
    /// One that was seen before the last.
    Outdated,
    /// One that never was.
    Unheard,
}

/// Everything a delete can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeleteWish {
    pub uid: Identity,
    pub version: Version,
    pub dependents: Option<Dependents>,
    pub grace_seconds: Option<i64>,
    pub place: OptionsPlace,
}

/// What becomes of an object's dependents, in the new words, the old ones, or both, which is a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dependents {
    Policy(Propagation),
    Orphan(bool),
    Both(Propagation, bool),
}

/// Where a delete says what it wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionsPlace {
    Body,
    /// A dry run in the query and the rest in the body: a server reads only the body then, and really deletes.
    BodyAndQuery,
    /// All but the preconditions, for which the query has no words.
    Query,
}

/// Which uid a delete insists on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    Absent,
    Right,
    Wrong,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DryRun {
    No,
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    No,
    Yes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finalizers {
    None,
    One,
    Two,
    /// The garbage collector's own, which propagation policies put in and take out.
    Collector,
}

/// The value of the label `app`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    Red,
    Blue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selector {
    Red,
    NotRed,
    AnyApp,
    NoApp,
    InRedOrBlue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    X,
    Y,
}

/// The fields `k1` and `k2` of the payload; `None` leaves one out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fields {
    pub k1: Option<Text>,
    pub k2: Option<Text>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Nothing,
    SetK1(Text),
    SetK2(Text),
    DropK1,
    SetLabel(Label),
    DropLabels,
    SetFinalizers(Finalizers),
    /// The write says that the object has another uid.
    ClaimUid,
    /// Only for the kind with a status: a write that does not go to the status subresource must not change it.
    SetStatus(Text),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manager {
    Alpha,
    Beta,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Propagation {
    Background,
    Foreground,
    Orphan,
    /// A word no server knows.
    Unheard,
}

/// Where a watch starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// No resourceVersion: the present state, then what follows.
    Unset,
    /// The nth version that this sequence has seen.
    Remembered(u8),
    /// The present state as a stream that ends with a bookmark.
    InitialEvents,
}

impl Op {
    /// The object that the operation is about, if it is one.
    pub fn name(&self) -> Option<Name> {
        match self {
            Op::Create { name, .. }
            | Op::Get { name, .. }
            | Op::Update { name, .. }
            | Op::UpdateStatus { name, .. }
            | Op::MergePatch { name, .. }
            | Op::JsonPatch { name, .. }
            | Op::Apply { name, .. }
            | Op::Delete { name, .. } => Some(*name),
            Op::CreateWrong { .. }
            | Op::DeleteNamespace { .. }
            | Op::List { .. }
            | Op::ListPages { .. }
            | Op::Watch { .. } => None,
        }
    }

    /// Whether the operation is only tried.
    pub fn dry_run(&self) -> DryRun {
        match self {
            Op::Create { dry_run, .. }
            | Op::Update { dry_run, .. }
            | Op::UpdateStatus { dry_run, .. }
            | Op::MergePatch { dry_run, .. }
            | Op::JsonPatch { dry_run, .. }
            | Op::Apply { dry_run, .. }
            | Op::Delete { dry_run, .. }
            | Op::DeleteNamespace { dry_run, .. } => *dry_run,
            Op::CreateWrong { .. } | Op::Get { .. } | Op::List { .. } | Op::ListPages { .. } | Op::Watch { .. } => {
                DryRun::No
            }
        }
    }
}
