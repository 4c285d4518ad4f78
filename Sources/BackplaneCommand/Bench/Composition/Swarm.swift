import Backplane
import BackplaneHost
import BackplaneNetwork
import Foundation

/// Copies of the library `YardstickSwarm`, each of which is a plugin of its own, and a manifest with a manager of each.
struct Swarm {
    /// How many are loaded in a full run.
    static let size = 500
    let folder: String

    var manifest: String { folder + "/swarm.json" }
    var loads: String { folder + "/load" }
    var document: ManifestDocument { ManifestDocument(contentsOf: manifest) }

    /// Writes the files, with their SHA-256 in the manifest where something computes it.
    func make(_ count: Int) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let library = try Data(contentsOf: URL(filePath: BuiltLibrary.path(of: "YardstickSwarm")))
        let places = library.places(of: Data(Self.id(0).utf8))
        guard !places.isEmpty else {
            throw BackplaneError(.pluginInvalidAnswer, "the library has its id `\(Self.id(0))` not in it as a text; build it again", at: folder)
        }
        var plugins: [ManifestValue] = [], managers: [String: ManifestValue] = [:]
        for number in 1...count {
            let id = Self.id(number), name = "libSwarm\(number).so"
            var copy = library
            for place in places { copy.replaceSubrange(place, with: id.utf8) }
            try copy.write(to: URL(filePath: folder + "/" + name))
            var plugin: [String: ManifestValue] = ["library": .string(name)]
            if let digest = Engines.digest { plugin["sha256"] = .string(LibraryFile.text(ofDigest: digest.sha256(of: Array(copy)))) }
            plugins.append(.dictionary(plugin))
            managers["Manager\(number)"] = ["className": .string(id)]
        }
        let manifest: ManifestValue = ["manifestVersion": 1, "plugins": .array(plugins), "managers": .dictionary(managers)]
        try manifest.json.write(to: URL(filePath: self.manifest))
    }

    /// The id of a copy, and the name of its class; of the library itself number 0.
    private static func id(_ number: Int) -> String {
        let digits = String(number)
        return "org.backplane.swarm-" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}

extension Data {
    fileprivate func places(of text: Data) -> [Range<Int>] {
        var places: [Range<Int>] = [], start = startIndex
        while let place = range(of: text, in: start..<endIndex) {
            places.append(place)
            start = place.upperBound
        }
        return places
    }
}
