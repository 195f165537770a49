//! The program. See the library.

use std::process::ExitCode;

use clap::Parser;
use kubectl_odigos_karpenter::arguments::Arguments;
use kubectl_odigos_karpenter::commands;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match commands::run(&arguments.command) {
        Ok(code) => code.into(),
        Err(kubectl_odigos_karpenter::Error::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            anstream::eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
