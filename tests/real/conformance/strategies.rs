//! Sequences at random: how often which operation comes up.
//!
//! Always true:
//! - the weights lean towards operations that meet an object, because little happens to none;
//! - everything here shrinks: a shorter sequence, a plainer operation.
//!
//! Not here: what an operation is (`ops`).

use proptest::prelude::*;

use super::ops::{
    Change, DeleteWish, Dependents, DryRun, Fields, Finalizers, Force, Form, Identity, Kind, Label, Manager, Name, Op,
    OptionsPlace, Propagation, Selector, Sequence, Since, Text, Version, Wrong,
};

/// A sequence of about a dozen operations. Most begin with an object, because little happens to none.
///
/// The larger strategies below are boxed: as one nested value they would not fit a test thread's stack.
pub fn sequences() -> impl Strategy<Value = Sequence> {
    let kind = prop_oneof![Just(Kind::ConfigMap), Just(Kind::Secret), Just(Kind::Widget)];
    let ops = (prop::collection::vec(create(), 0..=2), prop::collection::vec(op(), 1..=20));
    (kind, ops).prop_map(|(kind, (first, then))| Sequence { kind, ops: first.into_iter().chain(then).collect() })
}

fn op() -> BoxedStrategy<Op> {
    prop_oneof![
        3 => create(),
        1 => (name(), form()).prop_map(|(name, form)| Op::Get { name, form }),
        1 => wrong().prop_map(|wrong| Op::CreateWrong { wrong }),
        4 => write(),
        3 => apply(),
        4 => delete(),
        1 => delete_namespace(),
        // Objects that are being deleted wait for this one.
        2 => (name(), version()).prop_map(|(name, version)| Op::MergePatch {
            name, version, change: Change::SetFinalizers(Finalizers::None), dry_run: DryRun::No,
        }),
        2 => (selector(), prop::option::weighted(0.2, name()), prop::option::of(0..=20u8), form())
            .prop_map(|(selector, only, at, form)| Op::List { selector, only, at, form }),
        1 => (1..=3u8, selector(), prop::option::of(prop_oneof![create(), write(), delete()])).prop_map(
            |(limit, selector, between)| Op::ListPages { limit, selector, between: between.map(Box::new) }),
        2 => (since(), selector()).prop_map(|(since, selector)| Op::Watch { since, selector }),
    ]
    .boxed()
}

fn create() -> BoxedStrategy<Op> {
    (name(), prop::option::of(label()), finalizers(), fields(), dry_run())
        .prop_map(|(name, label, finalizers, fields, dry_run)| Op::Create { name, label, finalizers, fields, dry_run })
        .boxed()
}

fn write() -> BoxedStrategy<Op> {
    prop_oneof![
        4 => (name(), version(), change(), dry_run())
            .prop_map(|(name, version, change, dry_run)| Op::Update { name, version, change, dry_run }),
        2 => (name(), version(), text(), dry_run())
            .prop_map(|(name, version, value, dry_run)| Op::UpdateStatus { name, version, value, dry_run }),
        3 => (name(), version(), change(), dry_run())
            .prop_map(|(name, version, change, dry_run)| Op::MergePatch { name, version, change, dry_run }),
        2 => (name(), version(), change(), dry_run())
            .prop_map(|(name, version, change, dry_run)| Op::JsonPatch { name, version, change, dry_run }),
    ]
    .boxed()
}

fn apply() -> BoxedStrategy<Op> {
    let manager = prop_oneof![Just(Manager::Alpha), Just(Manager::Beta)];
    let force = prop_oneof![2 => Just(Force::No), 1 => Just(Force::Yes)];
    let version = prop_oneof![6 => Just(Version::Absent), 1 => version()];
    let finalizers = prop_oneof![Just(Finalizers::One), Just(Finalizers::Two), Just(Finalizers::Collector)];
    let finalizers = prop::option::weighted(0.2, finalizers);
    (name(), manager, fields(), prop::option::of(label()), finalizers, force, version, dry_run())
        .prop_map(|(name, manager, fields, label, finalizers, force, version, dry_run)| Op::Apply {
            name,
            manager,
            fields,
            label,
            finalizers,
            force,
            version,
            dry_run,
        })
        .boxed()
}

fn delete() -> BoxedStrategy<Op> {
    (name(), delete_wish(), delete_dry_run())
        .prop_map(|(name, wish, dry_run)| Op::Delete { name, wish, dry_run })
        .boxed()
}

