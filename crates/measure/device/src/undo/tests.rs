use std::os::unix::fs::FileExt;

use cardmark_integrity::{BLOCK_BYTES, Span, UndoLog};

use super::*;

const SEED: u64 = 7;
/// Blocks of the pieces that are kept: three commits, the second with two pieces.
const KEPT: [(u64, u64); 4] = [(8, 2), (0, 1), (64, 4), (20, 3)];

fn piece(start: u64, count: u64) -> BlocksPiece {
    BlocksPiece {
        span: Span::new(start, count),
        bytes: vec![u8::try_from(start).unwrap(); usize::try_from(count).unwrap() * BLOCK_BYTES],
    }
}

fn all_pieces() -> Vec<BlocksPiece> {
    KEPT.iter()
        .map(|&(start, count)| piece(start, count))
        .collect()
}

/// A folder with a log of an interrupted session, and the log's path.
fn interrupted() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("card.undo");
    let mut log = FileLog::create(&path, SEED).unwrap();
    log.plan(&[Span::new(0, 16), Span::new(64, 4)]).unwrap();
    let mut pieces = all_pieces().into_iter();
    for count in [1, 2, 1] {
        let group: Vec<BlocksPiece> = pieces.by_ref().take(count).collect();
        let spans: Vec<Span> = group.iter().map(Piece::span).collect();
        for piece in group {
            log.keep(piece).unwrap();
        }
        log.settle(&spans).unwrap();
    }
    (folder, path)
}

