import Testing

@testable import BackplaneScaffold

/// Lists that a Package.swift does not have yet, and what stands on one line, as somebody would write them in.
struct PackageLabelTests {
    struct Shape: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var before, after: String

        init(_ name: String, _ before: String, _ after: String) { (testDescription, self.before, self.after) = (name, before, after) }
    }

    @Test(arguments: shapes)
    func `products are added where their place is`(shape: Shape) throws {
        var source = PackageSource(shape.before)
        try source.add(["x"], to: .products)
        #expect(source.text == shape.after)
    }

    private static let shapes = [
        Shape("all on one line", #"let p = Package(name: "A", targets: [.target(name: "A")])"#, """
            let p = Package(
                name: "A",
                products: [
                    x,
                ],
                targets: [.target(name: "A")])
            """),
        Shape("all on one line, with comments", #"let p = Package(/* a */ name: "A" /* b */, /* c */ targets: [a] /* d */) // e"#, """
            let p = Package(
                /* a */ name: "A" /* b */,
                products: [
                    x,
                ],
                /* c */ targets: [a] /* d */) // e
            """),
        Shape("all on one line, further in", "  func f() { g(Package(name: \"A\", targets: [])) }", """
              func f() { g(Package(
                name: "A",
                products: [
                  x,
                ],
                targets: [])) }
            """),
        Shape("each on its own", "let p = Package(\n    name: \"A\",\n    targets: [])", "let p = Package(\n    name: \"A\",\n    products: [\n        x,\n    ],\n    targets: [])"),
        Shape("a comment above the next", "let p = Package(\n    name: \"A\", // why\n\n    // All: [\n    /* really */ targets: [])", """
            let p = Package(
                name: "A", // why
                products: [
                    x,
                ],

                // All: [
                /* really */ targets: [])
            """),
        Shape("two on a line", "let p = Package(\n    name: \"A\", /* all */ targets: [])", """
            let p = Package(
                name: "A",
                products: [
                    x,
                ],
                /* all */ targets: [])
            """),
        Shape("the first beside the bracket", "let p = Package(name: \"A\",\n                targets: [])", """
            let p = Package(name: "A",
                            products: [
                                x,
                            ],
                            targets: [])
            """),
        Shape("lists that hang", "let p = Package(name: \"A\", targets: [\n    a,\n])", "let p = Package(name: \"A\", products: [\n    x,\n], targets: [\n    a,\n])"),
        Shape("lists that hang, and a comment", "let p = Package(name: \"A\", /* all */ targets: [\n    a,\n])", "let p = Package(name: \"A\", products: [\n    x,\n], /* all */ targets: [\n    a,\n])"),
        Shape("a list that hangs before it", "let p = Package(\n    name: \"A\", platforms: [\n        .linux\n    ], targets: [\n        a,\n    ])", """
            let p = Package(
                name: "A", platforms: [
                    .linux
                ], products: [
                    x,
                ], targets: [
                    a,
                ])
            """),
    ]

    @Test func `a target on one line with all others gets a line before it gets dependencies`() throws {
        var source = PackageSource(#"let p = Package(name: "a", targets: [.target(name: "A", dependencies: []), .testTarget(name: "B", dependencies: ["A"])])"#)
        try source.add(["\"A\"", "\"C\""], toDependenciesOf: "B")
        #expect(source.text == """
            let p = Package(
                name: "a",
                targets: [
                    .target(name: "A", dependencies: []),
                    .testTarget(name: "B", dependencies: [
                        "A",
                        "C",
                    ]),
                ])
            """)
    }

    @Test func `where nothing is added nothing is laid out anew`() throws {
        let text = #"let p = Package(name: "a", targets: [.target(name: "A", dependencies: ["B"])])"#
        var source = PackageSource(text)
        try source.add(["\"B\""], toDependenciesOf: "A")
        #expect(throws: PackageSource.NoPlace.self) { try source.add(["\"C\""], toDependenciesOf: "B") }
        #expect(source.text == text)
    }
}
