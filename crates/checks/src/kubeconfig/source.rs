//! The Secret a target is copied from, and whether it may be.
//!
//! Invariants: a source is good only when it parses, runs nothing, does not lead elsewhere and would be accepted now. One
//! whose endpoint and CA cannot be compared is unproven, and belongs to none of two clusters that share its name.

use jiff::Timestamp;

use super::Kubeconfigs;
use super::content::{Content, Credential, Current, Packing, Pair, Token};
use super::expected::{CaComparison, EndpointComparison, Expected, Who};
use super::facts::{Held, Holder};
use super::freshness::{Standing, assess};
use super::subjects::Subject;
use crate::ContextCache;
use trueup_core::world::{Gap, Key};

/// What is known of a target's source.
pub enum Source<'a> {
    /// This kubeconfig is not copied.
    None,
    NotKnown(Gap),
    Missing {
        key: Key,
    },
    /// It can't be used as it is.
    Invalid {
        key: Key,
        holder: &'a Holder,
        fault: SourceFault,
    },
    /// It leads to another cluster of the fleet, or may: an unproven source that another cluster of the same name has too.
    Another {
        key: Key,
        holder: &'a Holder,
        who: Who,
        is_twin: bool,
    },
    /// It leads to the right cluster, which would not let it in now.
    Stale {
        key: Key,
        holder: &'a Holder,
        until: Option<Timestamp>,
    },
    Good {
        key: Key,
        holder: &'a Holder,
        until: Option<Timestamp>,
        proof: SourceProof,
    },
}

/// Whether a source is known to be its cluster's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceProof {
    /// By its server or its CA.
    Proven,
    /// Neither can be compared. `twin_gap`: why another cluster of the name cannot be ruled out.
    Unproven { twin_gap: Option<Gap> },
}

/// What is wrong with a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceFault {
    /// The key is absent or empty.
    Key,
    Unparseable,
    /// It would run a command or read a file.
    Exec,
    /// It leads somewhere else than its cluster is.
    Drift,
}

impl<'a> Source<'a> {
    /// The next instant it changes by time alone.
    pub fn until(&self) -> Option<Timestamp> {
        match self {
            Self::Stale { until, .. } | Self::Good { until, .. } => *until,
            Self::None | Self::NotKnown(_) | Self::Missing { .. } | Self::Invalid { .. } | Self::Another { .. } => None,
        }
    }

    /// The Secret, where it is there.
    pub fn seen(&self) -> Option<(&Key, &'a Holder)> {
        match self {
            Self::Invalid { key, holder, .. }
            | Self::Another { key, holder, .. }
            | Self::Stale { key, holder, .. }
            | Self::Good { key, holder, .. } => Some((key, holder)),
            Self::None | Self::NotKnown(_) | Self::Missing { .. } => None,
        }
    }
}

/// Finds and judges the source of a subject.
pub fn find<'a>(
    subject: &Subject<'a>,
    expected: &Expected<'_>,
    contexts: &ContextCache<'a, Kubeconfigs>,
) -> Source<'a> {
    let Some(key) = subject.context.source_of(&subject.cluster_key, &subject.owners) else { return Source::None };
    let sight = subject.context.secrets.read::<Holder>(&key);
    if let Some(gap) = sight.gap {
        return Source::NotKnown(gap);
    }
    let Some(holder) = sight.seen else { return Source::Missing { key } };
    let pair = match usable(holder) {
        Ok(pair) => pair,
        Err(fault) => return Source::Invalid { key, holder, fault },
    };
    let endpoint = expected.endpoint_stand(pair);
    let ca = expected.ca_stand(pair);
    let is_ca_known = matches!(ca, CaComparison::Same | CaComparison::Rotating);
    let contradicts = endpoint == EndpointComparison::Moved || ca == CaComparison::Disjoint;
    let is_unproven = !contradicts && endpoint != EndpointComparison::Same && !is_ca_known;
    let twin = subject.context.twin_of(&subject.cluster_key).filter(|_| is_unproven);
    let twin = twin.map(|key| Who { key: key.clone(), ..subject.who() });
    let is_certain = endpoint == EndpointComparison::Same && is_ca_known;
    let another = || contexts.fleet.another(pair, &subject.who(), expected);
    let is_twin = twin.is_some();
    if !is_certain && let Some(who) = another().or(twin) {
        return Source::Another { key, holder, who, is_twin };
    }
    if contradicts {
        return Source::Invalid { key, holder, fault: SourceFault::Drift };
    }
    let proof = match is_unproven {
        true => SourceProof::Unproven { twin_gap: subject.context.twin_gap() },
        false => SourceProof::Proven,
    };
    let assessment = assess(&pair.credential, contexts.view.now);
    match assessment.standing {
        Standing::Expired | Standing::NotYetValid => Source::Stale { key, holder, until: assessment.until },
        Standing::Valid | Standing::Expiring | Standing::Opaque | Standing::NoExpiry | Standing::NotTimed => {
            Source::Good { key, holder, until: pair.credential.span().until, proof }
        }
    }
}

/// The pair a source leads to, when it is usable.
fn usable(holder: &Holder) -> Result<&Pair, SourceFault> {
    let content: &Content = match &holder.kubeconfig {
        Held::Absent | Held::Empty => return Err(SourceFault::Key),
        Held::Written { content: Err(_), .. } => return Err(SourceFault::Unparseable),
        Held::Written { content: Ok(content), .. } => content,
    };
    let pair = match &content.current {
        Current::Pair(pair) => pair,
        Current::Nothing(_) => return Err(SourceFault::Unparseable),
    };
    if !pair.foreign.is_empty() {
        return Err(SourceFault::Exec);
    }
    // A copy of it would be as useless: no client decodes base64 twice, and these are refused.
    let is_useless = content.packing == Packing::Twice
        || matches!(pair.credential, Credential::Token(Token::Malformed(_)) | Credential::Basic | Credential::Nothing);
    if is_useless { Err(SourceFault::Unparseable) } else { Ok(pair) }
}
