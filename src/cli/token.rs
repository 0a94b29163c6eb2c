//! `trueup token [FILE]`: describes a kubeconfig or a bearer token.
//!
//! Exit codes: 0 usable now, or not verifiable offline; 3 expired, not valid yet or malformed; 1 the input is
//! neither.
//!
//! Invariants: no request is sent, no command runs, and no signature, session token, key or password is printed.

#![expect(clippy::disallowed_methods, reason = "a command reads the clock once and passes it on")]

use std::path::Path;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::args::{TokenArgs, TokenFormat};
use super::context::Context;
use super::error::CliError;
use super::terminal::{Style, print};
use trueup_checks::kubeconfig::content::{
    Certificate, Credential, Current, Document, EksToken, ExecElsewhere, Packing, Pair, Token, Trust,
};
use trueup_checks::kubeconfig::{HalfLife, Renewal, Standing, assess};
use trueup_core::engine::text::{Printable, printable_json};
use trueup_core::files;

/// A Secret holds no more than a mebibyte; a kubeconfig of a person with hundreds of clusters is smaller.
const INPUT_MAX: u64 = 4 << 20;

pub fn run(context: &Context, args: &TokenArgs) -> Result<u8, CliError> {
    let input = read(args.file.as_deref())?;
    let answer = explain(&input, args.now.unwrap_or_else(Timestamp::now))?;
    let text = match args.format {
        TokenFormat::Table => table(context, &answer),
        TokenFormat::Json => format!("{}\n", printable_json(&format!("{:#}", answer.json()))),
    };
    print(&Printable::styled(&text))?;
    Ok(answer.usable.code())
}

fn read(file: Option<&Path>) -> Result<Zeroizing<Vec<u8>>, CliError> {
    let place = file.map_or_else(|| "stdin".to_owned(), |path| path.display().to_string());
    let failed = |error: std::io::Error| {
        CliError::failed("reading the token", format!("cannot read {place} ({error})"), "check the path and its mode")
    };
    match file.filter(|path| path.as_os_str() != "-") {
        Some(path) => files::read(path, INPUT_MAX),
        None => files::take(std::io::stdin().lock(), INPUT_MAX),
    }
    .map_err(failed)
}

/// Whether a server would accept it now, as far as this is known offline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Usable {
    Yes,
    /// Only a server, a plugin or a file can decide.
    Unknown,
    No,
}

impl Usable {
    fn code(self) -> u8 {
        match self {
            Self::Yes | Self::Unknown => 0,
            Self::No => 3,
        }
    }
}

/// The output, in this order.
struct Answer {
    usable: Usable,
    /// The verdict that the check gives a Secret with this content.
    verdict: &'static str,
    /// One sentence.
    message: String,
    /// JSON key, title and text.
    lines: Vec<(&'static str, &'static str, String)>,
    /// Whether it may expire earlier: an EKS token expires with the session that signed it.
    is_at_most: bool,
    problems: Vec<String>,
}

impl Answer {
    fn new(usable: Usable, verdict: &'static str, message: impl Into<String>) -> Self {
        Self { usable, verdict, message: message.into(), lines: Vec::new(), is_at_most: false, problems: Vec::new() }
    }

    fn line(&mut self, name: &'static str, title: &'static str, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.lines.push((name, title, text));
        }
    }

    fn json(&self) -> Value {
        let usable = match self.usable {
            Usable::Yes => json!(true),
            Usable::No => json!(false),
            Usable::Unknown => Value::Null,
        };
        let mut all = Map::new();
        all.insert("usable".into(), usable);
        all.insert("verdict".into(), json!(self.verdict));
        all.insert("says".into(), json!(self.message));
        all.extend(self.lines.iter().map(|(name, _, text)| ((*name).to_owned(), json!(text))));
        if self.is_at_most {
            all.insert("at_most".into(), json!(true));
        }
        all.insert("problems".into(), json!(self.problems));
        Value::Object(all)
    }
}

