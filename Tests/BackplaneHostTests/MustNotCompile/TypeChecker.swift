import BackplaneTestKit
import Foundation

@testable import BackplaneHost

/// The compiler of the running toolchain, which looks at a file as it would in somebody's plugin, against the modules
/// of this build.
struct TypeChecker {
    /// An error of a file: the line it is on, and its words.
    struct Mistake: Hashable, CustomStringConvertible {
        var line: Int
        var message: String
        var description: String { "\(line): \(message)" }
    }

    private let toolchain: Toolchain
    private let build: String

    /// - Throws: ``Toolchain/Missing`` where the compiler or what was built is not found.
    init() throws {
        toolchain = try Toolchain()
        guard let folder = RunningExecutable.folder,
            FileManager.default.fileExists(atPath: folder + "/Modules/Backplane.swiftmodule")
        else {
            throw Toolchain.Missing(
                description: "no folder `Modules` with the SDK lies beside this program; SwiftPM puts it there")
        }
        build = folder
    }

    /// What the compiler says of a file, and whether it took it.
    ///
    /// A plugin is in another package: what the SDK says to its own is not seen.
    func check(_ file: String) throws -> (mistakes: [Mistake], isTaken: Bool, output: String) {
        let (isTaken, output) = try toolchain.compile([
            // As far as the analysis that finds values used after they were consumed.
            "-emit-sil", "-o", "/dev/null", file, "-module-name", "SomePlugin", "-parse-as-library", "-swift-version",
            "6",
            "-enable-upcoming-feature", "ExistentialAny", "-enable-upcoming-feature", "MemberImportVisibility",
            "-enable-upcoming-feature", "InternalImportsByDefault", "-enable-upcoming-feature",
            "NonisolatedNonsendingByDefault",
            "-I", build + "/Modules", "-Xcc", "-fmodule-map-file=\(build)/CBackplane.build/module.modulemap",
            "-diagnostic-style=llvm", "-no-color-diagnostics",
        ])
        return (Self.mistakes(in: output, of: file), isTaken, output)
    }

    private static func mistakes(in output: String, of file: String) -> [Mistake] {
        output.split(separator: "\n").compactMap { line in
            guard line.hasPrefix(file + ":") else { return nil }
            let parts = line.dropFirst(file.count + 1).split(separator: ":", maxSplits: 3)
            guard parts.count == 4, parts[2] == " error", let number = Int(parts[0]) else { return nil }
            return Mistake(line: number, message: String(parts[3].dropFirst()))
        }
    }
}
