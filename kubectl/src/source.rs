//! The files that are read.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::flaw::{Flaw, Unreadable};

/// What files of a folder are called that are read.
const EXTENSIONS: &[&str] = &["yaml", "yml", "json"];

/// How standard input is named.
pub const STDIN: &str = "-";

/// A file that can be read as often as one likes.
#[derive(Debug)]
pub struct Source {
    /// As it was named, or how it was found below a folder that was.
    pub name: String,
    /// In bytes.
    pub size: u64,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Path(PathBuf),
    /// What came through a pipe.
    Spooled(File),
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One or more JSON values.
    Json,
    /// One or more YAML documents.
    Yaml,
}

impl Source {
    /// The file from its beginning.
    pub fn open(&self) -> io::Result<File> {
        match &self.kind {
            Kind::Path(path) => File::open(path),
            Kind::Spooled(file) => {
                let mut file = file.try_clone()?;
                file.seek(SeekFrom::Start(0))?;
                Ok(file)
            }
        }
    }

    /// Whether its name does not say that it is JSON.
    pub fn may_be_yaml(&self) -> bool {
        Path::new(&self.name).extension().is_none_or(|extension| extension != "json")
    }

    /// How it is written: by its name, or else by how it begins.
    pub fn format(&self) -> io::Result<Format> {
        if !self.may_be_yaml() {
            return Ok(Format::Json);
        }
        let mut beginning = Vec::new();
        self.open()?.take(4096).read_to_end(&mut beginning)?;
        let beginning = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&beginning);
        // A map of YAML in braces has keys without quotes, as a rule.
        let mut bytes = beginning.iter().filter(|byte| !byte.is_ascii_whitespace());
        Ok(match (bytes.next(), bytes.next()) {
            (Some(b'{'), None | Some(b'"' | b'}')) => Format::Json,
            _ => Format::Yaml,
        })
    }
}

/// Finds the files that paths name, `-` for standard input: in their order, those of a folder in the
/// order of their names, each once. What is not there is told beside.
pub fn find(paths: &[PathBuf]) -> (Vec<Source>, Vec<Unreadable>) {
    let mut found = Found::default();
    for path in paths {
        let result = if path.as_os_str() == STDIN {
            spool(io::stdin().lock()).map(|(kind, size)| found.add(STDIN.to_owned(), kind, size))
        } else {
            found.path(path)
        };
        if let Err(error) = result {
            found.unreadable.push(Unreadable { file: name_of(path), flaw: Flaw::whole(error) });
        }
    }
    (found.sources, found.unreadable)
}

#[derive(Default)]
struct Found {
    sources: Vec<Source>,
    unreadable: Vec<Unreadable>,
    seen: BTreeSet<PathBuf>,
}

impl Found {
    fn path(&mut self, path: &Path) -> io::Result<()> {
        let metadata = fs::metadata(path)?;
        if metadata.is_dir() {
            return self.folder(path);
        }
        if !metadata.is_file() {
            let (kind, size) = spool(File::open(path)?)?;
            self.add(name_of(path), kind, size);
        } else if self.seen.insert(fs::canonicalize(path)?) {
            File::open(path)?;
            self.add(name_of(path), Kind::Path(path.to_owned()), metadata.len());
        }
        Ok(())
    }

    fn folder(&mut self, folder: &Path) -> io::Result<()> {
        let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            let wanted = path
                .extension()
                .is_some_and(|extension| EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known)));
            // Whoever opens a pipe waits for what is written into it.
            let is_file = fs::metadata(&path).map_or(true, |metadata| metadata.is_file());
            // A link to a folder may lead back to where it is.
            let result = if hidden {
                Ok(())
            } else if entry.file_type()?.is_dir() {
                self.folder(&path)
            } else if wanted && is_file {
                self.path(&path)
            } else {
                Ok(())
            };
            if let Err(error) = result {
                self.unreadable.push(Unreadable { file: name_of(&path), flaw: Flaw::whole(error) });
            }
        }
        Ok(())
    }

    fn add(&mut self, name: String, kind: Kind, size: u64) {
        self.sources.push(Source { name, size, kind });
    }
}

fn spool(mut reader: impl Read) -> io::Result<(Kind, u64)> {
    let mut file = tempfile::tempfile()?;
    let size = io::copy(&mut reader, &mut file)?;
    Ok((Kind::Spooled(file), size))
}

fn name_of(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_read_through_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("b/.git")).unwrap();
        for name in ["b/z.yml", "b/.git/x.yaml", "a.json", "c.yaml", "c.txt", ".hidden.yaml"] {
            fs::write(at(name), "{}").unwrap();
        }
        let (sources, unreadable) = find(&[at("c.yaml"), folder.path().to_owned(), at("none")]);
        let names: Vec<_> = sources.iter().map(|source| source.name.clone()).collect();
        let expected = ["c.yaml", "a.json", "b/z.yml"].map(|name| at(name).display().to_string());
        assert_eq!(names, expected);
        assert_eq!(unreadable.len(), 1);
        assert!(unreadable[0].file.ends_with("none"));
    }

    #[test]
    fn formats_by_how_a_file_begins() {
        let folder = tempfile::tempdir().unwrap();
        for (text, expected) in
            [("\n{ \"a\": 1}", Format::Json), ("{}", Format::Json), ("{a: 1}", Format::Yaml), ("---\n{}", Format::Yaml)]
        {
            let path = folder.path().join("x");
            fs::write(&path, text).unwrap();
            let (sources, _) = find(&[path]);
            assert_eq!(sources[0].format().unwrap(), expected, "{text}");
        }
    }
}
