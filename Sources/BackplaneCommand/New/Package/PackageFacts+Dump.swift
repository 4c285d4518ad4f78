import Backplane
import Foundation

extension PackageFacts {
    /// Asks SwiftPM. Takes the time of compiling the Package.swift where that has changed, about a second; builds and fetches nothing.
    ///
    /// - Parameter scratchPath: what SwiftPM keeps others out of meanwhile; `nil`: the package's own build folder, so that it waits for a build.
    /// - Throws: `new.package` with what SwiftPM says where it cannot read the package.
    init(of root: String, scratchPath: String? = nil) throws(BackplaneError) {
        let process = Process(), output = Pipe(), errors = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["swift", "package", "--package-path", root] + (scratchPath.map { ["--scratch-path", $0] } ?? []) + ["dump-package"]
        (process.standardInput, process.standardOutput, process.standardError) = (FileHandle.nullDevice, output, errors)
        do { try process.run() } catch { throw Self.unreadable(root, "`swift` cannot be run: \(error)") }
        let printed = Printed(last: 1 << 16)
        printed.read(errors.fileHandleForReading) { _ in }
        let dump = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Self.unreadable(root, "SwiftPM cannot read it: \(String(decoding: printed.data, as: UTF8.self).lastErrors)")
        }
        do { self = try JSONDecoder().decode(PackageFacts.self, from: dump) } catch {
            throw Self.unreadable(root, "what `swift package dump-package` says of it is not understood: \(error)")
        }
    }

    private static func unreadable(_ root: String, _ reason: String) -> BackplaneError {
        BackplaneError(.newPackage, reason, at: "\(root)/Package.swift")
    }
}

extension String {
    /// The lines that say what is wrong, or the last ones.
    fileprivate var lastErrors: String {
        let lines = split(separator: "\n").map(String.init)
        let errors = lines.filter { $0.contains("error:") }
        return (errors.isEmpty ? lines.suffix(3) : errors.prefix(3)).joined(separator: "; ")
    }
}
