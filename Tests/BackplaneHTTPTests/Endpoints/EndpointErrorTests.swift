import Backplane
import BackplaneExchange
import BackplaneNetwork
import BackplaneTestKit
import Foundation
import Testing

/// The errors of loads: their numbers, the bodies that they keep, and the types that these are decoded into.
@Suite(.timeLimit(.minutes(5)))
struct EndpointErrorTests {
    /// What the server says about a refusal.
    struct Refusal: ComponentError, Decodable {
        var error: String, message: String
        var code: String { error }
        var details: [String: String] { ["by": "server", "status": "1"] }
    }

    private func failure(_ body: () async throws -> Void) async throws -> BackplaneError {
        try #require(await #expect(throws: BackplaneError.self) { try await body() })
    }

    @Test func `each kind of error has a number, which it keeps`() {
        let numbers: [(BackplaneError.Code, Int)] = [
            (.networkFailed, 1), (.networkUnparsable, 2), (.networkEmpty, 3), (.networkInvalidRequest, 4),
            (.callCancelled, 5), (.networkStatus, 7), (.networkRejected, 8), (.componentFailed, 9), (.networkFile, 10),
            (.networkRefused, 11), (.networkTimeout, 12), (.networkTooLarge, 13), (.networkUnsupported, 14),
            (.networkBody, 15), (.networkRedirect, 16), (.networkPages, 17), (.networkInsecure, 18),
            (.networkMalformed, 19), (.networkShutDown, 20), (.callDeadline, 21), (.networkPinMismatch, 24),
        ]
        for (code, number) in numbers { #expect(BackplaneError(code, "").networkNumber == number, "\(code)") }
        #expect(numbers.filter { BackplaneError($0.0, "").isConnectivity }.map(\.1) == [1, 12])
    }

    @Test(arguments: ClientKind.all)
    func `the body of a failed response is kept up to a limit, and no description shows it`(
        kind: ClientKind
    ) async throws {
        let server = try TestServer { request, connection in
            let body = request.target == "/bytes" ? [0xFF, 0xFE] : Array("a secret \(request.target)".utf8)
            connection.answer("409 Conflict", body: body)
        }
        let files = try TestFolder(), folder = files.path
        try await kind.lend { http, call async throws in
            let http = http.relative(to: server.url())
            let error = try await failure { _ = try await http.load(Endpoint<String>("GET", "text"), call) }
            #expect(error.code == .networkStatus && error.httpStatus == 409 && !error.isConnectivity)
            #expect(error.httpBody == Array("a secret /text".utf8))
            for text in ["\(error)", error.detailedDescription] { #expect(!text.contains("secret")) }
            #expect(error.expandedDescription.contains("a secret /text"))
            let bytes = try await failure { _ = try await http.load(Endpoint<Nothing>("GET", "bytes"), call) }
            #expect(bytes.httpBody == [0xFF, 0xFE])
            var limited = Endpoint<String>("GET", "text")
            limited.failureLimit = 8
            let beginning = try await failure { _ = try await http.load(limited, call) }
            #expect(beginning.httpBody == Array("a secret".utf8))
            limited.failureLimit = 0
            #expect(try await failure { _ = try await http.load(limited, call) }.httpBody == nil)
            let path = kind.isInPlugin ? "whale" : folder + "/whale"
            let download = Endpoint<DownloadedFile>("GET", "text", to: path)
            let file = try await failure { _ = try await http.load(download, call) }
            #expect(file.httpStatus == 409 && file.httpBody == Array("a secret /text".utf8))
            // What could not be decoded is kept as well.
            var number = Endpoint<Int>("GET", "text")
            number.validStatuses = nil
            let unparsable = try await failure { _ = try await http.load(number, call) }
            #expect(unparsable.code == .networkUnparsable && unparsable.httpBody == Array("a secret /text".utf8))
        }
    }

    @Test(arguments: ClientKind.all)
    func `what a server says about a failure is decoded, and survives a wire`(kind: ClientKind) async throws {
        let server = try TestServer { request, connection in
            let body = request.target == "/html" ? "<html>" : #"{"error":"loan.taken","message":"it is lent out"}"#
            connection.answer("409 Conflict", body: Array(body.utf8))
        }
        try await kind.lend { http, call async throws in
            var http = http.relative(to: server.url()), loan = Endpoint<Nothing>("POST", "loans")
            loan.failure = .decoded(Refusal.self)
            for isDefault in [false, true] {
                if isDefault { (http.defaults.failure, loan.failure) = (loan.failure, nil) }
                let error = try await failure { _ = try await http.load(loan, call) }
                let crossed = try JSONDecoder().decode(BackplaneError.self, from: try JSONEncoder().encode(error))
                #expect(crossed == error)
                #expect(crossed.code == .networkStatus && crossed.message == "it is lent out")
                #expect(crossed.failure?.code == "loan.taken" && crossed.failure?.details["by"] == "server")
                #expect(crossed.httpStatus == 409 && crossed.networkNumber == 7)
                #expect(crossed.httpBody?.isEmpty == false)
            }
            let plain = try await failure { _ = try await http.load(Endpoint<Nothing>("POST", "html"), call) }
            #expect(plain.failure?.code == "http" && plain.httpBody == Array("<html>".utf8))
        }
    }
}
