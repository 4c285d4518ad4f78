import Backplane
import BackplaneNetwork
import BookshelfContracts
import FoundationEssentials

extension BooksService {
    /// Loads the cover of a book, from the cache while it is fresh, and writes it to this service's folder.
    func cover(of book: String, _ call: Call) async throws -> StoredFile {
        var cover = Endpoint<Data>("GET", ["books", book, "cover"])
        cover.options.cache = .http
        let image = try await http.load(cover, call)
        // Each call hands over its own file, even if calls for one book overlap.
        let name = "cover-\(UUID()).svg"
        try image.write(to: URL(filePath: "\(context.folder)/\(name)"))
        return try context.stored(name)
    }

    /// Starts the transfer of a book's text, or finds an existing one, and returns its states.
    func text(of book: String, _ call: Call) async throws -> TransferStates {
        let name = book.encodedForQuery, id = "text/\(book)"
        // A text that was handed over is no longer in this folder, and is fetched again.
        if try await isHandedOver(id) { try await context.transfers.remove(id) }
        let url = "\(configuration.baseURL)/books/\(name)/text"
        var transfer = Transfer(id, download: url, to: "\(name).txt")
        guard let credential = configuration.credential else { throw NoReader() }
        (transfer.credential, transfer.account) = (credential, configuration.account)
        try await context.transfers.begin(transfer)
        return context.transfers.states(of: id)
    }

    private func isHandedOver(_ id: String) async throws -> Bool {
        do throws(BackplaneError) {
            let state = try await context.transfers.state(of: id)
            guard state.phase == .succeeded, let file = state.file else { return false }
            return !FileManager.default.fileExists(atPath: file)
        } catch {
            guard error.code == .transferUnknown else { throw error }
            return false
        }
    }
}
