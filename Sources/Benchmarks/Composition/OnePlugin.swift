import BackplaneDocuments
import BackplaneHost
import Foundation

/// The manifest of one Swift plugin with one manager.
enum OnePlugin {
    private static let manifest: ManifestValue = [
        "manifestVersion": 1, "plugins": [["library": "BenchmarkSwarm"]],
        "managers": ["Tally": ["className": "org.backplane.swarm-0000"]],
    ]

    /// Writes the manifest and returns the arguments that call its manager from the command line.
    static func callArguments(in folder: String) throws -> [String] {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/one.json"
        try manifest.json.write(to: URL(filePath: path))
        return ["call", path, "Tally", "add", "41", "--load-folder", folder + "/load", "--data", folder + "/data"]
    }
}
