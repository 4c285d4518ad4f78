import Foundation
import TestFixtures

extension Tool {
    /// Copies the example whose network service is a definition, with its libraries, to a folder of its own.
    ///
    /// - Returns: The paths of the manifest and of the definition.
    func copyDefinedBookshelf() throws -> (manifest: String, definition: String) {
        let app = folder + "/app", files = FileManager.default
        try files.createDirectory(atPath: app + "/definitions", withIntermediateDirectories: true)
        var manifest = try String(contentsOfFile: Self.manifests + "/bookshelf-definition.json", encoding: .utf8)
        for name in ["Bookshelf", "FlatBooks"] {
            let library = "\(app)/lib\(name).so"
            try files.copyItem(atPath: "\(BuiltProducts.folder)/lib\(name).so", toPath: library)
            manifest.replace("\"library\": \"\(name)\"", with: "\"library\": \"\(library)\"")
        }
        let resources = "backplane_Bookshelf.resources"
        try files.copyItem(atPath: "\(BuiltProducts.folder)/\(resources)", toPath: "\(app)/\(resources)")
        let definition = app + "/definitions/Books.json"
        try files.copyItem(atPath: Self.manifests + "/definitions/Books.json", toPath: definition)
        return (try write(manifest, as: "app/app.json"), definition)
    }
}
