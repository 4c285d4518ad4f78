import BackplaneTestKit
import TestFixtures
import Testing

/// Plugins that keep every thread of Swift's pool do not keep the control socket from answering.
@Suite(.timeLimit(.minutes(10)), .disabled(if: OccupiedPoolProgram.isSanitized, OccupiedPoolProgram.sanitized))
struct OccupiedPoolTests {
    @Test func `a host whose plugins occupy every thread answers, and gives up at its time limit what waits for them`()
        async throws
    {
        let folder = try TestFolder()
        let lines = try await OccupiedPoolProgram.lines(["asked", folder.path], in: folder)
        #expect(lines == ["process true", "statistics true", "manager.unknown", "call.deadline"])
    }

    @Test func `a host whose plugins occupy every thread stops, and says what was left`() async throws {
        let folder = try TestFolder()
        let lines = try await OccupiedPoolProgram.lines(["stopped", folder.path], in: folder)
        #expect(lines == ["stopped true", "BusyLoop: not stopped: calls to it have not ended"])
    }
}
