import BackplaneTestKit
import Foundation
import Synchronization

/// A book on loan; `due` is in ISO 8601, in UTC.
struct Loan: Encodable { var id, book, due: String }

/// The mutable data of the server: tokens of readers, loans of the one copy of each book, and uploaded files.
final class Library: Sendable {
    private struct State {
        var expiries: [String: ContinuousClock.Instant] = [:]
        var loans: [Loan] = []
        var count = 0
        var files: [String: [UInt8]] = [:]
    }
    private let state = Mutex(State())
    private let readers: [String: String]
    /// The lifetime of a token, in seconds.
    let tokenLifetime: Int
    /// The maximum size of a file, in bytes.
    static let fileLimit = 16 << 20

    init(_ options: Options) { (readers, tokenLifetime) = (options.readers, options.tokenLifetime) }

    /// Returns a new token that identifies a reader.
    func signIn(_ reader: String, _ password: String) throws -> String {
        guard readers[reader] == password else {
            throw Refusal("401 Unauthorized", "credentials.wrong", "No reader has this name and password.")
        }
        let token = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
        state.withLock { state in
            if state.expiries.count == 1_000 { state.expiries = [:] }
            state.expiries[token] = .now + .seconds(tokenLifetime)
        }
        return token
    }

    /// Checks that a request has a valid token.
    func authorize(_ request: ReceivedRequest) throws {
        let words = (request["Authorization"] ?? "").split(separator: " ").map(String.init)
        let token = words.first?.lowercased() == "bearer" ? words.last : nil
        let expiry = state.withLock { $0.expiries[token ?? ""] }
        guard let expiry, .now < expiry else {
            let code = token == nil ? "token.missing" : expiry == nil ? "token.unknown" : "token.expired"
            throw Refusal("401 Unauthorized", code, "This needs a bearer token; POST /v2/sessions returns one.")
        }
    }

    /// The current loans, oldest first.
    var loans: [Loan] { state.withLock { $0.loans } }

    func borrow(_ book: Book) throws -> Loan {
        try state.withLock { state in
            guard !state.loans.contains(where: { $0.book == book.id }) else {
                throw Refusal("409 Conflict", "loan.taken", "`\(book.id)` is already on loan.")
            }
            state.count += 1
            let due = Date(timeIntervalSinceNow: 14 * 86_400).formatted(.iso8601)
            let loan = Loan(id: "loan-\(state.count)", book: book.id, due: due)
            state.loans.append(loan)
            return loan
        }
    }

    func giveBack(_ id: String) throws -> Loan {
        try state.withLock { state in
            guard let place = state.loans.firstIndex(where: { $0.id == id }) else { throw Refusal.unknown("loan", id) }
            return state.loans.remove(at: place)
        }
    }

    func file(_ name: String) throws -> [UInt8] {
        guard let file = state.withLock({ $0.files[name] }) else { throw Refusal.unknown("file", name) }
        return file
    }

    /// Stores or replaces a file, and returns whether it is new.
    func store(_ name: String, _ bytes: [UInt8]) throws -> Bool {
        try state.withLock { state in
            guard state.files[name] != nil || state.files.count < 8 else {
                throw Refusal("413 Content Too Large", "files.full", "There is no room for a ninth file.")
            }
            return state.files.updateValue(bytes, forKey: name) == nil
        }
    }
}
