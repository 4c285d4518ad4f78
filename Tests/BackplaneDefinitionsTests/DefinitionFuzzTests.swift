import Backplane
import BackplaneDocuments
import BackplaneExchange
import BackplaneNetwork
import Foundation
import FoundationEssentials
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

/// The bytes of a definition, and arguments for its methods: sound, with mistakes in them, or damaged.
///
/// They are always the same for the same seed.
struct RandomDefinition {
    private var numbers: SeededNumbers
    private(set) var bytes = Data()

    init(seed: UInt64) {
        numbers = SeededNumbers(seed)
        var methods: [String: DocumentValue] = [:]
        for _ in 0..<Int.random(in: 1...2, using: &numbers) {
            methods[numbers.pick(numbers.once(in: 15) ? Self.faultyKeys : Self.keys)] = method()
        }
        let format = DocumentFormat.allCases[Int(seed % 3)], value = DocumentValue.dictionary(methods)
        bytes = (try? value.encoded(as: format, in: AnyOrder(), of: .document)) ?? value.json
        if numbers.once(in: 4) { for _ in 0..<Int.random(in: 1...3, using: &numbers) { damage() } }
    }

    // MARK: Definitions

    private static let keys = [
        "m", "n", "m:", "m:a:", "m:a:b:", "search:by:completionBlock:", "send:files:progressBlock:", "e\u{301}:x:",
    ]
    private static let faultyKeys = ["", ":", "m:a", "m n", "allWithCompletionBlock:"]
    private static let texts = [
        "%0", "%1", "%{0}", "%0[name]", "%0[a.b]", "%1[x]", "/a/%0/b", "?q=%0", "?%0", "a?x=1&y=%1&%0", "100%%", "%20",
        "%2", "%", "../%0", "//%0", "#%0", "%0#", "a b", "é🐳", "a\tb", "%%0", "%zz", "[]{}|\\^`\"<>", "%0%1%0", ":%0",
        "%0://x", "?", "&", "=", "", "x%0y?z=%1#f",
    ]
    private static let faultyTexts = [
        "%{", "%{99}", "%9", "%0[", "%0[]", "http://%0/", "https://example.org/%0", "\r\n", "\0",
    ]
    private static let methods = ["GET", "POST", "PUT", "DELETE", "HEAD", "TRACE", "M-SEARCH", "get"]
    private static let faultyMethods = ["CONNECT", "G T", ""]
    private static let fields = [
        "Accept", "X-A", "x-a", "Content-Type", "Content-Length", "Host", "excludeSharedHeader",
    ]
    private static let faultyFields = ["X B", "", "é"]

    private mutating func text() -> DocumentValue {
        if numbers.once(in: 40) { return anything() }
        if numbers.once(in: 20) { return .string(numbers.pick(Self.faultyTexts)) }
        return .string(numbers.pick(Self.texts) + (numbers.once(in: 4) ? numbers.pick(Self.texts) : ""))
    }

    private mutating func anything() -> DocumentValue {
        switch Int.random(in: 0..<8, using: &numbers) {
        case 0: .null
        case 1: .bool(true)
        case 2: .integer(.max)
        case 3: .number(0.5)
        case 4: .data(Data([0, 255]))
        case 5: .array([.string("%0"), .integer(1)])
        case 6: .dictionary(["a": .string("%0[a]"), "": .null])
        default: .date(Date(timeIntervalSinceReferenceDate: 0))
        }
    }

    private mutating func method() -> DocumentValue {
        if numbers.once(in: 30) { return anything() }
        var request: [String: DocumentValue] = ["path": text()]
        if numbers.once(in: 2) {
            request["method"] = .string(numbers.pick(numbers.once(in: 20) ? Self.faultyMethods : Self.methods))
        }
        if numbers.once(in: 3) {
            request["sessionType"] = .string(
                numbers.pick(numbers.once(in: 20) ? ["Upload"] : ["DataTask", "DownloadTask", "UploadTask"]))
        }
        if numbers.once(in: 3) { request["header"] = dictionary(of: Self.fields) }
        if numbers.once(in: 4) { request["body"] = numbers.once(in: 2) ? text() : anything() }
        if numbers.once(in: 4) {
            request["parameters"] = numbers.once(in: 4) ? .string("%0") : dictionary(of: Self.fields)
        }
        if numbers.once(in: 4) { request["files"] = numbers.once(in: 8) ? text() : .string("%1") }
        if numbers.once(in: 8) { request["allowsFullURL"] = .bool(true) }
        if numbers.once(in: 20) { request[numbers.pick(Self.fields)] = anything() }
        var method: [String: DocumentValue] = ["request": .dictionary(request)]
        if numbers.once(in: 6) { method["serialization"] = .dictionary(["serializator": text()]) }
        return .dictionary(method)
    }

