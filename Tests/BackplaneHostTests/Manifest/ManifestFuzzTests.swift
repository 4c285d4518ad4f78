import Backplane
import BackplaneDocuments
import Foundation
import TestFixtures
import Testing

@testable import BackplaneHost

/// Broken manifests, all the way from bytes to a plan. `BACKPLANE_FUZZ=N` tries N of them, `BACKPLANE_FUZZ_SEED=N` one
/// again.
@Suite(.timeLimit(.minutes(60)))
struct `Manifests that were tampered with` {
    private static let catalogue: Catalogue = {
        let api = ContractDescription.of("API")
        let layers: [WireDescription] = [
            .to("dataAccessController", api, optional: true), .to("communicationController", api, optional: true),
            .to("clock", api, optional: true),
        ]
        return Catalogue(
            plugins: [
                .manager("LibraryManager", provides: api, wires: layers), .manager("ClockManager", provides: api),
                .manager("AlmanacManager", wires: layers),
                .dataAccess("BookStore", provides: api), .dataAccess("AlmanacStore", provides: api),
            ],
            [
                .communication("LibraryCommunication", provides: api, wires: [.to("books", api)]),
                .communication("AlmanacCommunication", provides: api, wires: [.to("feed", api, optional: true)]),
                .service("BooksService", "1.0.0", provides: api), .service("BooksService", "2.1.0", provides: api),
                .service("EventFeedService", provides: api),
            ])
    }()

    private let sound: [ManifestValue]

    init() throws {
        var values = try Examples.paths().map { try ManifestValue(parsing: Data(contentsOf: URL(filePath: $0))) }
        values.append(`Reading a manifest`.whole)
        values.append(try ManifestValue(parsing: Data(`Environments of a manifest`.text.utf8)))
        values.append([
            "manifestVersion": 1,
            "managers": [
                "LibraryManager": ["className": "LibraryManager", "uses": ["clock": "ClockManager"]],
                "ClockManager": ["className": "ClockManager"],
            ],
            "environments": [
                "test": [
                    "managers": [
                        "LibraryManager": ["uses": nil, "configuration": ["home": "${HOME:-none}"]],
                        "New": ["className": "ClockManager"],
                    ]
                ], "production": [:],
            ],
            "lock": [
                "LibraryManager": ["plugin": "org.p0", "version": "1.0.0"],
                "ClockManager": ["plugin": "org.p0", "version": "1.0.0"],
            ],
        ])
        sound = values
    }

