//! The admission request, as far as the policy reads it.

mod kept;

use std::borrow::Cow;

use serde_json::Value;

use crate::field::shape;
use crate::finding::Object;
use crate::json::cursor::Cursor;
use crate::json::keep::{self, Keep};
use crate::kind::{Kind, Operation};
use kept::READ_BY_RULES;

/// The texts that a payload `{"request": …, "settings": …}` consists of, unparsed.
#[derive(Clone, Debug, Default)]
pub struct Envelope<'t> {
    /// `/request/kind/group`
    group: Cow<'t, str>,
    /// `/request/kind/kind`; `/request/resource` is wrong in audits.
    kind: Cow<'t, str>,
    /// `/request/operation`
    operation: Cow<'t, str>,
    /// `/request/subResource`; empty where there is none.
    subresource: Cow<'t, str>,
    /// `/request/namespace`; empty where there is none.
    namespace: Cow<'t, str>,
    /// `/request/userInfo`
    user: Option<&'t [u8]>,
    /// `/request/object`
    pub object: Option<&'t [u8]>,
    /// Whether `/request/object/spec` is a map.
    pub has_spec: bool,
    /// `/request/oldObject`
    pub old_object: Option<&'t [u8]>,
    /// `/settings`
    pub settings: Option<&'t [u8]>,
}

impl<'t> Envelope<'t> {
    /// Takes a payload apart; `None` where it is no JSON, or no admission request.
    pub fn open(payload: &'t [u8]) -> Option<Self> {
        let mut envelope = Envelope::default();
        let mut cursor = Cursor::new(payload);
        cursor.map(|cursor, key| match key {
            "request" => cursor.map(|cursor, key| envelope.take(cursor, key)),
            "settings" => {
                envelope.settings = Some(cursor.skip()?);
                Some(())
            }
            _ => cursor.skip().map(drop),
        })?;
        (cursor.is_at_end() && !envelope.kind.is_empty()).then_some(envelope)
    }

    fn take(&mut self, cursor: &mut Cursor<'t>, key: &str) -> Option<()> {
        match key {
            "kind" => {
                return cursor.map(|cursor, key| {
                    match key {
                        "group" => self.group = cursor.text()?,
                        "kind" => self.kind = cursor.text()?,
                        _ => drop(cursor.skip()?),
                    }
                    Some(())
                });
            }
            "operation" => self.operation = cursor.text()?,
            "subResource" => self.subresource = cursor.text()?,
            "namespace" => self.namespace = cursor.text()?,
            "userInfo" => self.user = Some(cursor.skip()?),
            "object" => {
                self.has_spec = false;
                self.object = Some(cursor.span(|cursor| match cursor.peek()? {
                    b'{' => cursor.map(|cursor, key| {
                        if key == "spec" {
                            self.has_spec = cursor.peek()? == b'{';
                        }
                        cursor.skip().map(drop)
                    }),
                    _ => cursor.skip().map(drop),
                })?);
            }
            "oldObject" => self.old_object = Some(cursor.skip()?),
            _ => drop(cursor.skip()?),
        }
        Some(())
    }

    /// The kind and the operation, where rules speak of them and not of a subresource.
    pub fn subject(&self) -> Option<(Kind, Operation)> {
        let kind = Kind::of(&self.group, &self.kind)?;
        let operation = match self.operation.as_ref() {
            "CREATE" => Operation::Create,
            "UPDATE" => Operation::Update,
            _ => return None,
        };
        (kind.is_judged_on(operation) && self.subresource.is_empty()).then_some((kind, operation))
    }
}

/// An admission request that rules have something to say to, as far as they read it.
#[derive(Clone, Debug)]
pub struct Request {
    /// The kind of the object.
    pub kind: Kind,
    /// What is being done to it.
    pub operation: Operation,
    /// Its namespace; empty where it has none.
    pub namespace: String,
    /// `/userInfo/username` is empty: Kubewarden's background audit asks, and nothing that it is
    /// told blocks anything (Kubewarden, `internal/audit-scanner/scanner/admission_request.go`).
    pub audit: bool,
    /// `/userInfo/groups` has `system:nodes`: a kubelet asks.
    pub by_kubelet: bool,
    /// `/object`, as far as rules read it.
    pub object: Value,
    /// `/oldObject`, likewise; `null` where there is none.
    pub old_object: Value,
}

