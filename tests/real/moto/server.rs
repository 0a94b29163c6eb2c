//! A moto of its own for each test: started on a free port, ended with the test.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose};

const HOW_TO_GET: &str = "install it with tests/real/moto/install.sh and set TRUEUP_REAL_DIR";

/// Ends moto when the pipe to it closes, however the test process ends.
const LEASED: &str = "\"$@\" & moto=$!; cat >/dev/null; kill $moto; wait $moto 2>/dev/null";

pub struct Moto {
    process: Child,
    url: String,
    _certificates: Option<tempfile::TempDir>,
}

impl Moto {
    /// Starts one over http, or says that there is none.
    pub fn start() -> Option<Self> {
        Some(start(&installed()?, &[], None))
    }

    /// Starts one over https, with the authority that signed its certificate.
    pub fn start_tls() -> Option<(Self, String)> {
        let program = installed()?;
        let folder = tempfile::tempdir().expect("the disk has space for two files");
        let authority = certificates(folder.path());
        let path = |name: &str| folder.path().join(name).display().to_string();
        let (certificate, key) = (path("tls.crt"), path("tls.key"));
        Some((start(&program, &["-c", &certificate, "-k", &key], Some(folder)), authority))
    }

    /// As it says itself.
    pub fn url(&self) -> String {
        self.url.clone()
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // It ends by its lease; that it is gone already is as good.
        let _ended = self.process.wait();
    }
}

fn start(program: &Path, more: &[&str], certificates: Option<tempfile::TempDir>) -> Moto {
    let mut shell = Command::new("sh");
    shell.args(["-c", LEASED, "sh"]).arg(program).args(["-H", "127.0.0.1", "-p", "0"]).args(more);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut process = shell.spawn().expect("there is a shell");
    let stderr = process.stderr.take().expect("stderr is a pipe");
    let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
    let url = lines.find_map(|line| line.split_once("Running on ").map(|(_, url)| url.trim().to_owned()));
    let url = url.expect("moto says where it runs");
    // Every request is a line; a pipe that is not read would block it.
    std::thread::spawn(move || lines.for_each(drop));
    Moto { process, url, _certificates: certificates }
}

/// Writes a certificate and key for this machine, and returns the authority that signed it.
fn certificates(folder: &Path) -> String {
    let mut params = CertificateParams::new(vec![]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    params.distinguished_name.push(rcgen::DnType::CommonName, "moto's authority");
    let authority_key = KeyPair::generate().unwrap();
    let authority = params.self_signed(&authority_key).unwrap();
    let issuer = Issuer::from_params(&params, &authority_key);
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    std::fs::write(folder.join("tls.crt"), leaf.pem()).unwrap();
    std::fs::write(folder.join("tls.key"), key.serialize_pem()).unwrap();
    authority.pem()
}

fn installed() -> Option<PathBuf> {
    let cache = || {
        let home = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"))).unwrap_or_default()
    };
    let folder = std::env::var_os("TRUEUP_REAL_DIR").map_or_else(|| cache().join("trueup-real"), PathBuf::from);
    let program = folder.join("moto/bin/moto_server");
    if program.exists() {
        return Some(program);
    }
    let required = std::env::var("TRUEUP_REAL").is_ok_and(|value| value == "required");
    assert!(!required, "no moto at {}, but TRUEUP_REAL=required; {HOW_TO_GET}", program.display());
    let thread = std::thread::current();
    // Not eprintln: the test harness would keep that to itself when the test passes.
    let line = format!("skipped {}: no moto; {HOW_TO_GET}\n", thread.name().unwrap_or("a test"));
    std::io::stderr().write_all(line.as_bytes()).expect("stderr can be written");
    None
}
