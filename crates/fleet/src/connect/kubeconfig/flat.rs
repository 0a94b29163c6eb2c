//! One context as a kubeconfig that stands for itself: its cluster, its user, and what their files hold.
//!
//! Invariants:
//! - no file is read for a kubeconfig that is not the user's own;
//! - of what would run a command or log in elsewhere only its presence is kept;
//! - a file that can't be read is named by its field and its name; nothing else of its path, and nothing of what it holds.
//!
//! Elsewhere: the meaning of the text (the caller), connecting (`access`).

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::file::{Cluster, User};
use super::merge::{Kubeconfig, Origin, Placed, Trust};
use crate::connect::text::printable;
use trueup_core::files;
use trueup_net::SecretText;

/// What all three parts are called in the text: the context's own name stands elsewhere.
const NAME: &str = "own";
/// A certificate with its chain has a few kilobytes, and so have the longest tokens; a bundle of the world's authorities
/// has a quarter of this.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Enough of a file's name to know it by.
const FILE_NAME_CHARS_MAX: usize = 80;

/// Why a context can't be written as one text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotFlat {
    #[error("the context no longer exists")]
    NoContext,
    #[error("it is not a kubeconfig of the user's own; its files are not read")]
    NotOwn,
    #[error("{field} names the file {file}, which cannot be read ({why})")]
    File { field: &'static str, file: String, why: String },
}

impl Kubeconfig {
    /// The file a context is written in.
    pub fn place_of(&self, context: &str) -> Option<&str> {
        self.contexts.get(context).map(|context| context.origin.place.as_str())
    }

    /// A context with the cluster and the user it names, as far as they are there, as a kubeconfig in JSON. The files they
    /// name are read: a path is relative to the kubeconfig it is written in.
    ///
    /// # Errors
    /// It is not the user's own, the context is not there, or one of its files can't be read.
    pub fn flat(&self, context: &str) -> Result<SecretText, NotFlat> {
        match self.trust {
            Trust::UsersOwn => {}
            Trust::FromSecret | Trust::Pod => return Err(NotFlat::NotOwn),
        }
        let context = &self.contexts.get(context).ok_or(NotFlat::NoContext)?.part;
        let named = |name: &Option<String>| name.as_deref().filter(|name| !name.is_empty()).map(str::to_owned);
        let (cluster_name, user_name) = (named(&context.cluster), named(&context.user));
        let cluster = cluster_name.as_ref().and_then(|name| self.clusters.get(name));
        let user = user_name.as_ref().and_then(|name| self.users.get(name));
        let mut joined = Map::new();
        joined.extend(cluster_name.map(|_| ("cluster".to_owned(), json!(NAME))));
        joined.extend(user_name.map(|_| ("user".to_owned(), json!(NAME))));
        let listed = |field: &str, part: Option<Value>| -> Value {
            part.into_iter().map(|part| json!({ "name": NAME, field: part })).collect()
        };
        let text = json!({
            "current-context": NAME,
            "contexts": [{ "name": NAME, "context": joined }],
            "clusters": listed("cluster", cluster.map(flat_cluster).transpose()?),
            "users": listed("user", user.map(flat_user).transpose()?),
        });
        Ok(SecretText::new(text.to_string()))
    }
}

fn flat_cluster(placed: &Placed<Cluster>) -> Result<Value, NotFlat> {
    let Placed { part, origin } = placed;
    let Cluster {
        server,
        tls_server_name,
        insecure_skip_tls_verify,
        certificate_authority,
        certificate_authority_data,
        proxy_url,
        extensions: _,
    } = part;
    let mut flat = Map::new();
    flat.extend(server.as_ref().map(|server| ("server".to_owned(), json!(server))));
    flat.extend(tls_server_name.as_ref().map(|name| ("tls-server-name".to_owned(), json!(name))));
    flat.extend(insecure_skip_tls_verify.map(|skip| ("insecure-skip-tls-verify".to_owned(), json!(skip))));
    // It may hold a password; only its presence is needed.
    flat.extend(is_filled(proxy_url).then(|| ("proxy-url".to_owned(), json!("set"))));
    let pem =
        pem(origin, "certificate-authority", certificate_authority.as_deref(), certificate_authority_data.as_ref());
    put(&mut flat, "certificate-authority-data", pem?);
    Ok(Value::Object(flat))
}

