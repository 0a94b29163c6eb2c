//! Each check as the console draws it, at the two sizes that count.

mod kubeconfig;
mod machineset_capacity;
mod powervs_tags;

use crate::console::task::{Start, SubjectDetail, Task, TaskReply};
use crate::console::testing::TestConsole;
use trueup_checks::Check;
use trueup_checks::judgements::Judgements;
use trueup_checks::testing::Fixture;
use trueup_core::world::World;
use trueup_fleet::live::Update;

const SIZES: [(u16, u16); 2] = [(80, 24), (160, 45)];

/// The console with one check, on a world that does not change.
struct Console {
    console: TestConsole,
    world: World,
    check: Box<dyn Check>,
}

impl Console {
    fn open<F: Fixture>(given: &F) -> Self {
        let (mut world, mut judgements) = (World::default(), Judgements::default());
        let changes = given.fill(&mut world);
        let checks: Vec<Box<dyn Check>> = vec![Box::new(given.check())];
        judgements.follow(&checks, world.view(given.now()), &changes);
        let start = Start {
            checks: vec![(checks[0].name(), checks[0].description())],
            read_only: None,
            fleet: "a folder".to_owned(),
            user: "ann".to_owned(),
            offers_tour: false,
        };
        let findings = judgements.shared().map(|(id, held)| (id.clone(), Some(held.clone()))).collect();
        let members = world.view(given.now()).clusters().map(|one| (one.name.clone(), Some(one.clone()))).collect();
        let mut console = TestConsole::starting();
        console.reply(TaskReply::Started(Box::new(start)));
        console.data(Update { findings, clusters: members, ..Update::default() });
        Self { console, world, check: Box::new(given.check()) }
    }

    /// Types keys, and answers what the console asks about a subject.
    fn keys(&mut self, keys: &str) {
        self.console.keys(keys);
        for task in std::mem::take(&mut self.console.tasks) {
            let Task::Explain { ask, subject } = task else { continue };
            let view = self.world.view(self.console.model.now);
            let (explanation, panels) = self.check.detail(&subject, view).expect("a subject of the check");
            let detail = Some(Box::new(SubjectDetail { subject, explanation, panels }));
            self.console.reply(TaskReply::Explained { ask, detail });
        }
    }

    fn screen(&mut self, (width, height): (u16, u16)) -> String {
        self.console.draw(width, height)
    }
}
