import Backplane
import BackplaneScreens
import BookshelfContracts

/// The screens of the catalogue.
final class CatalogueScreens: ScreenManager {
    let screens: OpenScreens

    init(_ context: Context) { screens = OpenScreens(context) }

    static func screens(_ table: inout ScreenTable) {
        table.add(BookList.self)
        table.add(BookPage.self)
    }
}

extension Book {
    /// The authors and the year, such as `Herman Melville, 1851`.
    var origin: String { (authors.map(\.name) + ["\(year)"]).joined(separator: ", ") }

    /// Returns the cover, which is loaded when it is first shown.
    func cover(from library: Wire<Library>, _ loads: Loads, _ agent: Agent) -> RemoteImage {
        let cover = loads.lazily("cover of \(id)") { [id] in try await library.cover(id, agent.call) }
        return RemoteImage(cover, description: "Cover of \(title)")
    }
}
