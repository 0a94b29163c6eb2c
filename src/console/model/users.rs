//! What uses the object of a planned action, as far as it is known now.
//!
//! Invariants: what could not be read, or is read from a cluster without a connection, is not known: it never counts as
//! unused, and a delete of it cannot be approved.
//!
//! Elsewhere: finding the users (`trueup_checks::Relations`), asking again before anything is sent (`operate`).

use super::{Approval, Model};
use trueup_checks::RelatedObject;
use trueup_core::engine::{Action, Reason};
use trueup_core::world::{ClusterName, Link};

/// The users of an object.
#[derive(Debug, PartialEq, Eq)]
pub enum Users<'m> {
    /// Its check does not look for users.
    NotJudged,
    /// Why they are not known.
    NotKnown(String),
    Known(&'m [RelatedObject]),
}

impl Model {
    /// What uses the object of an action of the open plan.
    pub fn users_of(&self, action: &Action) -> Users<'_> {
        let relations = self.plan.as_ref().and_then(|plan| plan.relations(&action.id));
        let (used_by, searched, unread) = relations.map_or((&[][..], &[][..], &[][..]), |relations| {
            (&relations.used_by[..], &relations.searched[..], &relations.unread[..])
        });
        let is_judged = !(used_by.is_empty() && searched.is_empty() && unread.is_empty());
        if !is_judged && action.reason != Reason::NoReferrer {
            return Users::NotJudged;
        }
        if let Some(why) = self.lost(&action.cluster) {
            return Users::NotKnown(why);
        }
        match unread {
            [] => Users::Known(used_by),
            [..] => Users::NotKnown(format!("{} not read", unread.join(", "))),
        }
    }

    /// Why what is read from a cluster may be old.
    fn lost(&self, cluster: &str) -> Option<String> {
        match &self.fleet.get(&ClusterName::new(cluster))?.link {
            Link::Degraded { gap, .. } | Link::AuthExpired { gap, .. } | Link::Failed { gap } => {
                Some(gap.message.to_string())
            }
            Link::Idle | Link::Connecting | Link::Listing { .. } | Link::Live { .. } | Link::Recorded => None,
        }
    }

    /// Why what an approval asks about cannot be approved: the users of an object that would be deleted are not known.
    pub fn unknown_users(&self, approval: &Approval) -> Option<String> {
        let actions = self.plan.as_ref()?.plan.actions.iter();
        let mut asked = actions.filter(|action| approval.question().actions.contains(&action.id) && action.is_delete());
        asked.find_map(|action| match self.users_of(action) {
            Users::NotKnown(why) => {
                Some(format!("cannot check references of {} {}: {why}", action.target.kind, action.target.place()))
            }
            Users::NotJudged | Users::Known(_) => None,
        })
    }

    /// Whether an approval asks about an object that something uses.
    pub fn has_users(&self, approval: &Approval) -> bool {
        let actions = self.plan.iter().flat_map(|plan| &plan.plan.actions);
        let mut asked = actions.filter(|action| approval.question().actions.contains(&action.id));
        asked.any(|action| matches!(self.users_of(action), Users::Known([_, ..])))
    }
}
