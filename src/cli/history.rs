//! `trueup history`: what was applied, by whom, and with which result.
//!
//! Exit codes: 0 shown, or the journal is intact; 3 `verify` found damage; 1 the journal cannot be read.
//!
//! Invariants: a process that applies a plan is not delayed; the list and `show` resolve open intents by reading;
//! `verify` and `export` only read.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::json;

use super::args::{HistoryArgs, HistoryWhat};
use super::context::Context;
use super::error::CliError;
use super::fleet;
use super::output::{count, padded, place, wrapped};
use super::terminal::{Style, print};
use trueup_core::engine::journal::{
    self, ActionEntry, ActionStanding, Approval, ApprovedCluster, Entry, History, JournalError, PublishedHash, Record,
    TornTail, Undone, compare_published,
};
use trueup_core::engine::text::{Printable, printable_json};
use trueup_operate::{
    OperateError, PublishTarget, Recovered, Settings, pick, read_history, read_published, read_recovered,
};

/// What the user was doing, for errors.
const DOING: &str = "history";

/// Exit code when the journal is damaged.
const DAMAGED: u8 = 3;

/// What a line of an export is. Keys may be added under the same name; nothing may change meaning.
const EXPORT_SCHEMA: &str = "trueup/history/v1";

/// How far lines that belong to the one above are moved in.
const INDENT: usize = 4;

const NOTHING: &str = "no plan was applied from this machine yet";

/// How many clusters of a plan the list names; `show` names them all.
const CLUSTERS_MAX: usize = 3;

pub async fn run(context: &Context, args: &HistoryArgs) -> Result<u8, CliError> {
    // Export reads the journal alone: a broken config does not matter to it.
    match &args.what {
        None => list(context).await,
        Some(HistoryWhat::Show { entry }) => show(context, entry).await,
        Some(HistoryWhat::Verify { published }) => verify(context, published.as_deref()).await,
        Some(HistoryWhat::Export) => export(context),
    }
}

async fn list(context: &Context) -> Result<u8, CliError> {
    let Recovered { history, open } = recovered(context).await?;
    note_torn(context, &history);
    let entries = entries(&history);
    let undone = journal::undone(&entries);
    let mut text = String::new();
    for entry in entries.iter().rev() {
        let line = format!("{}{}", entry_line(context, entry), relation(entry, &undone));
        for line in wrapped(&line, context.terminal.width, INDENT) {
            text += &format!("{line}\n");
        }
    }
    if entries.is_empty() {
        text = format!("{}\n", empty_message(context, &history));
    }
    print(&Printable::styled(&text))?;
    for ((plan, action), why) in &open {
        context.note(&format!("{}/{action} is open: result unknown, {why}", short(plan)));
    }
    Ok(0)
}

async fn show(context: &Context, asked: &str) -> Result<u8, CliError> {
    let failed = |error: OperateError| CliError::operate(DOING, &error);
    let history = read_whole(context)?;
    let is_open = pick(&entries(&history), asked).map_err(failed)?.0.open_count() > 0;
    let Recovered { history, open } = match is_open {
        true => recovered(context).await?,
        false => Recovered { history, open: BTreeMap::new() },
    };
    let entries = entries(&history);
    let (entry, only) = pick(&entries, asked).map_err(failed)?;
    let mut lines = vec![context.terminal.paint(&format!("plan {}", context.terminal.safe(&entry.plan)), Style::Title)];
    lines.extend(entry.approvals.iter().map(|approval| format!("approved {}", approval_message(context, approval))));
    lines.push(match entry.finished {
        Some(at) => format!("finished {}", context.time(at)),
        None => "not finished".to_owned(),
    });
    lines.push(String::new());
    let mut shown: Vec<&ActionEntry> =
        entry.actions.iter().filter(|action| only.is_none_or(|only| only.id == action.id)).collect();
    // In the order of the plan, a2 before a10: skipped actions are journalled last.
    shown.sort_by_key(|action| (action.id.len(), action.id.clone()));
    let still_open = |action: &ActionEntry| open.get(&(entry.plan.clone(), action.id.clone())).map(String::as_str);
    lines.extend(shown.into_iter().map(|action| action_line(context, action, still_open(action))));
    let lines = lines.iter().flat_map(|line| wrapped(line, context.terminal.width, INDENT));
    print(&Printable::styled(&lines.fold(String::new(), |text, line| text + &line + "\n")))?;
    Ok(0)
}

