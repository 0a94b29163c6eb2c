//! EC2: which instance types a region offers, and which regions there are.
//!
//! Invariants:
//! - only the types that are wanted are asked for: 4 KB each time instead of 5.8 MB;
//! - a name EC2 doesn't know is an answer about that name, and costs the others nothing but one more call.

use std::collections::{BTreeMap, BTreeSet};

use super::api::Aws;
use super::endpoint::Service;
use super::error::AwsError;
use super::partition::Region;
use super::query::{self, Call, Signer};
use super::sts::Keys;
use super::xml::{self, Met};
use trueup_net::one_line;

/// Names a call takes.
const NAMES_A_CALL: usize = 100;
/// Pages of one answer. 1,395 types come in at most 279 pages of five, the least a page holds.
const PAGES_MAX: usize = 400;

/// An instance type as EC2 describes it. Nothing is guessed: what it doesn't say is absent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InstanceType {
    pub name: String,
    pub vcpu: Option<u64>,
    pub memory_mib: Option<u64>,
    pub gpus: Vec<Gpu>,
    pub architectures: Vec<String>,
}

/// GPUs of one make in an instance type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gpu {
    pub name: String,
    pub manufacturer: String,
    /// Zero for a part of a card.
    pub count: u64,
    pub logical_count: Option<u64>,
}

/// What a region says to a set of names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Offers {
    pub found: BTreeMap<String, InstanceType>,
    /// Names it was asked for and does not offer.
    pub absent: BTreeSet<String>,
}

/// A region and whether the account may use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionState {
    pub name: String,
    /// `opt-in-not-required`, `opted-in`, `not-opted-in`.
    pub opt_in: String,
}

impl Aws {
    /// Asks a region for instance types by name.
    ///
    /// # Errors
    /// Any answer but a whole one. A name that is not known is not an error.
    pub async fn instance_types(
        &self,
        keys: &Keys,
        region: &Region,
        wanted: &BTreeSet<String>,
    ) -> Result<Offers, AwsError> {
        let (asked, never): (Vec<&str>, Vec<&str>) =
            wanted.iter().map(String::as_str).partition(|name| may_be_a_type(name));
        let absent = never.into_iter().map(str::to_owned).collect();
        let mut offers = Offers { found: BTreeMap::new(), absent };
        for names in asked.chunks(NAMES_A_CALL) {
            self.names_of_one_call(keys, region, names, &mut offers).await?;
        }
        Ok(offers)
    }

    /// Asks a region for everything it offers.
    ///
    /// # Errors
    /// Any answer but a whole one.
    pub async fn all_instance_types(&self, keys: &Keys, region: &Region) -> Result<Offers, AwsError> {
        Ok(Offers { found: self.describe(keys, region, &[]).await?, absent: BTreeSet::new() })
    }

    async fn names_of_one_call(
        &self,
        keys: &Keys,
        region: &Region,
        names: &[&str],
        offers: &mut Offers,
    ) -> Result<(), AwsError> {
        let mut names: Vec<&str> = names.to_vec();
        while !names.is_empty() {
            let error = match self.describe(keys, region, &names).await {
                Ok(found) => {
                    let missing = names.iter().filter(|name| !found.contains_key(**name));
                    offers.absent.extend(missing.map(|name| (*name).to_owned()));
                    offers.found.extend(found);
                    return Ok(());
                }
                Err(error) => error,
            };
            if error.code != "InvalidInstanceType" {
                return Err(error);
            }
            // EC2 refuses the whole call for one unknown name, and says which. Where it doesn't, a single name is it.
            let (unknown, known): (Vec<&str>, Vec<&str>) =
                names.iter().partition(|name| names_it(&error.message, name));
            if unknown.is_empty() && names.len() > 1 {
                let half = names.split_off(names.len() / 2);
                Box::pin(self.names_of_one_call(keys, region, &half, offers)).await?;
                continue;
            }
            let unknown = if unknown.is_empty() { names.clone() } else { unknown };
            offers.absent.extend(unknown.into_iter().map(str::to_owned));
            names = if known.len() == names.len() { Vec::new() } else { known };
        }
        Ok(())
    }

    /// All pages of one call.
    async fn describe(
        &self,
        keys: &Keys,
        region: &Region,
        names: &[&str],
    ) -> Result<BTreeMap<String, InstanceType>, AwsError> {
        let (service, action) = (Service::Ec2, "DescribeInstanceTypes");
        let mut found = BTreeMap::new();
        let mut token = String::new();
        for _ in 0..PAGES_MAX {
            let mut parameters: Vec<(String, &str)> =
                names.iter().enumerate().map(|(index, name)| (format!("InstanceType.{}", index + 1), *name)).collect();
            if !token.is_empty() {
                parameters.push(("NextToken".to_owned(), &token));
            }
            let call = Call { service, action, region, signer: Signer::Keys(keys), parameters, secrets: vec![] };
            let body = self.call(&call).await?;
            let page = read_types(&call, &body)?;
            found.extend(page.types.into_iter().filter(|one| !one.name.is_empty()).map(|one| (one.name.clone(), one)));
            if page.next.is_empty() {
                return Ok(found);
            }
            if page.next == token {
                break;
            }
            token = page.next;
        }
        Err(AwsError::unreadable(service, action, "its pages never end"))
    }

