//! A withdrawn run is gone: from the rows of all tables, and from the next dump.

use cardmark_share::write_submission;
use cardmark_site_store::Withdrawn;
use sqlx::{AnyConnection, AssertSqlSafe, Row as _};
use tempfile::TempDir;

use crate::derived::rows;
use crate::round_trip::{dump, files};
use crate::samples::{LATE_MS, TOKEN, fill, incoming, measured, put};
use crate::site::Site;

/// Words that are in no other run.
const WORDS: [&str; 2] = ["quokkaproduct", "zyzzyvanote"];

/// Rows of all tables as texts, bytes in hexadecimal, with the names of their tables.
async fn all_rows(connection: &mut AnyConnection, is_postgres: bool) -> Vec<(String, String)> {
    let tables = match is_postgres {
        true => "select tablename::text from pg_tables where schemaname = 'public'",
        false => "select name from sqlite_master where type = 'table'",
    };
    let tables = sqlx::query(tables)
        .fetch_all(&mut *connection)
        .await
        .unwrap();
    let mut found = Vec::new();
    for table in tables {
        let table: String = table.get(0);
        let text = match is_postgres {
            true => format!("select t::text from \"{table}\" t"),
            false => {
                let columns = format!("select name from pragma_table_info('{table}')");
                let columns = sqlx::query(AssertSqlSafe(columns));
                let columns = columns.fetch_all(&mut *connection).await.unwrap();
                let quoted = columns
                    .iter()
                    .map(|row| format!("quote(\"{}\")", row.get::<String, _>(0)));
                format!(
                    "select {} from \"{table}\"",
                    quoted.collect::<Vec<_>>().join(" || ' ' || ")
                )
            }
        };
        let rows = sqlx::query(AssertSqlSafe(text));
        for row in rows.fetch_all(&mut *connection).await.unwrap() {
            let row: String = row.get(0);
            found.push((table.clone(), row.to_lowercase()));
        }
    }
    found
}

pub(crate) async fn a_withdrawn_run_is_in_no_row_and_no_dump(site: Site) {
    let store = site.open().await;
    let ids = fill(&store).await;
    let mut record = measured(9);
    record
        .labels
        .insert("product".to_owned(), WORDS[0].to_owned());
    record.labels.insert("note".to_owned(), WORDS[1].to_owned());
    let (text, _) = write_submission(&record, 1, &["labels.note"]).unwrap();
    let mut sent = incoming(&text, Some(9), LATE_MS + 60_500);
    // Not packed, so that its words can be found in the rows.
    sent.packed = text.into_bytes();
    let id = record.id.simple().to_string();
    put(&store, sent).await;
    let mut connection = site.connect().await;
    let before = all_rows(&mut connection, site.is_postgres).await;
    let of_body = |row: &str| row.contains(WORDS[1]) || row.contains(&hexadecimal(WORDS[1]));
    let bodies = before.iter().filter(|(_, row)| of_body(row)).count();
    assert!(bodies >= 1, "its note is in a row");
    assert!(
        before
            .iter()
            .any(|(table, row)| table == "products" && row.contains(WORDS[0]))
    );
    let submitter = "09".repeat(16);
    assert!(before.iter().any(|(_, row)| row.contains(&submitter)));

    assert_eq!(
        store.withdraw(record.id, TOKEN).await.unwrap(),
        Withdrawn::Now
    );
    store.purge(LATE_MS + 30 * 86_400_000).await.unwrap();
    let mut tombs = Vec::new();
    for (table, row) in all_rows(&mut connection, site.is_postgres).await {
        for word in [
            WORDS[0],
            WORDS[1],
            &hexadecimal(WORDS[0]),
            &hexadecimal(WORDS[1]),
            &submitter,
        ] {
            assert!(!row.contains(word), "{table}: {row}");
        }
        if row.contains(&id) || row.contains(&record.id.to_string()) {
            tombs.push(table);
        }
    }
    // PostgreSQL shows a partition and its table.
    tombs.retain(|table| !table.starts_with("tombstones") && !table.starts_with("changes"));
    assert_eq!(tombs, Vec::<String>::new());

    let folder = TempDir::new().unwrap();
    let first = folder.path().join("first");
    let manifest = dump(&store, &first).await;
    assert_eq!(manifest.records, ids.len() as u64);
    for (path, bytes) in files(&first) {
        let text = match path.split_once('/') {
            Some(("documents", _)) => text_of(&zstd::decode_all(bytes.as_slice()).unwrap()),
            Some((kind, _)) => rows(&first, kind).join("\n"),
            None => text_of(&bytes),
        };
        let text = text.to_lowercase();
        let has_id = text.contains(&record.id.to_string());
        assert_eq!(has_id, path == "tombstones.jsonl", "{path}");
        for word in WORDS.into_iter().chain([submitter.as_str()]) {
            assert!(!text.contains(word), "{path}: {word}");
        }
    }
    store.close().await;
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn hexadecimal(text: &str) -> String {
    cardmark_share::to_hexadecimal(text.as_bytes())
}
