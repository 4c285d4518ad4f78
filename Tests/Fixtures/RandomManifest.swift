import Backplane
import BackplaneDocuments
package import BackplaneHost
import FoundationEssentials

/// A generator of valid but unusual manifests and values.
package struct RandomManifest {
    package var numbers: SeededNumbers
    /// A Boolean value that indicates whether there are kinds of values that JSON does not have.
    package var hasForeignKinds = false
    /// A Boolean value that indicates whether there is `null`, which property lists do not have.
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

    /// Returns a valid manifest.
    package mutating func manifest() -> ManifestValue {
        var managers: [String: ManifestValue] = [:], credentials: [String: ManifestValue] = [:]
        for _ in 0..<Int.random(in: 0...4, using: &numbers) { managers[text()] = manager() }
        let plugins = (0..<Int.random(in: 0...3, using: &numbers)).map { _ in plugin() }
        for _ in 0..<Int.random(in: 0...2, using: &numbers) { credentials[name()] = credential() }
        let hosts: ManifestValue = ["books.example.org", "localhost"]
        let limits: ManifestValue = [
            "perSecond": 0.5, "burst": 20, "waiting": 0, "breaker": ["openFor": 7.5], "body": 9,
        ]
        let network = object([
            "traced": maybe(hosts), "limits": maybe(["books.example.org": limits, "*": ["concurrent": 8]]),
            "interceptors": maybe(["F", ["manager": "G", "hosts": hosts]]), "credentials": .dictionary(credentials),
        ])
        let store: ManifestValue = [
            "durability": numbers.pick(["full", "normal"]), "damaged": numbers.pick(["move-aside", "refuse"]),
        ]
        let sections = object([
            "manifestVersion": 1, "plugins": maybe(.array(plugins)),
            "managers": .dictionary(managers), "store": store, "network": network,
        ])
        // Variables are not expanded in a lock.
        guard case .dictionary(var root) = sections.withoutVariables else { return sections }
        if numbers.once(in: 3) { root["lock"] = [text(): ["plugin": .string(name()), "version": "1.2.3"]] }
        return .dictionary(root)
    }

    private func object(_ members: [String: ManifestValue?]) -> ManifestValue {
        .dictionary(members.compactMapValues(\.self))
    }

    private mutating func maybe(_ value: ManifestValue) -> ManifestValue? {
        numbers.once(in: 2) ? .some(value) : .none
    }

    private mutating func credential() -> ManifestValue {
        var members: [String: ManifestValue?] = [
            "hosts": numbers.pick([["books.example.org"], ["127.0.0.1:8080", "[::1]:80", "localhost"]]),
            "managers": maybe([.string(name())]), "cookies": .bool(numbers.once(in: 2)),
        ]
        let type = numbers.pick(["basic", "digest", "bearer", "component"])
        members["type"] = .string(type)
        switch type {
        case "basic", "digest":
            (members["user"], members["password"]) = (maybe(secret()), secret())
            if type == "basic" { members["preemptive"] = .bool(numbers.once(in: 2)) }
        case "bearer" where numbers.once(in: 2): members["secret"] = secret()
        case "bearer":
            members["signIn"] = tokenRequest(values: ["reader", "password"])
            members["refresh"] = maybe(tokenRequest(values: ["token", "refreshToken"]))
            for key in ["token", "expires", "refreshToken"] { members[key] = .string("/" + text()) }
            members["keep"] = .bool(numbers.once(in: 2))
        default: (members["manager"], members["values"]) = (.string(name()), [name(): secret()])
        }
        return object(members)
    }

    private mutating func tokenRequest(values: [String]) -> ManifestValue {
        var members: [String: ManifestValue] = [:]
        for _ in 0..<Int.random(in: 0...3, using: &numbers) {
            // Not the key `value`, with which the object would represent another value.
            let parts: [ManifestValue] = [
                .string(text()), ["value": .string(numbers.pick(values))], true, -7,
                [.string(text()), [name(): 0.5]],
            ]
            members[name()] = numbers.pick(parts)
        }
        return object([
            "url": "https://books.example.org/sessions?key=1", "method": numbers.pick(["POST", "PUT"]),
            numbers.pick(["json", "form"]): .dictionary(members),
            "headers": maybe(["X-Key": .string(text())]),
        ])
    }

    /// Returns a secret without control characters and, because it may be a user's name, without a colon.
    private mutating func secret() -> ManifestValue {
        .string(numbers.pick(Self.texts.filter { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != 0x3A } }))
    }

    private mutating func plugin() -> ManifestValue {
        if numbers.once(in: 3) { return .string(name()) }
        return object([
            "library": .string(name()), "version": range(),
            "sha256": maybe(.string(String(repeating: "0f", count: 32))),
            "resources": maybe("Files"),
        ])
    }

    private mutating func manager() -> ManifestValue {
        let services = (0..<Int.random(in: 0...2, using: &numbers)).map { index in
            object([
                "className": .string(name()), "version": range(), "propertyName": .string("p\(index)"),
                numbers.pick(["configuration", "networkServiceConfiguration"]): configuration(),
            ])
        }
        let controller = object([
            "className": .string(name()), "version": range(), "configuration": configuration(),
            "namespace": maybe(.string(name())),
        ])
        return object([
            "className": maybe(.string(name())), "version": range(), "configuration": configuration(),
            "uses": maybe([text(): .string(name())]),
            "activation": .string(numbers.pick(Activation.allCases).rawValue),
            "dataAccessController": maybe(controller),
            "communicationController": maybe([
                "className": .string(name()), "configuration": configuration(), "services": .array(services),
            ]),
        ])
    }

    private mutating func configuration() -> ManifestValue {
        var members: [String: ManifestValue] = [:]
        for _ in 0..<Int.random(in: 0...3, using: &numbers) { members[text()] = value(depth: 3) }
        return .dictionary(members)
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

    /// Returns a text that is not empty.
    private mutating func name() -> String { text() + "x" }

    private mutating func range() -> ManifestValue? {
        let version = Version(
            Int.random(in: 0...2, using: &numbers), Int.random(in: 0...9, using: &numbers),
            Int.random(in: 0...9, using: &numbers))
        let lower = VersionRange.Bound(version, isIncluded: true),
            upper = VersionRange.Bound(Version(version.major + 1), isIncluded: false)
        let ranges = [
            VersionRange(lower: lower, upper: upper), VersionRange(lower: lower, upper: lower),
            VersionRange(lower: nil, upper: upper), VersionRange(lower: nil, upper: nil),
        ]
        return maybe(.string(numbers.pick(ranges).description))
    }
}
