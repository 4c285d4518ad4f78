import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneNetwork
import Foundation
import TestFixtures
import Testing

@testable import BackplaneDefinitions

/// Broken definitions and hostile arguments, all the way from bytes to requests. `BACKPLANE_FUZZ=N` tries N of them,
/// `BACKPLANE_FUZZ_SEED=N` one again.
@Suite(.nightly, .timeLimit(.minutes(60)))
struct DefinitionFuzzTests {
    private let url, token: NSRegularExpression

    init() throws {
        // RFC 3986, appendix A, for a URL with a host; without a fragment, which is not sent.
        let pchar = "(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
        let host = #"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::[0-9]*)?"#
        url = try NSRegularExpression(pattern: "^https?://\(host)(?:/\(pchar)*)*(?:\\?(?:\(pchar)|[/?])*)?\\z")
        // RFC 9110, section 5.6.2.
        token = try NSRegularExpression(pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+\\z")
    }

    @Test func `no request comes out that RFC 3986 or RFC 9110 forbids, and every refusal has a place and words`()
        throws
    {
        if let one = ProcessInfo.processInfo.environment["BACKPLANE_FUZZ_SEED"].flatMap(UInt64.init) {
            _ = try attempt(one)
            return
        }
        let count = ProcessInfo.processInfo.environment["BACKPLANE_FUZZ"].flatMap(Int.init) ?? 1_500
        var outcomes: [String: Int] = [:]
        for seed in 0..<UInt64(count) {
            for outcome in try attempt(seed) { outcomes[outcome, default: 0] += 1 }
        }
        // A fuzzer of which everything is refused, or nothing, tries next to nothing.
        for outcome in ["malformed", "faulty", "refused", "sent", "served"] {
            #expect(outcomes[outcome] ?? 0 > count / 20, "\(outcomes)")
        }
    }

    private func attempt(_ seed: UInt64) throws -> [String] {
        var input = RandomDefinition(seed: seed)
        let document = DefinitionDocument(parsing: input.bytes, path: "definition")
        let isText = DocumentFormat(of: input.bytes) == .json
        for problem in document.problems {
            #expect(!problem.error.message.isEmpty && problem.error.location != nil, "seed \(seed): \(problem)")
            #expect(problem.error.message.utf8.count < 2_000, "seed \(seed): \(problem)")
            if isText { #expect(problem.position != nil, "seed \(seed): \(problem)") }
        }
        if document.problems.contains(where: { $0.error.code == .definitionMalformed }) { return ["malformed"] }
        guard (try? document.requireSound()) != nil else { return ["faulty"] }
        let service = try WebService(
            named: "Fuzz", baseURL: "https://example.org:8080/v1?k=1", definition: .data(input.bytes),
            client: HTTPClient([]), serializers: Self.serializers(of: document.definition))
        let outcomes = document.definition.methods.map { method in
            let arguments = input.arguments(method.argumentCount)
            return outcome(seed, method) { () throws(BackplaneError) in
                let prepared = try service[method.selector].prepared(arguments)
                return try prepared.endpoint(Data.self).request(prepared.client.defaults)
            }
        }
        return outcomes + serve(document.definition, by: service, &input, seed)
    }

    /// Calls the methods as those of a contract, with inputs in JSON.
    private func serve(
        _ definition: WebServiceDefinition, by service: WebService, _ input: inout RandomDefinition, _ seed: UInt64
    ) -> [String] {
        var shapes: [String: ContractShape] = [:]
        for name in Set(definition.methods.map(\.name)).sorted() { shapes[name] = ContractShape(input: input.shape()) }
        let contract = ContractDescription(
            name: "Fuzz", version: "1.0.0",
            methods: shapes.keys.sorted().map { MethodDescription(name: $0, kind: .async) })
        return ServedContract(contract, shapes, by: definition).methods.map { served in
            let value = input.input(served.method.argumentCount)
            let outcome = outcome(seed, served.method) { () throws(BackplaneError) in
                let arguments = try served.arguments(of: value).map { Argument($0) }
                let prepared = try PreparedCall(served.method, arguments, of: service)
                return try prepared.endpoint(Data.self).request(prepared.client.defaults)
            }
            return outcome == "sent" ? "served" : outcome
        }
    }

    /// Returns whether a request comes out, which is checked.
    private func outcome(
        _ seed: UInt64, _ method: DefinedMethod, _ request: () throws(BackplaneError) -> HTTPRequest
    ) -> String {
        do throws(BackplaneError) {
            for violation in violations(try request(), method) { Issue.record("seed \(seed): \(violation)") }
            return "sent"
        } catch {
            #expect(!error.message.isEmpty, "seed \(seed)")
            #expect(
                [.definitionArguments, .networkInvalidRequest, .definitionUnknownMethod, .fileRefused]
                    .contains(error.code), "seed \(seed): \(error)")
            return "refused"
        }
    }

    private static func serializers(of definition: WebServiceDefinition) -> [String: any ResponseDecoder] {
        Dictionary(definition.methods.compactMap(\.serializer).map { ($0, JSONDecoder()) }) { first, _ in first }
    }

    /// What a request has that the standards forbid: checked by other rules than those that made it.
    private func violations(_ request: HTTPRequest, _ method: DefinedMethod) -> [String] {
        var violations: [String] = []
        func matches(_ text: String, _ grammar: NSRegularExpression) -> Bool {
            grammar.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
        }
        if !matches(request.url, url) { violations.append("URL \(request.url)") }
        let isBelow =
            request.url.hasPrefix("https://example.org:8080/v1/")
            || request.url.hasPrefix("https://example.org:8080/v1?")
        if !isBelow, !method.request.path.isFullURL { violations.append("elsewhere: \(request.url)") }
        if request.url.contains("/../") || request.url.hasSuffix("/..") { violations.append("dots: \(request.url)") }
        if !matches(request.method, token) { violations.append("method \(request.method)") }
        for field in request.headers.fields {
            if !matches(field.name, token) { violations.append("field \(field.name)") }
            // RFC 9110, section 5.5.
            let isClean = field.value.unicodeScalars.allSatisfy { $0 == "\t" || $0.value >= 0x20 && $0.value != 0x7F }
            if !isClean || field.value.hasPrefix(" ") || field.value.hasSuffix(" ") {
                violations.append("value of \(field.name)")
            }
            if ["content-length", "transfer-encoding", "host"].contains(field.name.lowercased()) {
                violations.append(field.name)
            }
        }
        if let type = request.body.mediaType, !type.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) {
            violations.append("media type \(type)")
        }
        // RFC 9110, section 9.3.8.
        if request.method == "TRACE", !request.body.isEmpty { violations.append("TRACE with a body") }
        if request.method == "CONNECT" { violations.append("CONNECT") }
        do { _ = try request.readyToSend() } catch { violations.append("not ready: \(error)") }
        return violations
    }
}
