import Backplane
import BackplaneHost
import Foundation
import Testing

@testable import BackplaneControl

/// The protocol's JSON to the letter: whoever speaks it was built at another time, and knows no property by its new
/// name.
@Suite struct ControlJSONTests {
    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func request(_ message: some ControlMessage) throws -> String {
        try json(ControlText.Line(message: message))
    }

    @Test func `errors are sent without their confidential details`() throws {
        let failure = BackplaneError.Failure(code: "http", details: ["status": "409", ".body": "a secret"])
        let cause = BackplaneError(.componentFailed, "no", failure: failure)
        let error = BackplaneError(.componentFailed, "no", failure: failure, causes: [cause])
        let text = try json(HostEventForm(HostEvent(time: 0, .failed(.apply, error))))
        #expect(text.contains("409") && !text.contains("secret"))
    }

    // MARK: Requests

    @Test func `requests have these keys`() throws {
        let options = SwapOptions(
            probation: Probation(
                duration: .seconds(30), errorRate: 0.05, minimumCalls: 3, healthInterval: .milliseconds(500)),
            drain: .upTo(.seconds(5), then: .fail),
            stepLimit: .milliseconds(1_500), discardsState: true)
        let text =
            #"{"discardsState":true,"drainLimit":5,"longCalls":"fail","probation":{"duration":30,"errorRate":0.05,"healthInterval":0.5,"minimumCalls":3},"stepLimit":1.5}"#
        #expect(try request(HelloRequest()) == #"{"protocol":1,"request":"hello"}"#)
        #expect(
            try request(SwapRequest(libraries: ["a.so"], options: options))
                == #"{"libraries":["a.so"],"options":\#(text),"protocol":1,"request":"swap"}"#)
        #expect(try request(SwapRequest(libraries: [])) == #"{"libraries":[],"protocol":1,"request":"swap"}"#)
        #expect(
            try request(PreviewRequest(libraries: ["a.so"], options: options))
                == #"{"libraries":["a.so"],"options":\#(text),"protocol":1,"request":"preview"}"#)
        #expect(
            try request(RollbackRequest(plugin: "org.a", generation: 2, options: SwapOptions()))
                == #"{"generation":2,"options":{"discardsState":false,"stepLimit":10},"plugin":"org.a","protocol":1,"request":"rollback"}"#
        )
        #expect(
            try request(RollbackRequest(plugin: "org.a")) == #"{"plugin":"org.a","protocol":1,"request":"rollback"}"#)
        #expect(
            try request(GenerationsRequest(plugin: "org.a"))
                == #"{"plugin":"org.a","protocol":1,"request":"generations"}"#)
        #expect(try request(LogLevelsRequest()) == #"{"protocol":1,"request":"logLevels"}"#)
        #expect(
            try request(LogLevelsRequest(standard: "info", exceptions: ["org.a": "debug", "B": ""], reset: true))
                == #"{"exceptions":{"B":"","org.a":"debug"},"protocol":1,"request":"logLevels","reset":true,"standard":"info"}"#
        )
        #expect(try request(StatisticsRequest()) == #"{"protocol":1,"request":"statistics"}"#)
        #expect(
            try request(CallRequest(manager: "M", method: "m", input: "[1]", timeout: 2.5))
                == #"{"input":"[1]","manager":"M","method":"m","protocol":1,"request":"call","timeout":2.5}"#)
        #expect(
            try request(ApplyRequest(manifest: "/m.json", environment: "night"))
                == #"{"environment":"night","manifest":"/m.json","protocol":1,"request":"apply"}"#)
        #expect(
            try request(ApplyRequest(manifest: "/m.json", trustsLibraries: true, allowsMissingMethods: true))
                == #"{"allowsMissingMethods":true,"manifest":"/m.json","protocol":1,"request":"apply","trustsLibraries":true}"#
        )
        #expect(
            try request(ApplyRequest(manifest: "/m.json", encodesState: true))
                == #"{"encodesState":true,"manifest":"/m.json","protocol":1,"request":"apply"}"#)
        #expect(try request(ResetRequest(manager: "M")) == #"{"manager":"M","protocol":1,"request":"reset"}"#)
    }

    @Test func `options come back as they were given`() throws {
        for options in [
            SwapOptions(),
            SwapOptions(
                probation: Probation(duration: .seconds(0.05), errorRate: 1, minimumCalls: 0),
                drain: .upTo(.milliseconds(1), then: .fail), stepLimit: .seconds(86_400)),
            SwapOptions(drain: .upTo(.seconds(2), then: .cancel), trustsLibraries: true, allowsMissingMethods: true),
            SwapOptions(encodesState: true),
            SwapOptions(drain: .upTo(.seconds(3), then: .retry(attempts: 7, within: .seconds(8)))),
        ] {
            let form = try JSONDecoder().decode(
                SwapOptionsForm.self, from: JSONEncoder().encode(SwapOptionsForm(options)))
            #expect(try form.options() == options)
        }
    }

    // MARK: Answers

    @Test func `the lane of state, and a remark on it, have keys of their own`() throws {
        try expect(
            StateChangeForm(
                StateChange(
                    schema: "s", fromVersion: 1, toVersion: 1, bytes: 3, lane: "encoded", reason: "w", remark: "r")),
            #"{"bytes":3,"fromVersion":1,"lane":"encoded","reason":"w","remark":"r","schema":"s","toVersion":1}"#)
        try expect(
            StateChangeForm(StateChange(schema: "s", fromVersion: 1, toVersion: 1, lane: "native")),
            #"{"bytes":0,"fromVersion":1,"lane":"native","schema":"s","toVersion":1}"#)
    }

    /// An answer's JSON, and that what is read of it is the value.
    private func expect<Form: ControlForm>(_ form: Form, _ text: String, _ location: SourceLocation = #_sourceLocation)
        throws where Form.Value: Equatable
    {
        #expect(try json(form) == text, sourceLocation: location)
        #expect(
            try JSONDecoder().decode(Form.self, from: Data(text.utf8)).value == form.value, sourceLocation: location)
    }

    private static let plugin = PluginChange(
        plugin: "org.a", library: "/a.so", fromGeneration: 1, toGeneration: 2, fromVersion: "1.0.0", toVersion: "1.1.0")
    private static let component = ComponentChange(
        component: "M", role: "manager", className: "C", fromVersion: "1.0.0", toVersion: "1.1.0", manner: .gated,
        isRestart: true,
        state: StateChange(schema: "s", fromVersion: 1, toVersion: 2, bytes: 3, lost: "why"), callsInFlight: 4)
    private static let bareComponent = ComponentChange(
        component: "N", role: "network service", className: "D", toVersion: "2.0.0", manner: .ungated,
        state: StateChange(schema: "t"))
    private static let wire = WireChange(
        user: "M", label: "w", provider: "P", contract: "K", fromLane: "native", toLane: "encoded", reason: "why")
    private static let bareWire = WireChange(
        label: "M", provider: "M", contract: "K", fromLane: "native", toLane: "native")

    private static let changes =
        #""components":[{"callsInFlight":4,"className":"C","component":"M","fromVersion":"1.0.0","isRestart":true,"manner":"gated","role":"manager","#
        + #""state":{"bytes":3,"fromVersion":1,"lost":"why","schema":"s","toVersion":2},"toVersion":"1.1.0"},"#
        + #"{"callsInFlight":0,"className":"D","component":"N","isRestart":false,"manner":"ungated","role":"network service","state":{"bytes":0,"schema":"t"},"toVersion":"2.0.0"}]"#
    private static let plugins =
        #""plugins":[{"fromGeneration":1,"fromVersion":"1.0.0","library":"/a.so","plugin":"org.a","toGeneration":2,"toVersion":"1.1.0"}]"#
    private static let wires =
        #""wires":[{"contract":"K","fromLane":"native","label":"w","provider":"P","reason":"why","toLane":"encoded","user":"M"},"#
        + #"{"contract":"K","fromLane":"native","label":"M","provider":"M","toLane":"native"}]"#

    @Test func `a report has these keys`() throws {
        var report = SwapReport(.rolledBack)
        (report.plugins, report.components, report.wires) = (
            [Self.plugin], [Self.component, Self.bareComponent], [Self.wire, Self.bareWire]
        )
        (report.callsHeld, report.longestWait, report.duration) = (5, .milliseconds(1.5), .nanoseconds(12_345_678))
        report.steps = [StepTime(step: .prepare, duration: .microseconds(4_234))]
        (report.warnings, report.failure) = (["careful"], BackplaneError(.swapFailed, "no"))
        try expect(
            SwapReportForm(report),
            #"{"callsHeld":5,\#(Self.changes),"failure":{"code":"swap.failed","message":"no"},"longestWait":1.5,"milliseconds":12.345678,"outcome":"rolledBack","#
                + #"\#(Self.plugins),"steps":[{"milliseconds":4.234,"step":"prepare"}],"warnings":["careful"],\#(Self.wires)}"#
        )
        try expect(
            SwapReportForm(SwapReport(.unchanged)),
            #"{"callsHeld":0,"components":[],"longestWait":0,"milliseconds":0,"outcome":"unchanged","plugins":[],"steps":[],"warnings":[],"wires":[]}"#
        )
    }

    @Test func `a preview has these keys`() throws {
        var preview = SwapPreview()
        (preview.plugins, preview.components, preview.wires) = (
            [Self.plugin], [Self.component, Self.bareComponent], [Self.wire, Self.bareWire]
        )
        (preview.refusals, preview.warnings) = ([BackplaneError(.swapRefused, "no", at: "/x")], ["careful"])
        try expect(
            SwapPreviewForm(preview),
            #"{\#(Self.changes),\#(Self.plugins),"refusals":[{"code":"swap.refused","location":"/x","message":"no"}],"warnings":["careful"],\#(Self.wires)}"#
        )
    }

    @Test func `a generation has these keys`() throws {
        var generation = Generation(
            plugin: "org.a", number: 2, version: "1.0.0", library: "/a.so", state: .active, loadedAt: 1.5)
        (generation.dirtyBytes, generation.mappedBytes, generation.heldBy, generation.canReturn) = (1, 2, ["it"], true)
        try expect(
            GenerationForm(generation),
            #"{"canReturn":true,"dirtyBytes":1,"heldBy":["it"],"library":"/a.so","loadedAt":1.5,"mappedBytes":2,"number":2,"plugin":"org.a","state":"active","version":"1.0.0"}"#
        )
        try expect(
            GenerationForm(
                Generation(plugin: "org.a", number: 1, version: "1.0.0", library: nil, state: .failed, loadedAt: 0)),
            #"{"canReturn":false,"heldBy":[],"loadedAt":0,"number":1,"plugin":"org.a","state":"failed","version":"1.0.0"}"#
        )
    }

    @Test func `statistics, a change and the small answers have these keys`() throws {
        try expect(
            ComponentStatisticsForm(
                ComponentStatistics(
                    component: "M", role: "manager", managers: ["M"], plugin: "org.a", generation: 1, calls: 2,
                    errors: 3, inFlight: 4, waiting: 5)),
            #"{"calls":2,"component":"M","errors":3,"generation":1,"inFlight":4,"managers":["M"],"plugin":"org.a","role":"manager","waiting":5}"#
        )
        try expect(
            ComponentStatisticsForm(
                ComponentStatistics(
                    component: "M", role: "manager", managers: ["M"], plugin: "org.a", generation: 1, calls: 2,
                    errors: 3, inFlight: 4, waiting: 5,
                    timers: [
                        TimerStatistics(
                            name: "a", period: .seconds(30), next: .milliseconds(1_500), runs: 6, failures: 7,
                            isRunning: false),
                        TimerStatistics(name: "b", period: nil, next: nil, runs: 1, failures: 0, isRunning: true),
                    ], timerCount: 102)),
            #"{"calls":2,"component":"M","errors":3,"generation":1,"inFlight":4,"managers":["M"],"plugin":"org.a","role":"manager","timerCount":102,"timers":[{"every":30000,"failures":7,"isRunning":false,"name":"a","next":1500,"runs":6},{"failures":0,"isRunning":true,"name":"b","runs":1}],"waiting":5}"#
        )
        try expect(
            ComponentStatisticsForm(
                ComponentStatistics(
                    component: "S", role: "network service", managers: ["M"], plugin: "org.a", generation: 1, calls: 2,
                    errors: 3, inFlight: 4, waiting: 5,
                    exchanges: ExchangeStatistics(begun: 9, failed: 1, inFlight: 2, sent: 30, received: 40))),
            #"{"calls":2,"component":"S","errors":3,"exchanges":{"begun":9,"failed":1,"inFlight":2,"received":40,"sent":30},"generation":1,"inFlight":4,"managers":["M"],"plugin":"org.a","role":"network service","waiting":5}"#
        )
        try expect(
            ComponentStatisticsForm(
                ComponentStatistics(
                    component: "S", role: "network service", managers: ["M"], plugin: "org.a", generation: 1, calls: 2,
                    errors: 3, inFlight: 4, waiting: 5,
                    latency: LatencyStatistics(
                        calls: 6, median: .microseconds(1_500), percentile99: .milliseconds(20), longest: .seconds(1)),
                    lastFailure: FailureStatistics(BackplaneError(.callDeadline, "late"), at: 1.5))),
            #"{"calls":2,"component":"S","errors":3,"generation":1,"inFlight":4,"lastError":{"error":{"code":"call.deadline","message":"late"},"time":1.5},"latency":{"calls":6,"longest":1000,"median":1.5,"percentile99":20},"managers":["M"],"plugin":"org.a","role":"network service","waiting":5}"#
        )
        #expect(
            try json(LogLevelsForm(LogLevels(.notice, exceptions: ["org.a": .debug]), remarks: []))
                == #"{"exceptions":{"org.a":"debug"},"remarks":[],"standard":"notice"}"#)
        try expect(
            ManifestChangeForm(
                ManifestChange(started: ["b", "a"], restarted: ["c"], stopped: [], reconfigured: ["e"], kept: ["d"])),
            #"{"kept":["d"],"reconfigured":["e"],"restarted":["c"],"started":["a","b"],"stopped":[]}"#)
        #expect(try json(CallRequest.Answer(output: "[1]")) == #"{"output":"[1]"}"#)
        #expect(
            try json(
                HostGreeting(
                    protocol: 1, version: "0.1", process: 7, manifest: "/m.json", environment: "night", startedAt: 1.5,
                    requests: ["call"]))
                == #"{"environment":"night","manifest":"/m.json","process":7,"protocol":1,"requests":["call"],"startedAt":1.5,"version":"0.1"}"#
        )
        #expect(
            ControlText.event(ControlEvent("on")) == Array(#"{"event":{"text":"on"}}"#.utf8) + [ControlProtocol.newline]
        )
        #expect(ControlText.result(Array("1".utf8)) == Array(#"{"result":1}"#.utf8) + [ControlProtocol.newline])
    }

    // MARK: Words

    @Test func `every case has its word`() {
        #expect(SwapReport.Outcome.allCases.map(\.word) == ["swapped", "unchanged", "rolledBack"])
        #expect(
            SwapStep.allCases.map(\.word) == [
                "prepare", "quiesce", "suspend", "export", "import", "flip", "activate", "probation", "commit",
            ])
        #expect(ComponentChange.Manner.allCases.map(\.word) == ["gated", "ungated"])
        #expect(Generation.State.allCases.map(\.word) == ["loaded", "active", "onProbation", "retired", "failed"])
    }

    @Test func `a word that no case has is refused where it stands`() {
        let text = #"{"milliseconds": 1, "step": "leap"}"#
        let error = #expect(throws: BackplaneError.self) {
            try JSON.decode(StepTimeForm.self, Array(text.utf8), failing: .controlMalformed)
        }
        #expect(error?.location == "/step" && error?.message.contains("`leap`") == true)
    }
}
