import Backplane
import BackplaneNetwork
import BookshelfContracts
import FoundationEssentials

extension BooksService {
    /// Downloads the cover of a book into this service's folder.
    func cover(of book: String, _ call: Call) async throws -> StoredFile {
        let name = book.encodedForQuery, file = "cover-\(name).svg"
        let request = HTTPRequest("GET", "\(configuration.baseURL)/books/\(name)/cover")
        try await context.http.download(request, to: file, call).requireSuccess()
        return try context.stored(file)
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
