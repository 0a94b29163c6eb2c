//! Several files as one kubeconfig, and the choice of contexts.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{KubeconfigError, Part};
use super::file::{self, Cluster, Context, User};
use super::in_cluster::PodAccount;
use crate::connect::env::Env;
use crate::connect::text::{nearest, printable};
use trueup_core::files;
use trueup_core::world::Obj;

/// A kubeconfig of thousands of contexts with certificates inside still fits.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The merged kubeconfig.
#[derive(Debug)]
pub struct Kubeconfig {
    /// How messages name it as a whole.
    pub(super) place: String,
    pub(super) trust: Trust,
    pub(super) current_context: Option<String>,
    pub(super) clusters: BTreeMap<String, Placed<Cluster>>,
    pub(super) contexts: BTreeMap<String, Placed<Context>>,
    pub(super) users: BTreeMap<String, Placed<User>>,
}

/// Who wrote the kubeconfig, and so what it may make this program do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The user's own file: it may name commands and files.
    UsersOwn,
    /// Read from a Secret: a writer of that Secret must not be able to run a command or read a file on this machine.
    FromSecret,
    /// The kubelet: the ServiceAccount of the pod this process runs in.
    Pod,
}

/// Where kubeconfig files are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Places {
    /// This file, which must exist (`--kubeconfig`).
    Only(PathBuf),
    /// Those of these files that exist (`KUBECONFIG`, or the default); without any, the account of the pod.
    Search { files: Vec<PathBuf>, pod: Option<PodAccount> },
}

/// Which contexts to connect to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Selection {
    #[default]
    Current,
    Named(Vec<String>),
    All,
}

/// A part with the file it came from.
#[derive(Debug)]
pub(super) struct Placed<T> {
    pub part: T,
    pub origin: Arc<Origin>,
}

/// Where a part was written.
#[derive(Debug)]
pub(super) struct Origin {
    pub place: String,
    /// What relative paths are relative to.
    pub folder: PathBuf,
}

impl Places {
    /// The places for a `--kubeconfig` flag (if given) and an environment.
    pub fn new(flag: Option<&Path>, env: &Env) -> Self {
        if let Some(file) = flag {
            return Self::Only(file.to_owned());
        }
        let files = match env.raw("KUBECONFIG") {
            Some(list) => std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()).collect(),
            None => env.home().map(|home| home.join(".kube/config")).into_iter().collect(),
        };
        Self::Search { files, pod: PodAccount::of(env) }
    }

    /// All files that could matter, so that a change of any can be noticed.
    pub fn files(&self) -> &[PathBuf] {
        match self {
            Self::Only(file) => std::slice::from_ref(file),
            Self::Search { files, pod: _ } => files,
        }
    }
}

