//! Which machine a set is made of: its instance type and its region, and the objects they were read from.
//!
//! Invariants: a reference that a complete list does not resolve is a fault of the spec; one that is not known is not.

use super::facts::{CapiCluster, Provider, Reference, Regional, SpecKind};
use super::names::{
    AWS_CLUSTER, AWS_PLATFORM, CLUSTER, INFRASTRUCTURE, MANAGED_CLUSTER_KIND, MANAGED_PLANE, REGION_ANNOTATION,
    SINGLETON, TEMPLATE,
};
use super::subjects::Subject;
use crate::kinds::Listing;
use trueup_core::world::{Fact, Gap, Key, Namespace};

/// A machine, as far as the spec says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine<'a> {
    pub instance_type: Said<'a>,
    pub region: Said<'a>,
    /// Where a region belongs, whether or not it is written there: field and object.
    pub region_place: String,
    /// What the provider's own controller says the template's machines have.
    pub native: Option<(&'a str, &'a str)>,
}

/// A value, and the object and field it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said<'a> {
    pub value: &'a str,
    pub object: String,
    pub field: String,
}

/// Why there is no machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoMachine {
    NotAws { platform: String },
    Invalid(Fault),
    NotKnown(Gap),
}

/// What is wrong with a spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    Absent,
    Unreadable,
    /// It names no object of this kind.
    Unnamed(&'static str),
    /// It names one that does not exist.
    Dangling {
        kind: &'static str,
        key: Key,
    },
    /// Its Cluster is made of something that has no region.
    Regionless {
        kind: String,
    },
    /// The template's spec has another shape.
    OddTemplate {
        key: Key,
    },
}

/// Rules 2 and 3.
pub fn find<'a>(subject: &Subject<'a>) -> Result<Machine<'a>, NoMachine> {
    match &subject.pool.provider {
        Provider::Foreign { kind } => Err(NoMachine::NotAws { platform: kind.to_string() }),
        Provider::Absent => other_platform(subject).and(Err(NoMachine::Invalid(Fault::Absent))),
        Provider::Unreadable => other_platform(subject).and(Err(NoMachine::Invalid(Fault::Unreadable))),
        Provider::Inline { kind, instance_type, region, secret: _ } => {
            match kind {
                SpecKind::Aws => {}
                SpecKind::Unsaid => other_platform(subject)?,
            }
            let said = |value, field: &str| Said {
                value,
                object: subject.object(),
                field: format!("spec.template.spec.providerSpec.value.{field}"),
            };
            let region = said(region, "placement.region");
            Ok(Machine {
                instance_type: said(instance_type, "instanceType"),
                region_place: region.field.clone(),
                region,
                native: None,
            })
        }
        Provider::Template { cluster, template, region } => templated(subject, cluster, template, region),
    }
}

/// What the cluster's own Infrastructure says, where a provider spec does not say whose it is.
fn other_platform(subject: &Subject<'_>) -> Result<(), NoMachine> {
    match subject.context.infrastructure.get(&Key::new(None, SINGLETON)).known() {
        Ok(Some(found)) if found.platform.is_empty() || *found.platform == *AWS_PLATFORM => Ok(()),
        Ok(Some(found)) => Err(NoMachine::NotAws { platform: format!("{} {}", INFRASTRUCTURE.kind, found.platform) }),
        Ok(None) => Ok(()),
        Err(gap) => Err(NoMachine::NotKnown(gap)),
    }
}

fn templated<'a>(
    subject: &Subject<'a>,
    cluster: &str,
    template: &Reference,
    own_region: &'a str,
) -> Result<Machine<'a>, NoMachine> {
    let context = &subject.context;
    if template.name.is_empty() {
        return Err(NoMachine::Invalid(Fault::Unnamed(TEMPLATE.kind)));
    }
    let (template_key, template) = resolve(subject, &context.templates, TEMPLATE.kind, template)?;
    if cluster.is_empty() {
        return Err(NoMachine::Invalid(Fault::Unnamed(CLUSTER.kind)));
    }
    let named = Reference { kind: CLUSTER.kind.into(), namespace: "".into(), name: cluster.into() };
    let (cluster_key, cluster) = resolve(subject, &context.clusters, CLUSTER.kind, &named)?;
    let (region, region_place) = region(subject, &cluster_key, cluster, own_region)?;
    let Some(instance_type) = template.instance_type.as_deref() else {
        return Err(NoMachine::Invalid(Fault::OddTemplate { key: template_key }));
    };
    let object = format!("{} {} {template_key}", context.cluster.name, TEMPLATE.kind);
    let field = "spec.template.spec.instanceType".to_owned();
    let native = template.capacity.as_ref().map(|(cpu, memory)| (cpu.as_ref(), memory.as_ref()));
    Ok(Machine { instance_type: Said { value: instance_type, object, field }, region, region_place, native })
}

