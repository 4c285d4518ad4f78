package import Backplane
package import Foundation
import Glibc
import Synchronization

/// Another program that runs for this one, in a process group of its own: control-C at the terminal reaches this one alone.
///
/// Its standard input is a pipe that ends when this process does, however that ends.
package final class ChildProcess: Sendable {
    package typealias Ending = SpawnedProcess.Ending

    /// What is done with what it writes to a descriptor.
    package struct Outlet: Sendable {
        package var descriptor: Int32
        /// Told of a line that has begun, and does not go on for a while.
        package var unfinished: (@Sendable (String) -> Void)?
        /// Called for each line, without its end, on a thread of its own.
        package var take: @Sendable (String) -> Void

        package init(descriptor: Int32, unfinished: (@Sendable (String) -> Void)? = nil, take: @escaping @Sendable (String) -> Void) {
            (self.descriptor, self.unfinished, self.take) = (descriptor, unfinished, take)
        }
    }
    private let process: SpawnedProcess
    /// Closed when this is released.
    private let input: FileHandle

    /// Held from the making of a pipe until the child has it: no other child is to keep it open.
    private static let spawning = Mutex(())

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: a path, or a name that is looked for in `PATH`; `nil`: this program once more.
    ///   - environment: what it has besides this process's, where that has no such variable.
    ///   - outlets: descriptors that are not among them are this process's own.
    ///   - ended: called once, when it has ended and all of its lines were taken.
    package init(
        _ program: String?, _ arguments: [String], environment: [String: String] = [:], outlets: [Outlet],
        ended: @escaping @Sendable (Ending) -> Void
    ) throws(BackplaneError) {
        let (process, input, pipes) = try Self.spawning.withLock { _ throws(BackplaneError) in
            let input = try ChildPipe()
            var pipes: [ChildPipe] = []
            defer {
                close(input.reading)
                for pipe in pipes { close(pipe.writing) }
            }
            do throws(BackplaneError) {
                for _ in outlets { pipes.append(try ChildPipe()) }
                let descriptors = [(STDIN_FILENO, input.reading)] + zip(outlets, pipes).map { ($0.descriptor, $1.writing) }
                return (try SpawnedProcess(program, arguments, environment: environment, descriptors: descriptors, group: .own), input, pipes)
            } catch {
                for end in [input.writing] + pipes.map(\.reading) { close(end) }
                throw error
            }
        }
        self.process = process
        self.input = FileHandle(fileDescriptor: input.writing, closeOnDealloc: true)
        let readers = DispatchGroup()
        for (outlet, pipe) in zip(outlets, pipes) {
            readers.enter()
            Thread.detachNewThread {
                LineReader.read(pipe.reading, unfinished: outlet.unfinished, outlet.take)
                close(pipe.reading)
                readers.leave()
            }
        }
        Thread.detachNewThread { [self] in
            guard let ending = self.process.wait() else { preconditionFailure("nobody else waits for it") }
            // What it has left behind may hold its pipes for ever.
            _ = readers.wait(timeout: .now() + .seconds(1))
            ended(ending)
        }
    }

    package var id: pid_t { process.id }

    /// Sends a signal to it and everything it has started; does nothing once it has ended.
    package func send(_ signal: Int32) { process.send(signal) }
}
