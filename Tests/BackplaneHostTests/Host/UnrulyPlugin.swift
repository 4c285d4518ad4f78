import Backplane
import BackplaneTestKit
import TestFixtures

@testable import BackplaneHost

/// A plugin in C that does what the header forbids.
enum UnrulyPlugin {
    /// A host of managers named after their classes.
    ///
    /// - Parameters:
    ///   - classes: `Unruly` and the ones that fail in their lifecycle (`Tests/Plugins/Hostile/Library/hostile.c`).
    ///   - entered: The statements there that change what the entry answers.
    static func host(
        _ classes: String..., entered: String = "", startLimit: Duration = .seconds(60),
        stopLimit: Duration = .seconds(10)
    ) throws -> TestHost {
        let folder = try TestFolder()
        try folder.write(
            FixtureLibrary.bytes("Hostile", id: "org.example.unruly", settings: ["entered": entered]),
            as: "libUnruly.so")
        let managers = classes.map { #""\#($0)": {"className": "\#($0)"}"# }.joined(separator: ", ")
        return try TestHost(
            #"{"manifestVersion": 1, "plugins": [{"library": "Unruly"}], "managers": {\#(managers)}}"#,
            in: folder, startLimit: startLimit, stopLimit: stopLimit)
    }
}
