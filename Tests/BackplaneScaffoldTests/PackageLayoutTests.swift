import Testing

@testable import BackplaneScaffold

/// Lines that are added to a Package.swift, in the manner of those that are there.
struct PackageLayoutTests {
    private func adding(_ list: PackageSource.List, to text: String) throws -> String {
        var source = PackageSource(text)
        try source.add([".target(\n    name: \"X\",\n    dependencies: [\n        \"Y\",\n    ])"], to: list)
        return source.text
    }

    private static let package = """
        // One.
        let package = Package(
            name: "a",
            products: [
                .library(
                    name: "A"),
            ],
            targets: [])

        """
    private static let added = """
        // One.
        let package = Package(
            name: "a",
            products: [
                .library(
                    name: "A"),
                .target(
                    name: "X",
                    dependencies: [
                        "Y",
                    ]),
            ],
            targets: [])

        """
    private static let opened = """
        // One.
        let package = Package(
            name: "a",
            products: [
                .library(
                    name: "A"),
            ],
            targets: [
                .target(
                    name: "X",
                    dependencies: [
                        "Y",
                    ]),
            ])

        """
    private static let inserted = """
        // One.
        let package = Package(
            name: "a",
            products: [
                .library(
                    name: "A"),
            ],
            dependencies: [
                .target(
                    name: "X",
                    dependencies: [
                        "Y",
                    ]),
            ],
            targets: [])

        """

    @Test(arguments: ["\n", "\r\n"], ["\t", "  ", "   ", "    ", "        "])
    func `added lines end as the others do, and are moved in as they are`(lineEnd: String, step: String) throws {
        func inManner(_ text: String) -> String { text.replacing("    ", with: step).replacing("\n", with: lineEnd) }
        let package = inManner(Self.package)
        #expect(try adding(.products, to: package) == inManner(Self.added))
        #expect(try adding(.targets, to: package) == inManner(Self.opened))
        #expect(try adding(.dependencies, to: package) == inManner(Self.inserted))
    }

    @Test(arguments: ["\n", "\r\n"])
    func `a comment at the end of such a line stays there`(lineEnd: String) throws {
        let text = "let package = Package(\n\tname: \"a\",\n\tproducts: [\n\t\ta // why\n\t])".replacing("\n", with: lineEnd)
        var source = PackageSource(text)
        try source.add(["x"], to: .products)
        #expect(source.text == text.replacing("a // why", with: "a, // why\(lineEnd)\t\tx,"))
    }

    @Test func `what is below a bracket is no manner of moving in, nor is what stands in a text`() throws {
        let text = """
            let long = \"\"\"
               text
            \"\"\"
            let package = Package(name: "a",
                                  targets: [])
            """
        #expect(try adding(.targets, to: text).hasSuffix("""
            let package = Package(name: "a",
                                  targets: [
                                      .target(
                                          name: "X",
                                          dependencies: [
                                              "Y",
                                          ]),
                                  ])
            """))
    }

    @Test func `classes are added in the manner of their file`() throws {
        let text = "struct A: Plugin {\r\n\tstatic func register(in r: inout Registrar) {}\r\n}\r\n"
        let body = "struct A: Plugin {\r\n\tstatic func register(in r: inout Registrar) {\r\n\t\tr.add(B.self)\r\n\t}\r\n}\r\n"
        #expect(RegistrationText(text)?.adding(["B"]) == body)
        #expect(RegistrationText(body)?.adding(["C"]) == body.replacing("(B.self)\r\n", with: "(B.self)\r\n\t\tr.add(C.self)\r\n"))
    }
}