async fn verify(context: &Context, published: Option<&str>) -> Result<u8, CliError> {
    let settings = context.config()?.settings;
    let (message, code) = match read(context) {
        Ok(history) => match (history.torn, history.lines.last()) {
            (Some(tail), _) => (torn_message(tail), DAMAGED),
            (None, None) => with_published(context, settings, published, &history, NOTHING.to_owned()).await,
            (None, Some(last)) => {
                let plans = count(entries(&history).len(), "plan");
                let records = count(history.lines.len(), "record");
                let begun = compaction_note(context, &history);
                let intact =
                    format!("the journal is intact: {records} of {plans}, last hash {}{begun}", last.hash_text());
                with_published(context, settings, published, &history, intact).await
            }
        },
        Err(OperateError::Journal(error @ JournalError::Damaged { .. })) => {
            (format!("{error}; {}", error.remedy()), DAMAGED)
        }
        Err(error) => return Err(CliError::operate(DOING, &error)),
    };
    print(&Printable::line(&context.terminal.safe(&message)).ended())?;
    Ok(code)
}

/// Adds the comparison with the published hash to the message about an intact chain.
async fn with_published(
    context: &Context,
    settings: Settings,
    named: Option<&str>,
    history: &History,
    intact: String,
) -> (String, u8) {
    if let Some(named) = named {
        return compared(history, intact, "--published", named);
    }
    let Some(target) = settings.publish.clone() else { return (intact, 0) };
    if let PublishTarget::Syslog { .. } = target {
        let how = "compare it with the last line of journalctl -t trueup, or with --published HASH";
        return (format!("{intact}; {target} is written and never read: {how}"), 0);
    }
    let session = context.session(settings);
    let published = match read_published(&session, &target).await {
        Ok(Some(published)) => published,
        Ok(None) if history.lines.is_empty() => return (intact, 0),
        Ok(None) => {
            let why = format!("nothing is published for this machine in {target}; the next run publishes the hash");
            return (format!("{intact}; {why}"), DAMAGED);
        }
        Err(why) => return (format!("{intact}; the published hash in {target} cannot be read: {why}"), DAMAGED),
    };
    compared(history, intact, &target.to_string(), &published)
}

/// Compares the journal with a hash that was published in `target`.
fn compared(history: &History, intact: String, target: &str, published: &str) -> (String, u8) {
    match compare_published(&history.lines, published) {
        PublishedHash::Found { newer: 0 } => (format!("{intact}; {target} has the same hash"), 0),
        PublishedHash::Found { newer } => {
            let newer = count(newer, "record");
            (format!("{intact}; {target} has {published}, {newer} earlier"), 0)
        }
        PublishedHash::NotFound { last } => {
            let last = last.map_or_else(|| "no record".to_owned(), |last| format!("last hash {last}"));
            let why = format!("the journal was cut or replaced: it has {last}, and {target} has {published}");
            (format!("{why}; restore the journal, or find out who changed it"), DAMAGED)
        }
    }
}

fn export(context: &Context) -> Result<u8, CliError> {
    let mut text = String::new();
    for (index, line) in read_whole(context)?.lines.into_iter().enumerate() {
        let (number, hash) = (index + 1, hex(&line.hash));
        let record = line.record.redacted();
        let value = json!({ "schema": EXPORT_SCHEMA, "number": number, "sha256": hash, "record": record });
        text += &printable_json(&value.to_string());
        text.push('\n');
    }
    print(&Printable::lines(&text))?;
    Ok(0)
}

