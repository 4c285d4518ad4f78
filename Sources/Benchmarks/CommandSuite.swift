import Backplane
import BackplaneControl
import BackplaneHost
import BackplaneTools
import Foundation
import Glibc
import TurnstileContracts

// The cost of running the command, and of a turn of `backplane dev`.
extension BenchSuite {
    static let command = BenchSuite(name: "command") { folder in
        let crowd = try Crowd(in: folder), library = try RebuiltLibrary.built("Turnstile1")
        let one = try TurnstileManifest(of: library, in: folder)
        let folders = ["--load-folder", folder + "/load", "--data", folder + "/data"]
        return Opened([
            .durations("backplane --version", target: .atMost(12), beside: "a process that does nothing") {
                try await Child.time([], program: "true")
            } _: {
                try await Child.time(["--version"])
            },
            .durations("backplane call, one plugin in Swift", target: .atMost(25), beside: "backplane --version") {
                try await Child.time(["--version"])
            } _: {
                try await Child.time(["call", one.path, TurnstileHost.manager, "pass", "1"] + folders)
            },
            .durations("backplane check, 1,000 managers", rounds: 7, target: .atMost(150)) {
                try await Child.time(["check", crowd.path] + folders)
            },
            savedToServed("Swift", ["Turnstile1", "Turnstile2"], in: folder),
            savedToServed("C", ["TurnstileInC1", "TurnstileInC2"], in: folder),
        ])
    }

    /// Creates the measurement of the latency from the linker closing a library to the first answer of its code.
    ///
    /// Every round has its own `backplane dev`. The library is renamed into place, as linkers do. Then calls are made
    /// through the control socket until the new code answers. The figure includes the delay after which `dev` considers
    /// a file complete.
    private static func savedToServed(_ language: String, _ names: [String], in folder: String) -> Measurement {
        let row = Row("dev: saved to served in \(language)", .milliseconds, target: .atMost(100))
        return Measurement(rows: [row], rounds: 5, count: 30) { count in
            let own = "\(folder)/saved-\(language)"
            defer { try? FileManager.default.removeItem(atPath: own) }
            let library = try RebuiltLibrary(
                of: try names.map { name throws(BackplaneError) in try RebuiltLibrary.built(name) }, in: own)
            let manifest = try TurnstileManifest(of: library.path, in: own)
            let arguments = [
                "dev", manifest.path, "--json", "--load-folder", own + "/load", "--data", own + "/data",
            ]
            return try await Child.with(arguments) { dev in
                let application = try DevApplication(of: dev)
                var times: [Double] = []
                // The first turn is a warm-up.
                for turn in 0...count {
                    let edition = 2 - turn % 2
                    try library.build(edition)
                    let start = ContinuousClock.now
                    while try application.edition() != edition {
                        guard ContinuousClock.now - start < .seconds(30) else {
                            throw BackplaneError(
                                .componentFailed, "edition \(edition) was not active after 30 s", at: library.path)
                        }
                    }
                    if turn > 0 { times.append((ContinuousClock.now - start) / .milliseconds(1)) }
                }
                dev.stop()
                application.drained.wait()
                return [Figure(Sample(times).median)]
            }
        }
    }
}

/// A manifest of one library with a turnstile.
private struct TurnstileManifest {
    let path: String

    init(of library: String, in folder: String) throws {
        path = folder + "/turnstile.json"
        let manifest: ManifestValue = [
            "manifestVersion": 1, "plugins": [["library": .string(library)]],
            "managers": [TurnstileHost.manager: ["className": "TurnstileManager"]],
        ]
        try manifest.json.write(to: URL(filePath: path))
    }
}

/// The application of a `backplane dev`, which answers calls through its control socket.
private struct DevApplication {
    /// The required part of the event `hostStarted`.
    private struct Event: Decodable {
        var event: String
        var control: String?
    }
    private let client: ControlClient
    /// A semaphore that is signalled at the end of the output of `dev`.
    let drained = DispatchSemaphore(value: 0)

    /// Waits until the application has started, and reads further output so that `dev` can go on.
    init(of dev: Child) throws {
        var started: Event?
        while started?.event != "hostStarted" {
            let line = dev.line()
            guard !line.isEmpty else {
                throw BackplaneError(.componentFailed, "`backplane dev` did not start an application")
            }
            started = try? JSONDecoder().decode(Event.self, from: line)
        }
        client = ControlClient(started?.control ?? "")
        Thread.detachNewThread { [drained] in
            while !dev.line().isEmpty {}
            drained.signal()
        }
    }

    /// Returns the edition that answers a call.
    func edition() throws -> Int {
        let answer = try client.ask(
            CallRequest(manager: TurnstileHost.manager, method: "pass", input: "1", timeout: .seconds(60)))
        return try JSONDecoder().decode(Ticket.self, from: Data(answer.output.utf8)).edition
    }
}
