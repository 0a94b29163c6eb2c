//! The custom kinds that trueup reads, made known to a real server.
//!
//! Always true: when [`install_crds`] returns, the server serves each of them.
//!
//! `TRUEUP_CRDS` may name a folder of upstream definitions, `<source>/<plural>.<group>.yaml`; those are used instead of
//! ours where they exist. Folders with `@` in their name hold alternative schemas of the same kinds and are left out.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::http::{Request, Watched};
use super::real::Connection;

const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const SERVED_POLL: Duration = Duration::from_millis(10);
/// For a machine that compiles something else on all its cores.
const SERVED_WAIT_MAX: Duration = Duration::from_secs(20);

/// Installs every kind of `tests/real/crds/` and waits until they are served. Returns their names, sorted.
pub async fn install_crds(connection: &Connection) -> Vec<String> {
    install_crds_in(connection, "tests/real/crds").await
}

/// The same with the kinds of another folder.
pub async fn install_crds_in(connection: &Connection, folder: &str) -> Vec<String> {
    let mut names = Vec::new();
    for ours in yaml_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)) {
        let file = upstream(&ours).unwrap_or(ours);
        let text = std::fs::read_to_string(&file).expect("a CRD file can be read");
        names.push(install_crd(connection, &text).await);
    }
    names
}

/// Installs one definition and waits until it is served. One that is there already is left as it is.
pub async fn install_crd(connection: &Connection, yaml: &str) -> String {
    let definition: Value = serde_saphyr::from_str(yaml).expect("a CRD file is YAML");
    let name = definition["metadata"]["name"].as_str().expect("a CRD has a name").to_owned();
    let lists = list_paths(&definition);
    let created = connection.send(&Request::post(PATH, definition)).await.expect("the server answers");
    assert!(matches!(created.status, 201 | 409), "installing {name}: {}", created.body);

    let watch = Request::get(PATH).query("watch", "true").query("fieldSelector", format!("metadata.name={name}"));
    let watched = connection.watch(&watch, is_established).await.expect("the server answers");
    assert!(matches!(watched, Watched::Reached(_)), "{name} was not established: {watched:?}");
    for list in lists {
        let served = tokio::time::timeout(SERVED_WAIT_MAX, wait_served(connection, &list)).await;
        served.unwrap_or_else(|_| panic!("{list} was established and is not served"));
    }
    name
}

/// An established kind is refused with 404 or 429 until the server has set up its cache, a few milliseconds on an idle
/// machine.
async fn wait_served(connection: &Connection, list: &str) {
    let list = Request::get(list);
    while connection.send(&list).await.expect("the server answers").status != 200 {
        tokio::time::sleep(SERVED_POLL).await;
    }
}

/// Where the objects of each served version are listed, across all namespaces.
fn list_paths(definition: &Value) -> Vec<String> {
    let spec = &definition["spec"];
    let text = |value: &Value| value.as_str().expect("a CRD names its group, plural and versions").to_owned();
    let (group, plural) = (text(&spec["group"]), text(&spec["names"]["plural"]));
    let versions = spec["versions"].as_array().into_iter().flatten().filter(|version| version["served"] == true);
    versions.map(|version| format!("/apis/{group}/{}/{plural}", text(&version["name"]))).collect()
}

fn is_established(event: &Value) -> bool {
    let conditions = event["object"]["status"]["conditions"].as_array();
    conditions.is_some_and(|all| all.iter().any(|one| one["type"] == "Established" && one["status"] == "True"))
}

/// The upstream definition with the same file name, if `TRUEUP_CRDS` holds one.
fn upstream(ours: &Path) -> Option<PathBuf> {
    let root = std::env::var_os("TRUEUP_CRDS").filter(|value| !value.is_empty())?;
    let mut sources: Vec<_> = std::fs::read_dir(root).expect("TRUEUP_CRDS names a folder").flatten().collect();
    sources.sort_by_key(std::fs::DirEntry::file_name);
    let plain = sources.into_iter().filter(|source| !source.file_name().to_string_lossy().contains('@'));
    plain.map(|source| source.path().join(ours.file_name().unwrap_or_default())).find(|file| file.exists())
}

fn yaml_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder of CRDs can be read");
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "yaml"));
    files.sort();
    files
}
