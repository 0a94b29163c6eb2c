//! EC2: instance types and regions.

use std::collections::BTreeMap;

use super::answer::{AwsAnswer, Refused, good, tag};
use super::signature::Signed;
use super::{Policy, SimInstanceType, State, Way};

pub(super) fn describe_instance_types(
    state: &State,
    signed: &Signed,
    form: &BTreeMap<String, String>,
) -> Result<AwsAnswer, Refused> {
    allowed(signed, "ec2:DescribeInstanceTypes")?;
    let region = state.regions.get(&signed.region).filter(|region| region.opt_in != "not-opted-in");
    let region = region.ok_or_else(|| {
        Refused::new(401, "AuthFailure", "AWS was not able to validate the provided access credentials")
    })?;
    match region.way {
        Way::Open => {}
        Way::Page => return Ok(AwsAnswer { status: 200, body: "<html><body>Please log in</body></html>".to_owned() }),
    }
    let types = &region.types;
    let wanted: Vec<&str> = names(form).collect();
    if wanted.len() > 100 {
        return Err(Refused::new(400, "InvalidParameterValue", "more than 100 instance types"));
    }
    let unknown: Vec<&str> = wanted.iter().copied().filter(|name| !types.contains_key(*name)).collect();
    if !unknown.is_empty() {
        let message = format!("The following supplied instance types do not exist: [{}]", unknown.join(", "));
        return Err(Refused::new(400, "InvalidInstanceType", message));
    }
    let chosen: Vec<&SimInstanceType> = if wanted.is_empty() {
        types.values().collect()
    } else {
        wanted.iter().filter_map(|name| types.get(*name)).collect()
    };
    let from = match form.get("NextToken") {
        None => 0,
        Some(token) => token
            .strip_prefix("page-")
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| Refused::new(400, "InvalidNextToken", "The token is not valid"))?,
    };
    let page: String = chosen.iter().skip(from).take(state.page).map(|one| item(one)).collect();
    let next = from + state.page;
    let token = if next < chosen.len() { tag("nextToken", &format!("page-{next}")) } else { String::new() };
    Ok(good("DescribeInstanceTypes", "ec2", &format!("<instanceTypeSet>{page}</instanceTypeSet>{token}")))
}

pub(super) fn describe_regions(state: &State, signed: &Signed) -> Result<AwsAnswer, Refused> {
    allowed(signed, "ec2:DescribeRegions")?;
    let item =
        |name: &String, opt_in: &str| format!("<item>{}{}</item>", tag("regionName", name), tag("optInStatus", opt_in));
    let items: String = state.regions.iter().map(|(name, region)| item(name, region.opt_in)).collect();
    Ok(good("DescribeRegions", "ec2", &format!("<regionInfo>{items}</regionInfo>")))
}

fn allowed(signed: &Signed, action: &str) -> Result<(), Refused> {
    match signed.keys.policy {
        Policy::Describes => Ok(()),
        Policy::Nothing => {
            let message = format!(
                "You are not authorized to perform this operation. User: {} is not authorized to perform: {action}",
                signed.keys.arn
            );
            Err(Refused::new(403, "UnauthorizedOperation", message))
        }
    }
}

pub(super) fn names(form: &BTreeMap<String, String>) -> impl Iterator<Item = &str> {
    form.iter().filter(|(name, _)| name.starts_with("InstanceType.")).map(|(_, value)| value.as_str())
}

/// A type with the surrounding elements of EC2's responses, so that a reader that ignores nesting fails.
fn item(one: &SimInstanceType) -> String {
    let SimInstanceType { name, vcpu, memory_mib, gpus, architectures } = one;
    let gpus: String = gpus
        .iter()
        .map(|gpu| {
            format!(
                "<item>{}{}{}{}<memoryInfo>{}</memoryInfo></item>",
                tag("name", gpu.name),
                tag("manufacturer", gpu.manufacturer),
                tag("count", &gpu.count.to_string()),
                tag("logicalGpuCount", &gpu.logical_count.to_string()),
                tag("sizeInMiB", &gpu.memory_mib.to_string())
            )
        })
        .collect();
    let gpu_info = if gpus.is_empty() {
        String::new()
    } else {
        format!("<gpuInfo><gpus>{gpus}</gpus>{}</gpuInfo>", tag("totalGpuMemoryInMiB", "1"))
    };
    let architectures: String = architectures.iter().map(|one| tag("item", one)).collect();
    format!(
        "<item>{gpu_info}{}{}<vCpuInfo>{}{}</vCpuInfo><memoryInfo>{}</memoryInfo>\
         <processorInfo><supportedArchitectures>{architectures}</supportedArchitectures>{}</processorInfo></item>",
        tag("instanceType", name),
        tag("currentGeneration", "true"),
        tag("defaultCores", &(vcpu / 2).to_string()),
        tag("defaultVCpus", &vcpu.to_string()),
        tag("sizeInMiB", &memory_mib.to_string()),
        tag("sustainedClockSpeedInGhz", "2.5")
    )
}
