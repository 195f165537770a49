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
    /// What the lists of each file say of their items.
    headers: Vec<Vec<Header>>,
    unreadable: BTreeSet<Unreadable>,
    progress: Progress,
}

impl Input {
    /// The files that paths name. It is read `passes` times, for the progress to be shown.
    pub fn open(paths: &[PathBuf], passes: u64) -> Self {
        let (sources, unreadable) = source::find(paths);
        let size = sources.iter().map(|source| source.size).sum::<u64>() * passes;
        let headers = vec![Vec::new(); sources.len()];
        Input { sources, headers, unreadable: unreadable.into_iter().collect(), progress: Progress::of(size) }
    }

    /// Whether there is nothing to be read, as when a command that was piped in has failed.
    pub fn is_empty(&self) -> bool {
        self.unreadable.is_empty() && self.sources.iter().all(|source| source.size == 0)
    }

    /// Shows each object to `visit`, and finds out what can't be read. It may show objects twice.
    pub fn first_pass(&mut self, visit: &mut dyn FnMut(&Item)) {
        for (index, source) in self.sources.iter().enumerate() {
            let (walked, result) = walk(source, &[], true, &self.progress, visit);
            self.unreadable.extend(result.err().map(|flaw| Unreadable { file: source.name.clone(), flaw }));
            if walked.came_early && !walked.headers.is_empty() {
                let _told_already = walk(source, &walked.headers, false, &Progress::none(), visit);
            }
            self.headers[index] = walked.headers;
        }
    }

    /// Shows each object to `visit` once, after [`Input::first_pass`].
    pub fn pass(&self, visit: &mut dyn FnMut(&Item)) {
        for (source, headers) in self.sources.iter().zip(&self.headers) {
            let _told_already = walk(source, headers, false, &self.progress, visit);
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
    headers: &[Header],
    checks: bool,
    progress: &Progress,
    visit: &mut dyn FnMut(&Item),
) -> (Walked, Result<(), Flaw>) {
    let walk = Walk { file: &source.name, headers, checks };
    let opened = source.format().and_then(|format| Ok((format, progress.read(source.open()?))));
    match opened {
        Ok((Format::Json, reader)) => walk.json(reader, visit),
        Ok((Format::Yaml, reader)) => {
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
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let line = bytes.iter().take(error.valid_up_to()).filter(|byte| **byte == b'\n').count() + 1;
        Flaw::at(line, 0, "is not UTF-8".to_owned())
    })?;
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
                    walk.show_text(&json.text, Lines::Of(&json.lines), &header, walked, visit);
                }
            }
            None => {
                let json = document.json()?;
                walk.show_text(&json.text, Lines::Of(&json.lines), &Header::default(), walked, visit);
            }
        }
        Ok(())
    })
}