/// The pieces that the log can still read, and whether it is damaged.
fn opened(path: &Path) -> (Vec<BlocksPiece>, bool) {
    let mut log = FileLog::open(path).unwrap().unwrap();
    assert_eq!(log.seed(), SEED);
    let pieces = (0..log.spans().len()).map(|number| log.piece(number).unwrap());
    (pieces.collect(), log.is_damaged())
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

/// Returns the start of each record, and the end.
fn boundaries(path: &Path) -> Vec<usize> {
    let scan = Scan::of(&File::open(path).unwrap()).unwrap();
    let starts = scan
        .records
        .iter()
        .map(|found| usize::try_from(found.at).unwrap());
    starts.chain([fs::read(path).unwrap().len()]).collect()
}

#[test]
fn an_undamaged_log_has_all_pieces_when_it_is_opened_again() {
    let (folder, path) = interrupted();
    assert_eq!(opened(&path), (all_pieces(), false));
    let mut log = FileLog::open(&path).unwrap().unwrap();
    let possible = [Span::new(0, 16), Span::new(20, 3), Span::new(64, 4)];
    assert_eq!(log.possible(), possible);
    let taken = FileLog::create(&path, 8).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
    log.clear().unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert!(FileLog::open(&path).unwrap().is_none());
}

#[test]
fn a_log_without_pieces_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("card.undo");
    let log = FileLog::create(&path, SEED).unwrap();
    assert!(log.is_empty());
    log.remove_if_empty().unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn removal_that_was_interrupted_is_completed() {
    let (folder, path) = interrupted();
    let map = fs::read(map_path(&path)).unwrap();
    FileLog::open(&path).unwrap().unwrap().clear().unwrap();
    // Only the log was removed.
    fs::write(map_path(&path), map).unwrap();
    let mut left = Scan::of(&open_file(&map_path(&path)).unwrap().unwrap()).unwrap();
    let mut appended = Appended {
        file: open_file(&map_path(&path)).unwrap().unwrap(),
        next_number: left.records.pop().unwrap().head.number + 1,
        end_bytes: left.end_bytes,
    };
    appended
        .append(Kind::Restored, SEED, Span::new(0, 0), &[])
        .unwrap();
    assert!(FileLog::open(&path).unwrap().is_none());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_torn_tail_is_no_damage() {
    let (_folder, path) = interrupted();
    let mut log = FileLog::open(&path).unwrap().unwrap();
    let end = usize::try_from(log.log.as_ref().unwrap().end_bytes).unwrap();
    // A piece and a commit that no write to the storage followed.
    log.keep(piece(200, 2)).unwrap();
    let spans = [Span::new(200, 2)];
    log.settle(&spans).unwrap();
    drop(log);
    let whole = fs::read(&path).unwrap();
    let map = map_path(&path);
    change(&map, |bytes| bytes.truncate(bytes.len() - 1024));
    for length in (end..whole.len()).step_by(97) {
        change(&path, |bytes| {
            bytes.clone_from(&whole);
            bytes.truncate(length);
        });
        let (pieces, is_damaged) = opened(&path);
        assert_eq!(pieces[..4], all_pieces(), "{length}");
        assert!(!is_damaged, "{length}");
    }
    // The map is behind by a torn record.
    change(&path, |bytes| bytes.clone_from(&whole));
    change(&map, |bytes| bytes.extend([1; 100]));
    assert_eq!(opened(&path).0.len(), 5);
    assert!(!opened(&path).1);
}

#[test]
fn a_changed_bit_in_any_part_is_damage_and_costs_one_piece_at_most() {
    let (_folder, path) = interrupted();
    let whole = fs::read(&path).unwrap();
    for byte in (0..whole.len()).step_by(61) {
        change(&path, |bytes| {
            bytes.clone_from(&whole);
            bytes[byte] ^= 4;
        });
        let (pieces, is_damaged) = opened(&path);
        assert!(is_damaged, "{byte}");
        assert!(pieces.len() >= 3, "{byte}");
        assert!(pieces.iter().all(|piece| all_pieces().contains(piece)));
    }
}

#[test]
fn a_damaged_map_is_noticed_unless_it_is_only_behind() {
    let (_folder, path) = interrupted();
    let map = map_path(&path);
    let whole = fs::read(&map).unwrap();
    let ends = boundaries(&map);
    for byte in (0..whole.len()).step_by(61) {
        change(&map, |bytes| {
            bytes.clone_from(&whole);
            bytes[byte] ^= 4;
        });
        let is_in_last = byte >= ends[ends.len() - 2];
        assert_eq!(opened(&path), (all_pieces(), !is_in_last), "{byte}");
    }
    fs::remove_file(&map).unwrap();
    assert_eq!(opened(&path), (all_pieces(), true));
}

#[test]
fn a_log_that_is_cut_anywhere_is_damaged() {
    let (_folder, path) = interrupted();
    let whole = fs::read(&path).unwrap();
    let ends = boundaries(&path);
    let lengths = (0..whole.len())
        .step_by(83)
        .chain(ends[..ends.len() - 1].iter().copied());
    for length in lengths {
        change(&path, |bytes| {
            bytes.clone_from(&whole);
            bytes.truncate(length);
        });
        let (pieces, is_damaged) = opened(&path);
        assert!(is_damaged, "{length}");
        assert_eq!(pieces, all_pieces()[..pieces.len()], "{length}");
        let log = FileLog::open(&path).unwrap().unwrap();
        assert_eq!(log.possible().len(), 3, "the map names all blocks");
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(opened(&path), (Vec::new(), true));
}

#[test]
fn records_that_are_missing_moved_or_shifted_are_damage() {
    let (_folder, path) = interrupted();
    let whole = fs::read(&path).unwrap();
    let ends = boundaries(&path);
    // Without its third record, the first commit.
    let without = [&whole[..ends[2]], &whole[ends[3]..]].concat();
    // The first two pieces in the place of each other.
    let swapped = [
        &whole[..ends[1]],
        &whole[ends[3]..ends[4]],
        &whole[ends[2]..ends[3]],
        &whole[ends[1]..ends[2]],
        &whole[ends[4]..],
    ];
    let twice = [&whole[..ends[2]], &whole[ends[1]..]].concat();
    // Some bytes more or less within the first piece.
    let longer = [&whole[..ends[1] + 700], &[9; 100], &whole[ends[1] + 700..]].concat();
    let shorter = [&whole[..ends[1] + 700], &whole[ends[1] + 800..]].concat();
    for (bytes, left) in [
        (without, 0..4),
        (swapped.concat(), 0..4),
        (twice, 0..4),
        (longer, 1..4),
        (shorter, 1..4),
    ] {
        fs::write(&path, bytes).unwrap();
        assert_eq!(opened(&path), (all_pieces()[left].to_vec(), true));
    }
}

#[test]
fn a_length_that_is_wrong_hides_no_other_piece() {
    let (_folder, path) = interrupted();
    let whole = fs::read(&path).unwrap();
    let first_piece = boundaries(&path)[1];
    for field in [5, 6] {
        for length in [0, 1, 512, 1 << 40, 1 << 63, u64::MAX] {
            change(&path, |bytes| {
                bytes.clone_from(&whole);
                bytes[first_piece + field * 8..][..8].copy_from_slice(&u64::to_le_bytes(length));
            });
            assert_eq!(opened(&path), (all_pieces()[1..].to_vec(), true));
        }
    }
}

#[test]
fn files_without_a_readable_record_are_no_log() {
    let (_folder, path) = interrupted();
    for bytes in [vec![], vec![0; 5000]] {
        fs::write(&path, &bytes).unwrap();
        fs::write(map_path(&path), &bytes).unwrap();
        FileLog::open(&path).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), bytes, "it is kept");
    }
}

#[test]
fn a_damaged_log_is_set_aside_under_a_free_name() {
    let (folder, path) = interrupted();
    fs::write(with_suffix(&path, "-damaged-1"), "other").unwrap();
    let log = FileLog::open(&path).unwrap().unwrap();
    let aside = log.set_aside().unwrap();
    assert_eq!(aside, with_suffix(&path, "-damaged-2"));
    assert!(FileLog::open(&path).unwrap().is_none());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn a_log_without_its_card_is_set_aside_found_again_and_brought_back() {
    let (folder, path) = interrupted();
    assert!(FileLog::missing_at(&path).unwrap().is_empty());
    let at = |name: &str| folder.path().join(name);
    let (first, second) = (at("card-missing-1.undo"), at("card-missing-2.undo"));
    let log = FileLog::open(&path).unwrap().unwrap();
    assert_eq!(log.set_aside_as_missing().unwrap(), first);
    drop(log);
    assert!(FileLog::open(&path).unwrap().is_none());
    // Another session with only its map left; and files of other cards.
    let log = FileLog::create(&path, SEED + 1).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(log.set_aside_as_missing().unwrap(), map_path(&second));
    for other in [
        "card2-missing-3.undo",
        "card-missing-x.undo",
        "card-missing-4.undo-damaged-1",
    ] {
        fs::write(at(other), "other").unwrap();
    }
    assert_eq!(FileLog::missing_at(&path).unwrap(), [second, first.clone()]);
    let mut log = FileLog::open(&first).unwrap().unwrap();
    log.bring_back(&path).unwrap();
    drop(log);
    assert_eq!(opened(&path), (all_pieces(), false));
    // Either renaming, interrupted after the log.
    for (log, map) in [(&first, &path), (&path, &first)] {
        let whole = FileLog::open(&path).unwrap().unwrap();
        drop(whole);
        fs::rename(&path, with_suffix(&path, "-kept")).unwrap();
        fs::rename(map_path(&path), with_suffix(&path, "-kept-map")).unwrap();
        fs::rename(with_suffix(&path, "-kept"), log).unwrap();
        fs::rename(with_suffix(&path, "-kept-map"), map_path(map)).unwrap();
        let is_here = FileLog::open(&path).unwrap().is_some();
        assert_eq!(is_here, log == &path);
        assert_eq!(opened(log), (all_pieces(), false));
        if !is_here {
            let mut log = FileLog::open(log).unwrap().unwrap();
            log.bring_back(&path).unwrap();
        }
    }
    // Neither takes the place of the other.
    let mut log = FileLog::open(&path).unwrap().unwrap();
    assert_eq!(
        log.set_aside_as_missing().unwrap(),
        at("card-missing-3.undo")
    );
    FileLog::create(&path, SEED + 2).unwrap();
    let refused = log.bring_back(&path).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
}

#[test]
fn pieces_that_change_while_the_log_is_open_are_not_given_out() {
    let (_folder, path) = interrupted();
    let mut log = FileLog::open(&path).unwrap().unwrap();
    let at = boundaries(&path)[1] as u64 + 600;
    open_file(&path)
        .unwrap()
        .unwrap()
        .write_all_at(&[99], at)
        .unwrap();
    assert_eq!(log.piece(0), Err(MISSING));
    assert_eq!(log.piece(1), Ok(piece(0, 1)));
}

/// The map gets its name before the log. More than its head, even if nothing of it can be read, is damage.
#[test]
fn a_map_with_nothing_but_its_head_is_no_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    FileLog::create(&path, 7).unwrap();
    fs::remove_file(&path).unwrap();
    let map = map_path(&path);
    let head = fs::read(&map).unwrap();
    assert_eq!(head.len(), UNIT_BYTES);
    assert!(FileLog::open(&path).unwrap().is_none() && !map.exists());
    fs::write(&map, [head, vec![0; UNIT_BYTES]].concat()).unwrap();
    assert!(FileLog::open(&path).unwrap().unwrap().is_damaged());
}

#[test]
fn a_log_in_use_is_not_shared() {
    let is_refused = |path: &Path| {
        let opened = FileLog::open(path).map(|log| log.is_some());
        opened.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    };
    let (_folder, path) = interrupted();
    // Opened again after an interruption, by its map or by what is left of it.
    for missing in [None, Some(map_path(&path))] {
        let kept = missing.as_ref().map(|file| fs::read(file).unwrap());
        if let Some(file) = &missing {
            fs::remove_file(file).unwrap();
        }
        let log = FileLog::open(&path).unwrap().unwrap();
        assert!(is_refused(&path));
        drop(log);
        assert!(FileLog::open(&path).unwrap().is_some());
        if let (Some(file), Some(bytes)) = (missing, kept) {
            fs::write(file, bytes).unwrap();
        }
    }
    assert_eq!(opened(&path), (all_pieces(), false), "nothing was changed");
    // New.
    let (_folder, path) = interrupted();
    remove(&path).unwrap();
    let mut log = FileLog::create(&path, SEED).unwrap();
    assert!(is_refused(&path));
    // Removed while another session begins: its files stay.
    log.clear().unwrap();
    let other = FileLog::create(&path, SEED + 1).unwrap();
    log.remove_if_empty().unwrap();
    drop(other);
    assert_eq!(fs::read(&path).unwrap().len(), UNIT_BYTES);
}
