package import Backplane
package import BackplaneHost
import Foundation
import Glibc
import Synchronization
import TurnstileContracts

/// A library whose file is replaced repeatedly, as by a linker that writes a new file and renames it.
package struct RebuiltLibrary: Sendable {
    /// The path of the library.
    package let path: String
    /// The paths of its editions, in the same folder so that each can be hard-linked to the library's path.
    private let editions: [String]

    /// Creates the library as its first edition.
    package init(of libraries: [String], in folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        path = folder + "/libTurnstile.so"
        editions = try libraries.enumerated().map { index, library in
            let copy = "\(folder)/edition-\(index + 1)"
            try FileManager.default.copyItem(atPath: library, toPath: copy)
            return copy
        }
        try build(1)
    }

    package func build(_ edition: Int) throws {
        let new = path + ".new"
        unlink(new)  // renaming a hard link to another link of the same file does nothing
        guard link(editions[edition - 1], new) == 0, rename(new, path) == 0 else {
            throw BackplaneError(
                .componentFailed, "the file cannot be written: \(String(cString: strerror(errno)))", at: path)
        }
    }

    /// Returns the path of a library that was built together with this program, into the same folder.
    ///
    /// - Throws: `plugin.not-found` with the command that builds it.
    package static func built(_ name: String) throws(BackplaneError) -> String {
        try LibraryLocator(
            manifestFolder: nil, pluginPaths: [],
            advice: "build it with `swift build`, which puts it next to this program"
        )
        .locate(name)
    }
}

/// A host with one manager, a turnstile with a small state, which is swapped repeatedly for its other edition.
package final class TurnstileHost: Sendable {
    package static let manager = "Turnstile"
    fileprivate let turnstile: Remote<Turnstile>
    fileprivate let call: Call
    private let host: PluginHost
    private let library: RebuiltLibrary
    /// The numbers of swaps that have begun and ended, each of which hands the state over.
    fileprivate let begun = Atomic(0), ended = Atomic(0)

    private init(_ editions: [String], in folder: String, loads: String, lanes: LaneRule) async throws {
        library = try RebuiltLibrary(of: editions, in: folder)
        var options = HostOptions(
            loadFolder: loads, dataFolder: folder + "/data", log: StandardErrorLog(level: .critical), lanes: lanes)
        options.checksState = false  // as in a release build
        options.occupationLimit = nil  // calls intentionally occupy threads here
        let manifest = Manifest(
            plugins: [PluginReference(library: library.path)],
            managers: [Self.manager: ManagerDefinition(className: "TurnstileManager")])
        host = PluginHost(manifest: manifest, options: options)
        do {
            turnstile = try await host.manager(Self.manager)
        } catch {
            await host.stop()
            throw error
        }
        call = host.begin()
    }

    /// Calls `body` with a host that has started, and always stops the host afterwards.
    ///
    /// - Parameters:
    ///   - editions: The paths of the library's editions, beginning with the first to load.
    ///   - folder: The folder for the library.
    ///   - loads: The folder for the copies that are loaded.
    package static func with<Result>(
        _ editions: [String], in folder: String, loads: String, lanes: LaneRule = .fastest,
        _ body: (TurnstileHost) async throws -> Result
    ) async throws -> Result {
        let swapped = try await TurnstileHost(editions, in: folder, loads: loads, lanes: lanes)
        let result: Result
        do { result = try await body(swapped) } catch {
            await swapped.host.stop()
            throw error
        }
        await swapped.host.stop()
        return result
    }

    /// Makes one more call, and returns the count in the state, including this call.
    package func count() async throws -> Int { try await turnstile.pass(0, call).count }

    /// Builds the other edition, without timing the build, and swaps to it; by default without a trial of its library.
    ///
    /// - Returns: The time from the request to the commit, and the report.
    @discardableResult
    package func swap(_ options: ChangeOptions = ChangeOptions(trustsLibraries: true)) async throws -> (
        time: Duration, report: ChangeReport
    ) {
        let handovers = begun.add(1, ordering: .sequentiallyConsistent).newValue
        try library.build(1 + handovers % 2)
        let start = ContinuousClock.now
        let report = try await host.swap(library: library.path, options)
        let time = ContinuousClock.now - start
        guard report.outcome == .changed else {
            throw BackplaneError(
                .swapFailed, "expected the other edition to become active, found: \(report.outcome.rawValue)",
                at: library.path)
        }
        ended.add(1, ordering: .sequentiallyConsistent)
        return (time, report)
    }
}

