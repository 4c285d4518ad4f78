import Backplane
import BackplaneExchange
import BackplaneTestKit
import Foundation
import TestFixtures
import Testing

@testable import BackplaneNetwork

/// Downloads that are cancelled while their files are written or validated.
@Suite(.timeLimit(.minutes(5)))
struct CancelledDownloadTests {
    /// The stages that a download is in when it is cancelled.
    enum Stage: CaseIterable {
        case body, validation
    }

    @Test(arguments: ClientKind.all, Stage.allCases)
    func `a download that is cancelled leaves no file, neither of a part nor of the whole`(
        kind: ClientKind, stage: Stage
    ) async throws {
        let server = try TestServer { _, connection in
            guard stage == .body else { return connection.answer("200 OK", body: Array("whole whale".utf8)) }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhalf")
            connection.stall()
        }
        let files = try TestFolder(), folder = files.path
        try await kind.lend { http, call async throws in
            let path = kind.isInPlugin ? http.way.file("whale") : folder + "/whale", received = Recording<Int64>()
            let place = URL(filePath: path).deletingLastPathComponent().path
            func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: place) }
            var endpoint = Endpoint<DownloadedFile>("GET", "", to: path)
            if stage == .validation {
                endpoint.interceptors = [
                    HTTPInterceptor { request, next in
                        let response = try await next(request)
                        received.add(11)
                        try await TestGate().pass()
                        return response
                    }
                ]
            }
            let load = endpoint.load(on: http.relative(to: server.url()), call)
                .onProgress { if stage == .body { received.add($0.received) } }
            _ = try await received.first { $0 > 0 }
            try await eventually { try !names().isEmpty }
            if stage == .validation { #expect(try names().allSatisfy { $0.hasPrefix(".backplane-judged-") }) }
            load.cancel()
            guard case .failure(let error) = await load.result else {
                return #expect(Bool(false), "it has a file")
            }
            #expect(error.code == .callCancelled)
            try await eventually { try names() == [] }
        }
    }
}