impl Kubeconfig {
    /// Reads and merges the files.
    ///
    /// # Errors
    /// There is no file and no pod account, or one can't be read or parsed: half a kubeconfig could mean the wrong
    /// cluster.
    pub fn read(places: &Places) -> Result<Self, KubeconfigError> {
        let mut merged = Self::empty(Trust::UsersOwn);
        let mut found = Vec::new();
        for path in places.files() {
            let place = shown(path);
            match files::read_text(path, FILE_BYTES_MAX) {
                Ok(text) => {
                    merged.take(file::parse(&text, &place)?, &place, path.parent().unwrap_or(Path::new("")))?;
                    found.push(place);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound && matches!(places, Places::Search { .. }) => {}
                Err(error) => return Err(KubeconfigError::NotReadable { place, why: error.kind().to_string() }),
            }
        }
        if found.is_empty() {
            let looked: Vec<String> = places.files().iter().map(|path| shown(path)).collect();
            return match places {
                Places::Search { files: _, pod: Some(account) } => account.kubeconfig(looked),
                Places::Search { files: _, pod: None } | Places::Only(_) => Err(KubeconfigError::NoneFound { looked }),
            };
        }
        merged.place = found.join(", ");
        Ok(merged)
    }

    /// Parses one text that is not a file of the user's, such as the value of a Secret.
    ///
    /// # Errors
    /// The text is not a kubeconfig. `place` is how the message names it.
    pub fn parse(text: &str, place: &str, trust: Trust) -> Result<Self, KubeconfigError> {
        Self::parse_in(text, place, trust, Path::new(""))
    }

    /// The same; what the text names is relative to `folder`.
    pub(super) fn parse_in(text: &str, place: &str, trust: Trust, folder: &Path) -> Result<Self, KubeconfigError> {
        let mut merged = Self::empty(trust);
        merged.take(file::parse(text, place)?, place, folder)?;
        merged.place = place.to_owned();
        Ok(merged)
    }

    /// The names of the chosen contexts, each once, in the order asked for (all: by name).
    ///
    /// # Errors
    /// A context that is not there, or no current one; the message names those that are.
    pub fn select(&self, selection: &Selection) -> Result<Vec<String>, KubeconfigError> {
        match selection {
            Selection::All => Ok(self.contexts.keys().cloned().collect()),
            Selection::Current => {
                let current = self.current_context.as_deref().ok_or_else(|| KubeconfigError::NoCurrentContext {
                    place: self.place.clone(),
                    known: nearest("", self.context_names()),
                })?;
                self.known_context(current).map(|()| vec![current.to_owned()])
            }
            Selection::Named(names) => {
                let mut chosen: Vec<String> = Vec::new();
                for name in names {
                    self.known_context(name)?;
                    if !chosen.contains(name) {
                        chosen.push(name.clone());
                    }
                }
                Ok(chosen)
            }
        }
    }

    /// Who wrote it.
    pub fn trust(&self) -> Trust {
        self.trust
    }

    pub fn current_context(&self) -> Option<&str> {
        self.current_context.as_deref()
    }

    pub fn context_names(&self) -> impl Iterator<Item = &str> {
        self.contexts.keys().map(String::as_str)
    }

    fn known_context(&self, name: &str) -> Result<(), KubeconfigError> {
        if self.contexts.contains_key(name) {
            return Ok(());
        }
        Err(KubeconfigError::NoSuchContext {
            place: self.place.clone(),
            asked: name.to_owned(),
            known: nearest(name, self.context_names()),
        })
    }

    fn empty(trust: Trust) -> Self {
        Self {
            place: String::new(),
            trust,
            current_context: None,
            clusters: BTreeMap::new(),
            contexts: BTreeMap::new(),
            users: BTreeMap::new(),
        }
    }

    fn take(&mut self, file: file::File, place: &str, folder: &Path) -> Result<(), KubeconfigError> {
        let origin = Arc::new(Origin { place: place.to_owned(), folder: folder.to_owned() });
        let file::File { current_context, clusters, contexts, users } = file;
        if self.current_context.is_none() {
            self.current_context = current_context.filter(|name| !name.is_empty());
        }
        let clusters = clusters.into_iter().flatten().map(|Obj(entry)| (entry.name, entry.cluster.0));
        let contexts = contexts.into_iter().flatten().map(|Obj(entry)| (entry.name, entry.context.0));
        let users = users.into_iter().flatten().map(|Obj(entry)| (entry.name, entry.user.0));
        put(&mut self.clusters, clusters, Part::Cluster, &origin)?;
        put(&mut self.contexts, contexts, Part::Context, &origin)?;
        put(&mut self.users, users, Part::User, &origin)
    }
}

/// Adds the parts of one file. A name an earlier file has is left alone; one the same file has twice is an error.
fn put<T>(
    held: &mut BTreeMap<String, Placed<T>>,
    parts: impl Iterator<Item = (String, T)>,
    kind: Part,
    origin: &Arc<Origin>,
) -> Result<(), KubeconfigError> {
    let mut names = BTreeSet::new();
    for (name, part) in parts {
        if !names.insert(name.clone()) {
            return Err(KubeconfigError::Duplicate { place: origin.place.clone(), part: kind, name });
        }
        held.entry(name).or_insert_with(|| Placed { part, origin: origin.clone() });
    }
    Ok(())
}

fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy(), 300)
}
