import Backplane
import BackplaneHost
import BackplaneOperations
import BackplaneTestKit
import Testing

/// Nodes that call methods of wires and managers.
@Suite(.timeLimit(.minutes(2)))
struct CallNodeTests {
    private struct Outcomes {
        var title: String
        var ends: [String]
    }
    /// A title with which every call succeeds, and one with which those that receive it fail.
    private static let cases = [
        Outcomes(title: "whale", ends: ["placed whale", "5", "placed placed whale", "12"]),
        Outcomes(
            title: "",
            ends: [
                "shelf.untitled: a book has a title", "shelf.untitled: a book has a title",
                "operation.unsatisfied: `place again` was not run, because it needs `place`: a book has a title",
                "operation.unsatisfied: `count placed` was not run, because it needs `place`: a book has a title",
            ]),
    ]
    private static let shelf = Fake(Placing.self) { shelf in
        shelf.async(\.place) { title, _ in
            guard !title.isEmpty else { throw Untitled() }
            return "placed \(title)"
        }
        shelf.sync(\.count) { title, _ in
            guard !title.isEmpty else { throw Untitled() }
            return title.count
        }
    }

    @Test func `nodes of a component call methods of its wires, and fail with their errors`() async throws {
        try await TestHost.run(
            "Cataloguer", plugins: [CataloguerPlugin.self], fakes: [.dataAccessController: Self.shelf]
        ) { test in
            let cataloguer: Remote<Cataloguing> = try await test.manager("Cataloguer")
            for outcomes in Self.cases {
                #expect(try await cataloguer.catalogue(outcomes.title, test.begin()) == outcomes.ends)
            }
        }
    }

    @Test func `nodes of a program call methods of managers, and fail with their errors`() async throws {
        try await TestHost.run(
            "Cataloguer", plugins: [CataloguerPlugin.self], fakes: [.dataAccessController: Self.shelf]
        ) { test in
            let cataloguer: Remote<Cataloguing> = try await test.manager("Cataloguer")
            for outcomes in Self.cases {
                let graph = try calls(outcomes.title, cataloguer.place, cataloguer.count, test.begin())
                #expect(try await graph.start().value == outcomes.ends)
            }
        }
    }
}

/// Returns a graph of calls with a given title and with a placed one, whose value is how each of them ended.
private func calls<Frame>(
    _ title: String, _ place: BoundAsync<String, String, Frame>, _ count: BoundSync<String, Int, Frame>, _ call: Call
) throws -> OperationGraph<[String]> {
    var graph = GraphBuilder("catalogue")
    let placed = graph.call("place", place, title, call)
    let counted = graph.call("count", count, title, call)
    let placedAgain = graph.call("place again", place, with: placed, call)
    let countedPlaced = graph.call("count placed", count, with: placed, call)
    let ends = graph.add(
        "ends", after: placed.always.and(placedAgain.always), counted.always.and(countedPlaced.always)
    ) { places, counts in
        [words(places.0), words(counts.0), words(places.1), words(counts.1)]
    }
    return try graph.build(returning: ends)
}

private func words(_ outcome: Result<some Any, BackplaneError>) -> String {
    switch outcome {
    case .success(let value): "\(value)"
    case .failure(let error): "\(error.failure?.code ?? error.code.rawValue): \(error.message)"
    }
}

struct Placing: Contract {
    static let version: Version = "1.0.0"
    let place = AsyncMethod<String, String>()
    let count = SyncMethod<String, Int>()
}

private struct Cataloguing: Contract {
    static let version: Version = "1.0.0"
    /// Makes the calls through the manager's wire.
    let catalogue = AsyncMethod<String, [String]>()
    let place = AsyncMethod<String, String>()
    let count = SyncMethod<String, Int>()
}

private struct Untitled: ComponentError {
    var code: String { "shelf.untitled" }
    var message: String { "a book has a title" }
}

private struct CataloguerPlugin: Plugin {
    static let id = "org.backplane.tests.cataloguer"
    static let version: Version = "1.0.0"
    static func register(in registrar: inout Registrar) { registrar.add(Cataloguer.self) }
}

private final class Cataloguer: Manager {
    typealias Provides = Cataloguing
    struct Wires: Wiring {
        let dataAccessController: Wire<Placing>
    }
    static let className = "Cataloguer"
    private let context: Context

    init(_ context: Context) { self.context = context }

    static func methods(_ table: inout Methods) {
        table.async(\.catalogue) { cataloguer, title, call in
            let shelf = cataloguer.context.wires.dataAccessController
            let graph = try calls(title, shelf.place, shelf.count, call)
            return try await cataloguer.context.operations.start(graph).value
        }
        table.async(\.place) { cataloguer, title, call in
            try await cataloguer.context.wires.dataAccessController.place(title, call)
        }
        table.sync(\.count) { cataloguer, title, call in
            try cataloguer.context.wires.dataAccessController.count(title, call)
        }
    }
}
