//! What hangs under what: networks and DHCP servers under their workspace, subnets, groups and load balancers under their
//! VPC, connections under their gateway.
//!
//! Asked for every row, so it reads the two resources alone and builds no context.

use super::facts::CloudResource;
use super::kind::Kind;
use super::names::CLOUD_RESOURCE;
use trueup_core::engine::{CloudPlace, SubjectId};
use trueup_core::world::{CollectionId, Key, View};

pub fn parent(subject: &SubjectId, view: View<'_>) -> Option<SubjectId> {
    let place = subject.cloud.as_deref()?;
    let holder = Kind::parse(subject.kind)?.holder()?;
    let reading = view.read::<CloudResource>(&CollectionId::all(&subject.cluster, CLOUD_RESOURCE));
    let find = |kind: Kind, id: &str| reading.get(&Key::new(None, &format!("{}/{id}", kind.as_str()))).present();
    let child = find(Kind::parse(subject.kind)?, &subject.name)?;
    let found = find(holder, child.parent.as_deref()?)?;
    Some(SubjectId {
        kind: holder.as_str(),
        name: found.id.to_string(),
        cloud: Some(Box::new(CloudPlace {
            crn: found.crn.as_deref().map(str::to_owned),
            name: found.name.as_deref().map(str::to_owned),
            ..place.clone()
        })),
        ..subject.clone()
    })
}
