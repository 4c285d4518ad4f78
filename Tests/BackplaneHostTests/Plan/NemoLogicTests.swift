import Backplane
import BackplaneDocuments
import FoundationEssentials
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
