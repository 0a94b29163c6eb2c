//! What goes wrong with one request.
//!
//! Invariants:
//! - a stale answer is never older than the state a plan was made of: a replica lags, it does not forget;
//! - what is injected is drawn from the seed alone.

use bytes::Bytes;
use http::Method;
use jiff::SignedDuration;
use serde_json::{Value, json};
use trueup_sim::{Answer, Fault, FaultAction, GroupFault, Matcher, Reply, Request};

use super::kind::Kind;
use super::world::{CONFIG, Heard, Late, Target, World};

/// What a request is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    Write {
        verb: Written,
        target: Target,
    },
    Get,
    /// Whether something is allowed: sent like a write, and changes nothing.
    Review,
    List {
        further: bool,
    },
    Discovery,
}

/// The writes an engine may ask for; anything else is none of its business.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    Delete,
    Label,
    Copy,
    Create,
    Other,
}

const WRITE_KINDS: [Kind; 18] = [
    Kind::WriteUnauthorized,
    Kind::WriteForbidden,
    Kind::WriteKindGone,
    Kind::WriteInvalid,
    Kind::WriteBusy,
    Kind::WriteBusyWait,
    Kind::WriteBusyLong,
    Kind::WriteError,
    Kind::WriteUnavailable,
    Kind::WriteUnavailableWait,
    Kind::WriteTimeout,
    Kind::WriteTimeoutDone,
    Kind::WriteLost,
    Kind::WriteReplyLost,
    Kind::WriteCut,
    Kind::WriteStall,
    Kind::WriteProxy,
    Kind::WriteLate,
];

const READ_KINDS: [Kind; 12] = [
    Kind::ReadUnauthorized,
    Kind::ReadForbidden,
    Kind::ReadKindGone,
    Kind::ReadGroupLost,
    Kind::ReadBusy,
    Kind::ReadError,
    Kind::ReadUnavailable,
    Kind::ReadTimeout,
    Kind::ReadLost,
    Kind::ReadCut,
    Kind::ReadStall,
    Kind::ReadProxy,
];

const LIST_KINDS: [Kind; 5] =
    [Kind::ListStale, Kind::ListEmpty, Kind::ListExpired, Kind::ReadForbidden, Kind::ReadGroupLost];

/// How a injected request is answered.
enum InjectedFault {
    At(FaultAction),
    GroupLost,
    /// The sender hears nothing, and the request arrives later.
    Late,
}

impl Asked {
    pub fn of(site: usize, request: &Request) -> Self {
        let parts: Vec<&str> = request.path.split('/').filter(|part| !part.is_empty()).collect();
        let name = |parts: &[&str]| match parts {
            ["api", "v1", "namespaces", CONFIG, "secrets" | "configmaps", name] => Some((*name).to_owned()),
            _ => None,
        };
        if request.method == Method::GET {
            return match parts.as_slice() {
                ["api", "v1"] => Self::Discovery,
                ["api", "v1", "namespaces", _, "secrets" | "configmaps"] => {
                    Self::List { further: request.query.get("continue").is_some() }
                }
                _ => Self::Get,
            };
        }
        if request.path.ends_with("/selfsubjectaccessreviews") {
            return Self::Review;
        }
        let (verb, name) = match request.method {
            Method::DELETE => (Written::Delete, name(&parts)),
            Method::PATCH if has_content(request) => (Written::Copy, name(&parts)),
            Method::PATCH => (Written::Label, name(&parts)),
            Method::POST => (Written::Create, body_name(request)),
            _ => (Written::Other, None),
        };
        match name {
            Some(name) => Self::Write { verb, target: Target { site, name } },
            None => Self::Write { verb: Written::Other, target: Target { site, name: request.path.clone() } },
        }
    }
}

fn has_content(request: &Request) -> bool {
    serde_json::from_slice::<Value>(&request.body).is_ok_and(|patch| patch.get("data").is_some())
}

fn body_name(request: &Request) -> Option<String> {
    let object: Value = serde_json::from_slice(&request.body).ok()?;
    (object["metadata"]["namespace"] == CONFIG).then(|| object["metadata"]["name"].as_str().map(str::to_owned))?
}

