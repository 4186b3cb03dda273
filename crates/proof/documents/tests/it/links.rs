//! Links lead somewhere, and to every document from `docs/README.md`.

use std::collections::{BTreeMap, BTreeSet};

use cardmark_documents::{Document, anchors, documents, links, root};

/// The page with the three doors.
const DOORS: &str = "docs/README.md";

#[test]
fn every_link_leads_to_a_file_and_its_heading() {
    let documents = documents();
    let headings: BTreeMap<&str, Vec<String>> = documents
        .iter()
        .map(|it| (it.path.as_str(), anchors(it)))
        .collect();
    let mut broken = Vec::new();
    let mut count = 0;
    for document in &documents {
        for link in links(document) {
            count += 1;
            let is_heading = link.anchor.as_ref().is_none_or(|anchor| {
                let headings = headings.get(link.path.as_str());
                headings.is_some_and(|headings| headings.contains(anchor))
            });
            if !root().join(&link.path).exists() || !is_heading {
                broken.push(format!("{}:{}: {link:?}", document.path, link.line));
            }
        }
    }
    assert!(broken.is_empty(), "broken links: {broken:#?}");
    assert!(count > 100, "only {count} links were found");
}

/// Paths that links of a document lead to. A link to a folder shows the names of its files: they are one click further.
fn targets(document: &Document) -> BTreeSet<String> {
    links(document).into_iter().map(|link| link.path).collect()
}

#[test]
fn every_document_is_two_clicks_from_the_three_doors() {
    let documents = documents();
    let of_path = |path: &String| documents.iter().find(|it| it.path == *path);
    let doors = of_path(&DOORS.to_owned()).unwrap();
    let first = targets(doors);
    let mut reached = first.clone();
    for path in &first {
        reached.extend(of_path(path).map(targets).unwrap_or_default());
        let is_inside = |it: &&Document| {
            it.path
                .rsplit_once('/')
                .is_some_and(|(folder, _)| folder == path)
        };
        reached.extend(documents.iter().filter(is_inside).map(|it| it.path.clone()));
    }
    reached.insert(DOORS.to_owned());
    let paths = documents.iter().map(|it| it.path.clone());
    let missing: Vec<String> = paths.filter(|path| !reached.contains(path)).collect();
    assert!(
        missing.is_empty(),
        "not within two clicks of {DOORS}: {missing:#?}"
    );
}
