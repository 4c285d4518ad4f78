import Backplane
import BackplaneHost
import BackplaneTools
import Foundation
import Glibc

/// A child process that runs this program, or the command `backplane` beside it, until the measurement ends.
final class Child: Sendable {
    /// The hidden command of this program.
    static let command = "child"
    /// The tasks of a child of this program, by name.
    ///
    /// Servers run until their parent has ended; the other tasks print their figures. Libraries are never unloaded, so
    /// a task that loads many of them has its own process in each round.
    static let tasks: [String: @Sendable (_ folder: String) async throws -> Void] = [
        "server": { _ in try await BenchServer.serve() },
        "routes": { try await RouteServer.serve(in: $0) },
        "screens": { try await ScreenServer.serve(in: $0) },
        "start": { report(try await StartSuite.start(in: $0)) },
        "dlopen": { _ in report(try StartSuite.load()) },
        "swap-swift": { report(try await IdleSwaps.figures(.swift, in: $0)) },
        "swap-c": { report(try await IdleSwaps.figures(.c, in: $0)) },
        "swap-native": { report(try await LoadedSwaps.figures(.fastest, in: $0)) },
        "swap-encoded": { report(try await LoadedSwaps.figures(.encoded, in: $0)) },
    ]
    private let words: String
    /// The descriptor of the child's standard output, which can be read once.
    private let output: Int32
    /// The descriptor of the child's standard input, which ends with this process.
    private let input: Int32
    private let process: SpawnedProcess

    /// Runs a program and, at the same time, `body` on a separate thread, which may block.
    ///
    /// The child shares the standard error of this process. When `body` has returned or the task is cancelled, the
    /// child is killed if it is still running.
    ///
    /// - Parameter program: A path or a name; the command `backplane` by default.
    static func with<Value: Sendable>(
        _ arguments: [String], program: String = backplane, _ body: @escaping @Sendable (Child) throws -> Value
    ) async throws -> Value {
        let child = try Child(program, arguments)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    let result = Result { try body(child) }
                    child.process.send(SIGKILL)
                    _ = child.process.wait()
                    continuation.resume(with: result)
                }
            }
        } onCancel: {
            child.process.send(SIGKILL)
        }
    }

    private init(_ program: String, _ arguments: [String]) throws(BackplaneError) {
        words = ([program.split(separator: "/").last.map(String.init) ?? program] + arguments).joined(separator: " ")
        let output = try ChildPipe(), input = try ChildPipe()
        defer { for end in [output.writing, input.reading] { close(end) } }
        do throws(BackplaneError) {
            process = try SpawnedProcess(
                program, arguments, descriptors: [(STDIN_FILENO, input.reading), (STDOUT_FILENO, output.writing)],
                group: .ours)
        } catch {
            for end in [output.reading, input.writing] { close(end) }
            throw error
        }
        (self.output, self.input) = (output.reading, input.writing)
    }

    deinit { for end in [output, input] { close(end) } }

    private static let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    /// The path of the command.
    static let backplane = own.deletingLastPathComponent().appending(path: "backplane").path

    var id: pid_t { process.id }

    /// Reads the output up to the end of its first line; the line is empty if the child has ended without any.
    func line() -> Data {
        var line = Data(), byte: UInt8 = 0
        while read(output, &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
        return line
    }

    /// Reads the output to its end, and waits until the child has ended.
    ///
    /// - Throws: `component.failed` unless it ended with exit code 0.
    @discardableResult
    func end() throws -> Data {
        let text = try FileHandle(fileDescriptor: output, closeOnDealloc: false).readToEnd() ?? Data()
        guard let ending = process.wait(), ending != .exit(0) else { return text }
        throw BackplaneError(.componentFailed, "`\(words)` failed: \(ending.text)")
    }

    /// Asks the child to stop.
    func stop() { process.send(SIGTERM) }

    /// Returns the duration of a whole run of a program, from its start to its end.
    static func time(_ arguments: [String], program: String = backplane) async throws -> Duration {
        let start = ContinuousClock.now
        return try await with(arguments, program: program) { child in
            try child.end()
            return ContinuousClock.now - start
        }
    }

    // MARK: Children of this program

    /// Runs a task of this program in a temporary folder, and returns the figures that it reports for the keys.
    static func figures(_ task: String, _ keys: [String], in parent: String) async throws -> [Figure] {
        let folder = "\(parent)/\(task)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try await with([command, task, folder], program: own.path) { child in
            let figures = try JSONDecoder().decode([String: Figure].self, from: try child.end())
            return try keys.map { key in
                guard let figure = figures[key] else {
                    throw BackplaneError(.componentFailed, "the child process reported no figure `\(key)`", at: task)
                }
                return figure
            }
        }
    }

    private static func report(_ figures: [String: Figure]) { Output.json(figures) }

    /// A task of this program that serves until it is stopped, and the value that it has announced.
    final class Server<Ports: Codable & Sendable>: Sendable {
        let ports: Ports
        private let isStopped: DispatchSemaphore

        /// Starts the server.
        init(_ task: String, in folder: String) async throws {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let (lines, printed) = AsyncThrowingStream.makeStream(of: Data.self),
                isStopped = DispatchSemaphore(value: 0)
            Task {
                do {
                    try await with([command, task, folder], program: own.path) { child in
                        let line = child.line()
                        guard !line.isEmpty else {
                            try child.end()
                            return
                        }
                        printed.yield(line)
                        isStopped.wait()
                    }
                    printed.finish()
                } catch {
                    printed.finish(throwing: error)
                }
            }
            self.isStopped = isStopped
            guard let line = try await lines.first(where: { _ in true }) else {
                throw BackplaneError(.componentFailed, "a server did not start", at: task)
            }
            ports = try JSONDecoder().decode(Ports.self, from: line)
        }

        /// Kills the server.
        func stop() { isStopped.signal() }
    }

    /// Announces ports to the parent, and waits until it has ended.
    static func announce(_ ports: some Encodable) async throws {
        let parent = getppid()
        FileHandle.standardOutput.write(try JSONEncoder().encode(ports) + Data("\n".utf8))
        while getppid() == parent { try await Task.sleep(for: .seconds(1)) }
    }
}

extension Measurement {
    /// Creates the measurement of figures that a child of this program prints by their keys.
    static func child(_ task: String, in folder: String, rounds: Int = 7, _ rows: [(String, Row)]) -> Measurement {
        Measurement(rows: rows.map(\.1), rounds: rounds, count: 1) { _ in
            try await Child.figures(task, rows.map(\.0), in: folder)
        }
    }
}

/// The memory use of a process, from the kernel's summary of its mappings.
enum ProcessMemory {
    /// Returns a figure in bytes by the kernel's name: `Rss`, `Private_Dirty` and others.
    ///
    /// - Parameter process: The process identifier, or `self`.
    static func bytes(_ name: String, ofProcess process: String = "self") throws -> Double {
        // The format is `Rss:   12345 kB`.
        for line in try String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8).split(separator: "\n")
        {
            let words = line.split(separator: " ")
            if words.count == 3, words[0] == "\(name):", let number = Double(words[1]) { return number * 1_024 }
        }
        throw BackplaneError(.componentFailed, "the system does not report how much memory a process uses", at: name)
    }
}
