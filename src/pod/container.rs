//! Containers, as far as Odigos instruments them.

use std::collections::BTreeSet;

use crate::field::{Field, Unreadable};
use crate::kubernetes::quantity::Quantity;
use crate::odigos::{CONTAINER_ENV, DISTRO_ENV, is_device};
use crate::path::Path;

/// A container or an init container.
#[derive(Debug)]
pub struct Container<'v> {
    /// The list below `spec` that it is in, and its index there.
    place: (&'static str, usize),
    /// Its name.
    pub name: &'v str,
    /// The value of `ODIGOS_DISTRO_NAME`; empty where there is none.
    pub distro: &'v str,
    /// Whether one of Odigos' environment variables is set, be it to nothing.
    pub has_odigos_env: bool,
    /// The devices of Odigos that it asks for.
    pub devices: Devices<'v>,
}

impl<'v> Container<'v> {
    /// Reads the containers in a list of a pod's `spec`.
    pub fn read_all(spec: &Field<'v, '_>, list: &'static str) -> Result<Vec<Self>, Unreadable> {
        spec.at(list)?.entries()?.enumerate().map(|(index, field)| Container::read(&field, (list, index))).collect()
    }

    /// Where its resources are.
    pub fn resources_path(&self) -> Path {
        let (list, index) = self.place;
        Path::of(&["spec", list]).index(index).key("resources")
    }

    fn read(field: &Field<'v, '_>, place: (&'static str, usize)) -> Result<Self, Unreadable> {
        field.must_be_map()?;
        let mut container = Container {
            place,
            name: field.at("name")?.text()?.unwrap_or_default(),
            distro: "",
            has_odigos_env: false,
            devices: Devices::read(&field.at("resources")?)?,
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
}

/// The devices of Odigos, of today and of older releases, in the resources of a container or of a
/// pod as a whole, each with its quantity where that is one.
#[derive(Debug)]
pub struct Devices<'v> {
    /// `requests`
    pub requests: Vec<(&'v str, Option<Quantity>)>,
    /// `limits`
    pub limits: Vec<(&'v str, Option<Quantity>)>,
}

impl<'v> Devices<'v> {
    /// Reads them out of `resources`.
    pub fn read(resources: &Field<'v, '_>) -> Result<Self, Unreadable> {
        let devices = |list: Field<'v, '_>| -> Result<Vec<_>, Unreadable> {
            let devices = list.members()?.filter(|(resource, _)| is_device(resource));
            Ok(devices.map(|(resource, quantity)| (resource, Quantity::read(&quantity))).collect())
        };
        Ok(Devices { requests: devices(resources.at("requests")?)?, limits: devices(resources.at("limits")?)? })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.limits.is_empty()
    }

    /// The name of each, once.
    pub fn names(&self) -> BTreeSet<&'v str> {
        let mut names = BTreeSet::new();
        for (resource, _) in self.requests.iter().chain(&self.limits) {
            names.insert(*resource);
        }
        names
    }
}
