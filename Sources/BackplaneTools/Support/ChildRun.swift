package import Backplane
import BackplaneHost
import CBackplaneHost
package import Foundation
import Glibc
import Synchronization

/// The result of running this program once more, as a child that may crash or hang.
///
/// The child is killed if it produces no output for longer than its limit. The output is complete when it ends with a
/// zero byte; the exit status of the child is then ignored. Processes that the child leaves behind are killed with it,
/// and the child ends with this process (``ChildLifetime``).
package struct ChildRun: Sendable {
    package enum Ending: Sendable {
        case saidAll, exit(Int32), signal(Int32), overdue
    }
    package let ending: Ending
    /// The standard output, without the zero byte.
    package let output: Data
    /// The end of the standard error output.
    package let errors: String

    private enum Event: Sendable {
        case saidAll, said, closed, ended(Ending), overdue
    }

    /// Runs the program until its output is complete or it has ended.
    ///
    /// - Parameter limit: The maximum time before the first output, and between one output and the next.
    package init(_ arguments: [String], limit: Duration) async throws(BackplaneError) {
        // Processes that the child leaves behind become this process's children; its earlier descendants must survive.
        _ = bph_adopt_orphans()
        let others = Descendants(), child = try Self.start(arguments)
        let (events, event) = AsyncStream.makeStream(of: Event.self)
        Thread.detachNewThread {
            switch child.process.wait() {
            case .exit(let code)?: event.yield(.ended(.exit(code)))
            case .signal(let number)?: event.yield(.ended(.signal(number)))
            case nil: break
            }
        }
        let printed = (output: OutputTail(last: 64 << 20), errors: OutputTail(last: 1 << 16))
        printed.output.read(child.output) { event.yield($0.isEmpty ? .closed : $0.last == 0 ? .saidAll : .said) }
        printed.errors.read(child.errors) { if $0.isEmpty { event.yield(.closed) } }
        // A process that outlives the child may hold its pipes open.
        ending = await Self.ending(events, killRest: { Descendants.end(besides: others) }) {
            Task {
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                event.yield(.overdue)
            }
        }
        Descendants.end(besides: others)
        withExtendedLifetime(child.input) {}
        if case .saidAll = ending {
            self.output = printed.output.data.dropLast()
        } else {
            self.output = printed.output.data
        }
        self.errors = String(decoding: printed.errors.data, as: UTF8.self)
    }

    /// The process, and this process's ends of the pipes to its standard descriptors.
    private typealias Child = (process: SpawnedProcess, input: FileHandle, output: FileHandle, errors: FileHandle)

    private static func start(_ arguments: [String]) throws(BackplaneError) -> Child {
        // The child's ends of the pipes, in the order of their numbers in the child.
        var given: [Int32] = []
        defer { for descriptor in given { close(descriptor) } }
        func pipe(isInput: Bool = false) throws(BackplaneError) -> FileHandle {
            let pipe = try ChildPipe()
            given.append(isInput ? pipe.reading : pipe.writing)
            return FileHandle(fileDescriptor: isInput ? pipe.writing : pipe.reading, closeOnDealloc: true)
        }
        do throws(BackplaneError) {
            let input = try pipe(isInput: true), output = try pipe(), errors = try pipe()
            // A crash is an expected result, for which no backtrace is needed.
            let process = try SpawnedProcess(
                nil, arguments, overrides: ["SWIFT_BACKTRACE": "enable=no"],
                descriptors: given.enumerated().map { (inChild: Int32($0), here: $1) }, group: .own)
            return (process, input, output, errors)
        } catch {
            throw BackplaneError(
                .pluginLoadFailed, "this program cannot be started a second time to load the library: \(error.message)")
        }
    }

    /// Waits until the output is complete, the child and both pipes have ended, or the limit has passed.
    private static func ending(
        _ events: AsyncStream<Event>, killRest: () -> Void, _ startTimer: () -> Task<Void, Never>
    ) async -> Ending {
        var ending: Ending?, openPipes = 2, timer = startTimer()
        defer { timer.cancel() }
        for await event in events {
            switch event {
            case .saidAll: return .saidAll
            case .said:
                timer.cancel()
                timer = startTimer()
            case .overdue: return ending ?? .overdue
            case .closed: openPipes -= 1
            case .ended(let how):
                ending = how
                killRest()
            }
            if let ending, openPipes == 0 { return ending }
        }
        return ending ?? .overdue
    }
}