    /// The regions there are, those that are not enabled included, asked in one that always is.
    ///
    /// # Errors
    /// Any answer but a whole one.
    pub async fn regions(&self, keys: &Keys, home: &Region) -> Result<Vec<RegionState>, AwsError> {
        let parameters = vec![("AllRegions".to_owned(), "true")];
        let (service, action, signer) = (Service::Ec2, "DescribeRegions", Signer::Keys(keys));
        let call = Call { service, action, region: home, signer, parameters, secrets: vec![] };
        let body = self.call(&call).await?;
        let mut regions = Vec::new();
        let mut open = RegionState { name: String::new(), opt_in: String::new() };
        query::read(&call, &body, "DescribeRegionsResponse", |met| match met {
            Met::Text { path, text } if xml::is(path, &["regionInfo", "item", "regionName"]) => {
                open.name = one_line(text, 40);
            }
            Met::Text { path, text } if xml::is(path, &["regionInfo", "item", "optInStatus"]) => {
                open.opt_in = one_line(text, 40);
            }
            Met::End { path } if xml::is(path, &["regionInfo", "item"]) => {
                let blank = RegionState { name: String::new(), opt_in: String::new() };
                regions.push(std::mem::replace(&mut open, blank));
            }
            Met::Text { .. } | Met::End { .. } => {}
        })?;
        Ok(regions)
    }
}

/// Whether the name has the form of an instance type, `<family>.<size>`. No other name is sent: it comes from an object
/// that other users may write.
fn may_be_a_type(name: &str) -> bool {
    let letters = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, b'.' | b'-');
    let halves = name.split_once('.').is_some_and(|(family, size)| !family.is_empty() && !size.is_empty());
    halves && name.len() <= 40 && name.bytes().all(letters)
}

/// Whether a sentence names a type, as a word of its own: `m5.large` is not named by `m5.large-flex`.
fn names_it(sentence: &str, name: &str) -> bool {
    // The last word of a sentence that was cut may be half of another name.
    let whole = |cut: &'_ str| cut.rfind([' ', ',', '[']).map_or(0, |end| end);
    let sentence = sentence.strip_suffix('…').map_or(sentence, |cut| &cut[..whole(cut)]);
    let inside = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-');
    sentence.split(|letter: char| !inside(letter)).any(|word| word.trim_end_matches('.') == name)
}

#[derive(Default)]
struct Page {
    types: Vec<InstanceType>,
    next: String,
}

fn read_types(call: &Call<'_>, body: &[u8]) -> Result<Page, AwsError> {
    let mut page = Page::default();
    let (mut one, mut gpu) = (InstanceType::default(), Gpu::default());
    query::read(call, body, "DescribeInstanceTypesResponse", |met| match met {
        Met::Text { path, text } => {
            let names: Vec<&str> = path.iter().map(String::as_str).collect();
            match names[..] {
                ["nextToken"] => text.clone_into(&mut page.next),
                ["instanceTypeSet", "item", "instanceType"] => one.name = one_line(text, 60),
                ["instanceTypeSet", "item", "vCpuInfo", "defaultVCpus"] => one.vcpu = text.parse().ok(),
                ["instanceTypeSet", "item", "memoryInfo", "sizeInMiB"] => one.memory_mib = text.parse().ok(),
                ["instanceTypeSet", "item", "processorInfo", "supportedArchitectures", "item"] => {
                    one.architectures.push(one_line(text, 40));
                }
                ["instanceTypeSet", "item", "gpuInfo", "gpus", "item", "name"] => gpu.name = one_line(text, 60),
                ["instanceTypeSet", "item", "gpuInfo", "gpus", "item", "manufacturer"] => {
                    gpu.manufacturer = one_line(text, 60);
                }
                ["instanceTypeSet", "item", "gpuInfo", "gpus", "item", "count"] => {
                    gpu.count = text.parse().unwrap_or(0)
                }
                ["instanceTypeSet", "item", "gpuInfo", "gpus", "item", "logicalGpuCount"] => {
                    gpu.logical_count = text.parse().ok();
                }
                // The answer says much more about a type than is asked here.
                _ => {}
            }
        }
        Met::End { path } if xml::is(path, &["instanceTypeSet", "item", "gpuInfo", "gpus", "item"]) => {
            one.gpus.push(std::mem::take(&mut gpu));
        }
        Met::End { path } if xml::is(path, &["instanceTypeSet", "item"]) => page.types.push(std::mem::take(&mut one)),
        Met::End { .. } => {}
    })?;
    Ok(page)
}
