import Backplane
import Foundation
import TestFixtures
import Testing

@testable import BackplaneScaffold

/// Elements that are put into the lists of a Package.swift.
struct PackageSourceTests {
    private func adding(_ elements: [String], to list: PackageSource.List, of text: String) throws -> String {
        var source = PackageSource(text)
        try source.add(elements, to: list)
        return source.text
    }

    @Test func `an element gets a line of its own after the last, in its manner`() throws {
        let text = """
            let package = Package(
              name: "a",
              targets: [
                .target(name: "A"),    // the first: a, b
                .target(name: "B")     // no comma
              ])

            """
        #expect(try adding([".target(name: \"C\")", ".target(\n    name: \"D\")"], to: .targets, of: text) == """
            let package = Package(
              name: "a",
              targets: [
                .target(name: "A"),    // the first: a, b
                .target(name: "B"),     // no comma
                .target(name: "C"),
                .target(
                  name: "D"),
              ])

            """)
    }

    @Test func `a list on one line gets lines`() throws {
        #expect(try adding(["x"], to: .products, of: "let p = Package(name: \"a\", products: [y], targets: [])") == """
            let p = Package(
                name: "a",
                products: [
                    y,
                    x,
                ],
                targets: [])
            """)
        #expect(try adding(["x"], to: .targets, of: "let p = Package(name: \"a\", targets: [])") == """
            let p = Package(
                name: "a",
                targets: [
                    x,
                ])
            """)
    }

    @Test func `a list that is not there is written before the next one`() throws {
        let text = """
            let p = Package(
                name: "a",
                targets: [
                    y,
                ])
            """
        #expect(try adding(["x"], to: .products, of: text) == """
            let p = Package(
                name: "a",
                products: [
                    x,
                ],
                targets: [
                    y,
                ])
            """)
    }

    @Test func `brackets, commas and names in comments and strings are none`() throws {
        let text = #"""
            // Package(targets: [
            /* Package(targets: [ /* nested */ ] */
            let odd = "Package(targets: [\("]" + ")")", raw = #"\("#, long = """
                Package(targets: [ "quoted" ]
                """
            let package = Package(name: "a])", targets: [.target(name: ",[")])
            """#
        let added = try adding(["x"], to: .targets, of: text)
        let last = #"name: "a])", targets: [.target(name: ",[")])"#
        #expect(added == text.replacing(last, with: "\n    name: \"a])\",\n    targets: [\n        .target(name: \",[\"),\n        x,\n    ])"))
    }

    @Test(arguments: [
        "let package = Package(name: \"a\", targets: makeTargets())", "let package = Package(name: \"a\", targets: [a] + more)", "import PackageDescription",
        "let package = Package(name: \"a\", targets: [", "let package = Package(name: \"a\")", "",
    ])
    func `a list that is not written out is left alone`(text: String) {
        #expect(throws: PackageSource.NoPlace(list: "targets")) { try adding(["x"], to: .targets, of: text) }
    }

    @Test func `nothing to add changes nothing`() throws {
        #expect(try adding([], to: .targets, of: "anything") == "anything")
    }

    @Test func `dependencies go to the target of the name, and none twice`() throws {
        let text = "let p = Package(\n    targets: [\n        .target(name: \"A\", dependencies: []),\n        .testTarget(name: \"B\", dependencies: [\"A\"]),\n    ])"
        var source = PackageSource(text)
        try source.add(["\"A\"", "\"C\""], toDependenciesOf: "B")
        #expect(source.text == text.replacing("[\"A\"])", with: "[\n            \"A\",\n            \"C\",\n        ])"))
        #expect(throws: PackageSource.NoPlace(list: "dependencies of Z")) { try source.add(["\"C\""], toDependenciesOf: "Z") }
    }

    @Test(arguments: [
        (#"Package(targets: [.target(name: "A", swiftSettings: settings), .target(name: "B")])"#, "settings"),
        (#"Package(targets: [.target(name: "A", swiftSettings: [.define("X")])])"#, nil),
        (#"Package(targets: [.target(name: "A", swiftSettings: a), .target(name: "B", swiftSettings: b)])"#, nil), ("", nil),
    ] as [(String, String?)])
    func `the settings that all targets share are known by their name`(text: String, settings: String?) {
        #expect(PackageSource(text).settings == settings)
    }

    @Test func `this package can be added to`() throws {
        let text = try String(contentsOf: Page.root.appending(path: "Package.swift"), encoding: .utf8)
        let edit = PackageEdit(products: ["x"], targets: [TargetText(name: "X", dependencies: [])])
        let added = try edit.applied(to: text)
        #expect(added.split(separator: "\n").filter { !text.contains($0) } == ["        x,", "        .target(name: \"X\", dependencies: []),"])
        #expect(PackageSource(text).settings == "settings")
    }

    @Test func `what has no place is listed, line for line`() {
        let target = TargetText(name: "XModule", dependencies: ["\"A\""], path: "Plugins/X/Module", settings: "settings")
        let edit = PackageEdit(products: [".library(name: \"X\")"], targets: [target], dependencies: ["A": ["\"B\""]])
        let error = #expect(throws: BackplaneError.self) { try edit.applied(to: "let package = makePackage()") }
        #expect(error?.code == .newByHand)
        #expect(error?.causes.map { "\($0.location ?? ""): \($0.message)" } == [
            "products: .library(name: \"X\"),",
            #"targets: .target(name: "XModule", dependencies: ["A"], path: "Plugins/X/Module", swiftSettings: settings),"#,
            "dependencies of A: \"B\",",
        ])
    }
}
