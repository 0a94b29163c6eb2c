//! A real server behind something that gets one thing wrong, to show that the comparison would notice.
//!
//! Always true: all but the one flaw goes through unchanged.

use serde_json::{Value, json};

use super::targets::Target;
use crate::support::http::{Request, Response, Watched};
use crate::support::real::Connection;

/// What a simulated server could get wrong, and what would then be tested in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    DeletesWhateverThePreconditions,
    OverwritesWhateverTheVersion,
    AppliesDespiteOtherOwners,
    CommitsDryRuns,
    IgnoresSelectors,
    RefusesWithCode200,
    LosesModifiedEvents,
    ShowsOnePageOnly,
    WordsItsRefusalsDifferently,
}

impl Flaw {
    pub const ALL: [Flaw; 9] = [
        Flaw::DeletesWhateverThePreconditions,
        Flaw::OverwritesWhateverTheVersion,
        Flaw::AppliesDespiteOtherOwners,
        Flaw::CommitsDryRuns,
        Flaw::IgnoresSelectors,
        Flaw::RefusesWithCode200,
        Flaw::LosesModifiedEvents,
        Flaw::ShowsOnePageOnly,
        Flaw::WordsItsRefusalsDifferently,
    ];
}

#[derive(Clone)]
pub struct Flawed {
    inner: Connection,
    flaw: Flaw,
}

impl Flawed {
    pub fn new(inner: Connection, flaw: Flaw) -> Self {
        Self { inner, flaw }
    }

    /// The request as the flaw lets it through.
    fn distort_request(&self, request: &Request) -> Request {
        let mut request = request.clone();
        let content_type =
            request.headers.iter().find(|(name, _)| *name == "content-type").map(|(_, value)| value.clone());
        let applies = content_type.is_some_and(|value| value.starts_with("application/apply-patch"));
        let without = |request: &mut Request, name: &str| request.query.retain(|(key, _)| key != name);
        match self.flaw {
            Flaw::DeletesWhateverThePreconditions => {
                drop(request.body.as_mut().and_then(Value::as_object_mut).map(|body| body.remove("preconditions")));
            }
            Flaw::OverwritesWhateverTheVersion if request.method == http::Method::PUT => {
                let metadata = request.body.as_mut().and_then(|body| body["metadata"].as_object_mut());
                drop(metadata.map(|metadata| metadata.remove("resourceVersion")));
            }
            Flaw::AppliesDespiteOtherOwners if applies => {
                without(&mut request, "force");
                request = request.query("force", "true");
            }
            Flaw::CommitsDryRuns => {
                without(&mut request, "dryRun");
                drop(request.body.as_mut().and_then(Value::as_object_mut).map(|body| body.remove("dryRun")));
            }
            Flaw::IgnoresSelectors => without(&mut request, "labelSelector"),
            Flaw::OverwritesWhateverTheVersion
            | Flaw::AppliesDespiteOtherOwners
            | Flaw::RefusesWithCode200
            | Flaw::LosesModifiedEvents
            | Flaw::ShowsOnePageOnly
            | Flaw::WordsItsRefusalsDifferently => {}
        }
        request
    }

    /// The answer as the flaw lets it through.
    fn distort_answer(&self, mut answer: Response) -> Response {
        match self.flaw {
            Flaw::RefusesWithCode200 => answer.status = if answer.status < 400 { answer.status } else { 200 },
            Flaw::ShowsOnePageOnly if answer.body["metadata"]["continue"].is_string() => {
                answer.body["metadata"]["continue"] = json!("");
            }
            Flaw::WordsItsRefusalsDifferently if answer.body["message"].is_string() => {
                answer.body["message"] = json!("no");
            }
            Flaw::DeletesWhateverThePreconditions
            | Flaw::OverwritesWhateverTheVersion
            | Flaw::AppliesDespiteOtherOwners
            | Flaw::CommitsDryRuns
            | Flaw::IgnoresSelectors
            | Flaw::LosesModifiedEvents
            | Flaw::ShowsOnePageOnly
            | Flaw::WordsItsRefusalsDifferently => {}
        }
        answer
    }
}

impl Target for Flawed {
    async fn send(&self, request: &Request) -> anyhow::Result<Response> {
        Ok(self.distort_answer(self.inner.send(&self.distort_request(request)).await?))
    }

    async fn watch(
        &self,
        request: &Request,
        is_last: impl Fn(&Value) -> bool + Send + Sync,
    ) -> anyhow::Result<Watched> {
        let watched = self.inner.watch(&self.distort_request(request), is_last).await?;
        Ok(match watched {
            Watched::Reached(mut events) if self.flaw == Flaw::LosesModifiedEvents => {
                events.retain(|event| event["type"] != "MODIFIED");
                Watched::Reached(events)
            }
            Watched::Refused(_) | Watched::Reached(_) | Watched::Ended(_) | Watched::Silent(_) => watched,
        })
    }
}
