//! A cluster with its sets of machines, and everything their judgements look at.
//!
//! Invariants: that something is not there is said by a complete list of its kind alone.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::annotator::Scope;
use super::catalogue::{Account, Catalogue, Offer, Question, may_be_asked};
use super::credentials::Credentials;
use super::facts::{InstanceType, Issuer, Login, Pool, Regional, Template};
use super::machine;
use super::names::{
    AUTHENTICATION, AWS_CLUSTER, CAPI_SET, CLUSTER, DEPLOYMENT, INFRASTRUCTURE, MACHINE_SET, MANAGED_PLANE, TEMPLATE,
};
use super::process_environment::ProcessEnvironment;
use super::region::partition;
use super::settings::Settings;
use super::subjects::{self, Sort};
use crate::kinds::{CapiCluster, Infrastructure, Listing, Secrets};
use trueup_core::world::{Cluster, ClusterName, Fact, Gap, GapCause, Key, Link, Resource, Served, Sighting, View};

/// The accounts of the fleet, and what they are asked and answer, looked up when first needed.
pub struct FleetCatalogue<'a> {
    pub view: View<'a>,
    pub accounts: Vec<Account<'a>>,
    settings: &'a Settings,
    catalogues: RefCell<BTreeMap<Question, Rc<Catalogue<'a>>>>,
    questions: RefCell<BTreeMap<ClusterName, Rc<Questions<'a>>>>,
}

/// What a cluster needs to know of its regions: each question with the types it is about.
pub type Questions<'a> = BTreeMap<Question, BTreeSet<&'a str>>;

impl<'a> FleetCatalogue<'a> {
    pub fn new(view: View<'a>, settings: &'a Settings) -> Self {
        let accounts = Account::all(view);
        Self { view, accounts, settings, catalogues: RefCell::default(), questions: RefCell::default() }
    }

    /// Nothing for an account, and for a cluster without machine sets.
    pub fn context(&self, cluster: &ClusterName) -> Option<CheckContext<'a>> {
        CheckContext::of(self.view, cluster, self.settings)
    }

    /// What the accounts of the fleet answer to a question.
    pub fn catalogue(&self, question: &Question) -> Rc<Catalogue<'a>> {
        if let Some(catalogue) = self.catalogues.borrow().get(question) {
            return catalogue.clone();
        }
        // A folder's account is read whole: what else is wanted of it makes no difference.
        let is_asked = self.accounts.iter().any(|account| !account.is_recorded());
        let types = match is_asked {
            true => self.questions_of(&question.cluster).get(question).cloned().unwrap_or_default(),
            false => BTreeSet::new(),
        };
        let catalogue = Rc::new(Catalogue::of(self.view, &self.accounts, question, &types));
        self.catalogues.borrow_mut().insert(question.clone(), catalogue.clone());
        catalogue
    }

    /// The clusters with sets of machines.
    pub fn with_pools(&self) -> BTreeSet<&'a ClusterName> {
        self.view.filled::<Pool>().map(|(id, _)| &id.cluster).collect()
    }

    /// Everything a cluster needs to know of its regions.
    pub fn questions_of(&self, cluster: &ClusterName) -> Rc<Questions<'a>> {
        if let Some(questions) = self.questions.borrow().get(cluster) {
            return questions.clone();
        }
        let mut questions = Questions::new();
        if let Some(context) = self.context(cluster).map(Rc::new) {
            for subject in subjects::pools(&context) {
                let Ok(machine) = machine::find(&subject) else { continue };
                let (instance_type, region) = (machine.instance_type.value, machine.region.value);
                let credentials = Credentials::of(&subject);
                let login = credentials.login().filter(|_| partition(region).is_some());
                let Some(login) = login.filter(|_| !instance_type.is_empty()) else { continue };
                let question = Question { cluster: cluster.clone(), region: region.to_owned(), login };
                let types = questions.entry(question).or_default();
                types.extend(may_be_asked(instance_type).then_some(instance_type));
            }
        }
        let questions = Rc::new(questions);
        self.questions.borrow_mut().insert(cluster.clone(), questions.clone());
        questions
    }

    /// A type as any answer about its region describes it, with any login.
    pub fn described(&self, region: &str, instance_type: &str) -> Option<(&'a Cluster, &'a InstanceType)> {
        let offered = |question: &Question| match self.catalogue(question).find(instance_type) {
            Offer::Offered { by, offered } => Some((by, offered)),
            Offer::NotOffered { .. } | Offer::Failed(_) | Offer::NoCatalogue | Offer::NotKnown(_) => None,
        };
        self.with_pools().into_iter().find_map(|cluster| {
            let questions = self.questions_of(cluster);
            questions.keys().filter(|question| question.region == region).find_map(offered)
        })
    }
}