    @Test func `Before, they have no problem`() {
        for value in sound {
            let problems = Resolution(ManifestDocument(value), catalogue: Self.catalogue).problems
            #expect(
                problems.allSatisfy { $0.error.code != .manifestWrongType && $0.error.code != .manifestMissingKey },
                "\(problems)")
        }
    }

    @Test(.nightly) func `After, they are read or refused, with everything in its place`() throws {
        if let one = ProcessInfo.processInfo.environment["BACKPLANE_FUZZ_SEED"].flatMap(UInt64.init) {
            _ = try attempt(one, ManifestFormat.allCases[Int(one % 3)])
            return
        }
        let count = ProcessInfo.processInfo.environment["BACKPLANE_FUZZ"].flatMap(Int.init) ?? 900
        var outcomes: [String: Int] = [:]
        for seed in 0..<UInt64(count) {
            let format = ManifestFormat.allCases[Int(seed % 3)]
            outcomes[try attempt(seed, format), default: 0] += 1
        }
        // A fuzzer of which everything is refused, or nothing, tries next to nothing.
        for outcome in ["refused", "faulty", "sound"] { #expect(outcomes[outcome] ?? 0 > count / 20, "\(outcomes)") }
    }

    /// What ever found something, in the reading, the writing or in these tests.
    static let found: [(ManifestFormat, ManifestValue)] = [
        (.binary, ["M": ["className": "M", "$null": 1]]), (.binary, ["M": ["className": "$null"]]),
        (.xml, ["M": ["className": "\r\nx<\u{301}"]]),
        (.xml, ["M": ["className": "\u{FEFF}x"]]), (.json, ["\u{FEFF}": ["className": "$$${x"]]),
        (.binary, ["M": ["className": "e\u{301}"], "": [:]]),
    ]

    @Test(arguments: found)
    func `Past findings stay fixed`(format: ManifestFormat, value: ManifestValue) throws {
        _ = try attempt(try value.encoded(as: format), environment: nil, "\(value)")
    }

    private func attempt(_ seed: UInt64, _ format: ManifestFormat) throws -> String {
        let input = MutatedManifest(seed: seed, format: format, of: sound)
        return try attempt(input.bytes, environment: input.environment, "seed \(seed)")
    }

    private func attempt(_ bytes: Data, environment: String?, _ name: String) throws -> String {
        let document = ManifestDocument(parsing: bytes, path: "manifest", environment: environment) {
            ["TEXT": "${TEXT}", "EMPTY": ""][$0]
        }
        let resolution = Resolution(document, catalogue: Self.catalogue)
        for violation in try violations(document, resolution, bytes) { Issue.record("\(name): \(violation)") }
        if document.problems.contains(where: { $0.error.code == .manifestMalformed }) { return "refused" }
        return resolution.problems.contains { $0.severity == .error } ? "faulty" : "sound"
    }

    private func violations(_ document: ManifestDocument, _ resolution: Resolution, _ bytes: Data) throws -> [String] {
        var violations: [String] = []
        let isText = ManifestFormat(of: bytes) == .json
        for problem in resolution.problems {
            let location = problem.error.location
            if location == nil { violations.append("no place: \(problem)") }
            if isText, problem.position == nil, bytes.count <= DocumentLimits.bytes {
                violations.append("no position: \(problem)")
            }
            if problem.error.message.isEmpty || problem.error.message.utf8.count > 10_000 {
                violations.append("no message to read: \(location ?? "")")
            }
        }
        try resolution.plan.checkInvariants()
        let faulty = Set(resolution.problems.filter { $0.severity == .error }.compactMap(\.manager))
        if faulty != Set(resolution.plan.faults.keys) {
            violations.append("faults \(resolution.plan.faults.keys) but errors of \(faulty)")
        }
        for name in document.manifest.managers.keys
        where resolution.plan.managers[name] == nil && resolution.plan.faults[name] == nil {
            violations.append("`\(name)` is neither planned nor faulty")
        }
        if let value = try? ManifestValue(parsing: bytes) { violations += lockings(value, bytes, resolution.lock) }
        return violations
    }

    /// Whether the value is not equal to itself.
    private static func isNaN(_ value: ManifestValue) -> Bool {
        switch value {
        case .number(let number): number.isNaN
        case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
        default: false
        }
    }

    /// A lock, put into it and put into it again.
    private func lockings(_ value: ManifestValue, _ bytes: Data, _ lock: [String: LockedClass]) -> [String] {
        guard !value.contains(Self.isNaN), let locked = try? ManifestText.put(lock: lock, into: bytes) else {
            return []
        }
        guard let again = try? ManifestText.put(lock: lock, into: locked), again == locked else {
            return ["locked twice is not the same"]
        }
        guard case .dictionary(var before) = value, case .dictionary(let after)? = try? ManifestValue(parsing: locked)
        else { return ["what is locked is no manifest"] }
        before["lock"] = lock.value
        let changed = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.map {
            "\($0): \(before[$0] as Any) → \(after[$0] as Any)"
        }
        return changed.isEmpty ? [] : ["locking changed \(changed)"]
    }
}

extension ManifestValue {
    fileprivate func contains(_ predicate: (ManifestValue) -> Bool) -> Bool {
        var isFound = false
        visit { value, _, _ in isFound = isFound || predicate(value) }
        return isFound
    }
}
