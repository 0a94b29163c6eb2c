//! Everything that can go wrong in a history, by name, and what of it did.
//!
//! Invariants: a kind counts as fired only when it met something: a request, an object, a run.

macro_rules! kinds {
    ($($name:ident => $word:literal,)*) => {
        /// One way in which the world, the API, the disk or the process misbehaves.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Kind { $($name,)* }

        impl Kind {
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

kinds! {
    WriteConflict => "write: 409, the object moved",
    WriteUnauthorized => "write: 401",
    WriteForbidden => "write: 403",
    WriteKindGone => "write: 404 of the kind",
    WriteInvalid => "write: 422",
    WriteBusy => "write: 429",
    WriteBusyWait => "write: 429 with Retry-After",
    WriteBusyLong => "write: 429 with a huge Retry-After",
    WriteError => "write: 500",
    WriteUnavailable => "write: 503",
    WriteUnavailableWait => "write: 503 with Retry-After",
    WriteTimeout => "write: 504 before the commit",
    WriteTimeoutDone => "write: 504 after the commit",
    WriteLost => "write: reset before the commit",
    WriteReplyLost => "write: reply lost after the commit",
    WriteCut => "write: answer cut short",
    WriteStall => "write: silence",
    WriteProxy => "write: a proxy's page",
    WriteLate => "write: lost, and carried out seconds later",
    ReadUnauthorized => "read: 401",
    ReadForbidden => "read: 403",
    ReadKindGone => "read: 404 of the kind",
    ReadGroupLost => "read: discovery lost the group",
    ReadBusy => "read: 429",
    ReadError => "read: 500",
    ReadUnavailable => "read: 503",
    ReadTimeout => "read: 504",
    ReadLost => "read: reset",
    ReadCut => "read: answer cut short",
    ReadStall => "read: silence",
    ReadProxy => "read: a proxy's page",
    ReadStale => "read: stale replica",
    DiscoveryFails => "read: discovery fails",
    ListStale => "list: stale replica",
    ListEmpty => "list: 200 and nothing in it",
    ListExpired => "list: 410 on a further page",
    Recreated => "world: created again under its name",
    Relabelled => "world: ownership mark taken off",
    Edited => "world: content changed",
    SourceEdited => "world: the source of copies changed",
    Copied => "run: content copied from its source",
    Referenced => "world: reference added",
    Dereferenced => "world: reference removed",
    FinalizerAdded => "world: finalizer added",
    FinalizerRemoved => "world: finalizer removed",
    LookAlike => "world: ownership mark copied to a foreign object",
    DeletedByOther => "world: deleted by another writer",
    Fought => "world: created again after our delete",
    Collected => "world: garbage collector took something",
    IdentitySwapped => "world: another cluster behind the address",
    ClockForward => "clock: jump forward",
    ClockBack => "clock: jump back",
    KillSwitch => "run: kill switch in mid-run",
    Frozen => "run: freeze window begins in mid-run",
    Stopped => "run: stopped in mid-run",
    Expired => "run: plan expires in mid-run",
    Crashed => "process: killed",
    PowerCut => "process: power cut",
    TornTail => "journal: torn tail",
    UnsyncedLost => "journal: unsynced tail lost",
    DiskFull => "journal: no space left",
    DiskBroken => "journal: sync fails",
    SealFails => "vault: sealing fails",
    OpenFails => "vault: a backup can't be opened",
    SamePlanTwice => "two engines: the same plan",
    OverlappingPlans => "two engines: overlapping plans",
    AppliedAgain => "process: applied again after a crash",
    GateReadOnly => "gate: read-only",
    GateKillSwitch => "gate: kill switch",
    GateFreeze => "gate: freeze",
    GateIdentity => "gate: identity",
    GateInsecure => "gate: insecure",
    GateClock => "gate: clock",
    GateNotComplete => "gate: not complete",
    GateOwnership => "gate: ownership",
    GateSettling => "gate: settling",
    GateAccess => "gate: access",
    GatePolicy => "gate: policy",
    GateCap => "gate: policy cap",
    GateBrake => "gate: brake",
    GateDependency => "gate: dependency",
    GateEmptySet => "gate: empty set",
    ConfigReadOnly => "config: read-only after the plan",
    ConfigKillSwitch => "config: kill switch after the plan",
    ConfigFreeze => "config: freeze after the plan",
    ConfigInsecure => "config: TLS not verified after the plan",
    ConfigClock => "clock: a server is off after the plan",
    ConfigAccess => "config: permission withdrawn after the plan",
    ConfigDeny => "config: policy denies after the plan",
    ConfigTier => "config: policy asks for T4 after the plan",
    ConfigClass => "config: class prod after the plan",
    EditTier => "edit: lower tiers",
    EditGates => "edit: gates removed, everything selected",
    EditTarget => "edit: another object",
    EditChange => "edit: another change",
    EditOrigin => "edit: another origin",
    EditBinding => "edit: other preconditions",
    EditEvidence => "edit: nothing rested on, owned three times",
    EditTimes => "edit: other times",
    EditPlace => "edit: another cluster",
    EditField => "edit: any one field",
    EditPair => "edit: any two fields",
    ForeignRefused => "operator: foreign plan refused",
    ForeignAccepted => "operator: foreign plan accepted",
    ShortApproval => "operator: too little approval",
    ClusterLate => "list: a cluster's lists never arrive",
    BrakeReached => "gate: brake by half of what is managed",
    UndoRestored => "undo: a deleted object restored",
    UndoLabels => "undo: labels put back",
    UndoContent => "undo: content put back",
    UndoLeftOut => "undo: an action that cannot be reversed",
}

const _: () = assert!(Kind::ALL.len() <= 128, "one bit each");

/// The kinds that fired in one history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fired(u128);

impl Fired {
    pub fn add(&mut self, kind: Kind) {
        self.0 |= 1 << (kind as u32);
    }

    pub fn has(self, kind: Kind) -> bool {
        self.0 & (1 << (kind as u32)) != 0
    }
}
