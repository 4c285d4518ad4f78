import Backplane
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneCommand
@testable import BackplaneControl
@testable import BackplaneHost

/// Commands that talk to a host that runs in another process.
@Suite(.timeLimit(.minutes(10)))
struct RunningHostTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// The socket that a host has said it listens on.
    private func socket(of host: RunningTool) throws -> String {
        let line = try #require(host.output.split(separator: "\n").first { $0.hasPrefix("control socket ") })
        return String(line.dropFirst("control socket ".count))
    }

    private func sockets() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: tool.sockets)) ?? []).filter { $0.hasSuffix(".sock") }
    }

    @Test func `a host listens where it is told, and one at a time`() async throws {
        let socket = tool.folder + "/own.sock"
        var host = try await tool.startRun(Tool.almanac, "--socket", socket)
        #expect(try self.socket(of: host) == socket && sockets() == [])
        for verb in [
            ["stats"], ["stats", "--running"], ["services"], ["services", "--running"], ["call", "ClockManager"],
        ] {
            let outcome = try await tool.start(verb + ["--socket", socket]).end()
            #expect(outcome.status == 0, "\(verb): \(outcome.errors)")
        }
        let second = try await tool.run("run", Tool.almanac, "--socket", socket)
        #expect(second.status == 1 && second.errors.contains("control.unusable"), "\(second.errors)")
        #expect(second.errors.contains("a host listens there"), "\(second.errors)")
        #expect(!FileManager.default.fileExists(atPath: tool.folder + "/lock"), "no other file is left")
        host.signal(SIGKILL)
        _ = await host.end()
        host = try await tool.startRun(Tool.almanac, "--socket", socket)
        host.signal(SIGTERM)
        #expect(await host.end().status == 0 && !FileManager.default.fileExists(atPath: socket))
        try tool.write("kept", as: "file")
        let refused = try await tool.run("run", Tool.almanac, "--socket", tool.folder + "/file")
        #expect(refused.status == 1 && FileManager.default.fileExists(atPath: tool.folder + "/file"))
        try #require(mkfifo(tool.folder + "/pipe", 0o600) == 0)
        let piped = try await tool.run("run", Tool.almanac, "--socket", tool.folder + "/pipe")
        #expect(
            piped.status == 1 && piped.errors.contains("a socket or no file there, found neither"), "\(piped.errors)")
        #expect(FileManager.default.fileExists(atPath: tool.folder + "/pipe"))
    }

    @Test func `the levels of a running host's log are changed, for single plugins and back`() async throws {
        let host = try await tool.startRun(Tool.almanac, "--log-level", "warning", "--log-format", "json")
        let changed = try await tool.plain("log-level", "org.backplane.almanac=debug", "host=debug")
        #expect(
            changed.output == """
                LOG OF                 LOWEST LEVEL
                host                   debug
                org.backplane.almanac  debug
                everything else        warning

                """, "\(changed.errors)")
        #expect(host.errors == "")
        #expect(try await tool.plain("reset", "ClockManager").status == 0)
        #expect(await host.logs(#""level":"debug","component":"host""#))
        let misspelt = try await tool.plain("log-level", "org.backplane.almanack=debug")
        #expect(misspelt.status == 0 && misspelt.errors.contains("did you mean `org.backplane.almanac`"))
        let listed = try await tool.plain("log-level", "--reset", "error", "--json")
        #expect(
            listed.output.contains(#""standard" : "error""#) && !listed.output.contains("almanac"), "\(listed.errors)")
        host.signal(SIGTERM)
        let ended = await host.end()
        for line in ended.errors.split(separator: "\n") {
            #expect((try? JSONSerialization.jsonObject(with: Data(line.utf8))) != nil, "\(line)")
        }
    }

    @Test func `one that is not to be talked to does not listen`() async throws {
        let host = try await tool.startRun(Tool.almanac, "--no-control")
        #expect(!host.output.contains("control socket") && sockets() == [])
        let outcome = try await tool.plain("stats")
        #expect(outcome.status == 1 && outcome.output == "")
        #expect(
            outcome.errors
                == "backplane: control.unreachable: no host is running; start one with `backplane run`, which prints the path of its socket\n"
        )
    }

    @Test func `a call is answered by the host that runs, and by no other`() async throws {
        let host = try await tool.startRun(Tool.almanac), socket = try socket(of: host), loads = tool.loadFolders()
        let text = #"{"é":[1,null,"\n"]}"#
        for arguments in [["--running"], ["--socket", socket], [Tool.almanac, "--running"]] {
            let words =
                arguments.first == Tool.almanac
                ? [Tool.almanac, "ClockManager", "echo", text, "--running"]
                : ["ClockManager", "echo", text] + arguments
            let outcome = try await tool.start(["call"] + words).end()
            #expect(outcome.status == 0 && outcome.output == text + "\n" && outcome.errors == "", "\(outcome.errors)")
        }
        let piped = try await tool.start(["call", "ClockManager", "echo", "-", "--running"], input: text).end()
        #expect(piped.status == 0 && piped.output == text + "\n")
        #expect(tool.loadFolders() == loads, "nothing was loaded for it")
        let failed = try await tool.plain("call", "AlmanacManager", "on", "\"some day\"", "--running")
        #expect(failed.status == 1 && failed.output == "" && failed.errors.contains("almanac.not-a-day"))
        let explained = try await tool.plain("call", "AlmanacManager", "on", "\"07-20\"", "--running", "--explain")
        #expect(
            explained.status == 0 && explained.errors.contains("the wires of the host:")
                && explained.errors.contains("EventFeedService"))
    }

    @Test func `a stream is read from the host that runs`() async throws {
        let host = try await tool.startRun(Tool.almanac), loads = tool.loadFolders()
        struct Event: Decodable, Equatable { var day: String, year: Int, text: String }
        func events(_ output: String) throws -> [Event] {
            try output.split(separator: "\n").map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
        }
        let alone = try events(await tool.run("call", Tool.almanac, "AlmanacManager", "events").output)
        let all = try await tool.plain("call", "AlmanacManager", "events", "--running")
        #expect(try all.status == 0 && all.errors == "" && events(all.output) == alone && alone.count > 10)
        let some = try await tool.plain("call", "AlmanacManager", "events", "--running", "--limit", "2", "--trace")
        #expect(try some.status == 0 && events(some.output) == Array(alone.prefix(2)))
        #expect(some.errors.prefixMatch(of: /trace [0-9a-f]{32}\nexchange 1, [0-9.]+ ms: GET file:/) != nil)
        let traced = try await tool.plain("call", "AlmanacManager", "on", "\"07-20\"", "--running", "--trace")
        let words = traced.errors.split(separator: "\n").map { $0.split(separator: ": ").last ?? "" }
        #expect(traced.status == 0 && words.count == 5 && words[2] == "attempt 1" && words[3] == "status 200")
        #expect(words[4].hasPrefix("end, "), "\(traced.errors)")
        #expect(tool.loadFolders() == loads, "nothing was loaded for it")
        let stats = try await tool.plain("stats")
        #expect(stats.output.contains("STREAMS OF"), "\(stats.output)")
        withExtendedLifetime(host) {}
    }

    @Test func `what happens to a host is printed as it happens`() async throws {
        let host = try await tool.startRun(Tool.almanac)
        let text = try tool.start(["events"]), json = try tool.start(["events", "--json", "--limit", "2"])
        // A listener hears what happens from the moment on in which it listens.
        while json.output.split(separator: "\n").count < 2 { _ = try await tool.plain("reset", "ClockManager") }
        let listened = await json.end(), lines = listened.output.split(separator: "\n")
        #expect(listened.status == 0 && lines.count == 2, "\(listened)")
        for line in lines {
            let event = try JSONDecoder().decode(HostEvent.self, from: Data(line.utf8))
            if case .reset(let report) = event.kind {
                #expect(report.managers.restarted == ["ClockManager"])
            } else {
                Issue.record("\(event)")
            }
        }
        while !text.output.contains("recreated: ClockManager") { _ = try await tool.plain("reset", "ClockManager") }
        text.signal(SIGINT)
        #expect(await text.end().status == 130)
        host.signal(SIGTERM)
        #expect(await host.end().status == 0)
    }

    @Test func `events end quietly when nobody reads them any more, even if no other event follows`() async throws {
        let host = try await tool.startRun(Tool.almanac)
        let piped = try RunningTool(
            ["-c", #"{ "$@"; echo "over, $?" >&2; } | head -1"#, "sh", BuiltProducts.folder + "/backplane", "events"],
            of: "/bin/sh", input: nil, environment: ["XDG_RUNTIME_DIR": tool.folder])
        while piped.output.isEmpty { _ = try await tool.plain("reset", "ClockManager") }
        let outcome = await piped.end()
        #expect(outcome.output.contains("reset") && outcome.errors.hasSuffix("over, 0\n"), "\(outcome)")
        host.signal(SIGTERM)
        #expect(await host.end().status == 0)
    }

    @Test func `services and explain describe the running host, and what is up`() async throws {
        let host = try await tool.startRun(Tool.almanac)
        let alone = try await tool.run("services", Tool.almanac),
            running = try await tool.plain("services", "--running")
        #expect(running.status == 0 && running.output == alone.output && running.errors == "")
        let json = try await tool.plain("services", "--running", "--json")
        _ = try JSONSerialization.jsonObject(with: Data(json.output.utf8))
        let explained = try await tool.plain("explain", "AlmanacManager", "--running")
        #expect(explained.status == 0 && explained.output.hasPrefix("AlmanacManager: resolved, ready\n"))
        #expect(explained.output.contains("\(Tool.almanac):"))
        let unknown = try await tool.plain("explain", "AlmanacManger", "--running")
        #expect(
            unknown.status == 1 && unknown.output == "" && unknown.errors.contains("did you mean `AlmanacManager`?"))
        withExtendedLifetime(host) {}
    }

    @Test func `a changed manifest is activated, and a manager recreated`() async throws {
        func write(_ managers: String) throws -> String {
            try tool.write(
                #"{"manifestVersion": 1, "plugins": [{"library": "Clock"}], "managers": {\#(managers)}}"#, as: "m.json")
        }
        let clock = #""Clock": {"className": "ClockManager"}"#,
            second = #""Second": {"className": "ClockManager", "configuration": {"a": 1}}"#
        let path = try write(clock), host = try await tool.startRun(path)
        _ = try write("\(clock), \(second)")
        let applied = try await tool.plain("apply", path)
        #expect(
            applied.status == 0 && applied.output == "started: Second\n1 manager unaffected\n", "\(applied.errors)"
        )
        #expect(try await tool.plain("call", "Second", "echo", "1", "--running").output == "1\n")
        let reset = try await tool.plain("reset", "Second")
        #expect(reset.status == 0 && reset.output == "recreated: Second\n1 manager unaffected\n")
        let all = try await tool.plain("reset", "--json", "--manifest", path)
        #expect(
            try JSONDecoder().decode(ChangeReport.self, from: Data(all.output.utf8)).managers
                == ManagerChanges(restarted: ["Clock", "Second"]))
        _ = try write(clock)
        let removed = try await tool.plain("apply", "--manifest", path)
        #expect(removed.output == "stopped: Second\n1 manager unaffected\n", "\(removed.errors)")
        _ = try write("\(clock), \(second)")
        #expect(try await tool.plain("apply", path).status == 0)
        _ = try write(#""Clock": {"className": "NoSuchClass"}"#)
        let refused = try await tool.plain("apply", path)
        #expect(refused.status == 1 && refused.output == "" && refused.errors.contains("NoSuchClass"))
        #expect(try await tool.plain("call", "Second", "echo", "1", "--running").output == "1\n", "nothing has changed")
        let other = try tool.write(
            #"{"manifestVersion": 1, "plugins": [{"library": "Clock"}], "managers": {\#(clock)}}"#, as: "other.json")
        #expect(
            try await tool.plain("apply", other).output == "stopped: Second\n1 manager unaffected\n",
            "the only host there is will do")
        #expect(try await tool.plain("reset", "Nobody").errors.contains("manager.unknown"))
        withExtendedLifetime(host) {}
    }

    // MARK: What a host sends

    private struct Happenings: ControlMessage {
        static let name = "happenings"
        typealias Answer = ElementCount
    }

    @Test func `an event that this version cannot decode fails the command, and hides no others`() throws {
        let request = ControlRequest(Happenings.self, isLasting: true) { _, _, work throws(BackplaneError) in
            for event in [#""started":{"managers":["M"]}"#, #""moved":{"to":"x"}"#, #""missed":{"count":1}"#] {
                try work.send(element: Array("{\"time\":1,\(event)}".utf8))
            }
            return ElementCount(elements: work.sent)
        }
        let folder = try TestFolder()
        let control = try ControlSocket(
            serving: PluginHost(manifest: ManifestDocument([:])), in: folder.path + "/run", requests: [request])
        defer { control.close() }
        let conversation = HostChoice.Conversation(
            host: RunningHost(socket: control.path, greeting: nil), doing: "waiting")
        var kinds: [HostEvent.Kind] = []
        let code = try conversation.follow(Happenings(), of: HostEvent.self) { event, _ in kinds.append(event.kind) }
        #expect(kinds == [.started(managers: ["M"]), .missed(count: 1)] && code == 1)
    }

    @Test func `a host that has stopped between two answers is named`() throws {
        let folder = try TestFolder()
        let control = try ControlSocket(
            serving: PluginHost(manifest: ManifestDocument([:])), in: folder.path + "/run", requests: [])
        let host = RunningHost(at: control.path)
        try #require(host.greeting != nil, "\(String(describing: host.problem))")
        control.close()
        let conversation = HostChoice.Conversation(host: host, doing: "waiting")
        let error = #expect(throws: BackplaneError.self) { _ = try conversation.answer(to: StatisticsRequest()) }
        #expect(error?.code == .controlUnreachable)
        #expect(error?.message.hasPrefix("the host, process \(getpid()), has stopped in the meantime: ") == true)
    }
}