/// Mostly only tried: little happens in a namespace that terminates.
fn delete_namespace() -> BoxedStrategy<Op> {
    let dry_run = prop_oneof![1 => Just(DryRun::No), 2 => Just(DryRun::All)];
    (delete_wish(), dry_run).prop_map(|(wish, dry_run)| Op::DeleteNamespace { wish, dry_run }).boxed()
}

fn delete_wish() -> BoxedStrategy<DeleteWish> {
    let uid = prop_oneof![2 => Just(Identity::Absent), 2 => Just(Identity::Right), 1 => Just(Identity::Wrong)];
    let grace = prop_oneof![Just(-1), Just(0), Just(1), Just(30)];
    let place = prop_oneof![6 => Just(OptionsPlace::Body), 1 => Just(OptionsPlace::BodyAndQuery), 1 => Just(OptionsPlace::Query)];
    (uid, version(), prop::option::of(dependents()), prop::option::weighted(0.3, grace), place)
        .prop_map(|(uid, version, dependents, grace_seconds, place)| DeleteWish {
            uid,
            version,
            dependents,
            grace_seconds,
            place,
        })
        .boxed()
}

fn dependents() -> BoxedStrategy<Dependents> {
    let policy = || {
        prop_oneof![
            6 => Just(Propagation::Background),
            6 => Just(Propagation::Foreground),
            6 => Just(Propagation::Orphan),
            1 => Just(Propagation::Unheard),
        ]
    };
    prop_oneof![
        6 => policy().prop_map(Dependents::Policy),
        2 => any::<bool>().prop_map(Dependents::Orphan),
        1 => (policy(), any::<bool>()).prop_map(|(policy, orphan)| Dependents::Both(policy, orphan)),
    ]
    .boxed()
}

fn delete_dry_run() -> impl Strategy<Value = DryRun> {
    prop_oneof![3 => Just(DryRun::No), 1 => Just(DryRun::All)]
}

fn change() -> BoxedStrategy<Change> {
    prop_oneof![
        2 => Just(Change::Nothing),
        3 => text().prop_map(Change::SetK1),
        2 => text().prop_map(Change::SetK2),
        1 => Just(Change::DropK1),
        2 => label().prop_map(Change::SetLabel),
        1 => Just(Change::DropLabels),
        2 => finalizers().prop_map(Change::SetFinalizers),
        1 => Just(Change::ClaimUid),
        1 => text().prop_map(Change::SetStatus),
    ]
    .boxed()
}

fn name() -> impl Strategy<Value = Name> {
    prop_oneof![4 => Just(Name::A), 2 => Just(Name::B), 1 => Just(Name::C)]
}

fn version() -> impl Strategy<Value = Version> {
    prop_oneof![4 => Just(Version::Absent), 3 => Just(Version::Right), 2 => Just(Version::Outdated), 1 => Just(Version::Unheard)]
}

fn dry_run() -> impl Strategy<Value = DryRun> {
    prop_oneof![9 => Just(DryRun::No), 1 => Just(DryRun::All)]
}

fn finalizers() -> impl Strategy<Value = Finalizers> {
    prop_oneof![
        6 => Just(Finalizers::None),
        2 => Just(Finalizers::One),
        2 => Just(Finalizers::Two),
        1 => Just(Finalizers::Collector),
    ]
}

fn label() -> impl Strategy<Value = Label> {
    prop_oneof![Just(Label::Red), Just(Label::Blue)]
}

fn text() -> impl Strategy<Value = Text> {
    prop_oneof![Just(Text::X), Just(Text::Y)]
}

fn fields() -> impl Strategy<Value = Fields> {
    (prop::option::of(text()), prop::option::of(text())).prop_map(|(k1, k2)| Fields { k1, k2 })
}

fn selector() -> impl Strategy<Value = Option<Selector>> {
    let some = prop_oneof![
        Just(Selector::Red),
        Just(Selector::NotRed),
        Just(Selector::AnyApp),
        Just(Selector::NoApp),
        Just(Selector::InRedOrBlue),
    ];
    prop_oneof![Just(None), some.prop_map(Some)]
}

fn form() -> impl Strategy<Value = Form> {
    prop_oneof![2 => Just(Form::Whole), 1 => Just(Form::MetadataOnly)]
}

fn wrong() -> impl Strategy<Value = Wrong> {
    prop_oneof![
        Just(Wrong::Name),
        Just(Wrong::NoName),
        Just(Wrong::Namespace),
        Just(Wrong::Kind),
        Just(Wrong::LabelValue),
        Just(Wrong::HasVersion),
    ]
}

fn since() -> impl Strategy<Value = Since> {
    prop_oneof![1 => Just(Since::Unset), 4 => (0..=20u8).prop_map(Since::Remembered), 1 => Just(Since::InitialEvents)]
}
