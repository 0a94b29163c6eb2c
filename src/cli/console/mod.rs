//! `trueup` on a terminal, and `trueup demo`: the console.
//!
//! Always true: the first frame is drawn before config, kubeconfig or network are touched.
//!
//! Exit codes: 0 when the user left; 1 when there is no terminal to draw on.

mod acting;
mod backstage;
mod fleet;
mod objects;
mod saving;

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

use super::context::{Context, Voice};
use super::error::CliError;
use super::{look_live, members, settle};
use crate::config::Config;
use crate::console::Teller;
use crate::console::keymap::Keymap;
use crate::console::model::Zone;
use crate::console::run::{Opening, Started, run as run_console};
use crate::console::task::Start;
use crate::console::terminal::{ColorChoice, color_depth};
use crate::console::theme::{DEFAULT, Signs, Themes};
use crate::engine::executor::LOOK_BACK_AFTER;
use crate::engine::text::Charset;
use crate::live::Live;
use backstage::Crew;
use fleet::Fleet;

/// How many commands and updates may wait on their way.
const CHANNEL: usize = 64;

/// A fleet before its first step, with what the console needs to know of it.
pub struct Ready {
    pub live: Live,
    pub config: Config,
    /// What the fleet is called in the title.
    pub name: String,
    /// How long after a delete it is looked whether something refers to it now.
    pub look_back_after: Duration,
    /// What has to live as long as the console.
    pub keeps: Box<dyn Send>,
}

/// Makes the fleet, once the first frame is drawn.
pub type MakeFleet = Box<dyn FnOnce(&mut Context) -> Result<Ready, CliError> + Send>;

/// Whether there is a person at a terminal to draw for.
pub fn is_possible() -> bool {
    std::io::stdout().is_terminal() && std::io::stdin().is_terminal()
}

/// The console on the user's clusters.
pub fn on_kubeconfig() -> MakeFleet {
    Box::new(|context| {
        let mut config = context.config()?;
        let members = members::members(context, &config.clusters)?;
        let door = look_live::guests(context, &config);
        let live = look_live::make(&mut config, members, door)?;
        Ok(Ready { live, config, name: "kubeconfig".to_owned(), look_back_after: LOOK_BACK_AFTER, keeps: Box::new(()) })
    })
}

/// Opens the console and runs it until the user leaves.
///
/// # Errors
/// There is no terminal, or it is gone.
pub async fn run(context: Context, make: MakeFleet) -> Result<u8, CliError> {
    let env = |name: &str| context.env.raw(name).map(ToOwned::to_owned);
    let choice = match context.globals.color {
        super::args::ColorWhen::Auto => ColorChoice::Auto,
        super::args::ColorWhen::Always => ColorChoice::Always,
        super::args::ColorWhen::Never => ColorChoice::Never,
    };
    let (keep, kept) = oneshot::channel();
    let opening = Opening {
        depth: color_depth(choice, &env),
        signs: match context.terminal.charset {
            Charset::Unicode => Signs::Unicode,
            Charset::Ascii => Signs::Plain,
        },
        zone: if context.globals.utc { Zone::Utc } else { Zone::Local },
        is_tmux: context.env.raw("TMUX").is_some(),
        keys: Keymap::default(),
        themes: Themes::built_in(),
        theme: DEFAULT.to_owned(),
        notices: Vec::new(),
        start: Box::new(move |teller| start(context, make, teller, keep)),
    };
    let ran = run_console(opening).await;
    // What had to live as long goes now, and not with whichever task ends last.
    drop(kept);
    ran.map(|()| 0).map_err(|error| {
        CliError::failed("the console", format!("the terminal can't be used ({error})"), "try trueup plan instead")
    })
}

fn start(
    mut context: Context,
    make: MakeFleet,
    tell: Teller,
    keep: oneshot::Sender<Box<dyn Send>>,
) -> BoxFuture<'static, Result<Started, String>> {
    async move {
        context.voice = Voice::Console(tell.clone());
        let Ready { live, config, name, look_back_after, keeps } =
            make(&mut context).map_err(|error| error.to_string())?;
        let context = Arc::new(context);
        let checks = live.domains().iter().map(|domain| (domain.name(), domain.introduction())).collect();
        let read_only = match (context.globals.read_only, config.safety.read_only) {
            (true, _) => Some("started with --read-only".to_owned()),
            (false, true) => Some("the config says so".to_owned()),
            (false, false) => None,
        };
        let start = Start { checks, read_only, fleet: name, user: settle::who(&context) };
        let (commands, inbox) = mpsc::channel(CHANNEL);
        let (outbox, updates) = mpsc::channel(CHANNEL);
        tokio::spawn(live.run(inbox, outbox));
        // Nobody to keep it means that the console has ended.
        let _ended = keep.send(keeps);
        let log = context.globals.log.clone();
        let fleet = Fleet { context, config: Arc::new(config), commands, look_back_after, accepted: Arc::default() };
        let crew = Crew { fleet, tell, stop: Arc::default(), log };
        Ok(Started { start, backstage: Box::new(crew), updates })
    }
    .boxed()
}
