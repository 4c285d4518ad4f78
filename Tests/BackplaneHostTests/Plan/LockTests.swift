import Backplane
import BackplaneDocuments
import FoundationEssentials
import TestFixtures
import Testing

@testable import BackplaneHost

/// The seven test cases of Nemo Logic, with the outcomes we give them: where it gave nil, a located error.
struct `A plain Nemo Logic property list` {
    static let service =
        "<dict><key>className</key><string>ChallengeService</string><key>propertyName</key><string>challengeService</string>"
        + "<key>networkServiceConfiguration</key><dict><key>NIFServiceName</key><string>Challenge</string></dict></dict>"
    static let network =
        "<key>communicationController</key><dict><key>className</key><string>ChallengeCommunication</string>"
        + "<key>services</key><array>\(service)</array></dict>"
    static let manager = "<key>className</key><string>ChallengeManager</string>"
    static let data = "<key>dataAccessController</key><dict><key>className</key><string>ChallengeData</string></dict>"
    static let text = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict>
        <key>ChallengeManager</key><dict>\(manager)\(data)\(network)</dict>
        <key>ChallengeManagerWithoutNetwork</key><dict>\(manager)\(data)</dict>
        <key>ChallengeManagerWithoutClassName</key><dict>\(data)\(network)</dict>
        <key>ChallengeManagerWithoutDataControllerClassName</key><dict>\(manager)<key>dataAccessController</key><dict/>\(network)</dict>
        <key>ChallengeManagerWithoutDataController</key><dict>\(manager)\(network)</dict>
        </dict></plist>
        """
    let document = ManifestDocument(parsing: Data(text.utf8))
    let resolution: Resolution

    init() {
        let data = ContractDescription.of("Challenges"), network = ContractDescription.of("ChallengeNetwork"),
            api = ContractDescription.of("ChallengeAPI")
        let wires: [WireDescription] = [
            .to("dataAccessController", data, optional: true), .to("communicationController", network, optional: true),
        ]
        resolution = Resolution(
            document,
            catalogue: Catalogue(plugins: [
                .manager("ChallengeManager", wires: wires), .dataAccess("ChallengeData", provides: data),
                .communication("ChallengeCommunication", provides: network, wires: [.to("challengeService", api)]),
                .service("ChallengeService", provides: api),
            ]))
    }

    private func classNames(_ name: String) throws -> [String] {
        try resolution.plan.nodes(neededBy: name).map(\.entry.component.className)
    }

    @Test func `1: it loads unchanged`() {
        #expect(document.isNemoLogic)
        #expect(document.manifest.plugins == nil)
        #expect(
            document.manifest.managers.keys.sorted() == [
                "ChallengeManager", "ChallengeManagerWithoutDataController", "ChallengeManagerWithoutNetwork",
            ])
    }

    @Test func `2: a dictionary given instead of a file gives the equal manifest`() throws {
        let dictionary: [String: ManifestValue] = [
            "A": ["className": "ChallengeManager", "dataAccessController": ["className": "ChallengeData"]]
        ]
        let expected = Manifest(managers: [
            "A": ManagerDefinition(
                className: "ChallengeManager",
                dataAccessController: ComponentDefinition(className: "ChallengeData"))
        ])
        #expect(try Manifest(dictionary: dictionary) == expected)
    }

    @Test func `3: a whole definition gives all four layers, the service in its property with its configuration`()
        throws
    {
        #expect(
            try classNames("ChallengeManager") == [
                "ChallengeData", "ChallengeService", "ChallengeCommunication", "ChallengeManager",
            ])
        let nodes = try resolution.plan.nodes(neededBy: "ChallengeManager")
        #expect(nodes[1].configuration == Data(#"{"NIFServiceName":"Challenge"}"#.utf8))
        #expect(nodes[2].wires == [Plan.Link(label: "challengeService", provider: nodes[1].id)])
        #expect(
            nodes[3].wires == [
                Plan.Link(label: "dataAccessController", provider: nodes[0].id),
                Plan.Link(label: "communicationController", provider: nodes[2].id),
            ])
    }

    @Test func `4: without a communication controller there is a manager with its data`() throws {
        #expect(try classNames("ChallengeManagerWithoutNetwork") == ["ChallengeData", "ChallengeManager"])
    }

    @Test func `5: without the manager's class name the look-up throws where it is missing`() {
        let error = BackplaneError(
            .manifestMissingKey, "`className` is missing", at: "/ChallengeManagerWithoutClassName/className")
        #expect(throws: error) { try resolution.plan.node(ofManager: "ChallengeManagerWithoutClassName") }
    }

    @Test func `6: an empty data access controller is that manager's error, with a hint`() {
        let words =
            "`dataAccessController` is empty; leave the key out for a manager without one, or give it a `className`"
        let error = BackplaneError(
            .manifestMissingKey, words, at: "/ChallengeManagerWithoutDataControllerClassName/dataAccessController")
        #expect(throws: error) { try resolution.plan.node(ofManager: "ChallengeManagerWithoutDataControllerClassName") }
    }

    @Test func `7: without a data access controller there is a manager with its network`() throws {
        #expect(
            try classNames("ChallengeManagerWithoutDataController") == [
                "ChallengeService", "ChallengeCommunication", "ChallengeManager",
            ])
    }

    @Test func `Keys that it ignores are warnings, ours among them`() {
        let document = ManifestDocument([
            "M": [
                "className": "M", "version": 3, "uses": [], "comment": "x",
                "dataAccessController": ["className": "D", "namespace": ["?"]],
                "communicationController": [
                    "className": "C", "services": [["className": "S", "propertyName": "p", "proprtyName": "q"]],
                ],
            ]
        ])
        #expect(
            summary(document.problems) == [
                "warning M /M/dataAccessController/namespace: manifest.unknown-key: `namespace` is ignored in a manifest without `manifestVersion`",
                "warning M /M/communicationController/services/0/proprtyName: manifest.unknown-key: unknown key `proprtyName`; did you mean `propertyName`?",
                "warning M /M/comment: manifest.unknown-key: unknown key `comment`; known here: `className`, `communicationController`, `dataAccessController`",
                "warning M /M/uses: manifest.unknown-key: `uses` is ignored in a manifest without `manifestVersion`",
                "warning M /M/version: manifest.unknown-key: `version` is ignored in a manifest without `manifestVersion`",
            ])
        #expect(document.manifest.managers["M"]?.version == nil)
    }

    @Test func `Layers that the manager's class does not ask for are created and warned of`() throws {
        let resolution = Resolution(
            ManifestDocument([
                "M": [
                    "className": "M", "dataAccessController": ["className": "D"],
                    "communicationController": ["className": "C"],
                ]
            ]),
            catalogue: Catalogue(plugins: [.manager("M"), .dataAccess("D"), .communication("C")]))
        #expect(
            summary(resolution.problems) == [
                "warning M /M/dataAccessController: wire.unknown: `M` 1.0.0 of plugin `org.p0` declares no wire `dataAccessController`; the component is created, but cannot be called",
                "warning M /M/communicationController: wire.unknown: `M` 1.0.0 of plugin `org.p0` declares no wire `communicationController`; the component is created, but cannot be called",
            ])
        #expect(try resolution.plan.nodes(neededBy: "M").map(\.entry.component.className) == ["D", "C", "M"])
        #expect(resolution.plan.nodes.flatMap(\.wires).isEmpty)
    }
}

struct `The lock of a manifest` {
    static let managers: ManifestValue = [
        "A/B": [
            "className": "M", "dataAccessController": ["className": "D"],
            "communicationController": [
                "className": "C", "services": [["className": "S", "version": "[1,2)", "propertyName": "books"]],
            ],
        ],
        "Z": ["className": "M"],
    ]
    static let catalogue = Catalogue(
        plugins: [
            .manager(
                "M",
                wires: [
                    .to("dataAccessController", .of("API"), optional: true),
                    .to("communicationController", .of("API"), optional: true),
                ]),
            .dataAccess("D", provides: .of("API")),
            .communication("C", provides: .of("API"), wires: [.to("books", .of("API"))]),
        ], [.service("S", "1.2.0", provides: .of("API")), .service("S", "2.0.0", provides: .of("API"))],
        [.manager("M", "0.9.0")])
    static let lock: [String: LockedClass] = [
        "A~1B": LockedClass(plugin: "org.p0", version: "1.0.0"),
        "A~1B/dataAccessController": LockedClass(plugin: "org.p0", version: "1.0.0"),
        "A~1B/communicationController": LockedClass(plugin: "org.p0", version: "1.0.0"),
        "A~1B/communicationController/books": LockedClass(plugin: "org.p1", version: "1.2.0"),
        "Z": LockedClass(plugin: "org.p0", version: "1.0.0"),
    ]

    private func resolve(_ lock: ManifestValue?, managers: ManifestValue = managers) -> Resolution {
        var root: [String: ManifestValue] = ["manifestVersion": 1, "managers": managers]
        root["lock"] = lock
        return Resolution(ManifestDocument(.dictionary(root)), catalogue: Self.catalogue)
    }

    @Test func `Without one nothing is compared, and what was chosen is there to be locked`() {
        let resolution = resolve(nil)
        #expect(resolution.problems.isEmpty)
        #expect(resolution.lock == Self.lock)
    }

    @Test func `A choice that is as it was is no problem`() {
        #expect(resolve(Self.lock.value).problems.isEmpty)
        #expect(resolve(Self.lock.value).plan.managers.count == 2)
    }

    @Test func `A choice that differs is that manager's error, another only a warning when it is missing or left over`()
    {
        var lock = Self.lock
        lock["A~1B/communicationController/books"]?.version = "1.1.0"
        lock["A~1B"]?.plugin = "org.other"
        lock["Z"] = nil
        lock["Gone"] = LockedClass(plugin: "org.p0", version: "1.0.0")
        let resolution = resolve(lock.value)
        #expect(
            summary(resolution.problems) == [
                "warning - /lock/Gone: lock.obsolete: the lock has an entry for `Gone`, which does not exist; `backplane check --lock` removes it",
                "error A/B /managers/A~1B/className: lock.mismatch: the lock has `M` 1.0.0 of plugin `org.other`, but the plugins now provide 1.0.0 of plugin `org.p0`; `backplane check --lock` accepts that",
                "error A/B /managers/A~1B/communicationController/services/0/className: lock.mismatch: the lock has `S` 1.1.0 of plugin `org.p1`, but the plugins now provide 1.2.0 of plugin `org.p1`; `backplane check --lock` accepts that",
                "warning Z /managers/Z: lock.incomplete: the lock has no entry for `Z`; `backplane check --lock` adds one",
            ])
        #expect(resolution.plan.managers.keys.sorted() == ["Z"])
        #expect(resolution.lock == Self.lock)
    }

    @Test func `Of a manager that cannot be read no entry is left over`() {
        let resolution = resolve(Self.lock.value, managers: ["A/B": ["className": 1], "Z": ["className": "M"]])
        #expect(resolution.problems.map(\.error.code) == [.manifestWrongType])
    }

    @Test func `Under one that cannot be read nothing runs`() {
        #expect(
            summary(resolve([]).problems) == [
                "error - /lock: manifest.wrong-type: expected a dictionary, found an array"
            ])
        #expect(resolve([]).plan.managers.isEmpty)
    }

    @Test(
        arguments: [
            ("1.0.0", "error Z /lock/Z: manifest.wrong-type: expected a dictionary, found a string"),
            (["version": "1.0.0"], "error Z /lock/Z/plugin: manifest.missing-key: `plugin` is missing"),
            (
                ["plugin": "p", "version": "[1,2)"],
                "error Z /lock/Z/version: version.malformed: `[1,2)` is not a version; write numbers with dots, such as 1.2.0"
            ),
        ] as [(ManifestValue, String)])
    func `An entry with a mistake is its manager's error, and all others are compared`(
        entry: ManifestValue, problem: String
    ) {
        var lock = Self.lock
        lock["A~1B"]?.version = "9.0.0"
        guard case .dictionary(var entries) = lock.value else {
            Issue.record("a lock is a dictionary")
            return
        }
        entries["Z"] = entry
        let resolution = resolve(.dictionary(entries)), lines = summary(resolution.problems)
        #expect(lines.contains(problem), "\(lines)")
        #expect(lines.contains { $0.hasPrefix("error A/B /managers/A~1B/className: lock.mismatch: ") })
        #expect(resolution.plan.managers.isEmpty)
    }
}

struct `A lock in a manifest's text` {
    static let lock = [
        "B": LockedClass(plugin: "org.b", version: "2.0.0"), "A": LockedClass(plugin: "org.\"a\"", version: "1.0.0"),
    ]
    static let lines = (
        #""A": { "plugin": "org.\"a\"", "version": "1.0.0" }"#, #""B": { "plugin": "org.b", "version": "2.0.0" }"#
    )

    @Test(arguments: [
        (
            "{\n  \"manifestVersion\": 1,\n  \"managers\": {}\n}\n",
            "{\n  \"manifestVersion\": 1,\n  \"managers\": {},\n  \"lock\": {\n    «A»,\n    «B»\n  }\n}\n"
        ),
        (
            "{\r\n\t\"managers\": {},\r\n\t\"manifestVersion\": 1 }",
            "{\r\n\t\"managers\": {},\r\n\t\"manifestVersion\": 1,\r\n\t\"lock\": {\r\n\t\t«A»,\r\n\t\t«B»\r\n\t} }"
        ),
        (
            "{\"manifestVersion\":1,\"managers\":{}}",
            "{\"manifestVersion\":1,\"managers\":{}, \"lock\": {\n  «A»,\n  «B»\n}}"
        ),
        (
            "\u{FEFF}{ \"manifestVersion\": 1,\n   \"managers\": {\"lock\": 1} }",
            "\u{FEFF}{ \"manifestVersion\": 1,\n   \"managers\": {\"lock\": 1},\n   \"lock\": {\n      «A»,\n      «B»\n   } }"
        ),
        (
            "{\n \"lock\" : {\"A\": [1]} ,\n \"manifestVersion\": 1, \"managers\": {}\n}",
            "{\n \"lock\": {\n  «A»,\n  «B»\n } ,\n \"manifestVersion\": 1, \"managers\": {}\n}"
        ),
        (
            "{\"manifestVersion\": 1, \"lo\\u0063k\": null, \"managers\": {}}",
            "{\"manifestVersion\": 1, \"lock\": {\n  «A»,\n  «B»\n}, \"managers\": {}}"
        ),
    ])
    func `In JSON nothing else changes, and it is indented as the rest is`(before: String, after: String) throws {
        let expected = after.replacing("«A»", with: Self.lines.0).replacing("«B»", with: Self.lines.1)
        let written = try ManifestText.put(lock: Self.lock, into: Data(before.utf8))
        #expect(String(decoding: written, as: UTF8.self) == expected)
        #expect(try ManifestText.put(lock: Self.lock, into: written) == written, "a second time changes nothing")
        #expect(ManifestDocument(parsing: written).manifest.lock == Self.lock)
    }

    @Test(arguments: [ManifestFormat.xml, .binary])
    func `Property lists are rewritten, in their own format`(format: ManifestFormat) throws {
        let value: ManifestValue = ["manifestVersion": 1, "managers": [:], "other": .data(Data([1]))]
        let written = try ManifestText.put(lock: Self.lock, into: value.encoded(as: format))
        #expect(ManifestFormat(of: written) == format)
        #expect(ManifestDocument(parsing: written).manifest.lock == Self.lock)
        #expect(try ManifestText.put(lock: Self.lock, into: written) == written)
    }

    @Test func `A plain Nemo Logic manifest has no place for one`() throws {
        let error = try #require(throws: BackplaneError.self) {
            try ManifestText.put(lock: Self.lock, into: Data("{\"M\": {}}".utf8))
        }
        #expect(
            error.message
                == "a manifest without `manifestVersion` cannot have a lock; add the version with `backplane convert --upgrade`"
        )
    }
}
