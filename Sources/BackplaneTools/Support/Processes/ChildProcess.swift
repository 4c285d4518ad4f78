package import Backplane
package import Foundation
import Glibc

/// A child process in its own process group, so that Control-C at the terminal reaches only this process.
///
/// Its standard input is a pipe that ends when this process ends for any reason.
package final class ChildProcess: Sendable {
    package typealias Ending = SpawnedProcess.Ending

    /// The handling of the output to one descriptor.
    package struct Outlet: Sendable {
        /// The descriptor in the child.
        package var descriptor: Int32
        /// The function called with a line that has begun, but has not continued for a while.
        package var unfinished: (@Sendable (String) -> Void)?
        /// The function called with each line, without its line ending, on a separate thread.
        package var take: @Sendable (String) -> Void

        package init(
            descriptor: Int32, unfinished: (@Sendable (String) -> Void)? = nil,
            take: @escaping @Sendable (String) -> Void
        ) {
            (self.descriptor, self.unfinished, self.take) = (descriptor, unfinished, take)
        }
    }
    private let process: SpawnedProcess
    /// The writing end of the child's standard input, closed when this object is released.
    private let input: FileHandle

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: A path, or a name to look for in `PATH`, or `nil` for this program itself.
    ///   - environment: Variables that are added unless they are already set in this process.
    ///   - outlets: The descriptors to read from; the child inherits the others from this process.
    ///   - ended: A function called once, when the child has ended and all its lines have been handled, or five
    ///     seconds after its end.
    package init(
        _ program: String?, _ arguments: [String], environment: [String: String] = [:], outlets: [Outlet],
        ended: @escaping @Sendable (Ending) -> Void
    ) throws(BackplaneError) {
        let (process, input, pipes) = try Self.start(program, arguments, environment, outlets)
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
            guard let ending = self.process.wait() else { preconditionFailure("no other code waits for the process") }
            // Processes that the child leaves behind may keep its pipes open forever.
            _ = readers.wait(timeout: .now() + .seconds(5))
            ended(ending)
        }
    }

    /// Starts the program, and returns the pipe of its standard input, and those of the outlets.
    private static func start(
        _ program: String?, _ arguments: [String], _ environment: [String: String], _ outlets: [Outlet]
    ) throws(BackplaneError) -> (SpawnedProcess, input: ChildPipe, pipes: [ChildPipe]) {
        let input = try ChildPipe()
        var pipes: [ChildPipe] = []
        defer {
            close(input.reading)
            for pipe in pipes { close(pipe.writing) }
        }
        do throws(BackplaneError) {
            for _ in outlets { pipes.append(try ChildPipe()) }
            let descriptors = [(STDIN_FILENO, input.reading)] + zip(outlets, pipes).map { ($0.descriptor, $1.writing) }
            let process = try SpawnedProcess(
                program, arguments, environment: environment, descriptors: descriptors, group: .own)
            return (process, input, pipes)
        } catch {
            for end in [input.writing] + pipes.map(\.reading) { close(end) }
            throw error
        }
    }

    package var id: pid_t { process.id }

    /// Sends a signal to the child and all its descendants; does nothing once it has ended.
    package func send(_ signal: Int32) { process.send(signal) }
}
