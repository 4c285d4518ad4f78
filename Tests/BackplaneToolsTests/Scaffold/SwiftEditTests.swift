import Foundation
import TestFixtures
import Testing

@testable import BackplaneTools

/// Additions to Swift sources that somebody else has written.
struct SwiftEditTests {
    private func added(_ lines: String..., to place: String, of owner: String? = nil, in text: String) -> String? {
        var edit = SwiftEdit(text)
        return edit.add(lines, to: place, of: owner) ? edit.text : nil
    }

    private let package = """
        let package = Package(
            name: "a",  // products: [
            products: [
                // The first one.
                .library(name: "A", targets: ["A"]),
            ],
            targets: [
                .target(name: "A", dependencies: []),
                .target(name: "B"), /* .target(name: "C", dependencies: []) */
                .target(
                    name: "C",
                    dependencies: [
                        "A"
                    ]),
                .testTarget(name: "ATests", dependencies: ["A", .product(name: "A long product", package: "another one")]),
            ])

        """

    @Test(
        arguments: [
            (
                "products", nil,
                "    products: [\n        new,\n        // The first one.\n        .library(name: \"A\", targets: [\"A\"]),\n"
            ),
            ("targets", nil, "    targets: [\n        new,\n        .target(name: \"A\", dependencies: []),\n"),
            ("dependencies", nil, "    ],\n    dependencies: [\n        new,\n    ],\n    targets: [\n"),
            ("dependencies", "A", "        .target(name: \"A\", dependencies: [new]),\n"),
            ("dependencies", "B", "        .target(name: \"B\", dependencies: [\n            new,\n        ]), /*"),
            (
                "dependencies", "C",
                "            dependencies: [\n                new,\n                \"A\"\n            ]),\n"
            ),
            (
                "dependencies", "ATests",
                "dependencies: [\n            new,\n            \"A\", .product(name: \"A long product\", package: \"another one\")]),\n"
            ),
        ] as [(String, String?, String)])
    func `elements come first in a list, which is made where there is none`(
        place: String, owner: String?, expected: String
    ) throws {
        let line = owner == "ATests" ? ".product(name: \"New\", package: \"backplane\")," : "new,"
        let edited = try #require(added(line, to: place, of: owner, in: package))
        #expect(edited.contains(expected.replacing("new,", with: line)), "\(edited)")
        #expect(edited.count > package.count, "nothing is lost")
    }

    @Test func `a package on one line gets the lists that it lacks, in their order`() throws {
        var edit = SwiftEdit("let package = Package(name: \"a\", targets: [])\n")
        let places = [
            edit.add([".library(name: \"A\"),"], to: "products", of: nil),
            edit.add([".package(path: \"b\"),"], to: "dependencies", of: nil),
            edit.add([".target(name: \"A\"),"], to: "targets", of: nil),
        ]
        #expect(places == [true, true, true])
        #expect(
            edit.text == """
                let package = Package(name: "a", products: [
                        .library(name: "A"),
                    ],
                    dependencies: [
                        .package(path: "b"),
                    ],
                    targets: [.target(name: "A")])

                """)
        let last = added(".target(name: \"A\"),", to: "targets", in: "let package = Package(\n    name: \"a\"\n)\n")
        #expect(
            last
                == "let package = Package(\n    name: \"a\",\n    targets: [\n        .target(name: \"A\"),\n    ]\n)\n"
        )
    }

    @Test func `a list may stand in a constant, and is left alone where it is computed`() {
        let named =
            "let some: [Target] = [\n    .target(name: \"A\"),\n]\nlet package = Package(name: \"a\", targets: all + some)\n"
        #expect(
            added("new,", to: "targets", in: named)
                == named.replacing("[\n    .target", with: "[\n    new,\n    .target"))
        #expect(added("new,", to: "targets", in: "let package = Package(name: \"a\", targets: make())") == nil)
        #expect(added("new,", to: "dependencies", of: "Z", in: package) == nil)
        #expect(added("new,", to: "targets", in: "// Package(name: \"a\", targets: [])") == nil)
    }

    @Test func `a file with the line ends of Windows keeps them, and shows only the lines that are added`() throws {
        let before = package.replacing("\n", with: "\r\n"),
            edited = try #require(added("new,", to: "products", in: before))
        #expect(edited == added("new,", to: "products", in: package)?.replacing("\n", with: "\r\n"))
        let change = Blueprint.Change(path: "Package.swift", before: before, after: edited)
        #expect(change.difference == ["+         new,"])
    }

    @Test func `a dependency on a target is not its declaration`() {
        let text = """
            let package = Package(
                name: "a",
                targets: [
                    .testTarget(name: "ATests", dependencies: [.target(name: "A")]),
                    .target(name: "A", dependencies: []),
                ])
            """
        #expect(
            added("new,", to: "dependencies", of: "A", in: text)
                == text.replacing("dependencies: []", with: "dependencies: [new]"))
    }

    @Test func `nothing is added to a comment after a bracket`() {
        let text = "let package = Package(name: \"a\", targets: [ /* one\n two */\n    .b\n])"
        #expect(added("new,", to: "targets", in: text)?.contains("[\n    new,\n     /* one\n two */\n") == true)
    }

    @Test func `strings and comments are no code`() throws {
        let text = #"""
            let name = "[\([")"].first ?? "(")", raw = #"\"[""#, long = """
                targets: [ "
                """
            /* Package( /* ( */ */
            let package = Package(name: name, targets: [])
            """#
        let edited = try #require(added("new,", to: "targets", in: text))
        #expect(edited == text.replacing("targets: [])", with: "targets: [new])"))
    }

    @Test(arguments: [
        ("{}", "{\n        into.add(New.self)\n    }"),
        ("{ into.add(Old.self) }", "{\n        into.add(New.self)\n        into.add(Old.self)\n    }"),
        (
            "{  // some\n      into.add(Old.self)\n    }",
            "{  // some\n      into.add(New.self)\n      into.add(Old.self)\n    }"
        ),
        (
            "{ into.add(Old.self)\n      if some {\n          into.add(Other.self)\n      }\n    }",
            "{\n        into.add(New.self)\n        into.add(Old.self)\n      if some {\n          into.add(Other.self)\n      }\n    }"
        ),
    ])
    func `a class is registered by the name of the parameter`(body: String, expected: String) {
        func plugin(_ body: String) -> String {
            "struct Other { func register(in a: A) {} }\npublic struct A: Plugin {\n    public static func register(in into: inout Registrar) \(body)\n}\n"
        }
        let edited = added("registrar.add(New.self)", to: "register(in:)", of: "A", in: plugin(body))
        #expect(edited == plugin(expected))
        #expect(added("registrar.add(New.self)", to: "register(in:)", of: "B", in: plugin(body)) == nil)
    }
}

/// The type of a plugin that more components can be put into.
struct PluginModuleTests {
    @Test(arguments: [
        "struct A: Plugin {}", "import Backplane\n\n@frozen\npublic final class A\n    : B, Plugin {}",
        "    public enum A: Sendable,\n        Plugin {\n    }",
    ])
    func `the one that says it is a plugin is it`(text: String) {
        #expect(PluginModule.pluginType(in: text) == "A")
    }

    @Test(arguments: [
        "", "struct A { let plugin: Plugin }", "// struct A: Plugin {}", "struct A: Plugin {}\nstruct B: Plugin {}",
        "struct A: PluginLike {}",
    ])
    func `without just one there is none to put anything into`(text: String) {
        #expect(PluginModule.pluginType(in: text) == nil)
    }
}
