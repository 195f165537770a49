//! Containers, as far as Odigos instruments them.

use serde_json::Value;

use crate::field::{Field, Unreadable};
use crate::odigos::{CONTAINER_ENV, DISTRO_ENV, is_device};
use crate::path::Path;

/// A container or an init container.
#[derive(Debug)]
pub struct Container<'v> {
    /// Where it is.
    pub path: Path,
    /// Its name.
    pub name: &'v str,
    /// The value of `ODIGOS_DISTRO_NAME`; empty where there is none.
    pub distro: &'v str,
    /// Whether one of Odigos' environment variables is set, be it to nothing.
    pub has_odigos_env: bool,
    /// What it asks for of Odigos' devices under `resources.requests`, with the quantity.
    pub requests: Vec<(&'v str, &'v Value)>,
    /// The same under `resources.limits`.
    pub limits: Vec<(&'v str, &'v Value)>,
}

impl<'v> Container<'v> {
    /// Reads a list of containers.
    pub fn read_all(list: &Field<'v, '_>) -> Result<Vec<Self>, Unreadable> {
        list.entries()?.map(|field| Container::read(&field)).collect()
    }

    fn read(field: &Field<'v, '_>) -> Result<Self, Unreadable> {
        field.must_be_map()?;
        let mut container = Container {
            path: field.path(),
            name: field.at("name")?.text()?.unwrap_or_default(),
            distro: "",
            has_odigos_env: false,
            requests: devices(&field.below(&["resources", "requests"])?)?,
            limits: devices(&field.below(&["resources", "limits"])?)?,
        };
        for variable in field.at("env")?.entries()? {
            match variable.at("name")?.text()? {
                Some(DISTRO_ENV) => {
                    container.has_odigos_env = true;
                    container.distro = variable.at("value")?.text()?.unwrap_or_default();
                }
                Some(CONTAINER_ENV) => container.has_odigos_env = true,
                _ => {}
            }
        }
        Ok(container)
    }

    /// Whether it asks for a device of Odigos.
    pub fn asks_for_device(&self) -> bool {
        !self.requests.is_empty() || !self.limits.is_empty()
    }
}

fn devices<'v>(list: &Field<'v, '_>) -> Result<Vec<(&'v str, &'v Value)>, Unreadable> {
    Ok(list
        .members()?
        .filter(|(resource, _)| is_device(resource))
        .map(|(resource, field)| (resource, field.value()))
        .collect())
}