/// The last part of a process's output so far, limited so that endless output does not exhaust the memory.
final class OutputTail: Sendable {
    private let bytes = Mutex(Data())
    private let limit: Int

    /// Creates an empty record.
    ///
    /// - Parameter limit: The number of bytes to retain.
    init(last limit: Int) { self.limit = limit }

    var data: Data { bytes.withLock { $0 } }

    /// Reads on a separate thread until the end of file.
    ///
    /// - Parameter watch: A function called with each piece that was read, which is empty at the end.
    func read(_ file: FileHandle, _ watch: @escaping @Sendable (Data) -> Void) {
        Thread.detachNewThread { [self] in
            while true {
                let next = file.availableData
                bytes.withLock { $0 = ($0 + next).suffix(limit) }
                watch(next)
                if next.isEmpty { return }
            }
        }
    }
}

/// A safeguard that ends a child of this program and all its descendants when its parent has ended.
///
/// The child's standard input is a pipe whose other end only the parent holds, so it closes when the parent ends for
/// any reason. A parent-death signal would not suffice, because it is sent when the thread that created the child ends.
package enum ChildLifetime {
    /// Watches the pipe on a separate thread; the child calls this before it runs any foreign code.
    ///
    /// Without a pipe, for example when a user starts the child, this is not needed and no thread is started.
    package static func endWithParent() {
        setpgid(0, 0)
        _ = bph_adopt_orphans()
        var status = stat()
        guard fstat(STDIN_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else { return }
        let parent = moveHigh(STDIN_FILENO), nothing = open("/dev/null", O_RDONLY)
        dup2(nothing, STDIN_FILENO)
        close(nothing)
        let group = getpid()
        let isWatched = HostThread.tryStart("bp-parent") {
            var byte: UInt8 = 0
            while true {
                let count = read(parent, &byte, 1)
                if count == 0 || count < 0 && errno != EINTR { break }
            }
            // The new process needs about a second. If it cannot be started, this process kills what it can.
            let end = try? SpawnedProcess(nil, [ChildEnd.command, "\(group)"], descriptors: [], group: .own)
            if end != nil { sleep(5) }
            Descendants.end()
            kill(-group, SIGKILL)
            kill(group, SIGKILL)
        }
        guard !isWatched else { return }
        // Without the thread, the child might outlive its parent.
        _ = "the system cannot create a thread for the child process\n".withCString {
            write(STDERR_FILENO, $0, strlen($0))
        }
        _exit(1)
    }

    /// Duplicates a descriptor as close-on-exec, with a number above the first few hundred, which programs may close.
    package static func moveHigh(_ descriptor: Int32) -> Int32 {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let high = fcntl(descriptor, F_DUPFD_CLOEXEC, Int32(min(limit.rlim_cur, 1_024)) - 16)
        return high >= 0 ? high : fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    }
}

/// The process that a child starts in order to be ended with all its descendants (``ChildLifetime``).
///
/// The child cannot do this itself. Until it is killed, its other threads may start processes that it has not listed;
/// afterwards, its descendants are unknown. Another process therefore stops the child first.
package enum ChildEnd {
    /// The hidden command that the process runs.
    package static let command = "end-child"

    /// Stops the child, kills its descendants, and then the child.
    ///
    /// - Parameter child: The parent of this process. Nothing happens if its parent is another process, because the
    ///   child has then already ended.
    package static func run(_ child: pid_t) {
        guard getppid() == child, kill(child, SIGSTOP) == 0 else { return }
        // Until all its threads are stopped, the child may start further processes.
        for _ in 0..<1_000 where !isStopped(child) { usleep(1_000) }
        // Orphans of killed processes become children of the stopped process.
        Descendants.end(of: child)
        kill(child, SIGKILL)
    }

    private static func isStopped(_ process: pid_t) -> Bool {
        ProcessStatus.all(in: "/proc/\(process)/task").allSatisfy { $0.isStopped || $0.hasEnded }
    }
}

/// The living descendants of a process, with their names.
///
/// If the process adopts orphans (`bph_adopt_orphans()`), they include processes whose parents have ended. The
/// descendants of another process do not include this process and its own descendants.
package struct Descendants {
    package private(set) var names: [pid_t: String] = [:]

    /// Lists the descendants.
    ///
    /// - Parameter others: Processes to exclude, with their descendants.
    package init(of process: pid_t = getpid(), besides others: Descendants? = nil) {
        let all = ProcessStatus.all(in: "/proc").filter { others?.names[$0.id] == nil }
        let children = Dictionary(grouping: all, by: \.parent)
        var parents = [process], seen: Set = [getpid()]
        while let parent = parents.popLast() {
            for child in children[parent] ?? [] where seen.insert(child.id).inserted {
                // A zombie can still have children: its main thread may have ended before the others.
                if !child.hasEnded { names[child.id] = child.name }
                parents.append(child.id)
            }
        }
    }

    /// Kills all descendants and waits until they have ended.
    ///
    /// This is repeated for about a second, because descendants may start further processes.
    package static func end(of process: pid_t = getpid(), besides others: Descendants? = nil) {
        for _ in 0..<200 {
            let left = Descendants(of: process, besides: others).names.keys
            if left.isEmpty { return }
            for id in left { kill(id, SIGKILL) }
            usleep(5_000)
        }
    }
}

/// The name, state and parent of a process or a thread, as its file `stat` contains them (proc_pid_stat(5)).
struct ProcessStatus {
    let id: pid_t
    let parent: pid_t
    let name: String
    private let state: UInt8

    var hasEnded: Bool { state == UInt8(ascii: "Z") || state == UInt8(ascii: "X") }
    var isStopped: Bool { state == UInt8(ascii: "T") || state == UInt8(ascii: "t") }

    /// Reads all statuses in a folder: `/proc` contains processes, and the `task` of a process contains its threads.
    static func all(in folder: String) -> [ProcessStatus] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { pid_t($0) }
            .compactMap { ProcessStatus($0, in: folder) }
    }

    private init?(_ id: pid_t, in folder: String) {
        // "12 (a name, of whatever characters) S 1 …"
        guard let line = FileManager.default.contents(atPath: "\(folder)/\(id)/stat"),
            let open = line.firstIndex(of: UInt8(ascii: "(")), let close = line.lastIndex(of: UInt8(ascii: ")"))
        else { return nil }
        let rest = line[(close + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard rest.count > 1, let state = rest[0].first, let parent = pid_t(String(decoding: rest[1], as: UTF8.self))
        else { return nil }
        (self.id, self.parent, self.state) = (id, parent, state)
        name = String(decoding: line[(open + 1)..<close], as: UTF8.self)
    }
}

/// A folder for temporary files, which exists until it is removed.
package struct TemporaryFolder {
    package let path: String

    /// Creates the folder.
    ///
    /// - Parameters:
    ///   - purpose: A word that becomes part of its name, to explain its use.
    ///   - parent: The folder in which to create it, or `nil` for the system's temporary folder.
    package init(for purpose: String, in parent: String? = nil) throws {
        let url = (parent.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory).appending(
            path: "backplane-\(purpose)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        path = url.path
    }

    package func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Removes the folder although other threads may be creating files in it; tries for about a second.
    package func removeInUse() {
        for _ in 0..<100 {
            remove()
            guard access(path, F_OK) == 0 else { return }
            usleep(10_000)
        }
    }
}
