import Backplane
import BackplaneNetwork
import BackplaneOperations
import TurnstileContracts

/// A communication controller with one long graph of operations, each node of which makes an exchange.
///
/// A call with a positive number starts the graph with that many nodes. A call with 0 is answered with the graph's
/// result, the number of nodes that the values passed through.
final class RoundCommunication: CommunicationController {
    typealias Provides = Turnstile
    struct Configuration: Decodable, Sendable {
        /// The URL of the server that counts.
        var server: String
    }
    /// The number of chains of nodes that run concurrently.
    private static let lanes = 4
    private let rounds: NamedGraph<Int, Int>

    init(_ context: Context) throws {
        rounds = try context.operations.define("rounds") { count in
            try Self.rounds(count, context.configuration.server) { try await context.http.send($0, context.begin()) }
        }
    }

    private static func rounds(
        _ count: Int, _ server: String, _ send: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) throws -> OperationGraph<Int> {
        var graph = GraphBuilder("rounds")
        var last = (0..<lanes).map { lane in graph.add("lane \(lane)") { 0 } }
        for number in 0..<count {
            last[number % lanes] = graph.add("\(number)", after: last[number % lanes]) { done in
                let response = try await send(HTTPRequest("POST", "\(server)/count/\(number)"))
                guard response.status == 204 else {
                    throw BackplaneError(.componentFailed, "the server answered with status \(response.status)")
                }
                return done + 1
            }
        }
        let sum = graph.add("sum", afterAll: last) { $0.reduce(0, +) }
        return try graph.build(returning: sum)
    }

    static func methods(_ table: inout Methods) {
        table.async(\.pass) { communication, number, _ in
            guard number == 0 else {
                try communication.rounds.start(number)
                return Ticket(edition: 1, handovers: 0, count: 0, own: 0)
            }
            let result = try await communication.rounds.run?.value ?? 0
            return Ticket(edition: 1, handovers: 0, count: result, own: 0)
        }
    }
}
