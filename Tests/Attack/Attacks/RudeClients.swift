import Foundation
import TestFixtures

/// Clients of the control socket that do what none should, 64 at a time, while an operator wants an answer.
struct RudeClients: Attack {
    static let name = "clients", what = "64 rude clients of the control socket at a time, and an operator beside them",
        count = 4, share = 5, isParallel = false
    private static let clients = 64

    private let site: Site
    private let manifest: String
    private let pipe: String
    /// The library that the host swaps to before the clients begin, so that there is something to roll back.
    private let next: String

    init(at site: Site) throws {
        self.site = site
        let text = """
            {"manifestVersion": 1, "plugins": [{"library": "_Challenge"}], "managers": {"Trials": {"className": "TrialManager"}}}
            """
        manifest = try site.write(text.utf8, as: "clients.json")
        // Another build of the same code, as far as a host can tell.
        let library = try Data(contentsOf: URL(filePath: "\(HostProcess.built)/lib_Challenge.so"))
        // It is not beside the manifest, where the host would have found it at its start.
        next = try site.folder("next") + "/lib_Challenge.so"
        try site.write(library + [0], as: "next/lib_Challenge.so")
        pipe = site.path + "/pipe"
        guard mkfifo(pipe, 0o600) == 0 else { throw NotPossible("a FIFO cannot be made here") }
    }

    func attempt(_ trial: Int, _ numbers: inout SeededNumbers) throws -> Trial {
        let folder = try site.folder("c\(trial)")
        let host = try RunningHost(
            manifest, ["--plugin-path", HostProcess.built, "--data", folder + "/data"], in: folder)
        guard host.isUp() else { throw NotPossible("no host comes up: \(host.process.said)") }
        let swap = #"{"request": "swap", "libraries": ["\#(next)"]}"#
        let swapped = host.ask(Array(swap.utf8))
        guard let swapped, Self.isSwapped(swapped) else {
            throw NotPossible("the host does not swap to \(next): \(swapped ?? "no answer")")
        }
        _ = host.process.hasEnded()
        let usual = host.process.peak
        let seeds = (0..<Self.clients).map { _ in numbers.next() }, ended = DispatchGroup()
        for seed in seeds {
            ended.enter()
            Thread.detachNewThread { [self] in
                var numbers = SeededNumbers(seed)
                beRude(to: host, &numbers)
                ended.leave()
            }
        }
        usleep(500_000)
        var findings: [String] = []
        for request in [
            ["request": "rollback", "plugin": "org.backplane.tests.challenge"], ["request": "hello"],
            ["request": "statistics"],
        ] {
            let begun = Date.now, answer = host.ask(request), seconds = begun.distance(to: .now)
            let name = request["request"]!
            if answer == nil || answer!.contains("control.busy") {
                findings.append(
                    "`\(name)` beside \(Self.clients) rude clients: \(answer.map { "told \($0)" } ?? "no answer")")
            } else if seconds > 1 {
                findings.append(
                    "`\(name)` beside \(Self.clients) rude clients: answered after \(Int(seconds * 1_000)) ms")
            } else if name == "rollback", !Self.isSwapped(answer!) {
                findings.append(
                    "`rollback` beside \(Self.clients) rude clients rolled nothing back: \(answer!.prefix(300))")
            }
        }
        _ = host.process.hasEnded()
        let more = host.process.peak - usual
        if more > 20 * Self.large * Self.clients / 16 { findings.append("the host used \(more >> 20) MB more") }
        host.process.signal(SIGTERM)
        let ending = host.process.wait()
        if ending != .exit(0) { findings.append("the host \(ending) when it was told to stop beside its clients") }
        ended.wait()
        return Trial(outcome: findings.isEmpty ? "answered" : "locked out", findings: findings)
    }

    private static func isSwapped(_ answer: String) -> Bool { answer.contains(#""outcome":"swapped""#) }

    /// The bytes of the largest request of a client.
    private static let large = 16 << 20

    private func beRude(to host: RunningHost, _ numbers: inout SeededNumbers) {
        func send(_ text: String, waits: Bool = true) {
            guard let connection = Connection(to: host.socket, patience: 3) else { return }
            connection.send(Array(text.utf8))
            if waits { _ = connection.answer() }
        }
        switch Int.random(in: 0..<16, using: &numbers) {
        case 0...4: send(#"{"request": "call", "manager": "Trials", "method": "wait", "input": "3600"}"# + "\n")
        case 5, 6, 7: send(#"{"request": "apply", "manifest": "\#(pipe)"}"# + "\n")
        case 8: send("")
        case 9: send(#"{"request": "he"#)
        case 10: send(String(repeating: "x", count: Self.large))
        case 11: send(String(repeating: "[", count: 500_000) + "\n")
        case 12:
            for _ in 0..<50 {
                send(#"{"request": "call", "manager": "Trials", "method": "wait", "input": "60"}"# + "\n", waits: false)
            }
        case 13: for _ in 0..<50 { send("", waits: false) }
        case 14: send(#"{"request": "swap", "libraries": ["\#(pipe)"]}"# + "\n")
        default:
            send(
                String(decoding: (0..<1_000).map { _ in UInt8.random(in: 0...255, using: &numbers) }, as: UTF8.self)
                    + "\n")
        }
    }
}
