//! What the tests of every check need: objects as a recording, a world that has answered all its questions, and the
//! console on it.

use std::collections::BTreeMap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::Value;
use zeroize::Zeroizing;

use super::Domain;
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
use crate::observe::Digester;
use crate::observe::recorded::{Coverage, RecordedCluster, RecordedObject, fill};
use crate::world::{ChangeSet, ClusterName, World};

/// A cluster that holds these objects.
pub fn recording(coverage: &Coverage, objects: &[Value]) -> RecordedCluster {
    let mut recording = RecordedCluster::new(coverage.clone());
    for object in objects {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let api_version = text(&object["apiVersion"]);
        recording.push(RecordedObject {
            group: api_version.rsplit_once('/').map_or(String::new(), |(group, _)| group.to_owned()),
            kind: text(&object["kind"]),
            namespace: text(&object["metadata"]["namespace"]),
            name: text(&object["metadata"]["name"]),
            json: Zeroizing::new(object.to_string()),
        });
    }
    recording
}

/// Answers what a check wants to see until it wants no more, and says what changed.
pub fn answer_all(
    check: &dyn Domain,
    world: &mut World,
    recordings: &BTreeMap<ClusterName, RecordedCluster>,
    now: Timestamp,
) -> ChangeSet {
    let (mut changes, mut asked) = (ChangeSet::default(), Vec::new());
    loop {
        let wanted = check.interests(world.view(now));
        if wanted == asked {
            return changes;
        }
        changes.extend(fill(world, recordings, &wanted, &Digester::new(&[7; 32]), now));
        asked = wanted;
    }
}

/// The console with one check, on a world that stands still.
pub struct Console {
    model: Model,
    world: World,
    check: Box<dyn Domain>,
}

impl Console {
    /// Opens it on a world that was just filled; `changes` are all there were.
    pub fn open(
        check: Box<dyn Domain>,
        world: World,
        changes: &ChangeSet,
        now: Timestamp,
        (width, height): (u16, u16),
    ) -> Self {
        let (start, domains) = (started(&*check), vec![check]);
        let mut judgements = Judgements::default();
        judgements.follow(&domains, world.view(now), changes);
        let check = domains.into_iter().next().expect("the one that was put there");
        let model = Model::new(now, Rect::new(0, 0, width, height), Zone::Utc);
        let mut console = Self { model, world, check };
        console.take(What::Told(Box::new(Told::Started(Box::new(start)))));
        let findings = judgements.shared().map(|(id, held)| (id.clone(), Some(held.clone()))).collect();
        let members = console.world.view(now).clusters().map(|one| (one.name.clone(), Some(one.clone()))).collect();
        console.take(What::Data(Box::new(Update { findings, clusters: members })));
        console
    }

    fn take(&mut self, what: What) {
        let event = Event { at: self.model.now, what };
        let Effects { tasks, .. } = update(&mut self.model, event, &HitMap::default());
        for task in tasks {
            let Task::Explain { ask, subject } = task else { continue };
            let view = self.world.view(self.model.now);
            let explanation = self.check.explain(&subject, view).unwrap();
            let panels = self.check.panels(&subject, view);
            let closer = Some(Box::new(Closer { subject, explanation, panels }));
            self.take(What::Told(Box::new(Told::Explained { ask, closer })));
        }
    }

    pub fn press(&mut self, code: KeyCode) {
        self.take(What::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }

    pub fn screen(&self) -> String {
        let mut buffer = Buffer::empty(self.model.area);
        view(&self.model, &Look { theme: Theme::default(), signs: Signs::Unicode }, self.model.area, &mut buffer);
        capture::text(&buffer)
    }
}

fn started(check: &dyn Domain) -> Start {
    let checks = vec![(check.name(), check.introduction())];
    Start { checks, read_only: None, fleet: "a folder".to_owned(), user: "ann".to_owned() }
}
