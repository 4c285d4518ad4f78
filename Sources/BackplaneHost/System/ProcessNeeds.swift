public import Backplane
import Glibc

/// The open files and threads that a program with a host and engines needs, for a check at its start.
///
/// If the system refuses an open file or a thread later, the host reports an error. Foundation and the engines'
/// packages terminate the process instead if none are available for event loops, transfers and child processes. A
/// program that uses them therefore calls ``require()`` first in its `main`, as the command `backplane` does:
///
/// ```swift
/// try ProcessNeeds.require()
/// let host = PluginHost(manifest: ManifestDocument(contentsOf: "backplane.json"))
/// ```
public enum ProcessNeeds {
    /// The number of additional files that can be open at the same time.
    static let files = 20
    /// The number of additional threads that can run at the same time: those of the host, of the engines, and of
    /// Swift's pool, which has one for each processor.
    static let threads = 12 + 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN))

    /// Checks that this process can open 20 files and create 12 threads plus 2 for each processor, and releases them
    /// again.
    ///
    /// - Throws: `host.exhausted`, which names the limit to raise.
    public static func require() throws(BackplaneError) { try require(files: files, threads: threads) }

    static func require(files: Int, threads: Int) throws(BackplaneError) {
        let opened = openFiles(files)
        guard opened == files else {
            throw BackplaneError(
                .hostExhausted,
                "this process can open only \(opened) more files, but needs \(files); raise the limit (`ulimit -n`)"
            )
        }
        let started = startThreads(threads)
        guard started == threads else {
            throw BackplaneError(
                .hostExhausted,
                "this process can create only \(started) more threads, but needs \(threads); raise the limits on processes and memory (`ulimit -u`, `ulimit -v`, the container's pids)"
            )
        }
    }

    /// Opens files and closes them again; returns the number that could be opened.
    private static func openFiles(_ count: Int) -> Int {
        var numbers: [Int32] = []
        while numbers.count < count, case let number = open("/dev/null", O_RDONLY | O_CLOEXEC), number >= 0 {
            numbers.append(number)
        }
        for number in numbers { close(number) }
        return numbers.count
    }

    /// Starts threads that run at the same time, and waits until they have ended; returns the number that started.
    private static func startThreads(_ count: Int) -> Int {
        let mayEnd = Monitor(false)
        var threads: [pthread_t] = []
        while threads.count < count {
            var thread = pthread_t()
            let context = Unmanaged.passRetained(mayEnd)
            let status = pthread_create(
                &thread, nil,
                { context in
                    let mayEnd = Unmanaged<Monitor<Bool>>.fromOpaque(context!).takeRetainedValue()
                    mayEnd.wait { $0 ? .done(()) : .until(nil) }
                    return nil
                }, context.toOpaque())
            guard status == 0 else {
                context.release()
                break
            }
            threads.append(thread)
        }
        mayEnd.withLock { $0 = true }
        for thread in threads { pthread_join(thread, nil) }
        return threads.count
    }
}

/// The environment variables of this process.
package enum ProcessEnvironment {
    /// Returns the value of `name`; `nil` if it is not set or is empty, which has the same meaning.
    package static func value(_ name: String) -> String? {
        text(name).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the unmodified value of `name`; `nil` only if it is not set.
    package static func text(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}

extension LeaseCounting {
    /// The best method that this system supports, determined once per process because the kernel has one registration
    /// for it.
    static let best: LeaseCounting = isWatchedForRaces || !systemCanRestart() ? .atomic : .restartable

    /// Whether ThreadSanitizer is active.
    ///
    /// It does not support restartable sequences, and reports them as races.
    private static var isWatchedForRaces: Bool { dlsym(nil, "__tsan_init") != nil }
}
