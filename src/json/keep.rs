//! Parsing only a part of a JSON text.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// What of a value is kept. What is no map or list where one belongs is kept as it is, for the
/// rules to say so.
#[derive(Debug)]
pub enum Keep {
    /// All.
    All,
    /// Some fields of a map.
    Fields(&'static [(&'static str, Keep)]),
    /// The members of a map whose key is this.
    Members(fn(&str) -> bool),
    /// Of each entry of a list.
    Each(&'static Keep),
    /// Of an entry, the map with one of these names; any other is kept as `null`, so that the
    /// index of each stays what it was.
    Named(&'static [&'static str]),
}

/// Parses what is kept of a JSON text.
pub fn parse(text: &[u8], keep: &'static Keep) -> Result<Value, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = keep.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

impl<'de> DeserializeSeed<'de> for &'static Keep {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self {
            Keep::All => serde::Deserialize::deserialize(deserializer),
            _ => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for &'static Keep {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        match self {
            Keep::Fields(fields) => {
                while let Some(key) = access.next_key::<Key>()? {
                    match fields.iter().find(|(name, _)| *name == key.0) {
                        Some((name, keep)) => drop(map.insert((*name).to_owned(), access.next_value_seed(keep)?)),
                        None => drop(access.next_value::<IgnoredAny>()?),
                    }
                }
            }
            Keep::Members(is_kept) => {
                while let Some(key) = access.next_key::<Key>()? {
                    if is_kept(&key.0) {
                        map.insert(key.0.into_owned(), access.next_value()?);
                    } else {
                        access.next_value::<IgnoredAny>()?;
                    }
                }
            }
            Keep::Named(names) => {
                let mut is_kept = true;
                while let Some(key) = access.next_key::<Key>()? {
                    match key.0.as_ref() {
                        "name" => {
                            let name: Value = access.next_value()?;
                            is_kept = name.as_str().is_none_or(|name| names.contains(&name));
                            map.insert("name".to_owned(), name);
                        }
                        "value" if is_kept => drop(map.insert("value".to_owned(), access.next_value()?)),
                        _ => drop(access.next_value::<IgnoredAny>()?),
                    }
                }
                if !is_kept {
                    return Ok(Value::Null);
                }
            }
            Keep::All | Keep::Each(_) => while access.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {},
        }
        Ok(Value::Object(map))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        if let Keep::Each(keep) = self {
            while let Some(entry) = access.next_element_seed(*keep)? {
                list.push(entry);
            }
        } else {
            while access.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(Value::Array(list))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, boolean: bool) -> Result<Value, E> {
        Ok(boolean.into())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }
}

/// A key, borrowed where the text has it without escapes.
#[derive(serde::Deserialize)]
struct Key<'t>(#[serde(borrow)] std::borrow::Cow<'t, str>);

#[cfg(test)]
mod tests {
    use super::*;

    const KEEP: Keep = Keep::Fields(&[("metadata", Keep::All)]);

    #[test]
    fn what_is_no_json_is_an_error() {
        for text in ["", "{", "{\"metadata\": tru}", "{} x", "{\"spec\": {\"a\": [1,]}}"] {
            assert!(parse(text.as_bytes(), &KEEP).is_err(), "{text}");
        }
    }
}
