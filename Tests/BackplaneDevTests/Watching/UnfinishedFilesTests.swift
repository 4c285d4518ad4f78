import Backplane
import BackplaneHost
import Testing

@testable import BackplaneDev

/// When new files that somebody has open are looked at again, on a clock of the test's own.
@Suite(.timeLimit(.minutes(2)))
struct UnfinishedFilesTests {
    private let file = RawPath("/folder/file")

    @Test func `a file is looked at ever more rarely, and then no more`() {
        var files = UnfinishedFiles(), moments: [Int64] = []
        #expect(files.due == nil)
        files.add(file, told: "/link/file", at: Deadline(nanoseconds: 1_000_000))
        while let due = files.due, moments.count < 100 {
            #expect(files.take(at: Deadline(nanoseconds: due.nanoseconds - 1)) == [:])
            #expect(files.take(at: due) == [file: "/link/file"])
            moments.append(due.nanoseconds / 1_000_000 - 1)
        }
        #expect(moments == [6, 18, 42, 90, 186, 378, 762, 1_530])
    }

    @Test func `one that was closed is not looked at any more`() {
        var files = UnfinishedFiles()
        files.add(file, told: "/folder/file", at: Deadline(nanoseconds: 0))
        files.add(RawPath("/folder/other"), told: "/folder/other", at: Deadline(nanoseconds: 1))
        files.remove(file)
        files.remove(file)
        #expect(files.take(at: Deadline(nanoseconds: .max)) == [RawPath("/folder/other"): "/folder/other"])
    }
}
