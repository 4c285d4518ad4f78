import Foundation
import Testing

/// A plugin in C of Tests/Plugins, compiled for the test.
enum PluginInC {
    /// Returns the library's path.
    static func compile(_ source: String, in folder: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized.path
        let library = "\(folder)/lib\(source.prefix { $0 != "/" }).so", compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = [
            "clang", "-std=c99", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1",
            "-fvisibility=hidden", "-shared", "-fPIC", "-pthread", "-DEDITION=\"1.0.0\"", "-I",
            root + "/Sources/CBackplane/include", "-o", library, root + "/Tests/Plugins/\(source).c",
        ]
        try compiler.run()
        compiler.waitUntilExit()
        try #require(compiler.terminationStatus == 0)
        return library
    }
}
