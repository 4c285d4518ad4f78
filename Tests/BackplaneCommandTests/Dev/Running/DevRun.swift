import BackplaneHost
import Foundation
import Synchronization
import Testing

@testable import BackplaneTools

/// `backplane dev --json` under way, as an editor sees it: event by event, in their order.
///
/// An event that nobody expects ends the wait for another: nothing may come in between.
final class DevRun: Sendable {
    /// One line of it.
    struct Event: CustomStringConvertible {
        var name: String
        var line: String
        var description: String { line }

        /// What it says.
        func payload<Payload: Decodable>(_ type: Payload.Type) throws -> Payload {
            try JSONDecoder().decode(type, from: Data(line.utf8))
        }
    }
    struct Unexpected: Error, CustomStringConvertible {
        let description: String
    }
    let process: RunningTool
    private let tool: Tool
    private let read = Mutex(0)
    private let host = Mutex<HostChild.Report?>(nil)

    /// - Parameter arguments: the manifest, and what comes besides.
    init(_ arguments: String..., with tool: Tool) throws {
        self.tool = tool
        process = try tool.start(["dev"] + arguments + ["--json", "--data", tool.data, "--load-folder", tool.loads])
    }

    /// The next event whose name is not among those passed over.
    ///
    /// - Throws: ``Unexpected`` when it has another name than the one that is waited for, or will not come.
    @discardableResult
    func next(_ name: String, besides others: Set<String> = ["output"]) async throws -> Event {
        try await next(anyOf: [name], besides: others)
    }

    /// The same for one of several.
    func next(anyOf names: Set<String>, besides others: Set<String>) async throws -> Event {
        let name = names.sorted().joined(separator: "`, `")
        while true {
            let number = read.withLock { $0 }
            guard let line = await process.line(number) else { throw unexpected("no `\(name)`") }
            read.withLock { $0 = number + 1 }
            let event = Event(name: try JSONDecoder().decode(EventName.self, from: Data(line.utf8)).event, line: line)
            if names.contains(event.name) { return event }
            // A build that takes long on a busy machine says how far it is.
            guard others.contains(event.name) || event.name == "buildProgress" else {
                throw unexpected("`\(event.name)` where `\(name)` was to come")
            }
        }
    }

    /// The same, with what it says.
    func next<Payload: Decodable>(_ name: String, _ payload: Payload.Type, besides others: Set<String> = ["output"])
        async throws -> Payload
    {
        try await next(name, besides: others).payload(Payload.self)
    }

    /// Waits until the application serves.
    @discardableResult
    func up(besides others: Set<String> = ["output"]) async throws -> HostChild.Report {
        let report = try await next("hostStarted", HostChild.Report.self, besides: others)
        host.withLock { $0 = report }
        return report
    }

    /// The next swap's report.
    func swapped() async throws -> ChangeReport { try await next("swapped", DevEvent.Swap.self).report }

    /// The next refusal.
    func refused() async throws -> DevEvent.Refusal { try await next("refused", DevEvent.Refusal.self) }

    /// What a method answers in the application, without the end of its line.
    func call(_ manager: String, _ method: String, _ input: String...) async throws -> String {
        let control = try #require(host.withLock { $0 }?.control, "no application serves yet")
        let outcome = try await tool.start(["call", manager, method] + input + ["--socket", control]).end()
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.output.trimmingCharacters(in: .newlines)
    }

    func killApplication() throws {
        kill(try #require(host.withLock { $0 }?.process, "no application serves yet"), SIGKILL)
    }

    /// Has it stop in order, and expects that it does.
    func stop(_ signal: Int32 = SIGTERM, _ location: SourceLocation = #_sourceLocation) async throws {
        process.signal(signal)
        try await next("stopped")
        let ending = try await next("hostEnded", DevEvent.Ending.self)
        #expect(ending.isExpected && ending.how == "it ended with exit code 0", sourceLocation: location)
        let outcome = await process.end()
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.errors)", sourceLocation: location)
        #expect(tool.loadFolders() == [], "the application has put away what was its", sourceLocation: location)
    }

    private func unexpected(_ what: String) -> Unexpected {
        Unexpected(description: "\(what); this was printed:\n\(process.output)\(process.errors)")
    }
}

private struct EventName: Decodable {
    var event: String
}
