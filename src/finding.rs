//! What the rules find.

use crate::edit::Edit;
use crate::field::Unreadable;
use crate::message::{Message, Piece, WARNING_LIMIT, name_of_object};
use crate::path::Path;
use crate::rule::Rule;

/// One thing that is wrong with an object: an entry, a term, an expression or a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule that is broken.
    pub rule: Rule,
    /// Where in the object.
    pub path: Path,
    /// What is wrong.
    pub problem: Message,
    /// How a person puts it right.
    pub remedy: Message,
    /// How a machine does; empty where it can't.
    pub edits: Vec<Edit>,
}

/// Something that its reader should know and that blocks nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Hint {
    /// The rule, where it is one's.
    pub rule: Option<Rule>,
    /// Where in the object.
    pub path: Path,
    /// What is wrong.
    pub problem: Message,
    /// How a person puts it right.
    pub remedy: Message,
}

impl Hint {
    /// That a shape is there which a rule must read and can't.
    pub fn unreadable(unreadable: Unreadable) -> Self {
        Hint {
            rule: None,
            path: unreadable.path,
            problem: Message::from([
                unreadable.found.into(),
                " where ".into(),
                unreadable.expected.into(),
                " belongs".into(),
            ]),
            remedy: "admitted unchanged, for the API server's schema check to judge; put the field right".into(),
        }
    }
}

/// An object, for a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its kind: "NodePool".
    pub kind: &'static str,
    /// Its namespace; empty where it has none.
    pub namespace: String,
    /// Its name or, where the API server is to make one, its `generateName`; may be empty.
    pub name: String,
}

/// What the edits of a report would do beside putting things right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Nothing.
    None,
    /// Karpenter would replace every node of the pool.
    Drift {
        /// Whether something in the pool's `spec` is being changed.
        spec_changes: bool,
    },
    /// Worth an edit in passing, and not a word.
    Silent,
}

/// All that the rules find in one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The object.
    pub object: Object,
    /// What is wrong, in the order of the rules and of the object.
    pub findings: Vec<Finding>,
    /// What is worth a word.
    pub hints: Vec<Hint>,
    /// What the edits would do besides.
    pub cost: Cost,
}

impl Report {
    /// A report that has found nothing yet.
    pub fn on(object: Object) -> Self {
        Report { object, findings: Vec::new(), hints: Vec::new(), cost: Cost::None }
    }

    /// A finding's line of at most `limit` characters.
    pub fn line(&self, finding: &Finding, limit: usize) -> String {
        self.words(Some(finding.rule), &finding.path, &finding.problem, &finding.remedy).within(limit)
    }

    /// A hint's line, as a warning.
    pub fn hint(&self, hint: &Hint) -> String {
        self.words(hint.rule, &hint.path, &hint.problem, &hint.remedy).within(WARNING_LIMIT)
    }

    fn words(&self, rule: Option<Rule>, path: &Path, problem: &Message, remedy: &Message) -> Message {
        let mut words = Message::default();
        if let Some(rule) = rule {
            words.push(rule.name());
            words.push(": ");
        }
        words.push(self.object.kind);
        words.push(" ");
        if !self.object.namespace.is_empty() {
            words.push(name_of_object(&self.object.namespace));
            words.push("/");
        }
        words.push(if self.object.name.is_empty() {
            Piece::from("without a name")
        } else {
            name_of_object(&self.object.name)
        });
        words.push(": ");
        if !path.steps().is_empty() {
            words.push_path(path);
            words.push(": ");
        }
        words.append(problem);
        words.push("; ");
        words.append(remedy);
        words
    }
}
