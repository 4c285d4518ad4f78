import Foundation

/// A small module with the rooms of another one, and in each but the last a reference to a later room.
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
            let earlier = rooms.names[0], later = rooms.names.indices.contains(place + 1) ? rooms.names[place + 1] : nil
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
            guard let later else { continue }
            // In turn a type, and a member that an extension in the later room adds to a type of the first.
            let isMember = place % 2 == 1, file = "\(room)/\(room)Planted.swift"
            let line =
                isMember
                ? "func planted\(room)(_ value: \(earlier)Type) { value.of\(later)() }"
                : "func planted\(room)(_ value: \(later)Type) {}"
            try write("// Wrong:\n\(line)\n", to: file)
            planted.append(
                Rooms.WrongReference(
                    file: file, line: 2, symbol: isMember ? "of\(later)()" : "\(later)Type", room: room, later: later))
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
