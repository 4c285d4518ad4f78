#if DEBUG
import Foundation
import Testing

@testable import BackplaneHost

/// The rooms of the host have one direction, as the compiler's index shows it.
///
/// The index is that of the build without engines that `BACKPLANE_PACKAGE_FREE` names, or of this one. Only debug
/// builds have one.
@Suite(.timeLimit(.minutes(5)))
struct RoomTests {
    private static let sources = URL(filePath: #filePath).appending(path: "../../../../Sources/BackplaneHost")
        .standardizedFileURL.path

    @Test func `every file lies in a room`() throws {
        let files = try SourceFolder.files(in: Self.sources)
        #expect(!files.isEmpty && files.filter { Rooms.ofHost.place(of: $0) == nil } == [])
    }

    @Test func `no room refers to a later one`() throws {
        let other = ProcessInfo.processInfo.environment["BACKPLANE_PACKAGE_FREE"]
        let build = try #require(other ?? RunningExecutable.folder)
        let index = try SourceIndex(at: build + "/index/store", below: Self.sources, Toolchain())
        #expect(index.occurrences.values.contains { $0.contains { !$0.isDefinition } })
        let wrong = Rooms.ofHost.wrongReferences(in: index, below: Self.sources)
        #expect(wrong.isEmpty, "\(wrong.count) references:\n\(wrong.map(\.description).joined(separator: "\n"))")
    }

    @Test func `the coordinator's actor, all extensions together, stays small`() throws {
        let lines = try SourceFolder.files(in: Self.sources).reduce(0) { lines, file in
            lines
                + SourceFolder.linesOfType(
                    "Coordinator", in: try String(contentsOfFile: Self.sources + "/" + file, encoding: .utf8))
        }
        #expect(lines > 100 && lines <= 500)
    }

    @Test func `a reference to a later room is named, in whichever room it is planted`() throws {
        let module = try PlantedModule(Rooms.ofHost)
        defer { module.remove() }
        let toolchain = try Toolchain()
        try module.compile(toolchain)
        let found = Rooms.ofHost.wrongReferences(
            in: try SourceIndex(at: module.index, below: module.sources, toolchain), below: module.sources)
        #expect(found == module.planted)
        #expect(Set(found.map(\.room)) == Set(Rooms.ofHost.names.dropLast()))
    }

    @Test func `an index that is missing, or does not know a file, is said to be`() throws {
        let module = try PlantedModule(Rooms.ofHost)
        defer { module.remove() }
        let toolchain = try Toolchain()
        #expect(throws: Toolchain.Missing.self) { try SourceIndex(at: module.index, below: module.sources, toolchain) }
        try module.compile(toolchain)
        try module.add("Late.swift", to: Rooms.ofHost.names[0])
        let error = #expect(throws: Toolchain.Missing.self) {
            try SourceIndex(at: module.index, below: module.sources, toolchain)
        }
        #expect(error?.description.contains("\(Rooms.ofHost.names[0])/Late.swift") ?? false)
    }
}
#endif
