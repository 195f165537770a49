//! How far the reading has come, on a terminal.

use std::io::Read;

use indicatif::{ProgressBar, ProgressBarIter, ProgressStyle};

/// What takes no time worth a bar, in bytes.
const SHORT: u64 = 16 << 20;

/// A bar on standard error, where that is a terminal and there is something to wait for.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// That of reading so many bytes.
    pub fn of(bytes: u64) -> Self {
        if bytes < SHORT {
            return Progress::none();
        }
        // It hides itself where standard error is no terminal.
        let bar = ProgressBar::new(bytes);
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes}") {
            bar.set_style(style);
        }
        Progress(bar)
    }

    /// None.
    pub fn none() -> Self {
        Progress(ProgressBar::hidden())
    }

    /// A reader whose bytes count.
    pub fn read<R: Read>(&self, reader: R) -> ProgressBarIter<R> {
        self.0.wrap_read(reader)
    }

    /// Takes it away.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}
