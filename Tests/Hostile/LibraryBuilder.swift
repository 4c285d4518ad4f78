import Foundation

/// Builds the libraries in a folder, with the compilers of the toolchain.
struct LibraryBuilder: Sendable {
    struct NotBuilt: Error, CustomStringConvertible {
        let description: String
    }
    /// What this process has no right to make.
    struct LeftOut: Error {
        let reason: String
    }
    let folder: String
    private static let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardizedFileURL.path
    private static let sources = package + "/Tests/Plugins/Hostile/Corpus",
        header = package + "/Sources/CBackplane/include"

    init(_ folder: String) throws {
        self.folder = folder
        try build("good", ["-shared", Self.sources + "/good.c"], as: good)
        try build(
            "stranger", ["-shared", "-DSTRANGER", "-DNO_IDENTITY", "-DHIDDEN_ENTRY", Self.sources + "/image.c"],
            as: folder + "/libstranger.so")
    }

    /// What is changed into others. Beside `libgood.so`, which is built among the others and may be half written
    /// meanwhile.
    private var good: String { folder + "/libmodel.so" }

    func path(of library: HostileLibrary) -> String { "\(folder)/lib\(library.name).so" }

    /// - Throws: ``LeftOut``, or what the compiler says.
    func make(_ library: HostileLibrary) throws {
        let path = path(of: library)
        switch library.making {
        case .source(let family, let variant, let flags):
            let isWhole = flags.contains("-c") || flags.contains("-no-pie")
            let source = ["\(Self.sources)/\(family).c"]
            try build(
                library.name,
                (isWhole ? [] : ["-shared"]) + (variant.map { ["-D\($0)"] } ?? []) + source + ["-L", folder] + flags,
                as: path)
        case .swift(let variant):
            try build(library.name, ["-c", "-D\(variant)", Self.sources + "/swift.c"], as: path + ".o")
            let process = [
                "swiftc", "-emit-library", "-module-name", "Hostile", "-D", variant, Self.sources + "/trap.swift",
                path + ".o", "-o", path,
            ]
            try run(process, for: library.name)
        case .bytes(let change):
            var bytes = contents(of: good)
            change(&bytes)
            write(bytes, to: path)
        case .node(let kind, let device):
            guard mknod(path, kind | 0o600, device) == 0 else {
                throw LeftOut(reason: String(cString: strerror(errno)))
            }
        case .other(let make):
            make(path, good)
        }
    }

    private func build(_ name: String, _ arguments: [String], as output: String) throws {
        try run(
            [
                "clang", "-fPIC", "-O1", "-g0", "-pthread", "-I", Self.header, "-Wno-unused-command-line-argument",
                "-o", output,
            ] + arguments, for: name)
    }

    private func run(_ command: [String], for name: String) throws {
        let outcome = Child.run("/usr/bin/env", command, limit: 120)
        guard case .exit(0) = outcome.ending else {
            throw NotBuilt(description: "\(name) is not built: \(outcome.errors)")
        }
    }
}
