import Backplane
import BackplaneDocuments
import BackplaneTestKit
import TestFixtures

@testable import BackplaneHost

/// A plugin in C whose manager is called as a counter is, and hands every call on to one.
enum RelayPlugin {
    /// A folder with its library, `Relay`.
    static func folder() throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write(library(), as: "libRelay.so")
        return folder
    }

    /// Its bytes, which differ from build to build.
    static func library(build: Int = 1) throws -> [UInt8] {
        try FixtureLibrary.bytes(id: "org.example.relay", settings: ["build": "\(build)"])
    }

    static func manager(to counter: String = "Counter") -> ManifestValue {
        ["className": "Relay", "uses": ["counter": .string(counter)]]
    }
}
