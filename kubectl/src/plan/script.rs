//! A plan as it is written: a shell script whose comments are what matters.

use std::io::{self, Write};

use crate::plain::plain;

/// Steps in order.
#[derive(Debug, Default)]
pub struct Script {
    steps: Vec<Step>,
}

/// What is done at once, and what is to be known of it.
#[derive(Debug)]
pub struct Step {
    title: String,
    lines: Vec<Line>,
}

#[derive(Debug)]
enum Line {
    Note(String),
    Command(String),
}

impl Script {
    /// Begins a step.
    pub fn step(&mut self, title: impl Into<String>) -> &mut Step {
        self.steps.push(Step { title: title.into(), lines: Vec::new() });
        self.steps.last_mut().unwrap_or_else(|| unreachable!("it was just pushed"))
    }

    /// Writes all steps, numbered.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for (index, step) in self.steps.iter().enumerate() {
            writeln!(out, "\n# === {}. {}", index + 1, step.title)?;
            for line in &step.lines {
                match line {
                    Line::Note(note) => writeln!(out, "{}", format!("# {note}").trim_end())?,
                    Line::Command(command) => writeln!(out, "{command}")?,
                }
            }
        }
        Ok(())
    }
}

impl Step {
    /// Says something. Names are in it, so that it must stay a comment.
    pub fn note(&mut self, note: impl AsRef<str>) -> &mut Self {
        for line in note.as_ref().lines() {
            self.lines.push(Line::Note(plain(line).into_owned()));
        }
        self
    }

    /// Has something run.
    pub fn run(&mut self, command: impl Into<String>) -> &mut Self {
        self.lines.push(Line::Command(command.into()));
        self
    }
}
