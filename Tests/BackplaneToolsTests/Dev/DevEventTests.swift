import Backplane
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost
@testable import BackplaneTools

/// What people, editors and scripts read of what happens under `backplane dev`.
struct DevEventTests {
    private static let folder = "/home/ada/notes", library = "/home/ada/notes/.build/debug/libNotes.so"

    private static var swap: ChangeReport {
        var report = ChangeReport(.changed)
        report.plugins = [
            PluginChange(
                plugin: "org.example.notes", library: library, fromGeneration: 2, toGeneration: 3, fromVersion: "1.0.0",
                toVersion: "1.0.0")
        ]
        report.duration = .milliseconds(4.234)
        return report
    }

    private static var upgrade: ChangeReport {
        var report = swap
        report.plugins[0].toVersion = "1.1.0"
        report.plugins.append(
            PluginChange(
                plugin: "org.example.tags", library: "/libTags.so", fromGeneration: 1, toGeneration: 2,
                fromVersion: "2.0.0", toVersion: "2.0.0"))
        (report.callsHeld, report.longestWait, report.duration) = (3, .milliseconds(1.5), .milliseconds(17.9))
        report.components = [
            ComponentChange(
                component: "Tags", role: "manager", action: .replaced, reason: "its code is new", className: "Tags",
                fromVersion: "2.0.0", toVersion: "2.0.0",
                manner: .gated,
                state: StateChange(schema: "tags", fromVersion: 3, toVersion: nil, lost: "nothing takes version 3"))
        ]
        report.managers = change.managers
        report.warnings = ["two\nlines"]
        return report
    }

    private static var back: ChangeReport {
        var report = swap
        (report.plugins[0].fromGeneration, report.plugins[0].toGeneration, report.outcome) = (3, 2, .rolledBack)
        report.failure = BackplaneError(.swapRefused, "every second call failed")
        return report
    }

    private static var changesOfOthers: [DevEvent] {
        var back = swap, reset = ChangeReport(.changed)
        (back.plugins[0].fromGeneration, back.plugins[0].toGeneration) = (3, 2)
        reset.managers.restarted = ["Notes"]
        let changes: [HostEvent.Kind] = [
            .swapped(report: swap), .swapped(report: back), .applied(report: change), .reset(report: reset),
        ]
        return changes.map(DevEvent.changed)
    }

    private static var collaborator: ChangeReport {
        var report = ChangeReport(.changed)
        report.managers.kept = ["Notes"]
        report.components = [
            ComponentChange(
                component: "NotesService", role: "network service", action: .reconfigured,
                reason: "its configuration differs", className: "NotesService", toVersion: "1.0.0")
        ]
        return report
    }

    private static var change: ChangeReport {
        var change = ChangeReport(.changed)
        (change.managers.started, change.managers.kept) = (["Tags"], ["Notes"])
        return change
    }

    private static func result(
        _ outcome: DevLoop.BuildEnd, isChanged: Bool = true, isSwapped: Bool = true, _ text: [String] = []
    ) -> DevEvent {
        .buildEnded(
            .init(
                product: "Notes", outcome: outcome, seconds: 1.25, isChanged: isChanged,
                isSwapped: isSwapped,
                text: text))
    }

    private static func started(_ managers: [HostChild.ReportedManager], isOwn: Bool = true, problems: [String] = [])
        -> DevEvent
    {
        .hostStarted(
            .init(
                isOwn: isOwn,
                report: .init(
                    process: 4711, control: "/run/backplane/host-4711.sock", managers: managers, problems: problems)))
    }

    private static let mistake = [
        "/home/ada/notes/Sources/Notes.swift:3:20: error: cannot convert value of type 'Bool' to specified type 'Int'",
        "3 | let a: Int = true",
    ]
    private static let refused = BackplaneError(
        .swapRefused, "`Desk` needs Notes 2.0.0", at: "/managers/Desk",
        causes: [BackplaneError(.wireMismatch, "it has\n1.1.0")])