    private mutating func dictionary(of keys: [String]) -> DocumentValue {
        var values: [String: DocumentValue] = [:]
        for _ in 0..<Int.random(in: 0...3, using: &numbers) {
            values[numbers.pick(numbers.once(in: 20) ? Self.faultyFields : keys)] = text()
        }
        return .dictionary(values)
    }

    private mutating func damage() {
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: 0..<bytes.count, using: &numbers)
        switch Int.random(in: 0..<4, using: &numbers) {
        case 0: bytes = Data(bytes.prefix(place))
        case 1: bytes.insert(contentsOf: numbers.pick(Self.texts).utf8, at: place)
        case 2: bytes.remove(at: place)
        default: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
        }
    }

    // MARK: Arguments

    /// Returns as many arguments as are asked for.
    mutating func arguments(_ count: Int) -> [(any Encodable & Sendable)?] { (0..<count).map { _ in argument() } }

    private struct Model: Encodable {
        var name: String
        var a = ["b": "c&d", "\r\n": "\0"]
        var list = ["x,y", "%0"], remoteId = 7
        var none: Int?
    }

    private mutating func argument() -> (any Encodable & Sendable)? {
        let text = numbers.pick(Self.arguments)
        switch Int.random(in: 0..<14, using: &numbers) {
        case 0: return nil
        case 1: return Int.random(in: .min ... .max, using: &numbers)
        case 2: return true
        case 3: return numbers.pick([0.5, -0.0, .infinity, 1e300])
        case 4: return Data(text.utf8)
        case 5: return Model(name: text)
        case 6: return [text, numbers.pick(Self.arguments)]
        case 7: return [text: [1, 2]]
        case 8: return FilePart(text, bytes: Array(text.utf8), fileName: text, type: text)
        case 9: return [FilePart("a", bytes: [1], fileName: text), FilePart(text, path: "/nonexistent/\(text)")]
        default: return text
        }
    }

    // MARK: Inputs of a contract

    /// Returns what a consumer's layout may tell of an input.
    mutating func shape() -> ContractValue {
        numbers.pick([
            .unknown, .unknown, .nothing, .scalar, .text, .data, .file, .list, .structure(["name", "a"]),
            .structure(["x"]),
        ])
    }

    /// Returns an input in JSON, which often has as many elements as a method has arguments.
    mutating func input(_ count: Int) -> DocumentValue {
        numbers.once(in: 2) ? .array((0..<count).map { _ in json(1) }) : json(0)
    }

    private static let members = ["name", "a", "b", "x", "by", "files", "path", "size", "remoteId", ""]

    private mutating func json(_ depth: Int) -> DocumentValue {
        switch Int.random(in: depth < 3 ? 0..<10 : 4..<10, using: &numbers) {
        case 0, 1: return .array((0..<Int.random(in: 0...3, using: &numbers)).map { _ in json(depth + 1) })
        case 2, 3:
            var members: [String: DocumentValue] = [:]
            for _ in 0..<Int.random(in: 0...3, using: &numbers) {
                members[numbers.pick(Self.members)] = json(depth + 1)
            }
            return .dictionary(members)
        case 4: return .null
        case 5: return .bool(numbers.once(in: 2))
        case 6: return .integer(Int64.random(in: .min ... .max, using: &numbers))
        case 7: return .number(numbers.pick([0.5, -1e-300, 1e300]))
        default: return .string(numbers.pick(Self.arguments))
        }
    }

    private static let arguments = [
        "", "plain", "a/b", "?", "#", "&x=1", "%0", "%{1}", "%2e%2e", "..", ".", "../../x", "\r\nHost: evil", "\0", "🐳",
        "e\u{301}", " ", "\t", "\"", "\\", "http://evil.example.org/", "//evil.example.org", "@evil", ":80", "a;b", "%",
        "%00", "%zz", "\u{7F}", "\u{202E}", String(repeating: "x", count: 5_000),
    ]
}

private struct AnyOrder: MemberOrder {
    var elements: AnyOrder { self }
    func member(_ key: String) -> AnyOrder { self }
    func ordered(_ members: [String: DocumentValue]) -> [(key: String, value: DocumentValue)] {
        members.sorted { $0.key < $1.key }
    }
}
