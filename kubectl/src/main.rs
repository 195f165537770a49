//! The program. See the library.

use std::process::ExitCode;

use clap::Parser;
use kubectl_odigos_karpenter::arguments::Arguments;
use kubectl_odigos_karpenter::commands;

/// What a shell has for a program that writes to where nobody reads any more.
const BROKEN_PIPE: u8 = 141;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match commands::run(&arguments.command) {
        Ok(code) => code.into(),
        Err(kubectl_odigos_karpenter::Error::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::from(BROKEN_PIPE)
        }
        Err(error) => {
            commands::tell(format_args!("error: {error}"));
            ExitCode::from(2)
        }
    }
}
