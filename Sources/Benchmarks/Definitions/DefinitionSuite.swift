import Backplane
import BackplaneDefinitions
import BackplaneDocuments
import BackplaneExchange
import BackplaneNetwork
import Foundation
import Glibc

// The cost of definitions of web services, compared with what they are made of in the same process.
//
// Without `--instructions`, processor time stands for instructions: a call by name may execute 50,000 of them more than
// its endpoint, for which a processor takes 20 µs at most.
extension BenchSuite {
    static let definitions = BenchSuite(name: DefinitionRows.suite) { folder in
        let rows = try DefinitionRows(), host = try await DefinedHost(in: folder)
        return Opened(
            rows: rows.loading + rows.calling + rows.serving(host),
            remark: "processor time; no exchange leaves the process"
        ) { await host.stop() }
    }
}

/// The rows of the definitions suite.
struct DefinitionRows: Sendable {
    static let suite = "definitions"
    private let text: Data
    private let service: WebService
    private let client: HTTPClient

    init() throws {
        let methods = (0..<500).map { number in
            """
            "method\(number)": {"request": {"path": "books/%0/pages/\(number)?word=%1", "method": "POST",
              "header": {"Accept-Language": "%2"}, "body": {"reader": "%3", "page": \(number)}}}
            """
        }
        text = Data("{\(methods.joined(separator: ",\n"))}".utf8)
        let executor = MemoryExecutor { _, _ in
            HTTPStreamedResponse(HTTPResponse(status: 200, body: Array(#"["Moby-Dick"]"#.utf8)))
        }
        let client = HTTPClient(HTTPPipeline([executor])).relative(to: "http://books.test/v1")
        self.client = client
        service = try WebService(
            named: "Books", baseURL: "http://books.test/v1", definition: .data(text), client: client)
    }

    /// The rows of a definition that is read and checked.
    var loading: [Row] {
        let parsed = "the JSON of 500 methods, parsed"
        let text = text, client = client
        return [
            row(parsed, .microseconds) {
                guard case .dictionary? = try? DocumentValue(json: text) else { throw Failed() }
            },
            row("a definition of 500 methods, loaded", .microseconds, baseline: parsed, target: .ratio(atMost: 3)) {
                let service = try WebService(
                    named: "Books", baseURL: "http://books.test/v1", definition: .data(text), client: client)
                guard service.definition.methods.count == 500 else { throw Failed() }
            },
        ]
    }

    /// The rows of a call, and of the equivalent endpoint.
    var calling: [Row] {
        let endpoint = "an endpoint that is written out", dynamic = "a dynamic call"
        let service = service, client = client
        let load: @Sendable () async throws -> Void = {
            let books = Endpoint<[String]>(
                "POST", "books/7/pages/250", query: ["word": "whale"], headers: ["Accept-Language": "en"],
                body: try .json(Page(reader: "ann", page: 250)))
            guard try await client.load(books, Call()).count == 1 else { throw Failed() }
        }
        let call: @Sendable () async throws -> Void = {
            let books: [String] = try await service.method250(7, "whale", "en", "ann")
            guard books.count == 1 else { throw Failed() }
        }
        var over = Row(name: "a call by name over its endpoint", unit: .microseconds, target: .median(atMost: 20)) {
            count in
            let written = try await Self.time(count, load), called = try await Self.time(count, call)
            return Row.Unit.microseconds.figure(nanoseconds: max(0, called - written))
        }
        over.overhead = Row.Overhead(row: dynamic, baseline: endpoint, bound: 50_000)
        return [
            row(endpoint, .microseconds, load), row(dynamic, .microseconds, baseline: endpoint, call), over,
        ]
    }

    /// The rows of a call of a contract, through a manager and its communication controller to the service.
    func serving(_ host: DefinedHost) -> [Row] {
        let written = "a typed call of a service with endpoints"
        func call(_ service: Remote<PageSearch>) -> @Sendable () async throws -> Void {
            {
                let query = PageQuery(book: 7, word: "whale", language: "en", reader: "ann")
                guard try await service.search(query).count == 20 else { throw Failed() }
            }
        }
        return [
            row(written, .microseconds, call(host.written)),
            row(
                "a typed call of a definition, body unchanged", .microseconds, baseline: written,
                target: .ratio(atMost: 1.1), call(host.defined)),
            row(
                "a typed call of a definition, body mapped", .microseconds, baseline: written,
                target: .ratio(atMost: 1.5), call(host.mapped)),
        ]
    }

    private struct Page: Encodable, Sendable {
        var reader: String
        var page: Int
    }

    private struct Failed: Error, CustomStringConvertible {
        var description: String { "a definition has given a wrong result" }
    }

    private func row(
        _ name: String, _ unit: Row.Unit, baseline: String? = nil, target: Target? = nil,
        _ body: @escaping @Sendable () async throws -> Void
    ) -> Row {
        Row(name: name, unit: unit, baseline: baseline, target: target) { count in
            unit.figure(nanoseconds: try await Self.time(count, body))
        }
    }

    /// Returns the processor time of one repetition, in nanoseconds.
    private static func time(_ count: Int, _ body: () async throws -> Void) async throws -> Double {
        let before = processorTime()
        for _ in 0..<count { try await body() }
        return (processorTime() - before) / .nanoseconds(1) / Double(count)
    }

    private static func processorTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
