import Foundation
import Synchronization
import TestFixtures

/// A process of `backplane` that is under way. It is killed when the test lets go of it.
final class RunningTool: Sendable {
    private enum Event: Sendable {
        case output(Data), errors(Data), ended(Int32)
    }
    private struct State {
        var output = Data(), errors = Data()
        /// Standard output, standard error and the process itself.
        var open = 3
        var status: Int32 = 0

        mutating func apply(_ event: Event) {
            switch event {
            case .output(let data) where data.isEmpty, .errors(let data) where data.isEmpty: open -= 1
            case .output(let data): output += data
            case .errors(let data): errors += data
            case .ended(let end): (status, open) = (end, open - 1)
            }
        }

        func line(_ number: Int) -> String? {
            let lines = output.split(
                separator: UInt8(ascii: "\n"), maxSplits: number + 1, omittingEmptySubsequences: false)
            return lines.count > number + 1 ? String(decoding: lines[number], as: UTF8.self) : nil
        }
    }
    private let process: Process
    /// What the process has done so far.
    private let state = Mutex(State())
    /// An element once the state has changed.
    private let changes: AsyncStream<Void>

    /// - Parameters:
    ///   - program: another one than `backplane`.
    ///   - input: a file for its standard input, which is empty otherwise.
    ///   - environment: what it has besides this process's.
    ///   - folder: where it runs; `nil`: where this process does.
    init(
        _ arguments: [String], of program: String = BuiltProducts.folder + "/backplane", input: String?,
        environment: [String: String] = [:], in folder: String? = nil
    ) throws {
        let process = Process(), output = Pipe(), errors = Pipe()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = URL(filePath: folder) }
        // Without what a developer's own settings would change.
        process.environment = ProcessInfo.processInfo.environment.filter {
            !["COLUMNS", "LINES", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "BACKPLANE_ENVIRONMENT"].contains($0.key)
        }
        .merging(environment) { $1 }
        process.standardInput =
            try input.map { try FileHandle(forReadingFrom: URL(filePath: $0)) } ?? FileHandle.nullDevice
        (process.standardOutput, process.standardError) = (output, errors)
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        (self.process, self.changes) = (process, changes)
        // Weakly, as the process and its handler belong to this object.
        let report: @Sendable (Event) -> Void = { [weak self] event in
            self?.state.withLock { $0.apply(event) }
            change.yield()
        }
        process.terminationHandler = { process in
            report(.ended(process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus))
        }
        try process.run()
        Self.read(output.fileHandleForReading) { report(.output($0)) }
        Self.read(errors.fileHandleForReading) { report(.errors($0)) }
    }

    deinit {
        if process.isRunning { signal(SIGKILL) }
    }

    /// The number of the process.
    var number: Int32 { process.processIdentifier }

    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    var output: String { state.withLock { String(decoding: $0.output, as: UTF8.self) } }
    var errors: String { state.withLock { Self.errors($0) } }

    /// What standard error has, without the warnings of a busy machine.
    private static func errors(_ state: State) -> String {
        String(decoding: state.errors, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.contains("Swift's thread pool is ") }.joined(separator: "\n")
    }

    /// Waits until its standard output has this text; `false` when it ended without.
    func says(_ text: String) async -> Bool {
        await wait { String(decoding: $0.output, as: UTF8.self).contains(text) }
        return output.contains(text)
    }

    /// Waits until this line of its standard output is whole, the first being 0; `nil` when it ended without.
    func line(_ number: Int) async -> String? {
        await wait { $0.line(number) != nil }
        return state.withLock { $0.line(number) }
    }

    /// Waits until its standard error has this text; `false` when it ended without.
    func logs(_ text: String) async -> Bool {
        await wait { String(decoding: $0.errors, as: UTF8.self).contains(text) }
        return errors.contains(text)
    }

    /// Waits until it has ended. The negative of a signal's number is the status of a process that it ended.
    func end() async -> Tool.Outcome {
        await wait { _ in false }
        return state.withLock {
            Tool.Outcome(
                status: $0.status, output: String(decoding: $0.output, as: UTF8.self),
                errors: Self.errors($0))
        }
    }

    /// Waits for a state, or for the end.
    private func wait(for isThere: @Sendable (State) -> Bool) async {
        func isOver() -> Bool { state.withLock { $0.open == 0 || isThere($0) } }
        if isOver() { return }
        for await _ in changes where isOver() { return }
    }

    /// Hands over what comes, on a thread of its own; empty data at the end.
    private static func read(_ file: FileHandle, _ deliver: @escaping @Sendable (Data) -> Void) {
        Thread.detachNewThread {
            while true {
                let data = file.availableData
                deliver(data)
                if data.isEmpty { return }
            }
        }
    }
}
