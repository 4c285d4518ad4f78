import Backplane
import Foundation

/// The example's server in a child process that ends with this process.
final class BookshelfServer {
    /// The address at which the server listens: `http://127.0.0.1:PORT`.
    let url: String
    private let process: Process
    private let output: FileHandle
    /// The server's standard input, which closes when this process ends for any reason and thereby stops the server.
    private let input: Pipe

    /// Starts the server on a free loopback port and returns once it listens.
    ///
    /// - Parameter folder: The folder that contains the server's executable.
    /// - Throws: `BackplaneError` if the executable is missing, or if the server ends without listening.
    init(beside folder: String) throws(BackplaneError) {
        let path = folder + "/bookshelf-server"
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw BackplaneError(
                .pluginNotFound, "the example server is missing next to this program; build it with `swift build`",
                at: path)
        }
        let (process, pipe, input) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(filePath: path)
        process.arguments = ["--port", "0", "--stop-with-parent"]
        (process.standardInput, process.standardOutput) = (input, pipe)
        do { try process.run() } catch {
            throw BackplaneError(.pluginNotFound, "the example server cannot be started: \(error)", at: path)
        }
        guard let line = Self.firstLine(of: pipe.fileHandleForReading), let start = line.range(of: "http://") else {
            process.terminate()
            throw BackplaneError(
                .pluginNotFound, "the example server ended without printing its address", at: path)
        }
        url = String(line[start.lowerBound...])
        (self.process, self.input, output) = (process, input, pipe.fileHandleForReading)
    }

    var processIdentifier: Int32 { process.processIdentifier }

    /// Stops the server and waits until it has exited.
    func stop() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
    }

    private static func firstLine(of handle: FileHandle) -> String? {
        var bytes: [UInt8] = []
        while bytes.count < 1_024, let byte = try? handle.read(upToCount: 1)?.first {
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return nil
    }
}