/// Reads the journal. Where there is none, the history is empty.
fn read(context: &Context) -> Result<History, OperateError> {
    read_history(&context.session(Settings::default()))
}

/// Reads the journal and resolves what an interrupted run left open.
async fn recovered(context: &Context) -> Result<Recovered, CliError> {
    let history = read(context).map_err(|error| CliError::operate(DOING, &error))?;
    if journal::open_intents(&entries(&history)).is_empty() {
        return Ok(Recovered { history, open: BTreeMap::new() });
    }
    let (session, mut reach) = fleet::reach(context, context.config()?);
    read_recovered(&session, DOING, &mut reach).await.map_err(|error| CliError::operate(DOING, &error))
}

/// Message for a journal without plans.
fn empty_message(context: &Context, history: &History) -> String {
    match compaction_note(context, history) {
        none if none.is_empty() => NOTHING.to_owned(),
        begun => format!("the history is empty{begun}"),
    }
}

/// Note about a compaction, to append to another message.
fn compaction_note(context: &Context, history: &History) -> String {
    match history.lines.first().map(|line| &line.record) {
        Some(Record::Restarted { before, plans, records, at }) => {
            let number = |count: &u64| usize::try_from(*count).unwrap_or(usize::MAX);
            let (plans, records) = (count(number(plans), "plan"), count(number(records), "record"));
            let when = context.time(*at);
            format!("; compacted {when}, dropped {plans} ({records}) past [safety] keep, after {before}")
        }
        Some(_) | None => String::new(),
    }
}

/// Reads the journal and reports an incomplete record at its end.
fn read_whole(context: &Context) -> Result<History, CliError> {
    let history = read(context).map_err(|error| CliError::operate(DOING, &error))?;
    note_torn(context, &history);
    Ok(history)
}

fn note_torn(context: &Context, history: &History) {
    if let Some(tail) = history.torn {
        context.note(&torn_message(tail));
    }
}

fn entries(history: &History) -> Vec<Entry> {
    journal::entries(history.lines.iter().map(|line| &line.record))
}

fn hex_of(plan: &str) -> &str {
    plan.strip_prefix("sha256:").unwrap_or(plan)
}

/// The first 8 characters of a plan's id.
fn short(plan: &str) -> &str {
    let hex = hex_of(plan);
    hex.get(..8).unwrap_or(hex)
}

