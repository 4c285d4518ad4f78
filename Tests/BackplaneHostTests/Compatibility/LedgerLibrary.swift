import Foundation

@testable import BackplaneHost

/// One plugin in two languages: in C with the header that is kept of ABI 0, and in C++ with the current header.
enum LedgerLibrary: String, CaseIterable, Sendable {
    case c = "C", cPlusPlus = "C++"

    static let plugin = "org.backplane.tests.ledger"

    /// A compiler, and what it is called with.
    struct Compiler: Sendable, CustomStringConvertible {
        var library: LedgerLibrary
        var name: String

        var description: String { name }

        var isInstalled: Bool {
            ["/usr/bin", "/usr/local/bin"].contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
        }
    }

    /// The toolchain's.
    var compiler: Compiler {
        Compiler(library: self, name: self == .c ? "clang" : "clang++")
    }

    static let otherCompilers = [Compiler(library: .c, name: "gcc"), Compiler(library: .cPlusPlus, name: "g++")]

    /// Its bytes. Any warning is an error.
    func built(edition: Int = 1, by compiler: Compiler? = nil) throws -> [UInt8] {
        let source = try String(contentsOfFile: path, encoding: .utf8), compiler = compiler ?? self.compiler
        let (language, standard, headers) =
            self == .c ? ("c", "-std=c99", CompatibilityFolder.abi0) : ("c++", "-std=c++17", LoadingFixture.header)
        // What C++ makes of the standard library's templates would be exported, whatever -fvisibility says.
        let linking = self == .c ? [] : ["-Wl,--version-script=\(FilePath.folder(of: path))/exports.map"]
        return try LoadingFixture.library(
            of: source,
            linking + [
                standard, "-Wall", "-Wextra", "-pedantic", "-Werror", "-fvisibility=hidden", "-DEDITION=\"\(edition)\"",
            ],
            by: [compiler.name, "-x", language], headers: headers)
    }

    private var path: String {
        self == .c
            ? CompatibilityFolder.abi0 + "/plugin.c"
            : FilePath.absolute(FilePath.folder(of: #filePath) + "/../../Plugins/Ledger/ledger.cpp")
    }
}

/// Tests/Compatibility: what of released headers is kept.
enum CompatibilityFolder {
    static let path = FilePath.absolute(FilePath.folder(of: #filePath) + "/../../Compatibility")
    static let abi0 = path + "/ABI0"
}
