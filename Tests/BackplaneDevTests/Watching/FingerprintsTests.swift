import Foundation
import Glibc
import Testing

@testable import BackplaneDev
@testable import BackplaneHost

/// What files hold, and which of them were only touched.
@Suite(.timeLimit(.minutes(2)))
struct FingerprintsTests {
    private let observed: Observed

    init() throws { observed = try Observed() }

    @Test func `a file that is touched, or written as it was, has not changed`() throws {
        let path = observed.path("a.swift")
        try observed.write("one", to: "a.swift")
        var fingerprints = Fingerprints()
        #expect(fingerprints.changed(among: [path]) == [path], "it was not known")
        let watch = try observed.watch()
        defer { watch.close() }
        try observed.run(["touch", "a.swift"])
        #expect(try fingerprints.changed(among: observed.told(until: "a.swift").paths) == [])
        try observed.write("one", to: "a.swift")
        #expect(try fingerprints.changed(among: observed.told(until: "a.swift").paths) == [])
        try observed.write("two", to: "a.swift")
        #expect(try fingerprints.changed(among: observed.told(until: "a.swift").paths) == [path], "as long as before")
        #expect(fingerprints.changed(among: [path]) == [])
    }

    @Test func `a file that goes has changed, and when it comes back too`() throws {
        let path = observed.path("a")
        try observed.write("one", to: "a")
        var fingerprints = Fingerprints()
        fingerprints.remember([path])
        try observed.remove("a")
        #expect(fingerprints.changed(among: [path]) == [path])
        #expect(fingerprints.changed(among: [path]) == [])
        try observed.write("one", to: "a")
        #expect(fingerprints.changed(among: [path]) == [path])
    }

    @Test func `a folder that moves away has changed with what was in it, each time`() throws {
        try observed.makeFolder("folder")
        try observed.write("one", to: "folder/a")
        let folder = observed.path("folder"), file = observed.path("folder/a")
        var fingerprints = Fingerprints()
        fingerprints.remember([file])
        for _ in 0..<2 {
            try observed.move("folder", to: "away")
            #expect(fingerprints.changed(among: [folder]) == [folder])
            #expect(fingerprints.changed(among: [folder]) == [], "it is away still")
            try observed.move("away", to: "folder")
            #expect(fingerprints.changed(among: [file]) == [file], "it is back")
        }
    }

    @Test func `the empty file, the missing one, a folder and a pipe are told apart, and none is waited for`() throws {
        try observed.write("", to: "empty")
        try #require(mkfifo(observed.path("pipe"), 0o600) == 0)
        try observed.makeLink("loop", to: "loop")
        let names = ["empty", "missing", "", "pipe", "loop", "empty/below"]
        let found = names.map { FileFingerprint(of: observed.path($0)) }
        #expect(found == [.contents(size: 0, hash: 0xcbf2_9ce4_8422_2325), .missing, .other, .other, .unreadable(SystemError(ELOOP)), .missing])
    }

    @Test(arguments: [("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)] as [(String, UInt64)])
    func `the hash is FNV-1a, as its authors' examples have it`(text: String, hash: UInt64) throws {
        try observed.write(text, to: "a")
        #expect(FileFingerprint(of: observed.path("a")) == .contents(size: text.utf8.count, hash: hash))
    }

    @Test func `no more is read than the limit, and then any writing is a change`() throws {
        try observed.write("12345678", to: "a")
        let path = observed.path("a"), before = FileFingerprint(of: path, limit: 7)
        guard case .large = before else { throw Unexpected(before) }
        #expect(before == FileFingerprint(of: path, limit: 7) && before != FileFingerprint(of: path, limit: 8))
        try observed.write("123456789", to: "a")
        #expect(before != FileFingerprint(of: path, limit: 7))
    }

    private struct Unexpected: Error {
        let found: FileFingerprint
        init(_ found: FileFingerprint) { self.found = found }
    }
}
