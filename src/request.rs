//! The admission request, as far as the policy reads it.

use std::borrow::Cow;

use crate::finding::Object;
use crate::json::cursor::{Cursor, Key};
use crate::json::view::{Content, View};
use crate::kind::{Kind, Operation};

/// What a payload `{"request": …, "settings": …}` consists of.
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
    user: Option<View<'t>>,
    /// `/request/object`
    pub object: Option<View<'t>>,
    /// `/request/oldObject`
    old_object: Option<View<'t>>,
    /// `/settings`
    pub settings: Option<View<'t>>,
}

impl<'t> Envelope<'t> {
    /// Takes a payload apart; `None` where it is no JSON, or no admission request.
    pub fn open(payload: &'t [u8]) -> Option<Self> {
        let mut envelope = Envelope::default();
        let mut cursor = Cursor::new(payload);
        cursor.map(|cursor, key| {
            if key.is("request") {
                return cursor.map(|cursor, key| envelope.take(cursor, &key));
            }
            let value = View::walk(cursor)?;
            if key.is("settings") {
                envelope.settings = Some(value);
            }
            Some(())
        })?;
        (cursor.is_at_end() && !envelope.kind.is_empty()).then_some(envelope)
    }

    fn take(&mut self, cursor: &mut Cursor<'t>, key: &Key<'t>) -> Option<()> {
        match key.as_bytes() {
            b"kind" => {
                return cursor.map(|cursor, key| {
                    match key.as_bytes() {
                        b"group" => self.group = cursor.text()?,
                        b"kind" => self.kind = cursor.text()?,
                        _ => drop(cursor.skip()?),
                    }
                    Some(())
                });
            }
            b"operation" => self.operation = cursor.text()?,
            b"subResource" => self.subresource = cursor.text()?,
            b"namespace" => self.namespace = cursor.text()?,
            b"userInfo" => self.user = Some(View::new(cursor.skip()?)),
            b"object" => self.object = Some(View::walk(cursor)?),
            b"oldObject" => self.old_object = Some(View::new(cursor.skip()?)),
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

/// An admission request that rules have something to say to.
#[derive(Clone, Debug)]
pub struct Request<'t> {
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
    /// `/object`
    pub object: View<'t>,
    /// `/oldObject`, where there is one.
    pub old_object: Option<View<'t>>,
}

impl<'t> Request<'t> {
    /// Reads what is around the object; `None` where rules say nothing, for the object is on its
    /// way out.
    ///
    /// The error says what can't be read.
    pub fn read(envelope: Envelope<'t>, kind: Kind, operation: Operation) -> Result<Option<Self>, String> {
        let object = envelope.object.unwrap_or(View::new(b"null"));
        if !matches!(object.content(), Content::Map(_)) {
            return Err(format!("{} where an object belongs", object.shape()));
        }
        let metadata = object.get("metadata");
        let of_metadata = |key| metadata.and_then(|metadata| metadata.get(key));
        if of_metadata("deletionTimestamp").is_some_and(|at| !at.is_null()) {
            return Ok(None);
        }
        let own_namespace = of_metadata("namespace").and_then(View::as_str);
        let namespace = Some(envelope.namespace.as_ref()).filter(|namespace| !namespace.is_empty()).or(own_namespace);
        let namespace = namespace.unwrap_or_default().to_owned();
        let user = &envelope.user;
        let no_username =
            |user: &View| user.get("username").is_none_or(|name| name.is_null() || name.as_str() == Some(""));
        let audit = user.as_ref().is_none_or(|user| match user.content() {
            Content::Null => true,
            Content::Map(_) => no_username(user),
            _ => false,
        });
        let groups = user.as_ref().and_then(|user| user.get("groups")).map(View::content);
        let by_kubelet = matches!(groups, Some(Content::List(groups))
            if groups.iter().any(|group| group.as_str() == Some("system:nodes")));
        let old_object = envelope.old_object.filter(|old| !old.is_null());
        Ok(Some(Request { kind, operation, namespace, audit, by_kubelet, object, old_object }))
    }

    /// The request by which an audit asks about an object: as if it were created as it is. `namespace`
    /// is where it is, whatever it says itself; empty: where it says.
    ///
    /// `None` and the error are those of [`Request::read`].
    pub fn audit_of(kind: Kind, namespace: &'t str, object: View<'t>) -> Result<Option<Self>, String> {
        let envelope = Envelope { namespace: namespace.into(), object: Some(object), ..Envelope::default() };
        Self::read(envelope, kind, Operation::Create)
    }

    /// The object's kind and name, for messages.
    pub fn object(&self) -> Object {
        let metadata = self.object.get("metadata");
        let text = |key| {
            metadata.and_then(|metadata| metadata.get(key)).and_then(View::as_str).filter(|text| !text.is_empty())
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
    use serde_json::{Value, json};

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

    /// What `ask` says of a request; `Ok(None)` where rules have nothing to say.
    fn read<T>(request: Value, ask: impl Fn(Request) -> T) -> Result<Option<T>, String> {
        let payload = json!({"settings": {}, "request": request}).to_string();
        let envelope = Envelope::open(payload.as_bytes()).ok_or("no request")?;
        match envelope.subject() {
            Some((kind, operation)) => Ok(Request::read(envelope, kind, operation)?.map(ask)),
            None => Ok(None),
        }
    }

    #[test]
    fn what_rules_read() {
        let what = read(pod(), |request| {
            assert!(!request.audit && !request.by_kubelet && request.old_object.is_none());
            (request.kind, request.operation, request.namespace.clone(), request.object())
        });
        let object = Object { kind: "Pod", namespace: "shop".into(), name: "web-".into() };
        assert_eq!(what, Ok(Some((Kind::Pod, Operation::Create, "shop".to_owned(), object))));
    }

    #[rstest]
    #[case::its_own_namespace("", "shop")]
    #[case::where_it_is("till", "till")]
    fn an_audit_of_an_object(#[case] namespace: &str, #[case] expected: &str) {
        let object = View::new(br#"{"metadata": {"namespace": "shop", "name": "web"}}"#);
        let request = Request::audit_of(Kind::Pod, namespace, object).unwrap().unwrap();
        assert!(request.audit && request.operation == Operation::Create && request.namespace == expected);
        let going = View::new(br#"{"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}"#);
        assert!(Request::audit_of(Kind::Pod, "", going).unwrap().is_none());
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
        assert_eq!(read(request, |request| request.kind), Ok(None));
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
        assert_eq!(read(request, |request| request.audit), Ok(Some(audit)));
    }

    #[rstest]
    #[case(json!(null), "no request")]
    #[case(json!({}), "no request")]
    #[case(changed("/kind", json!("Pod")), "no request")]
    #[case(changed("/operation", json!(1)), "no request")]
    #[case(changed("/object", json!(null)), "nothing where an object belongs")]
    #[case(changed("/object", json!([])), "a list where an object belongs")]
    fn unreadable(#[case] request: Value, #[case] expected: &str) {
        assert_eq!(read(request, |_| ()).unwrap_err(), expected);
    }
}