/// The region of the object a Cluster is made of; where that says none, the one an annotation says.
fn region<'a>(
    subject: &Subject<'a>,
    cluster_key: &Key,
    cluster: &'a CapiCluster,
    own_region: &'a str,
) -> Result<(Said<'a>, String), NoMachine> {
    let context = &subject.context;
    let annotated = |value: &'a str, object: String| Said {
        value,
        object,
        field: format!("metadata.annotations[\"{REGION_ANNOTATION}\"]"),
    };
    let cluster_object = format!("{} {} {cluster_key}", context.cluster.name, CLUSTER.kind);
    let by_annotation = match (own_region, &*cluster.region) {
        ("", "") => None,
        ("", region) => Some(annotated(region, cluster_object)),
        (region, _) => Some(annotated(region, subject.object())),
    };
    // Without the name of this cluster, which the finding has.
    let place = |said: &Said<'_>| {
        let object = said.object.split_once(' ').map_or(said.object.as_str(), |(_, object)| object);
        format!("{} of {object}", said.field)
    };
    let alone = |by_annotation: Option<Said<'a>>, fault: Fault| {
        let said = by_annotation.ok_or(NoMachine::Invalid(fault))?;
        let place = place(&said);
        Ok((said, place))
    };
    match home(subject, cluster) {
        Ok(said) => {
            let place = place(&said);
            let is_said = !said.value.is_empty();
            Ok((by_annotation.filter(|_| !is_said).unwrap_or(said), place))
        }
        Err(NoMachine::Invalid(fault @ (Fault::Unnamed(_) | Fault::Regionless { .. }))) => alone(by_annotation, fault),
        Err(other) => Err(other),
    }
}

/// What the object says that a Cluster is made of.
fn home<'a>(subject: &Subject<'a>, cluster: &'a CapiCluster) -> Result<Said<'a>, NoMachine> {
    let context = &subject.context;
    let Some(made_of) = &cluster.infrastructure else {
        return match &cluster.control_plane {
            Some(plane) if *plane.kind == *MANAGED_PLANE.kind => {
                regional(subject, &context.planes, MANAGED_PLANE.kind, plane)
            }
            Some(_) | None => Err(NoMachine::Invalid(Fault::Unnamed(AWS_CLUSTER.kind))),
        };
    };
    match (&*made_of.kind, &cluster.control_plane) {
        (kind, _) if kind == AWS_CLUSTER.kind => regional(subject, &context.aws_clusters, AWS_CLUSTER.kind, made_of),
        (kind, _) if kind == MANAGED_PLANE.kind => regional(subject, &context.planes, MANAGED_PLANE.kind, made_of),
        (kind, Some(plane)) if kind == MANAGED_CLUSTER_KIND && *plane.kind == *MANAGED_PLANE.kind => {
            regional(subject, &context.planes, MANAGED_PLANE.kind, plane)
        }
        (kind, _) => Err(NoMachine::Invalid(Fault::Regionless { kind: kind.to_owned() })),
    }
}

fn regional<'a>(
    subject: &Subject<'a>,
    listing: &Listing<'a, Regional>,
    kind: &'static str,
    named: &Reference,
) -> Result<Said<'a>, NoMachine> {
    let (key, found) = resolve(subject, listing, kind, named)?;
    let object = format!("{} {kind} {key}", subject.context.cluster.name);
    Ok(Said { value: &found.region, object, field: "spec.region".to_owned() })
}

/// The object a reference leads to. It is in the namespace of the referring object unless it names another.
fn resolve<'a, F: Fact>(
    subject: &Subject<'a>,
    listing: &Listing<'a, F>,
    kind: &'static str,
    named: &Reference,
) -> Result<(Key, &'a F), NoMachine> {
    let own = subject.namespace().map(Namespace::as_str);
    let namespace = if named.namespace.is_empty() { own } else { Some(&*named.namespace) };
    let key = Key::new(namespace, &named.name);
    match listing.referenced(&key).known() {
        Ok(Some(found)) => Ok((key, found)),
        Ok(None) => Err(NoMachine::Invalid(Fault::Dangling { kind, key })),
        Err(gap) => Err(NoMachine::NotKnown(gap)),
    }
}
