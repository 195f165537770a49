//! The admission request, as far as the policy reads it.

use serde_json::Value;

use crate::field::{Field, Unreadable};
use crate::finding::Object;

/// A kind of object that rules speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `karpenter.sh` NodePool
    NodePool,
    /// `karpenter.sh` NodeClaim
    NodeClaim,
    /// `karpenter.sh` Provisioner, NodePool's forerunner
    Provisioner,
    /// `karpenter.sh` Machine, NodeClaim's forerunner
    Machine,
    /// `karpenter.sh` NodeOverlay
    NodeOverlay,
    /// Node
    Node,
    /// Pod
    Pod,
}

impl Kind {
    /// The kind of this group and name, where rules speak of it.
    pub fn of(group: &str, kind: &str) -> Option<Self> {
        match (group, kind) {
            ("karpenter.sh", "NodePool") => Some(Kind::NodePool),
            ("karpenter.sh", "NodeClaim") => Some(Kind::NodeClaim),
            ("karpenter.sh", "Provisioner") => Some(Kind::Provisioner),
            ("karpenter.sh", "Machine") => Some(Kind::Machine),
            ("karpenter.sh", "NodeOverlay") => Some(Kind::NodeOverlay),
            ("", "Node") => Some(Kind::Node),
            ("", "Pod") => Some(Kind::Pod),
            _ => None,
        }
    }

    /// Whether rules speak of it under this operation. A NodeClaim's spec and most of a Pod's can't
    /// be changed once they exist.
    fn is_judged_on(self, operation: Operation) -> bool {
        operation == Operation::Create || matches!(self, Kind::NodePool | Kind::NodeOverlay | Kind::Node)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::NodePool => "NodePool",
            Kind::NodeClaim => "NodeClaim",
            Kind::Provisioner => "Provisioner",
            Kind::Machine => "Machine",
            Kind::NodeOverlay => "NodeOverlay",
            Kind::Node => "Node",
            Kind::Pod => "Pod",
        }
    }
}

/// What is being done to the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// It is new. The background audit sends live objects so, too.
    Create,
    /// It is changed.
    Update,
}

/// An admission request that rules have something to say to.
#[derive(Clone, Copy, Debug)]
pub struct Request<'v> {
    /// `/kind`; `/resource` is wrong in audits.
    pub kind: Kind,
    /// `/operation`
    pub operation: Operation,
    /// `/namespace`, or else the object's own; empty where it has none.
    pub namespace: &'v str,
    /// `/userInfo/username` is empty: Kubewarden's background audit asks, and nothing that it is
    /// told blocks anything (Kubewarden, `internal/audit-scanner/scanner/admission_request.go`).
    pub audit: bool,
    /// `/userInfo/groups` has `system:nodes`: a kubelet asks.
    pub by_kubelet: bool,
    /// `/object`
    pub object: &'v Value,
    /// `/oldObject`; `null` where there is none.
    pub old_object: &'v Value,
}

impl<'v> Request<'v> {
    /// Reads an admission request; `None` where no rule speaks of it: another kind or operation, a
    /// subresource, an object on its way out.
    pub fn read(request: &'v Value) -> Result<Option<Self>, Unreadable> {
        let root = Field::root(request);
        root.must_be_map()?;
        let group_version_kind = root.at("kind")?;
        group_version_kind.must_be_map()?;
        let group = group_version_kind.at("group")?.text()?.unwrap_or_default();
        let kind = group_version_kind.at("kind")?.text()?.unwrap_or_default();
        let Some(kind) = Kind::of(group, kind) else { return Ok(None) };
        let operation = match root.at("operation")?.text()? {
            Some("CREATE") => Operation::Create,
            Some("UPDATE") => Operation::Update,
            _ => return Ok(None),
        };
        let subresource = root.at("subResource")?.text()?.unwrap_or_default();
        if !kind.is_judged_on(operation) || !subresource.is_empty() {
            return Ok(None);
        }
        let object = root.at("object")?;
        object.must_be_map()?;
        let object = object.value();
        let metadata = object.get("metadata");
        if metadata.and_then(|metadata| metadata.get("deletionTimestamp")).is_some_and(|at| !at.is_null()) {
            return Ok(None);
        }
        let own_namespace = metadata.and_then(|metadata| metadata.get("namespace")).and_then(Value::as_str);
        let user = root.get("userInfo");
        let groups = user.get("groups");
        Ok(Some(Request {
            kind,
            operation,
            namespace: root
                .get("namespace")
                .value()
                .as_str()
                .filter(|name| !name.is_empty())
                .or(own_namespace)
                .unwrap_or_default(),
            audit: user.get("username").value().as_str().unwrap_or_default().is_empty(),
            by_kubelet: groups
                .value()
                .as_array()
                .is_some_and(|groups| groups.iter().any(|group| group == "system:nodes")),
            object,
            old_object: root.get("oldObject").value(),
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
            namespace: self.namespace.to_owned(),
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

    #[test]
    fn what_rules_read() {
        let value = pod();
        let request = Request::read(&value).unwrap().unwrap();
        assert_eq!((request.kind, request.operation, request.namespace), (Kind::Pod, Operation::Create, "shop"));
        assert!(!request.audit && !request.by_kubelet && request.old_object.is_null());
        assert_eq!(request.object(), Object { kind: "Pod", namespace: "shop".into(), name: "web-".into() });
    }

    #[rstest]
    #[case::delete(changed("/operation", json!("DELETE")))]
    #[case::connect(changed("/operation", json!("CONNECT")))]
    #[case::subresource(changed("/subResource", json!("status")))]
    #[case::on_its_way_out(changed("/object/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z")))]
    #[case::update(changed("/operation", json!("UPDATE")))]
    #[case::another_kind(changed("/kind/kind", json!("Deployment")))]
    #[case::another_group(changed("/kind/group", json!("metrics.k8s.io")))]
    fn ignored(#[case] request: Value) {
        assert_eq!(Request::read(&request).unwrap().map(|request| request.kind), None);
    }

    #[rstest]
    #[case::null_subresource(changed("/subResource", json!(null)), false)]
    #[case::no_user(changed("/userInfo", json!(null)), true)]
    #[case::empty_user(changed("/userInfo", json!({})), true)]
    #[case::absurd_user(changed("/userInfo", json!([1])), true)]
    fn an_audit_has_no_user(#[case] request: Value, #[case] audit: bool) {
        assert_eq!(Request::read(&request).unwrap().unwrap().audit, audit);
    }

    #[rstest]
    #[case(json!(null), "")]
    #[case(json!({}), "kind")]
    #[case(changed("/kind", json!("Pod")), "kind")]
    #[case(changed("/operation", json!(1)), "operation")]
    #[case(changed("/object", json!(null)), "object")]
    #[case(changed("/object", json!([])), "object")]
    fn unreadable(#[case] request: Value, #[case] path: &str) {
        assert_eq!(Request::read(&request).unwrap_err().path.to_string(), path);
    }
}
