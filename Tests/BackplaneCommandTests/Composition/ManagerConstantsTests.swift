import Backplane
import BackplaneHost
import BackplaneTools
import TestFixtures
import Testing

@testable import BackplaneCommand

struct ManagerConstantsTests {
    @Test(arguments: [
        ("LibraryManager", "library"), ("Library", "library"), ("library", "library"), ("Manager", "manager"),
        ("URLManager", "url"), ("HTTPCacheManager", "httpCache"),
        ("reading room", "readingRoom"), ("reading-room manager", "readingRoom"),
        ("org.example.Books", "orgExampleBooks"), ("library_manager", "library_manager"),
        ("3DManager", "_3D"), ("defaultManager", "`default`"), ("ClassManager", "`class`"),
        ("initManager", "initManager"), ("selfManager", "selfManager"),
        ("größeManager", "größe"), ("図書館", "図書館"), ("e\u{301}tage", "e\u{301}tage"), ("_privateManager", "_private"),
        ("a\"b\\c\nd", "aBCD"),
        ("Gérance🙂Manager", "gérance"),
    ])
    func `a name becomes the identifier that Swift would give it`(name: String, identifier: String) {
        #expect(ManagerConstants.identifiers(for: [name])[name]?.spelled == identifier)
    }

    @Test(arguments: ["", "🙂", "---", "_", "\n"])
    func `of some names no identifier can be made`(name: String) {
        #expect(ManagerConstants.identifiers(for: [name]).isEmpty)
    }

    @Test(arguments: [
        (["Library", "LibraryManager"], ["library", "libraryManager"]),
        (["library", "Library", "LibraryManager"].sorted(), ["library", "libraryManager", "library2"]),
        (["my-lib", "my lib"].sorted(), ["myLib", "myLib2"]), (["init"], ["init2"]),
        (["ClockManager", "LibraryManager"], ["clock", "library"]),
        (["library2", "Library", "library"].sorted(), ["library", "library2", "library3"].sorted()),
    ])
    func `clashes are settled by the whole name, and then by numbers`(names: [String], identifiers: [String]) {
        let found = ManagerConstants.identifiers(for: names)
        #expect(found.count == names.count)
        #expect(Set(found.values.map(\.spelled)) == Set(identifiers))
    }

    @Test(arguments: [
        ("Library", true), ("Books.Library", true), ("org.example.library/1", false), ("", false), ("A..B", false),
        ("3D", false), ("Größe", true), ("class", false),
    ])
    func `a contract can be anything, a type cannot`(name: String, isType: Bool) {
        #expect(SwiftIdentifier.isTypeName(name) == isType)
    }

    @Test func `the source has a constant for each manager that is sound and provides a contract`() throws {
        try expectSnapshot(ManagerConstants(.books).swift(of: "example.json") + "\n", "names-source")
    }

    @Test func `the screens of a manager and their inputs are comments above its constant`() {
        #expect(
            ManagerConstants(.screens).swift(of: "m.json").hasSuffix(
                """
                extension ManagerName where C == Screens {
                    // books.list
                    // books.page {"book": string, "page": integer?}
                    static var bookScreens: Self { "BookScreens" }
                }
                """))
    }

    @Test func `the routes of a manager are comments above its constant`() {
        #expect(
            ManagerConstants(.routes).swift(of: "m.json").hasSuffix(
                """
                extension ManagerName where C == HTTPRoutes {
                    // GET /books/:id
                    // GET /changes
                    static var libraryRoutes: Self { "LibraryRoutes" }
                }
                """))
    }

    @Test func `managers without a contract, or with one that is no type, are comments`() {
        let odd = ComponentDescription(
            role: .manager, className: "Odd", version: "1.0.0",
            contract: ContractDescription(name: "org.example.odd/1", version: "1.0.0"))
        let composition = Composition(
            #"{"manifestVersion": 1, "plugins": [], "managers": {"Odd": {"className": "Odd"}, "Beat": {"className": "Metronome"}, "🙂": {"className": "ClockManager"}}}"#,
            [.clock, ExamplePlugin(id: "odd", version: "1.0.0", components: [odd])])
        #expect(
            ManagerConstants(composition).swift(of: "m.json") == """
                // The managers of m.json, as in `host.manager(…)`.
                // Beat: provides no contract
                // Odd: provides `org.example.odd/1`, which is not the name of a Swift type
                // 🙂: its name cannot be written as an identifier
                """)
    }
}