/// `1a2b3c4d  2026-11-16 10:00:00 UTC  anna on laptop  guest-a  2 gone, 1 skipped`
fn entry_line(context: &Context, entry: &Entry) -> String {
    let terminal = &context.terminal;
    let name = terminal.paint(&terminal.safe(short(&entry.plan)), Style::Title);
    let approved = match entry.approvals.last() {
        Some(Approval { who, host, how: _, at, clusters }) => {
            let mut names: Vec<&str> =
                clusters.iter().take(CLUSTERS_MAX).map(|cluster| cluster.name.as_str()).collect();
            let more = format!("and {} more", clusters.len().saturating_sub(CLUSTERS_MAX));
            if clusters.len() > CLUSTERS_MAX {
                names.push(&more);
            }
            let who = terminal.safe(&format!("{who} on {host}"));
            format!("{}  {who}  {}", context.time(*at), terminal.safe(&names.join(", ")))
        }
        None => "not approved".to_owned(),
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for action in &entry.actions {
        *counts.entry(standing_name(&action.standing)).or_default() += 1;
    }
    let counts: Vec<String> = counts.iter().map(|(word, number)| format!("{number} {word}")).collect();
    let counts = if counts.is_empty() { "nothing done".to_owned() } else { counts.join(", ") };
    let rest = match entry.finished {
        Some(_) => String::new(),
        None => format!("  {}", terminal.paint("not finished", Style::Warn)),
    };
    format!("{name}  {approved}  {counts}{rest}")
}

/// What an entry undoes, or which plan undid it.
fn relation(entry: &Entry, undone: &Undone) -> String {
    let own: Vec<&ActionEntry> = entry.actions.iter().filter(|action| !journal::is_memory(&action.id)).collect();
    let by: Vec<&str> = own.iter().filter_map(|action| undone.by(&entry.plan, &action.id)).collect();
    match (by.last(), &entry.undoes) {
        (Some(plan), _) if by.len() == own.len() => format!("  undone by {}", short(plan)),
        (Some(plan), _) => format!("  {} of {} undone by {}", by.len(), own.len(), short(plan)),
        (None, Some(plan)) => format!("  undoes {}", short(plan)),
        (None, None) => String::new(),
    }
}

fn approval_message(context: &Context, approval: &Approval) -> String {
    let Approval { who, host, how, at, clusters } = approval;
    let named = |cluster: &ApprovedCluster| match &cluster.typed {
        Some(typed) => format!("{} ({typed:?})", cluster.name),
        None => cluster.name.clone(),
    };
    let names: Vec<String> = clusters.iter().map(named).collect();
    let message = format!("by {who} on {host} ({}), for {}", how.as_str(), names.join(", "));
    format!("{} {}", context.time(*at), context.terminal.safe(&message))
}

/// `a1  delete  guest-a  Secret openshift-config/old-client  gone; backup 00ff.age`
fn action_line(context: &Context, action: &ActionEntry, still_open: Option<&str>) -> String {
    let ActionEntry { id, backup, sent, standing, version: _ } = action;
    let terminal = &context.terminal;
    let mut line = padded(&terminal.safe(id), INDENT);
    let about = match (sent, standing) {
        (Some(sent), _) => Some((sent.verb, &sent.cluster, &sent.target)),
        (None, ActionStanding::Skipped { cluster, verb, target, why: _ }) => Some((*verb, cluster, target)),
        (None, _) => None,
    };
    if let Some((verb, cluster, target)) = about {
        let what = format!("{}  {cluster}  {} {}", verb.as_str(), target.kind, place(target));
        let _ = write!(line, "{}  ", terminal.safe(&what));
    }
    if let Some(sent) = sent.as_ref().filter(|sent| sent.attempt > 1) {
        let _ = write!(line, "attempt {}  ", sent.attempt);
    }
    let word = standing_name(standing);
    line += &if action.is_open() { terminal.paint(word, Style::Warn) } else { word.to_owned() };
    match standing {
        ActionStanding::Open => {}
        ActionStanding::Resolved(_) => line += ", found by reading after an interruption",
        ActionStanding::Verified { why, .. } | ActionStanding::Skipped { why, .. } if !why.is_empty() => {
            let _ = write!(line, ": {}", terminal.safe(why));
        }
        ActionStanding::Prepared
        | ActionStanding::Answered(_)
        | ActionStanding::Verified { .. }
        | ActionStanding::Skipped { .. } => {}
    }
    if let Some(why) = still_open {
        let _ = write!(line, ": result unknown, {}", terminal.safe(why));
    }
    if let Some(file) = backup {
        let _ = write!(line, "; backup {}", terminal.safe(file));
    }
    line
}

fn standing_name(standing: &ActionStanding) -> &'static str {
    match standing {
        ActionStanding::Prepared => "prepared",
        ActionStanding::Open => "open",
        ActionStanding::Answered(answer) => answer.as_str(),
        ActionStanding::Verified { state, .. } => state.as_str(),
        ActionStanding::Resolved(found) => found.as_str(),
        ActionStanding::Skipped { .. } => "skipped",
    }
}

fn torn_message(tail: TornTail) -> String {
    format!(
        "the last {} bytes of the journal, from byte {}, are an incomplete record: an append is running or was interrupted; the next apply truncates it",
        tail.bytes, tail.offset
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}