    private static var events: [DevEvent] {
        get throws {
            let diagnostic = try #require(Diagnostic(mistake[0])),
                idle = BackplaneError(.unknownClass, "no plugin registers a class `Tag`")
            return [
                .started(
                    .init(
                        manifest: "backplane.json", packages: [.init(path: folder, products: ["Notes", "Tags"])],
                        libraries: ["/lib/libClock.so"])),
                .started(.init(manifest: "backplane.json", packages: [], libraries: [])),
                .buildStarted(.init(product: "Notes", package: folder, isSwapped: false, because: [])),
                .buildProgress(.init(product: "Notes", isSwapped: false, step: "[3/7] Compiling Notes Notes.swift")),
                .buildStarted(
                    .init(
                        product: "Notes", package: folder, isSwapped: true,
                        because: [folder + "/Sources/Notes.swift"])),
                .buildProgress(.init(product: "Notes", isSwapped: true, step: "[1/7] Planning build")),
                .buildWaiting(.init(product: "Notes", process: 4711, folder: folder + "/.build")),
                .diagnostic(.init(product: "Notes", diagnostic: diagnostic)),
                result(.failed, isChanged: false, mistake), result(.cancelled), result(.succeeded, isSwapped: false),
                result(.succeeded),
                result(.succeeded, ["/home/ada/notes/Sources/Notes.swift:3:5: warning: never used"]),
                result(.succeeded, isChanged: false),
                started([.init(name: "Notes", state: "ready", reason: nil)]), started([], isOwn: false),
                started(
                    [
                        .init(name: "Notes", state: "ready", reason: nil),
                        .init(name: "Ta\u{1B}gs", state: "idle", reason: idle),
                    ],
                    problems: ["backplane.json:4:9: error: no plugin registers a class `Tag` [component.unknown-class]"]
                ),
                .alsoRunning(.init(hosts: [.init(process: 4711, control: "/run/backplane/4711.sock")])),
                .hostEnded(.init(isExpected: true, isInOrder: true, how: "it ended with exit code 0")),
                .hostEnded(.init(isExpected: true, isInOrder: false, how: "signal 9 ended it (Killed)")),
                .hostEnded(.init(isExpected: false, isInOrder: false, how: "signal 11 ended it (Segmentation fault)")),
                .swapped(.init(builtIn: [library: 1.234], report: swap)),
                .swapped(.init(builtIn: [:], report: upgrade)),
                .unchanged(.init(libraries: [library], builtIn: [:])),
                .unchanged(.init(libraries: [library], builtIn: [library: 1.234])),
                .refused(.init(subject: .swap, error: refused)),
                .refused(
                    .init(
                        subject: .manifest, error: BackplaneError(.manifestMalformed, "backplane.json has 1 error"),
                        problems: ["backplane.json:3:3: error: expected a key"])),
                .refused(
                    .init(
                        subject: .package,
                        error: BackplaneError(
                            .packageUnusable, "the Swift package manager cannot read this package", at: folder))),
                .rolledBack(back), .applied(change), .applied(collaborator),
            ] + changesOfOthers + [
                .generations(.init(generations: [])),
                .output(.init(stream: .errors, text: "a line of the application's \u{1B}[31mown")),
                .stopped(.init(reason: "SIGTERM")),
            ]
        }
    }

    @Test func `each event is one line of text, with details below it`() throws {
        let lines = try Self.events.map { event in
            ([event.name] + event.lines(at: "12:34:56", colour: false).map { "    " + $0 }).joined(separator: "\n")
        }
        try expectSnapshot(lines.joined(separator: "\n") + "\n", "dev-lines")
    }

    @Test func `a refusal states each of its reasons once`() {
        let first = BackplaneError(
            .stateIncompatible, "`Notes` cannot read state 2", at: "/managers/Notes",
            causes: [BackplaneError(.callInvalidInput, "expected a number")])
        let second = BackplaneError(.stateIncompatible, "`Tags` cannot read state 3", at: "/managers/Tags")
        let refused = BackplaneError(
            .swapRefused, "nothing was changed: \(first.message) (and 1 more)", at: first.location,
            causes: [first, second])
        #expect(
            DevEvent.refused(.init(subject: .swap, error: refused)).lines(at: "12:34:56", colour: false) == [
                "12:34:56  refused      /managers/Notes: swap.refused: nothing was changed: `Notes` cannot read state 2"
                    + " (and 1 more); the active version is unchanged",
                "  call.invalid-input: expected a number",
                "  /managers/Tags: state.incompatible: `Tags` cannot read state 3",
            ])
    }

    @Test func `a program reads a line of JSON for each, with a name and a time`() throws {
        let lines = try Self.events.map { $0.json(at: 1_700_000_000.5) }
        for line in lines {
            #expect(!line.contains("\n"))
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(object["event"] is String && object["time"] as? Double == 1_700_000_000.5 && object.count > 2)
        }
        try expectSnapshot(lines.joined(separator: "\n") + "\n", "dev-events")
    }

    @Test func `no line has anything that a terminal takes for an order`() throws {
        for event in try Self.events {
            for line in event.lines(at: "12:34:56", colour: false) {
                #expect(!line.unicodeScalars.contains { $0.value < 32 || $0.value == 127 }, "\(line.debugDescription)")
            }
        }
    }
}
