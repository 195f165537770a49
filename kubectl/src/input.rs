//! The objects of all files, as often as they are asked for.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::PathBuf;

use crate::flaw::{Flaw, Unreadable};
use crate::item::{Item, Lines};
use crate::json_items::{Header, Walk, Walked};
use crate::progress::Progress;
use crate::source::{self, Format, Source};
use crate::yaml;

/// The files, and what is known of them.
#[derive(Debug)]
pub struct Input {
    sources: Vec<Source>,
    /// What the first pass has come to know of each file.
    known: Vec<Known>,
    unreadable: BTreeSet<Unreadable>,
    progress: Progress,
}

/// How a file is to be read.
#[derive(Debug)]
struct Known {
    format: Format,
    /// What its lists say of their items.
    headers: Vec<Header>,
    /// Whether it has a flaw, at which each pass has to stop.
    is_flawed: bool,
}

/// The largest file, in bytes, that is read as YAML where it is no JSON: what is YAML is read whole.
const YAML_LIMIT: u64 = 16 << 20;

/// How often the input is read.
const PASSES: u64 = 2;

impl Input {
    /// The files that paths name.
    pub fn open(paths: &[PathBuf]) -> Self {
        let (sources, unreadable) = source::find(paths);
        let size = sources.iter().map(|source| source.size).sum::<u64>() * PASSES;
        Input { sources, known: Vec::new(), unreadable: unreadable.into_iter().collect(), progress: Progress::of(size) }
    }

    /// Whether there is nothing to be read, as when a command that was piped in has failed.
    pub fn is_empty(&self) -> bool {
        self.unreadable.is_empty() && self.sources.iter().all(|source| source.size == 0)
    }

    /// Shows each object to `visit`, and finds out what can't be read. It may show objects twice.
    pub fn first_pass(&mut self, visit: &mut dyn FnMut(&Item)) {
        for source in &self.sources {
            let mut format = source.format().unwrap_or(Format::Json);
            let (mut walked, mut result) = walk(source, format, &[], true, &self.progress, visit);
            // A map of YAML may begin as an object of JSON does.
            if result.is_err() && format == Format::Json && source.may_be_yaml() && source.size < YAML_LIMIT {
                let (as_yaml, read) = walk(source, Format::Yaml, &[], true, &Progress::none(), visit);
                if read.is_ok() {
                    (format, walked, result) = (Format::Yaml, as_yaml, read);
                }
            }
            let is_flawed = result.is_err();
            self.unreadable.extend(result.err().map(|flaw| Unreadable { file: source.name.clone(), flaw }));
            if walked.came_early && !walked.headers.is_empty() {
                let _told_already = walk(source, format, &walked.headers, is_flawed, &Progress::none(), visit);
            }
            self.known.push(Known { format, headers: walked.headers, is_flawed });
        }
    }

    /// Shows each object to `visit` once, after [`Input::first_pass`].
    pub fn pass(&mut self, visit: &mut dyn FnMut(&Item)) {
        for (source, known) in self.sources.iter().zip(&self.known) {
            let (_, result) = walk(source, known.format, &known.headers, known.is_flawed, &self.progress, visit);
            self.unreadable.extend(result.err().map(|flaw| Unreadable { file: source.name.clone(), flaw }));
        }
    }

    /// Tells of something in a file that can't be used.
    pub fn add_unreadable(&mut self, unreadable: Unreadable) {
        self.unreadable.insert(unreadable);
    }

    /// What can't be read.
    pub fn unreadable(&self) -> &BTreeSet<Unreadable> {
        &self.unreadable
    }

    /// Takes away the progress bar.
    pub fn finish(&self) {
        self.progress.finish();
    }
}

fn walk(
    source: &Source,
    format: Format,
    headers: &[Header],
    checks: bool,
    progress: &Progress,
    visit: &mut dyn FnMut(&Item),
) -> (Walked, Result<(), Flaw>) {
    let walk = Walk { file: &source.name, headers, checks, depth: 0 };
    match source.open().map(|file| progress.read(file)) {
        Ok(reader) if format == Format::Json => walk.json(reader, visit),
        Ok(reader) => {
            let mut walked = Walked::default();
            let result = yaml(&walk, reader, &mut walked, visit);
            (walked, result)
        }
        Err(error) => (Walked::default(), Err(error.into())),
    }
}

fn yaml(walk: &Walk, mut reader: impl Read, walked: &mut Walked, visit: &mut dyn FnMut(&Item)) -> Result<(), Flaw> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes)?;
    let text = Flaw::check_text(&bytes, 1)?;
    yaml::documents(text, |document| {
        let kind = document.text("kind").unwrap_or_default();
        let of_items = kind.strip_suffix("List").unwrap_or_default();
        let is_list = kind.is_empty() || kind.ends_with("List");
        match document.items().filter(|_| is_list) {
            Some(items) => {
                let api_version = document.text("apiVersion").unwrap_or_default().to_owned();
                let header = Header { api_version, kind: of_items.to_owned() };
                for item in items {
                    let json = item?;
                    walk.show_text(&json.text, Lines::Of(&json.lines, 0), &header, walked, visit);
                }
            }
            None => {
                let json = document.json()?;
                walk.show_text(&json.text, Lines::Of(&json.lines, 0), &Header::default(), walked, visit);
            }
        }
        Ok(())
    })
}
