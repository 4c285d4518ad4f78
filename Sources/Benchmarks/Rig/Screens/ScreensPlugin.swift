public import Backplane
import BackplaneScreens

/// The plugin whose screens are measured.
public struct ScreensPlugin: Plugin {
    public static let id = "org.backplane.benchmark-screens"
    public static let version: Version = "1.0.0"

    public static func register(in registrar: inout Registrar) { registrar.add(BookScreens.self) }
}

final class BookScreens: ScreenManager {
    let screens: OpenScreens

    init(_ context: Context) { screens = OpenScreens(context) }

    static func screens(_ table: inout ScreenTable) { table.add(BookList.self) }
}

/// A list of books, in which a press changes one row.
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
