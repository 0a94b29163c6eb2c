//! Reading the journal, with open intents resolved where clusters can be reached.
//!
//! Invariants: a process that applies a plan is not delayed; only records that resolve open intents are written; clusters
//! are connected only when an intent is open or a caller needs them.

use std::path::Path;
use std::sync::Arc;

use crate::error::OperateError;
use crate::event::Notice;
use crate::fleet::{Fleet, MakeLive};
use crate::publish::publish;
use crate::recover::{StillOpen, every_open, left_open, recover_open, unreachable};
use crate::session::Session;
use trueup_core::engine::journal::{
    self, ActionEntry, Entry, History, Journal, JournalError, Opened, StateFolder, entries, open_intents,
};
use trueup_core::engine::short_id;

/// How many candidates an error names.
const CANDIDATES_MAX: usize = 5;

/// The fleet, connected when it is first needed.
pub enum Reach {
    Connected(Fleet),
    NotConnected(Arc<Session>, MakeLive),
    /// Why it cannot be connected.
    Failed(String),
}

/// The journal as far as reading can resolve it.
pub struct Recovered {
    pub history: History,
    pub open: StillOpen,
}

impl Reach {
    /// The fleet, with everything listed once.
    ///
    /// # Errors
    /// Why it cannot be connected.
    pub async fn fleet(&mut self) -> Result<&Fleet, String> {
        if let Self::NotConnected(..) = self {
            let Self::NotConnected(session, make) = std::mem::replace(self, Self::Failed(String::new())) else {
                return Err(String::new());
            };
            *self = match connect(session, make).await {
                Ok(fleet) => Self::Connected(fleet),
                Err(error) => Self::Failed(error.cause()),
            };
        }
        match self {
            Self::Connected(fleet) => Ok(fleet),
            Self::Failed(why) => Err(why.clone()),
            Self::NotConnected(..) => Err("not connected".to_owned()),
        }
    }
}

async fn connect(session: Arc<Session>, make: MakeLive) -> Result<Fleet, OperateError> {
    let fleet = Fleet::connect(session, make).await?;
    fleet.wait_listed().await?;
    Ok(fleet)
}

impl Recovered {
    pub fn entries(&self) -> Vec<Entry> {
        entries(self.history.lines.iter().map(|line| &line.record))
    }
}

/// Reads the journal. Empty where there is none.
///
/// # Errors
/// The journal cannot be read.
pub fn read_history(session: &Session) -> Result<History, OperateError> {
    match session.state_folder()? {
        Some(folder) => Ok(journal::read(&folder)?),
        None => Ok(History { lines: Vec::new(), torn: None }),
    }
}

/// The entries of the journal.
///
/// # Errors
/// The journal cannot be read.
pub fn history_entries(session: &Session) -> Result<Vec<Entry>, OperateError> {
    Ok(entries(read_history(session)?.lines.iter().map(|line| &line.record)))
}

/// The entries of the journal of a state folder. Creates nothing and takes no lock.
///
/// # Errors
/// The journal cannot be read.
pub(crate) fn journal_entries(state: Option<&Path>) -> Result<Vec<Entry>, JournalError> {
    let Some(path) = state else { return Ok(Vec::new()) };
    let Some(folder) = StateFolder::look(path)? else { return Ok(Vec::new()) };
    let history = journal::read(&folder)?;
    Ok(entries(history.lines.iter().map(|line| &line.record)))
}

/// Reads the journal and resolves open intents where their clusters can be reached.
///
/// # Errors
/// The journal cannot be read. A journal that cannot be written leaves open what is open.
pub async fn read_recovered(session: &Session, operation: &str, reach: &mut Reach) -> Result<Recovered, OperateError> {
    let history = read_history(session)?;
    let found = entries(history.lines.iter().map(|line| &line.record));
    let folder = session.state_folder()?;
    let (Some(folder), false) = (folder, open_intents(&found).is_empty()) else {
        return Ok(Recovered { history, open: StillOpen::new() });
    };
    let fleet = match reach.fleet().await {
        Ok(fleet) => fleet,
        Err(why) => {
            session.events.notice(Notice::NoClusters { why });
            return Ok(Recovered { history, open: unreachable(&found) });
        }
    };
    let Opened { mut journal, records, recovered: _ } = match Journal::open(&folder, &session.holder(operation)) {
        Ok(opened) => opened,
        Err(error) => return Ok(Recovered { history, open: every_open(&found, |_| error.to_string()) }),
    };
    let left = fleet.ask(move |live| left_open(live, &records)).await?;
    let open = recover_open(session, &mut journal, left).await?.1;
    publish(session, journal.last_hash()).await;
    drop(journal);
    Ok(Recovered { history: journal::read(&folder)?, open })
}

/// The entry whose plan id has this prefix, and the action behind the slash if one is named.
///
/// # Errors
/// None or several match, or the plan has no such action.
pub fn pick<'e>(entries: &'e [Entry], asked: &str) -> Result<(&'e Entry, Option<&'e ActionEntry>), OperateError> {
    let (plan, action) = match asked.split_once('/') {
        Some((plan, action)) => (plan, Some(action)),
        None => (asked, None),
    };
    let prefix = hex_of(plan);
    let error = |cause: String, advice: String| OperateError::NoEntry { cause, advice };
    if prefix.is_empty() {
        return Err(error("the entry names no plan".to_owned(), "list entries with trueup history".to_owned()));
    }
    let candidates: Vec<&Entry> = entries.iter().filter(|entry| hex_of(&entry.plan).starts_with(prefix)).collect();
    let entry = match candidates.as_slice() {
        [one] => *one,
        [] => {
            let cause = format!("no applied plan has an id that begins with {plan}");
            return Err(error(cause, "list entries with trueup history".to_owned()));
        }
        many => {
            let mut names: Vec<&str> = many.iter().take(CANDIDATES_MAX).map(|entry| hex_of(&entry.plan)).collect();
            if many.len() > CANDIDATES_MAX {
                names.push("...");
            }
            let cause = format!("{} plans have an id that begins with {plan}", many.len());
            return Err(error(cause, format!("name one of: {}", names.join(", "))));
        }
    };
    let Some(id) = action else { return Ok((entry, None)) };
    let found = entry.actions.iter().find(|action| action.id == id);
    let advice = || format!("list its actions with trueup history show {}", short_id(&entry.plan));
    found.map(|action| (entry, Some(action))).ok_or_else(|| error(format!("the plan has no action {id}"), advice()))
}

fn hex_of(plan: &str) -> &str {
    plan.strip_prefix("sha256:").unwrap_or(plan)
}
