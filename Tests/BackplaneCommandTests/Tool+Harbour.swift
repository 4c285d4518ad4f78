import TestFixtures
import Testing

extension Tool {
    /// Puts an edition of the fixture with screens in the place of the one that is there, in one step.
    func writeHarbour(edition: Int) throws {
        let bytes = try FixtureLibrary.bytes("Screens\(edition)")
        try #require(FileContents.write(bytes, to: folder + "/libScreens.so"))
    }

    /// Writes a manifest of the first edition, and returns its path.
    func writeHarbourManifest(screens: String? = #"{"root": "harbour.ships"}"#) throws -> String {
        try writeHarbour(edition: 1)
        let section = screens.map { #", "screens": \#($0)"# } ?? ""
        return try write(
            """
            {"manifestVersion": 1, "plugins": [{"library": "\(folder)/libScreens.so"}],
             "managers": {"Harbour": {}}\(section)}
            """, as: "m.json")
    }
}
