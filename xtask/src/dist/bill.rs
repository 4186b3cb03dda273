//! Bill of materials in the format of CycloneDX.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use super::build::Build;
use super::parts::{self, Part};
use super::target::Target;
use super::tools::{Tools, output};
use crate::project::Error;

/// Returns the bill of the program for a target.
pub(super) fn text(
    root: &Path,
    tools: &Tools,
    build: &Build,
    target: &Target,
) -> Result<String, Error> {
    let all = parts::of(root, tools, target)?;
    let time = format!("@{}", build.time);
    let time = output("date", ["-u", "-d", &time, "+%Y-%m-%dT%H:%M:%SZ"])?;
    let bill = bill(&build.version, time.trim(), &all);
    Ok(serde_json::to_string_pretty(&bill)? + "\n")
}

fn bill(version: &str, time: &str, parts: &BTreeSet<Part>) -> Value {
    let components: Vec<Value> = parts.iter().map(component).collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "component": {
                "type": "application",
                "bom-ref": "cardmark",
                "name": "cardmark",
                "version": version,
                "licenses": [{"expression": "MIT OR Apache-2.0"}],
            },
        },
        "components": components,
    })
}

fn component(part: &Part) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": part.url,
        "name": part.name,
        "version": part.version,
        "licenses": [{"expression": part.licence}],
        "purl": part.url,
    });
    if let Some(checksum) = &part.checksum {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    if let Some(address) = &part.repository {
        component["externalReferences"] = json!([{"type": "vcs", "url": address}]);
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_become_components() {
        let part = Part {
            name: "serde".into(),
            version: "1.0.228".into(),
            licence: "MIT OR Apache-2.0".into(),
            folder: "/cargo/serde".into(),
            url: "pkg:cargo/serde@1.0.228".into(),
            checksum: Some("9a".repeat(32)),
            repository: None,
        };
        let bill = bill("0.1.0", "2026-11-25T00:00:00Z", &BTreeSet::from([part]));
        assert_eq!(bill["metadata"]["component"]["version"], "0.1.0");
        let component = &bill["components"][0];
        assert_eq!(component["purl"], "pkg:cargo/serde@1.0.228");
        assert_eq!(component["hashes"][0]["content"], "9a".repeat(32));
        assert_eq!(component.get("externalReferences"), None);
        assert!(!bill.to_string().contains("/cargo/serde"));
    }
}
