//! What the annotating process sees of its environment: that of the pods the config names, else of this process, else
//! what a recording says.
//!
//! ```text
//!   a recording ──────────────────────────► its own `environment`, or not known
//!   live, and the config names a Deployment that is there ──► its pods' containers
//!        │ none running ──► its template, as far as that decides: the EKS webhook may add to it
//!        ▼ it names none, or none that is there
//!   the variables of this process, as the cluster's AWS account tells them
//! ```
//!
//! Invariants: a variable whose value is not visible makes the answer unknown, never unset.

use super::catalogue::Account;
use super::facts::{Container, Deployment, Environment, Pod, Variable};
use super::names::{ENVIRONMENT, POD, ROLE_ARN, TOKEN_FILE, WORKLOAD};
use super::settings::Workload;
use trueup_core::world::{
    Cluster, CollectionId, Gap, GapCause, Interest, Key, Link, Observation, Reading, Served, View,
};

/// What is known of the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessEnvironment {
    pub said: Said,
    /// The collections that say it.
    asks: Vec<Asks>,
    /// A Deployment that the config names and that this cluster does not have.
    pub without: Option<String>,
}

/// What is said, and how well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// Nothing is known of it.
    Nothing,
    NotKnown(Gap),
    Known(Seen),
}

/// The variables that say where a login is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub whose: Whose,
    /// The object they were read from, and the field.
    pub object: String,
    pub field: String,
    pub role: Option<String>,
    pub token_file: Option<String>,
    pub has_pod_identity: bool,
}

/// Whose environment it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The process that asks AWS, or one that was written down as if.
    Process,
    /// A pod's: its token file is there and not here.
    Pod,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Asks {
    Environment(CollectionId),
    Deployment(CollectionId),
    Pods(CollectionId),
}

impl ProcessEnvironment {
    pub fn of(view: View<'_>, cluster: &Cluster, accounts: &[Account<'_>], named: Option<&Workload>) -> Self {
        let Some(workload) = named.filter(|_| cluster.link != Link::Recorded) else {
            return of_process(view, cluster, accounts);
        };
        let id = deployment_id(cluster, workload);
        let key = Key::new(Some(&workload.namespace), &workload.deployment);
        let mut asks = vec![Asks::Deployment(id.clone())];
        match view.read::<Deployment>(&id).get(&key) {
            Observation::Unknown(gap) => Self { said: Said::NotKnown(gap), asks, without: None },
            Observation::ProvenAbsent(_) => {
                let Self { said, asks: more, .. } = of_process(view, cluster, accounts);
                asks.extend(more);
                Self { said, asks, without: Some(format!("{} {} {key}", cluster.name, WORKLOAD.kind)) }
            }
            Observation::Present(deployment) => {
                let said = match &deployment.labels {
                    None => {
                        unreadable(format!("{} {key} picks its pods in a way they can't be asked for", WORKLOAD.kind))
                    }
                    Some(labels) => {
                        let id = CollectionId::namespaced(&cluster.name, POD, &workload.namespace).labelled(labels);
                        let pods = view.read::<Pod>(&id);
                        asks.push(Asks::Pods(id));
                        of_pods(cluster, workload, deployment, &pods)
                    }
                };
                Self { said, asks, without: None }
            }
        }
    }

    /// What has to be asked for to know more.
    pub fn interests(&self) -> impl Iterator<Item = Interest> {
        self.asks.iter().map(|asks| match asks {
            Asks::Environment(id) => id.clone().interest::<Environment>(),
            Asks::Deployment(id) => id.clone().interest::<Deployment>(),
            Asks::Pods(id) => id.clone().interest::<Pod>(),
        })
    }

    /// Whose environment logins are judged by.
    pub fn whose(&self) -> Whose {
        match &self.said {
            Said::Known(seen) => seen.whose,
            Said::Nothing | Said::NotKnown(_) => Whose::Process,
        }
    }
}

/// Whether a collection is one that says what a pod the config names sees.
pub fn is_of_workload(id: &CollectionId, workload: &Workload) -> bool {
    let is_kind = id.resource == WORKLOAD || id.resource == POD;
    is_kind && id.namespace().is_some_and(|namespace| namespace.as_str() == workload.namespace)
}

fn deployment_id(cluster: &Cluster, workload: &Workload) -> CollectionId {
    let id = CollectionId::namespaced(&cluster.name, WORKLOAD, &workload.namespace);
    id.with_fields(&format!("metadata.name={}", workload.deployment))
}

