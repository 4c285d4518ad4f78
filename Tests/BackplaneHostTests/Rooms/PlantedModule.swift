import Foundation

/// A small module with the rooms of another one, and in each a reference to every later room.
struct PlantedModule {
    private let folder: URL
    var sources: String { folder.appending(path: "Sources").path }
    var index: String { folder.appending(path: "index").path }
    /// The references that are wrong, in the order of their files.
    private(set) var planted: [Rooms.WrongReference] = []

    init(_ rooms: Rooms) throws {
        folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().appending(
            path: "rooms-\(UUID().uuidString)")
        for (place, room) in rooms.names.enumerated() {
            let earlier = rooms.names[0]
            // What stands on the second line is as it should be; an extension's member counts where the extension is.
            let type = """
                struct \(room)Type {
                    var own: \(earlier)Type { \(earlier)Type() }
                }
                extension \(earlier)Type {
                    func of\(room)() {}
                }

                """
            try write(type, to: "\(room)/\(room)Type.swift")
            for (distance, later) in rooms.names[(place + 1)...].enumerated() {
                // In turn a type, and a member that an extension in the later room adds to a type of the first.
                let isMember = (place + distance) % 2 == 1, file = "\(room)/\(room)To\(later).swift"
                let line =
                    isMember
                    ? "func planted\(room)\(later)(_ value: \(earlier)Type) { value.of\(later)() }"
                    : "func planted\(room)\(later)(_ value: \(later)Type) {}"
                try write("// Wrong:\n\(line)\n", to: file)
                planted.append(
                    Rooms.WrongReference(
                        file: file, line: 2, symbol: isMember ? "of\(later)()" : "\(later)Type", room: room,
                        later: later))
            }
        }
        planted.sort { $0.file < $1.file }
    }

    private func write(_ text: String, to path: String) throws {
        let file = folder.appending(path: "Sources").appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
    }

    /// Adds a file that has not been compiled.
    func add(_ name: String, to room: String) throws {
        try write("", to: "\(room)/\(name)")
    }

    /// Compiles it, and has the compiler leave an index.
    ///
    /// - Throws: ``Toolchain/Missing`` where that fails.
    func compile(_ toolchain: Toolchain) throws {
        let files = try SourceFolder.files(in: sources).map { "\(sources)/\($0)" }
        let (isTaken, output) = try toolchain.compile(
            [
                "-c", "-working-directory", folder.path, "-module-name", "Planted", "-parse-as-library",
                "-swift-version", "6", "-index-ignore-system-modules", "-index-store-path", index,
            ] + files)
        guard isTaken else { throw Toolchain.Missing(description: "the module does not compile: \(output)") }
    }

    func remove() {
        try? FileManager.default.removeItem(at: folder)
    }
}