fn flat_user(placed: &Placed<User>) -> Result<Value, NotFlat> {
    let Placed { part, origin } = placed;
    let User {
        client_certificate,
        client_certificate_data,
        client_key,
        client_key_data,
        token,
        token_file,
        as_user: _,
        as_uid: _,
        as_groups: _,
        as_user_extra: _,
        username,
        password: _,
        auth_provider,
        exec,
    } = part;
    let mut flat = Map::new();
    let chain = pem(origin, "client-certificate", client_certificate.as_deref(), client_certificate_data.as_ref())?;
    put(&mut flat, "client-certificate-data", chain);
    put(&mut flat, "client-key-data", pem(origin, "client-key", client_key.as_deref(), client_key_data.as_ref())?);
    // As for a connection: a file is taken before what is written down.
    let token = match filled(token_file.as_deref()) {
        Some(path) => Some(read_text(origin, "tokenFile", path)?),
        None => token.clone().filter(|token| !token.is_empty()),
    };
    put(&mut flat, "token", token);
    flat.extend(username.as_ref().map(|name| ("username".to_owned(), json!(name))));
    flat.extend(exec.as_ref().map(|_| ("exec".to_owned(), json!({}))));
    flat.extend(auth_provider.as_ref().map(|_| ("auth-provider".to_owned(), json!({}))));
    Ok(Value::Object(flat))
}

fn put(flat: &mut Map<String, Value>, field: &str, text: Option<SecretText>) {
    flat.extend(text.map(|text| (field.to_owned(), json!(text.expose()))));
}

/// PEM in base64, as it is written down, or else as its file holds it.
fn pem(
    origin: &Origin,
    field: &'static str,
    file: Option<&str>,
    data: Option<&SecretText>,
) -> Result<Option<SecretText>, NotFlat> {
    if let Some(data) = data.filter(|data| !data.is_empty()) {
        return Ok(Some(data.clone()));
    }
    let Some(path) = filled(file) else { return Ok(None) };
    Ok(Some(SecretText::new(STANDARD.encode(read(origin, field, path)?.as_slice()))))
}

fn read_text(origin: &Origin, field: &'static str, path: &str) -> Result<SecretText, NotFlat> {
    let bytes = read(origin, field, path)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| not_read(field, path, "it is not text"))?;
    Ok(SecretText::new(text.trim().to_owned()))
}

fn read(origin: &Origin, field: &'static str, path: &str) -> Result<Zeroizing<Vec<u8>>, NotFlat> {
    let whole = origin.folder.join(path);
    let failed = |error: std::io::Error| not_read(field, path, &error.kind().to_string());
    let metadata = std::fs::metadata(&whole).map_err(failed)?;
    // A pipe would block.
    if !metadata.is_file() {
        return Err(not_read(field, path, "it is not a file"));
    }
    if metadata.len() > FILE_BYTES_MAX {
        return Err(not_read(field, path, "it is too large"));
    }
    files::read(&whole, FILE_BYTES_MAX).map_err(failed)
}

fn not_read(field: &'static str, path: &str, why: &str) -> NotFlat {
    let name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    NotFlat::File { field, file: printable(&name, FILE_NAME_CHARS_MAX), why: why.to_owned() }
}

