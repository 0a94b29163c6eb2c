//! A cluster with its sets of machines, and everything their judgements look at.
//!
//! Always true: that something is not there is said by a complete list of its kind alone.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::catalogue::{Account, Catalogue, Question, may_be_asked};
use super::credentials::Credentials;
use super::facts::{CapiCluster, Infrastructure, Login, Mark, Pool, Regional, Template};
use super::machine;
use super::names::{
    AWS_CLUSTER, CAPI_SET, CLUSTER, DEPLOYMENT, INFRASTRUCTURE, MACHINE_SET, MANAGED_PLANE, SECRET, TEMPLATE,
};
use super::region::partition;
use super::settings::Settings;
use super::subjects;
use super::surroundings::Surroundings;
use trueup_core::world::{
    Cluster, ClusterName, CollectionId, Fact, Gap, GapCause, Key, Link, Namespace, Observation, Reading, Resource,
    Served, Sighting, Uid, View,
};

/// All contexts that judging many subjects needs, each made once.
pub struct ContextCache<'a> {
    pub view: View<'a>,
    pub accounts: Vec<Account<'a>>,
    settings: &'a Settings,
    /// Subjects are sorted by cluster, so the last one is asked for again and again.
    last: RefCell<Option<(ClusterName, Option<Rc<CheckContext<'a>>>)>>,
    catalogues: RefCell<BTreeMap<Question, Rc<Catalogue<'a>>>>,
    questions: OnceCell<Questions<'a>>,
}

/// What the fleet needs to know of its regions: each question with the types it is about.
pub type Questions<'a> = BTreeMap<Question, BTreeSet<&'a str>>;

impl<'a> ContextCache<'a> {
    pub fn new(view: View<'a>, settings: &'a Settings) -> Self {
        let accounts = Account::all(view);
        Self {
            view,
            accounts,
            settings,
            last: RefCell::new(None),
            catalogues: RefCell::default(),
            questions: OnceCell::new(),
        }
    }

    pub fn of(&self, cluster: &ClusterName) -> Option<Rc<CheckContext<'a>>> {
        let mut last = self.last.borrow_mut();
        match last.as_ref() {
            Some((held, context)) if held == cluster => context.clone(),
            Some(_) | None => {
                let context = self.context(cluster);
                *last = Some((cluster.clone(), context.clone()));
                context
            }
        }
    }

    fn context(&self, cluster: &ClusterName) -> Option<Rc<CheckContext<'a>>> {
        CheckContext::of(self.view, cluster, &self.accounts, self.settings).map(Rc::new)
    }

    /// What the accounts of the fleet answer to a question.
    pub fn catalogue(&self, question: &Question) -> Rc<Catalogue<'a>> {
        if let Some(catalogue) = self.catalogues.borrow().get(question) {
            return catalogue.clone();
        }
        // A folder's account is read whole: what else is wanted of it makes no difference.
        let is_asked = self.accounts.iter().any(|account| !account.is_recorded());
        let nothing = BTreeSet::new();
        let types = if is_asked { self.questions().get(question).unwrap_or(&nothing) } else { &nothing };
        let catalogue = Rc::new(Catalogue::of(self.view, &self.accounts, question, types));
        self.catalogues.borrow_mut().insert(question.clone(), catalogue.clone());
        catalogue
    }

    /// Everything the fleet needs to know of its regions.
    pub fn questions(&self) -> &Questions<'a> {
        self.questions.get_or_init(|| {
            let mut questions = Questions::new();
            for cluster in self.view.clusters() {
                let Some(context) = self.context(&cluster.name) else { continue };
                for subject in subjects::pools(&context) {
                    let Ok(machine) = machine::find(&subject) else { continue };
                    let (instance_type, region) = (machine.instance_type.value, machine.region.value);
                    let credentials = Credentials::of(&context, subject.namespace(), &subject.pool.provider);
                    let login = credentials.login(context.surroundings.whose()).filter(|_| partition(region).is_some());
                    let Some(login) = login.filter(|_| !instance_type.is_empty()) else { continue };
                    let question = Question { cluster: cluster.name.clone(), region: region.to_owned(), login };
                    let types = questions.entry(question).or_default();
                    types.extend(may_be_asked(instance_type).then_some(instance_type));
                }
            }
            questions
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
    /// What the annotating process sees.
    pub surroundings: Surroundings,
    marks: RefCell<BTreeMap<Namespace, Reading<'a, Mark>>>,
}

/// A collection, or that nobody serves it.
pub struct Listing<'a, F> {
    view: View<'a>,
    cluster: &'a Cluster,
    resource: Resource,
    reading: Option<Reading<'a, F>>,
}

impl<'a, F: Fact> Listing<'a, F> {
    fn of(view: View<'a>, cluster: &'a Cluster, resource: Resource) -> Self {
        let is_asked = is_asked(cluster, &resource);
        let reading = is_asked.then(|| view.read(&CollectionId::all(&cluster.name, resource)));
        Self { view, cluster, resource, reading }
    }