/// Where the variables of a process are: in the recording of its cluster, else with an account, which knows those of this
/// process.
fn of_process(view: View<'_>, cluster: &Cluster, accounts: &[Account<'_>]) -> ProcessEnvironment {
    let message = |one: &Cluster| match &one.served {
        Served::Complete(_) | Served::Recorded(_) => !one.served.lacks(&ENVIRONMENT),
        Served::Unknown(_) => false,
    };
    let own = accounts.iter().filter(|account| !account.is_recorded() && account.is_of(&cluster.name));
    let owner =
        if message(cluster) { Some(cluster) } else { own.map(|account| account.member).find(|one| message(one)) };
    let Some(owner) = owner else { return ProcessEnvironment { said: Said::Nothing, asks: Vec::new(), without: None } };
    let id = CollectionId::all(&owner.name, ENVIRONMENT);
    let reading = view.read::<Environment>(&id);
    let said = match reading.iter().next() {
        None => reading.gap().map_or(Said::Nothing, Said::NotKnown),
        Some((_, Environment { role, token_file, has_pod_identity })) => Said::Known(Seen {
            whose: Whose::Process,
            object: format!("{} {} pod", owner.name, ENVIRONMENT.kind),
            field: "variables".to_owned(),
            role: role.as_deref().map(str::to_owned),
            token_file: token_file.as_deref().map(str::to_owned),
            has_pod_identity: *has_pod_identity,
        }),
    };
    ProcessEnvironment { said, asks: vec![Asks::Environment(id)], without: None }
}

fn of_pods(cluster: &Cluster, workload: &Workload, deployment: &Deployment, pods: &Reading<'_, Pod>) -> Said {
    if let Some(gap) = pods.gap() {
        return Said::NotKnown(gap);
    }
    let name = format!("{}/{}", workload.namespace, workload.deployment);
    let mut running = pods.iter().filter(|(_, pod)| !pod.has_ended);
    let Some((key, first)) = running.next() else {
        return of_template(cluster, workload, deployment, &name);
    };
    let object = format!("{} {} {key}", cluster.name, POD.kind);
    let Some(container) = chosen(workload, &first.containers) else { return no_container(workload, &object) };
    let differs = |pod: &Pod| chosen(workload, &pod.containers).is_none_or(|other| other != container);
    if running.any(|(_, pod)| differs(pod)) {
        return unreadable(format!(
            "the pods of {} {name} do not see the same variables: it is being rolled out",
            WORKLOAD.kind
        ));
    }
    seen(container, object, "spec.containers")
}

/// What a template decides without a pod of it. The EKS webhook adds both variables where neither is set, and neither
/// where one is.
fn of_template(cluster: &Cluster, workload: &Workload, deployment: &Deployment, name: &str) -> Said {
    let object = format!("{} {} {name}", cluster.name, WORKLOAD.kind);
    let Some(container) = chosen(workload, &deployment.containers) else { return no_container(workload, &object) };
    match (&container.role, &container.token_file) {
        (Variable::Unset, Variable::Unset) => unreadable(format!(
            "no pod of {} {name} is running, and its template sets neither {ROLE_ARN} nor {TOKEN_FILE}: whether the EKS \
             webhook would is seen when one does",
            WORKLOAD.kind
        )),
        (
            Variable::Unset | Variable::Set(_) | Variable::Elsewhere,
            Variable::Unset | Variable::Set(_) | Variable::Elsewhere,
        ) => seen(container, object, "spec.template.spec.containers"),
    }
}

fn seen(container: &Container, object: String, field: &str) -> Said {
    let field = format!("{field}[name={}].env", container.name);
    let elsewhere = [(&container.role, ROLE_ARN), (&container.token_file, TOKEN_FILE)]
        .into_iter()
        .find(|(variable, _)| **variable == Variable::Elsewhere);
    if let Some((_, name)) = elsewhere {
        return unreadable(format!(
            "{name} of {object} comes from another object when the container starts: whether it is set is not seen here"
        ));
    }
    let value = |variable: &Variable| match variable {
        Variable::Set(value) => Some(value.to_string()),
        Variable::Unset | Variable::Elsewhere => None,
    };
    Said::Known(Seen {
        whose: Whose::Pod,
        object,
        field,
        role: value(&container.role),
        token_file: value(&container.token_file),
        has_pod_identity: container.has_pod_identity,
    })
}

fn chosen<'c>(workload: &Workload, containers: &'c [Container]) -> Option<&'c Container> {
    match &workload.container {
        None => containers.first(),
        Some(name) => containers.iter().find(|container| *container.name == **name),
    }
}

fn no_container(workload: &Workload, object: &str) -> Said {
    let name = workload.container.as_deref().unwrap_or("any");
    unreadable(format!("{object} has no container {name}: correct credentials_from in the config"))
}

fn unreadable(message: String) -> Said {
    Said::NotKnown(Gap::new(GapCause::Unreadable, message))
}
