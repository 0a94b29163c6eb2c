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
    let typed = |name: &str, of: &str| machine_set(name, of);
    let both = |cpus: u64, memory: u64| {
        let mut all = machine(cpus, memory, 0);
        all.as_object_mut().unwrap().extend(capacity(cpus, memory, "amd64").as_object().unwrap().clone());
        all
    };
    let keys = json!({ "aws_access_key_id": "a", "aws_secret_access_key": "b" });
    given()
        .environment(json!({}))
        .secret(keys)
        .object(typed("bare", "m6g.4xlarge"))
        .object(typed("stale", "m6i.8xlarge"))
        .annotate("MachineSet", "stale", both(16, 65_536))
        .object(typed("torn", "m6i.8xlarge"))
        .annotate("MachineSet", "torn", both(32, 131_072))
        .annotate("MachineSet", "torn", capacity(16, 65_536, "amd64"))
        .object(typed("odd", "m6h.8xlarge"))
        .object(typed("paused", "m6i.8xlarge"))
        .set("MachineSet", "paused", "spec.paused", json!(true))
}

struct Console {
    model: Model,
    world: World,
}

impl Console {
    fn open(width: u16, height: u16) -> Self {
        let (mut world, mut judgements) = (World::default(), Judgements::default());
        let changes = fleet().fill(&mut world);
        let domains: Vec<Box<dyn Domain>> = vec![Box::new(MachineSetCapacity)];
        judgements.follow(&domains, world.view(now()), &changes);
        let model = Model::new(now(), Rect::new(0, 0, width, height), Zone::Utc);
        let mut console = Self { model, world };
        let checks = vec![(MachineSetCapacity.name(), MachineSetCapacity.introduction())];
        let start = Start { checks, read_only: None, fleet: "a folder".to_owned(), user: "ann".to_owned() };
        console.take(What::Told(Box::new(Told::Started(Box::new(start)))));
        let findings = judgements.shared().map(|(id, held)| (id.clone(), Some(held.clone()))).collect();
        let name = ClusterName::new("shop");
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
            let explanation = MachineSetCapacity.explain(&subject, view).unwrap();
            let panels = MachineSetCapacity.panels(&subject, view);
            let closer = Some(Box::new(Closer { subject, explanation, panels }));
            self.take(What::Told(Box::new(Told::Explained { ask, closer })));
        }
    }

    fn press(&mut self, code: KeyCode) {
        self.take(What::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    fn screen(&self) -> String {
        let mut buffer = Buffer::empty(self.model.area);
        view(&self.model, &Look { theme: Theme::default(), signs: Signs::Unicode }, self.model.area, &mut buffer);
        capture::text(&buffer)
    }
}

#[test]
fn the_list_says_what_machines_have_beside_what_is_said_of_them() {
    for (width, height) in [(80, 24), (160, 45)] {
        let mut console = Console::open(width, height);
        console.press(KeyCode::Char('1'));
        insta::assert_snapshot!(format!("list_{width}x{height}"), console.screen());
    }
}

#[test]
fn the_detail_shows_the_way_from_the_spec_to_the_annotations() {
    for (width, height) in [(80, 24), (160, 45)] {
        let mut console = Console::open(width, height);
        console.press(KeyCode::Char('1'));
        console.press(KeyCode::Down);
        console.press(KeyCode::Enter);
        insta::assert_snapshot!(format!("detail_{width}x{height}"), console.screen());
    }
}
