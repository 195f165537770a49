//! Which NodeOverlay gives the nodes of a pool the device
//! (Karpenter, `pkg/controllers/nodeoverlay`).

use crate::field::{Field, Unreadable};
use crate::finding::Hint;
use crate::json::view::View;
use crate::kubernetes::names::is_label_value;
use crate::kubernetes::quantity::Quantity;
use crate::kubernetes::requirement::Requirement;
use crate::message::{Message, Piece, name};
use crate::odigos::DEVICE;
use crate::path::Path;
use crate::reach::Template;
use crate::rule::Rule;

/// `node-overlay-missing`, where no overlay of a list gives the device to the nodes of a pool's
/// template. The error says what of the list can't be read.
pub fn missing(list: &[u8], template: &Template) -> Result<Vec<Hint>, String> {
    let view = View::new(list);
    let list = Field::root(&view);
    let items = list.get("items");
    let entries = items.entries().map_err(|_| "the list has no items".to_owned())?;
    let pool_requirements = Requirement::read_all(&template.requirements).unwrap_or_default();
    let mut refused = None;
    for overlay in entries {
        // What can't be read covers nothing: Karpenter can't read it either.
        if !covers(&overlay, template, &pool_requirements).unwrap_or_default() {
            continue;
        }
        match refusal(&overlay) {
            Some(refusal) => refused = refused.or(Some(refusal)),
            None => return Ok(Vec::new()),
        }
    }
    Ok(hints(template.pool.unwrap_or_default(), refused))
}

/// Whether an overlay has the device for nodes that the template can make.
fn covers<'v>(overlay: &Field<'v, '_>, template: &Template, pool: &[Requirement]) -> Result<bool, Unreadable> {
    let capacity = overlay.below(&["spec", "capacity"])?;
    let device = capacity.member(DEVICE)?;
    if Quantity::read(&device).and_then(|quantity| quantity.integer()).is_none_or(|count| count < 1) {
        return Ok(false);
    }
    for requirement in Requirement::read_all(&overlay.below(&["spec", "requirements"])?)? {
        if !template.can_have(&requirement, pool)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// An overlay that Karpenter has refused: its name, and the reason.
struct Refusal {
    overlay: String,
    reason: String,
}

fn refusal(overlay: &Field) -> Option<Refusal> {
    let status = overlay.get("status");
    let conditions = status.get("conditions");
    for condition in conditions.entries().ok()? {
        let text = |key| condition.get(key).text().ok().flatten().unwrap_or_default();
        if text("type") == "Ready" && text("status") == "False" {
            let overlay = overlay.get("metadata").get("name").text().ok().flatten().unwrap_or_default().to_owned();
            return Some(Refusal { overlay, reason: text("reason").to_owned() });
        }
    }
    None
}

/// For how long a name there is room in a warning beside the overlay.
const MOST_OF_A_NAME: usize = 28;

/// That the device is missing, and the overlay that would bring it.
fn hints(pool: &str, refused: Option<Refusal>) -> Vec<Hint> {
    let rule = Some(Rule::NodeOverlayMissing);
    let no_proof: Message = "check that Karpenter applies overlays (Ready is no proof)".into();
    if let Some(Refusal { overlay, reason }) = refused {
        let mut problem = Message::from(["NodeOverlay ".into(), name(&overlay), " is not Ready".into()]);
        if !reason.is_empty() {
            problem.push(": ");
            problem.push(name(&reason));
        }
        return vec![Hint { rule, path: Path::default(), problem, remedy: no_proof }];
    }
    let problem = Message::from(["no NodeOverlay has ".into(), DEVICE.into(), " for its nodes".into()]);
    let mut remedy = Message::from("apply this one, and ");
    remedy.append(&no_proof);
    // The name is part of what is to be applied, so where there is room it is not shortened.
    let is_short = is_label_value(pool) && pool.len() <= MOST_OF_A_NAME;
    let value = if is_short { Piece::Text(pool.to_owned().into()) } else { name(pool) };
    let overlay = Message::from([
        "NodeOverlay: requirements: [{key: karpenter.sh/nodepool, operator: In, values: [".into(),
        value,
        "]}]".into(),
    ]);
    let capacity = Message::from(["capacity: {".into(), DEVICE.into(), ": \"1024\"}".into()]);
    vec![
        Hint { rule, path: Path::default(), problem, remedy },
        Hint { rule, path: Path::default(), problem: overlay, remedy: capacity },
    ]
}
