//! The list and the detail as the console draws them, at the two sizes that count.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::json;

use super::*;
use crate::console::capture;
use crate::console::effect::Effects;
use crate::console::event::{Event, What};
use crate::console::hits::HitMap;
use crate::console::model::{Model, Zone};
use crate::console::task::{Closer, Start, Task, Told};
use crate::console::theme::{Signs, Theme};
use crate::console::update::update;
use crate::console::view::{Look, view};
use crate::live::{Judgements, Update};

/// One of each sort.
fn fleet() -> Given {
    let mut given = given();
    let mut with = |name: &str, source: Config, target: Config| {
        let place = |config: Config| {
            config.server(&format!("https://{name}.gr7.us-west-2.eks.amazonaws.com")).authorities(&[name])
        };
        given = given
            .clone()
            .object(capi_cluster("team-b", name))
            .object(plane("team-b", name))
            .has(connection("team-b", name));
        given = given.clone().has(self::source(name, &place(source))).has(self::target("team-b", name, &place(target)));
    };
    with("shop", config().signed(minutes(-1)), config().signed(minutes(-18)));
    with("pay", config().signed(minutes(-11)), config().signed(minutes(-11)));
    with("stall", config().signed(minutes(-13)), config().signed(minutes(-13)));
    let moved = config().server("https://gone.example").certificate(days(-30), days(330));
    let status = json!({ "kubeconfig": { "name": "guest-admin-kubeconfig" } });
    given
        .object(plain_cluster("team-c", "old", "10.0.0.1", 6443))
        .has(target("team-c", "old", &moved))
        .object(hosted("clusters", "guest", status))
        .has(
            secret("clusters", "guest-admin-kubeconfig")
                .key("kubeconfig", &config().certificate(days(-400), days(-2)).text()),
        )
}

struct Console {
    model: Model,
    world: World,
}

impl Console {
    fn open(width: u16, height: u16) -> Self {
        let given = fleet();
        let (mut world, mut judgements) = (World::default(), Judgements::default());
        let changes = given.fill(&mut world);
        let domains: Vec<Box<dyn Domain>> = vec![Box::new(Kubeconfigs)];
        judgements.follow(&domains, world.view(now()), &changes);
        let model = Model::new(now(), Rect::new(0, 0, width, height), Zone::Utc);
        let mut console = Self { model, world };
        let checks = vec![(Kubeconfigs.name(), Kubeconfigs.introduction())];
        let start = Start { checks, read_only: None, fleet: "a folder".to_owned(), user: "ann".to_owned() };
        console.take(What::Told(Box::new(Told::Started(Box::new(start)))));
        let findings = judgements.shared().map(|(id, held)| (id.clone(), Some(held.clone()))).collect();
        let name = ClusterName::new("mgmt");
        let cluster = console.world.view(now()).cluster(&name).cloned();
        console.take(What::Data(Box::new(Update { findings, clusters: [(name, cluster)].into() })));
        console
    }

    fn take(&mut self, what: What) {
        let event = Event { at: self.model.now, what };
        let Effects { tasks, .. } = update(&mut self.model, event, &HitMap::default());
        for task in tasks {
            let Task::Explain { ask, subject } = task else { continue };
            let view = self.world.view(now());
            let explanation = Kubeconfigs.explain(&subject, view).unwrap();
            let panels = Kubeconfigs.panels(&subject, view);
            let closer = Some(Box::new(Closer { subject, explanation, panels }));
            self.take(What::Told(Box::new(Told::Explained { ask, closer })));
        }
    }

    fn press(&mut self, letter: char) {
        self.take(What::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE)));
    }

    fn screen(&self) -> String {
        let mut buffer = Buffer::empty(self.model.area);
        view(&self.model, &Look { theme: Theme::default(), signs: Signs::Unicode }, self.model.area, &mut buffer);
        capture::text(&buffer)
    }
}

/// What stands in the rows of a list, in their order.
fn rows(screen: &str) -> Vec<&'static str> {
    let names = ["old", "gue", "shop", "pay", "stall", "demo"];
    let at = |name: &&'static str| screen.find(&format!("Secret {name}"));
    let mut found: Vec<(usize, &'static str)> = names.iter().filter_map(|name| Some((at(name)?, *name))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, name)| name).collect()
}

#[test]
fn the_list_shows_what_is_left_and_the_soonest_of_a_state_first() {
    for (width, height) in [(80, 24), (160, 45)] {
        let mut console = Console::open(width, height);
        console.press('1');
        let screen = console.screen();
        assert_eq!(rows(&screen), ["old", "gue", "shop", "stall", "pay", "demo"], "{screen}");
        assert!(screen.contains("LEFT") && screen.contains("expired"), "{screen}");
    }
}
