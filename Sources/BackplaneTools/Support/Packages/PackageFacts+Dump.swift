package import Backplane
import BackplaneHost
import Foundation
import Glibc
import Synchronization

extension PackageFacts {
    /// Reads a package with SwiftPM, which builds and fetches nothing.
    ///
    /// This takes about a second if the Package.swift has changed, because it is then compiled.
    ///
    /// - Parameter scratchPath: The folder that SwiftPM locks while it runs, or `nil` for the package's own build
    ///   folder, for which it waits if a build is running.
    /// - Throws: `new.package` with the messages of SwiftPM and the compiler if the package cannot be read.
    package init(of root: String, scratchPath: String? = nil) throws(BackplaneError) {
        // Without it, SwiftPM would use a package in an enclosing folder.
        guard (try? FileStatus(at: FilePath.join(root, "Package.swift"))) != nil else {
            throw Self.unreadable(
                root, "expected a Package.swift in the package `\(FilePath.name(of: root))`, found none")
        }
        let (succeeded, said) = try Self.dump(root, scratchPath)
        guard succeeded else {
            throw Self.unreadable(
                root, "SwiftPM cannot read the package `\(FilePath.name(of: root))`",
                ManifestOutput.lines(of: said.errors))
        }
        do {
            self = try JSONDecoder().decode(PackageFacts.self, from: Data(said.output.joined(separator: "\n").utf8))
        } catch {
            throw Self.unreadable(root, "the output of `swift package dump-package` cannot be parsed: \(error)")
        }
    }

    /// Runs `swift package dump-package`, and returns whether it succeeded and the lines that it printed.
    private static func dump(_ root: String, _ scratchPath: String?) throws(BackplaneError) -> (
        Bool, (output: [String], errors: [String])
    ) {
        let arguments =
            ["package", "--package-path", root] + (scratchPath.map { ["--scratch-path", $0] } ?? []) + ["dump-package"]
        let said = OutputLines(), ended = Mutex<ChildProcess.Ending?>(nil), end = DispatchSemaphore(value: 0)
        let outlets = [
            ChildProcess.Outlet(descriptor: STDOUT_FILENO, take: said.output),
            ChildProcess.Outlet(descriptor: STDERR_FILENO, take: said.error),
        ]
        do throws(BackplaneError) {
            _ = try ChildProcess("swift", arguments, outlets: outlets) { ending in
                ended.withLock { $0 = ending }
                end.signal()
            }
        } catch { throw unreadable(root, error.message) }
        end.wait()
        return (ended.withLock { $0 } == .exit(0), said.text)
    }

    private static func unreadable(_ root: String, _ reason: String, _ said: [String] = []) -> BackplaneError {
        BackplaneError(.newPackage, reason, at: "\(root)/Package.swift", saying: said)
    }
}

extension BackplaneError.Code {
    /// The code of the error that a package is missing, or cannot be read or extended.
    package static let newPackage = Self(rawValue: "new.package")
}
