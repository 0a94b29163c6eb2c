//! The list, a finding and its teardown as the console draws them, at the two sizes that count.

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

/// A cluster that goes, whose gateway holds another's connection; things of somebody else; an orphan.
fn fleet() -> Given {
    newer()
        .going()
        .has(connection("theirs", "tg", "vpc", &crn("vpc", "x")))
        .has(resource("vpc", "stray"))
        .of("stray", "name", json!("left-behind"))
        .tags("stray", &dead())
        .of("cos", "state", json!("pending_reclamation"))
        .of("vpc", "created_at", json!("2026-11-01T10:00:00Z"))
        .tags::<&str>("sg", &[])
}

struct Console {
    model: Model,
    world: World,
}

impl Console {
    fn open(width: u16, height: u16) -> Self {
        let (mut world, mut judgements) = (World::default(), Judgements::default());
        let changes = fleet().fill(&mut world);
        let check = PowerVsTags::default();
        let domains: Vec<Box<dyn Domain>> = vec![Box::new(check)];
        judgements.follow(&domains, world.view(now()), &changes);
        let model = Model::new(now(), Rect::new(0, 0, width, height), Zone::Utc);
        let mut console = Self { model, world };
        let checks = vec![(check.name(), check.introduction())];
        let start = Start { checks, read_only: None, fleet: "a folder".to_owned(), user: "ann".to_owned() };
        console.take(What::Told(Box::new(Told::Started(Box::new(start)))));
        let findings = judgements.shared().map(|(id, held)| (id.clone(), Some(held.clone()))).collect();
        let clusters = console.world.view(now()).clusters().map(|one| (one.name.clone(), Some(one.clone()))).collect();
        console.take(What::Data(Box::new(Update { findings, clusters })));
        console
    }

    fn take(&mut self, what: What) {
        let event = Event { at: self.model.now, what };
        let Effects { tasks, .. } = update(&mut self.model, event, &HitMap::default());
        for task in tasks {
            let Task::Explain { ask, subject } = task else { continue };
            let (check, view) = (PowerVsTags::default(), self.world.view(now()));
            let explanation = check.explain(&subject, view).unwrap();
            let panels = check.panels(&subject, view);
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

#[test]
fn the_account_as_people_see_it() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for (width, height) in [(80, 24), (160, 45)] {
            let mut console = Console::open(width, height);
            console.press('1');
            insta::assert_snapshot!(format!("powervs_tags_{width}x{height}"), console.screen());
        }
    });
}
