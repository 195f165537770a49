//! stub
use crate::arguments::PlanArguments;
use crate::gathered::Gathered;
use crate::input::Input;
use odigos_karpenter_policy::settings::Settings;
use std::io::{self, Write};
/// stub
pub struct Goal;
impl Goal {
    /// stub
    pub fn of(_: &PlanArguments) -> Self {
        Goal
    }
}
/// stub
pub fn write(_: &mut impl Write, _: &Settings, _: &Gathered, _: &Input, _: Goal) -> io::Result<()> {
    Ok(())
}
