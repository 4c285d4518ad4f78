package import Backplane
import CBackplaneHost
package import Foundation
import Glibc

/// The result of running this program once more, as a child that may crash or hang.
///
/// The child is killed when it produces no output for longer than its limit. Its output is complete when it ends with a
/// zero byte, and how the child ends is then ignored. Processes that it leaves behind are killed with it, and the child
/// ends with this process (``ChildLifetime``).
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
    /// - Parameter limit: The time that may pass before the first output, and between one output and the next.
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
        // What outlives the child may hold its pipes open.
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
        // The child's ends, in the order of their numbers there.
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
