import Backplane
import Testing

@testable import BackplaneTools

struct NewNameTests {
    @Test(arguments: [
        ("Tides", "tides"), ("TideTable", "tide-table"), ("HTTPCache", "http-cache"), ("BooksAPIv2", "books-api-v2"),
        ("A1", "a1"),
    ])
    func `a name in upper camel case is taken, and gives one with dashes`(name: String, kebab: String) throws {
        let taken = try NewName(name)
        #expect(taken.text == name)
        #expect(taken.kebab == kebab)
    }

    @Test(arguments: [
        ("tides", "Tides"), ("tide-table", "TideTable"), ("tide_table", "TideTable"), ("TidesPlugin", "Tides"),
        ("tides manager", "Tides"), ("TidesTests", "Tides"),
    ])
    func `of a name that will not do one is made that will`(name: String, better: String) {
        let error = #expect(throws: BackplaneError.self) { try NewName(name) }
        #expect(error?.code == .newName)
        #expect(error?.message.hasSuffix("; `\(better)` would be valid") == true, "\(error?.message ?? "")")
    }

    @Test(arguments: [
        "", "-", "1st", "Manager", "Plugin", "Context", "Contract", "Type", "String", "Backplane", "Tidés", "a/B",
        "../Tides", "Ti\u{0}des", String(repeating: "T", count: 61),
    ])
    func `what no name can be made of, and what is the name of something else, is refused`(name: String) {
        let error = #expect(throws: BackplaneError.self) { try NewName(name) }
        #expect(error?.code == .newName)
        #expect(error?.message.contains("TideTable") == true, "it says what is expected")
    }

    @Test(
        arguments: [
            ("Tides", nil), ("plugins/Tides", "plugins"), ("/srv/Tides/", "/srv"), ("/Tides", "/"), ("../Tides", ".."),
        ] as [(String, String?)])
    func `a folder may stand before the name of what gets one`(path: String, folder: String?) throws {
        let name = try NewName(path, inFolder: true)
        #expect(name.text == "Tides")
        #expect(name.folder == folder)
    }

    @Test func `a suggestion keeps the folder`() {
        let error = #expect(throws: BackplaneError.self) { try NewName("plugins/tide-table", inFolder: true) }
        #expect(error?.message.hasSuffix("`plugins/TideTable` would be valid") == true)
    }
}