/// Callers that pass a turnstile at full speed, each on its own thread, and check every answer.
package final class SwapLoad: Sendable {
    /// The answers that one caller has received.
    package struct Account: Sendable {
        package fileprivate(set) var answered = 0, failed = 0
        /// The number of calls that were made twice, which increased the caller's own count by more than one.
        package fileprivate(set) var twice = 0
        /// The number of answers by a library that was not active during the call.
        package fileprivate(set) var wrong = 0
        /// The longest time between two answers in each window of the run.
        package fileprivate(set) var gaps: [Duration] = []
        /// The caller's own count.
        package fileprivate(set) var own = 0

        /// Records an answer.
        ///
        /// - Parameter handovers: The possible numbers of handovers: from the number that had ended when the call
        ///   started to the number that had begun when the answer arrived.
        fileprivate mutating func note(_ ticket: Ticket, _ handovers: ClosedRange<Int>) {
            answered += 1
            if !handovers.contains(ticket.handovers) || ticket.edition != 1 + ticket.handovers % 2 { wrong += 1 }
            twice += max(0, ticket.own - own - 1)
            own = ticket.own
        }

        fileprivate mutating func note(gap: Duration, in window: Int) {
            while gaps.count <= window { gaps.append(.zero) }
            gaps[window] = max(gaps[window], gap)
        }
    }
    private let window = Atomic(0), isOver = Atomic(false)

    private init() {}

    /// Begins the next window of the run, to which later gaps belong.
    package func nextWindow() { window.add(1, ordering: .relaxed) }

    /// Runs `body` while callers, numbered from 1, make calls; `body` starts once each caller has received an answer.
    package static func with<Value: Sendable>(
        _ count: Int, at swapped: TurnstileHost, _ body: (SwapLoad) async throws -> Value
    ) async throws -> (value: Value, accounts: [Account]) {
        let load = SwapLoad(), (answered, answers) = AsyncStream<Void>.makeStream()
        let tasks = (1...count).map { number in
            Task { await CallerThread.run { await load.call(number, swapped) { answers.yield() } } }
        }
        for await _ in answered.prefix(count) {}
        let result: Result<Value, any Error>
        do { result = .success(try await body(load)) } catch { result = .failure(error) }
        load.isOver.store(true, ordering: .relaxed)
        var accounts: [Account] = []
        for task in tasks { accounts.append(await task.value) }
        return (try result.get(), accounts)
    }

    private func call(
        _ number: Int, _ swapped: TurnstileHost, whenAnswered: @Sendable () -> Void
    ) async -> Account {
        var account = Account(), last = ContinuousClock.now, isFirst = true
        let turnstile = swapped.turnstile, call = swapped.call
        while !isOver.load(ordering: .relaxed) {
            let least = swapped.ended.load(ordering: .sequentiallyConsistent)
            do {
                let ticket = try await turnstile.pass(number, call)
                account.note(ticket, least...swapped.begun.load(ordering: .sequentiallyConsistent))
            } catch {
                account.failed += 1
            }
            if isFirst { whenAnswered() }
            isFirst = false
            let now = ContinuousClock.now
            account.note(gap: now - last, in: window.load(ordering: .relaxed))
            last = now
        }
        return account
    }
}

/// A thread for one task and everything that it calls.
///
/// It allows more concurrent callers than Swift's thread pool has threads.
private final class CallerThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let semaphore = DispatchSemaphore(value: 0)
    private let isOver = Atomic(false)

    /// Runs `body` on a new thread.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        let thread = CallerThread()
        Thread.detachNewThread { thread.work() }
        let value = await Task(executorPreference: thread) { await body() }.value
        thread.isOver.store(true, ordering: .relaxed)
        thread.semaphore.signal()
        return value
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        semaphore.signal()
    }

    private func work() {
        while true {
            semaphore.wait()
            let next = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            if let next {
                next.runSynchronously(on: asUnownedTaskExecutor())
            } else if isOver.load(ordering: .relaxed) {
                return
            }
        }
    }
}
