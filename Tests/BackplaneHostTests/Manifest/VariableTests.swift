import Backplane
import BackplaneDocuments
import FoundationEssentials
import TestFixtures
import Testing

@testable import BackplaneHost

struct `Variables in a manifest` {
    static let values = ["HOST": "example.org", "EMPTY": "", "_a1": "x", "NESTED": "${HOST}", "SECRET": "swordfish"]

    private func document(_ definition: ManifestValue, environment: String? = nil) -> ManifestDocument {
        ManifestDocument(["manifestVersion": 1, "managers": ["M": definition]]) { Self.values[$0] }
    }

    private func configured(_ value: ManifestValue) -> ManifestValue? {
        document(["className": "M", "configuration": ["v": value]]).manifest.managers["M"]?.configuration["v"]
    }

    @Test(arguments: [
        ("http://${HOST}/v2", "http://example.org/v2"), ("${HOST}${_a1}", "example.orgx"),
        ("${HOST:-other}", "example.org"),
        ("${NONE:-other}", "other"), ("${NONE:-}", ""), ("${EMPTY}", ""), ("${EMPTY:-other}", "other"),
        ("${NONE:-a:-b $c}", "a:-b $c"),
        ("${NESTED}", "${HOST}"), ("$HOST", "$HOST"), ("$", "$"), ("5 $ {x}", "5 $ {x}"), ("$$", "$$"), ("{}", "{}"),
        ("${HOST}}", "example.org}"),
        ("$${HOST}", "${HOST}"), ("$$${HOST}", "$example.org"), ("$$$${HOST}", "$${HOST}"), ("$${", "${"),
        ("${HOST}\u{301}", "example.org\u{301}"),
    ])
    func `A text gets their values, once`(written: String, expanded: String) {
        #expect(configured(.string(written)) == .string(expanded))
    }

