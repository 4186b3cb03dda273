//! Archives, checksums, signatures: the same bytes for the same content.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::target::Target;
use super::tools::run;
use crate::project::Error;

/// Files of the project in every archive.
const TEXTS: [&str; 4] = ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "CHANGELOG.md"];

const SUMS: &str = "SHA256SUMS";
const SIGNATURE: &str = "SHA256SUMS.minisig";

/// Fills the folder of an archive with the program, texts, man pages and completions.
pub(super) fn collect(
    root: &Path,
    target: &Target,
    program: &Path,
    folder: &Path,
) -> Result<(), Error> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    fs::copy(program, folder.join("cardmark"))?;
    for name in TEXTS {
        fs::copy(root.join(name), folder.join(name))?;
    }
    let text = folder.to_str().ok_or("folder name is not UTF-8")?;
    target.run(program, &["generate", text]).map(drop)
}

/// Packs the folder `name` below `out`, then removes it.
pub(super) fn archive(
    out: &Path,
    name: &str,
    time: u64,
    target: &Target,
) -> Result<PathBuf, Error> {
    let archive = out.join(format!("{name}.tar.xz"));
    let mut tar = Command::new("tar");
    tar.current_dir(out)
        .args(["--create", "--format=ustar", "--sort=name"])
        .args(["--owner=root:0", "--group=root:0", "--mode=u=rwX,go=rX"])
        .arg(format!("--mtime=@{time}"))
        // One thread: with more, the blocks depend on their number.
        .arg(format!(
            "--use-compress-program=xz -T1 {}",
            target.xz_filters
        ))
        .arg("--file")
        .arg(&archive)
        .arg(name);
    run(&mut tar)?;
    fs::remove_dir_all(out.join(name))?;
    Ok(archive)
}

/// Removes the checksums of an earlier build and their signature.
pub(super) fn forget(out: &Path) -> Result<(), Error> {
    for name in [SUMS, SIGNATURE] {
        match fs::remove_file(out.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

/// Writes `SHA256SUMS` of these files in the folder, by name. Other files may be of an earlier build.
pub(super) fn sums(out: &Path, names: &[String]) -> Result<PathBuf, Error> {
    let mut names = names.to_vec();
    names.sort();
    let mut sha256sum = Command::new("sha256sum");
    sha256sum.current_dir(out).arg("--").args(names);
    let path = out.join(SUMS);
    fs::write(&path, run(&mut sha256sum)?)?;
    Ok(path)
}

/// Returns `SHA256SUMS` of the folder.
///
/// # Errors
/// If there is none, or a file in it is missing or has changed.
pub(super) fn checked_sums(out: &Path) -> Result<PathBuf, Error> {
    let mut sha256sum = Command::new("sha256sum");
    run(sha256sum
        .current_dir(out)
        .args(["--quiet", "--check", "--strict", SUMS]))?;
    Ok(out.join(SUMS))
}

/// Signs a file with minisign, in the format that is Ed25519 over the file itself, so that OpenSSL can check it too.
pub(super) fn sign(file: &Path, key: &Path) -> Result<(), Error> {
    let status = Command::new("minisign")
        .args(["-S", "-l", "-t", "checksums of cardmark", "-s"])
        .arg(key)
        .arg("-m")
        .arg(file)
        .status()
        .map_err(|error| format!("minisign: {error}"))?;
    if !status.success() {
        return Err(format!("minisign ended with {status}").into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::target::TARGETS;

    #[test]
    fn an_archive_depends_on_content_only() {
        let mut sums = Vec::new();
        for (order, mode) in [(["a", "b"], 0o600), (["b", "a"], 0o664)] {
            let folder = tempfile::tempdir().unwrap();
            let content = folder.path().join("name");
            fs::create_dir(&content).unwrap();
            for name in order {
                fs::write(content.join(name), name).unwrap();
                let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
                fs::set_permissions(content.join(name), mode).unwrap();
            }
            archive(folder.path(), "name", 1_767_225_600, &TARGETS[0]).unwrap();
            let names = ["name.tar.xz".to_owned()];
            sums.push(fs::read_to_string(super::sums(folder.path(), &names).unwrap()).unwrap());
        }
        assert_eq!(sums[0], sums[1]);
        assert!(sums[0].ends_with("  name.tar.xz\n"), "{}", sums[0]);
        assert_eq!(sums[0].lines().count(), 1);
    }

    #[test]
    fn checksums_are_of_the_last_build_and_its_unchanged_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        for name in ["old.tar.xz", "a.tar.xz", "b.json", SUMS, SIGNATURE] {
            fs::write(file(name), name).unwrap();
        }
        forget(folder.path()).unwrap();
        assert!(!file(SIGNATURE).exists() && !file(SUMS).exists());
        forget(folder.path()).unwrap();
        assert!(checked_sums(folder.path()).is_err());
        sums(folder.path(), &["b.json".into(), "a.tar.xz".into()]).unwrap();
        let text = fs::read_to_string(checked_sums(folder.path()).unwrap()).unwrap();
        let names: Vec<&str> = text.lines().map(|line| &line[66..]).collect();
        assert_eq!(names, ["a.tar.xz", "b.json"]);
        fs::write(file("b.json"), "changed").unwrap();
        let error = checked_sums(folder.path()).unwrap_err().to_string();
        assert!(error.contains("did NOT match"), "{error}");
    }

    /// OpenSSL is the judge: the bytes after the algorithm and the key's number are the signature of the file itself.
    #[test]
    fn openssl_accepts_a_signature_of_minisign() {
        if run(Command::new("minisign").arg("-v")).is_err() {
            println!("skip: needs minisign");
            assert!(std::env::var_os("CARDMARK_REQUIRE").is_none());
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let script = r#"
            minisign -G -W -p key.pub -s key >/dev/null
            printf "\\x30\\x2a\\x30\\x05\\x06\\x03\\x2b\\x65\\x70\\x03\\x21\\x00" >key.der
            sed -n 2p key.pub | base64 -d | tail -c 32 >>key.der
        "#;
        let shell = |script: &str| {
            let mut command = Command::new("bash");
            command.args(["-euo", "pipefail", "-c", script]);
            run(command.current_dir(folder.path()))
        };
        shell(script).unwrap();
        let file = folder.path().join(SUMS);
        fs::write(&file, "abc  name.tar.xz\n").unwrap();
        sign(&file, &folder.path().join("key")).unwrap();
        shell("sed -n 2p SHA256SUMS.minisig | base64 -d | tail -c 64 >sig").unwrap();
        let verify = "openssl pkeyutl -verify -pubin -inkey key.der -keyform DER \
            -rawin -in SHA256SUMS -sigfile sig";
        assert!(shell(verify).is_ok());
        fs::write(&file, "abd  name.tar.xz\n").unwrap();
        assert!(shell(verify).is_err());
    }
}