impl World {
    /// Answers a request, or lets something go wrong with it.
    pub fn answer(&mut self, who: usize, site: usize, request: &Request) -> Heard {
        let asked = Asked::of(site, request);
        if self.is_late(site, &asked) {
            self.fire(Kind::ClusterLate);
            return Heard::Silence;
        }
        let kind = self.draw_kind(&asked);
        let fault = kind.and_then(|kind| self.fault(kind, site));
        if let (Some(kind), Some(_)) = (kind, &fault) {
            self.fire(kind);
        }
        if let Some(InjectedFault::Late) = fault {
            return self.put_off(who, site, request);
        }
        let swapped = self.sites[site].swapped;
        let lied =
            swapped || matches!(kind, Some(Kind::ReadStale | Kind::ListStale | Kind::ListEmpty)) && fault.is_some();
        if swapped && request.path.ends_with("/kube-system") {
            self.engines[who].saw_other = true;
        }
        let answer = self.carry(who, site, request, &asked, fault);
        let name = self.engines[who].name;
        let injected = || kind.map(|kind| format!("   [{}]", kind.as_str())).unwrap_or_default();
        match answer {
            Answer::Reply(reply) => {
                if reply.status == 409 && matches!(asked, Asked::Write { .. }) {
                    self.fire(Kind::WriteConflict);
                }
                let code = reply.status;
                self.tell(name, || format!("{} {} → {code}{}", request.method, request.target(), injected()));
                Heard::Reply { reply, lied }
            }
            Answer::Lost | Answer::Watch(_) => {
                self.tell(name, || format!("{} {} → connection lost{}", request.method, request.target(), injected()));
                Heard::Lost
            }
            Answer::Silence => {
                self.tell(name, || format!("{} {} → silence{}", request.method, request.target(), injected()));
                Heard::Silence
            }
        }
    }

    /// Hands the request to the cluster that answers, with the truth looking on.
    fn carry(
        &mut self,
        who: usize,
        site: usize,
        request: &Request,
        asked: &Asked,
        fault: Option<InjectedFault>,
    ) -> Answer {
        // A stale replica and a lost group do not change what a review says.
        let is_answered = match &fault {
            None | Some(InjectedFault::GroupLost | InjectedFault::At(FaultAction::StaleReplica { .. })) => true,
            Some(InjectedFault::At(_) | InjectedFault::Late) => false,
        };
        if is_answered && *asked == Asked::Review {
            return self.review(who, site);
        }
        let now = self.now();
        let scene = self.before_write(site, asked);
        let server = self.sites[site].answering();
        let answer = match fault {
            None => server.handle(now, request),
            // The sim strikes requests to resources only; here discovery fails like anything else.
            Some(InjectedFault::At(action)) if *asked == Asked::Discovery => bare(&action),
            Some(InjectedFault::At(action)) => {
                server.faults().add(Fault::once(Matcher::any(), action));
                let answer = server.handle(now, request);
                server.faults().clear();
                answer
            }
            Some(InjectedFault::GroupLost) => {
                server.faults().group("", GroupFault::Lost);
                let answer = server.handle(now, request);
                server.faults().clear();
                answer
            }
            Some(InjectedFault::Late) => Answer::Lost,
        };
        self.after_write(who, asked, scene);
        answer
    }

    fn draw_kind(&mut self, asked: &Asked) -> Option<Kind> {
        if self.resting {
            return None;
        }
        let Self { rng, faults, .. } = self;
        match asked {
            Asked::Write { .. } => rng.permille(faults.write_faults).then(|| *rng.pick(&WRITE_KINDS)),
            Asked::Get | Asked::Review if rng.permille(faults.read_faults) => {
                Some(if rng.permille(250) { Kind::ReadStale } else { *rng.pick(&READ_KINDS) })
            }
            Asked::List { further } if rng.permille(faults.read_faults) => {
                let kind = if *further { Kind::ListExpired } else { *rng.pick(&LIST_KINDS) };
                Some(if rng.permille(400) { *rng.pick(&READ_KINDS) } else { kind })
            }
            Asked::Discovery if rng.permille(faults.read_faults * 4) => Some(Kind::DiscoveryFails),
            Asked::Get | Asked::Review | Asked::List { .. } | Asked::Discovery => None,
        }
    }

