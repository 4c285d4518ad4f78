import Foundation
import Glibc
import Testing

@testable import BackplaneHost
@testable import BackplaneTools

/// What files hold.
@Suite(.timeLimit(.minutes(2)))
struct FileFingerprintTests {
    private let observed: Observed

    init() throws { observed = try Observed() }

    @Test func `the empty file, the missing one, a folder and a pipe are told apart, and none is waited for`() throws {
        try observed.write("", to: "empty")
        try #require(mkfifo(observed.path("pipe"), 0o600) == 0)
        try observed.makeLink("loop", to: "loop")
        let names = ["empty", "missing", "", "pipe", "loop", "empty/below"]
        let found = names.map { FileFingerprint(of: observed.path($0)) }
        #expect(
            found == [
                .contents(size: 0, hash: 0xcbf2_9ce4_8422_2325), .missing, .other, .other,
                .unreadable(SystemError(ELOOP)), .missing,
            ])
    }

    @Test(arguments: [("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)] as [(String, UInt64)])
    func `the hash is FNV-1a, as its authors' examples have it`(text: String, hash: UInt64) throws {
        try observed.write(text, to: "a")
        #expect(FileFingerprint(of: observed.path("a")) == .contents(size: text.utf8.count, hash: hash))
    }
}
