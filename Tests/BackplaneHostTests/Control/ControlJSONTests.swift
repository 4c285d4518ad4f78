import Backplane
import Foundation
import TestFixtures
import Testing

@testable import BackplaneControl
@testable import BackplaneHost

/// The JSON of requests, and of the reports that are printed, sent and shown.
struct ControlJSONTests {
    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// A value's JSON, and that it is read again as the value, whatever a newer peer adds.
    private func expect<Value: Codable & Equatable>(
        _ value: Value, _ text: String, _ location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try json(value) == text, sourceLocation: location)
        let newer = Data((text.dropLast() + #","unknown":{"to":["us"]}}"#).utf8)
        #expect(try JSONDecoder().decode(Value.self, from: newer) == value, sourceLocation: location)
    }

    // MARK: Requests

    @Test(
        arguments: [
            (SwapRequest(libraries: []), #"{"libraries":[],"protocol":1,"request":"swap"}"#),
            (ResetRequest(manager: "M"), #"{"manager":"M","protocol":1,"request":"reset"}"#),
            (
                CallRequest(manager: "M", method: "m", input: "[1]", timeout: .seconds(2.5)),
                #"{"input":"[1]","manager":"M","method":"m","protocol":1,"request":"call","stages":false,"timeout":2.5}"#
            ),
            (
                LogLevelsRequest(standard: .info, exceptions: ["org.a": .debug, "B": Log.Level?.none]),
                #"{"exceptions":{"B":null,"org.a":"debug"},"protocol":1,"request":"logLevels","reset":false,"standard":"info"}"#
            ),
            (
                ApplyRequest(RequestedManifest("/m.json", environment: "night")),
                #"{"manifest":{"environment":"night","mayBeEmpty":false,"path":"/m.json"},"protocol":1,"request":"apply"}"#
            ),
        ] as [(any ControlMessage, String)])
    func `a request's keys are those of its type, next to its name`(request: any ControlMessage, text: String) throws {
        func line(_ request: some ControlMessage) throws -> String { try json(ControlText.Line(message: request)) }
        #expect(try line(request) == text)
    }

    @Test func `what a request leaves out has its usual value`() throws {
        func read<Message: ControlMessage>(_ type: Message.Type, _ text: String) throws -> Message {
            try ControlText.message(type, in: Array(text.utf8))
        }
        let apply = try read(ApplyRequest.self, #"{"request": "apply", "manifest": {"path": "/m.json"}}"#)
        #expect(apply.manifest == RequestedManifest("/m.json") && apply.options == nil)
        let levels = try read(LogLevelsRequest.self, #"{"request": "logLevels", "exceptions": {"B": null}}"#)
        #expect(levels.exceptions == ["B": nil] && levels.standard == nil && !levels.reset)
        let swap = try read(
            SwapRequest.self,
            #"{"request": "swap", "libraries": [], "options": {"drain": {"longCalls": "fail"}, "probation": {"duration": 3}}}"#
        )
        #expect(
            swap.options
                == ChangeOptions(
                    probation: Probation(duration: .seconds(3)), drain: .upTo(DrainPolicy.standard.limit, then: .fail)))
    }

    @Test(arguments: [
        (#"{"stepLimit": -1}"#, "/options/stepLimit", "from 0 to 1e9"),
        (#"{"drain": {"limit": 1e300}}"#, "/options/drain/limit", "from 0 to 1e9"),
        (#"{"drain": {"longCalls": "never"}}"#, "/options/drain/longCalls", "`later`, `cancel`, `fail`, found `never`"),
        (#"{"drain": {"retries": 0}}"#, "/options/drain/retries", "from 1 to 1000000"),
        (#"{"probation": {"duration": 1, "errorRate": 2}}"#, "/options/probation/errorRate", "from 0 to 1"),
        (#"{"probation": {"duration": 1, "healthInterval": 0}}"#, "/options/probation/healthInterval", "above 0"),
        (#"{"probation": {"duration": 1, "rate": 1}}"#, "/options/probation/rate", "no such key"),
    ])
    func `an option that is out of range is refused where it stands`(options: String, place: String, says: String) {
        let text = #"{"request": "rollback", "plugin": "org.a", "options": \#(options)}"#
        let error = #expect(throws: BackplaneError.self) {
            try ControlText.message(RollbackRequest.self, in: Array(text.utf8))
        }
        #expect(error?.code == .controlMalformed && error?.location == place)
        #expect(error?.message.contains(says) == true, "\(String(describing: error))")
    }

    @Test func `options come back as they were given`() throws {
        for options in [
            ChangeOptions(),
            ChangeOptions(
                probation: Probation(duration: .seconds(0.05), errorRate: 1, minimumCalls: 0),
                drain: .upTo(.milliseconds(1), then: .fail), stepLimit: .seconds(86_400)),
            ChangeOptions(drain: .upTo(.seconds(2), then: .cancel), trustsLibraries: true, allowsMissingMethods: true),
            ChangeOptions(encodesState: true),
            ChangeOptions(drain: .upTo(.seconds(3), then: .retry(attempts: 7, within: .seconds(8)))),
        ] {
            #expect(try JSONDecoder().decode(ChangeOptions.self, from: JSONEncoder().encode(options)) == options)
        }
        try expect(
            ChangeOptions(drain: .standard),
            #"{"allowsMissingMethods":false,"discardsState":false,"drain":{"limit":0.2,"longCalls":"later","retries":100,"retryFor":600},"encodesState":false,"stepLimit":10,"trustsLibraries":false}"#
        )
    }

    // MARK: Reports

    @Test func `a report has the keys of its types, and its durations are seconds`() throws {
        var report = ChangeReport(.rolledBack)
        report.plugins = [
            PluginChange(
                plugin: "org.a", library: "/a.so", fromGeneration: 1, toGeneration: 2, fromVersion: "1.0.0",
                toVersion: "1.1.0")
        ]
        report.components = [
            ComponentChange(
                component: "M", role: "manager", action: .replaced, reason: "its code is new", className: "C",
                fromVersion: "1.0.0", toVersion: "1.1.0",
                manner: .gated, state: StateChange(schema: "s", fromVersion: 1, lane: "encoded", lost: "why"))
        ]
        report.wires = [
            WireChange(label: "w", provider: "P", contract: "K", fromLane: "native", toLane: "encoded", reason: "why")
        ]
        report.managers = ManagerChanges(started: ["b", "a"], restarted: ["c"], stopped: [], kept: ["d"])
        (report.callsHeld, report.longestWait, report.duration) = (5, .milliseconds(1.5), .nanoseconds(12_345_678))
        report.steps = [StepTime(step: .prepare, duration: .microseconds(4_234))]
        (report.warnings, report.failure) = (["careful"], BackplaneError(.swapFailed, "no"))
        try expect(
            report,
            #"{"callsHeld":5,"components":[{"action":"replaced","callsInFlight":0,"className":"C","component":"M","fromVersion":"1.0.0","graphs":[],"manner":"gated","reason":"its code is new","role":"manager","#
                + #""state":{"bytes":0,"fromVersion":1,"lane":"encoded","lost":"why","schema":"s"},"toVersion":"1.1.0"}],"#
                + #""duration":0.012345678,"failure":{"code":"swap.failed","message":"no"},"longestWait":0.0015,"#
                + #""managers":{"kept":["d"],"reconfigured":[],"restarted":["c"],"started":["a","b"],"stopped":[]},"outcome":"rolledBack","#
                + #""plugins":[{"fromGeneration":1,"fromVersion":"1.0.0","library":"/a.so","plugin":"org.a","toGeneration":2,"toVersion":"1.1.0"}],"refusals":[],"#
                + #""steps":[{"duration":0.004234,"step":"prepare"}],"warnings":["careful"],"#
                + #""wires":[{"contract":"K","fromLane":"native","label":"w","provider":"P","reason":"why","toLane":"encoded"}]}"#
        )
        let error = #expect(throws: BackplaneError.self) {
            try JSON.decode(
                StepTime.self, Array(#"{"duration": 1, "step": "leap"}"#.utf8), failing: .controlProtocol)
        }
        #expect(error?.location == "/step" && error?.message.contains("leap") == true)
    }

    @Test(
        arguments: [
            (.started(managers: ["M"]), #"{"started":{"managers":["M"]},"time":1.5}"#),
            (
                .failed(operation: .reset, error: BackplaneError(.swapFailed, "no")),
                #"{"failed":{"error":{"code":"swap.failed","message":"no"},"operation":"reset"},"time":1.5}"#
            ),
            (.missed(count: 7), #"{"missed":{"count":7},"time":1.5}"#),
        ] as [(HostEvent.Kind, String)])
    func `an event is an object under its name, next to its time`(kind: HostEvent.Kind, text: String) throws {
        try expect(HostEvent(time: 1.5, kind), text)
    }

    @Test func `reports have no confidential details`() throws {
        let failure = BackplaneError.Failure(code: "http", details: ["status": "409", ".body": "a secret"])
        let cause = BackplaneError(.componentFailed, "no", failure: failure)
        let error = BackplaneError(.componentFailed, "no", failure: failure, causes: [cause])
        let text = try json(FailureStatistics(error, at: 0))
        #expect(text.contains("409") && !text.contains("secret"))
    }
}

/// Which of several running hosts a command is for.
struct HostChoiceTests {
    private func host(_ process: Int32, _ manifest: String?) -> RunningHost {
        let greeting = HostGreeting(
            protocol: 1, version: "0.1.0", process: process, manifest: manifest, environment: nil, startedAt: 0,
            requests: [])
        return RunningHost(socket: "/run/host-\(process).sock", greeting: greeting)
    }

    private let silent = RunningHost(
        socket: "/run/host-9.sock", greeting: nil,
        problem: BackplaneError(.controlUnreachable, "the host does not answer in time"))

    /// The process of the chosen one; or the kind of refusal, and how many hosts are listed.
    private func outcome(_ choice: HostChoice, _ hosts: [RunningHost], here: String? = nil) -> String {
        do throws(HostChoice.Refusal) {
            return "\(try choice.choose(among: hosts, here: here).greeting?.process ?? 0)"
        } catch {
            switch error {
            case .none(let error): return "none: \(error.code)"
            case .absent(let hosts, _): return "absent: \(hosts.count)"
            case .unclear(let hosts, _): return "unclear: \(hosts.count)"
            }
        }
    }

    @Test func `the only one is taken, whatever it runs`() {
        #expect(outcome(HostChoice(), [host(1, "/a.json")]) == "1")
        #expect(outcome(HostChoice(), [host(1, nil)], here: "/b.json") == "1")
        #expect(outcome(HostChoice(), []) == "none: control.unreachable")
        #expect(outcome(HostChoice(), [silent]) == "none: control.unreachable")
    }

    @Test func `of several it is the one that runs what is asked for, or what is here`() {
        let hosts = [host(1, "/a.json"), host(2, "/b.json"), host(3, nil), silent]
        #expect(outcome(HostChoice(manifest: "/b.json"), hosts) == "2")
        #expect(outcome(HostChoice(manifest: "/x/../b.json"), hosts) == "2")
        #expect(outcome(HostChoice(), hosts, here: "/a.json") == "1")
        #expect(outcome(HostChoice(), hosts) == "unclear: 4")
        #expect(outcome(HostChoice(), hosts, here: "/c.json") == "unclear: 4")
    }

    @Test func `two of one manifest are listed, without the others`() {
        let hosts = [host(1, "/a.json"), host(2, "/a.json"), host(3, "/b.json")]
        #expect(outcome(HostChoice(manifest: "/a.json"), hosts) == "unclear: 2")
        #expect(outcome(HostChoice(), hosts, here: "/a.json") == "unclear: 3")
    }

    @Test func `a manifest that no host runs selects the only host if that is allowed`() {
        #expect(outcome(HostChoice(manifest: "/c.json"), [host(1, "/a.json")]) == "absent: 1")
        #expect(outcome(HostChoice(manifest: "/c.json", takesAnother: true), [host(1, "/a.json")]) == "1")
        #expect(
            outcome(HostChoice(manifest: "/c.json", takesAnother: true), [host(1, "/a.json"), host(2, "/b.json")])
                == "unclear: 2")
    }
}