impl Request {
    /// Parses what rules read; `None` where they say nothing, for the object is on its way out.
    ///
    /// The error says what can't be read.
    pub fn parse(envelope: &Envelope, kind: Kind, operation: Operation) -> Result<Option<Self>, String> {
        // A NodePool's update is compared with what was there as a whole.
        let keep = if (kind, operation) == (Kind::NodePool, Operation::Update) { &Keep::All } else { &READ_BY_RULES };
        let parse = |text: Option<&[u8]>, keep| text.map_or(Ok(Value::Null), |text| keep::parse(text, keep));
        let object = parse(envelope.object, keep).map_err(|error| format!("the object is no JSON: {error}"))?;
        let old_object = parse(envelope.old_object.filter(|_| operation == Operation::Update), keep)
            .map_err(|error| format!("the old object is no JSON: {error}"))?;
        if !object.is_object() {
            return Err(format!("{} where an object belongs", shape(&object)));
        }
        let metadata = object.get("metadata");
        if metadata.and_then(|metadata| metadata.get("deletionTimestamp")).is_some_and(|at| !at.is_null()) {
            return Ok(None);
        }
        let own_namespace = metadata.and_then(|metadata| metadata.get("namespace")).and_then(Value::as_str);
        let namespace = Some(envelope.namespace.as_ref()).filter(|namespace| !namespace.is_empty()).or(own_namespace);
        let user = envelope.user.map_or(Ok(Value::Null), serde_json::from_slice).unwrap_or(Value::Bool(false));
        let username = user.get("username").unwrap_or(&Value::Null);
        let groups = user.get("groups").and_then(Value::as_array);
        Ok(Some(Request {
            kind,
            operation,
            namespace: namespace.unwrap_or_default().to_owned(),
            audit: (user.is_object() || user.is_null()) && (username.is_null() || username == ""),
            by_kubelet: groups.is_some_and(|groups| groups.iter().any(|group| group == "system:nodes")),
            object,
            old_object,
        }))
    }

    /// The object's kind and name, for messages.
    pub fn object(&self) -> Object {
        let metadata = self.object.get("metadata");
        let text = |key| {
            metadata.and_then(|metadata| metadata.get(key)).and_then(Value::as_str).filter(|text| !text.is_empty())
        };
        Object {
            kind: self.kind.name(),
            namespace: self.namespace.clone(),
            name: text("name").or(text("generateName")).unwrap_or_default().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn pod() -> Value {
        json!({
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "operation": "CREATE",
            "userInfo": {"username": "a", "groups": ["b"]},
            "object": {"metadata": {"generateName": "web-", "namespace": "shop"}},
        })
    }

    fn changed(pointer: &str, value: Value) -> Value {
        let mut request = pod();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        request.pointer_mut(parent).unwrap()[key] = value;
        request
    }

    /// `Ok(None)` where rules have nothing to say.
    fn read(request: Value) -> Result<Option<Request>, String> {
        let payload = json!({"settings": {}, "request": request}).to_string();
        let envelope = Envelope::open(payload.as_bytes()).ok_or("no request")?;
        match envelope.subject() {
            Some((kind, operation)) => Request::parse(&envelope, kind, operation),
            None => Ok(None),
        }
    }

    #[test]
    fn what_rules_read() {
        let request = read(pod()).unwrap().unwrap();
        assert_eq!(
            (request.kind, request.operation, request.namespace.as_str()),
            (Kind::Pod, Operation::Create, "shop")
        );
        assert!(!request.audit && !request.by_kubelet && request.old_object.is_null());
        assert_eq!(request.object(), Object { kind: "Pod", namespace: "shop".into(), name: "web-".into() });
    }

    #[rstest]
    #[case::delete(changed("/operation", json!("DELETE")))]
    #[case::connect(changed("/operation", json!("CONNECT")))]
    #[case::no_operation(changed("/operation", json!(null)))]
    #[case::subresource(changed("/subResource", json!("status")))]
    #[case::on_its_way_out(changed("/object/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z")))]
    #[case::update(changed("/operation", json!("UPDATE")))]
    #[case::another_kind(changed("/kind/kind", json!("Deployment")))]
    #[case::another_group(changed("/kind/group", json!("metrics.k8s.io")))]
    fn ignored(#[case] request: Value) {
        assert_eq!(read(request).map(|request| request.map(|request| request.kind)), Ok(None));
    }

    #[rstest]
    #[case::null_subresource(changed("/subResource", json!(null)), false)]
    #[case::no_user(changed("/userInfo", json!(null)), true)]
    #[case::empty_user(changed("/userInfo", json!({})), true)]
    #[case::null_username(changed("/userInfo/username", json!(null)), true)]
    #[case::empty_username(changed("/userInfo/username", json!("")), true)]
    #[case::absurd_username(changed("/userInfo/username", json!(5)), false)]
    #[case::absurd_user(changed("/userInfo", json!([1])), false)]
    fn an_audit_has_no_user(#[case] request: Value, #[case] audit: bool) {
        assert_eq!(read(request).unwrap().unwrap().audit, audit);
    }

    #[rstest]
    #[case(json!(null), "no request")]
    #[case(json!({}), "no request")]
    #[case(changed("/kind", json!("Pod")), "no request")]
    #[case(changed("/operation", json!(1)), "no request")]
    #[case(changed("/object", json!(null)), "nothing where an object belongs")]
    #[case(changed("/object", json!([])), "a list where an object belongs")]
    fn unreadable(#[case] request: Value, #[case] expected: &str) {
        assert_eq!(read(request).unwrap_err(), expected);
    }
}