    @Test func `Texts are found wherever they are, keys and other values stay`() {
        #expect(
            configured(["${HOST}": ["${HOST}", 1, ["k": "${HOST}"], nil]]) == [
                "${HOST}": ["example.org", 1, ["k": "example.org"], nil]
            ])
        let document = document([
            "className": "${_a1}", "version": "[${MAJOR:-1},)", "activation": "${WHEN:-lazy}", "uses": ["u": "${HOST}"],
            "communicationController": ["className": "C", "services": [["className": "S", "propertyName": "${_a1}"]]],
        ])
        #expect(document.problems.isEmpty)
        let manager = document.manifest.managers["M"]
        #expect(manager?.className == "x" && manager?.activation == .lazy && manager?.uses == ["u": "example.org"])
        #expect(manager?.version?.contains("1.0.0") == true)
        #expect(manager?.communicationController?.services[0].propertyName == "x")
        let plugins = ManifestDocument([
            "manifestVersion": 1, "plugins": [["library": "${_a1}"], "${_a1}"], "managers": [:],
        ]) {
            Self.values[$0]
        }
        #expect(plugins.manifest.plugins == ["x", "x"])
    }

    @Test(arguments: [
        ("${NONE}", "manifest.unset-variable: the variable `NONE` is not set; set it, or write `${NONE:-default}`"),
        (
            "${",
            "manifest.malformed-variable: `${` without a closing `}`; write `${NAME}`, `${NAME:-default}`, or `$${` for `${` itself"
        ),
        (
            "${}",
            "manifest.malformed-variable: `${}` names no variable; write `${NAME}`, `${NAME:-default}`, or `$${` for `${` itself"
        ),
        (
            "${A-x}",
            "manifest.malformed-variable: `${A-x}` names no variable; write `${NAME}`, `${NAME:-default}`, or `$${` for `${` itself"
        ),
        (
            "${A:-${B}}",
            "manifest.malformed-variable: the default of `A` refers to a variable, which is not allowed; write `${NAME}`, `${NAME:-default}`, or `$${` for `${` itself"
        ),
    ])
    func `One that cannot be had is the manager's error, at its text`(text: String, problem: String) {
        let document = document(["className": "M", "configuration": ["list": [.string(text)]]])
        #expect(summary(document.problems) == ["error M /managers/M/configuration/list/0: \(problem)"])
        #expect(document.manifest.managers.isEmpty)
    }

    @Test func `All that are not set are reported, and nothing follows from it`() {
        let document = document(["className": "${A}${B}${A}", "version": "${C}", "uses": ["x": "${D}"]])
        #expect(
            document.problems.map { "\($0.error.location!) \($0.error.code) \($0.error.message.prefix(16))" } == [
                "/managers/M/className manifest.unset-variable the variable `A`",
                "/managers/M/className manifest.unset-variable the variable `B`",
                "/managers/M/uses/x manifest.unset-variable the variable `D`",
                "/managers/M/version manifest.unset-variable the variable `C`",
            ])
    }

    @Test func `Their values are in no message`() {
        let secret: ManifestValue = "${SECRET}"
        let catalogue = Catalogue(plugins: [.manager("M"), .communication("C"), .service("S"), .dataAccess("D")])
        let definitions: [ManifestValue] = [
            ["className": secret], ["className": "M", "version": secret], ["className": "M", "activation": secret],
            ["className": "M", "uses": ["x": secret]],
            ["className": "M", "dataAccessController": ["className": secret]],
            ["className": "M", "dataAccessController": ["className": "D", "namespace": "/${SECRET}"]],
            ["className": "M", "dataAccessController": ["className": "/${SECRET}"]],
            [
                "className": "M",
                "communicationController": [
                    "className": "C",
                    "services": [
                        ["className": "S", "propertyName": secret], ["className": secret, "propertyName": "x"],
                    ],
                ],
            ],
            [
                "className": "M",
                "communicationController": [
                    "className": "C",
                    "services": [
                        ["className": secret, "propertyName": secret], ["className": "S", "propertyName": secret],
                    ],
                ],
            ],
        ]
        for definition in definitions {
            let problems = Resolution(document(definition), catalogue: catalogue).problems
            #expect(problems.contains { $0.severity == .error })
            #expect(!"\(problems)".contains("swordfish"), "\(problems)")
            #expect("\(problems)".contains("${SECRET}"), "\(problems)")
        }
        let plugin = ManifestDocument([
            "manifestVersion": 1,
            "plugins": [["library": "A", "sha256": secret, "resources": "/${SECRET}", "version": secret]],
            "managers": [:],
        ]) { Self.values[$0] }
        #expect(plugin.problems.count == 3 && !"\(plugin.problems)".contains("swordfish"))
    }

    @Test func `Those of environments that are not chosen are not needed`() {
        let value: ManifestValue = [
            "manifestVersion": 1, "managers": ["M": ["className": "M", "configuration": ["v": "${HOST}"]]],
            "environments": ["e": ["managers": ["M": ["configuration": ["v": "${NONE}"]]]]],
        ]
        let plain = ManifestDocument(value) { Self.values[$0] }
        #expect(plain.problems.isEmpty && plain.manifest.managers["M"]?.configuration == ["v": "example.org"])
        let chosen = ManifestDocument(value, environment: "e") { ["NONE": "here"][$0] }
        #expect(chosen.problems.isEmpty && chosen.manifest.managers["M"]?.configuration == ["v": "here"])
        #expect(
            summary(ManifestDocument(value, environment: "e") { _ in nil }.problems).map { $0.prefix(54) } == [
                "error M /environments/e/managers/M/configuration/v: ma"
            ])
    }

    @Test func `A manifest of Nemo Logic has none`() {
        let document = ManifestDocument(["M": ["className": "${M}"]]) { _ in "x" }
        #expect(document.problems.isEmpty && document.manifest.managers["M"]?.className == "${M}")
    }

    @Test func `Those of the process are taken when nothing else is said`() {
        let path = ManifestDocument.processVariable("PATH")
        let document = ManifestDocument([
            "manifestVersion": 1, "managers": ["M": ["className": "M", "configuration": ["v": "${PATH}"]]],
        ])
        #expect(document.manifest.managers["M"]?.configuration["v"] == path.map { .string($0) })
    }
}
