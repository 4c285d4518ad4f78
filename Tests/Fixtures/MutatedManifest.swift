import BackplaneDocuments
package import BackplaneHost
package import FoundationEssentials

/// A valid manifest with random changes of its values, its bytes, or both, which are the same for the same seed.
package struct MutatedManifest {
    private var numbers: SeededNumbers
    package let format: ManifestFormat
    package private(set) var bytes: Data
    /// The environment with which to read the manifest.
    package private(set) var environment: String?

    package init(seed: UInt64, format: ManifestFormat, of sound: [ManifestValue]) {
        numbers = SeededNumbers(seed)
        self.format = format
        var value = numbers.pick(sound)
        if numbers.once(in: 4) {
            var random = RandomManifest(seed)
            random.hasForeignKinds = format != .json
            value = random.manifest()
        }
        bytes = Data()
        if !numbers.once(in: 3) {
            for _ in 0..<Int.random(in: 1...4, using: &numbers) { value = mutated(value, numbers.pick(sound)) }
        }
        // A value that the format cannot represent is written as JSON, which does not matter for fuzzing.
        bytes = (try? value.encoded(as: format)) ?? value.json
        if numbers.once(in: 2) {
            for _ in 0..<Int.random(in: 1...6, using: &numbers) { mutateBytes() }
        }
        if numbers.once(in: 3) { environment = numbers.pick(["test", "production", "none", ""]) }
    }

    // MARK: Values

    /// Returns the value with a random change at one place.
    private mutating func mutated(_ value: ManifestValue, _ other: ManifestValue) -> ManifestValue {
        switch value {
        case .array(var values) where !values.isEmpty && !numbers.once(in: 5):
            let index = Int.random(in: 0..<values.count, using: &numbers)
            switch Int.random(in: 0..<8, using: &numbers) {
            case 0: values.remove(at: index)
            case 1: values.append(values[index])
            case 2: values.reverse()
            default: values[index] = mutated(values[index], other)
            }
            return .array(values)
        case .dictionary(var members) where !members.isEmpty && !numbers.once(in: 8):
            let key = numbers.pick(members.keys.sorted())
            switch Int.random(in: 0..<10, using: &numbers) {
            case 0: members[key] = nil as ManifestValue?
            case 1: members[numbers.pick(Self.keys)] = members.removeValue(forKey: key)
            case 2: members[numbers.pick(Self.keys)] = anything(other)
            default: members[key] = mutated(members[key]!, other)
            }
            return .dictionary(members)
        default: return anything(other)
        }
    }

    package static let keys = [
        "className", "version", "activation", "uses", "configuration", "dataAccessController",
        "communicationController", "services", "propertyName",
        "networkServiceConfiguration", "namespace", "library", "sha256", "resources", "plugins", "managers",
        "environments", "lock", "plugin",
        "manifestVersion", "$schema", "test", "production", "", "/", "~", "A", "LibraryManager",
        "ClockManager/communicationController", "books", "clock",
    ]
    package static let texts =
        RandomManifest.texts + [
            "${HOME}", "${", "${}", "${NONE}", "${NONE:-x}", "${TEXT}", "$${", "[1.2,2.0)", "[1,", "1.2", "(,)",
            "[99999999999999999999,)", "eager", "lazy", "late", "..",
            "/etc", "LibraryManager", "ClockManager", "BooksService", "BookStore", "LibraryCommunication", "books",
            "clock", "\0", "\u{1}",
        ]

    private mutating func anything(_ other: ManifestValue) -> ManifestValue {
        switch Int.random(in: 0..<14, using: &numbers) {
        case 0: return nil
        case 1: return .bool(numbers.once(in: 2))
        case 2: return .integer(numbers.pick(RandomManifest.wholes))
        case 3:
            return .number(
                numbers.pick(
                    RandomManifest.fractions + [
                        .infinity, .nan, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
                    ]))
        case 4: return .data(Data(count: Int.random(in: 0...20, using: &numbers)))
        case 5: return .date(Date(timeIntervalSinceReferenceDate: Double.random(in: -1e13...1e13, using: &numbers)))
        case 6: return []
        case 7: return [:]
        case 8: return other
        case 9:
            return (0..<numbers.pick([3, 58, 62, 66])).reduce("deep") { value, level in
                level.isMultiple(of: 2) ? [value] : ["a": value]
            }
        case 10: return .array(Array(repeating: .string("wide"), count: 200))
        default: return .string(numbers.pick(Self.texts))
        }
    }

    // MARK: Bytes

    package static let tokens = [
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud83d", "null", "true", "-", "1e999", "0", "<", ">",
        "</dict>", "<dict>", "<key>", "<!--", "-->", "<![CDATA[", "]]>", "&", "&#0;",
        "&amp", "<plist>", "<?", "<!DOCTYPE plist [", "bplist00", "\u{FEFF}", "${", "\0", "é",
    ]

    private mutating func mutateBytes() {
        guard !bytes.isEmpty else { return }
        let start = Int.random(in: 0..<bytes.count, using: &numbers),
            end = min(bytes.count, start + Int.random(in: 1...40, using: &numbers))
        switch Int.random(in: 0..<8, using: &numbers) {
        case 0: bytes = Data(bytes.prefix(start))
        case 1: bytes.removeSubrange(start..<end)
        case 2: bytes.insert(contentsOf: Data(bytes[start..<end]), at: Int.random(in: 0...bytes.count, using: &numbers))
        case 3: bytes.insert(contentsOf: numbers.pick(Self.tokens).utf8, at: start)
        case 4: bytes[start] = UInt8.random(in: 0...255, using: &numbers)
        // The end of a binary property list contains the offsets that everything else depends on.
        case 5:
            bytes[bytes.count - 1 - Int.random(in: 0..<min(40, bytes.count), using: &numbers)] ^=
                1 << UInt8.random(in: 0...7, using: &numbers)
        default: bytes[start] ^= 1 << UInt8.random(in: 0...7, using: &numbers)
        }
    }
}
