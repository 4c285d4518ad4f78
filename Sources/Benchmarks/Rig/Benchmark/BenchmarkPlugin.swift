public import Backplane
import BackplaneRoutes
import BackplaneScreens
import BenchmarkContracts

/// The plugin whose managers, routes and screens the benchmarks use.
public struct BenchmarkPlugin: Plugin {
    public static let id = "org.backplane.benchmark"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) {
        registrar.add(BenchmarkManager.self)
        registrar.add(RelayManager.self)
        registrar.add(BookRoutes.self)
        registrar.add(BookScreens.self)
    }
}

final class BenchmarkManager: Manager {
    typealias Provides = Benchmark
    private let step = 1

    init(_ context: Context) {}

    static func methods(_ table: inout Methods) {
        table.async(\.add) { benchmark, number, _ in number &+ benchmark.step }
        table.async(\.next) { benchmark, parcel, _ in
            Parcel(id: parcel.id &+ benchmark.step, title: parcel.title, tags: parcel.tags)
        }
        table.stream(\.numbers) { _, count, elements, _ in
            for number in 0..<count { try await elements.send(number) }
        }
        table.stream(\.parcels) { _, count, elements, _ in
            var parcel = Parcel.first
            for number in 0..<count {
                parcel.id = number
                try await elements.send(parcel)
            }
        }
    }
}

/// A manager that calls another one a given number of times.
final class RelayManager: Manager {
    typealias Provides = Relay
    struct Wires: Wiring {
        let benchmark: Wire<Benchmark>
    }
    private let wires: Wires

    init(_ context: Context) { wires = context.wires }

    static func methods(_ table: inout Methods) {
        table.async(\.add) { relay, count, call in
            var number = 0
            for _ in 0..<count { number = try await relay.wires.benchmark.add(number, call) }
            return number
        }
    }
}

/// A route that answers immediately.
final class BookRoutes: RouteManager {
    init(_ context: Context) {}

    static func routes(_ routes: inout Routes<BookRoutes>) {
        routes.get("/books/:id") { _, request, _ in RoutedBook(try request.parameter("id", as: Int.self)) }
    }
}

final class BookScreens: ScreenManager {
    let screens: OpenScreens

    init(_ context: Context) { screens = OpenScreens(context) }

    static func screens(_ table: inout ScreenTable) { table.add(BookList.self) }
}

/// A screen with a list of books; a press changes one row.
actor BookList: Screen {
    struct Input: Codable, Sendable { var rows: Int }
    static let identifier = "books"
    let title = "Books"
    private let rows: Int
    private var loans: [String: Int] = [:]

    init(_ rows: Int) { self.rows = rows }

    static func assemble(with input: Input, agent: Agent) async throws -> BookList { BookList(input.rows) }

    var body: [View] {
        List(0..<rows, id: \.self) { number in
            Text("Moby-Dick; or, The Whale, volume \(number)")
            Text("Borrowed \(loans["\(number)", default: 0]) times").style(.secondary)
            Button("Borrow", id: "borrow")
        }.id("books")
    }

    func handle(_ event: ViewEvent) { loans[event.row, default: 0] += 1 }
}
