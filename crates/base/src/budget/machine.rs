//! How much memory the operating system lets this process use, and how much the process uses now.
//!
//! All numbers come from files under `/proc` and `/sys/fs/cgroup`, which only Linux has. On other
//! systems the functions return `None`, and memory is not bounded by what the machine has.

use std::fs;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A limit of a control group from this number of bytes on means no limit: version 1 of control
/// groups reports a number close to 2^63 for it.
const CGROUP_UNLIMITED: u64 = 1 << 60;

/// Returns the bytes of memory that this process may use: the least of what the machine has, what
/// its control groups allow, and the limits of the process on its address space and its data
/// segment. Mappings that are not anonymous memory (code, snapshot files) count against the limit
/// on the address space, so they are subtracted from it. Half of the rest counts, since an
/// allocator reserves more addresses than it has pages: under a mix of large requests 4 GiB of
/// addresses were measured at the peak of 1.8 GiB of memory. `None` when the system reports none of
/// these.
pub(crate) fn memory_limit() -> Option<u64> {
    let machine = kilobytes(&read("/proc/meminfo"), "MemTotal:");
    let limits = read("/proc/self/limits");
    let status = read("/proc/self/status");
    let (size, anonymous) = (kilobytes(&status, "VmSize:"), anonymous_in(&status));
    let mapped = size.unwrap_or(0).saturating_sub(anonymous.unwrap_or(0));
    let space = soft_limit(&limits, "Max address space");
    let result = [
        machine,
        cgroup_limit(Path::new("/sys/fs/cgroup"), &read("/proc/self/cgroup")),
        space.map(|bytes| bytes.saturating_sub(mapped) / 2),
        soft_limit(&limits, "Max data size"),
    ];
    result.into_iter().flatten().min()
}

/// Returns the bytes of anonymous memory that are resident now: heaps and stacks, but not files
/// that are mapped. A call takes about 20 µs, since the kernel generates the file that is read.
pub fn anonymous_memory() -> Option<u64> {
    // The file has about 1.5 KB; reading it into an array makes the call free of allocation.
    let mut text = [0; 4096];
    let count = File::open("/proc/self/status").ok()?.read(&mut text).ok()?;
    anonymous_in(&String::from_utf8_lossy(&text[..count]))
}

fn anonymous_in(status: &str) -> Option<u64> {
    kilobytes(status, "RssAnon:")
}

/// Returns the text of a file, or an empty text when it can't be read.
fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Returns the number of a line such as `MemTotal:  24689764 kB` in bytes; `name` is the start of
/// the line.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.split_whitespace().next()?.parse().ok()?;
    // The kernel writes `kB` and means 1,024 bytes.
    number.checked_mul(1024)
}

/// Returns the soft limit (the first number) of a line such as `Max data size   unlimited
/// unlimited   bytes`.
fn soft_limit(limits: &str, name: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Returns the least memory limit of the control groups of a process and of the groups around them,
/// in bytes. `groups` is the text of `/proc/self/cgroup`, whose lines are
/// `number:controllers:path`; `root` is the folder that the paths are in.
fn cgroup_limit(root: &Path, groups: &str) -> Option<u64> {
    let limits = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let path = path.trim_start_matches('/');
        match controllers {
            // Version 2 of control groups has one tree for all controllers, and names none.
            "" => least_limit(root, path, "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                least_limit(&root.join("memory"), path, "memory.limit_in_bytes")
            }
            _ => None,
        }
    });
    limits.min()
}

/// Returns the least number in the files called `name` in the folder `path` and in those above it,
/// up to `top`.
fn least_limit(top: &Path, path: &str, name: &str) -> Option<u64> {
    let number = |folder: PathBuf| read(folder.join(name)).trim().parse::<u64>().ok();
    // Inside a container the path may be that of the host, while the folders are those of the
    // container. Then the files of the lower folders are missing, and the limit is read from `top`.
    let folders = Path::new(path).ancestors().map(|folder| top.join(folder));
    folders.filter_map(number).filter(|bytes| *bytes < CGROUP_UNLIMITED).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_from_what_the_system_writes() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max data size             unlimited            unlimited            bytes     \n\
                      Max address space         2147483648           unlimited            bytes     \n";
        assert_eq!(soft_limit(limits, "Max address space"), Some(2 << 30));
        assert_eq!(soft_limit(limits, "Max data size"), None);
        assert_eq!(
            kilobytes("A: 1 kB\nMemTotal:       24689764 kB\n", "MemTotal:"),
            Some(24689764 << 10)
        );
    }

    #[test]
    fn the_least_of_all_control_groups_counts() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("a/memory.max", "3000000\n");
        write("a/b/memory.max", "max\n");
        write("memory/c/memory.limit_in_bytes", "2000000\n");
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        let limit = |groups: &str| cgroup_limit(folder.path(), groups);
        assert_eq!(limit("0::/a/b\n"), Some(3_000_000));
        assert_eq!(limit("1:name=systemd:/x\n4:cpu,memory:/c\n0::/a/b\n"), Some(2_000_000));
        assert_eq!(limit("4:memory:/other\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_reports_its_memory() {
        assert!(memory_limit().is_some_and(|bytes| 64 << 20 < bytes));
        let before = anonymous_memory().unwrap();
        let retained = std::hint::black_box(vec![1_u8; 64 << 20]);
        assert!(before + (48 << 20) < anonymous_memory().unwrap());
        drop(retained);
    }
}
