//! JSON that forgets nothing: numbers as they are written, keys in their order, and twice where
//! they are there twice. `serde_json`, by which the policy reads, would hide what a change of these is.

use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    /// As it is written.
    Number(String),
    Text(String),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
}

/// The steps to a place, as in a JSON pointer.
pub type Place = Vec<String>;

impl Json {
    /// The value of a key, the last one where it is there twice, as `serde_json` and Go have it.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Map(members) => members.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value),
            Json::List(entries) => entries.get(key.parse::<usize>().ok()?),
            _ => None,
        }
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Json> {
        match self {
            Json::Map(members) => members.iter_mut().rev().find(|(name, _)| name == key).map(|(_, value)| value),
            Json::List(entries) => entries.get_mut(key.parse::<usize>().ok()?),
            _ => None,
        }
    }

    pub fn at(&self, steps: &[&str]) -> Option<&Json> {
        steps.iter().try_fold(self, |value, step| value.get(step))
    }

    pub fn at_mut(&mut self, steps: &[&str]) -> Option<&mut Json> {
        steps.iter().try_fold(self, |value, step| value.get_mut(step))
    }

    pub fn text(&self) -> Option<&str> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }

    pub fn entries(&self) -> &[Json] {
        if let Json::List(entries) = self { entries } else { &[] }
    }

    pub fn is_empty(&self) -> bool {
        match self {
            Json::Null => true,
            Json::List(entries) => entries.is_empty(),
            Json::Map(members) => members.is_empty(),
            _ => false,
        }
    }

    /// Puts a value there, if this is a map.
    pub fn set(&mut self, key: &str, value: Json) {
        if let Some(place) = self.get_mut(key) {
            *place = value;
        } else if let Json::Map(members) = self {
            members.push((key.to_owned(), value));
        }
    }

    pub fn remove(&mut self, key: &str) {
        if let Json::Map(members) = self {
            members.retain(|(name, _)| name != key);
        }
    }

    /// Every place in it, the innermost last.
    pub fn places(&self) -> Vec<Place> {
        let mut places = vec![Vec::new()];
        let mut below = |key: String, value: &Json| {
            places.extend(value.places().into_iter().map(|place| [vec![key.clone()], place].concat()));
        };
        match self {
            Json::List(entries) => entries.iter().enumerate().for_each(|(i, entry)| below(i.to_string(), entry)),
            Json::Map(members) => members.iter().for_each(|(key, value)| below(key.clone(), value)),
            _ => {}
        }
        places
    }

    /// Whether a map in it has a key twice.
    pub fn has_duplicates(&self) -> bool {
        match self {
            Json::List(entries) => entries.iter().any(Json::has_duplicates),
            Json::Map(members) => {
                let twice = |(i, (key, _)): (usize, &(String, Json))| members.iter().skip(i + 1).any(|(k, _)| k == key);
                members.iter().enumerate().any(twice) || members.iter().any(|(_, value)| value.has_duplicates())
            }
            _ => false,
        }
    }

    pub fn write(&self) -> String {
        let joined = |parts: Vec<String>| parts.join(",");
        match self {
            Json::Null => "null".to_owned(),
            Json::Bool(boolean) => boolean.to_string(),
            Json::Number(number) => number.clone(),
            Json::Text(text) => quoted(text),
            Json::List(entries) => format!("[{}]", joined(entries.iter().map(Json::write).collect())),
            Json::Map(members) => {
                let member = |(key, value): &(String, Json)| format!("{}:{}", quoted(key), value.write());
                format!("{{{}}}", joined(members.iter().map(member).collect()))
            }
        }
    }

    /// Reads a text; the error says where it is none.
    pub fn read(text: &str) -> Result<Json, String> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value()?;
        reader.space();
        if reader.at == text.len() { Ok(value) } else { Err(reader.error("more after the end")) }
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Json::Null,
            Value::Bool(boolean) => Json::Bool(boolean),
            Value::Number(number) => Json::Number(number.to_string()),
            Value::String(text) => Json::Text(text),
            Value::Array(entries) => Json::List(entries.into_iter().map(Json::from).collect()),
            Value::Object(members) => Json::Map(members.into_iter().map(|(key, value)| (key, value.into())).collect()),
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn error(&self, what: &str) -> String {
        format!("{what} at {} of {}", self.at, self.text)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn take(&mut self, expected: u8) -> bool {
        self.space();
        let found = self.peek() == Some(expected);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self) -> Result<Json, String> {
        self.space();
        match self.peek() {
            Some(b'{') => self.map(),
            Some(b'[') => self.list(),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            _ => self.scalar(),
        }
    }

    fn map(&mut self) -> Result<Json, String> {
        self.at += 1;
        let mut members = Vec::new();
        while !self.take(b'}') {
            if !members.is_empty() && !self.take(b',') {
                return Err(self.error("no comma"));
            }
            self.space();
            let key = self.string()?;
            if !self.take(b':') {
                return Err(self.error("no colon"));
            }
            members.push((key, self.value()?));
        }
        Ok(Json::Map(members))
    }

    fn list(&mut self) -> Result<Json, String> {
        self.at += 1;
        let mut entries = Vec::new();
        while !self.take(b']') {
            if !entries.is_empty() && !self.take(b',') {
                return Err(self.error("no comma"));
            }
            entries.push(self.value()?);
        }
        Ok(Json::List(entries))
    }

    fn string(&mut self) -> Result<String, String> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
                None => return Err(self.error("no end of a string")),
            }
        }
        self.at += 1;
        let quoted = self.text.get(start..self.at).unwrap_or_default();
        serde_json::from_str(quoted).map_err(|error| self.error(&error.to_string()))
    }

    fn scalar(&mut self) -> Result<Json, String> {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(rest.len());
        let word = &rest[..length];
        self.at += length;
        match word {
            "null" => Ok(Json::Null),
            "true" => Ok(Json::Bool(true)),
            "false" => Ok(Json::Bool(false)),
            number if number.parse::<f64>().is_ok() => Ok(Json::Number(number.to_owned())),
            _ => Err(self.error("no value")),
        }
    }
}

#[test]
fn what_is_read_is_written() {
    let text = r#"{"a":[1,1e5,-0.50,18446744073709551616,true,null],"a":{"é\n":{}},"b":[]}"#;
    let json = Json::read(text).unwrap();
    assert_eq!(json.write(), text);
    assert!(json.has_duplicates());
    assert_eq!(json.places().len(), 11);
    for broken in ["", "{", "[1,]", "{\"a\" 1}", "[1 2]", "nul", "\"a"] {
        assert!(Json::read(broken).is_err(), "{broken}");
    }
}
