//! The contexts of the user's own kubeconfig files: what each says of itself, and what its server says to it.
//!
//! Invariants:
//! - a plugin and files are normal here: the user wrote them, and the fleet is reached by them anyway;
//! - what only the API server knows is taken from the connection the fleet has by this very context, and no request is
//!   made for it;
//! - there is nothing to repair: what belongs to the user is not written to.
//!
//! # Limits
//! Where the cluster of a context is, and who vouches for it, is not compared: the connection itself shows both.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::advice::advice_of_context;
use super::content::{Content, Credential, Current, Pair, Token, Trust};
use super::context::CheckContext;
use super::expected::{CaComparison, Expected};
use super::facts::OwnContext;
use super::freshness::assess;
use super::judge::credential;
use super::messages::end_message;
use super::names::CONTEXT;
use super::ruling::Ruling;
use super::sides::{lay_out, timed};
use super::verdict::{Code, Verdict};
use crate::evidence::versioned_line as line;
use trueup_core::engine::{Evidence, Explanation, State};
use trueup_core::world::{ClusterName, ClusterSource, Gap, Key, Link, View};

/// One context.
pub struct Own<'a> {
    /// The member of the fleet that lists it.
    site: &'a ClusterName,
    name: String,
    context: &'a OwnContext,
    access: ContextAccess<'a>,
}

/// Whether the server of a context accepts its credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ContextAccess<'a> {
    LetIn,
    Refused(&'a Gap),
    /// No connection uses it now.
    NotKnown,
}

impl<'a> Own<'a> {
    pub fn find(site: &CheckContext<'a>, name: &str) -> Option<Self> {
        let context = site.own.get(&Key::new(None, name)).seen?;
        let access = ContextAccess::of(site.view, name);
        Some(Self { site: &site.cluster.name, name: name.to_owned(), context, access })
    }

