import Foundation
import TestFixtures
import Testing

@testable import BackplaneScaffold

/// Classes that are put into a plugin's `register(in:)`.
struct RegistrationTextTests {
    private func plugin(_ body: String, parameter: String = "registrar") -> String {
        """
        public struct TidesPlugin: Plugin {
            public static let id = "}"
            public static func register(in \(parameter): inout Registrar) \(body)
        }

        """
    }

    @Test(arguments: [
        ("{\n        registrar.add(A.self)   // {\n    }", "{\n        registrar.add(A.self)   // {\n        registrar.add(B.self)\n        registrar.add(C.self)\n    }"),
        ("{ registrar.add(A.self) }", "{\n        registrar.add(A.self)\n        registrar.add(B.self)\n        registrar.add(C.self)\n    }"),
        ("{}", "{\n        registrar.add(B.self)\n        registrar.add(C.self)\n    }"),
        ("{\n        registrar.add(A.self) }", "{\n        registrar.add(A.self)\n        registrar.add(B.self)\n        registrar.add(C.self)\n    }"),
        ("{ /* none */ }", "{ /* none */\n        registrar.add(B.self)\n        registrar.add(C.self)\n    }"),
        ("{ // none yet\n    }", "{ // none yet\n        registrar.add(B.self)\n        registrar.add(C.self)\n    }"),
        ("{ registrar.add(A.self) /* why */ }", "{\n        registrar.add(A.self) /* why */\n        registrar.add(B.self)\n        registrar.add(C.self)\n    }"),
        ("{ /* why */ registrar.add(A.self) }", "{\n        /* why */ registrar.add(A.self)\n        registrar.add(B.self)\n        registrar.add(C.self)\n    }"),
    ])
    func `they come last, each on its line`(before: String, after: String) throws {
        let text = try #require(RegistrationText(plugin(before)))
        #expect(text.plugin == "TidesPlugin")
        #expect(text.adding(["B", "C"]) == plugin(after))
    }

    @Test func `the parameter keeps its name`() throws {
        let text = try #require(RegistrationText(plugin("{}", parameter: "all")))
        #expect(text.adding(["B"])?.contains("        all.add(B.self)\n") == true)
    }

    @Test(arguments: [
        "struct A: Plugin {}", "struct A: Plugin { static func register(in registrar: inout Registrar) { ",
        "struct A: Plugin { static func register(in registrar: inout Other) {} }",
        "struct A: Plugin {\n#if X\nstatic func register(in r: inout Registrar) {}\n#else\nstatic func register(in r: inout Registrar) {}\n#endif\n}",
    ])
    func `a plugin whose registration is not clear is added to by hand`(text: String) throws {
        let plugin = try #require(RegistrationText(text))
        #expect(plugin.adding(["B"]) == nil)
        #expect(plugin.lines(adding: ["B"]) == ["registrar.add(B.self)"])
    }

    @Test(arguments: ["", "struct A { static func register(in registrar: inout Registrar) {} }", "struct A: Plugin {}\nstruct B: Plugin {}"])
    func `a file without just one plugin is none to put anything into`(text: String) {
        #expect(RegistrationText(text)?.plugin == nil)
    }

    @Test(arguments: ["Almanac", "Bookshelf", "BooksAPIv1"])
    func `the plugins of this package can be added to`(name: String) throws {
        let text = try String(contentsOf: Page.root.appending(path: "Plugins/\(name)/Module/\(name)Plugin.swift"), encoding: .utf8)
        #expect(RegistrationText(text)?.plugin == "\(name)Plugin")
    }
}