/// One cluster and what is known there.
pub struct CheckContext<'a> {
    pub view: View<'a>,
    pub cluster: &'a Cluster,
    pub machine_sets: Listing<'a, Pool>,
    pub deployments: Listing<'a, Pool>,
    pub capi_sets: Listing<'a, Pool>,
    pub clusters: Listing<'a, CapiCluster>,
    pub templates: Listing<'a, Template>,
    pub aws_clusters: Listing<'a, Regional>,
    pub planes: Listing<'a, Regional>,
    pub infrastructure: Listing<'a, Infrastructure>,
    /// Who issues the tokens of service accounts; asked for live OpenShift clusters only.
    pub issuer: Listing<'a, Issuer>,
    /// What the annotator of Machine API sets sees.
    machine_api: ProcessEnvironment,
    /// What that of Cluster API sets sees.
    cluster_api: ProcessEnvironment,
    pub secrets: Secrets<'a>,
}

/// Whether a collection is worth asking for. A folder answers for kinds it holds nothing of, as well: what it says of
/// them is whether there are none.
fn is_asked(cluster: &Cluster, resource: &Resource) -> bool {
    let leaves = [TEMPLATE, AWS_CLUSTER, MANAGED_PLANE, CLUSTER];
    let is_leaf = *resource == INFRASTRUCTURE || leaves.iter().any(|kind| kind.is(resource));
    match cluster.served {
        Served::Recorded(_) if is_leaf => true,
        Served::Recorded(_) | Served::Complete(_) | Served::Unknown(_) => !cluster.served.lacks(resource),
    }
}

impl<'a> CheckContext<'a> {
    /// Nothing for an account, and for a cluster that serves no sets of machines: most have none, and are asked about often.
    pub fn of(view: View<'a>, cluster: &ClusterName, settings: &Settings) -> Option<Self> {
        let may_have_pools = |cluster: &&Cluster| [MACHINE_SET, DEPLOYMENT].iter().any(|kind| is_asked(cluster, kind));
        let cluster = view.cluster(cluster).filter(|cluster| !Account::is_one(cluster)).filter(may_have_pools)?;
        let named = settings.credentials_from.as_ref();
        let asks_issuer = cluster.link != Link::Recorded && !cluster.served.lacks(&AUTHENTICATION);
        Some(Self {
            view,
            cluster,
            machine_sets: listing(view, cluster, MACHINE_SET.in_cluster(cluster)),
            deployments: listing(view, cluster, DEPLOYMENT.in_cluster(cluster)),
            capi_sets: listing(view, cluster, CAPI_SET.in_cluster(cluster)),
            clusters: listing(view, cluster, CLUSTER.in_cluster(cluster)),
            templates: listing(view, cluster, TEMPLATE.in_cluster(cluster)),
            aws_clusters: listing(view, cluster, AWS_CLUSTER.in_cluster(cluster)),
            planes: listing(view, cluster, MANAGED_PLANE.in_cluster(cluster)),
            infrastructure: listing(view, cluster, INFRASTRUCTURE),
            issuer: Listing::when(asks_issuer, view, cluster, AUTHENTICATION),
            machine_api: ProcessEnvironment::of(view, cluster, named, Scope::MachineApi),
            cluster_api: ProcessEnvironment::of(view, cluster, named, Scope::ClusterApi),
            secrets: Secrets::new(view, &cluster.name),
        })
    }

    /// What the annotator of these sets sees.
    pub fn environment(&self, sort: Sort) -> &ProcessEnvironment {
        match sort {
            Sort::MachineApi => &self.machine_api,
            Sort::Deployment | Sort::CapiSet => &self.cluster_api,
        }
    }

    /// Whether there is anything here to judge.
    pub fn has_pools(&self) -> bool {
        let all = [&self.machine_sets, &self.deployments, &self.capi_sets];
        all.into_iter().any(|listing| listing.iter().next().is_some())
    }

    /// The sort of login a Secret holds. That it is there, or is not, is said by the list of its namespace; what it
    /// holds, by a read of it alone.
    pub fn login(&self, key: &Key) -> Sighting<'a, Login> {
        if key.namespace.is_none() {
            let message =
                format!("Secret {key} is named by an object that says no namespace: in which to look is not known");
            return Sighting::unknown(Gap::new(GapCause::Unreadable, message));
        }
        self.secrets.read(key)
    }
}

fn listing<'a, F: Fact>(view: View<'a>, cluster: &'a Cluster, resource: Resource) -> Listing<'a, F> {
    Listing::when(is_asked(cluster, &resource), view, cluster, resource)
}
