//! The secret of the store as a file, for the day on which its card dies.

use std::io::Read;
use std::path::Path;

use cardmark_session::file::Destination;
use cardmark_session::{Data, file, store_error};
use cardmark_share::{from_hexadecimal, to_hexadecimal, token_hash};
use cardmark_store::{SECRET_BYTES, SecretReplaced, SecretState};

use super::parcel::counted;
use crate::error::{CommandError, Exit};
use crate::terminal::print;

/// First word of the line with the secret.
const MARK: &str = "cardmark-secret-1";
/// Explanation at the top of the file.
const HEADING: &str = "\
# Secret of a cardmark store. Keep it private, and away from the card that holds the store.
# Whoever has it can amend and withdraw the runs that this store sent to results sites.
# To restore it: cardmark submit --import-secret FILE
";
/// Bytes of the hash at the end of the line, which detects mistakes.
const CHECK_BYTES: usize = 4;
/// Maximum size of the file, bytes.
const MOST_BYTES: u64 = 4 << 10;

type Secret = [u8; SECRET_BYTES];

/// Writes the secret to a file that only its owner can read.
pub(super) fn export(to: &Destination) -> Result<Exit, CommandError> {
    let mut store = Data::from_environment()?.open()?;
    let secret = store.secret().map_err(|error| store_error(&error))?;
    let text = written(&secret);
    let Destination::File(place) = to else {
        print::to(to, text.as_bytes())?;
        return Ok(Exit::Done);
    };
    place.write_new_private(text.as_bytes())?;
    print::notice(&format!(
        "Wrote the secret to `{}`. Keep it private, and on another device.",
        place.named().display()
    ));
    Ok(Exit::Done)
}

/// Restores a secret.
pub(super) fn import(path: &Path, is_forced: bool) -> Result<Exit, CommandError> {
    let refuse = |exit, cause: String| {
        let what = format!("Cannot import a secret from `{}`", path.display());
        CommandError::new(exit, what).because(cause)
    };
    let bytes = read(path).map_err(|error| refuse(Exit::Trouble, error.to_string()))?;
    let text = String::from_utf8_lossy(&bytes);
    let secret = parsed(&text).map_err(|why| refuse(Exit::Usage, why.to_owned()))?;
    let mut store = Data::from_environment()?.open()?;
    let replaced = store.replace_secret(&secret, is_forced);
    match replaced.map_err(|error| store_error(&error))? {
        SecretReplaced::Same => print::notice("The store has this secret already."),
        SecretReplaced::Replaced => print::notice(
            "Imported the secret. `cardmark submit --status RUN`, --amend and --withdraw work for the runs sent with it; \
             give the whole id of a run that is not in this store.",
        ),
        SecretReplaced::Refused(state) => return Err(in_use(state)),
    }
    Ok(Exit::Done)
}

fn in_use(state: SecretState) -> CommandError {
    let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let submissions = counted(count(state.submissions_count), "submission");
    let preparations = counted(count(state.preparations_count), "preparation");
    CommandError::new(Exit::Usage, "The secret of this store is in use")
        .because(format!(
            "{submissions} and {preparations} of cards depend on it and would be lost"
        ))
        .hint("`cardmark submit --export-secret FILE` keeps it; then `--force` replaces it")
}

fn read(path: &Path) -> Result<Vec<u8>, std::io::Error> {
    if path != Path::new("-") {
        return file::read(path, MOST_BYTES);
    }
    let mut bytes = Vec::new();
    std::io::stdin().take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn written(secret: &Secret) -> String {
    let digits = to_hexadecimal(secret);
    format!("{HEADING}{MARK} {digits} {}\n", check(secret))
}

fn check(secret: &Secret) -> String {
    to_hexadecimal(&token_hash(secret)[..CHECK_BYTES])
}

fn parsed(text: &str) -> Result<Secret, &'static str> {
    let mut lines = text.lines().map(str::split_whitespace);
    let words = lines.find_map(|mut words| (words.next() == Some(MARK)).then_some(words));
    let words: Vec<&str> = words.ok_or("it is not an exported secret")?.collect();
    let [digits, given] = words[..] else {
        return Err("its line is not complete");
    };
    let secret: Secret = from_hexadecimal(digits).ok_or("its line is not complete")?;
    match check(&secret) == given {
        true => Ok(secret),
        false => Err("a digit of it is wrong"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_secret_is_read_again_and_a_changed_one_refused() {
        let secret = [7; SECRET_BYTES];
        let text = written(&secret);
        assert_eq!(parsed(&text), Ok(secret));
        assert_eq!(parsed(&text.replace('\n', "\r\n")), Ok(secret));
        for (text, why) in [
            (String::new(), "it is not an exported secret"),
            (text.replace("0707", "0708"), "a digit of it is wrong"),
            (text.replacen("07", "", 1), "its line is not complete"),
            (text.replacen("07", "zz", 1), "its line is not complete"),
            (
                text[..HEADING.len() + 40].to_owned(),
                "its line is not complete",
            ),
        ] {
            assert_eq!(parsed(&text), Err(why), "{text}");
        }
    }
}
