//! Damage to a database.

use std::path::Path;

use rusqlite::Connection;

/// Removes the mark of strict tables from the schema, so that columns take values of any type.
const LOOSEN: &str = "PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = replace(replace(sql, ', STRICT', ''), ' STRICT', '');
    PRAGMA writable_schema = RESET;";

/// Changes rows in a way that SQLite and its constraints would refuse, and leaves the schema as it
/// was. Returns the number of rows changed by `sql`, a single statement.
pub fn damage_database(path: &Path, sql: &str) -> usize {
    let connection = Connection::open(path).unwrap();
    let unconstrained = "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON";
    connection.execute_batch(unconstrained).unwrap();
    let mut statement = connection
        .prepare("SELECT name, sql FROM sqlite_schema WHERE sql LIKE '%STRICT'")
        .unwrap();
    let tables: Vec<(String, String)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    connection.execute_batch(LOOSEN).unwrap();
    let count = connection.execute(sql, []).unwrap();
    connection
        .execute_batch("PRAGMA writable_schema = ON")
        .unwrap();
    for (name, strict) in tables {
        let restore = "UPDATE sqlite_schema SET sql = ?2 WHERE name = ?1";
        connection.execute(restore, [name, strict]).unwrap();
    }
    count
}

/// Returns id and document of each run of a store of any version, in order of storing.
///
/// Reads the file as it is; no code of the store takes part.
#[must_use]
pub fn stored_documents(path: &Path) -> Vec<(String, Vec<u8>)> {
    let connection = Connection::open(path).unwrap();
    // Text up to version 4.
    let sql = "SELECT id, CAST(document AS BLOB) FROM records ORDER BY sequence";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.unwrap().map(Result::unwrap).collect()
}