fn filled(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

fn is_filled(text: &Option<SecretText>) -> bool {
    text.as_ref().is_some_and(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::kubeconfig::Places;

    const CANARY: &str = "canary-71c0a9";

    /// A folder with a kubeconfig `config` that has this cluster and this user, and a file `held` with a canary.
    fn flat(cluster: &str, user: &str) -> Result<Value, NotFlat> {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "{{contexts: [{{name: x, context: {{cluster: c, user: u}}}}], clusters: [{{name: c, cluster: {cluster}}}], \
             users: [{{name: u, user: {user}}}]}}"
        );
        std::fs::write(folder.path().join("config"), text).unwrap();
        std::fs::write(folder.path().join("held"), format!(" {CANARY}\n")).unwrap();
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        let read = Kubeconfig::read(&Places::Only(folder.path().join("config"))).unwrap();
        read.flat("x").map(|text| serde_json::from_str(text.expose()).unwrap())
    }

    #[test]
    fn what_stands_in_files_beside_the_kubeconfig_is_as_good_as_written_down() {
        let packed = STANDARD.encode(format!(" {CANARY}\n"));
        let cases = [
            ("written down", "{token: t}", json!({"token": "t"})),
            ("a file wins, as for a connection", "{token: t, tokenFile: held}", json!({"token": CANARY})),
            (
                "certificate files",
                "{client-certificate: held, client-key: ./held}",
                json!({"client-certificate-data": packed, "client-key-data": packed}),
            ),
            ("written down wins", "{client-key: nowhere, client-key-data: a}", json!({"client-key-data": "a"})),
            ("a plugin", "{exec: {command: c, args: [canary]}}", json!({"exec": {}})),
            ("a provider", "{auth-provider: {name: oidc, config: {id-token: canary}}}", json!({"auth-provider": {}})),
            ("a password", "{username: anna, password: canary}", json!({"username": "anna"})),
        ];
        for (case, user, expected) in cases {
            assert_eq!(flat("{server: 'https://h'}", user).unwrap()["users"][0]["user"], expected, "case: {case}");
        }
        let cluster = flat("{server: 'https://h', certificate-authority: held, proxy-url: 'http://a:canary@b'}", "{}");
        let expected = json!({"server": "https://h", "certificate-authority-data": packed, "proxy-url": "set"});
        assert_eq!(cluster.unwrap()["clusters"][0]["cluster"], expected);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named_and_nothing_more_of_its_path() {
        let cases = [
            (
                "missing",
                "{client-certificate: /secret/place/cert.pem, client-key-data: a}",
                "client-certificate",
                "cert.pem",
            ),
            ("a folder", "{tokenFile: folder}", "tokenFile", "folder"),
            ("a name that steers", "{tokenFile: \"a\\e[2J\"}", "tokenFile", "a\\u{1b}[2J"),
        ];
        for (case, user, expected_field, expected_file) in cases {
            let NotFlat::File { field, file, why } = flat("{server: 'https://h'}", user).unwrap_err() else {
                panic!("case: {case}");
            };
            assert_eq!((field, file.as_str(), why.is_empty()), (expected_field, expected_file, false), "case: {case}");
        }
    }

    #[test]
    fn a_part_that_is_not_there_is_left_out() {
        let text = "{contexts: [{name: x, context: {cluster: c, user: u}}, {name: y}]}";
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config"), text).unwrap();
        let read = Kubeconfig::read(&Places::Only(folder.path().join("config"))).unwrap();
        let flat = |context: &str| serde_json::from_str::<Value>(read.flat(context).unwrap().expose()).unwrap();
        let named = json!({"name": "own", "context": {"cluster": "own", "user": "own"}});
        assert_eq!(
            (&flat("x")["contexts"][0], &flat("x")["clusters"], &flat("x")["users"]),
            (&named, &json!([]), &json!([]))
        );
        assert_eq!(flat("y")["contexts"][0]["context"], json!({}));
        assert_eq!(read.flat("z").unwrap_err(), NotFlat::NoContext);
    }

    #[test]
    fn nothing_is_read_for_a_kubeconfig_from_a_cluster() {
        let text = "{contexts: [{name: x, context: {user: u}}], users: [{name: u, user: {tokenFile: /etc/hostname}}]}";
        let planted = Kubeconfig::parse(text, "a Secret", Trust::FromSecret).unwrap();
        assert_eq!(planted.flat("x").unwrap_err(), NotFlat::NotOwn);
    }
}
