package import Backplane
import BackplaneHost
import Glibc

/// The open files and threads that this program needs, asked for before it begins.
///
/// The host makes an error of each that the system does not give later. The engines' packages and Foundation end the
/// process instead, where they get none for their event loops and for child processes.
package enum ProcessNeeds {
    /// The number of files that can be open in addition to those that are.
    static let files = 20
    /// The number of threads that can run in addition to those that do: the host's, those of the engines, and those of
    /// Swift's pool, which has one for each processor.
    static let threads = 12 + 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN))

    /// Checks that the system gives this process what it needs, which it gets back.
    ///
    /// - Throws: `host.exhausted`.
    package static func require(files: Int = files, threads: Int = threads) throws(BackplaneError) {
        let opened = openFiles(files)
        guard opened == files else {
            throw BackplaneError(
                .hostExhausted,
                "the system gives this process \(opened) more open files, and it needs \(files); raise the limit (`ulimit -n`)"
            )
        }
        let started = startThreads(threads)
        guard started == threads else {
            throw BackplaneError(
                .hostExhausted,
                "the system gives this process \(started) more threads, and it needs \(threads); raise the limits of processes and of memory (`ulimit -u`, `ulimit -v`, the container's pids)"
            )
        }
    }

    /// Opens files and closes them again; returns how many there were.
    private static func openFiles(_ count: Int) -> Int {
        var numbers: [Int32] = []
        while numbers.count < count, case let number = open("/dev/null", O_RDONLY | O_CLOEXEC), number >= 0 {
            numbers.append(number)
        }
        for number in numbers { close(number) }
        return numbers.count
    }

    /// Starts threads that run at the same time, and waits until they have ended; returns how many there were.
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
