package import BackplaneNetwork
package import BackplaneRoutes
import Glibc
import Synchronization

/// The configuration of the served routes.
package struct ServedConfiguration: Decodable, Sendable {
    /// The absolute path of the file that `/download` sends.
    package var file: String?
    /// The number of records in the state, of more than 100 bytes each.
    package var records: Int?
}

/// The answer of `/version`.
package struct ServedVersion: Codable, Sendable {
    /// The name of the edition that has answered.
    package var edition: String
    /// The number of times the state has been handed over.
    package var handovers: Int
    /// The number of answers so far.
    package var count: Int
}

/// The state that one edition hands over to the next.
package struct ServedState: Codable, Sendable {
    struct Record: Codable, Sendable {
        var id: Int
        var text: String
    }
    var handovers = 0
    var count = 0
    var records: [Record] = []
}

/// The parts of the served routes that both editions have in common.
package final class ServedDesk: Sendable {
    private let configuration: ServedConfiguration
    private let kept = Mutex(ServedState())

    package init(_ configuration: ServedConfiguration) { self.configuration = configuration }

    /// The state; setting it counts a handover.
    package var state: ServedState {
        get { kept.withLock(\.self) }
        set {
            kept.withLock { state in
                state = newValue
                state.handovers += 1
            }
        }
    }

    /// Creates the records, unless another edition has handed them over.
    package func fill() {
        let count = configuration.records ?? 0
        kept.withLock { state in
            guard state.records.count != count else { return }
            let text = String(repeating: "x", count: 100)
            state.records = (0..<count).map { ServedState.Record(id: $0, text: "\(text)\($0)") }
        }
    }

    /// Counts an answer of an edition, and returns it.
    package func version(_ edition: String) -> ServedVersion {
        kept.withLock { state in
            state.count += 1
            return ServedVersion(edition: edition, handovers: state.handovers, count: state.count)
        }
    }

    /// Returns the configured file.
    ///
    /// - Throws: A problem with the status 404 if none is configured.
    package func download() throws -> RouteResponse {
        guard let file = configuration.file else { throw RouteProblem(404, "no file is configured") }
        return .file(file)
    }

    /// Returns the body of a request.
    package static func echo(_ request: RouteRequest) -> RouteResponse {
        if let file = request.file { return .file(file) }
        return RouteResponse(
            headers: ["Content-Type": request.headers["Content-Type"] ?? "application/octet-stream"],
            body: request.body ?? [])
    }

    /// Returns the name of an edition once the file that the query names exists.
    ///
    /// Before it waits, it creates another file with the suffix `.awaited`.
    package static func edition(_ name: String, after request: RouteRequest) async throws -> String {
        let path = try request.query("until", default: "")
        close(open(path + ".awaited", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
        while access(path, F_OK) != 0 { try await Task.sleep(for: .milliseconds(1)) }
        return name
    }

    /// Returns an endless answer with one number in each line.
    package static func numbers() -> RouteStream {
        RouteStream(type: "text/plain; charset=utf-8") { body in
            var number = 0
            while true {
                number += 1
                try await body.send("\(number)\n")
                try await Task.sleep(for: .milliseconds(1))
            }
        }
    }
}

/// Endless events with the identifiers 1, 2 and so on, and the name of the edition as their data.
package struct ServedEvents: AsyncSequence, Sendable {
    private let edition: String, last: Int

    /// Creates the events after the last event that the client of a request has received.
    package init(_ edition: String, after request: RouteRequest) {
        (self.edition, last) = (edition, request.lastEventID.flatMap { Int($0) } ?? 0)
    }

    package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(edition: edition, last: last) }

    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let edition: String
        fileprivate var last: Int

        package mutating func next() async throws -> ServerEvent? {
            try await Task.sleep(for: .milliseconds(1))
            last += 1
            return ServerEvent(data: edition, id: "\(last)")
        }
    }
}