    /// The same of one namespace, where that may say more: a folder whose list over all namespaces is cut short says in
    /// which of them.
    pub fn within(&self, namespace: &Namespace) -> Option<CollectionId> {
        let is_cut = self.gap().is_some_and(|gap| gap.cause == GapCause::CutShort);
        let says_where = is_cut && self.cluster.link == Link::Recorded && self.resource.namespaced;
        says_where.then(|| CollectionId::namespaced(&self.cluster.name, self.resource, namespace.as_str()))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'a Key, &'a F)> + use<'a, F> {
        self.reading.into_iter().flat_map(|reading| reading.iter())
    }

    pub fn gap(&self) -> Option<Gap> {
        self.reading.and_then(|reading| reading.gap())
    }

    /// What is known of an object that somebody names.
    pub fn get(&self, key: &Key) -> Sighting<'a, F> {
        match self.reading.map(|reading| reading.get(key)) {
            Some(Observation::Present(fact)) => Sighting { seen: Some(fact), gap: None },
            Some(Observation::ProvenAbsent(_)) => Sighting::ABSENT,
            Some(Observation::Unknown(gap)) => {
                let within = key.namespace.as_ref().and_then(|namespace| self.within(namespace));
                let is_absent = |id| self.view.read::<F>(&id).get(key).is_proven_absent();
                if within.is_some_and(is_absent) { Sighting::ABSENT } else { Sighting::unknown(gap) }
            }
            None => {
                let says = format!("{key} is named, and nobody serves {}", self.resource.path());
                Sighting::unknown(Gap::new(GapCause::Discovery, says))
            }
        }
    }

    /// The one object of its name, where the kind may well not be there.
    pub fn only(&self, name: &str) -> Sighting<'a, F> {
        if self.reading.is_none() { Sighting::ABSENT } else { self.get(&Key::new(None, name)) }
    }
}

/// Whether a collection is worth asking for. A folder answers for kinds it holds nothing of, as well: what it says of
/// them is whether there are none.
pub fn is_asked(cluster: &Cluster, resource: &Resource) -> bool {
    let is_leaf = [TEMPLATE, AWS_CLUSTER, MANAGED_PLANE, CLUSTER, INFRASTRUCTURE].contains(resource);
    match cluster.served {
        Served::Recorded(_) if is_leaf => true,
        Served::Recorded(_) | Served::Complete(_) | Served::Unknown(_) => !cluster.served.lacks(resource),
    }
}

impl<'a> CheckContext<'a> {
    /// Nothing for an account, and for a cluster that serves no sets of machines: most have none, and are asked about often.
    pub fn of(view: View<'a>, cluster: &ClusterName, accounts: &[Account<'a>], settings: &Settings) -> Option<Self> {
        let may_have_pools = |cluster: &&Cluster| [MACHINE_SET, DEPLOYMENT].iter().any(|kind| is_asked(cluster, kind));
        let cluster = view.cluster(cluster).filter(|cluster| !Account::is_one(cluster)).filter(may_have_pools)?;
        Some(Self {
            view,
            cluster,
            machine_sets: Listing::of(view, cluster, MACHINE_SET),
            deployments: Listing::of(view, cluster, DEPLOYMENT),
            capi_sets: Listing::of(view, cluster, CAPI_SET),
            clusters: Listing::of(view, cluster, CLUSTER),
            templates: Listing::of(view, cluster, TEMPLATE),
            aws_clusters: Listing::of(view, cluster, AWS_CLUSTER),
            planes: Listing::of(view, cluster, MANAGED_PLANE),
            infrastructure: Listing::of(view, cluster, INFRASTRUCTURE),
            surroundings: Surroundings::of(view, cluster, accounts, settings.credentials_from.as_ref()),
            marks: RefCell::default(),
        })
    }

    /// Whether there is anything here to judge.
    pub fn has_pools(&self) -> bool {
        let all = [&self.machine_sets, &self.deployments, &self.capi_sets];
        all.into_iter().any(|listing| listing.iter().next().is_some())
    }

    /// The Secrets of a namespace by their metadata.
    pub fn marks(&self, namespace: &Namespace) -> Reading<'a, Mark> {
        let mut marks = self.marks.borrow_mut();
        if let Some(reading) = marks.get(namespace) {
            return *reading;
        }
        let reading = self.view.read(&marks_id(&self.cluster.name, namespace.as_str()));
        marks.insert(namespace.clone(), reading);
        reading
    }

    /// The sort of login a Secret holds. That it is there, or is not, is said by the list of its namespace; what it
    /// holds, by a read of it alone.
    pub fn login(&self, key: &Key) -> Sighting<'a, Login> {
        let Some(namespace) = &key.namespace else {
            let says =
                format!("Secret {key} is named by an object that says no namespace: in which to look is not known");
            return Sighting::unknown(Gap::new(GapCause::Unreadable, says));
        };
        let read = || self.view.read::<Login>(&login_id(&self.cluster.name, namespace, key.name.as_str())).get(key);
        match self.marks(namespace).get(key) {
            Observation::ProvenAbsent(_) => Sighting::ABSENT,
            Observation::Present(mark) => match read() {
                Observation::Present(login) if is_same(&mark.uid, &login.uid) => {
                    Sighting { seen: Some(login), gap: None }
                }
                Observation::Present(_) | Observation::ProvenAbsent(_) => {
                    let says = format!("Secret {key} was made anew and is being read again");
                    Sighting::unknown(Gap::new(GapCause::NotObserved, says))
                }
                Observation::Unknown(gap) => Sighting::unknown(gap),
            },
            // Who may read Secrets one by one and not list them sees those that are there.
            Observation::Unknown(gap) => match read() {
                Observation::Present(login) => Sighting { seen: Some(login), gap: None },
                Observation::ProvenAbsent(_) | Observation::Unknown(_) => Sighting::unknown(gap),
            },
        }
    }
}

/// Files written by hand have objects without a uid.
fn is_same(one: &Uid, other: &Uid) -> bool {
    one.is_empty() || other.is_empty() || one == other
}

pub fn marks_id(cluster: &ClusterName, namespace: &str) -> CollectionId {
    CollectionId::namespaced(cluster, SECRET, namespace).metadata()
}

pub fn login_id(cluster: &ClusterName, namespace: &Namespace, name: &str) -> CollectionId {
    CollectionId::object(cluster, SECRET, Some(namespace.as_str()), name)
}