    fn fault(&mut self, kind: Kind, site: usize) -> Option<InjectedFault> {
        let refuse = |code, retry_after_seconds| InjectedFault::At(FaultAction::Refuse { code, retry_after_seconds });
        let stale = |world: &mut Self| {
            let site = &mut world.sites[site];
            let floor = site.planned_version;
            let behind = site.answering().version().saturating_sub(floor);
            (behind > 0).then(|| {
                let writes = 1 + world.rng.draw() % behind.min(4);
                InjectedFault::At(FaultAction::StaleReplica { writes })
            })
        };
        Some(match kind {
            Kind::WriteUnauthorized | Kind::ReadUnauthorized => refuse(401, None),
            Kind::WriteForbidden | Kind::ReadForbidden => refuse(403, None),
            Kind::WriteKindGone | Kind::ReadKindGone => refuse(404, None),
            Kind::WriteInvalid => refuse(422, None),
            Kind::WriteBusy | Kind::ReadBusy => refuse(429, None),
            Kind::WriteBusyWait => refuse(429, Some(3)),
            Kind::WriteBusyLong => refuse(429, Some(86_400)),
            Kind::WriteError | Kind::ReadError => refuse(500, None),
            Kind::WriteUnavailable | Kind::ReadUnavailable | Kind::DiscoveryFails => refuse(503, None),
            Kind::WriteUnavailableWait => refuse(503, Some(2)),
            Kind::WriteTimeout | Kind::ReadTimeout => refuse(504, None),
            Kind::WriteTimeoutDone => InjectedFault::At(FaultAction::RefuseAfterCommit { code: 504 }),
            Kind::WriteLost | Kind::ReadLost => InjectedFault::At(FaultAction::LostBefore),
            Kind::WriteReplyLost => InjectedFault::At(FaultAction::ReplyLost),
            Kind::WriteCut | Kind::ReadCut => InjectedFault::At(FaultAction::Truncate { bytes: self.rng.below(60) }),
            Kind::WriteStall | Kind::ReadStall => InjectedFault::At(FaultAction::Stall),
            Kind::WriteProxy | Kind::ReadProxy => InjectedFault::At(FaultAction::Html),
            Kind::WriteLate => InjectedFault::Late,
            Kind::ReadGroupLost => InjectedFault::GroupLost,
            Kind::ReadStale | Kind::ListStale => return stale(self),
            Kind::ListEmpty => InjectedFault::At(FaultAction::EmptyList),
            Kind::ListExpired => InjectedFault::At(FaultAction::Expired),
            _ => return None,
        })
    }

    fn put_off(&mut self, who: usize, site: usize, request: &Request) -> Heard {
        let wait = SignedDuration::from_millis(500 + i64::try_from(self.rng.below(9_000)).expect("a small number"));
        let now = self.now();
        let due = now.checked_add(wait).unwrap_or(now);
        let name = self.engines[who].name;
        self.tell(name, || format!("{} {} → connection lost, arrives at {due}", request.method, request.target()));
        self.late.push(Late { due, who, site, request: request.clone() });
        Heard::Lost
    }

    fn is_late(&self, site: usize, asked: &Asked) -> bool {
        let is_list = matches!(asked, Asked::List { .. }) && !self.resting;
        is_list && self.late_site == Some(site)
    }

    /// What an engine may do in a cluster.
    fn review(&self, who: usize, site: usize) -> Answer {
        let is_denied = self.engines[who].configuration.denies_access(site);
        let body = json!({ "status": { "allowed": !is_denied, "reason": "" } });
        Answer::Reply(Reply {
            status: 201,
            content_type: "application/json",
            retry_after_seconds: None,
            body: Bytes::from(body.to_string()),
            cut: false,
        })
    }

    /// Carries out what arrives late.
    pub fn deliver_late(&mut self) {
        let now = self.now();
        self.deliver(|late| late.due <= now);
    }

    /// Carries out what is under way and meant by `which`.
    pub fn deliver(&mut self, which: impl Fn(&Late) -> bool) {
        while let Some(place) = self.late.iter().position(&which) {
            let Late { due: _, who, site, request } = self.late.remove(place);
            let asked = Asked::of(site, &request);
            let name = self.engines[who].name;
            self.tell(name, || format!("{} {} arrives late", request.method, request.target()));
            self.carry(who, site, &request, &asked, None);
        }
    }
}

/// An answer of something that stands before the API server.
fn bare(action: &FaultAction) -> Answer {
    let FaultAction::Refuse { code, retry_after_seconds } = action else { return Answer::Lost };
    Answer::Reply(Reply {
        status: *code,
        content_type: "application/json",
        retry_after_seconds: *retry_after_seconds,
        body: Bytes::new(),
        cut: false,
    })
}
