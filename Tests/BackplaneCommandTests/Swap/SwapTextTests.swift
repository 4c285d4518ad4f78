import Backplane
import Foundation
import TestFixtures
import Testing

@testable import BackplaneCommand
@testable import BackplaneHost
@testable import BackplaneTools

/// What people read of swaps.
struct SwapTextTests {
    private var report: ChangeReport {
        var report = ChangeReport(.changed)
        report.plugins = [
            .init(
                plugin: "org.example.notes", library: "/build/libNotes.so", fromGeneration: 2, toGeneration: 3,
                fromVersion: "1.0.0", toVersion: "1.1.0")
        ]
        report.components = [
            .init(
                component: "NotesManager", role: "manager", .replaced, because: "its code is new",
                className: "NotesManager", fromVersion: "1.0.0",
                toVersion: "1.1.0", manner: .gated,
                state: StateChange(
                    schema: "notes", fromVersion: 1, toVersion: 2, bytes: 12_345, lane: "encoded",
                    reason: "the state has version 1 in the old code and 2 in the new code",
                    remark: "the order of its arrays differs"), callsInFlight: 3),
            .init(
                component: "NotesStore", role: "data access controller", .replaced, because: "its code is new",
                className: "NotesStore", fromVersion: "1.0.0",
                toVersion: "1.0.0", manner: .ungated),
            .init(
                component: "Desk", role: "manager", .recreated, because: "it calls NotesManager", className: "Desk",
                fromVersion: "2.0.0", toVersion: "2.0.0",
                manner: .gated,
                state: StateChange(schema: "desk", fromVersion: 1, toVersion: 1, lane: "native")),
            .init(
                component: "Tags", role: "manager", .replaced, because: "its code is new", className: "Tags",
                fromVersion: "1.0.0", toVersion: "1.1.0",
                manner: .gated,
                state: StateChange(schema: "tags", fromVersion: 3, toVersion: nil, lost: "nothing takes version 3")),
        ]
        report.wires = [
            WireChange(
                user: "Desk", label: "notes", provider: "NotesManager", contract: "Notes", fromLane: "native",
                toLane: "encoded", reason: "field `text` is new"),
            WireChange(
                user: nil, label: "NotesManager", provider: "NotesManager", contract: "Notes", fromLane: "encoded",
                toLane: "encoded"),
        ]
        (report.callsHeld, report.longestWait, report.duration) = (2, .milliseconds(0.3149), .milliseconds(12.6))
        return report
    }

    @Test func `a report says what changed, what was carried over and what it took`() throws {
        var unchanged = ChangeReport(.unchanged), back = report
        unchanged.warnings = ["two\nlines"]
        back.outcome = .rolledBack
        let texts = [report, back, unchanged].map { $0.lines(colour: false).joined(separator: "\n") }
        try expectSnapshot(texts.joined(separator: "\n\n") + "\n", "swap-report")
    }

    @Test func `a preview is tables, and what speaks against it`() throws {
        var preview = ChangeReport(.planned)
        (preview.plugins, preview.components, preview.wires) = (report.plugins, report.components, report.wires)
        preview.managers.kept = ["Clock"]
        preview.warnings = ["the library was built a year ago"]
        let sound = preview
        preview.refusals = [
            BackplaneError(
                .swapRefused, "`Desk` needs Notes 2.0.0", at: "/managers/Desk",
                causes: [BackplaneError(.wireMismatch, "it has 1.1.0")])
        ]
        let texts = [sound, preview, ChangeReport(.planned)].map { $0.lines(colour: false).joined(separator: "\n") }
        try expectSnapshot(texts.joined(separator: "\n\n") + "\n", "swap-preview")
    }
}