    /// What it leads to.
    pub fn pair(&self) -> Option<&'a Pair> {
        match self.content().map(|content| &content.current) {
            Some(Current::Pair(pair)) => Some(pair),
            Some(Current::Nothing(_)) | None => None,
        }
    }

    fn content(&self) -> Option<&'a Content> {
        self.context.content.as_deref().ok()
    }

    pub fn rule(&self, now: Timestamp) -> Ruling<'a> {
        let mut ruling = Ruling::new(Expected::nothing());
        let Some(content) = self.content() else {
            ruling.holds.insert(Verdict::Unreadable);
            return ruling;
        };
        let pair = match &content.current {
            Current::Pair(pair) => pair,
            Current::Nothing(_) => {
                ruling.contract(Code::Context);
                return ruling;
            }
        };
        if pair.trust == Trust::Unverified {
            ruling.codes.insert(Code::Insecure);
            ruling.ca = CaComparison::Insecure;
        }
        let assessment = assess(&pair.credential, now);
        ruling.time = Some(assessment);
        ruling.wake_at(assessment.until);
        credential(&mut ruling, &pair.credential, assessment);
        if let Credential::Exec | Credential::AuthProvider = pair.credential {
            ruling.codes.insert(Code::ExecUser);
        }
        if self.access == ContextAccess::LetIn {
            // The server has decided what the text leaves open.
            ruling.holds.remove(&Verdict::Opaque);
            ruling.holds.remove(&Verdict::Contract);
        }
        ruling
    }

    pub fn explain(&self, ruling: &Ruling<'_>, now: Timestamp) -> Explanation {
        Explanation {
            uid: None,
            created: None,
            summary: self.summary(ruling, now),
            expected: self.expected(ruling),
            actual: self.actual(ruling),
            evidence: self.evidence(ruling),
            remedy: Vec::new(),
        }
    }

    fn summary(&self, ruling: &Ruling<'_>, now: Timestamp) -> String {
        let kind = self.pair().map_or("kubeconfig", |pair| pair.credential.kind());
        let end = || self.pair().map_or_else(String::new, |pair| end_message(&pair.credential, now));
        let said = match ruling.verdict() {
            Verdict::Expired => format!("the {kind} expired {}", end()),
            Verdict::NotYetValid => format!("the {kind} begins in the future"),
            Verdict::RefreshStalled => format!("the {kind} was signed more than 12 minutes ago and ends {}", end()),
            Verdict::Expiring => format!("the {kind} ends {}", end()),
            Verdict::Opaque if ruling.codes.contains(&Code::NoExpiry) => "a token without an expiry".to_owned(),
            Verdict::Opaque => "an opaque token: only the API server knows whether it still works".to_owned(),
            Verdict::Fresh => self.works(now),
            // Of the others, those that can occur here mean that it is not usable.
            Verdict::Unreadable
            | Verdict::Contract
            | Verdict::Unknown
            | Verdict::Missing
            | Verdict::ExecRefused
            | Verdict::WrongCluster
            | Verdict::EndpointDrift
            | Verdict::CaDrift
            | Verdict::BehindSource
            | Verdict::SourceInvalid
            | Verdict::SourceMissing
            | Verdict::Waiting
            | Verdict::CaRotating => self.fault(),
        };
        // Where it is broken, a refused login adds nothing.
        let is_whole = matches!(ruling.verdict(), Verdict::Fresh | Verdict::Opaque | Verdict::Expiring);
        match self.access {
            ContextAccess::Refused(gap) if is_whole => format!("{said}; its cluster does not let it in: {gap}"),
            ContextAccess::Refused(_) | ContextAccess::LetIn | ContextAccess::NotKnown => said,
        }
    }

    fn works(&self, now: Timestamp) -> String {
        let Some(pair) = self.pair() else { return String::new() };
        if pair.credential.span().until.is_some() {
            return format!("works: the {} ends {}", pair.credential.kind(), end_message(&pair.credential, now));
        }
        match (&pair.credential, self.access) {
            (Credential::Exec | Credential::AuthProvider, _) => {
                format!("its {} runs on each connection", pair.credential.kind())
            }
            (_, ContextAccess::LetIn) => "its cluster lets it in".to_owned(),
            (_, ContextAccess::Refused(_) | ContextAccess::NotKnown) => "its credential has no expiry".to_owned(),
        }
    }

    /// Why it is not usable.
    fn fault(&self) -> String {
        let content = match &self.context.content {
            Ok(content) => content,
            Err(fault) => return format!("not usable: {fault}"),
        };
        match &content.current {
            Current::Nothing(fault) => fault.to_string(),
            Current::Pair(pair) => match &pair.credential {
                Credential::Token(Token::Malformed(fault)) => format!("not usable: {fault}"),
                Credential::Basic => "it uses a password, which Kubernetes no longer supports".to_owned(),
                Credential::Token(Token::Eks(_) | Token::Jwt(_) | Token::Opaque)
                | Credential::Certificate(_)
                | Credential::Exec
                | Credential::AuthProvider
                | Credential::File => "not usable".to_owned(),
                Credential::Nothing => "it has no credential".to_owned(),
            },
        }
    }

    fn expected(&self, ruling: &Ruling<'_>) -> Value {
        let mut expected = Map::new();
        expected.insert("usable".into(), json!(true));
        timed(ruling, &mut expected);
        Value::Object(expected)
    }

    fn actual(&self, ruling: &Ruling<'_>) -> Value {
        let mut actual = Map::new();
        let usable = match ruling.verdict() {
            Verdict::Fresh | Verdict::Expiring | Verdict::RefreshStalled => json!(true),
            Verdict::Opaque => json!("only the API server knows"),
            Verdict::Unreadable
            | Verdict::Contract
            | Verdict::Expired
            | Verdict::NotYetValid
            | Verdict::Unknown
            | Verdict::Missing
            | Verdict::ExecRefused
            | Verdict::WrongCluster
            | Verdict::EndpointDrift
            | Verdict::CaDrift
            | Verdict::BehindSource
            | Verdict::SourceInvalid
            | Verdict::SourceMissing
            | Verdict::Waiting
            | Verdict::CaRotating => json!(false),
        };
        actual.insert("usable".into(), usable);
        actual.insert("file".into(), json!(self.context.file));
        if let Some(pair) = self.pair() {
            lay_out(pair, &mut actual);
        }
        Value::Object(actual)
    }

    fn evidence(&self, ruling: &Ruling<'_>) -> Vec<Evidence> {
        let object = format!("{} {} {}", self.site, CONTEXT.kind, self.name);
        let say = |message: String, field: &str| line(message, object.clone(), field, String::new());
        let mut lines = vec![say(format!("is written in {}", self.context.file), "")];
        match &self.context.content {
            Err(fault) => lines.push(say(fault.to_string(), "")),
            Ok(content) => match &content.current {
                Current::Nothing(fault) => lines.push(say(fault.to_string(), "")),
                Current::Pair(pair) => {
                    lines.push(say(format!("leads to {}", pair.server), "cluster"));
                    if pair.trust == Trust::Unverified {
                        lines.push(say("does not verify the server (insecure-skip-tls-verify)".to_owned(), "cluster"));
                    }
                    let words = pair.credential.until_message();
                    let until = pair.credential.span().until;
                    let until = until.map_or_else(String::new, |until| format!(", {words} {until}"));
                    lines.push(say(format!("{}{until}", pair.credential.kind()), "user"));
                }
            },
        }
        let server = |message: String| line(message, self.name.clone(), "", String::new());
        match self.access {
            ContextAccess::LetIn => lines.push(server("is connected by this context".to_owned())),
            ContextAccess::Refused(gap) => lines.push(server(gap.message.to_string())),
            ContextAccess::NotKnown => {}
        }
        if ruling.verdict().state() != State::Match {
            lines.push(Evidence::advice(advice_of_context(ruling)));
        }
        lines
    }
}

impl<'a> ContextAccess<'a> {
    fn of(view: View<'a>, context: &str) -> Self {
        let cluster = view.cluster(&ClusterName::new(context));
        let by_it = |source: &ClusterSource| match source {
            ClusterSource::Kubeconfig { context: by } => by == context,
            ClusterSource::Hosted { .. }
            | ClusterSource::Snapshot
            | ClusterSource::Cloud { .. }
            | ClusterSource::Local => false,
        };
        match cluster.filter(|cluster| by_it(&cluster.source)).map(|cluster| &cluster.link) {
            Some(Link::Listing { .. } | Link::Live { .. }) => Self::LetIn,
            Some(Link::AuthExpired { gap, .. }) => Self::Refused(gap),
            Some(Link::Idle | Link::Connecting | Link::Degraded { .. } | Link::Failed { .. } | Link::Recorded)
            | None => Self::NotKnown,
        }
    }
}
