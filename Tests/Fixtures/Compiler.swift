import Foundation

/// The compilers that some tests start.
package enum Compiler {
    package struct Failure: Error { var command: [String] }

    /// Runs a compiler to its end.
    package static func run(_ command: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(command: command) }
    }
}