fn table(context: &Context, answer: &Answer) -> String {
    let terminal = &context.terminal;
    let style = match answer.usable {
        Usable::Yes => Style::Ok,
        Usable::Unknown => Style::Warn,
        Usable::No => Style::Danger,
    };
    let mut page = format!("{}\n", terminal.paint(&terminal.safe(&answer.message), style));
    let width = answer.lines.iter().map(|(_, title, _)| title.len()).max().unwrap_or_default();
    for (_, title, text) in &answer.lines {
        page += &format!("  {title:width$}  {}\n", terminal.safe(text));
    }
    for problem in &answer.problems {
        page += &format!("  {} {}\n", terminal.pick("✗", "x"), terminal.safe(problem));
    }
    page
}

/// A kubeconfig when it is one, else a token.
fn explain(input: &[u8], now: Timestamp) -> Result<Answer, CliError> {
    let text = std::str::from_utf8(input).map_err(|_| no_input("it is not text"))?;
    let trimmed = text.trim_start_matches('\u{feff}').trim();
    if trimmed.is_empty() {
        return Err(no_input("it is empty"));
    }
    if let Some(token) = bare_token(trimmed) {
        return Ok(credential(&Credential::Token(Token::parse(&token)), now));
    }
    let document = Document::read(input).map_err(|why| no_input(&format!("it is not a token, and {why}")))?;
    if document.contexts().next().is_none() && document.current().is_none() {
        return Err(no_input("it is neither a token nor a kubeconfig with contexts"));
    }
    match document.content() {
        Err(why) => Ok(kubeconfig(
            &document,
            Answer::new(Usable::No, "unreadable", format!("this kubeconfig is unusable: {why}")),
        )),
        Ok(content) => {
            let mut answer = match &content.current {
                Current::Nothing(fault) => {
                    Answer::new(Usable::No, "contract", format!("{fault}: choose a context first"))
                }
                Current::Pair(pair) => pair_answer(pair, now),
            };
            if content.packing == Packing::Twice {
                answer.problems.push("it is base64-encoded twice: no client decodes that".to_owned());
            }
            if content.elsewhere == ExecElsewhere::Yes {
                answer.problems.push("another user entry runs a command".to_owned());
            }
            Ok(kubeconfig(&document, answer))
        }
    }
}

fn no_input(why: &str) -> CliError {
    CliError::failed("reading the token", why.to_owned(), "give a kubeconfig or a bearer token, as a file or on stdin")
}

/// A bare token, an Authorization header, or the output of a credential plugin.
fn bare_token(word: &str) -> Option<Zeroizing<String>> {
    #[derive(Deserialize)]
    struct Plugin {
        kind: String,
        status: Status,
    }
    #[derive(Deserialize)]
    struct Status {
        token: String,
    }
    if let Ok(Plugin { kind, status: Status { token } }) = serde_json::from_str(word) {
        let token = Zeroizing::new(token);
        return (kind == "ExecCredential").then_some(token);
    }
    let bare = word.get(..7).filter(|begin| begin.eq_ignore_ascii_case("bearer ")).map_or(word, |_| word[7..].trim());
    let is_word = bare.bytes().all(|byte| byte.is_ascii_graphic()) && !bare.starts_with(['{', '[']);
    // A kubeconfig may be base64-encoded, which looks like a token.
    let is_kubeconfig = || Document::read(word.as_bytes()).is_ok_and(|document| document.contexts().next().is_some());
    let is_token = EksToken::is_claimed(bare) || (is_word && !is_kubeconfig());
    is_token.then(|| Zeroizing::new(bare.to_owned()))
}

fn kubeconfig(document: &Document, mut answer: Answer) -> Answer {
    let contexts: Vec<&str> = document.contexts().collect();
    answer.line("context", "context", document.current().unwrap_or("(none is current)"));
    if contexts.len() > 1 {
        answer.line("contexts", "contexts", contexts.join(", "));
    }
    answer
}

fn pair_answer(pair: &Pair, now: Timestamp) -> Answer {
    let mut answer = credential(&pair.credential, now);
    answer.line("server", "server", pair.server.as_str());
    match &pair.trust {
        Trust::Authorities(held) => {
            answer.line("authorities", "authorities", held.short());
            if let Some(ends) = held.first_ends.filter(|ends| *ends <= now) {
                answer.problems.push(format!("one of its CA certificates expired at {ends}"));
            }
        }
        Trust::System => answer.line("authorities", "authorities", "the system's"),
        Trust::File => answer.line("authorities", "authorities", "in a file"),
        Trust::Unverified => {
            answer.problems.push("it does not verify the server (insecure-skip-tls-verify)".to_owned())
        }
    }
    answer.problems.extend(
        pair.foreign.iter().map(|field| format!("{} is ignored in a kubeconfig from a cluster", field.as_str())),
    );
    answer
}

