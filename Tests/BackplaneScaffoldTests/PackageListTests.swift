import Testing

@testable import BackplaneScaffold

/// A list as it may be written, and with one more element: nothing that somebody wrote goes, or goes elsewhere.
struct PackageListTests {
    struct Shape: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var before, after: String

        init(_ name: String, _ before: String, _ after: String) { (testDescription, self.before, self.after) = (name, before, after) }
    }

    private func package(_ list: String) -> String {
        "let package = Package(\n    name: \"a\",\n    products: \(list),   // after: ]\n    targets: [])\n"
    }

    @Test(arguments: empty + onLines + onOneLine + withTexts)
    func `an element is added, and all else stays`(shape: Shape) throws {
        var source = PackageSource(package(shape.before))
        try source.add(["x"], to: .products)
        #expect(source.text == package(shape.after))
    }

    private static let empty = [
        Shape("nothing", "[]", "[\n        x,\n    ]"),
        Shape("space", "[ ]", "[\n        x,\n    ]"),
        Shape("an empty line", "[\n\n    ]", "[\n        x,\n\n    ]"),
        Shape("a comment behind the bracket", "[ // all of them\n    ]", "[ // all of them\n        x,\n    ]"),
        Shape("a comment on a line", "[\n      // all of them\n    ]", "[\n      // all of them\n      x,\n    ]"),
        Shape("a block comment", "[/* none yet */]", "[/* none yet */\n        x,\n    ]"),
        Shape("nested block comments", "[ /* none /* ], */ yet */ ]", "[ /* none /* ], */ yet */\n        x,\n    ]"),
    ]

    private static let onLines = [
        Shape("no comma", "[\n        a\n    ]", "[\n        a,\n        x,\n    ]"),
        Shape("a comma", "[\n        a,\n    ]", "[\n        a,\n        x,\n    ]"),
        Shape("a comment behind the last", "[\n        a // why, and how]\n    ]", "[\n        a, // why, and how]\n        x,\n    ]"),
        Shape("a comment behind its comma", "[\n        a,   // why\n    ]", "[\n        a,   // why\n        x,\n    ]"),
        Shape("a comment before its comma", "[\n        a /* why, */ ,\n    ]", "[\n        a /* why, */ ,\n        x,\n    ]"),
        Shape("comments below the last", "[\n        a, // why\n        // b,\n\n    ]", "[\n        a, // why\n        // b,\n        x,\n\n    ]"),
        Shape("a comment of two lines", "[\n        a /* why\n        , not */ ]", "[\n        a, /* why\n        , not */\n        x,\n    ]"),
        Shape("the first beside the bracket", "[a,   // one\n               b]", "[a,   // one\n               b,\n               x,\n    ]"),
        Shape("a comment beside the bracket", "[ // all\n        a\n    ]", "[ // all\n        a,\n        x,\n    ]"),
        Shape("two on a line", "[\n        a, b, /* c */ ]", "[\n        a, b, /* c */\n        x,\n    ]"),
        Shape("commas first", "[\n          a\n        , b\n    ]", "[\n          a\n        , b,\n          x,\n    ]"),
        Shape("calls with lists", "[\n        .library(\n            name: \"A\", targets: [\n                \"A\", // ]\n            ])\n    ]", "[\n        .library(\n            name: \"A\", targets: [\n                \"A\", // ]\n            ]),\n        x,\n    ]"),
        Shape("a condition in a closure", "[\n        { () -> Product in\n            #if os(Linux)\n            return a\n            #else\n            return b\n            #endif\n        }(),\n    ]", "[\n        { () -> Product in\n            #if os(Linux)\n            return a\n            #else\n            return b\n            #endif\n        }(),\n        x,\n    ]"),
    ]

    private static let onOneLine = [
        Shape("one", "[a]", "[\n        a,\n        x,\n    ]"),
        Shape("two, with a comma", "[ a, b, ]", "[\n        a,\n        b,\n        x,\n    ]"),
        Shape("a comment behind the last", "[a /* why */]", "[\n        a, /* why */\n        x,\n    ]"),
        Shape("a comment behind its comma", "[a, /* why */]", "[\n        a, /* why */\n        x,\n    ]"),
        Shape("a comment before the first", "[/* all */ a]", "[\n        /* all */ a,\n        x,\n    ]"),
        Shape("a comment before each", "[/* one */ a, /* two */ b]", "[\n        /* one */ a,\n        /* two */ b,\n        x,\n    ]"),
        Shape("calls with lists", "[.a(b: [c, d]), e[f, g]]", "[\n        .a(b: [c, d]),\n        e[f, g],\n        x,\n    ]"),
    ]

    private static let withTexts = [
        Shape("brackets and quotes", #"["],[\"", "//"]"#, "[\n        \"],[\\\"\",\n        \"//\",\n        x,\n    ]"),
        Shape("raw texts", ##"[#"a"], \"#, #"\#(b("]"))"#]"##, "[\n        #\"a\"], \\\"#,\n        #\"\\#(b(\"]\"))\"#,\n        x,\n    ]"),
        Shape("texts of several lines", "[\n        \"\"\"\n            ], \"a\"\n  // b\n        \"\"\"\n    ]", "[\n        \"\"\"\n            ], \"a\"\n  // b\n        \"\"\",\n        x,\n    ]"),
        Shape("an empty text last", #"[a, ""]"#, "[\n        a,\n        \"\",\n        x,\n    ]"),
    ]

    @Test(arguments: [
        ("[a] + more", false), ("more", false), ("[a].filter { $0 != b }", false), ("[a, // ]", false),
    ])
    func `what is more than a list is left alone`(list: String, isAmbiguous: Bool) {
        var source = PackageSource(package(list))
        #expect(throws: PackageSource.NoPlace(list: "products", isAmbiguous: isAmbiguous)) { try source.add(["x"], to: .products) }
        #expect(source.text == package(list))
    }

    @Test func `of two packages, which one holds is for somebody to say`() {
        let text = "#if os(Linux)\n\(package("[a]"))#else\n\(package("[b]"))#endif\n"
        var source = PackageSource(text)
        #expect(throws: PackageSource.NoPlace(list: "products", isAmbiguous: true)) { try source.add(["x"], to: .products) }
        #expect(source.text == text)
    }

    @Test func `what one target depends on is not taken for another target`() throws {
        let text = """
            let package = Package(
                name: "a",
                targets: [
                    .target(name: "A", dependencies: [.target(name: "B") /* first */]),
                    .target(name: "B", dependencies: [
                        "C" // why
                    ]),
                ])
            """
        var source = PackageSource(text)
        try source.add(["\"D\""], toDependenciesOf: "B")
        #expect(source.text == text.replacing("\"C\" // why\n", with: "\"C\", // why\n            \"D\",\n"))
    }
}
