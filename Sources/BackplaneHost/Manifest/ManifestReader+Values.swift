internal import Backplane
internal import BackplaneDocuments

extension ManifestReader {
    /// A dictionary and its path.
    struct Section {
        var values: [String: ManifestValue]
        var path: ManifestPath
    }

    mutating func section(_ value: ManifestValue, at path: ManifestPath) -> Section? {
        if case .dictionary(let values) = value { return Section(values: values, path: path) }
        return wrongType(value, expected: "a dictionary", at: path)
    }

    mutating func dictionary(_ key: String, in section: Section) -> Section? {
        section.values[key].flatMap { self.section($0, at: section.path / key) }
    }

    /// Reads an array that may be missing.
    ///
    /// - Parameters:
    ///   - most: The maximum number of elements in all arrays of this key together.
    ///   - left: The maximum number of elements in this array; `nil` means the same.
    mutating func array(_ key: String, in section: Section, most: Int, left: Int? = nil) -> [ManifestValue]? {
        guard let value = section.values[key] else { return nil }
        if case .array(let values) = value {
            guard values.count > left ?? most else { return values }
            report(
                .manifestUnsupported,
                "\(values.count) \(key)\(left.map { $0 < most } == true ? " more" : ""); a manifest may have \(most)",
                at: section.path / key)
            return []
        }
        return wrongType(value, expected: "an array", at: section.path / key)
    }

    /// Reads a string that may be missing but not empty.
    mutating func string(_ key: String, in section: Section) -> String? {
        guard let value = section.values[key], !unusable.contains(section.path / key) else { return nil }
        guard case .string(let text) = value else {
            return wrongType(value, expected: "a string", at: section.path / key)
        }
        guard !text.isEmpty else {
            report(.manifestMissingKey, "`\(key)` is empty", at: section.path / key)
            return nil
        }
        guard text.utf8.count <= ManifestLimits.nameBytes else {
            let words = "expected at most \(ManifestLimits.nameBytes) bytes, found \(text.utf8.count)"
            report(.manifestWrongType, words, at: section.path / key)
            return nil
        }
        return text
    }

    mutating func requiredString(_ key: String, in section: Section) -> String? {
        if section.values[key] == nil { report(.manifestMissingKey, "`\(key)` is missing", at: section.path / key) }
        return string(key, in: section)
    }

    /// Reads a string that is one of several values.
    mutating func choice<Value: RawRepresentable<String>>(_ key: String, of values: [Value], in section: Section)
        -> Value?
    {
        guard let text = string(key, in: section) else { return nil }
        if let value = values.first(where: { $0.rawValue == text }) { return value }
        let (path, choice) = (section.path / key, values.map { "`\($0.rawValue)`" }.joined(separator: " or "))
        report(.manifestWrongType, "expected \(choice), found `\(shown(text, at: path))`", at: path)
        return nil
    }

    /// Reads a whole number that may be missing.
    mutating func count(_ key: String, in range: ClosedRange<Int64>, in section: Section) -> Int? {
        guard let value = section.values[key] else { return nil }
        guard case .integer(let number) = value else {
            return wrongType(value, expected: "an integer", at: section.path / key)
        }
        guard range.contains(number) else {
            let words = "expected a number from \(range.lowerBound) to \(range.upperBound), found \(number)"
            report(.manifestWrongType, words, at: section.path / key)
            return nil
        }
        return Int(number)
    }

    /// Reads a number of seconds, above 0 and up to a day, that may be missing.
    mutating func seconds(_ key: String, in section: Section) -> Duration? {
        guard let value = section.values[key] else { return nil }
        let number: Double
        switch value {
        case .integer(let whole): number = Double(whole)
        case .number(let any): number = any
        default: return wrongType(value, expected: "a number of seconds", at: section.path / key)
        }
        guard number >= 0.001, number <= 86_400 else {
            let words = "expected a number of seconds from 0.001 to 86400, found \(number)"
            report(.manifestWrongType, words, at: section.path / key)
            return nil
        }
        return .seconds(number)
    }

    mutating func versionRange(in section: Section) -> VersionRange? {
        guard let text = string("version", in: own(section)) else { return nil }
        do {
            return try VersionRange(text)
        } catch {
            let path = section.path / "version"
            let words = spellings[path].map {
                "`\($0)` is not a version range; write an interval such as `[1.2,2.0)`"
            }
            report(.versionMalformed, words ?? error.description, at: path)
            return nil
        }
    }

    /// Returns the section for keys of the `backplane` dialect; it is empty in a plain Nemo Logic manifest.
    func own(_ section: Section) -> Section {
        dialect == .backplane ? section : Section(values: [:], path: section.path)
    }

    mutating func reportUnknownKeys(
        in section: Section, known: ManifestKeys, severity: Problem.Severity = .warning
    ) {
        let keys = known.known(in: dialect).sorted()
        for key in section.values.keys.sorted() where !keys.contains(key) {
            guard dialect != .nemoLogic || !known.own.contains(key) else {
                let words = "`\(key)` is ignored in a manifest without `manifestVersion`"
                report(.manifestUnknownKey, words, at: section.path / key, severity: severity)
                continue
            }
            let suggestions = NameSuggestions(for: key, among: keys)
            report(
                .manifestUnknownKey,
                "unknown key `\(key)`; \(suggestions.question ?? "known here: \(NameSuggestions.list(keys))")",
                at: section.path / key, severity: severity, intended: suggestions.nearest.map { section.path / $0 })
        }
    }

    private mutating func wrongType<Value>(_ value: ManifestValue, expected: String, at path: ManifestPath) -> Value? {
        report(.manifestWrongType, "expected \(expected), found \(value.kind)", at: path)
        return nil
    }
}
