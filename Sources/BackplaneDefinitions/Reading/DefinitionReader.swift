import Backplane
import BackplaneDocuments
import BackplaneNetwork

/// A reader that turns a value into methods and collects all problems instead of stopping at the first.
struct DefinitionReader {
    /// The maximum number of listed errors, and of listed warnings; additional ones are only counted.
    static let mostListed = 1_000
    /// The maximum length of a string in a definition, in bytes, which is that of the longest header field that servers
    /// accept.
    static let longestText = 16 << 10

    /// The existing names; `nil` if they are unknown.
    let names: DefinitionNames?
    private var problems: [DefinitionProblem] = []
    private var errorCount = 0, warningCount = 0
    /// The indicators and octets of the current method, with their locations.
    var indicators: [(indicator: Indicator, path: DocumentPath)] = []
    var octets: [(text: String, path: DocumentPath)] = []

    init(names: DefinitionNames?) { self.names = names }

    /// Reads the dictionary of methods.
    mutating func methods(_ value: DocumentValue) -> [DefinedMethod] {
        guard case .dictionary(let values) = value else {
            report(.definitionMalformed, "expected a dictionary of methods, found \(value.kind)", at: DocumentPath())
            return []
        }
        var methods: [DefinedMethod] = [], keys: [String: String] = [:]
        for (key, value) in values.sorted(by: { $0.key < $1.key }) where key != Self.schemaKey {
            let path = DocumentPath() / key
            guard let method = method(key, value, at: path) else { continue }
            if let other = keys.updateValue(key, forKey: method.signature) {
                report(
                    .definitionInvalidValue,
                    "`\(key)` and `\(other)` are both called as `\(method.signature)`; rename one",
                    at: path)
                continue
            }
            methods.append(method)
        }
        return methods
    }

    /// The key under which editors find the schema of a JSON file.
    static let schemaKey = "$schema"

    private mutating func method(_ key: String, _ value: DocumentValue, at path: DocumentPath) -> DefinedMethod? {
        let name: MethodName
        do { name = try MethodName(key) } catch {
            report(.definitionInvalidValue, error.reason, at: path)
            return nil
        }
        guard let section = section(value, at: path) else { return nil }
        (indicators, octets) = ([], [])
        let before = errorCount
        reportUnknownKeys(in: section, known: ["request", "serialization"])
        guard let requestValue = section.values["request"] else {
            report(.definitionMissingKey, "`request` is missing", at: path / "request")
            return nil
        }
        guard let requestSection = self.section(requestValue, at: path / "request") else { return nil }
        let session = sessionType(in: requestSection)
        let request = request(requestSection, session)
        var (serializer, model): (String?, String?) = (nil, nil)
        if let serialization = section.values["serialization"].flatMap({ self.section($0, at: path / "serialization") })
        {
            (serializer, model) = self.serialization(serialization)
        }
        let count = checkIndicators(of: name, at: path)
        if errorCount == before { checkArguments(of: name, count, request.content, session, at: path) }
        guard errorCount == before else { return nil }
        return DefinedMethod(
            argumentCount: count, sessionType: session, serializer: serializer, model: model, names: name,
            request: request, indicators: indicators.map(\.indicator), used: Set(indicators.map(\.indicator.index)))
    }

    /// Checks the indicators of a method against its arguments, and returns the number of arguments.
    private mutating func checkIndicators(of name: MethodName, at path: DocumentPath) -> Int {
        let count = name.count ?? indicators.map { $0.indicator.index + 1 }.max() ?? 0
        for (indicator, path) in indicators where indicator.index >= count {
            let has =
                count == 0
                ? "no arguments" : count == 1 ? "one argument, `%0`" : "the arguments `%0` to `%\(count - 1)`"
            report(
                .definitionIndicator, "`\(indicator.text)` refers to no argument: `\(name.key)` has \(has)", at: path)
        }
        for (octet, path) in octets {
            let digit = octet.utf8.dropFirst().first.flatMap { $0.isDecimalDigit ? Int($0 - UInt8(ascii: "0")) : nil }
            guard let digit, digit < count else { continue }
            report(
                .definitionIndicator,
                "`\(octet)` is a percent-encoded octet; write `%{\(digit)}` for the argument \(digit)", at: path,
                severity: .warning)
        }
        return count
    }

    /// Checks that each argument is used, and that an upload has a body.
    private mutating func checkArguments(
        of name: MethodName, _ count: Int, _ content: RequestTemplate.Content, _ session: SessionType,
        at path: DocumentPath
    ) {
        let used = Set(indicators.map(\.indicator.index)), unused = (0..<count).filter { !used.contains($0) }
        if case .none = content {
            if name.count != nil, session == .upload, unused.isEmpty {
                report(
                    .definitionMissingKey,
                    "an upload needs a body; add `body`, `parameters` or `files`, or an argument for data", at: path)
            }
            // One may be the body.
            if name.count != nil, unused.count <= 1 { return }
        }
        for index in unused {
            report(
                .definitionIgnored,
                "no indicator refers to argument \(index), so it has no effect unless it is data",
                at: path, severity: .warning)
        }
    }

    /// The listed problems, followed by the number of unlisted ones.
    var listed: [DefinitionProblem] {
        let (errors, warnings) = (problems.count { $0.severity == .error }, problems.count { $0.severity == .warning })
        var listed = problems
        if errorCount > errors {
            listed.append(
                .init(.error, BackplaneError(.definitionMalformed, "and \(errorCount - errors) more errors", at: "")))
        }
        if warningCount > warnings {
            let words = "and \(warningCount - warnings) more warnings"
            listed.append(.init(.warning, BackplaneError(.definitionIgnored, words, at: "")))
        }
        return listed
    }

    mutating func report(
        _ code: BackplaneError.Code, _ message: String, at path: DocumentPath,
        severity: DefinitionProblem.Severity = .error
    ) {
        let count = severity == .error ? errorCount : warningCount
        if severity == .error { errorCount += 1 } else { warningCount += 1 }
        guard count < Self.mostListed else { return }
        problems.append(DefinitionProblem(severity, BackplaneError(code, message, at: path.description)))
    }
}
