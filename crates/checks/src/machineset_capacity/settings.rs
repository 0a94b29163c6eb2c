//! This check's own table in the config.

use super::super::registry::Entry;
use super::super::{SettingsProblem, SettingsTable};

/// `[domains.machineset-capacity]`
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// The annotator; the usual ones are searched where it is not set.
    pub credentials_from: Option<Workload>,
}

/// The Deployment whose pods annotate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload {
    pub namespace: String,
    pub deployment: String,
    /// The container that does; the first by default.
    pub container: Option<String>,
}

/// How the registry makes this check.
pub const ENTRY: Entry = Entry {
    name: super::NAME,
    known_keys: &["credentials_from"],
    build: |table| Ok(Box::new(super::MachineSetCapacity::new(Settings::read(table)?))),
};

impl Settings {
    /// Reads the check's own table.
    fn read(table: &SettingsTable) -> Result<Self, Vec<SettingsProblem>> {
        let Some(text) = table.take_str("credentials_from").map_err(|problem| vec![problem])? else {
            return Ok(Self::default());
        };
        match Workload::parse(text.get_ref()) {
            Some(workload) => Ok(Self { credentials_from: Some(workload) }),
            None => {
                let message =
                    "`credentials_from` wants a Deployment as \"namespace/name\", or \"namespace/name/container\"";
                Err(vec![SettingsProblem::at(text.span(), message)])
            }
        }
    }
}

impl Workload {
    fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('/').collect();
        let (namespace, deployment, container) = match parts.as_slice() {
            [namespace, deployment] => (namespace, deployment, None),
            [namespace, deployment, container] => (namespace, deployment, Some(container)),
            _ => return None,
        };
        let all = [Some(namespace), Some(deployment), container];
        all.into_iter().flatten().all(|part| is_name(part)).then(|| Self {
            namespace: (*namespace).to_owned(),
            deployment: (*deployment).to_owned(),
            container: container.map(|name| (*name).to_owned()),
        })
    }
}

/// Whether the API lets an object be called so. It becomes part of a selector, where a comma would mean something.
fn is_name(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    (1..=253).contains(&text.len()) && text.bytes().all(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        let table = SettingsTable::parse("[domains.machineset-capacity]", text).unwrap();
        Settings::read(&table).map_err(|problems| problems[0].message.clone())
    }

    #[test]
    fn a_workload_is_a_deployment_and_perhaps_one_of_its_containers() {
        let workload = |container: Option<&str>| Settings {
            credentials_from: Some(Workload {
                namespace: "tools".to_owned(),
                deployment: "annotator".to_owned(),
                container: container.map(str::to_owned),
            }),
        };
        let cases = [
            ("nothing said", "", Ok(Settings::default())),
            ("a Deployment", "credentials_from = \"tools/annotator\"", Ok(workload(None))),
            ("a container of it", "credentials_from = \"tools/annotator/manager\"", Ok(workload(Some("manager")))),
            ("a name alone", "credentials_from = \"annotator\"", Err("wants a Deployment as")),
            ("an empty part", "credentials_from = \"tools/\"", Err("wants a Deployment as")),
            ("one part too many", "credentials_from = \"a/b/c/d\"", Err("wants a Deployment as")),
            ("what would end a selector", "credentials_from = \"tools/a,b=c\"", Err("wants a Deployment as")),
            ("no text", "credentials_from = 3", Err("wants a text in quotes")),
        ];
        for (case, text, expected) in cases {
            match (read(text), expected) {
                (Ok(read), Ok(expected)) => assert_eq!(read, expected, "case: {case}"),
                (Err(message), Err(part)) => assert!(message.contains(part), "case: {case}: {message}"),
                (read, _) => panic!("case: {case}: {read:?}"),
            }
        }
    }
}
