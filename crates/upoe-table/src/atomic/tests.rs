use super::*;

/// Both ways of writing, of which a file system may have one only.
fn each_way(test: impl Fn(&Path, &dyn Fn(&Path) -> AtomicFile)) {
    for unnamed in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        test(folder.path(), &|path| AtomicFile::create_as(path, unnamed).unwrap());
    }
}

fn files(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn the_old_file_stays_until_the_new_one_is_whole() {
    each_way(|folder, create| {
        let path = folder.join("out.csv");
        fs::write(&path, "old").unwrap();
        let mut file = create(&path);
        file.write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(files(folder), 1);

        let mut file = create(&path);
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(files(folder), 1);

        let mut file = create(&folder.join("other.csv"));
        file.write_all(b"other").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read(folder.join("other.csv")).unwrap(), b"other");
        assert_eq!(files(folder), 2);
    });
}

#[cfg(unix)]
#[test]
fn a_link_and_permissions_survive() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    each_way(|folder, create| {
        let (target, link) = (folder.join("target"), folder.join("link"));
        fs::write(&target, "old").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&target, &link).unwrap();
        let mut file = create(&link);
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    });
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_followed() {
    use std::os::unix::fs::symlink;
    each_way(|folder, create| {
        fs::create_dir(folder.join("data")).unwrap();
        symlink("data/out.csv", folder.join("second")).unwrap();
        symlink("second", folder.join("first")).unwrap();
        let mut file = create(&folder.join("first"));
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        for link in ["first", "second"] {
            assert!(fs::symlink_metadata(folder.join(link)).unwrap().is_symlink(), "{link}");
        }
        assert_eq!(fs::read(folder.join("data/out.csv")).unwrap(), b"new");
    });
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    symlink("missing/out.csv", &link).unwrap();
    let error = AtomicFile::create(&link).err().unwrap();
    assert!(matches!(error, FileError::NoDirectory { .. }), "{error}");
    assert!(error.to_string().contains("missing does not exist"), "{error}");
    let circle = folder.path().join("circle");
    symlink("circle", &circle).unwrap();
    let error = AtomicFile::create(&circle).err().unwrap();
    assert!(error.to_string().contains("circle"), "{error}");
}

#[test]
fn no_directory_and_a_directory_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    for unnamed in [true, false] {
        let error = AtomicFile::create_as(&folder.path().join("no/out.csv"), unnamed).err();
        assert!(matches!(error, Some(FileError::NoDirectory { .. })), "{error:?}");
        let error = AtomicFile::create_as(folder.path(), unnamed).err();
        assert!(matches!(error, Some(FileError::IsDirectory { .. })), "{error:?}");
    }
}

/// Linux keeps no file that has no name once nothing has it open.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_seen_before_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = AtomicFile::create(&folder.path().join("out.csv")).unwrap();
    file.write_all(b"half").unwrap();
    if matches!(file.state, State::Unnamed) {
        assert_eq!(files(folder.path()), 0);
    }
}
