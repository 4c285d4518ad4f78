import Backplane
import BackplaneDocuments

extension NetworkFilter {
    private static let keys = ManifestKeys(["manager", "hosts"])

    /// The filter as written in a manifest: only the manager's name, if it is for every host.
    var value: ManifestValue {
        if hosts.isEmpty { return .string(manager) }
        return .dictionary(["manager": .string(manager), "hosts": .array(hosts.map(ManifestValue.string))])
    }

    /// Reads a filter: a manager's name, or a dictionary with its hosts.
    fileprivate init?(_ value: ManifestValue, at path: ManifestPath, _ reader: inout ManifestReader) {
        if case .string(let name) = value {
            guard !reader.unusable.contains(path), reader.isName(name, at: path) else { return nil }
            self.init(name)
            return
        }
        guard let filter = reader.section(value, at: path) else { return nil }
        let hosts = reader.hostNames("hosts", in: filter)
        // Without the hosts that were meant, a filter would show its signatures to all.
        reader.reportUnknownKeys(in: filter, known: Self.keys, severity: .error)
        if case .array([]) = filter.values["hosts"] {
            reader.report(
                .manifestWrongType, "`hosts` is empty; omit the key to filter requests to every host",
                at: path / "hosts"
            )
        }
        guard let name = reader.requiredString("manager", in: filter) else { return nil }
        self.init(name, hosts: hosts)
    }
}

extension ManifestReader {
    /// Reads the managers that filter exchanges, in order.
    mutating func filters(in section: Section) -> [NetworkFilter] {
        var filters: [NetworkFilter] = []
        for (index, value) in (array("filters", in: section, most: ManifestLimits.filters) ?? []).enumerated() {
            guard let filter = NetworkFilter(value, at: section.path / "filters" / index, &self) else { continue }
            filters.append(filter)
        }
        return filters
    }

    /// Reads the managers that observe exchanges.
    mutating func observers(in section: Section) -> [String] {
        strings("observers", in: section, most: ManifestLimits.filters) { $0.isName($1, at: $2) }
    }

    /// Reads an array of strings, each of which must meet a condition; the condition reports those that do not.
    mutating func strings(
        _ key: String, in section: Section, most: Int,
        where isValid: (inout ManifestReader, String, ManifestPath) -> Bool
    ) -> [String] {
        var texts: [String] = []
        for (index, value) in (array(key, in: section, most: most) ?? []).enumerated() {
            let path = section.path / key / index
            guard case .string(let text) = value else {
                report(.manifestWrongType, "expected a string, found \(value.kind)", at: path)
                continue
            }
            if !unusable.contains(path), isValid(&self, text, path) { texts.append(text) }
        }
        return texts
    }

    /// Returns whether a string can be a manager's name, and reports one that cannot.
    fileprivate mutating func isName(_ text: String, at path: ManifestPath) -> Bool {
        let count = text.utf8.count, most = ManifestLimits.nameBytes
        if (1...most).contains(count) { return true }
        report(.manifestWrongType, "expected a name of 1 to \(most) bytes, found \(count) bytes", at: path)
        return false
    }
}
