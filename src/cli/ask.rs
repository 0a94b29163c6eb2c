//! Interactive approval: lists the actions, then asks per cluster.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;

use super::context::Context;
use super::error::CliError;
use super::output::place;
use super::terminal::{Stderr, write_stderr};
use trueup_core::engine::text::{Charset, printable};
use trueup_core::engine::{Answers, Asks, ClusterQuestion, Plan, Provenance, consequences, short_id, source_line};

/// Whether an operator can be asked.
pub fn is_interactive(context: &Context) -> bool {
    context.terminal.stderr == Stderr::Person && std::io::stdin().is_terminal()
}

/// Shows the actions and asks, cluster by cluster. A wrong answer ends it.
///
/// # Errors
/// The terminal cannot be read.
pub async fn ask(plan: &Plan, questions: &[ClusterQuestion]) -> Result<Answers, CliError> {
    let mut answers = BTreeMap::new();
    for question in questions {
        for action in plan.actions.iter().filter(|action| question.actions.contains(&action.id)) {
            let what = format!("{} {} {}", action.verb().as_str(), action.target.kind, place(&action.target));
            let line = format!("  {}  {}  {}  {what}", action.id, action.tier, action.cluster);
            write_stderr(&unmistakable(&line));
            for line in consequences(action).map(str::to_owned).chain(source_line(action)) {
                write_stderr(&unmistakable(&format!("      {line}")));
            }
        }
        write_stderr(&prompt(plan, question));
        let line = read_line().await?;
        let right = question.accepts(&line);
        answers.insert(question.cluster.clone(), line);
        if !right {
            break;
        }
    }
    Ok(Answers::Typed(answers))
}

fn prompt(plan: &Plan, question: &ClusterQuestion) -> String {
    let (cluster, plan) = (unmistakable(&question.cluster), short_id(&plan.id));
    let asked = match &question.asks {
        Asks::Enter => "Press enter to approve:".to_owned(),
        Asks::Deletions(_) => "Type the number of deletions to approve:".to_owned(),
        Asks::ClusterName(_) => format!("Type `{cluster}` to approve:"),
        Asks::ClusterNameAndId { .. } => format!("Type `{cluster} {plan}` to approve:"),
    };
    let foreign = match question.provenance {
        Provenance::Here => "",
        Provenance::Foreign => ", made elsewhere or edited",
    };
    format!("plan {plan}{foreign}, cluster {cluster}, {}. {asked}", question.tier)
}

/// Text in which no letter can be mistaken for another: everything but ASCII is escaped.
pub fn unmistakable(text: &str) -> String {
    printable(text, Charset::Ascii)
}

async fn read_line() -> Result<String, CliError> {
    let reading = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|bytes| (bytes, line))
    });
    let failed = |cause: String| CliError::failed("asking", cause, "name the plan with --expect instead");
    let (bytes, line) =
        reading.await.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(error.to_string()))?;
    if bytes == 0 {
        // End of input is not an approval.
        return Err(CliError::refused("asking", "no answer; nothing was sent", ""));
    }
    Ok(line.strip_suffix('\n').unwrap_or(&line).to_owned())
}
