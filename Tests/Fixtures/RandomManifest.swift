import Backplane
import BackplaneDocuments
import BackplaneExchange
package import BackplaneHost
import BackplaneRecords
import BackplaneStorage
import FoundationEssentials

/// Manifests and values that are sound, and as odd as they may be.
package struct RandomManifest {
    package var numbers: SeededNumbers
    /// Kinds that JSON has not.
    package var hasForeignKinds = false
    /// A kind that property lists have not.
    package var hasNull = false

    package init(_ seed: UInt64) { numbers = SeededNumbers(seed) }

    package static let texts = [
        "", " ", "a", "Books", "a/b~c", "${HOME}", "$$${x", "$", "<a & b>", "]]>", "é", "e\u{301}", "🐋", "\u{FEFF}",
        "line\nline\ttab", "\r\n", "\"quoted\\\"",
        "null", "true", "1.0", "bplist00", "nan", String(repeating: "long ", count: 60), "\u{2028}", "\u{7F}",
        "\u{10FFFF}",
    ]
    package static let wholes: [Int64] = [0, 1, -1, 255, 256, 65_535, 65_536, 4_294_967_295, 4_294_967_296, .max, .min]
    package static let fractions = [0.5, -0.1, 1e-300, 1.5e300, 1e19, 3.141592653589793]

    package mutating func manifest() -> Manifest {
        var managers: [String: ManagerDefinition] = [:]
        for _ in 0..<Int.random(in: 0...4, using: &numbers) { managers[text()] = manager() }
        let plugins = numbers.once(in: 3) ? nil : (0..<Int.random(in: 0...3, using: &numbers)).map { _ in plugin() }
        let lock = numbers.once(in: 3) ? [text(): LockedClass(plugin: name(), version: "1.2.3")] : nil
        let store = StoreSettings(
            durability: numbers.pick([.full, .normal]), damaged: numbers.pick([.salvage, .refuse]))
        let network = NetworkSettings(
            traced: numbers.once(in: 2) ? ["books.example.org", "localhost"] : [],
            filters: numbers.once(in: 3) ? [NetworkFilter("F"), NetworkFilter("G", hosts: ["localhost"])] : [],
            observers: numbers.once(in: 3) ? ["O"] : [],
            credentials: numbers.once(in: 2) ? [name(): credential(), "c": credential()] : [:])
        return Manifest(plugins: plugins, managers: managers, lock: lock, store: store, network: network)
    }

    private mutating func credential() -> Credential {
        let login = Login(user: numbers.once(in: 2) ? secret() : nil, password: numbers.once(in: 2) ? secret() : nil)
        let scheme: Credential.Scheme
        switch Int.random(in: 0..<5, using: &numbers) {
        case 0: scheme = .basic(login, isPreemptive: numbers.once(in: 2))
        case 1: scheme = .digest(login)
        case 2: scheme = .bearer(TokenSource(secret: secret()))
        case 3: scheme = .component(name(), values: numbers.once(in: 2) ? [name(): secret()] : [:])
        default:
            scheme = .bearer(
                TokenSource(
                    signIn: tokenRequest(values: ["reader", "password"]),
                    refresh: numbers.once(in: 2) ? tokenRequest(values: ["token", "refreshToken"]) : nil,
                    token: "/" + text(), expires: numbers.once(in: 2) ? "/" + text() : nil,
                    refreshToken: numbers.once(in: 2) ? "/" + text() : nil, isKept: numbers.once(in: 2)))
        }
        return Credential(
            hosts: numbers.pick([["books.example.org"], ["127.0.0.1:8080", "[::1]:80", "localhost"]]), scheme,
            managers: numbers.once(in: 2) ? [name()] : nil, hasCookies: numbers.once(in: 2))
    }

    private mutating func tokenRequest(values: [String]) -> TokenRequest {
        var members: [String: TokenTemplate] = [:]
        for _ in 0..<Int.random(in: 0...3, using: &numbers) {
            // A key of another name than `value`, with which an object would stand for a value.
            let parts: [TokenTemplate] = [
                .text(Secret(text())), .value(numbers.pick(values)), .literal(.bool(true)), .literal(.integer(-7)),
                .array([.text(Secret(text())), .object([name(): .literal(.number(0.5))])]),
            ]
            members[name()] = numbers.pick(parts)
        }
        return TokenRequest(
            "https://books.example.org/sessions?key=" + numbers.pick(["", "1"]),
            numbers.pick([.none, .json(members), .form(members)]), method: numbers.pick(["POST", "PUT"]),
            headers: numbers.once(in: 2) ? ["X-Key": .text(Secret(text()))] : [:])
    }

    /// A secret, which contains no control characters.
    private mutating func secret() -> Secret {
        Secret(numbers.pick(Self.texts.filter { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }))
    }

    private mutating func plugin() -> PluginReference {
        PluginReference(
            library: name(), version: range(), sha256: numbers.once(in: 2) ? String(repeating: "0f", count: 32) : nil,
            resources: numbers.once(in: 2) ? "Files" : nil)
    }

    private mutating func manager() -> ManagerDefinition {
        var manager = ManagerDefinition(
            className: name(), version: range(), uses: numbers.once(in: 2) ? [text(): name()] : [:],
            configuration: configuration(),
            activation: numbers.pick(Activation.allCases))
        if numbers.once(in: 2) {
            manager.dataAccessController = DataAccessControllerDefinition(
                className: name(), version: range(), configuration: configuration(),
                namespace: numbers.once(in: 2) ? name() : nil)
        }
        if numbers.once(in: 2) {
            let services = (0..<Int.random(in: 0...2, using: &numbers)).map { index in
                ServiceDefinition(
                    className: name(), version: range(), propertyName: "p\(index)",
                    networkServiceConfiguration: configuration())
            }
            manager.communicationController = CommunicationControllerDefinition(
                className: name(), version: range(), configuration: configuration(), services: services)
        }
        return manager
    }

    private mutating func configuration() -> [String: ManifestValue] {
        var members: [String: ManifestValue] = [:]
        for _ in 0..<Int.random(in: 0...3, using: &numbers) { members[text()] = value(depth: 3) }
        return members
    }

    package mutating func value(depth: Int) -> ManifestValue {
        switch Int.random(in: 0..<(depth > 0 ? 10 : 8), using: &numbers) {
        case 0: return .bool(numbers.once(in: 2))
        case 1, 2: return .integer(numbers.pick(Self.wholes))
        case 3: return .number(numbers.pick(Self.fractions))
        case 4 where hasForeignKinds:
            return .data(Data((0..<Int.random(in: 0...40, using: &numbers)).map { UInt8($0) }))
        case 5 where hasForeignKinds:
            return .date(Date(timeIntervalSinceReferenceDate: Double(Int32.random(in: .min ... .max, using: &numbers))))
        case 6 where hasNull: return .null
        case 8: return .array((0..<Int.random(in: 0...3, using: &numbers)).map { _ in value(depth: depth - 1) })
        case 9:
            var members: [String: ManifestValue] = [:]
            for _ in 0..<Int.random(in: 0...3, using: &numbers) { members[text()] = value(depth: depth - 1) }
            return .dictionary(members)
        default: return .string(text())
        }
    }

    private mutating func text() -> String { numbers.pick(Self.texts) }

    /// A text that says something.
    private mutating func name() -> String { text() + "x" }

    private mutating func range() -> VersionRange? {
        let version = Version(
            Int.random(in: 0...2, using: &numbers), Int.random(in: 0...9, using: &numbers),
            Int.random(in: 0...9, using: &numbers))
        let lower = VersionRange.Bound(version, isIncluded: true),
            upper = VersionRange.Bound(Version(version.major + 1), isIncluded: false)
        return numbers.pick([
            nil, VersionRange(lower: lower, upper: upper), VersionRange(lower: lower, upper: lower),
            VersionRange(lower: nil, upper: upper), VersionRange(lower: nil, upper: nil),
        ])
    }
}
