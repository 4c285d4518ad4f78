import CBackplane
import Foundation
import Testing

/// Neither the lane revision nor a layout that it covers changes without the other.
struct LaneRevisionTests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "lane-revision.txt")
    private static let isRecording = ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] == "1"

    @Test func `the layouts are those of the recorded revision`() throws {
        let now = LaneRecord.current
        switch LaneVerdict(kept: try? String(contentsOf: Self.file, encoding: .utf8), now: now) {
        case .same: break
        case .raiseTheRevision(let changes):
            let advice =
                "what crosses natively has changed: raise BP_LANE_REVISION in lease.h, and then record it with RECORD_SNAPSHOTS=1"
            Issue.record("\(([advice] + changes).joined(separator: "\n"))")
        case .record where Self.isRecording:
            try Data(now.text.utf8).write(to: Self.file)
            Issue.record("recorded lane revision \(now.revision)")
        case .record: Issue.record("the lane revision is new: record its layouts with RECORD_SNAPSHOTS=1")
        case .restore:
            Issue.record("lane-revision.txt is missing or not an earlier one's: fetch it back from version control")
        }
    }

    @Test func `every field that a revision covers is in its record`() {
        let text = LaneRecord.current.text
        #expect(
            text.hasPrefix(
                "revision \(BP_LANE_REVISION)\nbp_slot: 24 bytes, aligned to 8\nbp_slot.binding at 0, 8 bytes: Optional<UnsafeMutablePointer<bp_binding>>\n"
            ))
        #expect(!text.contains("?"), "every offset and every function's type is known")
        #expect(!text.contains("has no layout"))
        #expect(LaneRecord(text: text) == .current)
    }

    @Test func `a changed layout cannot be recorded under the same revision`() {
        let kept = LaneRecord(revision: 3, layouts: ["a at 0", "b at 8"])
        func verdict(_ now: LaneRecord) -> LaneVerdict { LaneVerdict(kept: kept.text, now: now) }
        #expect(verdict(kept) == .same)
        #expect(
            verdict(LaneRecord(revision: 3, layouts: ["a at 0", "b at 16"]))
                == .raiseTheRevision(["- b at 8", "+ b at 16"]))
        #expect(
            verdict(LaneRecord(revision: 3, layouts: ["b at 8", "a at 0"])) == .raiseTheRevision([]),
            "not even in another order")
        #expect(verdict(LaneRecord(revision: 3, layouts: [])) == .raiseTheRevision(["- a at 0", "- b at 8"]))
        #expect(verdict(LaneRecord(revision: 4, layouts: ["a at 0", "b at 16"])) == .record)
        #expect(verdict(LaneRecord(revision: 4, layouts: kept.layouts)) == .record)
    }

    @Test func `a record that is missing, damaged or of a later revision is not recorded again`() {
        let now = LaneRecord(revision: 3, layouts: ["a at 0"])
        #expect(LaneVerdict(kept: nil, now: now) == .restore)
        #expect(LaneVerdict(kept: "", now: now) == .restore)
        #expect(LaneVerdict(kept: "a at 0\n", now: now) == .restore)
        #expect(LaneVerdict(kept: "revision 4\na at 0\n", now: now) == .restore)
    }
}
