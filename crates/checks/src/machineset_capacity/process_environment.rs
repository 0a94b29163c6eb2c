//! What the annotator sees of its environment: that of the pods of its Deployment, or what a recording says.
//!
//! ```text
//!   a recording ──────────────────────────► its own `environment`, or not judged
//!   live ──► the annotator's Deployment (`annotator`) ──► its pods' containers
//!        │ none running ──► its template, as far as that decides: the EKS webhook may add to it
//!        ▼ no annotator
//!   not judged. The variables of this process are nobody else's, and are never read here.
//! ```
//!
//! Invariants: a variable whose value is not visible makes the answer unknown, never unset.

use super::annotator::{Scope, Search, search};
use super::facts::{Container, Deployment, Environment, Pod, ServiceAccount, TokenMount, Variable};
use super::names::{ENVIRONMENT, POD, ROLE_ARN, SERVICE_ACCOUNT, TOKEN_FILE, WORKLOAD};
use super::settings::Workload;
use trueup_core::world::{Cluster, CollectionId, Gap, GapCause, Interest, Key, Link, Reading, Served, View};

/// What is known of the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessEnvironment {
    pub said: Said,
    /// The collections that say it.
    asks: Vec<Asks>,
    /// Why no annotator was found, where one was searched.
    pub unfound: Option<String>,
    /// The Deployment of the annotator, where it was found.
    pub annotator: Option<Workload>,
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
    /// The object they were read from, and the field.
    pub object: String,
    pub field: String,
    pub role: Option<String>,
    pub token_file: Option<String>,
    pub has_pod_identity: bool,
    /// What is known of the pod behind them; nothing in a recording.
    pub pod: Option<SeenPod>,
}

/// The parts of a pod that a role with its token needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenPod {
    pub token: TokenMount,
    /// The role its ServiceAccount is annotated with; empty where that is not known or not written.
    pub annotated_role: Box<str>,
    /// Its ServiceAccount, and the object as evidence names it; nothing where that is not known.
    pub service_account: Option<(Key, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Asks {
    Environment(CollectionId),
    Deployment(CollectionId),
    Pods(CollectionId),
    ServiceAccount(CollectionId),
}

impl ProcessEnvironment {
    /// The environment the sets of this scope are annotated from.
    pub fn of(view: View<'_>, cluster: &Cluster, named: Option<&Workload>, scope: Scope) -> Self {
        if cluster.link == Link::Recorded {
            return recorded(view, cluster);
        }
        let (searched, found) = search(view, cluster, named, scope);
        let mut asks: Vec<Asks> = searched.into_iter().map(Asks::Deployment).collect();
        match found {
            Search::NotFound(why) => Self { said: Said::Nothing, asks, unfound: Some(why), annotator: None },
            Search::NotKnown(gap) => Self { said: Said::NotKnown(gap), asks, unfound: None, annotator: None },
            Search::Found { workload, deployment } => {
                let said = of_deployment(view, cluster, &workload, deployment, &mut asks);
                Self { said, asks, unfound: None, annotator: Some(workload) }
            }
        }
    }

    /// What has to be asked for to know more.
    pub fn interests(&self) -> impl Iterator<Item = Interest> {
        self.asks.iter().map(|asks| match asks {
            Asks::Environment(id) => id.clone().interest::<Environment>(),
            Asks::Deployment(id) => id.clone().interest::<Deployment>(),
            Asks::Pods(id) => id.clone().interest::<Pod>(),
            Asks::ServiceAccount(id) => id.clone().interest::<ServiceAccount>(),
        })
    }
}

/// The variables that a recording holds.
fn recorded(view: View<'_>, cluster: &Cluster) -> ProcessEnvironment {
    let nothing = ProcessEnvironment { said: Said::Nothing, asks: Vec::new(), unfound: None, annotator: None };
    match &cluster.served {
        Served::Complete(_) | Served::Recorded(_) if !cluster.served.lacks(&ENVIRONMENT) => {}
        Served::Complete(_) | Served::Recorded(_) | Served::Unknown(_) => return nothing,
    }
    let id = CollectionId::all(&cluster.name, ENVIRONMENT);
    let reading = view.read::<Environment>(&id);
    let said = match reading.iter().next() {
        None => reading.gap().map_or(Said::Nothing, Said::NotKnown),
        Some((_, Environment { role, token_file, has_pod_identity })) => Said::Known(Seen {
            object: format!("{} {} pod", cluster.name, ENVIRONMENT.kind),
            field: "variables".to_owned(),
            role: role.as_deref().map(str::to_owned),
            token_file: token_file.as_deref().map(str::to_owned),
            has_pod_identity: *has_pod_identity,
            pod: None,
        }),
    };
    ProcessEnvironment { said, asks: vec![Asks::Environment(id)], unfound: None, annotator: None }
}

fn of_deployment(
    view: View<'_>,
    cluster: &Cluster,
    workload: &Workload,
    deployment: &Deployment,
    asks: &mut Vec<Asks>,
) -> Said {
    let Some(labels) = &deployment.labels else {
        let name = format!("{}/{}", workload.namespace, workload.deployment);
        return unreadable(format!(
            "{} {name} selects its pods by expressions, which are not supported",
            WORKLOAD.kind
        ));
    };
    let id = CollectionId::namespaced(&cluster.name, POD, &workload.namespace).labelled(labels);
    let pods = view.read::<Pod>(&id);
    asks.push(Asks::Pods(id));
    let account = Key::new(Some(&workload.namespace), &deployment.service_account);
    let accounts = CollectionId::namespaced(&cluster.name, SERVICE_ACCOUNT, &workload.namespace)
        .with_fields(&format!("metadata.name={}", account.name));
    let annotated = view.read::<ServiceAccount>(&accounts).get(&account).present().map(|found| found.role.clone());
    asks.push(Asks::ServiceAccount(accounts));
    let mut said = of_pods(cluster, workload, deployment, &pods);
    if let Said::Known(Seen { pod: Some(pod), .. }) = &mut said {
        pod.annotated_role = annotated.unwrap_or_default();
        let object = format!("{} {} {account}", cluster.name, SERVICE_ACCOUNT.kind);
        pod.service_account = Some((account, object));
    }
    said
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
        object,
        field,
        role: value(&container.role),
        token_file: value(&container.token_file),
        has_pod_identity: container.has_pod_identity,
        pod: Some(SeenPod { token: container.token.clone(), annotated_role: "".into(), service_account: None }),
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