fn credential(credential: &Credential, now: Timestamp) -> Answer {
    let mut answer = match credential {
        Credential::Token(Token::Malformed(fault)) => Answer::new(Usable::No, "unreadable", fault.to_string()),
        Credential::Basic => Answer::new(Usable::No, "contract", "a password, which Kubernetes no longer supports"),
        Credential::Nothing => Answer::new(Usable::No, "contract", "no credential at all"),
        Credential::Exec => opaque("a plugin provides the credential: expiry cannot be checked offline"),
        Credential::AuthProvider => {
            opaque("an auth provider provides the credential: expiry cannot be checked offline")
        }
        Credential::File => opaque("the credential is in a file: expiry cannot be checked offline"),
        Credential::Token(Token::Opaque) => opaque("an opaque token: expiry cannot be checked offline"),
        Credential::Token(Token::Eks(_) | Token::Jwt(_)) | Credential::Certificate(_) => timed(credential, now),
    };
    answer.lines.insert(0, ("kind", "kind", credential.kind().to_owned()));
    answer
}

fn opaque(message: &str) -> Answer {
    Answer::new(Usable::Unknown, "opaque", message)
}

fn timed(credential: &Credential, now: Timestamp) -> Answer {
    let assessment = assess(credential, now);
    let (usable, verdict, message) = match assessment.standing {
        Standing::Valid => (Usable::Yes, "fresh", "can be used now"),
        Standing::Expiring => (Usable::Yes, "expiring", "can be used now, expires soon"),
        Standing::Expired => (Usable::No, "expired", "expired"),
        Standing::NotYetValid => (Usable::No, "not-yet-valid", "not valid yet"),
        Standing::NoExpiry | Standing::Opaque | Standing::NotTimed => {
            (Usable::Unknown, "opaque", "has no expiry; only the API server knows whether it was revoked")
        }
    };
    let mut answer = Answer::new(usable, verdict, message);
    match credential {
        Credential::Token(Token::Eks(token)) => eks(token, &mut answer),
        Credential::Token(Token::Jwt(token)) => {
            answer.line("who", "who", &*token.subject);
            answer.line("issuer", "issuer", &*token.issuer);
        }
        Credential::Certificate(certificate) => certified(certificate, &mut answer),
        Credential::Token(Token::Opaque | Token::Malformed(_))
        | Credential::Exec
        | Credential::AuthProvider
        | Credential::File
        | Credential::Basic
        | Credential::Nothing => {}
    }
    let span = credential.span();
    let is_eks = matches!(credential, Credential::Token(Token::Eks(_)));
    let ends = if is_eks { "valid until at most" } else { "valid until" };
    answer.line("signed", "signed", span.issued.map_or_else(String::new, |at| at.to_string()));
    answer.line("valid_until", ends, span.until.map_or_else(String::new, |at| at.to_string()));
    answer.is_at_most = is_eks;
    if assessment.renewal == Renewal::Stalled {
        answer.problems.push("it is older than 12 minutes: renewal is overdue".to_owned());
    }
    if assessment.half_life == HalfLife::Past {
        answer.problems.push("more than half of its lifetime has passed".to_owned());
    }
    answer
}

fn eks(token: &EksToken, answer: &mut Answer) {
    let session = match token.access_key.get(..4) {
        Some("ASIA") => " (a session)",
        Some("AKIA") => " (a long-lived key)",
        Some(_) | None => "",
    };
    if !token.access_key.is_empty() {
        answer.line("who", "who", format!("access key {}{session}", token.access_key));
    }
    answer.line("region", "region", &*token.region);
}

fn certified(certificate: &Certificate, answer: &mut Answer) {
    answer.line("who", "who", &*certificate.user);
    answer.line("groups", "groups", certificate.groups.join(", "));
}
