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
}
